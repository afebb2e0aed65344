//! What bodies are made into: templates and filters of definitions, and what these see of a request.

mod body_template;
mod context;

pub(super) use body_template::{CompiledBodyTemplate, Surroundings};
pub(super) use context::{tyk_context, tyk_meta};
