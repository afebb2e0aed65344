//! The directory that an import writes.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use tollgate_import::WrittenFile;

/// For files with secrets, and for those without.
const MODES: [u32; 2] = [0o600, 0o644];

/// A directory that may be written.
pub(super) struct TargetDirectory {
    path: PathBuf,
    left: Vec<String>,
}

impl TargetDirectory {
    /// # Errors
    /// The directory has something already, and `force` does not say that it may be replaced.
    pub(super) fn open(path: &Path, files: &[WrittenFile], force: bool) -> Result<Self, String> {
        let failed = |error: io::Error| format!("{}: {error}", path.display());
        let has_entries = match fs::read_dir(path) {
            Ok(mut entries) => entries.next().is_some(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(failed(error)),
        };
        if has_entries && !force {
            return Err(format!("{} is not empty: --force replaces what has the same names", path.display()));
        }
        let mut left = Vec::new();
        for folder in ["apis", "policies"] {
            let Ok(entries) = fs::read_dir(path.join(folder)) else { continue };
            let names = entries.flatten().map(|entry| format!("{folder}/{}", entry.file_name().to_string_lossy()));
            left.extend(names.filter(|name| files.iter().all(|file| file.path != *name)));
        }
        left.sort();
        Ok(TargetDirectory { path: path.to_owned(), left })
    }

    /// Definitions and policies that were there before and are not replaced.
    pub(super) fn left(&self) -> &[String] {
        &self.left
    }

    pub(super) fn write(&self, files: &[WrittenFile]) -> Result<(), String> {
        // They have secrets, also in the data directory.
        let make = |path: &Path| fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
        for folder in ["apis", "policies"] {
            make(&self.path.join(folder)).map_err(|error| format!("{}: {error}", self.path.display()))?;
        }
        for file in files {
            let path = self.path.join(&file.path);
            if let Some(folder) = path.parent() {
                make(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            }
            write(&path, file).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }
}

/// Replaces the file by a new one, so that a link of that name leads nowhere.
fn write(path: &Path, file: &WrittenFile) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let [secret, open] = MODES;
    let mode = if file.is_secret { secret } else { open };
    let mut out = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    out.write_all(file.text.as_bytes())
}
