//! Schemas of schemas, for schemas that refer to those of the drafts. Built here, because nothing is fetched.

use serde_json::{Map, Value, json};

/// Names of the drafts with a schema of schemas, with the keyword for addresses.
const DRAFTS: [(&str, &str); 3] = [
    ("http://json-schema.org/draft-04/schema", "id"),
    ("http://json-schema.org/draft-06/schema", "$id"),
    ("http://json-schema.org/draft-07/schema", "$id"),
];

/// The schemas of schemas that a document refers to.
pub(crate) fn metaschemas_of(document: &Value) -> Vec<Value> {
    DRAFTS.iter().filter(|(address, _)| refers(document, address)).map(|(address, id)| metaschema(address, id)).collect()
}

fn refers(value: &Value, address: &str) -> bool {
    match value {
        Value::Object(members) => {
            let is_reference = members.get("$ref").and_then(Value::as_str).is_some_and(|to| to.starts_with(address));
            is_reference || members.values().any(|member| refers(member, address))
        }
        Value::Array(items) => items.iter().any(|item| refers(item, address)),
        _ => false,
    }
}

fn metaschema(address: &str, id: &str) -> Value {
    let is_draft_4 = id == "id";
    let own = || json!({"$ref": "#"});
    let definition = |name: &str| json!({"$ref": format!("#/definitions/{name}")});
    let mut properties = Map::new();
    let mut add =
        |names: &[&str], schema: Value| names.iter().for_each(|name| drop(properties.insert((*name).to_owned(), schema.clone())));
    add(&[id, "$schema", "title", "description", "pattern", "format", "$ref"], json!({"type": "string"}));
    add(&["multipleOf"], json!({"type": "number", "exclusiveMinimum": 0}));
    add(&["minimum", "maximum"], json!({"type": "number"}));
    add(&["maxLength", "maxItems", "maxProperties"], definition("nonNegativeInteger"));
    add(&["minLength", "minItems", "minProperties"], definition("nonNegativeIntegerDefault0"));
    add(&["uniqueItems"], json!({"type": "boolean"}));
    add(&["required"], definition("stringArray"));
    add(&["items"], json!({"anyOf": [own(), definition("schemaArray")]}));
    add(&["additionalItems", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"], own());
    add(&["definitions", "properties", "patternProperties"], json!({"type": "object", "additionalProperties": own()}));
    add(&["dependencies"], json!({"type": "object", "additionalProperties": {"anyOf": [own(), definition("stringArray")]}}));
    add(&["enum"], json!({"type": "array"}));
    let one = definition("simpleTypes");
    add(&["type"], json!({"anyOf": [one, {"type": "array", "items": one, "minItems": 1, "uniqueItems": true}]}));
    add(&["allOf", "anyOf", "oneOf"], definition("schemaArray"));
    let bound = if is_draft_4 { "boolean" } else { "number" };
    add(&["exclusiveMinimum", "exclusiveMaximum"], json!({"type": bound}));
    let kinds = if is_draft_4 { json!("object") } else { json!(["object", "boolean"]) };
    if is_draft_4 {
        // Draft 4 has no schemas that are booleans but these.
        for name in ["additionalItems", "additionalProperties"] {
            properties.insert(name.to_owned(), json!({"anyOf": [{"type": "boolean"}, own()]}));
        }
        properties.insert("multipleOf".to_owned(), json!({"type": "number", "minimum": 0, "exclusiveMinimum": true}));
    }
    json!({
        "$schema": format!("{address}#"),
        id: format!("{address}#"),
        "type": kinds,
        "properties": properties,
        "definitions": {
            "nonNegativeInteger": {"type": "integer", "minimum": 0},
            "nonNegativeIntegerDefault0": {"type": "integer", "minimum": 0},
            "positiveInteger": {"type": "integer", "minimum": 0},
            "positiveIntegerDefault0": {"type": "integer", "minimum": 0},
            "schemaArray": {"type": "array", "minItems": 1, "items": own()},
            "simpleTypes": {"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]},
            "stringArray": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
        },
    })
}
