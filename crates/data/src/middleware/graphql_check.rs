//! GraphQL requests, before the upstream executes them: read, validated against the schema, held against limits and against the rights of the
//! key. Reads `graphql` and `tollgate.graphql`. The client sees Tyk's statuses and words: 400 with `errors` for a query that is not valid, 403
//! for one that is too deep, and `introspection is disabled`. A query for nothing but the schema is answered here. Large requests, long documents
//! that were not seen before, and queries for the schema are worked on by the threads for bodies, while the request is held; all others take a
//! look-up.
//!
//! What is inside WebSockets is checked there: by an inspector between the client and the upstream, or by the server of the data graph.

mod headers;
mod outcome;
mod queries;
mod upgrade;

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::graphql::{ExecutedGraph, GraphClient, GraphqlApi, GraphqlProblem, GraphqlSource, TOLD_HEADER, ToldFacts};
use crate::header_change::HeaderChange;
use crate::header_names::HeaderNames;
use crate::middleware::bodies::BodyReplacement;
use crate::offload::{BodyThreads, HERE_BYTES_MAX, OFFLOAD_TIME_MAX};
use crate::refusal;
use crate::template::ValueTemplate;
use headers::{ErrorExtensions, UpstreamHeaders};
use outcome::{BodyKind, GraphqlOutcome, body_kind, content_type_of, response_type};
use queries::{AskedQueries, PassedQueries};
use std::sync::Arc;
use tollgate_graphql::is_request_parameter;
use tollgate_http::Body;
use tollgate_http::form::{decode_form, encode_form};
use tollgate_model::api::GraphqlStatuses;
use tollgate_offload::StartedOnce;

pub(super) struct GraphqlCheck {
    checker: Arc<QueryChecker>,
    body_threads: Arc<StartedOnce<BodyThreads>>,
    /// Whose threads inspect WebSockets.
    graph_client: Arc<GraphClient>,
    headers: UpstreamHeaders,
    /// Texts of sources that have variables of the request, and as they are written.
    texts: Vec<(ValueTemplate, String)>,
    /// Whether errors of the upstream become GraphQL errors.
    forwards_errors: bool,
}

/// What requests are checked against. Other threads have it, too.
struct QueryChecker {
    api: Arc<GraphqlApi>,
    rules: CheckRules,
}

/// How requests are read.
struct CheckRules {
    batch_max: usize,
    /// Whether content types that any web page may send are accepted.
    simple_types: bool,
    persisted: bool,
    websockets: bool,
    statuses: GraphqlStatuses,
    /// Whether nobody may ask for the schema.
    is_closed: bool,
}

impl GraphqlCheck {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let (definition, graphql) = (source.definition, &source.definition.graphql);
        if !graphql.enabled {
            return None;
        }
        let rules = &definition.tollgate.graphql;
        let key = GraphqlSource::new(graphql, rules);
        let api = match source.context.registry.graphql_api(&definition.api_id, key, || GraphqlApi::compile(graphql, rules)) {
            Ok(api) => api,
            Err(problems) => {
                problems.into_iter().for_each(|problem| report_once(source, problem, true));
                return None;
            }
        };
        for note in &api.notes {
            report_once(source, note.clone(), false);
        }
        let texts = api.executed.as_ref().map(ExecutedGraph::texts_with_variables).unwrap_or_default();
        Some(Box::new(GraphqlCheck {
            body_threads: source.context.registry.body_threads.clone(),
            graph_client: source.context.registry.graph_client.clone(),
            checker: Arc::new(QueryChecker {
                rules: CheckRules {
                    batch_max: if rules.batch_requests_max == 0 { 10 } else { rules.batch_requests_max },
                    simple_types: rules.accept_simple_content_types,
                    persisted: !rules.disable_persisted_queries,
                    websockets: !rules.disable_websockets && !graphql.is_first_version(),
                    statuses: rules.error_statuses,
                    is_closed: graphql.introspection.disabled,
                },
                api,
            }),
            headers: UpstreamHeaders::new(&graphql.proxy, source.variable_scope()),
            texts: texts.into_iter().map(|text| (ValueTemplate::new(&text, source.variable_scope()), text)).collect(),
            forwards_errors: graphql.proxy.use_response_extensions.on_error_forwarding,
        }))
    }

    /// Decides on the threads for bodies, while the request is held.
    fn decide_elsewhere(&self, exchange: &Exchange<'_>, asked: &AskedQueries<'_>) -> Step {
        let Some(threads) = self.body_threads.get() else { return Step::Refuse(refusal::GRAPHQL_BUSY) };
        let (checker, body) = (self.checker.clone(), exchange.shared_body());
        let (kind, response_type) = (asked.kind, asked.response_type);
        let (url_query, rights) = (asked.url_query.map(str::to_owned), asked.rights.cloned());
        let decided = threads.run(exchange.arrival.body_sender(), move || {
            let (url_query, rights) = (url_query.as_deref(), rights.as_ref());
            checker.decide(&AskedQueries { kind, body: &body, url_query, response_type, rights, is_brief: false })
        });
        Step::work(self, decided, OFFLOAD_TIME_MAX, |this, exchange, decided| {
            this.end(exchange, decided.unwrap_or(Err(GraphqlOutcome::Refuse(refusal::GRAPHQL_BUSY))))
        })
    }

    /// Tells the server of the data graph what it needs to know, in the place of whatever the client has sent there.
    fn tell_facts(&self, exchange: &mut Exchange<'_>) {
        let told = ToldFacts {
            texts: self.texts.iter().map(|(template, text)| (text.clone(), template.render(exchange))).collect(),
            rights: exchange.caller.key.as_ref().map(|key| key.graphql_rights(&exchange.api.id).clone()).unwrap_or_default(),
            is_closed: self.checker.rules.is_closed,
            origin: exchange.origin(),
        };
        exchange.outgoing.edits.set(&exchange.request.headers, TOLD_HEADER, told.to_header().as_bytes());
    }

    /// Sends the request on as its check has made it.
    fn pass(&self, exchange: &mut Exchange<'_>, passed: PassedQueries) -> Step {
        if let Some(text) = passed.query_for_url {
            let query = exchange.query().map(|query| format!("{query}&")).unwrap_or_default();
            exchange.url.query = Some(format!("{query}query={}", encode_form(&text)).into());
        }
        if passed.is_json_now {
            exchange.outgoing.edits.set(&exchange.request.headers, "Content-Type", b"application/json");
        }
        if let Some(body) = passed.body {
            exchange.replace_body(body);
        }
        exchange.notes.note_graphql(passed.facts);
        self.headers.apply(exchange);
        if self.checker.api.executed.is_some() {
            self.tell_facts(exchange);
        }
        if self.forwards_errors {
            let step = BodyReplacement::new(exchange, &self.body_threads, ErrorExtensions);
            exchange.response.chain.push(step);
        }
        Step::Next
    }
}

/// Reports a problem that all versions of an API have in common, once.
fn report_once(source: &mut MiddlewareSource<'_, '_>, problem: GraphqlProblem, is_error: bool) {
    let GraphqlProblem { path, message } = problem;
    if source.context.problems.iter().any(|known| known.path == path && known.message == message) {
        return;
    }
    match is_error {
        true => source.context.error(path, message),
        false => source.context.warning(path, message),
    }
}

/// Whether the URL has, or may have for another server, a part of a GraphQL request.
fn has_query(exchange: &Exchange<'_>) -> bool {
    let names = exchange.query().into_iter().flat_map(|query| query.split(['&', ';'])).map(|pair| pair.split('=').next());
    names.flatten().any(|name| decode_form(name).is_none_or(|name| is_request_parameter(&name)))
}

impl Middleware for GraphqlCheck {
    fn header_names(&self, names: &mut HeaderNames) {
        ["Content-Type", "Accept", "Sec-WebSocket-Protocol", "Sec-WebSocket-Extensions", TOLD_HEADER]
            .iter()
            .for_each(|name| names.add(name));
        self.headers.header_names(names);
        self.texts.iter().for_each(|(template, _)| template.header_names(names));
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        // Only what cannot be anything else is taken for a handshake: a server that ignores it must find no query.
        let is_websocket = exchange.request.upgrade.is_some_and(|protocol| protocol.eq_ignore_ascii_case(b"websocket"));
        if is_websocket && exchange.method == "GET" && exchange.request.body == Body::None {
            return if has_query(exchange) { Step::Refuse(refusal::GRAPHQL_TWO_PLACES) } else { self.upgrade(exchange) };
        }
        let kind = match matches!(exchange.method.as_ref(), "GET" | "HEAD") {
            true if exchange.request.body != Body::None => return Step::Refuse(refusal::GRAPHQL_TWO_PLACES),
            true => BodyKind::None,
            false => {
                if has_query(exchange) {
                    return Step::Refuse(refusal::GRAPHQL_TWO_PLACES);
                }
                if exchange.request.body == Body::None && exchange.body.new.is_none() {
                    return Step::Refuse(refusal::GRAPHQL_EMPTY);
                }
                match body_kind(content_type_of(exchange), self.checker.rules.simple_types) {
                    Some(kind) => kind,
                    None => return Step::Refuse(refusal::GRAPHQL_CONTENT_TYPE),
                }
            }
        };
        if kind != BodyKind::None
            && let Err(step) = exchange.read_body()
        {
            return step;
        }
        let rights = exchange.caller.key.as_ref().map(|key| key.graphql_rights(&exchange.api.id));
        let (body, url_query) = match kind {
            BodyKind::None => (&b""[..], exchange.query()),
            BodyKind::Json | BodyKind::Document => (exchange.body(), None),
        };
        let is_brief = body.len().max(url_query.map_or(0, str::len)) <= HERE_BYTES_MAX;
        let asked = AskedQueries { kind, body, url_query, response_type: response_type(exchange), rights, is_brief };
        let decided = if is_brief { self.checker.decide(&asked) } else { Err(GraphqlOutcome::Elsewhere) };
        match decided {
            Err(GraphqlOutcome::Elsewhere) => self.decide_elsewhere(exchange, &asked),
            decided => self.end(exchange, decided),
        }
    }
}

impl GraphqlCheck {
    /// Does what was decided about a request.
    fn end(&self, exchange: &mut Exchange<'_>, decided: Result<PassedQueries, GraphqlOutcome>) -> Step {
        match decided {
            Ok(passed) => self.pass(exchange, passed),
            // Nothing is too much for the threads.
            Err(GraphqlOutcome::Elsewhere) => Step::Refuse(refusal::GRAPHQL_BUSY),
            Err(GraphqlOutcome::Reply { content_type, body, facts }) => {
                exchange.notes.note_graphql(facts);
                exchange.decisions.records_reply = true;
                let outgoing = exchange.begin_reply(200);
                outgoing.edits.add("Content-Type", content_type.as_bytes());
                outgoing.body = body;
                Step::Reply
            }
            Err(GraphqlOutcome::Refuse(refusal)) => {
                if refusal.status == 405 {
                    exchange.response.changes.push(HeaderChange::Add("Allow".into(), b"POST".to_vec()));
                }
                Step::Refuse(refusal)
            }
        }
    }
}
