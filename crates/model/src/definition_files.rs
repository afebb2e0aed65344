//! The files of a directory that hold definitions, of APIs or of policies.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

/// The files of one API definition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ApiFile {
    /// The definition.
    pub path: PathBuf,
    /// `NAME-oas.json` beside `NAME.json`: the OpenAPI document of a classic definition.
    pub companion: Option<PathBuf>,
}

impl ApiFile {
    /// The definition in this file, with its companion if there is one.
    pub fn at(path: PathBuf) -> Self {
        let companion = companion_of(&path).filter(|companion| companion.is_file());
        ApiFile { path, companion }
    }
}

/// The definition files in a directory, sorted by name. Companion files such as `-oas.json` are not definitions themselves.
pub fn definition_files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let is_definition = |name: &str| name.ends_with(".json") && !name.ends_with("-oas.json") && !name.ends_with("-mcp.json");
    Ok(named(directory, is_definition)?.iter().map(|name| directory.join(name)).collect())
}

/// The API definitions in a directory, sorted by name: JSON, and OpenAPI documents in YAML.
pub fn api_files(directory: &Path) -> io::Result<Vec<ApiFile>> {
    let is_definition =
        |name: &str| [".json", ".yaml", ".yml"].iter().any(|extension| name.ends_with(extension)) && !name.ends_with("-mcp.json");
    let names = named(directory, is_definition)?;
    let known: HashSet<&str> = names.iter().map(String::as_str).collect();
    let companions: HashSet<String> = names.iter().filter_map(|name| companion_name(name)).collect();
    let file = |name: &String| ApiFile {
        path: directory.join(name),
        companion: companion_name(name).filter(|name| known.contains(name.as_str())).map(|name| directory.join(name)),
    };
    Ok(names.iter().filter(|name| !companions.contains(*name)).map(file).collect())
}

/// Where the OpenAPI document of a classic definition is.
pub fn companion_of(path: &Path) -> Option<PathBuf> {
    Some(path.with_file_name(companion_name(path.file_name()?.to_str()?)?))
}

fn companion_name(name: &str) -> Option<String> {
    Some(format!("{}-oas.json", name.strip_suffix(".json")?))
}

/// The names of files in a directory, sorted.
fn named(directory: &Path, is_definition: impl Fn(&str) -> bool) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.starts_with('.') || !is_definition(&name) {
            continue;
        }
        let is_file = match entry.file_type()? {
            kind if kind.is_symlink() => entry.path().is_file(),
            kind => kind.is_file(),
        };
        if is_file {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}
