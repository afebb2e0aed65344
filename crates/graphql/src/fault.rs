//! The limits and rules of schemas and documents, and why one is refused.

use crate::error::GraphqlError;

/// How much a document may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentLimits {
    /// Most tokens of its text.
    pub tokens_max: usize,
    /// Most levels of fields, fragments included.
    pub depth_max: usize,
    /// Most fields, with every spread fragment counted as often as it is spread.
    pub fields_max: u64,
    /// Most fields with an alias, counted alike.
    pub aliases_max: u64,
}

/// Why a document is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentFault {
    /// What kind of fault it is.
    pub kind: DocumentFaultKind,
    /// The faults, for the client.
    pub errors: Vec<GraphqlError>,
}

/// A kind of fault of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentFaultKind {
    /// It is not GraphQL, or does not fit the schema.
    Invalid,
    /// It asks for more than a limit allows.
    Limit,
}

/// How a schema's text is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchemaRules {
    /// The schema is of a subgraph: the fields that a router asks every subgraph for need no declaration.
    pub is_subgraph: bool,
}

/// One fault of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFault {
    /// What is wrong.
    pub message: String,
    /// Line and column, both from 1, if the fault has a place.
    pub place: Option<(usize, usize)>,
}

impl std::fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.place {
            Some((line, column)) => write!(f, "line {line}, column {column}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}
