//! Tells a federated MCP server who calls: a session is good only for the caller that began it. Reads `tollgate.mcp`. Invisible to clients, whose
//! own line of that name never passes.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_names::HeaderNames;
use tollgate_http::KnownHeader;
use tollgate_mcp_federation::CALLER_HEADER;

pub(super) struct McpCaller;

impl McpCaller {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        source.definition.tollgate.mcp.as_ref()?;
        Some(Box::new(McpCaller))
    }
}

impl Middleware for McpCaller {
    fn header_names(&self, names: &mut HeaderNames) {
        names.add(CALLER_HEADER);
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let headers = &exchange.request.headers;
        // Not the key itself, which nobody behind needs.
        let caller = exchange.caller.key.as_ref().map(|key| blake3::hash(key.shown.as_bytes()).to_hex());
        let caller = caller.as_ref().map_or("", |caller| caller.as_str());
        exchange.outgoing.edits.set(headers, CALLER_HEADER, caller.as_bytes());
        if let Some(host) = headers.known(KnownHeader::Host) {
            exchange.outgoing.edits.set(headers, "X-Forwarded-Host", host);
        }
        Step::Next
    }
}
