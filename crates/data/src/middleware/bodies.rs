//! Templates and filters for bodies, and the request data that they see.

mod body_filter;
mod body_template;
mod context;
mod response_body;

pub(super) use body_filter::{BodyFilterError, CompiledBodyFilter, FilteredBody};
pub(super) use body_template::{CompiledBodyTemplate, TemplateSurroundings};
pub use context::tyk_context;
pub(super) use context::tyk_meta;
pub(super) use response_body::{BodyMaker, BodyReplacement, MadeResponseBody, Unopened, WholeBody, opened};

/// Go's words for a body that ends too early, and where anything else is wrong.
pub(super) fn parse_error(body: &[u8], error: &serde_json::Error) -> String {
    if body.trim_ascii().is_empty() {
        return "EOF".to_owned();
    }
    if error.is_eof() { "unexpected EOF".to_owned() } else { error.to_string() }
}
