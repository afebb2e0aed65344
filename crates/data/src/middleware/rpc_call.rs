//! Calls of MCP proxies (`application_protocol: mcp`). A JSON-RPC request that a client posts is read before anything else decides: what it
//! calls is an endpoint of its own, with the rules of `middleware.mcpTools`, `mcpResources`, `mcpPrompts` and of methods. The client sees 400
//! with a JSON-RPC error for a body that is no request, 403 for a call that the definition closes; a federation answers as if what is called did not
//! exist. Whatever else refuses the request answers as a JSON-RPC error, too. Does not use the store. A body that is no JSON, or does not come with POST, passes as it is, but is refused with 415 or
//! 405 where there are rules for calls, and at federations.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::middleware::call_rules::{self, CallRules};
use crate::offload::{BodyThreads, HERE_BYTES_MAX, OFFLOAD_TIME_MAX};
use crate::refusal::{self, Refusal, RefusalMessage, RefusalText};
use std::net::IpAddr;
use std::sync::Arc;
use tollgate_http::{Body, KnownHeader};
use tollgate_mcp::{Call, CallError, RpcCode, error_body, is_json_type};
use tollgate_offload::StartedOnce;

pub(super) struct RpcCall {
    rules: CallRules,
    /// Most bytes of a body, if the API has a limit for all requests.
    bytes_max: Option<u64>,
    /// Whether the server behind is a federation.
    is_federation: bool,
    /// Whether the server behind checks that head and body name the same call, as federations do. Then the body need not be read here.
    is_head_checked: bool,
    threads: Arc<StartedOnce<BodyThreads>>,
}

impl RpcCall {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        if !source.definition.has_calls() {
            return None;
        }
        let rules = CallRules::compile(source);
        let limit = u64::try_from(source.info.global_size_limit).ok().filter(|limit| *limit > 0);
        let bytes_max = limit.filter(|_| !source.info.global_size_limit_disabled);
        let is_federation = source.definition.tollgate.mcp.is_some();
        let is_head_checked = is_federation || source.definition.tollgate.mcp_server_checks_heads;
        let threads = source.context.registry.body_threads.clone();
        Some(Box::new(RpcCall { rules, bytes_max, is_federation, is_head_checked, threads }))
    }

    /// The call that the head names, if it names all that rules may ask for, and nothing twice. Only where the server checks that the body says
    /// the same.
    fn call_of_head(&self, exchange: &Exchange<'_>) -> Option<Call> {
        let headers = exchange.received();
        if !is_modern(exchange) {
            return None;
        }
        let text = |name: &str| headers.sole(name).and_then(|value| std::str::from_utf8(value).ok());
        Call::of_head(text("mcp-method")?, text("mcp-name"))
    }

    /// Lets a request pass that is no call. A body that nobody reads passes only where there are no rules.
    fn pass(&self, exchange: &mut Exchange<'_>) -> Step {
        let status = match exchange.method.as_ref() {
            "POST" if self.is_federation => 415,
            _ if exchange.request.body == Body::None => return Step::Next,
            "POST" => 415,
            _ => 405,
        };
        let message = if status == 415 { "calls are JSON" } else { "calls are sent with POST" };
        let unread = malformed(status, message, error_body(RpcCode::of_status(status), message, Some(status), "null"));
        if self.is_federation || exchange.decisions.rules_calls {
            exchange.decisions.rpc_error = Some(RpcCode::of_status(status));
            return Step::Refuse(unread);
        }
        exchange.decisions.unread = Some(unread);
        Step::Next
    }

    /// Goes on with what the body is read as.
    fn found(&self, exchange: &mut Exchange<'_>, read: Result<Option<Call>, CallError>) -> Step {
        let call = match read {
            Ok(Some(call)) => call,
            Ok(None) => return Step::Next,
            Err(error) => {
                exchange.decisions.rpc_error = Some(error.code);
                return Step::Refuse(malformed(400, error.message, error.body()));
            }
        };
        call_rules::find_endpoints(exchange.version, &call, exchange.hits);
        let (of_method, of_primitive) = (self.rules.method_refusal(&call), self.rules.primitive_refusal(&call));
        exchange.decisions.call = Some(Box::new(call));
        match (of_method, of_primitive) {
            (None, Some(refusal)) => refuse_primitive(exchange, refusal, self.is_federation),
            (refusal, _) => refusal.map_or(Step::Next, Step::Refuse),
        }
    }
}

/// Refuses a call of what is closed to its caller. At a federation it looks as if it did not exist: the call passes all that others pass, and `McpCaller`
/// has the federation refuse it.
pub(super) fn refuse_primitive(exchange: &mut Exchange<'_>, refusal: Refusal, is_federation: bool) -> Step {
    if !is_federation || refusal.status != 403 {
        return Step::Refuse(refusal);
    }
    exchange.decisions.unlisted = Some(refusal);
    Step::Next
}

/// Whether a request is a call.
fn is_call(exchange: &Exchange<'_>) -> bool {
    exchange.method == "POST" && exchange.received().known(KnownHeader::ContentType).is_some_and(is_json_type)
}

/// Whether a request says that it stands for itself.
fn is_modern(exchange: &Exchange<'_>) -> bool {
    exchange.received().sole("mcp-protocol-version") == Some(Call::NAMED_IN_HEADS.as_bytes())
}

fn malformed(status: u16, message: &str, body: Vec<u8>) -> Refusal {
    let message = RefusalMessage::with_document(message.to_owned(), "application/json", body);
    RefusalText::new(status, "mcp_malformed", message).into()
}

/// Whether a browser on the gateway's own machine asks for a host that is not this machine: a page from elsewhere has made its own name lead
/// here, to use what only this machine can reach. Where a proxy of this machine is trusted, it is the one who asks.
fn is_rebound(exchange: &Exchange<'_>) -> bool {
    let (headers, arrival) = (exchange.received(), exchange.arrival);
    let peer = arrival.peer.ip();
    if !peer.is_loopback()
        || headers.known(KnownHeader::Origin).is_none()
        || arrival.settings.callers.client_address.trusts(peer)
        || exchange.api.host.is_some()
    {
        return false;
    }
    let host = headers.known(KnownHeader::Host).and_then(|host| std::str::from_utf8(host).ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, port)| if port.ends_with(']') { host } else { name });
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let is_here = name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    !is_here
}

impl Middleware for RpcCall {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if is_rebound(exchange) {
            return Step::Refuse(refusal::MCP_FOREIGN_PAGE);
        }
        exchange.decisions.rules_calls = !self.rules.is_empty() || !exchange.version.matcher.is_empty();
        if exchange.received().all_known(KnownHeader::ContentType).nth(1).is_some() {
            let message = "two content types";
            return Step::Refuse(malformed(400, message, error_body(RpcCode::INVALID_REQUEST, message, Some(400), "null")));
        }
        if !is_call(exchange) {
            return self.pass(exchange);
        }
        if self.is_head_checked
            && let Some(call) = self.call_of_head(exchange)
        {
            exchange.decisions.is_head_call = true;
            return self.found(exchange, Ok(Some(call)));
        }
        // A body that is too large for the API is not read.
        if let (Some(most), Body::Length(bytes)) = (self.bytes_max, exchange.request.body)
            && bytes > most
        {
            return Step::Refuse(refusal::REQUEST_TOO_LARGE);
        }
        let most = exchange.arrival.settings.sizes.body_bytes_max;
        let own = self.bytes_max.and_then(|most| usize::try_from(most).ok()).unwrap_or(most);
        if let Err(step) = exchange.read_body_up_to(most.min(own)) {
            return step;
        }
        if exchange.body().len() <= HERE_BYTES_MAX {
            let read = Call::read(exchange.body());
            return self.found(exchange, read);
        }
        let Some(threads) = self.threads.get() else { return Step::Refuse(refusal::BODY_WORK_BUSY) };
        let body = exchange.shared_body();
        let read = threads.run(exchange.arrival.body_sender(), move || Call::read(&body));
        Step::work(self, read, OFFLOAD_TIME_MAX, |this, exchange, read| match read {
            Some(read) => this.found(exchange, read),
            None => Step::Refuse(refusal::BODY_WORK_BUSY),
        })
    }
}
