//! The files of a directory that hold definitions, of APIs or of policies.

use std::io;
use std::path::{Path, PathBuf};

/// The files of one API definition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ApiFile {
    /// The definition.
    pub path: PathBuf,
    /// `NAME-oas.json` beside `NAME.json`: the OpenAPI document of a classic definition.
    pub companion: Option<PathBuf>,
}

impl ApiFile {
    /// The definition in this file, with its companion if there is one.
    pub(crate) fn at(path: PathBuf) -> Self {
        let companion = companion_of(&path).filter(|companion| companion.is_file());
        ApiFile { path, companion }
    }
}

/// The definition files in a directory, sorted by name. Companion files such as `-oas.json` are not definitions themselves.
pub(crate) fn definition_files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    named(directory, |name| name.ends_with(".json") && !name.ends_with("-oas.json") && !name.ends_with("-mcp.json"))
}

/// The API definitions in a directory, sorted by name: JSON, and OpenAPI documents in YAML.
pub(crate) fn api_files(directory: &Path) -> io::Result<Vec<ApiFile>> {
    let is_definition =
        |name: &str| [".json", ".yaml", ".yml"].iter().any(|extension| name.ends_with(extension)) && !name.ends_with("-mcp.json");
    let paths = named(directory, is_definition)?;
    let companions: Vec<PathBuf> = paths.iter().filter_map(|path| companion_of(path)).collect();
    let alone = paths.iter().filter(|path| !companions.contains(path));
    Ok(alone.map(|path| ApiFile::at(path.clone())).collect())
}

/// Where the OpenAPI document of a classic definition is.
pub(crate) fn companion_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?.strip_suffix(".json")?;
    Some(path.with_file_name(format!("{name}-oas.json")))
}

fn named(directory: &Path, is_definition: impl Fn(&str) -> bool) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !name.starts_with('.') && is_definition(name) && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
