//! Entries of `extended_paths` as operations of a document. A list of which one entry is no operation, or whose entries would act in another
//! order, goes whole into the document's own extension, which takes lists as they are.

use serde_json::{Value, json};

use std::borrow::Cow;

use super::classic::OpenApiWriter;
use super::{is_zero, members};
use crate::document::{METHODS, specificity};
use crate::extension::{
    FieldForm, McpPath, OPERATION_FIELDS, OperationField, RULE_SOURCES, WITHOUT_EFFECT, primitive_rank, read_mcp_path,
};
use crate::places::{member, put};

/// Characters of patterns that no path of a document has.
const OF_PATTERNS: [char; 10] = ['(', ')', '[', ']', '*', '+', '?', '^', '$', '|'];

impl OpenApiWriter {
    pub(super) fn endpoints(&mut self, version_name: &str, version: &Value, is_mcp: bool) {
        if member(version, "use_extended_paths") == Some(&json!(false)) {
            return;
        }
        for (list, entries) in members(member(version, "extended_paths")).filter(|(_, entries)| !is_zero(entries)) {
            let written = entries.as_array().map(Vec::as_slice).unwrap_or_default();
            match operations_of(list, written, is_mcp) {
                Ok((field, entries)) => {
                    for entry in entries {
                        self.entry(field, &entry);
                    }
                }
                Err(why) => {
                    let at = format!("$.version_data.versions.{version_name}.extended_paths.{list}");
                    self.notes.push(format!("{at}: {why}: it is in x-tollgate.extended_paths, which only Tollgate reads"));
                    put(&mut self.root, &["x-tollgate", "extended_paths", list], entries.clone());
                }
            }
        }
    }

    fn entry(&mut self, field: &OperationField, entry: &OperationEntry<'_>) {
        let settings = settings(field, entry.written);
        let id;
        let place = match &entry.place {
            EntryPlace::Primitive(section, name) => [*section, name.as_str()],
            EntryPlace::Operation(path) => {
                id = self.operation(path, &entry.method);
                ["operations", id.as_str()]
            }
        };
        put(&mut self.extension, &["middleware", place[0], place[1], field.name], settings);
    }

    /// The id of the operation of a path and method; makes it if there is none.
    fn operation(&mut self, path: &str, method: &str) -> String {
        let method = method.to_ascii_lowercase();
        let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let id = std::iter::once(method.as_str()).chain(words).collect::<Vec<_>>().join("-");
        let known = self.root.get("paths").and_then(|paths| paths.get(path)?.get(&method)?.get("operationId")?.as_str());
        if let Some(known) = known {
            return known.to_owned();
        }
        let is_taken = |id: &str, root: &Value| {
            let items = members(root.get("paths")).flat_map(|(_, item)| members(Some(item)));
            items.into_iter().any(|(_, operation)| operation.get("operationId").and_then(Value::as_str) == Some(id))
        };
        let mut own = id.clone();
        let mut number = 2;
        while is_taken(&own, &self.root) {
            own = format!("{id}-{number}");
            number += 1;
        }
        let names = path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
        let parameters: Vec<Value> =
            names.map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}})).collect();
        let mut operation = json!({"operationId": own, "responses": {"200": {"description": "As before."}}});
        if !parameters.is_empty() {
            put(&mut operation, &["parameters"], parameters.into());
        }
        put(&mut self.root, &["paths", path, &method], operation);
        own
    }
}

/// An entry for one method.
struct OperationEntry<'e> {
    place: EntryPlace<'e>,
    method: String,
    written: &'e Value,
}

/// Where a document has the middleware of an entry.
#[derive(Clone, PartialEq)]
enum EntryPlace<'e> {
    /// An operation, by its path.
    Operation(Cow<'e, str>),
    /// A primitive of the Model Context Protocol: its section and its name.
    Primitive(&'static str, String),
}

impl EntryPlace<'_> {
    /// Whether this place comes before another one in a document, or is the same.
    fn is_before(&self, other: &Self) -> bool {
        let of = |path: &str| (specificity(path), path.to_owned());
        match (self, other) {
            (EntryPlace::Operation(path), EntryPlace::Operation(other)) => of(path) <= of(other),
            (EntryPlace::Operation(_), EntryPlace::Primitive(..)) => true,
            (EntryPlace::Primitive(..), EntryPlace::Operation(_)) => false,
            // Sections have no names in common.
            (EntryPlace::Primitive(section, name), EntryPlace::Primitive(other, other_name)) => {
                section != other || primitive_rank(name) <= primitive_rank(other_name)
            }
        }
    }
}

/// The entries of a list by method, or why the list can't be operations.
fn operations_of<'e>(
    list: &str,
    entries: &'e [Value],
    is_mcp: bool,
) -> Result<(&'static OperationField, Vec<OperationEntry<'e>>), String> {
    let field = OPERATION_FIELDS.iter().find(|field| field.list == list).ok_or("has no counterpart")?;
    let mut made: Vec<OperationEntry<'e>> = Vec::new();
    for (index, written) in entries.iter().enumerate() {
        let path = written.get("path").and_then(Value::as_str).unwrap_or_default();
        let place = match read_mcp_path(path).filter(|_| is_mcp) {
            Some(McpPath::Primitive(section, name)) => EntryPlace::Primitive(section, name),
            Some(McpPath::Operation(path)) => EntryPlace::Operation(path.into()),
            None if !path.starts_with('/') || path.contains(OF_PATTERNS) => {
                return Err(format!("{path:?} is a pattern, and a document has paths"));
            }
            None => EntryPlace::Operation(path.into()),
        };
        if let Some(name) = members(Some(written)).map(|(name, _)| name).find(|name| !is_known(field, name, written)) {
            return Err(format!("{name} of entry {index} has no counterpart"));
        }
        let is_primitive = matches!(place, EntryPlace::Primitive(..));
        let methods = methods(written)?;
        if is_primitive && methods != ["POST"] {
            return Err(format!("{path:?} is for other methods than POST"));
        }
        if is_primitive && WITHOUT_EFFECT.contains(&field.name) {
            return Err(format!("{path:?} stands for what a document has no such middleware for"));
        }
        for method in methods {
            let place = place.clone();
            if made.iter().any(|other| other.place == place && other.method == method) {
                return Err(format!("{method} {path} has several entries"));
            }
            made.push(OperationEntry { place, method, written });
        }
    }
    // In a document, the most specific path acts first.
    let is_sorted = made.is_sorted_by(|a, b| a.place.is_before(&b.place));
    if is_sorted { Ok((field, made)) } else { Err("the order of its entries is not that of a document's paths".to_owned()) }
}

/// Whether a member of an entry has its place in an operation.
fn is_known(field: &OperationField, name: &str, entry: &Value) -> bool {
    let value = entry.get(name).unwrap_or(&Value::Null);
    let is_own = || match (field.list, name) {
        (_, "path" | "method" | "method_actions") => true,
        ("transform" | "transform_response", "template_data") => {
            // The session is always there in a document.
            members(Some(value)).all(|(name, value)| {
                ["template_source", "template_mode", "input_type", "enable_session"].contains(&name.as_str()) || is_zero(value)
            })
        }
        ("url_rewrites", "triggers") => true,
        ("virtual", "response_function_name" | "function_source_type" | "function_source_uri") => true,
        _ => field.members.iter().any(|member| member.1 == name || member.1.starts_with(&format!("{name}."))),
    };
    is_zero(value) || is_own()
}

/// The settings of an operation's middleware.
fn settings(field: &OperationField, entry: &Value) -> Value {
    let mut settings = json!({});
    for own in field.members {
        let keys: Vec<&str> = own.0.split('.').collect();
        match (member(entry, own.1), own.2) {
            (None, FieldForm::Not) => put(&mut settings, &keys, json!(true)),
            (Some(value), form) => put(&mut settings, &keys, form.to_extension(value).unwrap_or_default()),
            (None, _) => {}
        }
    }
    if let Some(template) = entry.get("template_data") {
        let source = template.get("template_source").cloned().unwrap_or_default();
        let name = if template.get("template_mode") == Some(&json!("file")) { "path" } else { "body" };
        put(&mut settings, &[name], source);
    }
    if field.list == "virtual" {
        let of = |name: &str| entry.get(name).cloned().unwrap_or(json!(""));
        let name = if of("function_source_type") == "file" { "path" } else { "body" };
        put(&mut settings, &[name], of("function_source_uri"));
        put(&mut settings, &["functionName"], of("response_function_name"));
    }
    let triggers = entry.get("triggers").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if !triggers.is_empty() {
        put(&mut settings, &["triggers"], triggers.iter().map(trigger).collect());
    }
    settings
}

fn trigger(trigger: &Value) -> Value {
    let options = trigger.get("options").unwrap_or(&Value::Null);
    let of = |name: &str| trigger.get(name).cloned().unwrap_or(json!(""));
    let mut rules = Vec::new();
    let rule = |source: &str, name: &str, matched: &Value| {
        let pattern = matched.get("match_rx").cloned().unwrap_or(json!(""));
        let negate = matched.get("reverse").cloned().unwrap_or(json!(false));
        json!({"in": source, "name": name, "pattern": pattern, "negate": negate})
    };
    for (source, list) in RULE_SOURCES {
        rules.extend(members(options.get(list)).map(|(name, matched)| rule(source, name, matched)));
    }
    if let Some(matched) = options.get("payload_matches").filter(|matched| !is_zero(matched)) {
        rules.push(rule("requestBody", "", matched));
    }
    json!({"condition": of("on"), "rewriteTo": of("rewrite_to"), "rules": rules})
}

/// The methods of an entry. One with several actions is only converted if they let requests pass.
fn methods(entry: &Value) -> Result<Vec<String>, String> {
    let actions: Vec<(&String, &Value)> = members(entry.get("method_actions")).collect();
    if let Some((method, _)) = actions.iter().find(|(_, action)| action.get("action").and_then(Value::as_str) == Some("reply")) {
        return Err(format!("an entry replies to {method}, before authentication, which mockResponse does not"));
    }
    let named: Vec<String> = actions.iter().map(|(method, _)| (*method).clone()).collect();
    match entry.get("method").and_then(Value::as_str).filter(|method| !method.is_empty()) {
        _ if !named.is_empty() => Ok(named),
        Some(method) => Ok(vec![method.to_owned()]),
        // Any method.
        None => Ok(METHODS.iter().map(|method| method.to_ascii_uppercase()).collect()),
    }
}
