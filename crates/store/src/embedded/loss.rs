//! Detects at start that a store has lost data: an emptied file, or a truncated log. SQLite would take the first for a new database
//! and the second for a shorter history. Here it is an error in the log, and the remains are kept next to the new files.

use crate::clock;
use crate::fault::{StoreFault, StoreFaultKind};
use rusqlite::Connection;
use std::fs::{File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Nobody else may read sessions and private keys.
pub(super) const FILE_MODE: u32 = 0o600;

/// SQLite's names for the other files of a database: its log, and the index of the log, which all processes with the database open
/// share in memory.
const LOG: &str = "-wal";
const INDEX: &str = "-shm";
/// Bytes before the first frame of a log, and before the page in each frame: <https://www.sqlite.org/walformat.html>.
const LOG_HEAD_BYTES: u64 = 32;
const FRAME_HEAD_BYTES: u64 = 24;
/// Bytes of the index that say how far the log goes: two copies of that position, and how much of the log the database already has.
const INDEX_HEAD_BYTES: usize = 100;
const INDEX_COPY_BYTES: usize = 48;

/// Examines the files of a database that nobody has open, before SQLite does.
///
/// # Errors
/// The remains cannot be kept.
pub(super) fn keep_what_is_left(database: &Path) -> Result<(), StoreFault> {
    let log = beside(database, LOG);
    let (database_bytes, log_bytes) = (bytes_of(database)?, bytes_of(&log)?);
    if database_bytes == Some(0) || (database_bytes.is_none() && log_bytes.is_some_and(|bytes| bytes > 0)) {
        let kept = kept_name(database, "emptied")?;
        for part in ["", LOG, INDEX] {
            let path = beside(database, part);
            if bytes_of(&path)?.is_some() {
                let moved = make_private(&path).and_then(|()| std::fs::rename(&path, beside(&kept, part)));
                moved.map_err(|error| unkept(&path, &kept, &error))?;
            }
        }
        let how = if database_bytes.is_some() { "empty" } else { "gone, and its log is not" };
        tracing::error!(
            database = %database.display(), kept = %kept.display(),
            "the database is {how}: all keys, quotas, certificates and OAuth clients in it are lost, and a new one is begun; what was left is kept"
        );
        return Ok(());
    }
    let Some(needed) = database_bytes.and_then(|_| log_bytes_needed(database)) else { return Ok(()) };
    let there = log_bytes.unwrap_or(0);
    if there < needed {
        let kept = kept_name(database, "cut")?;
        for part in ["", LOG] {
            let path = beside(database, part);
            if bytes_of(&path)?.is_some() {
                let copied = make_private(&path).and_then(|()| std::fs::copy(&path, beside(&kept, part)));
                copied.map_err(|error| unkept(&path, &kept, &error))?;
            }
        }
        tracing::error!(
            database = %database.display(), log = %log.display(), bytes = there, bytes_written = needed, kept = %kept.display(),
            "the database's log was cut: the latest changes of keys and quotas are lost; both files are kept as they were"
        );
    }
    Ok(())
}

/// The length of the log after its last write; `None` if unknown, or if the database has all of it.
fn log_bytes_needed(database: &Path) -> Option<u64> {
    let mut index = [0; INDEX_HEAD_BYTES];
    File::open(beside(database, INDEX)).ok()?.read_exact(&mut index).ok()?;
    let (first, rest) = index.split_at_checked(INDEX_COPY_BYTES)?;
    let (second, in_database) = rest.split_at_checked(INDEX_COPY_BYTES)?;
    let number = |bytes: &[u8], at: usize| Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?));
    let is_whole = first == second && first.get(12) == Some(&1);
    let (frames, frames_in_database) = (number(first, 16)?, number(in_database, 0)?);
    if !is_whole || frames <= frames_in_database {
        return None;
    }
    // After a power failure the index may belong to an older log.
    let mut log_head = [0; LOG_HEAD_BYTES as usize];
    let has_head = File::open(beside(database, LOG)).and_then(|mut log| log.read_exact(&mut log_head)).is_ok();
    if has_head && log_head.get(16..24) != first.get(32..40) {
        return None;
    }
    let page_bytes = match u16::from_ne_bytes(*first.get(14..)?.first_chunk()?) {
        1 => 65_536,
        bytes => u64::from(bytes),
    };
    Some(LOG_HEAD_BYTES + u64::from(frames) * (FRAME_HEAD_BYTES + page_bytes))
}

/// The files may contain sessions and private keys.
fn make_private(path: &Path) -> io::Result<()> {
    std::fs::set_permissions(path, Permissions::from_mode(FILE_MODE))
}

/// A name that no file has, with the time in seconds.
fn kept_name(database: &Path, what: &str) -> Result<PathBuf, StoreFault> {
    let now = i64::try_from((clock::system())()).unwrap_or_default();
    let sql = "SELECT strftime('%Y%m%dT%H%M%SZ', ?1, 'unixepoch')";
    let second: String = Connection::open_in_memory()?.query_row(sql, [now], |row| row.get(0))?;
    let names = (1..=u8::MAX).map(|number| match number {
        1 => beside(database, &format!(".{what}-{second}")),
        number => beside(database, &format!(".{what}-{second}-{number}")),
    });
    let free = |path: &PathBuf| ["", LOG, INDEX].iter().all(|part| matches!(bytes_of(&beside(path, part)), Ok(None)));
    let mut names = names.filter(free);
    names.next().ok_or_else(|| StoreFault::new(StoreFaultKind::Io, format_args!("{}: no name is left for it", database.display())))
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn bytes_of(path: &Path) -> Result<Option<u64>, StoreFault> {
    match std::fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata.len())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreFault::of_file(path, &error)),
    }
}

fn unkept(path: &Path, kept: &Path, error: &io::Error) -> StoreFault {
    let fault = StoreFault::of_file(path, error);
    StoreFault::new(fault.kind, format_args!("{}; it is damaged and can't be kept as {}", fault.detail, kept.display()))
}

#[cfg(test)]
mod tests;
