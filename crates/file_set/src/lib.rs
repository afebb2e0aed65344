//! Changes several files as one: after a failure or a crash at any moment, all files are as before or all are as wanted. Knows nothing of
//! what the files contain.
//!
//! A change has four phases. First, the journal is written: the names of all files. Then, new contents are written beside the files, and the
//! old files get a second name. When everything is on the disk, the journal is renamed: from this moment on, the change will be completed.
//! Last, the new files get their names, and the journal is removed. A process that finds a journal completes the change or undoes it.
#![forbid(unsafe_code)]

mod change;
mod disk;
mod fault;
mod identity;
mod journal;

use disk::{Disk, SystemDisk};
use journal::JournalPhase;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub use fault::FileSetFault;

/// Name of the file that is locked during a change. It has the set's identity, and stays.
const LOCK_NAME: &str = ".tollgate-change.lock";
/// Time to wait for another process that changes files of the same set. It needs about a second for 10,000 files.
const LOCK_TIME_MAX: Duration = Duration::from_secs(10);
const LOCK_EVERY: Duration = Duration::from_millis(10);

/// One file of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The file. Its directory is created if it is missing.
    pub path: PathBuf,
    /// Its new content; `None` removes the file.
    pub content: Option<Vec<u8>>,
}

/// What [`FileSet::settle`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// No change was interrupted.
    Nothing,
    /// An interrupted change was completed.
    Completed,
    /// An interrupted change was undone.
    Undone,
}

/// Files that are changed together. They may be in several directories; the journal is in one of them.
#[derive(Clone, Debug)]
pub struct FileSet {
    directory: PathBuf,
}

/// A set that no other process changes meanwhile.
#[derive(Debug)]
pub struct LockedFileSet {
    directory: PathBuf,
    _lock: File,
}

impl FileSet {
    /// A set with its journal in this directory.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        FileSet { directory: directory.into() }
    }

    /// Completes or undoes a change that was interrupted. Cheap if there is none.
    ///
    /// # Errors
    /// The files could not be put right; the journal stays.
    pub fn settle(&self) -> Result<Settled, FileSetFault> {
        if JournalPhase::ALL.iter().any(|phase| phase.path(&self.directory).exists()) {
            self.lock()?.settle()
        } else {
            Ok(Settled::Nothing)
        }
    }

    /// Keeps other processes from changing the files while they are read, as long as the result is held. `None` if no one has ever changed
    /// them with this crate, or if a change takes too long.
    pub fn read_lock(&self) -> Option<File> {
        let file = File::open(self.directory.join(LOCK_NAME)).ok()?;
        wait_for(|| file.try_lock_shared()).ok()?;
        Some(file)
    }

    /// What all processes call this set that change it, wherever they have mounted it; a copy of the directory gets another one with its first
    /// change. `None` if no one has ever changed it with this crate.
    pub fn identity(&self) -> Option<String> {
        identity::read(&File::open(self.directory.join(LOCK_NAME)).ok()?)
    }

    /// Waits until no other process changes the files.
    ///
    /// # Errors
    /// [`FileSetFault::Busy`], or the directory can't be written to.
    pub fn lock(&self) -> Result<LockedFileSet, FileSetFault> {
        let path = self.directory.join(LOCK_NAME);
        let failed = |error| FileSetFault::Unchanged { path: path.clone(), error };
        std::fs::create_dir_all(&self.directory).map_err(failed)?;
        let file = OpenOptions::new().create(true).truncate(false).write(true).read(true).open(&path).map_err(failed)?;
        match wait_for(|| file.try_lock()) {
            Ok(()) => {
                identity::ensure(&file);
                Ok(LockedFileSet { directory: self.directory.clone(), _lock: file })
            }
            Err(TryLockError::WouldBlock) => Err(FileSetFault::Busy),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

impl LockedFileSet {
    /// As [`FileSet::settle`].
    ///
    /// # Errors
    /// The files could not be put right; the journal stays.
    pub fn settle(&self) -> Result<Settled, FileSetFault> {
        change::settle(&self.directory, &mut SystemDisk::default())
    }

    /// Makes all changes, or none.
    ///
    /// # Errors
    /// [`FileSetFault::Unchanged`]: all files are as before. Only [`FileSetFault::Interrupted`] leaves the change unfinished, until [`settle`] succeeds.
    ///
    /// [`settle`]: LockedFileSet::settle
    pub fn apply(&self, changes: &[FileChange]) -> Result<(), FileSetFault> {
        self.apply_on(changes, &mut SystemDisk::default())
    }

    fn apply_on(&self, changes: &[FileChange], disk: &mut dyn Disk) -> Result<(), FileSetFault> {
        change::settle(&self.directory, disk)?;
        change::apply(&self.directory, changes, disk)
    }
}

fn wait_for(lock: impl Fn() -> Result<(), TryLockError>) -> Result<(), TryLockError> {
    let end = Instant::now() + LOCK_TIME_MAX;
    loop {
        match lock() {
            Err(TryLockError::WouldBlock) if Instant::now() < end => std::thread::sleep(LOCK_EVERY),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            ended => return ended,
        }
    }
}

/// The directory of a file.
fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests;
