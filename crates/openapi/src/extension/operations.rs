//! Middleware of single operations as entries of `extended_paths`. The entries are in the order of the specificity of their paths, because the
//! first one that matches a request acts.

use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use tollgate_model::JsonPath;

use super::fields::OPERATION_FIELDS;
use super::mcp_paths::endpoint_of;
use super::{Writer, place};
use crate::document::{Document, Operation};
use crate::places::{member, put};

/// Sources of a rewrite's rule, and the members of `options` that are maps by name.
pub(crate) const RULE_SOURCES: [(&str, &str); 5] = [
    ("query", "query_val_matches"),
    ("path", "path_part_matches"),
    ("header", "header_matches"),
    ("sessionMetadata", "session_meta_matches"),
    ("requestContext", "request_context_matches"),
];

pub(super) fn write(document: &Document, extension: &Value, writer: &mut Writer) {
    let Some(written) = member(extension, "middleware.operations").filter(|value| !value.is_null()) else { return };
    let at = place("middleware.operations");
    let Value::Object(written) = written else { return writer.error(&at, "must be an object") };
    let known: HashSet<&str> = document.operations.iter().map(|operation| operation.id.as_str()).collect();
    for id in written.keys().filter(|id| !known.contains(id.as_str())) {
        writer.warning(&at.key(id), "no operation of this document has this id: nothing applies it");
    }
    for operation in &document.operations {
        let Some(Value::Object(settings)) = written.get(&operation.id) else { continue };
        if operation.id.is_empty() {
            continue;
        }
        let [path, method] = endpoint_of(document, operation);
        for (name, value) in settings {
            write_middleware([&path, &method], name, value, &at.key(&operation.id).key(name), writer);
        }
    }
    // A fixed path is not the business of a pattern that also matches it.
    for (list, disabled) in
        [("operation_validations", json!({"disabled": false, "enabled": false})), ("operation_mocks", json!({"skip": true}))]
    {
        shield_fixed_paths(document, list, &disabled, writer);
    }
}

/// Writes one middleware of an endpoint: of a path and a method.
pub(super) fn write_middleware([path, method]: [&str; 2], name: &str, value: &Value, at: &JsonPath, writer: &mut Writer) {
    if name == "postPlugins" {
        let plugin = value.as_array().and_then(|plugins| plugins.first());
        if let Some(plugin) = plugin {
            let text = |names: [&str; 2]| names.iter().find_map(|name| plugin.get(*name)).cloned().unwrap_or(json!(""));
            let entry = json!({
                "path": path, "method": method,
                "disabled": !plugin.get("enabled").and_then(Value::as_bool).unwrap_or_default(),
                "plugin_path": text(["path", "path"]), "func_name": text(["functionName", "name"]),
            });
            writer.push_entry("go_plugin", entry, &at.index(0));
        }
        return;
    }
    let Some(middleware) = OPERATION_FIELDS.iter().find(|field| field.name == name) else { return };
    if !value.is_object() {
        return;
    }
    let mut entry = json!({"path": path, "method": method});
    for field in middleware.members {
        match field.2.to_classic(member(value, field.0)) {
            Ok(Some(value)) => put(&mut entry, &field.1.split('.').collect::<Vec<_>>(), value),
            Ok(None) => {}
            Err(message) => writer.error(&field.0.split('.').fold(at.clone(), |path, key| path.key(key)), message),
        }
    }
    match name {
        "transformRequestBody" | "transformResponseBody" => write_template(value, &mut entry),
        "urlRewrite" => write_triggers(value, &mut entry, at, writer),
        "virtualEndpoint" => write_virtual(value, &mut entry),
        _ => {}
    }
    writer.push_entry(middleware.list, entry, at);
}

/// A body is a template in Base64; otherwise `path` names a file.
fn write_template(value: &Value, entry: &mut Value) {
    let text = |name: &str| value.get(name).cloned().filter(|text| text != "");
    let (mode, source) = text("body").map_or_else(|| ("file", text("path")), |body| ("blob", Some(body)));
    put(entry, &["template_data", "enable_session"], json!(true));
    put(entry, &["template_data", "template_mode"], json!(mode));
    put(entry, &["template_data", "template_source"], source.unwrap_or(json!("")));
}

fn write_virtual(value: &Value, entry: &mut Value) {
    let text = |name: &str| value.get(name).cloned().filter(|text| text != "");
    let (kind, source) = text("body").map_or_else(|| ("file", text("path")), |body| ("blob", Some(body)));
    put(entry, &["response_function_name"], text("functionName").or_else(|| text("name")).unwrap_or(json!("")));
    put(entry, &["function_source_type"], json!(kind));
    put(entry, &["function_source_uri"], source.unwrap_or(json!("")));
}

fn write_triggers(value: &Value, entry: &mut Value, at: &JsonPath, writer: &mut Writer) {
    let Some(Value::Array(triggers)) = value.get("triggers") else { return };
    let mut written = Vec::new();
    for (index, trigger) in triggers.iter().enumerate() {
        let at = at.key("triggers").index(index);
        let mut options = json!({});
        let rules = trigger.get("rules").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (index, rule) in rules.iter().enumerate() {
            let source = rule.get("in").and_then(Value::as_str).unwrap_or_default();
            let matched = json!({
                "match_rx": rule.get("pattern").cloned().unwrap_or(json!("")),
                "reverse": rule.get("negate").cloned().unwrap_or(json!(false)),
            });
            let name = rule.get("name").and_then(Value::as_str).unwrap_or_default();
            match RULE_SOURCES.iter().find(|(known, _)| *known == source) {
                Some((_, list)) => put(&mut options, &[list, name], matched),
                None if source == "requestBody" => put(&mut options, &["payload_matches"], matched),
                None => {
                    let message = "must be query, path, header, sessionMetadata, requestContext or requestBody";
                    writer.error(&at.key("rules").index(index).key("in"), message);
                }
            }
        }
        written.push(json!({
            "on": trigger.get("condition").cloned().unwrap_or(json!("")),
            "rewrite_to": trigger.get("rewriteTo").cloned().unwrap_or(json!("")),
            "options": options,
        }));
    }
    put(entry, &["triggers"], Value::Array(written));
}

/// Adds entries without effect for fixed paths, if a list has patterns: `/users/{id}` does not act for `/users/me`.
pub(super) fn shield_fixed_paths(document: &Document, list: &str, effectless: &Value, writer: &mut Writer) {
    let pointer = format!("/version_data/versions//extended_paths/{list}");
    let Some(Value::Array(entries)) = writer.definition.pointer(&pointer) else { return };
    let present: HashSet<_> = entries.iter().map(of).collect();
    if !present.iter().any(|(path, _)| path.contains('{')) {
        return;
    }
    let missing = |operation: &&Operation| !present.contains(&(operation.path.as_str(), operation.method.as_str()));
    let fixed = document.operations.iter().filter(|operation| !operation.path.contains('{')).filter(missing);
    // With the places that entries had before.
    let mut all: Vec<(Option<usize>, Value)> = entries.iter().cloned().enumerate().map(|(old, entry)| (Some(old), entry)).collect();
    for operation in fixed {
        let mut entry: Map<String, Value> = effectless.as_object().cloned().unwrap_or_default();
        entry.insert("path".to_owned(), json!(operation.path));
        entry.insert("method".to_owned(), json!(operation.method));
        all.push((None, Value::Object(entry)));
    }
    let mut places: HashMap<(&str, &str), usize> = HashMap::with_capacity(document.operations.len());
    for (index, operation) in document.operations.iter().enumerate() {
        places.entry((operation.path.as_str(), operation.method.as_str())).or_insert(index);
    }
    // Stable: places of problems refer to the entries before this, which keep their order among themselves.
    all.sort_by_cached_key(|(_, entry)| places.get(&of(entry)).copied());
    let mut origins: Vec<(usize, usize)> = all.iter().enumerate().filter_map(|(new, (old, _))| Some(((*old)?, new))).collect();
    origins.sort_unstable();
    let all = all.into_iter().map(|(_, entry)| entry).collect();
    writer.origins.move_entries(list, &origins);
    writer.set(&["version_data", "versions", "", "extended_paths", list], Value::Array(all));
}

/// The path and the method of an entry.
fn of(entry: &Value) -> (&str, &str) {
    let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
    (text("path"), text("method"))
}
