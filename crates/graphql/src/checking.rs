//! Schemas and documents: parsed, checked against each other, measured, and asked.

mod analysis;
pub(crate) mod document;
mod introspection;
mod schema;
mod variables;
mod wording;

pub use document::{CheckedDocument, CheckedOperation};
pub use schema::GraphqlSchema;
