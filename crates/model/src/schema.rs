//! JSON Schemas of documents, generated from their types and from the comments of their fields. A schema is as lenient as the
//! parser: `null` means "not set", and unknown members are allowed.

use crate::api::ApiDefinition;
use crate::config::GatewayConfig;
use crate::policy::Policy;
use crate::session::Session;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// A document that has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentSchema {
    /// A classic API definition.
    Definition,
    /// A policy.
    Policy,
    /// The session of a key.
    Key,
    /// The configuration of a gateway.
    Configuration,
}

impl DocumentSchema {
    /// A self-contained JSON Schema (draft 2020-12).
    pub fn whole(self) -> Value {
        let settings = SchemaSettings::draft2020_12();
        match self {
            DocumentSchema::Definition => whole::<ApiDefinition>(settings),
            DocumentSchema::Policy => whole::<Policy>(settings),
            DocumentSchema::Key => whole::<Session>(settings),
            DocumentSchema::Configuration => whole::<GatewayConfig>(settings),
        }
    }

    /// The schemas of the documents that the control API accepts, and of their parts, by name: `components.schemas` of an OpenAPI
    /// document.
    pub fn components() -> Map<String, Value> {
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.definitions_path = "/components/schemas".into());
        let mut generator = lenient(settings).into_generator();
        generator.subschema_for::<ApiDefinition>();
        generator.subschema_for::<Policy>();
        generator.subschema_for::<Session>();
        generator.take_definitions(true)
    }
}

fn whole<T: JsonSchema>(settings: SchemaSettings) -> Value {
    lenient(settings).into_generator().into_root_schema_for::<T>().to_value()
}

/// Settings for schemas that are as lenient as the parser.
fn lenient(settings: SchemaSettings) -> SchemaSettings {
    settings.with_transform(RecursiveTransform(let_members_be_null)).with_transform(RecursiveTransform(tidy))
}

/// Allows `null` for all parts of a schema except required members.
fn let_members_be_null(schema: &mut Schema) {
    let Some(schema) = schema.as_object_mut() else { return };
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| required.as_array().is_some_and(|names| names.iter().any(|required| required == name));
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.iter_mut().filter(|(name, _)| !is_required(name)).for_each(|(_, member)| let_be_null(member));
    }
    for member in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get_mut(member) {
            let_be_null(inner);
        }
    }
}

/// Allows `null` for a value.
fn let_be_null(schema: &mut Value) {
    let Value::Object(schema) = schema else { return };
    if let Some(reference) = schema.remove("$ref") {
        schema.insert("anyOf".to_owned(), json!([{ "$ref": reference }]));
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.push(Value::Null);
    }
    let choice = ["type", "anyOf", "oneOf"].into_iter().find(|choice| schema.contains_key(*choice));
    match choice.and_then(|choice| schema.get_mut(choice)) {
        Some(kind @ Value::String(_)) => *kind = json!([kind.take(), "null"]),
        Some(Value::Array(choices)) => {
            let null = if choices.iter().all(Value::is_string) { Value::from("null") } else { json!({ "type": "null" }) };
            if !choices.contains(&null) {
                choices.push(null);
            }
        }
        _ => {}
    }
}

/// Removes what does not help a reader: defaults that are zero or repeat those of their members, and the line breaks of comments.
fn tidy(schema: &mut Schema) {
    let Some(schema) = schema.as_object_mut() else { return };
    if schema.get("default").is_some_and(|default| default.is_object() || !crate::known_field::is_set(default)) {
        schema.remove("default");
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect::<Vec<_>>().join("\n\n");
    }
}

/// The schema of a type, without references.
#[cfg(test)]
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    whole::<T>(SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true))
}

#[cfg(test)]
mod tests;
