//! The directory, the lock that one process holds on it, and the database file with its mode.
//!
//! We use our own lock file instead of SQLite's exclusive locking, which would keep operators from inspecting or backing up the
//! database of a running gateway. The kernel releases the lock with the process, however it ends.

use super::loss::{FILE_MODE, keep_what_is_left};
use crate::fault::{StoreFault, StoreFaultKind};
use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

const DATABASE: &str = "tollgate.db";
const LOCK: &str = "tollgate.lock";
const DIRECTORY_MODE: u32 = 0o700;

/// The files of a store, held by this process for as long as this value lives.
pub(super) struct Files {
    database: PathBuf,
    /// Locked until it is closed.
    lock: File,
}

impl Files {
    /// Creates missing files and locks the directory, unless `handed_on` already is its lock.
    pub(super) fn take(directory: &Path, handed_on: Option<File>) -> Result<Self, StoreFault> {
        let made = DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(directory);
        made.map_err(|error| StoreFault::of_file(directory, &error))?;
        let path = directory.join(LOCK);
        let database = directory.join(DATABASE);
        let lock = match handed_on.filter(|lock| is_at(lock, &path)) {
            Some(lock) => lock,
            None => {
                let lock = lock(&path)?;
                keep_what_is_left(&database)?;
                lock
            }
        };
        // SQLite gives its other files this mode.
        let file = private(&database).map_err(|error| StoreFault::of_file(&database, &error))?;
        let mode = file.metadata().map_err(|error| StoreFault::of_file(&database, &error))?.permissions().mode();
        if mode & 0o777 != FILE_MODE {
            file.set_permissions(Permissions::from_mode(FILE_MODE)).map_err(|error| StoreFault::of_file(&database, &error))?;
        }
        // SQLite syncs the directory for files that it creates; this file was created here.
        File::open(directory).and_then(|directory| directory.sync_all()).map_err(|error| StoreFault::of_file(directory, &error))?;
        Ok(Files { database, lock })
    }

    /// The lock again: it is held until both are closed.
    pub(super) fn lock(&self) -> io::Result<File> {
        self.lock.try_clone()
    }

    /// The path of the database.
    pub(super) fn database(&self) -> &Path {
        &self.database
    }
}

/// Whether an open file is the one at this path.
fn is_at(file: &File, path: &Path) -> bool {
    let same = |one: Metadata, other: Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
    file.metadata().is_ok_and(|own| std::fs::metadata(path).is_ok_and(|there| same(own, there)))
}

fn lock(path: &Path) -> Result<File, StoreFault> {
    let file = private(path).map_err(|error| StoreFault::of_file(path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let directory = path.parent().unwrap_or(path);
            Err(StoreFault::new(StoreFaultKind::InUse, directory.display()))
        }
        Err(TryLockError::Error(error)) => Err(StoreFault::of_file(path, &error)),
    }
}

fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(FILE_MODE).open(path)
}
