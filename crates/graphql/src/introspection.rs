//! Answers about the schema. The gateway has it, so that a query for nothing else needs no upstream.

use crate::document::CheckedOperation;
use crate::error::{GraphqlError, errors_body};
use crate::schema::GraphqlSchema;
use apollo_compiler::introspection::{check_max_depth, partial_execute};
use apollo_compiler::request::coerce_variable_values;
use apollo_compiler::response::JsonMap;
use serde_json::{Map, Value};

impl GraphqlSchema {
    /// The body of the response to an operation that only asks for the schema; `Err` is why it is not answered.
    pub fn introspect(
        &self,
        operation: CheckedOperation<'_>,
        variables: Option<&Map<String, Value>>,
    ) -> Result<Vec<u8>, GraphqlError> {
        let failed = |error: apollo_compiler::request::RequestError| GraphqlError::new(error.message().to_string());
        // The schema of schemas is a cycle: a query of a few levels could ask for gigabytes.
        check_max_depth(operation.document, operation.operation).map_err(failed)?;
        let values: JsonMap = match variables {
            None => JsonMap::new(),
            Some(variables) => variables.iter().map(|(name, value)| (name.as_str().into(), value.clone().into())).collect(),
        };
        let values = coerce_variable_values(&self.schema, operation.operation, &values).map_err(failed)?;
        let response = partial_execute(&self.schema, &self.implementers, operation.document, operation.operation, &values);
        Ok(serde_json::to_vec(&response.map_err(failed)?).unwrap_or_else(|_| errors_body(&[GraphqlError::new("Internal Error")])))
    }
}
