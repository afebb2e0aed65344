//! The journal of a change: which files it concerns. Its name says how far the change is.

use crate::{FileChange, FileSetFault, directory_of};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// How far a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JournalPhase {
    /// Files are written beside the old ones; no file is changed yet.
    Prepared,
    /// Everything is on the disk; the change will be completed.
    Committed,
    /// A file could not be renamed; the change will be undone.
    Undoing,
    /// The change is made or undone; what it left behind can go.
    Done,
}

/// The files of a change.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Journal {
    pub files: Vec<JournalFile>,
}

/// One file of a change.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JournalFile {
    pub path: PathBuf,
    /// Whether it gets a new content; else it is removed.
    pub written: bool,
    /// Whether there was a file before.
    pub existed: bool,
}

impl JournalPhase {
    pub(crate) const ALL: [JournalPhase; 4] =
        [JournalPhase::Undoing, JournalPhase::Committed, JournalPhase::Prepared, JournalPhase::Done];

    /// The journal's file in this phase.
    pub(crate) fn path(self, directory: &Path) -> PathBuf {
        directory.join(match self {
            JournalPhase::Prepared => ".tollgate-change.prepared",
            JournalPhase::Committed => ".tollgate-change.committed",
            JournalPhase::Undoing => ".tollgate-change.undoing",
            JournalPhase::Done => ".tollgate-change.done",
        })
    }
}

impl Journal {
    pub(crate) fn of(changes: &[FileChange]) -> Result<Self, FileSetFault> {
        let mut seen = HashSet::new();
        let mut files = Vec::with_capacity(changes.len());
        for FileChange { path, content } in changes {
            if path.to_str().is_none() || path.file_name().is_none() || !seen.insert(path) {
                return Err(FileSetFault::Unusable(path.clone()));
            }
            // Another process may have another working directory.
            let path = std::path::absolute(path).map_err(|error| FileSetFault::Unchanged { path: path.clone(), error })?;
            // `exists` would follow a link that points nowhere.
            let existed = path.symlink_metadata().is_ok();
            files.push(JournalFile { path, written: content.is_some(), existed });
        }
        Ok(Journal { files })
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }

    /// The directories of the files, each once.
    pub(crate) fn directories(&self) -> Vec<&Path> {
        let mut seen = HashSet::new();
        self.files.iter().map(|file| directory_of(&file.path)).filter(|directory| seen.insert(*directory)).collect()
    }
}

impl JournalFile {
    /// Where the new content waits.
    pub(crate) fn new_path(&self) -> PathBuf {
        self.beside("new")
    }

    /// The second name of the old file.
    pub(crate) fn old_path(&self) -> PathBuf {
        self.beside("old")
    }

    /// A hidden name: readers of the directory skip it.
    fn beside(&self, what: &str) -> PathBuf {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        self.path.with_file_name(format!(".{name}.tollgate-{what}"))
    }
}
