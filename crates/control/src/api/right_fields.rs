//! Whether the fields of access rights fit their APIs: an MCP proxy has calls, all others have endpoints and types.

use super::answer::{ControlAnswer, error};
use axum::http::StatusCode;
use std::collections::BTreeMap;
use tollgate_data::snapshot::Snapshot;
use tollgate_model::session::AccessRight;

/// Refuses access rights with fields that their API has no use for, in Tyk's words. APIs that are not served here are skipped.
pub(super) fn check_right_fields(snapshot: &Snapshot, rights: &BTreeMap<String, AccessRight>) -> Result<(), ControlAnswer> {
    let known = || rights.iter().filter_map(|(id, right)| Some((id, right, snapshot.api(id)?.api.facts.is_mcp)));
    let refused = |message: String| Err(error(StatusCode::BAD_REQUEST, message));
    for (id, right, is_mcp) in known().filter(|(_, right, _)| right.has_mcp_fields()) {
        if !is_mcp {
            return refused(format!("MCP fields can only be configured on MCP Proxies, API {id:?} is not an MCP Proxy"));
        }
        if let Some(limit) = right.mcp_primitives.iter().find(|limit| limit.kind().is_none()) {
            return refused(format!("invalid MCP primitive type {:?}: must be one of tool, resource, prompt", limit.kind));
        }
    }
    match known().find(|(_, right, is_mcp)| *is_mcp && right.has_fields_without_mcp()) {
        Some((id, ..)) => {
            refused(format!("HTTP/REST and GraphQL fields cannot be configured on MCP Proxies, API {id:?} is an MCP Proxy"))
        }
        None => Ok(()),
    }
}
