//! The JSON Schema of documents with `x-tyk-api-gateway`, for editors. Made of the table of fields and of the schema of classic definitions, so
//! that a field is described once.

use serde_json::{Map, Value, json};
use tollgate_model::DocumentSchema;

use super::EXTENSION;
use super::fields::{FIELDS, Field, OPERATION_FIELDS};
use super::form::Form;
use super::mcp_paths::SECTIONS;
use super::places_read::{OPERATION_READ_ELSEWHERE, READ_ELSEWHERE};

/// The schema of documents of a version such as `3.0` or `3.0.3`; `None` for a version that is not read.
pub fn extension_schema(version: &str) -> Option<Value> {
    let minor = ["3.0", "3.1"].into_iter().find(|minor| version.strip_prefix(minor).is_some_and(is_patch))?;
    let classic = ClassicSchema(DocumentSchema::Definition.whole());
    let mut extension = json!({"type": "object", "required": ["info", "upstream", "server"]});
    for Field(place, counterpart, form) in FIELDS {
        put(&mut extension, place, classic.written(classic.at(counterpart), *form));
    }
    READ_ELSEWHERE.iter().for_each(|place| put(&mut extension, place, json!({})));
    put(&mut extension, "server.authentication.securitySchemes", json!({}));
    let mut operation = json!({"type": "object"});
    for middleware in OPERATION_FIELDS {
        let entry =
            classic.at(&format!("version.extended_paths.{}", middleware.list)).and_then(|list| classic.followed(list).get("items"));
        for Field(place, counterpart, form) in middleware.members {
            let found = entry.and_then(|entry| classic.below(entry, counterpart));
            put(&mut operation, &format!("{}.{place}", middleware.name), classic.written(found, *form));
        }
    }
    OPERATION_READ_ELSEWHERE.iter().for_each(|place| put(&mut operation, place, json!({})));
    put(&mut extension, "middleware.operations", json!({"type": ["object", "null"], "additionalProperties": operation}));
    put(&mut operation, "security", json!({"type": "array"}));
    for (section, _) in SECTIONS {
        put(
            &mut extension,
            &format!("middleware.{section}"),
            json!({"type": ["object", "null"], "additionalProperties": operation}),
        );
    }
    Some(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["openapi", "info", EXTENSION],
        "properties": {
            "openapi": {"type": "string", "pattern": format!("^{}(\\.[0-9]+)?$", minor.replace('.', "\\."))},
            "info": {"type": "object", "required": ["title", "version"]},
            "paths": {"type": "object"},
            "components": {"type": "object"},
            "servers": {"type": "array"},
            "security": {"type": "array"},
            EXTENSION: extension,
        },
        "$defs": classic.0.get("$defs").cloned().unwrap_or_default(),
    }))
}

fn is_patch(rest: &str) -> bool {
    rest.is_empty()
        || rest.strip_prefix('.').is_some_and(|patch| !patch.is_empty() && patch.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Puts the schema of a member below dotted keys; `[]` behind a key stands for the items of its list.
fn put(object: &mut Value, place: &str, schema: Value) {
    let mut at = object;
    let mut keys = place.split('.').peekable();
    while let Some(key) = keys.next() {
        let Value::Object(members) = at else { return };
        let Value::Object(properties) = members.entry("properties").or_insert_with(|| Value::Object(Map::new())) else { return };
        if keys.peek().is_none() {
            properties.insert(key.to_owned(), schema);
            return;
        }
        at = match key.strip_suffix("[]") {
            None => properties.entry(key).or_insert_with(|| json!({"type": ["object", "null"]})),
            Some(list) => {
                let list =
                    properties.entry(list).or_insert_with(|| json!({"type": ["array", "null"], "items": {"type": "object"}}));
                let Some(items) = list.get_mut("items") else { return };
                items
            }
        };
    }
}

/// The schema of classic definitions.
struct ClassicSchema(Value);

impl ClassicSchema {
    /// The schema at a place of [`FIELDS`].
    fn at(&self, place: &str) -> Option<&Value> {
        match place.strip_prefix("version.") {
            None => self.below(&self.0, place),
            Some(rest) => {
                let versions = self.followed(self.below(&self.0, "version_data.versions")?);
                self.below(versions.get("additionalProperties")?, rest)
            }
        }
    }

    fn below<'s>(&'s self, schema: &'s Value, dotted: &str) -> Option<&'s Value> {
        dotted.split('.').try_fold(schema, |schema, key| self.followed(schema).get("properties")?.get(key))
    }

    /// The schema behind a reference, which may stand beside null.
    fn followed<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let alternatives = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_array()).flatten();
        let mut written = std::iter::once(schema).chain(alternatives);
        let target = written.find_map(|schema| schema.get("$ref")?.as_str()?.strip_prefix('#'));
        target.and_then(|target| self.0.pointer(target)).unwrap_or(schema)
    }

    /// The schema of a value as the extension writes it.
    fn written(&self, classic: Option<&Value>, form: Form) -> Value {
        let list = |name: &str, member: &str, values: Value| json!({"type": ["array", "null"], "items": {"type": "object", "properties": {name: {"type": "string"}, member: values}}});
        match form {
            Form::Same => classic.cloned().unwrap_or_else(|| json!({})),
            Form::Not => json!({"type": ["boolean", "null"]}),
            Form::Seconds => {
                json!({"type": ["string", "number", "null"], "description": "A span of time, such as `10s` or `1m30s`."})
            }
            Form::Tls => json!({"enum": ["", "1.0", "1.1", "1.2", "1.3", null]}),
            Form::Map(name, member) => list(name, member, json!({"type": "string"})),
            Form::JoinedMap(name, member) => list(name, member, json!({"type": "array", "items": {"type": "string"}})),
        }
    }
}

#[cfg(test)]
mod tests;
