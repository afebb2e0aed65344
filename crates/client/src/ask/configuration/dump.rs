//! Writes the configuration of a gateway into a directory, one file for each object. A file that says what the gateway has stays as it is, byte by byte;
//! one that says something else keeps its name. Nothing is deleted without being asked for.

use super::ConfigurationScope;
use super::directory::object;
use super::files::{files_below, named};
use super::live::{LiveConfiguration, LiveObject};
use super::object::{LocalContent, LocalObject, PartKind, has_tag, is_mcp, is_openapi, without_zeros};
use super::tyk_sync::SPEC;
use crate::ask::CommandFailure;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What a dump did.
#[derive(Default)]
pub(super) struct DumpReport {
    written: Vec<String>,
    deleted: Vec<String>,
    /// Files of objects that the gateway does not have.
    kept: Vec<String>,
    unchanged: usize,
    masked: usize,
    notes: Vec<String>,
}

impl DumpReport {
    pub(super) fn to_json(&self) -> Value {
        json!({
            "written": self.written, "deleted": self.deleted, "not_on_gateway": self.kept, "unchanged": self.unchanged,
            "with_masks": self.masked, "notes": self.notes,
        })
    }

    pub(super) fn to_text(&self) -> String {
        let mut lines: Vec<String> = self.deleted.iter().map(|file| format!("deleted {file}")).collect();
        lines.extend(self.kept.iter().map(|file| format!("not on the gateway, kept: {file} (--prune deletes it)")));
        lines.extend(self.notes.iter().map(|note| format!("note: {note}")));
        if self.masked > 0 {
            lines.push(format!("note: {} files have masks in place of secrets; a sync keeps the gateway's secrets", self.masked));
        }
        lines.push(format!("{} files written, {} unchanged, {} deleted", self.written.len(), self.unchanged, self.deleted.len()));
        lines.join("\n")
    }
}

/// Writes the objects of a gateway.
pub(super) fn write(
    directory: &Path,
    live: &LiveConfiguration,
    scope: &ConfigurationScope,
    prune: bool,
) -> Result<DumpReport, CommandFailure> {
    if directory.join(SPEC).is_file() {
        let message =
            format!("{} has the layout of tyk-sync ({SPEC}), which is only read: dump into another directory", directory.display());
        return Err(CommandFailure::Refused(message));
    }
    if !live.problems.is_empty() {
        let message = format!("files of the gateway have errors, so this is not what they say:\n{}", live.problems.join("\n"));
        return Err(CommandFailure::Refused(message));
    }
    let mut written = DumpReport { notes: live.notes.clone(), ..DumpReport::default() };
    let (mut known, strange) = known_files(directory, scope)?;
    known.retain(|(kind, _), _| !live.without.contains(kind));
    let mut taken: HashSet<PathBuf> = known.values().flatten().map(|(path, _)| path.clone()).chain(strange).collect();
    let mut seen = HashSet::new();
    for (kind, id, object) in live.iter().filter(|(kind, id, _)| scope.has(*kind) && is_wanted(live, *kind, id, scope)) {
        seen.insert((kind, id.to_owned()));
        let files = known.get(&(kind, id.to_owned())).map(Vec::as_slice).unwrap_or_default();
        write_object(directory, kind, id, object, files, &mut taken, &mut written)?;
    }
    let mut gone: Vec<&PathBuf> =
        known.iter().filter(|(key, _)| !seen.contains(*key)).flat_map(|(_, files)| files.iter().map(|(path, _)| path)).collect();
    gone.sort();
    for path in gone {
        let name = named(directory, path);
        if prune {
            fs::remove_file(path).map_err(|error| failed(path, &error))?;
            written.deleted.push(name);
        } else {
            written.kept.push(name);
        }
    }
    Ok(written)
}

type KnownFiles = BTreeMap<(PartKind, String), Vec<(PathBuf, LocalObject)>>;

/// The files that are there already, by object, and those that can't be read as one.
fn known_files(directory: &Path, scope: &ConfigurationScope) -> Result<(KnownFiles, Vec<PathBuf>), CommandFailure> {
    let (mut known, mut strange) = (KnownFiles::new(), Vec::new());
    let mut problems = Vec::new();
    for kind in PartKind::ALL.into_iter().filter(|kind| scope.has(*kind)) {
        for file in files_below(&directory.join(kind.folder()), &mut problems) {
            match object(directory, &file, kind) {
                Ok(Some(object)) if is_in_scope(&object, scope) => {
                    known.entry((kind, object.id.clone())).or_default().push((file, object));
                }
                _ => strange.push(file),
            }
        }
    }
    if problems.is_empty() { Ok((known, strange)) } else { Err(CommandFailure::Refused(problems.join("\n"))) }
}

/// Files of other owners are not touched.
fn is_in_scope(object: &LocalObject, scope: &ConfigurationScope) -> bool {
    match (&scope.tag, &object.content) {
        (Some(tag), LocalContent::Document(document)) => object.kind == PartKind::Client || has_tag(document, tag),
        (Some(_), _) => false,
        (None, _) => true,
    }
}

fn is_wanted(live: &LiveConfiguration, kind: PartKind, id: &str, scope: &ConfigurationScope) -> bool {
    let Some(tag) = &scope.tag else { return true };
    let owner = match (kind, id.split_once('/')) {
        (PartKind::Client, Some((api, _))) => live.get(PartKind::Api, api),
        (PartKind::Certificate, _) => None,
        _ => live.get(kind, id),
    };
    owner.is_some_and(|object| has_tag(&object.document, tag))
}

fn write_object(
    directory: &Path,
    kind: PartKind,
    id: &str,
    live: &LiveObject,
    files: &[(PathBuf, LocalObject)],
    taken: &mut HashSet<PathBuf>,
    written: &mut DumpReport,
) -> Result<(), CommandFailure> {
    if kind == PartKind::Certificate && !files.is_empty() {
        // The certificate itself, or a description, which does not change.
        written.unchanged += 1;
        return Ok(());
    }
    let document = for_file(kind, live);
    written.masked += usize::from(tollgate_admin::mask::has_mask(&document));
    let says_so = |local: &LocalObject| match &local.content {
        LocalContent::Document(local) if live.unmasked.is_some() => without_zeros(local) == without_zeros(&document),
        LocalContent::Document(local) => {
            *local == document || (kind == PartKind::Client && without_client_names(local) == without_client_names(&document))
        }
        _ => true,
    };
    if files.iter().any(|(_, local)| says_so(local)) {
        written.unchanged += 1;
        return Ok(());
    }
    let path = match files.first() {
        // Comments of YAML would be lost in any case, so the file says what it is.
        Some((path, _)) if path.extension().is_some_and(|extension| extension != "json") => {
            fs::remove_file(path).map_err(|error| failed(path, &error))?;
            written.notes.push(format!("{} is JSON now", named(directory, path)));
            path.with_extension("json")
        }
        Some((path, _)) => path.clone(),
        None => new_file(directory, kind, id, &document, taken),
    };
    let text = serde_json::to_string_pretty(&document).unwrap_or_default() + "\n";
    write_file(&path, &text).map_err(|error| failed(&path, &error))?;
    taken.insert(path.clone());
    written.written.push(named(directory, &path));
    Ok(())
}

/// The document as it stands in a file.
fn for_file(kind: PartKind, live: &LiveObject) -> Value {
    let mut document = live.document.clone();
    if let (PartKind::Client, Value::Object(members)) = (kind, &mut document) {
        members.shift_remove("secret");
    }
    // A gateway that shows all members makes files that nobody can read.
    if live.unmasked.is_some() { without_zeros(&document) } else { document }
}

/// The API of a client is in its folder's name too; the secret may be written in the file.
fn without_client_names(client: &Value) -> Value {
    let mut client = client.clone();
    if let Value::Object(members) = &mut client {
        members.shift_remove("api_id");
        members.shift_remove("secret");
    }
    client
}

/// A file named after the id. Other characters are replaced, and a number keeps files apart.
fn new_file(directory: &Path, kind: PartKind, id: &str, document: &Value, taken: &HashSet<PathBuf>) -> PathBuf {
    let slug = |text: &str| {
        let name: String =
            text.chars().map(|c| if c.is_ascii_alphanumeric() || "-_~.".contains(c) { c } else { '_' }).take(180).collect();
        if name.is_empty() || name.starts_with('.') { format!("_{name}") } else { name }
    };
    let (folder, name) = match (kind, id.split_once('/')) {
        (PartKind::Client, Some((api, client))) => (directory.join(kind.folder()).join(slug(api)), slug(client)),
        _ => (directory.join(kind.folder()), slug(id)),
    };
    let end = match kind == PartKind::Api && is_openapi(document) {
        true if is_mcp(document) => "mcp.json",
        true => "oas.json",
        false => "json",
    };
    let mut path = folder.join(format!("{name}.{end}"));
    let mut number = 2;
    while taken.contains(&path) {
        path = folder.join(format!("{name}.{number}.{end}"));
        number += 1;
    }
    path
}

/// At any time, the old or the new file is there.
fn write_file(path: &Path, text: &str) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.new"));
    fs::write(&temporary, text)?;
    fs::rename(&temporary, path)
}

fn failed(path: &Path, error: &io::Error) -> CommandFailure {
    CommandFailure::Refused(format!("{}: {error}", path.display()))
}

/// Names of files by object, for tests.
#[cfg(test)]
pub(super) fn names(directory: &Path) -> std::collections::HashMap<String, String> {
    let mut problems = Vec::new();
    let files = files_below(directory, &mut problems);
    files.iter().map(|file| (named(directory, file), fs::read_to_string(file).unwrap_or_default())).collect()
}
