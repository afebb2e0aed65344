//! `x-tyk-api-gateway` as a classic API definition. Both languages have one model: the extension is written in terms of classic fields, by one
//! table for both directions, and every problem that a field then has is reported at its place in the extension.

mod fields;
mod form;
mod json_schema;
mod mcp_paths;
mod oauth2;
mod operations;
mod origins;
mod places_read;
mod primitives;
mod sections;
mod security;
mod unknown;

use serde_json::{Value, json};
use tollgate_model::{JsonPath, Level, Problem};

use crate::document::Document;
use crate::places::{OWN_EXTENSION, member, put};
pub(crate) use fields::{FIELDS, Field, OPERATION_FIELDS, OperationField};
pub(crate) use form::Form as FieldForm;
pub use json_schema::extension_schema;
pub(crate) use mcp_paths::{McpPath, rank as primitive_rank, read_path as read_mcp_path};
pub(crate) use operations::RULE_SOURCES;
use origins::Origins;
pub(crate) use primitives::WITHOUT_EFFECT;
pub(crate) use sections::{HANDLERS, PLUGINS, rename_members};
pub(crate) use security::{CLAIM_RULE, JWT_CLAIMS, JWT_FIELDS, SIGNATURE_FIELDS};

/// The member of a document that has Tyk's settings.
pub const EXTENSION: &str = "x-tyk-api-gateway";

/// Members of `tollgate` that the schemes of a document write.
const FROM_SECURITY: [&str; 4] = ["auth_alternatives", "jwt", "protected_resource", "scope_check"];

/// The classic form of a document.
#[derive(Debug, Clone)]
pub struct ClassicForm {
    /// The classic definition.
    pub definition: Value,
    /// Problems of the extension.
    pub problems: Vec<Problem>,
    origins: Origins,
}

impl ClassicForm {
    /// The same problem, at its place in the document instead of the classic definition.
    pub fn relocated(&self, problem: Problem) -> Problem {
        let path = self.origins.of(&problem.path);
        Problem { path, ..problem }
    }
}

/// Writes the extension of a document as a classic definition.
pub fn classic_form(document: &Document) -> ClassicForm {
    let mut writer = Writer::new();
    let Some(extension) = document.root.get(EXTENSION) else {
        let path = JsonPath::root().key(EXTENSION).to_string();
        writer.problems.push(Problem::new(Level::Error, path, "is missing: nothing says where the API is served"));
        return writer.finish();
    };
    writer.set(&["is_oas"], json!(true));
    writer.set(&["version_data", "not_versioned"], json!(true));
    writer.set(&["version_data", "default_version"], json!(""));
    writer.set(&["version_data", "versions", "", "name"], json!(""));
    writer.set(&["version_data", "versions", "", "use_extended_paths"], json!(true));
    for field in FIELDS {
        match field.2.to_classic(member(extension, field.0)) {
            Ok(Some(value)) => writer.set(&keys(field.1), value),
            Ok(None) => {}
            Err(message) => writer.error(&place(field.0), message),
        }
    }
    primitives::write_protocol(document, &mut writer);
    sections::write(extension, &mut writer);
    security::write(document, extension, &mut writer);
    operations::write(document, extension, &mut writer);
    primitives::write(document, extension, &mut writer);
    primitives::report(document, extension, &mut writer.problems);
    oauth2::write(document, extension, &mut writer);
    if let Some(own) = document.root.get(OWN_EXTENSION) {
        writer.origins.add("$.tollgate".to_owned(), JsonPath::root().key(OWN_EXTENSION).to_string());
        writer.merge_own(own);
    }
    unknown::report(document, extension, &mut writer);
    writer.finish()
}

/// Writes fields of a classic definition into the extension of a document: those whose classic places begin with `prefix`.
pub fn set_classic_fields(root: &mut Value, classic: &Value, prefix: &str) {
    for field in FIELDS.iter().filter(|field| field.1.starts_with(prefix)) {
        if let Some(value) = member(classic, field.1).and_then(|value| field.2.to_extension(value)) {
            let keys: Vec<&str> = std::iter::once(EXTENSION).chain(field.0.split('.')).collect();
            put(root, &keys, value);
        }
    }
}

/// Collects the classic definition, where its parts come from, and problems.
struct Writer {
    definition: Value,
    origins: Origins,
    problems: Vec<Problem>,
}

impl Writer {
    fn new() -> Self {
        Writer { definition: json!({}), origins: Origins::of_table(), problems: Vec::new() }
    }

    fn finish(self) -> ClassicForm {
        ClassicForm { definition: self.definition, problems: self.problems, origins: self.origins }
    }

    fn set(&mut self, keys: &[&str], value: Value) {
        put(&mut self.definition, keys, value);
    }

    /// Appends an entry to a list of `extended_paths`.
    fn push_entry(&mut self, list: &str, entry: Value, origin: &JsonPath) {
        let path = format!("/version_data/versions//extended_paths/{list}");
        if self.definition.pointer(&path).is_none() {
            self.set(&["version_data", "versions", "", "extended_paths", list], json!([]));
        }
        if let Some(Value::Array(entries)) = self.definition.pointer_mut(&path) {
            let place = format!("$.version_data.versions..extended_paths.{list}[{}]", entries.len());
            self.origins.add(place, origin.to_string());
            entries.push(entry);
        }
    }

    /// Takes the members of the document's own settings that the extension does not decide.
    fn merge_own(&mut self, own: &Value) {
        let Value::Object(members) = own else {
            return self.error(&JsonPath::root().key(OWN_EXTENSION), "must be an object");
        };
        for (name, value) in members {
            if name == "application_protocol" {
                continue;
            }
            if name == "extended_paths" {
                self.add_own_entries(value);
                continue;
            }
            // Both would protect, and neither may be lost.
            let is_given =
                FROM_SECURITY.contains(&name.as_str()) && self.definition.pointer(&format!("/tollgate/{name}")).is_some();
            if is_given {
                let message = "what x-tyk-api-gateway says of security applies instead";
                self.warning(&JsonPath::root().key(OWN_EXTENSION).key(name), message);
                continue;
            }
            self.set(&["tollgate", name], value.clone());
        }
    }

    /// Appends the document's own entries of `extended_paths`: what operations of a document can't say, such as patterns.
    fn add_own_entries(&mut self, lists: &Value) {
        let at = JsonPath::root().key(OWN_EXTENSION).key("extended_paths");
        let Value::Object(lists) = lists else { return self.error(&at, "must be an object") };
        for (list, entries) in lists {
            let at = at.key(list);
            // They belong to operations.
            if list.starts_with("operation_") {
                self.error(&at, "is no list of extended_paths");
                continue;
            }
            let Value::Array(entries) = entries else {
                self.error(&at, "must be a list");
                continue;
            };
            entries.iter().enumerate().for_each(|(index, entry)| self.push_entry(list, entry.clone(), &at.index(index)));
        }
    }

    fn error(&mut self, path: &JsonPath, message: impl Into<String>) {
        self.problems.push(Problem::new(Level::Error, path.to_string(), message));
    }

    fn warning(&mut self, path: &JsonPath, message: impl Into<String>) {
        self.problems.push(Problem::new(Level::Warning, path.to_string(), message));
    }

    fn ignored(&mut self, path: &JsonPath, message: impl Into<String>) {
        self.problems.push(Problem::new(Level::Ignored, path.to_string(), message));
    }
}

/// The keys of a classic place of the table.
fn keys(classic: &str) -> Vec<&str> {
    match classic.strip_prefix("version.") {
        Some(rest) => ["version_data", "versions", ""].into_iter().chain(rest.split('.')).collect(),
        None => classic.split('.').collect(),
    }
}

/// The path of a field of the extension.
fn place(dotted: &str) -> JsonPath {
    dotted.split('.').fold(JsonPath::root().key(EXTENSION), |path, key| path.key(key))
}

#[cfg(test)]
mod tests;
