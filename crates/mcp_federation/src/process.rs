//! A child process and all that it starts: they end together.

use crate::process_bounds::ProcessBounds;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// How long a process has time to end after its input has ended, and then after it was told to.
const PATIENCE: Duration = Duration::from_secs(2);

/// The groups of all child processes, for the end of this one.
static GROUPS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Kills all child processes and what they have started: nothing of them outlives this process if it calls this at its end.
pub fn end_all_processes() {
    for group in std::mem::take(&mut *groups()) {
        signal(Pid::from_raw(group), Signal::KILL);
    }
}

fn groups() -> MutexGuard<'static, BTreeSet<i32>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn signal(group: Option<Pid>, signal: Signal) {
    if let Some(group) = group {
        // It may have ended.
        let _ = kill_process_group(group, signal);
    }
}

/// A child process with a group of its own. Whatever of it is left is killed when this is dropped.
pub(crate) struct ProcessGroup {
    pub child: Child,
    group: Option<Pid>,
    bounds: ProcessBounds,
}

impl ProcessGroup {
    /// Starts a program.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn start(mut command: Command, bounds: ProcessBounds) -> std::io::Result<Self> {
        let child = command.process_group(0).kill_on_drop(true).spawn()?;
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        groups().extend(group.map(Pid::as_raw_pid));
        bounds.apply(group);
        Ok(ProcessGroup { child, group, bounds })
    }

    /// Waits until it uses too much, and says of what.
    pub(crate) fn exceeded(&self) -> impl Future<Output = String> + Send + use<> {
        self.bounds.exceeded(self.group)
    }

    /// Waits until it ends by itself, then asks it to, then ends it. Its input must have ended.
    pub(crate) async fn end(mut self) {
        if timeout(PATIENCE, self.child.wait()).await.is_err() {
            signal(self.group, Signal::TERM);
            let _ = timeout(PATIENCE, self.child.wait()).await;
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        let is_known = self.group.is_some_and(|group| groups().remove(&group.as_raw_pid()));
        if is_known {
            signal(self.group, Signal::KILL);
        }
    }
}
