//! Errors of a store: their kind, and the message of the underlying library. The caller gets them and logs them.

use std::fmt;
use std::io;
use std::path::Path;

/// Why a store could not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreFault {
    /// The kind of error.
    pub kind: StoreFaultKind,
    /// The file or question and the library's message, for the log.
    pub detail: String,
}

/// The kinds of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreFaultKind {
    /// The store is closed, or did not process the question.
    Unavailable,
    /// Another process has the data directory open.
    InUse,
    /// The files are not a store of Tollgate, or are damaged.
    Corrupt,
    /// A later version of Tollgate wrote the store.
    TooNew,
    /// No space on the disk.
    Full,
    /// The operating system does not permit this process to read or write the files.
    Denied,
    /// Any other underlying error, such as a failing disk.
    Io,
    /// The question is larger than the store accepts.
    TooLarge,
    /// The answer belongs to another question: a bug.
    Mismatch,
}

impl StoreFault {
    /// A fault with the message of its cause.
    pub fn new(kind: StoreFaultKind, detail: impl fmt::Display) -> Self {
        StoreFault { kind, detail: detail.to_string() }
    }

    /// The fault of a file that cannot be opened, read or written.
    pub(crate) fn of_file(path: &Path, error: &io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreFaultKind::Full,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => StoreFaultKind::Denied,
            _ => StoreFaultKind::Io,
        };
        StoreFault::new(kind, format_args!("{}: {error}", path.display()))
    }

    /// The same fault, with the name of a file.
    pub(crate) fn within(self, path: &Path) -> Self {
        StoreFault::new(self.kind, format_args!("{}: {}", path.display(), self.detail))
    }

    /// Whether the whole store is unwritable, as opposed to a single question that it rejects.
    pub(crate) fn is_of_files(&self) -> bool {
        use StoreFaultKind::{Corrupt, Denied, Full, Io};
        matches!(self.kind, Corrupt | Denied | Full | Io)
    }

    /// Whether the same question may succeed later without intervention.
    pub fn is_retryable(&self) -> bool {
        matches!(self.kind, StoreFaultKind::Unavailable)
    }
}

impl fmt::Display for StoreFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            StoreFaultKind::Unavailable => "store not available",
            StoreFaultKind::InUse => "another process uses this data directory",
            StoreFaultKind::Corrupt => "store damaged",
            StoreFaultKind::TooNew => "store written by a newer version of Tollgate",
            StoreFaultKind::Full => "no room left for the store",
            StoreFaultKind::Denied => "store not accessible",
            StoreFaultKind::Io => "store failed",
            StoreFaultKind::TooLarge => "too large for the store",
            StoreFaultKind::Mismatch => "answer to another question",
        };
        match self.detail.as_str() {
            "" => f.write_str(what),
            detail => write!(f, "{what}: {detail}"),
        }
    }
}

impl std::error::Error for StoreFault {}
