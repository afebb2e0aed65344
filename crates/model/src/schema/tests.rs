use super::*;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["name"]))]
#[allow(dead_code)]
struct Document {
    /// Whether it is
    /// on.
    on: bool,
    #[serde(rename = "COUNT")]
    count: u16,
    share: f64,
    name: String,
    word: Word,
    words: Vec<Word>,
    part: Part,
    parts: BTreeMap<String, Option<Part>>,
    free: Value,
    #[serde(skip)]
    hidden: bool,
}

/// A part.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
#[allow(dead_code)]
struct Part {
    parts: Vec<Part>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Word {
    #[default]
    FirstOne,
    Second,
}

#[test]
fn a_schema_says_what_is_read_and_what_comments_say() {
    let schema = whole::<Document>(SchemaSettings::draft2020_12());
    let part = json!({"anyOf": [{"$ref": "#/$defs/Part"}, {"type": "null"}]});
    let word = json!({"anyOf": [{"$ref": "#/$defs/Word"}, {"type": "null"}]});
    assert_eq!(
        schema,
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Document",
            "type": "object",
            "properties": {
                "on": {"description": "Whether it is on.", "type": ["boolean", "null"]},
                "COUNT": {"type": ["integer", "null"], "format": "uint16", "minimum": 0, "maximum": 65535},
                "share": {"type": ["number", "null"], "format": "double"},
                "name": {"type": "string"},
                "word": word,
                "words": {"type": ["array", "null"], "items": word},
                "part": part,
                "parts": {"type": ["object", "null"], "additionalProperties": part},
                "free": {},
            },
            "required": ["name"],
            "$defs": {
                "Word": {"type": "string", "enum": ["first-one", "second"]},
                "Part": {
                    "description": "A part.",
                    "type": "object",
                    "properties": {"parts": {"type": ["array", "null"], "items": part}},
                },
            },
        })
    );
}

/// Paths and descriptions of a schema and its parts.
fn descriptions(schema: &Value, path: &str, found: &mut Vec<(String, String)>) {
    match schema {
        Value::Object(members) => members.iter().for_each(|(name, member)| match member {
            Value::String(text) if name == "description" => found.push((path.to_owned(), text.clone())),
            _ => descriptions(member, &format!("{path}/{name}"), found),
        }),
        Value::Array(items) => items.iter().for_each(|item| descriptions(item, path, found)),
        _ => {}
    }
}

#[test]
fn descriptions_speak_to_who_writes_documents() {
    let mut found = Vec::new();
    for document in [DocumentSchema::Definition, DocumentSchema::Policy, DocumentSchema::Key, DocumentSchema::Configuration] {
        descriptions(&document.whole(), &format!("{document:?}"), &mut found);
    }
    assert!(found.len() > 500, "{}", found.len());
    let about_code: Vec<_> = found.iter().filter(|(_, text)| text.contains("[`") || text.contains("::")).collect();
    assert!(about_code.is_empty(), "comments of fields are descriptions; speak of code in a `//` line: {about_code:#?}");
}

#[test]
fn every_field_of_a_document_has_a_description() {
    let mut undescribed = Vec::new();
    for (name, schema) in DocumentSchema::components() {
        for (member, schema) in schema["properties"].as_object().into_iter().flatten() {
            if schema.get("description").is_none() {
                undescribed.push(format!("{name}.{member}"));
            }
        }
    }
    assert!(undescribed.is_empty(), "{undescribed:#?}");
}
