//! What a key may call of an MCP proxy. Reads `json_rpc_methods_access_rights` and `mcp_access_rights` of its right. The client sees 403 `tool
//! 'x' is not available`. Does not use the store.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::refusal;

pub(super) struct RpcRights;

impl RpcRights {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let applies = source.definition.is_mcp() && !source.definition.use_keyless;
        applies.then(|| Box::new(RpcRights) as Box<dyn Middleware>)
    }
}

impl Middleware for RpcRights {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let key = exchange.caller.key.as_ref();
        let (Some(call), Some(rights)) = (&exchange.decisions.call, key.and_then(|key| key.mcp(&exchange.api.id))) else {
            return Step::Next;
        };
        if !rights.permits_method(&call.method) {
            return Step::Refuse(refusal::not_callable("method", &call.method));
        }
        match call.primitive() {
            Some((kind, name)) if !rights.permits(kind, name) => Step::Refuse(refusal::not_callable(kind.name(), name)),
            _ => Step::Next,
        }
    }
}
