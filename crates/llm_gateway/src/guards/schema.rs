//! Answers that must fit the schema of their request: each member of the object is checked when it is complete, the whole at the end.

use super::json_progress::JsonProgress;
use serde_json::{Map, Value};
use std::collections::HashMap;
use tollgate_schema::{BodyValidator, Budget};

/// Largest schema that a client may have checked, and memory of its patterns.
const SCHEMA_BYTES_MAX: usize = 256 << 10;
const PATTERN_BYTES_MAX: usize = 64 << 10;
/// Largest text that is checked.
const TEXT_BYTES_MAX: usize = 4 << 20;
/// Members of an object that are checked by themselves.
const MEMBERS_MAX: usize = 100;

/// The text of an answer on its way, and its schema.
pub(crate) struct SchemaWatch {
    whole: BodyValidator,
    /// Of the members of the object, if it is one.
    members: HashMap<String, BodyValidator>,
    text: String,
    progress: JsonProgress,
}

/// The text does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unfit;

impl SchemaWatch {
    /// The watch for an answer with this schema.
    ///
    /// # Errors
    /// The schema cannot be checked.
    pub(crate) fn new(schema: &str) -> Result<Self, Unfit> {
        if schema.len() > SCHEMA_BYTES_MAX {
            return Err(Unfit);
        }
        let schema: Value = serde_json::from_str(schema).map_err(|_| Unfit)?;
        let compiled = |schema: &Value| BodyValidator::compile_within(schema, PATTERN_BYTES_MAX).map_err(|_| Unfit);
        let whole = compiled(&schema)?;
        let members = member_schemas(&schema);
        let members = members.into_iter().filter_map(|(name, schema)| Some((name, compiled(&schema).ok()?))).collect();
        Ok(SchemaWatch { whole, members, text: String::new(), progress: JsonProgress::default() })
    }

    /// More of the text comes.
    pub(crate) fn push(&mut self, more: &str) -> Result<(), Unfit> {
        if self.text.len().saturating_add(more.len()) > TEXT_BYTES_MAX {
            return Err(Unfit);
        }
        self.text.push_str(more);
        for member in self.progress.push(more).map_err(|_| Unfit)? {
            let name: String = serde_json::from_str(self.text.get(member.name).unwrap_or_default()).map_err(|_| Unfit)?;
            let value = self.text.get(member.value).unwrap_or_default();
            if let Some(schema) = self.members.get(&name) {
                schema.check(value.as_bytes(), Budget::of_body(value.len())).map_err(|_| Unfit)?;
            }
        }
        Ok(())
    }

    /// The text is complete. One without any letter is none: the model calls tools.
    pub(crate) fn end(&self) -> Result<(), Unfit> {
        if self.text.trim().is_empty() {
            return Ok(());
        }
        self.whole.check(self.text.as_bytes(), Budget::of_body(self.text.len())).map_err(|_| Unfit)
    }
}

/// The schemas of the members of an object, each with the definitions that it may name. Those that name another place stand for nothing by themselves.
fn member_schemas(schema: &Value) -> Vec<(String, Value)> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Vec::new() };
    let shared = ["$schema", "$defs", "definitions"];
    let shared: Map<String, Value> =
        shared.iter().filter_map(|name| Some(((*name).to_owned(), schema.get(*name)?.clone()))).collect();
    let stands_alone = |text: &str| {
        text.matches("\"$ref\":").count()
            == text.matches("\"$ref\":\"#/$defs/").count() + text.matches("\"$ref\":\"#/definitions/").count()
    };
    if !stands_alone(&schema.to_string()) || schema.to_string().contains("\"$id\"") {
        return Vec::new();
    }
    let own = properties.iter().filter_map(|(name, property)| {
        let mut made = property.as_object()?.clone();
        shared.iter().for_each(|(name, value)| drop(made.insert(name.clone(), value.clone())));
        Some((name.clone(), Value::Object(made)))
    });
    // Each has the definitions once more.
    let few = shared.get("$defs").or(shared.get("definitions")).map_or(MEMBERS_MAX, |_| MEMBERS_MAX / 10);
    own.take(few).collect()
}

#[cfg(test)]
mod tests;
