//! Detects OpenAPI documents where another document is expected.

use crate::json_path::JsonPath;
use crate::problem::{Level, Problem};
use serde_json::Value;

/// The message for an OpenAPI description, Tyk's or another; `None` for any other document.
pub(crate) fn openapi_problem(document: &Value) -> Option<Problem> {
    let member = ["openapi", "swagger", "x-tyk-api-gateway"].into_iter().find(|member| document.get(member).is_some())?;
    let message = "an OpenAPI document, where a classic API definition is expected";
    Some(Problem::new(Level::Error, JsonPath::root().key(member).to_string(), message))
}
