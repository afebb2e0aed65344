//! A process of this machine: pinned to CPUs, with its output in a file, and ended on drop.

use super::program::Program;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child as Process, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Time between SIGTERM and SIGKILL.
const PATIENCE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(20);
/// Maximum bytes shown of the output of a failed process.
const TAIL_BYTES: usize = 2_000;

/// A running process.
pub(super) struct PinnedProcess {
    process: Process,
    log: PathBuf,
}

impl PinnedProcess {
    /// Starts a program on these CPUs, in a directory that also receives its output.
    pub(super) fn start(program: &Program, cpus: &str, dir: &Path) -> Result<PinnedProcess, String> {
        let log = dir.join(format!("{}.log", program.name));
        let output = File::create(&log).map_err(|error| format!("{}: cannot be written: {error}", log.display()))?;
        let errors = output.try_clone().map_err(|error| format!("{}: {error}", log.display()))?;
        let process = Command::new("taskset")
            .args(["-c", cpus])
            .arg(&program.path)
            .args(&program.arguments)
            .envs(program.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(dir)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            // Ctrl-C in the terminal reaches only this program, which then ends its children in order.
            .process_group(0)
            .spawn()
            .map_err(|error| format!("{} cannot be started with taskset (util-linux): {error}", program.name))?;
        Ok(PinnedProcess { process, log })
    }

    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Its exit status, once it has exited.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.process.try_wait().ok().flatten()
    }

    /// The end of its output.
    pub(super) fn tail(&self) -> String {
        let text = std::fs::read(&self.log).unwrap_or_default();
        let tail = text.get(text.len().saturating_sub(TAIL_BYTES)..).unwrap_or_default();
        let tail = String::from_utf8_lossy(tail);
        if tail.trim().is_empty() { "(it said nothing)".to_owned() } else { tail.trim().to_owned() }
    }

    pub(super) fn signal(&self, signal: Signal) {
        if let Ok(Some(id)) = i32::try_from(self.id()).map(Pid::from_raw) {
            let _ = kill_process(id, signal);
        }
    }
}

impl Drop for PinnedProcess {
    fn drop(&mut self) {
        if self.ended().is_some() {
            return;
        }
        self.signal(Signal::TERM);
        let deadline = Instant::now() + PATIENCE;
        while self.ended().is_none() {
            if Instant::now() > deadline {
                let _ = self.process.kill();
                let _ = self.process.wait();
                return;
            }
            std::thread::sleep(POLL);
        }
    }
}
