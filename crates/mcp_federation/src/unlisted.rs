//! What is said of a name that clients do not see. Callers get the same for what does not exist and for what they may not use.

use crate::message::{RpcError, code};
use serde_json::{Value, json};
use tollgate_mcp::Call;

/// The error for a call of something that clients do not see. `unknown_resource` is the code for resources.
pub(crate) fn unlisted(method: &str, name: &str, unknown_resource: i64) -> RpcError {
    match method {
        "tools/call" => RpcError::new(code::INVALID_PARAMS, format!("unknown tool: {name}")),
        "prompts/get" => RpcError::new(code::INVALID_PARAMS, format!("unknown prompt: {name}")),
        "completion/complete" => RpcError::new(code::INVALID_PARAMS, "the reference is to nothing that is here"),
        _ => RpcError { data: Some(json!({"uri": name})), ..RpcError::new(unknown_resource, "Resource not found") },
    }
}

/// The response with status 200 to a call of something that its caller may not use, and the error's code. `is_modern`: the client's requests each stand
/// for themselves (2026-07-28).
pub fn unlisted_response(call: &Call, is_modern: bool) -> (Value, i32) {
    let name = call.primitive.as_ref().map_or("", |primitive| &primitive.name);
    let unknown_resource = if is_modern { code::INVALID_PARAMS } else { code::RESOURCE_NOT_FOUND };
    let error = unlisted(&call.method, name, unknown_resource);
    let id = serde_json::from_str(&call.id).unwrap_or_default();
    (error.response(&id), i32::try_from(error.code).unwrap_or_default())
}
