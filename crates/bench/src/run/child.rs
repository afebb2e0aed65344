//! A child process: pinned to CPUs, with its output in a file, and ended on drop.

use crate::interrupt::Interrupt;
use crate::peers::Program;
use crate::probe::{self, LocalPort};
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
pub(crate) struct Child {
    name: String,
    process: Process,
    log: PathBuf,
}

impl Child {
    /// Starts a program on these CPUs, in a directory that also receives its output.
    pub(crate) fn start(program: &Program, cpus: &str, dir: &Path) -> Result<Child, String> {
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
        Ok(Child { name: program.name.to_owned(), process, log })
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Waits until it serves this path, or until it listens if there is no path.
    pub(crate) fn await_answer(
        &mut self,
        port: impl Into<LocalPort>,
        path: Option<&str>,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<(), String> {
        let deadline = Instant::now() + patience;
        let port: LocalPort = port.into();
        loop {
            interrupt.check()?;
            if let Some(status) = self.ended() {
                return Err(format!("{} ended before it answered ({status}); its last words:\n{}", self.name, self.tail()));
            }
            let answers = match path {
                // Some gateways listen before they know their APIs.
                Some(path) => {
                    probe::send(port, "GET", path, &[], b"").is_ok_and(|answer| ![404, 502, 503].contains(&answer.status))
                }
                None => probe::listens(port.number),
            };
            if answers {
                return Ok(());
            }
            if Instant::now() > deadline {
                let seconds = patience.as_secs();
                return Err(format!(
                    "{} does not answer on port {} after {seconds} s; its last words:\n{}",
                    self.name,
                    port.number,
                    self.tail()
                ));
            }
            std::thread::sleep(POLL);
        }
    }

    /// Its exit status, once it has exited.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.process.try_wait().ok().flatten()
    }

    /// The end of its output.
    pub(crate) fn tail(&self) -> String {
        let text = std::fs::read(&self.log).unwrap_or_default();
        let tail = text.get(text.len().saturating_sub(TAIL_BYTES)..).unwrap_or_default();
        let tail = String::from_utf8_lossy(tail);
        if tail.trim().is_empty() { "(it said nothing)".to_owned() } else { tail.trim().to_owned() }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        if let Ok(Some(id)) = i32::try_from(self.id()).map(Pid::from_raw) {
            let _ = kill_process(id, signal);
        }
    }
}

impl Drop for Child {
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
