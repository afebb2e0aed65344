//! The description of the control API as an OpenAPI 3.1 document, for clients and their generators. Its examples are run as tests.

use axum::http::header;
use axum::response::IntoResponse;

const DOCUMENT: &str = include_str!("openapi.json");

/// The document as it is written.
pub async fn document() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT)
}

#[cfg(test)]
mod tests;
