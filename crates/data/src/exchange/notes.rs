//! What middlewares note of a request for other parts, through all APIs that it loops to.

use crate::waf::InspectedNote;
use serde_json::{Map, Value as Json};
use std::cell::{Cell, OnceCell};
use std::rc::Rc;
use std::time::Duration;
use tollgate_access::keys::AskedKeys;
use tollgate_engine::IpPermit;
use tollgate_mcp_federation::FederatedCall;
use tollgate_model::session::Session;
use tollgate_observe::{GraphqlFacts, WafFacts};
use tollgate_plugin::PluginRequest;
use tollgate_statistics::{LlmCall, OpenCall};

/// What response hooks see beside the response: the request as it went to the upstream.
pub struct ResponseView {
    pub request: PluginRequest,
    pub session: Option<Box<Session>>,
    pub token: Option<Box<str>>,
    pub trace_parent: Option<String>,
    pub core: usize,
}

/// Notes about one request.
#[derive(Default)]
pub struct Notes {
    /// Variables that middlewares have set beside those that every request has.
    pub variables: Option<Box<Map<String, Json>>>,
    /// What the request's record says of its GraphQL operation. Taken once, when the record begins.
    pub graphql: Cell<Option<Box<GraphqlFacts>>>,
    /// What the web application firewall found. Taken once, when the record begins.
    pub waf: Cell<Option<Box<WafFacts>>>,
    /// What the inspection of the response needs of the request's.
    pub inspected: Option<Box<InspectedNote>>,
    /// The place of what the firewall finds in the response, if that is inspected.
    pub response_waf: Option<Rc<Cell<Option<Box<WafFacts>>>>>,
    /// What becomes of a request to a language model. Taken once, when its record begins.
    pub llm_call: Cell<Option<Box<OpenCall<LlmCall>>>>,
    /// What becomes of a call of a federated MCP server.
    pub mcp_call: Option<OpenCall<FederatedCall>>,
    /// Keys that the shared store was asked for.
    pub asked_keys: AskedKeys,
    /// Since when the request has been held for its limits.
    pub limits_since: Option<Duration>,
    /// What counts the request among those in progress, until it ends.
    pub permits: Vec<IpPermit>,
    /// The place of what response hooks see of the request.
    pub response_view: Option<Rc<OnceCell<ResponseView>>>,
}

impl Notes {
    /// Sets variables, in place of others of their names.
    pub fn set_variables(&mut self, variables: Map<String, Json>) {
        self.variables.get_or_insert_default().extend(variables);
    }

    /// Notes what the request's record will say.
    pub fn note_graphql(&mut self, facts: Option<Box<GraphqlFacts>>) {
        if facts.is_some() {
            self.graphql.set(facts);
        }
    }

    /// How long the request has been held for its limits.
    pub fn held_for_limits(&self, now: Duration) -> Duration {
        self.limits_since.map_or(Duration::ZERO, |since| now.saturating_sub(since))
    }
}
