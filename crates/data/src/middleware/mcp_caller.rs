//! Tells a federated MCP server who calls, whence, and what was decided about: a session is good only for the caller that began it, and the body must
//! name the call that the head has named. Reads `tollgate.mcp`. Invisible to clients, whose own lines of these names never pass.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_names::HeaderNames;
use tollgate_http::KnownHeader;
use tollgate_mcp::Call;
use tollgate_mcp_federation::{ADDRESS_HEADER, CALLER_HEADER, DECIDED_HEADER, LOOPS_HEADER};

pub(super) struct McpCaller;

impl McpCaller {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        source.definition.tollgate.mcp.as_ref()?;
        Some(Box::new(McpCaller))
    }
}

impl Middleware for McpCaller {
    fn header_names(&self, names: &mut HeaderNames) {
        [CALLER_HEADER, DECIDED_HEADER, ADDRESS_HEADER, LOOPS_HEADER].iter().for_each(|name| names.add(name));
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let headers = &exchange.request.headers;
        let caller = exchange.caller.key_digest();
        let (origin, decisions) = (exchange.origin(), &exchange.decisions);
        let edits = &mut exchange.outgoing.edits;
        edits.set(headers, CALLER_HEADER, caller.as_bytes());
        edits.set(headers, ADDRESS_HEADER, origin.client.to_string().as_bytes());
        edits.set(headers, LOOPS_HEADER, origin.loops.to_string().as_bytes());
        match decisions.call.as_deref().filter(|_| decisions.is_head_call).map(Call::to_header) {
            Some(call) => edits.set(headers, DECIDED_HEADER, call.as_bytes()),
            None => edits.remove(headers, DECIDED_HEADER),
        }
        if let Some(host) = headers.known(KnownHeader::Host) {
            exchange.outgoing.edits.set(headers, "X-Forwarded-Host", host);
        }
        Step::Next
    }
}
