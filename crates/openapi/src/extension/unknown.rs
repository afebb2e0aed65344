//! Reports members of the extension that nothing reads, and those that protect something and have no effect.

use serde_json::Value;
use tollgate_model::JsonPath;

use super::fields::{FIELDS, OPERATION_FIELDS, OPERATION_READ_ELSEWHERE, READ_ELSEWHERE};
use super::{EXTENSION, Writer};

/// Members of operations that protect something and have no effect.
const OPERATION_PROTECTIONS: [&str; 2] = ["scopeCheck", "exchange"];

/// Sections that only act for the Model Context Protocol.
const MCP: [&str; 3] = ["mcpTools", "mcpResources", "mcpPrompts"];

pub(super) fn report(extension: &Value, writer: &mut Writer) {
    let known: Vec<&str> = FIELDS.iter().map(|field| field.0).chain(READ_ELSEWHERE.iter().copied()).collect();
    below(extension, &JsonPath::root().key(EXTENSION), "", &known, writer);
}

fn below(value: &Value, at: &JsonPath, dotted: &str, known: &[&str], writer: &mut Writer) {
    let Value::Object(members) = value else { return };
    for (name, member) in members.iter().filter(|(_, member)| !member.is_null()) {
        let at = at.key(name);
        let dotted = if dotted.is_empty() { name.clone() } else { format!("{dotted}.{name}") };
        if dotted == "middleware.operations" {
            operations(member, &at, writer);
        } else if MCP.iter().any(|section| dotted == format!("middleware.{section}")) {
            if member.as_object().is_some_and(|members| !members.is_empty()) {
                writer.error(&at, "the Model Context Protocol is not supported, and the API is not served without its rules");
            }
        } else if known.contains(&dotted.as_str()) {
            continue;
        } else if known.iter().any(|known| known.strip_prefix(&dotted).is_some_and(|rest| rest.starts_with('.'))) {
            match member {
                Value::Object(_) => below(member, &at, &dotted, known, writer),
                _ => writer.error(&at, "must be an object"),
            }
        } else {
            writer.ignored(&at, "unknown field");
        }
    }
}

fn operations(operations: &Value, at: &JsonPath, writer: &mut Writer) {
    let Value::Object(operations) = operations else { return };
    for (id, operation) in operations {
        let at = at.key(id);
        let Value::Object(members) = operation else {
            writer.error(&at, "must be an object");
            continue;
        };
        for (name, member) in members.iter().filter(|(_, member)| !member.is_null()) {
            let at = at.key(name);
            if OPERATION_PROTECTIONS.contains(&name.as_str()) {
                writer.error(&at, "is not supported, and the API is not served without it");
                continue;
            }
            if OPERATION_READ_ELSEWHERE.contains(&name.as_str()) {
                continue;
            }
            let Some(middleware) = OPERATION_FIELDS.iter().find(|field| field.name == name) else {
                writer.ignored(&at, "unknown field");
                continue;
            };
            let elsewhere = OPERATION_READ_ELSEWHERE.iter().filter_map(|place| place.strip_prefix(name)?.strip_prefix('.'));
            let known: Vec<&str> = middleware.members.iter().map(|field| field.0).chain(elsewhere).collect();
            match member {
                Value::Object(_) => below(member, &at, "", &known, writer),
                _ => writer.error(&at, "must be an object"),
            }
        }
    }
}
