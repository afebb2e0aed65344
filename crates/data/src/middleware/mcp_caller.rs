//! Tells a federated MCP server who calls, whence, and what was decided about: a session is good only for the caller that began it, and the body must
//! name the call that the head has named. The federation tells the call's record of an error. Reads `tollgate.mcp`. Invisible to clients, whose own
//! lines of these names never pass; but a call that the definition closes is refused here, after all that a call of an unknown name passes.

use super::rpc_call::refuse_unlisted;
use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_names::HeaderNames;
use std::sync::Arc;
use tollgate_mcp::Call;
use tollgate_mcp_federation::CallOutcomes;
use tollgate_outbound::CALLER_LINE;

pub(super) struct McpCaller {
    outcomes: Arc<CallOutcomes>,
}

impl McpCaller {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        source.definition.tollgate.mcp.as_ref()?;
        Some(Box::new(McpCaller { outcomes: source.context.registry.call_outcomes.clone() }))
    }
}

impl Middleware for McpCaller {
    fn header_names(&self, names: &mut HeaderNames) {
        names.add(CALLER_LINE);
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if exchange.decisions.unlisted.is_some() {
            return refuse_unlisted(exchange);
        }
        let decisions = &exchange.decisions;
        let decided = decisions.call.as_deref().filter(|_| decisions.is_head_call).map(Call::to_header);
        let outcome = decisions.call.as_ref().and_then(|_| self.outcomes.open());
        let number = outcome.as_ref().map(|outcome| outcome.number);
        exchange.notes.mcp_outcome = outcome;
        exchange.tell_caller(&exchange.caller.key_digest(), number, decided.as_deref());
        Step::Next
    }
}
