//! The places of texts in documents, as their JSON Schema has them, and documents with a text at one of these.

use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The places for texts in documents of one kind.
pub(crate) struct Texts<'s> {
    root: &'s Value,
    pub found: BTreeSet<Vec<String>>,
    /// Members that say whether their object acts, with the names on the way to them.
    switches: BTreeSet<Vec<String>>,
}

impl<'s> Texts<'s> {
    pub(crate) fn of(schema: &'s Value, root: &'s Value) -> Texts<'s> {
        let mut texts = Texts { root, found: BTreeSet::new(), switches: BTreeSet::new() };
        texts.walk(schema, &mut Vec::new(), &mut Vec::new());
        texts
    }

    /// The path has names of members, `*` for those with free names and `-` for the items of a list.
    fn walk(&mut self, schema: &'s Value, path: &mut Vec<String>, names: &mut Vec<&'s str>) {
        if let Some(name) = schema["$ref"].as_str() {
            if !names.contains(&name) {
                names.push(name);
                self.walk(self.root.pointer(name.trim_start_matches('#')).unwrap(), path, names);
                names.pop();
            }
            return;
        }
        if *schema == json!(false) {
            return;
        }
        let is_of =
            |kind: &str| schema["type"] == kind || schema["type"].as_array().is_some_and(|types| types.contains(&json!(kind)));
        let has = |member: &str| schema.get(member).is_some_and(|value| *value != json!(false));
        let is_open = !["type", "enum", "allOf", "anyOf", "oneOf", "const"].iter().any(|member| has(member));
        if (is_of("string") || is_open) && !has("enum") {
            self.found.insert(path.clone());
        }
        // Members that no type describes.
        if is_open
            || schema["additionalProperties"] == json!(true)
            || is_of("object") && !has("properties") && !has("additionalProperties")
        {
            path.push("*".to_owned());
            self.found.insert(path.clone());
            path.pop();
        }
        for list in ["allOf", "anyOf", "oneOf"] {
            schema[list].as_array().into_iter().flatten().for_each(|schema| self.walk(schema, path, names));
        }
        let mut below = |name: &str, schema: &'s Value| {
            path.push(name.to_owned());
            if ["enabled", "enable", "active"].contains(&name) {
                self.switches.insert(path.clone());
            }
            self.walk(schema, path, names);
            path.pop();
        };
        schema["properties"].as_object().into_iter().flatten().for_each(|(name, schema)| below(name, schema));
        if schema["additionalProperties"].is_object() {
            below("*", &schema["additionalProperties"]);
        }
        if schema["items"].is_object() {
            below("-", &schema["items"]);
        }
    }

    /// A document with a text at one place, and with everything on the way switched on.
    pub(crate) fn with(&self, document: &Value, field: &[String], text: &str) -> Value {
        let mut document = document.clone();
        for switch in &self.switches {
            if switch.split_last().is_some_and(|(_, object)| field.starts_with(object) && field != switch) {
                put(&mut document, switch, &json!(true));
            }
        }
        put(&mut document, field, &json!(text));
        document
    }
}

/// Sets a value of a document; what is missing on the way is made.
fn put(document: &mut Value, field: &[String], new: &Value) {
    let Some((name, rest)) = field.split_first() else {
        *document = new.clone();
        return;
    };
    if name == "-" {
        if document.as_array().is_none_or(Vec::is_empty) {
            *document = json!([{}]);
        }
        return put(&mut document[0], rest, new);
    }
    if !document.is_object() {
        *document = Value::Object(Map::new());
    }
    let name = match (name.as_str(), document.as_object().and_then(|members| members.keys().next())) {
        ("*", Some(known)) => known.clone(),
        ("*", None) => "Default".to_owned(),
        (name, _) => name.to_owned(),
    };
    put(&mut document[&name], rest, new);
}
