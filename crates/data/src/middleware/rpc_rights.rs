//! What a key may call of an MCP proxy. Reads `json_rpc_methods_access_rights` and `mcp_access_rights` of its right. The client sees 403 `tool
//! 'x' is not available`, at a federation what it answers for something that does not exist, and for a body that nobody has read as a call what `RpcCall` says. Does not use the store.

use super::rpc_call::refuse_primitive;
use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::refusal;
use tollgate_access::keys::McpRights;
use tollgate_mcp::Primitive;
use tollgate_model::api::DryRunKind;

pub(super) struct RpcRights {
    /// Whether what a key may not use looks as if it did not exist.
    is_federation: bool,
}

impl RpcRights {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let applies = source.definition.is_mcp() && !source.definition.use_keyless;
        // A dry run counts what is refused here.
        let is_dry = source.definition.tollgate.dry_run.contains(&DryRunKind::Authentication);
        let is_federation = source.definition.tollgate.mcp.is_some() && !is_dry;
        applies.then(|| Box::new(RpcRights { is_federation }) as Box<dyn Middleware>)
    }
}

impl Middleware for RpcRights {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(key) = exchange.caller.key.as_ref().filter(|key| key.rules_calls(&exchange.api.id)) else { return Step::Next };
        exchange.decisions.rules_calls = true;
        if let Some(unread) = exchange.decisions.unread.take() {
            return Step::Refuse(unread);
        }
        let (Some(call), Some(rights)) = (&exchange.decisions.call, key.mcp(&exchange.api.id)) else { return Step::Next };
        if !rights.permits_method(&call.method) {
            return Step::Refuse(refusal::not_callable("method", &call.method));
        }
        match call.primitive.as_ref().filter(|primitive| rights.has_rules(primitive.kind)) {
            Some(primitive) if !primitive.is_clear() => Step::Refuse(refusal::MCP_NAME_UNCLEAR),
            Some(primitive) if !permits(rights, primitive) => {
                let refusal = refusal::not_callable(primitive.kind.name(), &primitive.name);
                refuse_primitive(exchange, refusal, self.is_federation)
            }
            _ => Step::Next,
        }
    }
}

/// Whether a key may use a primitive.
pub(super) fn permits(rights: &McpRights, primitive: &Primitive) -> bool {
    let kind = primitive.kind;
    primitive.passes(|name| rights.blocks(kind, name), |name| rights.allows(kind, name))
}
