//! What is said of a name that clients do not see. Callers get the same for what does not exist and for what they may not use.

use crate::message::{RpcError, code};
use serde_json::json;

/// The error for a call of something that clients do not see. `unknown_resource` is the code for resources.
pub(crate) fn unlisted(method: &str, name: &str, unknown_resource: i64) -> RpcError {
    match method {
        "tools/call" => RpcError::new(code::INVALID_PARAMS, format!("unknown tool: {name}")),
        "prompts/get" => RpcError::new(code::INVALID_PARAMS, format!("unknown prompt: {name}")),
        "completion/complete" => RpcError::new(code::INVALID_PARAMS, "the reference is to nothing that is here"),
        _ => RpcError { data: Some(json!({"uri": name})), ..RpcError::new(unknown_resource, "Resource not found") },
    }
}
