//! Where a tool is, and what its calls and results must be like.

use crate::message::text;
use serde_json::Value;
use std::sync::Arc;
use tollgate_schema::{BodyValidator, Budget, InvalidBody};

/// Where a tool is.
pub(crate) struct ToolRoute {
    pub server: usize,
    /// The server's own name for it.
    pub name: String,
    pub input: Option<Arc<BodyValidator>>,
    pub output: Option<Arc<BodyValidator>>,
    pub input_schema: Value,
}

impl ToolRoute {
    /// What is wrong with a call's arguments.
    pub(crate) fn fault_of(&self, arguments: &Value) -> Option<String> {
        let validator = self.input.as_deref()?;
        let fault = fault(validator, arguments)?;
        // Models write `null` for what they leave out.
        let members = arguments.as_object().filter(|members| members.values().any(Value::is_null));
        let Some(members) = members else { return Some(fault) };
        let said = members.iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.clone(), value.clone()));
        self::fault(validator, &Value::Object(said.collect())).map(|_| fault)
    }

    /// What is wrong with a call's structured result.
    pub(crate) fn fault_of_result(&self, structured: &Value) -> Option<String> {
        fault(self.output.as_deref()?, structured)
    }

    /// The header lines that a modern server wants for arguments: `x-mcp-header` in the schema says which.
    pub(crate) fn argument_headers(&self, arguments: &Value) -> Vec<(String, String)> {
        let mut found = Vec::new();
        collect_headers(&self.input_schema, arguments, 0, &mut found);
        found
    }
}

fn fault(validator: &BodyValidator, value: &Value) -> Option<String> {
    let body = value.to_string().into_bytes();
    match validator.check(&body, Budget::of_body(body.len())) {
        Ok(()) => None,
        Err(InvalidBody::NotJson(error)) => Some(error.to_string()),
        Err(InvalidBody::Mismatches(mismatches)) => Some(mismatches),
        Err(InvalidBody::TooMuchWork) => Some("they take too long to validate".to_owned()),
    }
}

fn collect_headers(schema: &Value, value: &Value, depth: usize, found: &mut Vec<(String, String)>) {
    let properties = schema.get("properties").and_then(Value::as_object).filter(|_| depth < 16);
    for (name, property) in properties.into_iter().flatten() {
        let Some(value) = value.get(name) else { continue };
        let plain = match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            _ => None,
        };
        if let (Some(header), Some(plain)) = (text(property, &["x-mcp-header"]), plain) {
            found.push((format!("Mcp-Param-{header}"), plain));
        }
        collect_headers(property, value, depth + 1, found);
    }
}
