//! `tollgate check` for manifests of Kubernetes: what would become of Ingresses and objects of the Gateway API, by line.

use crate::kubernetes::check_objects;
use crate::manifest_findings::ManifestFindings;
use serde_json::Value;
use std::path::Path;
use tollgate_control::definitions::DefinitionText;
use tollgate_data::registry::Registry;
use tollgate_data::settings::Settings;
use tollgate_model::bounded_file;
use tollgate_openapi::read_text;

/// Of a file with all objects of a cluster.
const MANIFEST_BYTES_MAX: u64 = 64 << 20;

/// One document of a file.
struct ManifestDocument<'t> {
    /// The number of its first line.
    line: usize,
    text: &'t str,
}

/// Whether a file has manifests: its first document names a version of an API and a kind.
pub(crate) fn has_manifests(file: &Path) -> bool {
    let Ok(text) = bounded_file::read_text(file, MANIFEST_BYTES_MAX) else { return false };
    let first = documents(&text).into_iter().find_map(|document| read_text(document.text.as_bytes()).ok());
    first.is_some_and(|object| {
        object.get("apiVersion").is_some_and(Value::is_string) && object.get("kind").is_some_and(Value::is_string)
    })
}

/// Prints what becomes of the manifests of a file. Whether there are errors among it.
pub(crate) fn check_manifests(file: &Path, settings: &Settings, registry: &std::sync::Arc<Registry>) -> bool {
    let shown = file.display();
    let text = match bounded_file::read_text(file, MANIFEST_BYTES_MAX) {
        Ok(text) => text,
        Err(error) => {
            say!("{shown}: error: cannot be read: {error}");
            return true;
        }
    };
    let documents = documents(&text);
    let (mut objects, mut errors) = (Vec::new(), 0);
    for document in documents.iter().filter(|document| document.text.lines().any(|line| !is_blank(line))) {
        match read_text(document.text.as_bytes()) {
            Ok(object) => objects.push(object),
            Err(why) => {
                say!("{shown}:{}: error: {why}", document.line);
                errors += 1;
            }
        }
    }
    let findings = match check_objects(objects) {
        Ok(findings) => findings,
        Err(error) => {
            say!("{shown}: error: {error}");
            return true;
        }
    };
    let ManifestFindings { mut lines, definitions } = findings;
    for line in &mut lines {
        line.number = line_of(&documents, &line.object, &line.subject);
    }
    lines.sort_by_key(|line| line.number);
    for line in &lines {
        let number = line.number.map(|number| format!("{number}:")).unwrap_or_default();
        say!("{shown}:{number} {}: {}: {}: {}", line.level, line.object, line.subject, line.reason);
        errors += usize::from(line.level == "error");
    }
    for (id, definition) in definitions {
        let compiled = DefinitionText::of(definition.to_string().as_bytes()).compile(None, settings, registry);
        for problem in compiled.err().into_iter().flatten() {
            say!("{shown}: {id}: {problem}");
            errors += 1;
        }
    }
    let count = |level: &str| lines.iter().filter(|line| line.level == level).count();
    let verdict = if errors > 0 { "not usable as it is" } else { "ok" };
    let (carried, approximated, lost) = (count("carried"), count("approximated"), count("no effect"));
    say!("{shown}: {verdict}: {errors} errors, {lost} without effect, {approximated} approximated, {carried} carried over");
    errors > 0
}

fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

/// The documents of a file with several.
fn documents(text: &str) -> Vec<ManifestDocument<'_>> {
    let mut documents = Vec::new();
    let (mut start, mut first, mut at) = (0, 1, 0);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let end = at + line.len();
        if line.trim_end() == "---" || line.starts_with("--- ") {
            documents.push(ManifestDocument { line: first, text: text.get(start..at).unwrap_or_default() });
            (start, first) = (end, index + 2);
        }
        at = end;
    }
    documents.push(ManifestDocument { line: first, text: text.get(start..).unwrap_or_default() });
    documents
}

/// The line that names an annotation of an object, or else the first line of the object's document.
fn line_of(documents: &[ManifestDocument<'_>], object: &str, annotation: &str) -> Option<usize> {
    let key = object.rsplit(' ').next().unwrap_or_default();
    let (namespace, name) = key.split_once('/').unwrap_or(("", key));
    let is_name = |line: &str| line.trim() == format!("name: {name}");
    let names_object = |document: &&ManifestDocument<'_>| {
        let flow = [format!("name: {name},"), format!("name: {name}}}")];
        document.text.lines().any(is_name) || flow.iter().any(|name| document.text.contains(name))
    };
    let document = documents.iter().find(names_object)?;
    let lines: Vec<&str> = document.text.lines().collect();
    let names_annotation = |line: &&str| line.contains(&format!("nginx.ingress.kubernetes.io/{annotation}:"));
    // In a list, annotations come before the name of their object, and its namespace after it.
    let is_namespace = |line: Option<&&str>| line.is_some_and(|line| line.trim() == format!("namespace: {namespace}"));
    let named = lines.iter().enumerate().position(|(at, line)| is_name(line) && is_namespace(lines.get(at + 1)));
    let is_list = lines.iter().any(|line| line.trim_end() == "kind: List");
    let found = match named.filter(|_| is_list) {
        Some(named) => lines.iter().take(named).rposition(names_annotation),
        None => lines.iter().position(names_annotation),
    };
    Some(document.line + found.unwrap_or(0))
}
