//! What is noted of a GraphQL request, and what its record says of it: fields by type, the kind of operation, variables, and the errors of the
//! response, if the response is recorded.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use tollgate_engine::Capture;
use tollgate_graphql::{CheckedOperation, KnownDocument, OperationKind};
use tollgate_model::analytics::GraphqlStats;

/// Most errors of one record, and most bytes of each.
const ERRORS_MAX: usize = 20;
const ERROR_BYTES_MAX: usize = 1_024;

/// One query of a request.
pub struct GraphqlFacts {
    pub document: KnownDocument,
    pub operation_name: Option<String>,
    pub variables: Option<Map<String, Value>>,
}

impl GraphqlFacts {
    /// The operation that was executed.
    fn operation(&self) -> Option<CheckedOperation<'_>> {
        self.document.as_ref().as_ref().ok()?.operation(self.operation_name.as_deref()).ok()
    }

    /// The statistics of a record; `capture` has the response.
    pub(super) fn stats(&self, capture: Option<&Capture>) -> GraphqlStats {
        let Some(operation) = self.operation() else { return GraphqlStats::default() };
        let facts = operation.facts;
        let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let root = facts.roots.first().map(|root| root.type_name.as_str()).unwrap_or_default();
        for used in facts.used.iter().filter(|used| used.type_name != root) {
            types.entry(used.type_name.clone()).or_default().push(used.field.clone());
        }
        let mut root_fields: Vec<String> = facts.roots.iter().map(|root| root.name.clone()).collect();
        root_fields.sort_unstable();
        root_fields.dedup();
        GraphqlStats {
            variables: self.variables.as_ref().map(|values| Value::Object(values.clone()).to_string()).unwrap_or_default(),
            root_fields,
            types,
            errors: capture.map(|capture| errors(&capture.response)).unwrap_or_default(),
            operation: match facts.kind {
                OperationKind::Query => 1,
                OperationKind::Mutation => 2,
                OperationKind::Subscription => 3,
            },
        }
    }
}

/// The errors in a response as it was sent. A response that was compressed or cut has none that can be read.
fn errors(response: &[u8]) -> Vec<String> {
    let body = response.windows(4).position(|end| end == b"\r\n\r\n").and_then(|at| response.get(at + 4..));
    // A chunked body begins with the length of its first part.
    let json = body.and_then(|body| body.get(body.iter().position(|byte| *byte == b'{')?..)).unwrap_or_default();
    let Some(Ok(response)) = serde_json::Deserializer::from_slice(json).into_iter::<Value>().next() else { return Vec::new() };
    let errors = response.get("errors").and_then(Value::as_array).into_iter().flatten();
    let messages = errors.filter_map(|error| error.get("message")?.as_str());
    messages.take(ERRORS_MAX).map(|message| message.chars().take(ERROR_BYTES_MAX).collect()).collect()
}
