//! Templates and filters for bodies, and the request data that they see.

mod body_template;
mod context;

pub(super) use body_template::{CompiledBodyTemplate, Surroundings};
pub(super) use context::{tyk_context, tyk_meta};
