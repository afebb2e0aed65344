//! Documents: parsed, validated against a schema, measured, and held against limits. The result says everything that later steps ask, so
//! that a document that is sent again costs one look-up.

use super::analysis::facts;
use super::schema::GraphqlSchema;
use super::wording::worded;
use crate::error::{DocumentPlace, GraphqlError};
use crate::facts::OperationFacts;
use crate::fault::{DocumentFault, DocumentFaultKind, DocumentLimits};
use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::Operation;
use apollo_compiler::parser::Parser;
use apollo_compiler::validation::{DiagnosticList, Valid};

/// Deepest nesting that the parser follows, of selections and of values. It is recursive; valid queries have less than 30 levels.
const NESTING_MAX: usize = 200;

/// Most errors of one response: more help nobody, and a document could have thousands.
const ERRORS_MAX: usize = 20;

/// Tyk's words for a document without an operation.
const NOTHING_TO_EXECUTE: &str = "document doesn't contain any executable operation";

/// A valid document, and what its operations ask for.
pub struct CheckedDocument {
    pub(crate) document: Valid<ExecutableDocument>,
    /// Of each operation, in the order of the document's map.
    facts: Vec<OperationFacts>,
}

/// One operation of a document.
#[derive(Clone, Copy)]
pub struct CheckedOperation<'d> {
    pub(crate) document: &'d Valid<ExecutableDocument>,
    pub(crate) operation: &'d Operation,
    /// What it asks for.
    pub facts: &'d OperationFacts,
}

impl DocumentFault {
    fn invalid(message: &str) -> Self {
        DocumentFault { kind: DocumentFaultKind::Invalid, errors: vec![GraphqlError::new(message)] }
    }

    fn limit(message: String) -> Self {
        DocumentFault { kind: DocumentFaultKind::Limit, errors: vec![GraphqlError::new(message).with_code("LIMIT_EXCEEDED")] }
    }
}

impl GraphqlSchema {
    /// Parses and validates a document, and holds it against limits.
    pub fn check(&self, text: &str, limits: &DocumentLimits) -> Result<CheckedDocument, DocumentFault> {
        let mut parser = Parser::new().token_limit(limits.tokens_max).recursion_limit(NESTING_MAX);
        let parsed = parser.parse_executable(&self.schema, text, "query");
        // Like Tyk, says first that there is nothing to execute.
        let has_operation = |document: &ExecutableDocument| !document.operations.is_empty();
        let document = match parsed {
            Ok(document) if has_operation(&document) => document,
            Ok(_) => return Err(DocumentFault::invalid(NOTHING_TO_EXECUTE)),
            Err(_) if is_bare(text) => return Err(DocumentFault::invalid(NOTHING_TO_EXECUTE)),
            Err(failed) if failed.errors.iter().all(|diagnostic| is_definition(&diagnostic.error.to_string())) => {
                return Err(DocumentFault::invalid(NOTHING_TO_EXECUTE));
            }
            Err(failed) => return Err(fault(&failed.errors, limits)),
        };
        let document = document.validate(&self.schema).map_err(|failed| fault(&failed.errors, limits))?;
        let mut all = Vec::with_capacity(document.operations.len());
        for operation in document.operations.iter() {
            let Ok(facts) = facts(&document, operation) else {
                return Err(DocumentFault::limit(format!("the query has more than {} levels", limits.depth_max)));
            };
            hold_against(&facts, limits)?;
            all.push(facts);
        }
        Ok(CheckedDocument { document, facts: all })
    }
}

/// Whether a fault is that the document defines types.
fn is_definition(message: &str) -> bool {
    message.starts_with("an executable document must not contain")
}

/// Whether a text has nothing but comments and spaces.
fn is_bare(text: &str) -> bool {
    let is_ignored = |c: char| matches!(c, ' ' | '\t' | '\r' | ',' | '\u{feff}');
    text.lines().map(|line| line.trim_start_matches(is_ignored)).all(|line| line.is_empty() || line.starts_with('#'))
}

fn hold_against(facts: &OperationFacts, limits: &DocumentLimits) -> Result<(), DocumentFault> {
    let (levels, depth_max) = (facts.levels as u64, limits.depth_max as u64);
    let checks = [
        (levels, depth_max, "levels of fields"),
        (facts.fields, limits.fields_max, "fields, counting fragments where they are spread"),
        (facts.aliases, limits.aliases_max, "aliases"),
    ];
    match checks.iter().find(|(has, may, _)| has > may) {
        None => Ok(()),
        Some((has, may, what)) => Err(DocumentFault::limit(format!("the query has {has} {what}; at most {may} are allowed"))),
    }
}

fn fault(diagnostics: &DiagnosticList, limits: &DocumentLimits) -> DocumentFault {
    let mut errors: Vec<GraphqlError> = Vec::new();
    for diagnostic in diagnostics.iter() {
        let message = diagnostic.error.to_string();
        if message.starts_with("token limit reached") {
            return DocumentFault::limit(format!("the query has more than {} tokens", limits.tokens_max));
        }
        if message.contains("recursion limit reached")
            || message == "too much recursion"
            || message.contains("contains too much nesting")
        {
            return DocumentFault::limit("the query nests too deeply".to_owned());
        }
        if errors.len() < ERRORS_MAX {
            let place =
                diagnostic.line_column_range().map(|range| DocumentPlace { line: range.start.line, column: range.start.column });
            errors.push(GraphqlError { message: worded(&message), locations: place.into_iter().collect(), code: None });
        }
    }
    DocumentFault { kind: DocumentFaultKind::Invalid, errors }
}

impl<'d> CheckedOperation<'d> {
    /// The document that it is part of.
    pub fn document(self) -> &'d Valid<ExecutableDocument> {
        self.document
    }

    /// Its name, if it has one.
    pub fn name(self) -> Option<&'d str> {
        self.operation.name.as_ref().map(|name| name.as_str())
    }

    /// The operation itself.
    pub fn definition(self) -> &'d Operation {
        self.operation
    }
}

impl CheckedDocument {
    /// The operation that a request names, or the only one.
    pub fn operation(&self, name: Option<&str>) -> Result<CheckedOperation<'_>, GraphqlError> {
        let name = name.filter(|name| !name.is_empty());
        let mut named = self.document.operations.iter().zip(&self.facts);
        let found = match name {
            Some(name) => named.find(|(operation, _)| operation.name.as_ref().is_some_and(|own| own == name)),
            None if self.facts.len() == 1 => named.next(),
            None => return Err(GraphqlError::new("operation name is required when providing multiple operations")),
        };
        let Some((operation, facts)) = found else {
            return Err(GraphqlError::new(format!("cannot find an operation with name: {}", name.unwrap_or_default())));
        };
        Ok(CheckedOperation { document: &self.document, operation, facts })
    }
}

#[cfg(test)]
pub(crate) mod tests;
