//! The steps of a change, of its completion and of its undoing. Each step can be repeated.

use crate::disk::Disk;
use crate::journal::{Journal, JournalPhase};
use crate::{FileChange, FileSetFault, Settled};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// An operation that failed.
type Failed = (PathBuf, io::Error);

/// Makes all changes, or none.
pub(crate) fn apply(directory: &Path, changes: &[FileChange], disk: &mut dyn Disk) -> Result<(), FileSetFault> {
    let journal = Journal::of(changes)?;
    if journal.files.is_empty() {
        return Ok(());
    }
    let (path, error) = match prepare(directory, &journal, changes, disk).and_then(|()| rename_all(&journal, disk)) {
        Ok(()) => return finish(directory, &journal, JournalPhase::Committed, disk),
        Err(failed) => failed,
    };
    let committed = JournalPhase::Committed.path(directory);
    let undone = if is_there(&committed) {
        let undoing = JournalPhase::Undoing.path(directory);
        let renamed = disk.rename(&committed, &undoing).and_then(|()| disk.sync()).map_err(|error| (undoing, error));
        renamed.and_then(|()| undo(directory, &journal, disk))
    } else {
        // Nothing is renamed yet: what is left over disturbs nobody.
        discard(directory, &journal, disk)
    };
    match undone {
        Ok(()) => Err(FileSetFault::Unchanged { path, error }),
        Err((path, error)) => Err(FileSetFault::Interrupted { path, error }),
    }
}

/// Completes or undoes the change whose journal is in the directory.
pub(crate) fn settle(directory: &Path, disk: &mut dyn Disk) -> Result<Settled, FileSetFault> {
    for phase in JournalPhase::ALL {
        let path = phase.path(directory);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(FileSetFault::Interrupted { path, error }),
        };
        let journal = match (phase, Journal::parse(&text)) {
            (_, Some(journal)) => journal,
            // Its writing was interrupted, so nothing else has happened.
            (JournalPhase::Prepared, None) => Journal { files: Vec::new() },
            (_, None) => return Err(FileSetFault::Journal(path)),
        };
        let interrupted = |(path, error): Failed| FileSetFault::Interrupted { path, error };
        return match phase {
            JournalPhase::Committed => {
                rename_all(&journal, disk).map_err(interrupted)?;
                finish(directory, &journal, phase, disk).map(|()| Settled::Completed)
            }
            JournalPhase::Undoing => undo(directory, &journal, disk).map_err(interrupted).map(|()| Settled::Undone),
            JournalPhase::Prepared => discard(directory, &journal, disk).map_err(interrupted).map(|()| Settled::Undone),
            JournalPhase::Done => discard(directory, &journal, disk).map_err(interrupted).map(|()| Settled::Nothing),
        };
    }
    Ok(Settled::Nothing)
}

/// Writes the journal and the new files. After the last step, the change counts as made.
fn prepare(directory: &Path, journal: &Journal, changes: &[FileChange], disk: &mut dyn Disk) -> Result<(), Failed> {
    let prepared = JournalPhase::Prepared.path(directory);
    let at = |path: &Path| {
        let path = path.to_owned();
        move |error| (path, error)
    };
    disk.write(&prepared, &journal.to_bytes(), &prepared).map_err(at(&prepared))?;
    disk.sync().map_err(at(&prepared))?;
    for (file, change) in journal.files.iter().zip(changes) {
        if file.existed {
            disk.link(&file.path, &file.old_path()).map_err(at(&file.path))?;
        }
        if let Some(content) = &change.content {
            disk.write(&file.new_path(), content, &file.path).map_err(at(&file.path))?;
        }
    }
    disk.sync().map_err(at(&prepared))?;
    let committed = JournalPhase::Committed.path(directory);
    disk.rename(&prepared, &committed).map_err(at(&committed))?;
    disk.sync().map_err(at(&committed))
}

/// Gives the new files their names, and removes the files that are to be removed.
fn rename_all(journal: &Journal, disk: &mut dyn Disk) -> Result<(), Failed> {
    for file in &journal.files {
        let renamed = match file.written {
            // After an interruption, the first of them have their names already.
            true if !is_there(&file.new_path()) => Ok(()),
            true => disk.rename(&file.new_path(), &file.path),
            false => disk.remove(&file.path),
        };
        renamed.map_err(|error| (file.path.clone(), error))?;
    }
    disk.sync().map_err(|error| (journal.directories().first().map_or_else(PathBuf::new, |path| path.to_path_buf()), error))
}

/// Removes what a change leaves behind. It is made, even if something can't be removed.
fn finish(directory: &Path, journal: &Journal, from: JournalPhase, disk: &mut dyn Disk) -> Result<(), FileSetFault> {
    let done = JournalPhase::Done.path(directory);
    disk.rename(&from.path(directory), &done).map_err(|error| FileSetFault::Interrupted { path: done, error })?;
    // If this is lost, the change is completed once more, which changes nothing.
    let _ = disk.sync();
    let _ = discard(directory, journal, disk);
    Ok(())
}

/// Removes the files beside the changed ones, and the journal.
fn discard(directory: &Path, journal: &Journal, disk: &mut dyn Disk) -> Result<(), Failed> {
    for path in journal.files.iter().flat_map(|file| [file.new_path(), file.old_path()]) {
        disk.remove(&path).map_err(|error| (path.clone(), error))?;
    }
    remove_journal(directory, disk)
}

/// Gives the old files their names again.
fn undo(directory: &Path, journal: &Journal, disk: &mut dyn Disk) -> Result<(), Failed> {
    for file in &journal.files {
        let old = file.old_path();
        let restored = match file.existed {
            // If both are names of one file, this does nothing, and `discard` removes the second name.
            true if is_there(&old) => disk.rename(&old, &file.path),
            true => Ok(()),
            false => disk.remove(&file.path),
        };
        restored.map_err(|error| (file.path.clone(), error))?;
    }
    let [undoing, done] = [JournalPhase::Undoing, JournalPhase::Done].map(|phase| phase.path(directory));
    let renamed = disk.sync().and_then(|()| disk.rename(&undoing, &done));
    renamed.map_err(|error| (undoing, error))?;
    let _ = disk.sync();
    let _ = discard(directory, journal, disk);
    Ok(())
}

fn remove_journal(directory: &Path, disk: &mut dyn Disk) -> Result<(), Failed> {
    for phase in JournalPhase::ALL {
        let path = phase.path(directory);
        disk.remove(&path).map_err(|error| (path.clone(), error))?;
    }
    disk.sync().map_err(|error| (directory.to_owned(), error))
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
