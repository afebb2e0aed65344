//! The files of a directory that hold definitions, of APIs or of policies.

use std::io;
use std::path::{Path, PathBuf};

/// The definition files in a directory, sorted by name. Companion files such as `-oas.json` are not definitions themselves.
pub(crate) fn definition_files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_definition = name.ends_with(".json")
            && !name.starts_with('.')
            && !name.ends_with("-oas.json")
            && !name.ends_with("-mcp.json")
            && path.is_file();
        if is_definition {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
