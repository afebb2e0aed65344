//! In place of what parses schemas and documents, in a program that is built without it. There is no schema, and so no document.

use crate::error::GraphqlError;
use crate::facts::OperationFacts;
use crate::fault::{DocumentFault, DocumentLimits, SchemaFault, SchemaRules};
use serde_json::{Map, Value};
use std::convert::Infallible;

/// No schema.
pub struct GraphqlSchema(Infallible);

/// No document.
pub struct CheckedDocument(Infallible);

/// No operation of a document.
#[derive(Clone, Copy)]
pub struct CheckedOperation<'d> {
    /// What it asks for.
    pub facts: &'d OperationFacts,
    none: Infallible,
}

type Variables<'v> = Option<&'v Map<String, Value>>;

impl GraphqlSchema {
    /// Says that schemas cannot be compiled.
    pub fn compile(_: &str, _: SchemaRules) -> Result<(Self, Vec<SchemaFault>), Vec<SchemaFault>> {
        Err(vec![SchemaFault { message: "cannot be read: this program was built without GraphQL".to_owned(), place: None }])
    }

    /// Never called.
    pub fn check(&self, _: &str, _: &DocumentLimits) -> Result<CheckedDocument, DocumentFault> {
        match self.0 {}
    }

    /// Never called.
    pub fn introspect(&self, _: CheckedOperation<'_>, _: Variables<'_>) -> Result<Vec<u8>, GraphqlError> {
        match self.0 {}
    }

    pub(crate) fn implements(&self, _: &str, _: &str) -> bool {
        match self.0 {}
    }
}

impl CheckedDocument {
    /// Never called.
    pub fn operation(&self, _: Option<&str>) -> Result<CheckedOperation<'_>, GraphqlError> {
        match self.0 {}
    }
}

impl CheckedOperation<'_> {
    /// Never called.
    pub fn check_variables(&self, _: &GraphqlSchema, _: Variables<'_>) -> Result<(), GraphqlError> {
        match self.none {}
    }
}

#[cfg(test)]
mod tests {
    use super::GraphqlSchema;

    #[test]
    fn no_schema_can_be_compiled() {
        let refused = GraphqlSchema::compile("type Query { a: Int }", Default::default()).map(|_| ()).unwrap_err();
        assert!(refused[0].message.contains("built without GraphQL"), "{}", refused[0].message);
    }
}
