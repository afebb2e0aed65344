//! How a command ends: what it prints, and its exit code.

use std::process::ExitCode;

/// The shell's convention for a process that SIGINT ended.
pub(crate) const EXIT_INTERRUPTED: u8 = 130;
/// The command line, or a file that it names, makes no sense.
pub(crate) const EXIT_USAGE: u8 = 2;

/// Prints what a command found out, or why it could not.
pub(crate) fn print(outcome: Result<String, String>) -> ExitCode {
    match outcome {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(message) => CommandError::Failed(message).report(),
    }
}

/// Why a command did not do what it was asked to.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// It was asked for something that makes no sense.
    Usage(String),
    /// It could not.
    Failed(String),
}

impl From<String> for CommandError {
    fn from(message: String) -> Self {
        CommandError::Usage(message)
    }
}

impl CommandError {
    /// Says it on standard error.
    pub(crate) fn report(self) -> ExitCode {
        let (message, code) = match self {
            CommandError::Usage(message) => (message, ExitCode::from(EXIT_USAGE)),
            CommandError::Failed(message) => (message, ExitCode::FAILURE),
        };
        eprintln!("tollgate-bench: {message}");
        code
    }
}
