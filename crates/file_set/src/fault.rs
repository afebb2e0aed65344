//! Why a change was not made.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a change was not made, or is unfinished.
#[derive(Debug)]
pub enum FileSetFault {
    /// Another process is changing the files.
    Busy,
    /// The change names a file twice, or one whose name can't be written into the journal.
    Unusable(PathBuf),
    /// All files are as before.
    Unchanged {
        /// What could not be written, renamed or removed.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The change is unfinished. The journal stays, so that it is completed or undone later.
    Interrupted {
        /// What could not be renamed or removed.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The journal is not one.
    Journal(PathBuf),
}

impl fmt::Display for FileSetFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileSetFault::Busy => f.write_str("another process is changing the files"),
            FileSetFault::Unusable(path) => {
                write!(f, "{}: named twice, or its name is no UTF-8 text; no file was changed", path.display())
            }
            FileSetFault::Unchanged { path, error } => write!(f, "{}: {error}; no file was changed", path.display()),
            FileSetFault::Interrupted { path, error } => {
                write!(f, "{}: {error}; the change is unfinished and will be tried again", path.display())
            }
            FileSetFault::Journal(path) => {
                write!(f, "{}: not the journal of a change; remove it once the files beside it are right", path.display())
            }
        }
    }
}

impl std::error::Error for FileSetFault {}
