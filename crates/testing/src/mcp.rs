//! Calls of MCP clients, and a federation.

use serde_json::{Value, json};

use crate::{Definition, api};

pub fn call(method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

pub const JSON: &str = "Content-Type: application/json";

/// A federation that blocks the tool `drop`.
pub fn federation(servers: Value) -> Definition {
    let blocked = json!([{"path": "^/mcp-tool:drop$", "method": "POST"}]);
    let plain = api("f", "/f/", "").set("application_protocol", "mcp").list("black_list", blocked);
    plain.set("tollgate/mcp", json!({"servers": servers}))
}

/// A tool's call as clients without sessions send it.
pub fn modern(tool: &str, arguments: Value) -> String {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    call("tools/call", json!({"name": tool, "arguments": arguments, "_meta": meta}))
}

pub const NOW: &str = "MCP-Protocol-Version: 2026-07-28";
