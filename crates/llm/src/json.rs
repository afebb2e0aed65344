//! JSON as this crate reads and writes it. Values stay in their source until somebody asks for them, so that schemas, arguments and numbers that
//! nobody interprets pass byte for byte; what is written needs no tree.

mod fields;
mod node;
mod write;

pub(crate) use fields::Fields;
pub(crate) use node::{JsonNode, JsonObject, is_object_text, split_half};
pub(crate) use write::{ArrayOut, ObjectOut, object};
