//! Tells a federated MCP server who calls, whence, and what was decided about: a session is good only for the caller that began it, and the body must
//! name the call that the head has named. The federation tells the call's record of an error. Reads `tollgate.mcp`. Invisible to clients, whose own
//! lines of these names never pass. The federation refuses a call that is closed to its caller, as it refuses a call of an unknown name.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_names::HeaderNames;
use std::sync::Arc;
use tollgate_access::keys::{Key, Permission};
use tollgate_mcp::Call;
use tollgate_mcp_federation::{ApiAccess, CallerRights, DecidedCall, FederatedCall};
use tollgate_model::api::AuthMethod;
use tollgate_outbound::CALLER_LINE;
use tollgate_statistics::OpenCalls;

/// The methods whose answers depend on what the caller may call of the gateway's own APIs.
const BY_RIGHTS: [&str; 2] = ["tools/list", "tools/call"];

pub(super) struct McpCaller {
    calls: Arc<OpenCalls<FederatedCall>>,
    /// Whether APIs of the gateway are servers of the federation, and know its callers by the same keys.
    has_own: bool,
    /// Whether patterns of rights are also tried on the path after the listen path.
    prefix_matching: bool,
}

/// What a key may call of the gateway's own APIs.
struct RightsOfKey {
    key: Arc<Key>,
    /// The organisation in which the key was found.
    org: String,
    prefix_matching: bool,
}

impl McpCaller {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let mcp = source.definition.tollgate.mcp.as_ref()?;
        let calls = source.context.registry.federated_calls.clone();
        let has_own = mcp.servers.iter().any(|server| !server.api.is_empty());
        // A token may have other rights at each API.
        let by_keys = source.definition.auth_methods().all(|method| matches!(method, AuthMethod::Token | AuthMethod::Basic));
        let prefix_matching = source.context.settings.routing.patterns.prefix;
        Some(Box::new(McpCaller { calls, has_own: has_own && by_keys, prefix_matching }))
    }

    /// What the caller of such a call may call of them.
    fn rights(&self, call: &Call, exchange: &Exchange<'_>) -> Option<Box<dyn CallerRights>> {
        let matters = self.has_own && BY_RIGHTS.contains(&call.method.as_str());
        let key = exchange.caller.key.as_ref().filter(|_| matters)?.to_arc();
        let org = exchange.api.facts.org_id.clone();
        Some(Box::new(RightsOfKey { key, org, prefix_matching: self.prefix_matching }))
    }
}

impl CallerRights for RightsOfKey {
    fn refuses(&self, api: &ApiAccess, method: &str, path: &str) -> bool {
        // The API of another organisation finds another key by the same credentials.
        if self.key.dry_run.access || api.org != self.org {
            return false;
        }
        let right = match self.key.right(&api.id) {
            Permission::Everything => return false,
            Permission::Nothing => return true,
            Permission::Right(right) => right,
        };
        // Which paths a parameter makes is not known.
        if path.contains('{') {
            return !right.allows_method(method);
        }
        let whole = format!("{}{path}", api.listen_path.trim_end_matches('/'));
        let forms = [whole.as_str(), path];
        !right.allows(method, if self.prefix_matching { &forms } else { forms.get(..1).unwrap_or_default() })
    }
}

impl Middleware for McpCaller {
    fn header_names(&self, names: &mut HeaderNames) {
        names.add(CALLER_LINE);
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let closed = exchange.decisions.unlisted.take();
        let decisions = &exchange.decisions;
        // A rewrite may lead to somebody who would do it.
        if let Some(refusal) = closed.as_ref().filter(|_| decisions.redirected.is_some()) {
            return Step::Refuse(refusal.clone());
        }
        let of_head = decisions.call.as_deref().filter(|_| decisions.is_head_call).map(Call::to_header);
        let decided = DecidedCall { is_closed: closed.is_some(), of_head: of_head.as_deref() }.to_string();
        let call = decisions.call.as_ref().and_then(|call| self.calls.open(FederatedCall::new(self.rights(call, exchange))));
        let number = call.as_ref().map(|call| call.number);
        exchange.notes.mcp_call = call;
        exchange.tell_caller(&exchange.caller.key_digest(), number, Some(&decided));
        closed.map_or(Step::Next, Step::RefuseUpstream)
    }
}
