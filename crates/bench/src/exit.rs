//! The end of a command: its output and its exit code.

use std::process::ExitCode;

/// Exit code after SIGINT, by the shell's convention.
pub(crate) const EXIT_INTERRUPTED: u8 = 130;
/// The command line is invalid, or a file that it names.
pub(crate) const EXIT_USAGE: u8 = 2;

/// Prints the result of a command, or its error.
pub(crate) fn print(outcome: Result<String, String>) -> ExitCode {
    match outcome {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(message) => CommandError::Failed(message).report(),
    }
}

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// The request is invalid.
    Usage(String),
    /// The execution failed.
    Failed(String),
}

impl From<String> for CommandError {
    fn from(message: String) -> Self {
        CommandError::Usage(message)
    }
}

impl CommandError {
    /// Prints the error to standard error.
    pub(crate) fn report(self) -> ExitCode {
        let (message, code) = match self {
            CommandError::Usage(message) => (message, ExitCode::from(EXIT_USAGE)),
            CommandError::Failed(message) => (message, ExitCode::FAILURE),
        };
        eprintln!("tollgate-bench: {message}");
        code
    }
}
