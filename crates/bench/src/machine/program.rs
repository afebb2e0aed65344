//! What a machine can run.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A program with its arguments.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Program {
    pub name: String,
    pub path: PathBuf,
    pub arguments: Vec<OsString>,
    pub environment: Vec<(String, String)>,
    /// Port on which it listens, if the start must wait for it.
    pub port: Option<u16>,
}

impl Program {
    pub(crate) fn new(name: &'static str, path: &Path) -> Program {
        Program { name: name.to_owned(), path: path.to_owned(), arguments: Vec::new(), environment: Vec::new(), port: None }
    }

    pub(crate) fn args<T: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = T>) -> Program {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl ToString) -> Program {
        self.environment.push((name.to_owned(), value.to_string()));
        self
    }
}

/// Path of this program, which is also the load generator, the upstream and the relay.
pub(crate) fn own_program() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("this program's own path is unknown: {error}"))
}
