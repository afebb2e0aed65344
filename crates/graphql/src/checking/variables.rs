//! Values of variables against the types that an operation declares for them (GraphQL specification, CoerceVariableValues). Only checks: the
//! upstream gets the values as the client sent them.

use super::document::CheckedOperation;
use super::schema::GraphqlSchema;
use crate::error::{DocumentPlace, GraphqlError};
use apollo_compiler::ast::Type;
use apollo_compiler::schema::{ExtendedType, InputObjectType};
use serde_json::{Map, Value};
use std::fmt::Write;

/// Where a value is wrong, and how.
struct VariableMismatch {
    /// Members and positions, innermost first.
    path: Vec<String>,
    message: String,
}

impl VariableMismatch {
    fn new(message: String) -> Self {
        VariableMismatch { path: Vec::new(), message }
    }

    fn within(mut self, step: impl ToString) -> Self {
        self.path.push(step.to_string());
        self
    }
}

impl CheckedOperation<'_> {
    /// Whether the values fit the variables of the operation.
    pub fn check_variables(&self, schema: &GraphqlSchema, values: Option<&Map<String, Value>>) -> Result<(), GraphqlError> {
        for variable in &self.operation.variables {
            let name = variable.name.as_str();
            let value = values.and_then(|values| values.get(name));
            let message = match value {
                None if variable.ty.is_non_null() && variable.default_value.is_none() => {
                    format!("Required variable \"${name}\" was not provided")
                }
                None => continue,
                Some(value) => match schema.check_value(&variable.ty, value) {
                    Ok(()) => continue,
                    Err(mismatch) => worded(name, &mismatch),
                },
            };
            let place = variable.name.location().and_then(|span| span.line_column(&self.document.sources));
            let locations = place.map(|at| DocumentPlace { line: at.line, column: at.column }).into_iter().collect();
            return Err(GraphqlError { message, locations, code: None });
        }
        Ok(())
    }
}

fn worded(name: &str, mismatch: &VariableMismatch) -> String {
    let mut text = format!("Validation for variable \"{name}\" failed: ");
    if !mismatch.path.is_empty() {
        let steps: Vec<&str> = mismatch.path.iter().rev().map(String::as_str).collect();
        // Writing to memory cannot fail.
        let _ = write!(text, "field {}, ", steps.join("."));
    }
    text.push_str(&mismatch.message);
    text
}

impl GraphqlSchema {
    fn check_value(&self, ty: &Type, value: &Value) -> Result<(), VariableMismatch> {
        if value.is_null() {
            return if ty.is_non_null() { Err(VariableMismatch::new(format!("expected {ty}, but got null"))) } else { Ok(()) };
        }
        let name = match ty {
            Type::List(item) | Type::NonNullList(item) => {
                return match value {
                    Value::Array(items) => {
                        let mut items = items.iter().enumerate();
                        items.try_for_each(|(index, value)| self.check_value(item, value).map_err(|wrong| wrong.within(index)))
                    }
                    // A single value is a list of one.
                    value => self.check_value(item, value),
                };
            }
            Type::Named(name) | Type::NonNullNamed(name) => name,
        };
        let fits = match self.schema.types.get(name) {
            Some(ExtendedType::Enum(definition)) => value.as_str().is_some_and(|text| definition.values.contains_key(text)),
            Some(ExtendedType::InputObject(definition)) => match value {
                Value::Object(members) => return self.check_object(definition, members),
                _ => false,
            },
            _ => is_scalar(name, value),
        };
        if fits { Ok(()) } else { Err(VariableMismatch::new(format!("expected {name}, but got {}", described(value)))) }
    }

    fn check_object(&self, definition: &InputObjectType, members: &Map<String, Value>) -> Result<(), VariableMismatch> {
        if let Some(unknown) = members.keys().find(|name| !definition.fields.contains_key(name.as_str())) {
            return Err(VariableMismatch::new(format!("Field \"{unknown}\" is not defined by type \"{}\".", definition.name)));
        }
        for (name, field) in &definition.fields {
            match members.get(name.as_str()) {
                Some(value) => self.check_value(&field.ty, value).map_err(|wrong| wrong.within(name))?,
                None if field.ty.is_non_null() && field.default_value.is_none() => {
                    let message =
                        format!("Field \"{}.{name}\" of required type \"{}\" was not provided.", definition.name, field.ty);
                    return Err(VariableMismatch::new(message));
                }
                None => {}
            }
        }
        Ok(())
    }
}

/// Whether a JSON value is one of a scalar; the upstream knows what its own scalars are.
fn is_scalar(name: &str, value: &Value) -> bool {
    let is_whole = |value: &Value| value.as_i64().is_some() || value.as_f64().is_some_and(|number| number.fract() == 0.0);
    match name {
        "Int" => {
            value.as_f64().is_some_and(|number| number.fract() == 0.0 && (-2_147_483_648.0..=2_147_483_647.0).contains(&number))
        }
        "Float" => value.is_number(),
        "String" => value.is_string(),
        "Boolean" => value.is_boolean(),
        "ID" => value.is_string() || is_whole(value),
        _ => true,
    }
}

fn described(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests;
