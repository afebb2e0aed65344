//! A child process and all that it starts: they end together.

use rustix::process::{Pid, Signal, kill_process_group};
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// How long a process has time to end after its input has ended, and then after it was told to.
const PATIENCE: Duration = Duration::from_secs(2);

/// A child process with a group of its own. Whatever of it is left is killed when this is dropped.
pub(crate) struct ProcessGroup {
    pub child: Child,
    group: Option<Pid>,
}

impl ProcessGroup {
    /// Starts a program.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn start(mut command: Command) -> std::io::Result<Self> {
        let child = command.process_group(0).kill_on_drop(true).spawn()?;
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Ok(ProcessGroup { child, group })
    }

    /// Waits until it ends by itself, then asks it to, then ends it. Its input must have ended.
    pub(crate) async fn end(mut self) {
        if timeout(PATIENCE, self.child.wait()).await.is_err() {
            self.signal(Signal::TERM);
            let _ = timeout(PATIENCE, self.child.wait()).await;
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It may have ended.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
