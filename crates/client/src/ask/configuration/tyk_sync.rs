//! The layout of tyk-sync: `.tyk.json` names the files. Each API's file has the definition in `api_definition`, an OpenAPI document in `oas`, or is
//! the definition itself (tyk-sync 1.5 and 2: `cmd/dump.go`, `tyk-vcs/getter.go`).

use super::files::read_file;
use super::object::{LocalConfiguration, LocalContent, LocalObject, PartKind, api_id, policy_id};
use serde_json::Value;
use std::path::{Component, Path};

/// The file that names the others.
pub(super) const SPEC: &str = ".tyk.json";

/// Reads the files that `.tyk.json` names.
pub(super) fn read(directory: &Path, problems: &mut Vec<String>) -> LocalConfiguration {
    let mut local = LocalConfiguration::default();
    let spec = match read_file(&directory.join(SPEC)).and_then(|text| tollgate_openapi::read_text(&text)) {
        Ok(spec) => spec,
        Err(problem) => {
            problems.push(format!("{SPEC}: {problem}"));
            return local;
        }
    };
    match spec.get("type").and_then(Value::as_str) {
        Some("apidef") => {}
        Some("oas") => {
            problems.push(format!("{SPEC}: $.type: files of the type oas are imported with `tollgate apis import`"));
            return local;
        }
        _ => problems.push(format!("{SPEC}: $.type: must be \"apidef\"")),
    }
    for (list, kind) in [("files", PartKind::Api), ("policies", PartKind::Policy)] {
        for (place, entry) in spec.get(list).and_then(Value::as_array).into_iter().flatten().enumerate() {
            let Some(file) = entry.get("file").and_then(Value::as_str).filter(|file| !file.is_empty()) else { continue };
            let outside = Path::new(file).components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir));
            let object = if outside {
                Err(format!("is outside the directory ({SPEC}: $.{list}[{place}].file)"))
            } else {
                object(&directory.join(file), file, kind, entry)
            };
            match object {
                Ok(object) => local.objects.push(object),
                Err(problem) => problems.push(format!("{file}: {problem}")),
            }
        }
    }
    let assets = spec.get("assets").and_then(Value::as_array).map_or(0, Vec::len);
    if assets > 0 {
        local.notes.push(format!("{SPEC}: {assets} assets are for a dashboard; a gateway has none"));
    }
    local
}

fn object(path: &Path, file: &str, kind: PartKind, entry: &Value) -> Result<LocalObject, String> {
    let mut document = tollgate_openapi::read_text(&read_file(path)?)?;
    let wrapped = ["oas", "api_definition"].into_iter().filter(|_| kind == PartKind::Api);
    if let Some(inner) = wrapped.filter_map(|name| document.get(name)).find(|inner| inner.is_object()).cloned() {
        document = inner;
    }
    let set = |document: &mut Value, pointer: [&str; 3], value: Option<&Value>| {
        let Some(value) = value.filter(|value| value.as_str().is_some_and(|text| !text.is_empty())) else { return };
        let mut place = document;
        for name in pointer.into_iter().filter(|name| !name.is_empty()) {
            let Value::Object(members) = place else { return };
            place = members.entry(name).or_insert(Value::Null);
        }
        *place = value.clone();
    };
    let (path, id) = match kind {
        PartKind::Api => {
            let (id, org) = match super::object::is_openapi(&document) {
                true => (["x-tyk-api-gateway", "info", "id"], ["x-tyk-api-gateway", "info", "orgId"]),
                false => (["", "", "api_id"], ["", "", "org_id"]),
            };
            set(&mut document, id, entry.get("api_id"));
            set(&mut document, org, entry.get("org_id"));
            api_id(&document)
        }
        _ => {
            set(&mut document, ["", "", "id"], entry.get("id"));
            ("$.id".to_owned(), policy_id(&document))
        }
    };
    if id.is_empty() {
        return Err(format!("{path}: must be set: it is the id of the {}", kind.name()));
    }
    Ok(LocalObject { kind, id, file: file.to_owned(), content: LocalContent::Document(document) })
}
