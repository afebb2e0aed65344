//! Programs that end with the test that has started them.

use std::process::{Child, Command};

/// A running program.
pub(crate) struct ChildProcess(pub Child);

impl ChildProcess {
    #[track_caller]
    pub(crate) fn start(command: &mut Command) -> ChildProcess {
        ChildProcess(command.spawn().unwrap_or_else(|error| panic!("{:?}: {error}", command.get_program())))
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
