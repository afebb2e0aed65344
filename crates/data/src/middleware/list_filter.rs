//! Lists of MCP servers without what the caller may not use. The rules are those of the definition and of the key. Applies to the responses to
//! `tools/list`, `prompts/list`, `resources/list`, `resources/templates/list` and `initialize`, and to all event streams, whose events carry
//! such responses too. A list that cannot be read in one way is refused with 500.

mod event_filter;

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::middleware::bodies::{BodyMaker, BodyReplacement, MadeResponseBody};
use crate::middleware::call_rules::CallRules;
use crate::middleware::rpc_rights;
use crate::offload::BodyThreads;
use crate::response_chain::{ResponseAction, ResponseHead, ResponseStep};
use event_filter::EventFilter;
use std::sync::Arc;
use tollgate_access::keys::{Key, McpRights};
use tollgate_engine::KeptBody;
use tollgate_mcp::{Filtered, Primitive, Visible, filtered, is_event_type};
use tollgate_model::session::PrimitiveKind;
use tollgate_offload::StartedOnce;

/// The calls whose responses tell what a server offers.
const TELLING: [&str; 5] = ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "initialize"];

pub(super) struct ListFilter {
    rules: Arc<CallRules>,
    threads: Arc<StartedOnce<BodyThreads>>,
}

impl ListFilter {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        if !source.definition.has_calls() {
            return None;
        }
        let rules = Arc::new(CallRules::compile(source));
        Some(Box::new(ListFilter { rules, threads: source.context.registry.body_threads.clone() }))
    }
}

impl Middleware for ListFilter {
    fn is_for_responses(&self) -> bool {
        true
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let key = exchange.caller.key.as_ref().filter(|key| key.mcp(&exchange.api.id).is_some());
        if self.rules.is_empty() && key.is_none() {
            return Step::Next;
        }
        let key = key.map(|key| (key.to_arc(), exchange.api.id.as_str().into()));
        let view = CallerView { rules: self.rules.clone(), key };
        // What is compressed cannot be read as it passes.
        exchange.outgoing.edits.remove(&exchange.request.headers, "Accept-Encoding");
        let is_telling = exchange.decisions.call.as_ref().is_some_and(|call| TELLING.contains(&call.method.as_str()));
        let lists =
            is_telling.then(|| BodyReplacement::new(exchange, &self.threads, ListMaker { view: view.clone(), is_refusal: false }));
        let events = EventFilter::new(exchange, &self.threads, view);
        exchange.response.chain.push(FilteredResponse { lists, events: Some(events) });
        Step::Next
    }
}

/// What one caller may see.
#[derive(Clone)]
struct CallerView {
    rules: Arc<CallRules>,
    /// The key, if it has rules, and the API.
    key: Option<(Arc<Key>, Arc<str>)>,
}

impl CallerView {
    fn rights(&self) -> Option<&McpRights> {
        self.key.as_ref().and_then(|(key, api)| key.mcp(api))
    }
}

impl Visible for CallerView {
    fn filters(&self, kind: PrimitiveKind) -> bool {
        self.rules.filters(kind) || self.rights().is_some_and(|rights| rights.has_rules(kind))
    }

    fn shows(&self, kind: PrimitiveKind, name: &str) -> bool {
        let primitive = Primitive::new(kind, name.to_owned());
        let permits = |rights| rpc_rights::permits(rights, &primitive);
        primitive.is_clear() && self.rules.shows(&primitive) && self.rights().is_none_or(permits)
    }

    fn allows(&self, method: &str) -> bool {
        self.rules.allows(method) && self.rights().is_none_or(|rights| rights.permits_method(method))
    }
}

/// Filters a response that comes whole.
struct ListMaker {
    view: CallerView,
    /// Whether the status says that there is no list.
    is_refusal: bool,
}

impl BodyMaker for ListMaker {
    fn see(&mut self, head: &ResponseHead<'_>) {
        self.is_refusal = !(200..300).contains(&head.status());
    }

    fn make(&self, body: Result<&[u8], String>, _: bool) -> Result<Option<MadeResponseBody>, String> {
        match filtered(body?, &self.view) {
            Filtered::Unchanged => Ok(None),
            Filtered::Changed(body) => Ok(Some(MadeResponseBody { body, headers: Vec::new() })),
            Filtered::Ambiguous if self.is_refusal => Ok(None),
            Filtered::Ambiguous => Err("a list of the MCP server can be read in two ways, or not at all".to_owned()),
        }
    }
}

/// One response.
struct FilteredResponse {
    lists: Option<BodyReplacement<ListMaker>>,
    events: Option<EventFilter>,
}

impl ResponseStep for FilteredResponse {
    fn on_head(&mut self, head: &mut ResponseHead<'_>) -> ResponseAction {
        let kind = head.header("Content-Type").unwrap_or_default();
        if is_event_type(kind) {
            return self.events.take().map_or(ResponseAction::Pass, |events| events.filter(head));
        }
        self.lists.as_mut().map_or(ResponseAction::Pass, |lists| lists.on_head(head))
    }

    fn on_body(&mut self, head: &mut ResponseHead<'_>, body: KeptBody<'_>) -> ResponseAction {
        self.lists.as_mut().map_or(ResponseAction::Pass, |lists| lists.on_body(head, body))
    }
}
