//! Answers about the schema. The gateway has it, so that a query for nothing else needs no upstream.

mod size;

use super::document::CheckedOperation;
use super::schema::GraphqlSchema;
use crate::error::{GraphqlError, errors_body};
use apollo_compiler::introspection::{check_max_depth, partial_execute};
use apollo_compiler::request::coerce_variable_values;
use apollo_compiler::response::JsonMap;
use serde_json::{Map, Value};
use size::SchemaCounts;

/// Most values of one answer: those of the usual question about a schema with several thousand types. They take about a second, and 100 bytes
/// each.
const VALUES_MAX: u64 = 1_000_000;

/// Values of variables as the library has them.
fn json_map(variables: Option<&Map<String, Value>>) -> JsonMap {
    let all = variables.into_iter().flatten();
    all.map(|(name, value)| (name.as_str().into(), value.clone().into())).collect()
}

impl GraphqlSchema {
    /// The values of all variables of an operation, with defaults, and single values as lists of one where a list is wanted.
    pub fn variables(
        &self,
        operation: CheckedOperation<'_>,
        variables: Option<&Map<String, Value>>,
    ) -> Result<Map<String, Value>, GraphqlError> {
        if operation.operation.variables.is_empty() {
            return Ok(Map::new());
        }
        let failed = |error: apollo_compiler::request::RequestError| GraphqlError::new(error.message().to_string());
        let values = coerce_variable_values(&self.schema, operation.operation, &json_map(variables)).map_err(failed)?;
        match serde_json::to_value(&*values) {
            Ok(Value::Object(values)) => Ok(values),
            // A map is an object.
            _ => Ok(Map::new()),
        }
    }

    /// The body of the response to an operation that only asks for the schema; `Err` is why it is not answered.
    pub fn introspect(
        &self,
        operation: CheckedOperation<'_>,
        variables: Option<&Map<String, Value>>,
    ) -> Result<Vec<u8>, GraphqlError> {
        let failed = |error: apollo_compiler::request::RequestError| GraphqlError::new(error.message().to_string());
        // The schema of schemas is a cycle: a query of a few levels could ask for gigabytes.
        check_max_depth(operation.document, operation.operation).map_err(failed)?;
        let values = SchemaCounts::new(self).values(operation);
        if values > VALUES_MAX {
            let message = format!("the answer may have {values} values; at most {VALUES_MAX} are allowed");
            return Err(GraphqlError::new(message).with_code("LIMIT_EXCEEDED"));
        }
        let values = coerce_variable_values(&self.schema, operation.operation, &json_map(variables)).map_err(failed)?;
        let response = partial_execute(&self.schema, &self.implementers, operation.document, operation.operation, &values);
        Ok(serde_json::to_vec(&response.map_err(failed)?).unwrap_or_else(|_| errors_body(&[GraphqlError::new("Internal Error")])))
    }
}
