//! JSON values against schemas: drafts 4 to 2020-12 of JSON Schema, and the dialects of OpenAPI 3.0 and 3.1. One engine judges them all, within a
//! budget of work that is counted while it works; mismatches are told in the words of Tyk's two validators. Bodies that fit are mostly read without
//! a value in memory. No I/O and no clock; patterns run in linear time, and no schema is fetched from elsewhere.

mod addresses;
mod body;
mod compile;
mod decode;
mod dialect;
mod equal;
mod first;
mod format;
mod metaschema;
mod mismatch;
mod nodes;
mod number;
mod pattern;
mod pointer;
mod property_table;
mod run;
mod stream;
mod tree;
mod unevaluated;

pub use body::{BodyValidator, InvalidBody};
pub use compile::{DEPTH_MAX, SchemaCompiler, SchemaExample};
pub use decode::Shape;
pub use dialect::Dialect;
pub use first::Mismatch;
pub use nodes::{SchemaId, SchemaSide, Schemas};
pub use pattern::{compile as compile_pattern, translated as translated_pattern};
pub use pointer::at_pointer;
pub use run::Budget;
pub use stream::Streamed;
pub use tree::{JsonTree, Member};

#[cfg(test)]
mod tests;
