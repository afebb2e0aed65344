//! Files that documents may name. Whoever may write a document need not be allowed to read every file that the process can read, so a document
//! names files only below directories of the gateway configuration, and never the gateway's own data. Symbolic links are followed first.

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Why a file is not read. It is the same for files that exist and for others.
const OUTSIDE: &str = "is outside of the directories whose files documents may name: file.base_path, middleware_path and template_path \
    of the gateway configuration, but not data_dir";

/// Two changes of a file within this time may have the same time: file systems take it from a clock that is not set at every moment.
const CLOCK_STEP_MAX: Duration = Duration::from_millis(50);

/// Directories whose files documents may name, and what they may not name within these.
#[derive(Debug, Clone, Default)]
pub struct ReadableFiles {
    bases: Vec<PathBuf>,
    closed: Vec<PathBuf>,
}

impl ReadableFiles {
    /// Files below `bases`, without those below `closed` and without files that `closed` names. Empty paths name no directory; others are relative to the working directory.
    pub fn new(bases: impl IntoIterator<Item = PathBuf>, closed: &[&Path]) -> Self {
        let bases = bases.into_iter().filter(|base| !base.as_os_str().is_empty()).collect();
        ReadableFiles { bases, closed: closed.iter().map(|path| (*path).to_owned()).collect() }
    }

    /// The path of a file that a document names, with symbolic links resolved. A file that does not exist is no error here.
    ///
    /// # Errors
    /// A document must not name it.
    pub fn admit(&self, path: &Path) -> Result<PathBuf, String> {
        note(path);
        let real = real(path).filter(|real| self.admits(real));
        real.ok_or_else(|| OUTSIDE.to_owned())
    }

    fn admits(&self, file: &Path) -> bool {
        let depth_in = |directory: &Path| {
            let directory = real(directory).filter(|_| !directory.as_os_str().is_empty())?;
            file.starts_with(&directory).then(|| directory.components().count())
        };
        // The innermost directory decides, so that a folder of scripts may lie in the folder of data.
        let closed = self.closed.iter().filter_map(|path| depth_in(path)).max();
        self.bases.iter().filter_map(|base| depth_in(base)).max() > closed.max(Some(0))
    }
}

/// A file that a document names, and what it was like when somebody asked for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NamedFile {
    path: PathBuf,
    /// `None` for a file that is not there.
    state: Option<FileState>,
}

/// What differs when a file has been changed or replaced.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct FileState {
    number: (u64, u64),
    bytes: u64,
    /// When its content and when anything of it was changed last: seconds and nanoseconds.
    written: (i64, i64),
    changed: (i64, i64),
}

impl NamedFile {
    /// The file as it is now.
    pub fn now(path: &Path) -> Self {
        let state = fs::metadata(path).ok().map(|file| FileState {
            number: (file.dev(), file.ino()),
            bytes: file.size(),
            written: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
        });
        NamedFile { path: path.to_owned(), state }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether nobody has changed it since.
    pub fn is_unchanged(&self) -> bool {
        *self == NamedFile::now(&self.path)
    }

    /// Whether its last change was so long before this time that a later one has another time for sure.
    pub fn is_older_than(&self, time: SystemTime) -> bool {
        let before = time.checked_sub(CLOCK_STEP_MAX).and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        match (&self.state, before) {
            (Some(state), Some(before)) => {
                let changed =
                    Duration::new(state.changed.0.try_into().unwrap_or_default(), state.changed.1.try_into().unwrap_or_default());
                changed < before
            }
            _ => false,
        }
    }
}

thread_local! {
    /// The files that this thread was asked for, while somebody wants to know them.
    static ASKED: RefCell<Option<Vec<NamedFile>>> = const { RefCell::new(None) };
}

/// Does work on this thread, and tells which files it was asked for by documents, in whatever way they name them.
pub fn asked_during<T>(work: impl FnOnce() -> T) -> (T, Vec<NamedFile>) {
    let before = ASKED.replace(Some(Vec::new()));
    let done = work();
    (done, ASKED.replace(before).unwrap_or_default())
}

/// Notes that a file is about to be read for a document.
pub fn note(path: &Path) {
    ASKED.with_borrow_mut(|asked| {
        if let Some(asked) = asked
            && !asked.iter().any(|known| known.path == path)
        {
            asked.push(NamedFile::now(path));
        }
    });
}

/// The path without symbolic links. Of a path that does not exist, as much is resolved as there is; `None` if the rest goes upwards.
fn real(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    let path = std::path::absolute(path).ok()?;
    let (parent, name) = (path.parent()?, path.components().next_back()?);
    let Component::Normal(name) = name else { return None };
    Some(real(parent)?.join(name))
}

#[cfg(test)]
mod tests;
