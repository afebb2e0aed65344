//! Tells a federated MCP server who calls, whence, and what was decided about: a session is good only for the caller that began it, and the body must
//! name the call that the head has named. Reads `tollgate.mcp`. Invisible to clients, whose own lines of these names never pass.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_names::HeaderNames;
use tollgate_mcp::Call;
use tollgate_outbound::CALLER_LINE;

pub(super) struct McpCaller;

impl McpCaller {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        source.definition.tollgate.mcp.as_ref()?;
        Some(Box::new(McpCaller))
    }
}

impl Middleware for McpCaller {
    fn header_names(&self, names: &mut HeaderNames) {
        names.add(CALLER_LINE);
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let decisions = &exchange.decisions;
        let decided = decisions.call.as_deref().filter(|_| decisions.is_head_call).map(Call::to_header);
        exchange.tell_caller(&exchange.caller.key_digest(), decided.as_deref());
        Step::Next
    }
}
