//! Trouble of a store: what kind, and the words of what lies below. Told to whoever asked, logged there.

use std::fmt;
use std::io;
use std::path::Path;

/// Why a store could not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreFault {
    /// What went wrong.
    pub kind: StoreFaultKind,
    /// The file or the question concerned and the words of the library, for the log.
    pub detail: String,
}

/// The kinds of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreFaultKind {
    /// The store is closed, or did not get to the question.
    Unavailable,
    /// Another process has the data directory.
    InUse,
    /// The files are not a store of Tollgate, or are damaged.
    Corrupt,
    /// A later version of Tollgate wrote the store.
    TooNew,
    /// No room on the disk.
    Full,
    /// The operating system does not let this process read or write the files.
    Denied,
    /// Any other trouble below: a failing disk, for one.
    Io,
    /// The question is larger than the store takes.
    TooLarge,
    /// The answer belongs to another question: a mistake in the program.
    Mismatch,
}

impl StoreFault {
    /// A fault and its cause's words.
    pub fn new(kind: StoreFaultKind, detail: impl fmt::Display) -> Self {
        StoreFault { kind, detail: detail.to_string() }
    }

    /// The fault of a file that the system does not open, read or write.
    pub(crate) fn of_file(path: &Path, error: &io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreFaultKind::Full,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => StoreFaultKind::Denied,
            _ => StoreFaultKind::Io,
        };
        StoreFault::new(kind, format_args!("{}: {error}", path.display()))
    }

    /// The same fault, said of a file.
    pub(crate) fn within(self, path: &Path) -> Self {
        StoreFault::new(self.kind, format_args!("{}: {}", path.display(), self.detail))
    }

    /// Whether the store as a whole can't be written to, as opposed to one question that it does not take.
    pub(crate) fn is_of_files(&self) -> bool {
        use StoreFaultKind::{Corrupt, Denied, Full, Io};
        matches!(self.kind, Corrupt | Denied | Full | Io)
    }

    /// Whether the same question may be answered later without anyone doing something about it.
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
