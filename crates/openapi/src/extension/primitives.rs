//! Tools, resources and prompts of the Model Context Protocol as entries of `extended_paths`, and its methods, which a document has as operations.

use serde_json::{Map, Value, json};
use tollgate_model::{JsonPath, Level, Problem};

use super::mcp_paths::{SECTIONS, method_of, path_of, rank};
use super::operations::write_middleware;
use super::{Writer, place};
use crate::document::{Document, Operation};
use crate::mcp_mark;
use crate::places::{OWN_EXTENSION, member};

/// Middleware that has no effect on primitives.
pub(crate) const WITHOUT_EFFECT: [&str; 8] =
    [OPEN, "transformRequestMethod", "transformResponseBody", "internal", "urlRewrite", "cache", "validateRequest", "mockResponse"];

/// A call is made at the path of the proxy, which needs a key. As in Tyk, no rule for what is called changes that.
const OPEN: &str = "ignoreAuthentication";

/// Middleware that needs an operation's own schemas and examples, which are not those of a method.
const OF_DOCUMENTS: [&str; 2] = ["validateRequest", "mockResponse"];

/// The classic fields that tell such an API.
pub(super) fn write_protocol(document: &Document, writer: &mut Writer) {
    match mcp_mark::of(&document.root) {
        None | Some(Value::Null) => {}
        Some(Value::String(protocol)) if protocol == "mcp" => {
            writer.set(&["application_protocol"], json!("mcp"));
            writer.set(&["json_rpc_version"], json!("2.0"));
        }
        Some(_) => writer.error(&JsonPath::root().key(OWN_EXTENSION).key("application_protocol"), "must be mcp"),
    }
}

pub(super) fn write(document: &Document, extension: &Value, writer: &mut Writer) {
    for (at, path, settings) in primitives_of(document, extension) {
        write_primitive(&path, settings, &at, writer);
    }
}

/// The primitives of a section in the order in which they act: of several that fit a name, the first one in a list does.
fn sorted(written: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut all: Vec<(&String, &Value)> = written.iter().collect();
    all.sort_by_key(|(name, _)| rank(name));
    all
}

fn write_primitive(path: &str, settings: &Value, at: &JsonPath, writer: &mut Writer) {
    // Another value is reported with the unknown members.
    let Value::Object(settings) = settings else { return };
    for (middleware, value) in settings {
        let is_on = || value.get("enabled") != Some(&json!(false));
        if WITHOUT_EFFECT.contains(&middleware.as_str()) {
            if value.is_object() && is_on() {
                writer.warning(&at.key(middleware), "has no effect on tools, resources and prompts");
            }
            continue;
        }
        write_middleware([path, "POST"], middleware, value, &at.key(middleware), writer);
    }
}

/// Reports operations that stand for a method and can't act as such.
pub(super) fn report(document: &Document, extension: &Value, problems: &mut Vec<Problem>) {
    let mut known: Vec<(&str, &Operation)> = Vec::new();
    for operation in &document.operations {
        let Some(method) = method_of(document, operation) else { continue };
        let at = JsonPath::root().key("paths").key(&operation.path).key(&operation.method.to_lowercase());
        if operation.method != "POST" {
            let message = "clients send methods with POST: nothing applies this operation";
            problems.push(Problem::new(Level::Warning, at.to_string(), message));
            continue;
        }
        if let Some((_, first)) = known.iter().find(|(known, _)| *known == method) {
            let message = format!("stands for the same method as {}", first.path);
            problems.push(Problem::new(Level::Error, at.to_string(), message));
        }
        known.push((method, operation));
        let settings = member(extension, "middleware.operations").and_then(|operations| operations.get(&operation.id));
        let is_on = |name: &str| settings.and_then(|settings| settings.get(name)?.get("enabled")) == Some(&json!(true));
        let at = |name: &str| place("middleware.operations").key(&operation.id).key(name).to_string();
        for name in OF_DOCUMENTS.into_iter().filter(|name| is_on(name)) {
            problems.push(Problem::new(Level::Error, at(name), "is not supported for methods of JSON-RPC"));
        }
        if is_on(OPEN) {
            problems.push(Problem::new(Level::Warning, at(OPEN), "has no effect on methods of JSON-RPC"));
        }
    }
}

/// All primitives in the order in which they act: their places, paths and settings.
pub(super) fn primitives_of<'e>(document: &Document, extension: &'e Value) -> Vec<(JsonPath, String, &'e Value)> {
    let mut all = Vec::new();
    for (section, _) in SECTIONS.iter().filter(|_| mcp_mark::is_in(&document.root)) {
        let written = member(extension, "middleware").and_then(|middleware| middleware.get(section)?.as_object());
        let at = place("middleware").key(section);
        all.extend(written.into_iter().flat_map(sorted).map(|(name, settings)| (at.key(name), path_of(section, name), settings)));
    }
    all
}

#[cfg(test)]
mod tests;
