//! The files of a directory that hold definitions, of APIs or of policies.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

/// The OpenAPI document that a classic definition has beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CompanionKind {
    /// `NAME-oas.json`.
    OpenApi,
    /// `NAME-mcp.json`, of a proxy for the Model Context Protocol.
    Mcp,
}

impl CompanionKind {
    /// All kinds.
    pub const ALL: [CompanionKind; 2] = [CompanionKind::OpenApi, CompanionKind::Mcp];

    /// The kind that the name of a file says.
    pub fn of_file(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        CompanionKind::ALL.into_iter().find(|kind| name.ends_with(kind.ending()))
    }

    fn ending(self) -> &'static str {
        match self {
            CompanionKind::OpenApi => "-oas.json",
            CompanionKind::Mcp => "-mcp.json",
        }
    }
}

/// What belongs to a classic definition, by kind. The definition says which one counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Companions<T> {
    openapi: Option<T>,
    mcp: Option<T>,
}

impl<T> Default for Companions<T> {
    fn default() -> Self {
        Companions { openapi: None, mcp: None }
    }
}

impl<T> Companions<T> {
    /// One companion.
    pub fn only(kind: CompanionKind, value: T) -> Self {
        match kind {
            CompanionKind::OpenApi => Companions { openapi: Some(value), mcp: None },
            CompanionKind::Mcp => Companions { openapi: None, mcp: Some(value) },
        }
    }

    /// The companion of a kind.
    pub fn get(&self, kind: CompanionKind) -> Option<&T> {
        match kind {
            CompanionKind::OpenApi => self.openapi.as_ref(),
            CompanionKind::Mcp => self.mcp.as_ref(),
        }
    }

    /// All companions, in the order of their kinds.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.openapi.iter().chain(&self.mcp)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.openapi.is_none() && self.mcp.is_none()
    }

    /// The same of what `f` makes of each.
    pub fn try_map<U, E>(&self, f: impl Fn(&T) -> Result<U, E>) -> Result<Companions<U>, E> {
        Ok(Companions { openapi: self.openapi.as_ref().map(&f).transpose()?, mcp: self.mcp.as_ref().map(&f).transpose()? })
    }

    fn of(find: impl Fn(CompanionKind) -> Option<T>) -> Self {
        Companions { openapi: find(CompanionKind::OpenApi), mcp: find(CompanionKind::Mcp) }
    }
}

/// The files of one API definition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ApiFile {
    /// The definition.
    pub path: PathBuf,
    /// `NAME-oas.json` and `NAME-mcp.json` beside `NAME.json`.
    pub companions: Companions<PathBuf>,
}

impl ApiFile {
    /// The definition in this file, with its companions if there are any.
    pub fn at(path: PathBuf) -> Self {
        let companions = Companions::of(|kind| companion_of(&path, kind).filter(|companion| companion.is_file()));
        ApiFile { path, companions }
    }

    /// A definition without companions.
    pub fn alone(path: PathBuf) -> Self {
        ApiFile { path, companions: Companions::default() }
    }

    /// All files of the definition.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.path).chain(self.companions.iter())
    }
}

/// The definition files in a directory, sorted by name. Companion files such as `-oas.json` are not definitions themselves.
pub fn definition_files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let is_definition = |name: &str| name.ends_with(".json") && CompanionKind::of_file(Path::new(name)).is_none();
    Ok(named(directory, is_definition)?.iter().map(|name| directory.join(name)).collect())
}

/// The API definitions in a directory, sorted by name: JSON, and OpenAPI documents in YAML.
pub fn api_files(directory: &Path) -> io::Result<Vec<ApiFile>> {
    let is_definition = |name: &str| [".json", ".yaml", ".yml"].iter().any(|extension| name.ends_with(extension));
    let names = named(directory, is_definition)?;
    let known: HashSet<&str> = names.iter().map(String::as_str).collect();
    let companions = names.iter().flat_map(|name| CompanionKind::ALL.into_iter().filter_map(|kind| companion_name(name, kind)));
    let companions: HashSet<String> = companions.collect();
    let companion = |name: &str, kind| companion_name(name, kind).filter(|name| known.contains(name.as_str()));
    let file = |name: &String| ApiFile {
        path: directory.join(name),
        companions: Companions::of(|kind| companion(name, kind).map(|name| directory.join(name))),
    };
    Ok(names.iter().filter(|name| !companions.contains(*name)).map(file).collect())
}

/// Where the OpenAPI document of a classic definition is.
pub fn companion_of(path: &Path, kind: CompanionKind) -> Option<PathBuf> {
    Some(path.with_file_name(companion_name(path.file_name()?.to_str()?, kind)?))
}

fn companion_name(name: &str, kind: CompanionKind) -> Option<String> {
    Some(format!("{}{}", name.strip_suffix(".json")?, kind.ending()))
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
