//! The files of a directory.

use std::path::{Path, PathBuf};
use tollgate_model::bounded_file;

/// Folders below each other.
const DEPTH_MAX: usize = 8;
/// Maximum bytes of a file; a longer one is there by mistake.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The files of a folder and of those below it, sorted.
pub(super) fn files_below(folder: &Path, problems: &mut Vec<String>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && depth == 0 => continue,
            Err(error) => {
                problems.push(format!("{}: {error}", folder.display()));
                continue;
            }
        };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with('.') {
                continue;
            }
            if path.is_dir() && depth < DEPTH_MAX {
                folders.push((path, depth + 1));
            } else if path.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

pub(super) fn read_file(file: &Path) -> Result<Vec<u8>, String> {
    bounded_file::read(file, FILE_BYTES_MAX).map_err(|error| error.to_string())
}

/// A file as messages name it.
pub(super) fn named(directory: &Path, file: &Path) -> String {
    file.strip_prefix(directory).unwrap_or(file).display().to_string()
}
