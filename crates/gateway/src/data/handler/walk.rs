//! Processes one request: version, chain, and target; loops from API to API as rewrites demand.

use super::arrival::RequestContext;
use super::batch::is_batch;
use super::in_flight::{Chosen, InFlight, PROVIDER, VersionPlace};
use super::record_builder::UnwalkedRequest;
use super::steps::Steps;
use super::{GatewayHandler, forward, mirror, own_response, record_builder, reply, revalidation, select};
use crate::auth::keys::CountedRequest;
use crate::base::form::parameter;
use crate::data::breaker::Passage;
use crate::data::caching;
use crate::data::endpoints::Hits;
use crate::data::error_body::xml_type;
use crate::data::error_flags;
use crate::data::exchange::{Exchange, Redirect, Step, Track};
use crate::data::middleware::Middleware;
use crate::data::plugins::show_request;
use crate::data::refusal::{self, Refusal};
use crate::data::refusal_events::{tell_refusal, tell_refused_version};
use crate::data::snapshot::{ApiVersion, CompiledApi, CoreSnapshot, ProviderEndpoints, Snapshot, Upstreams, Versions};
use crate::data::upstream::Upstream;
use crate::data::url::Url;
use crate::observe::{RequestRecord, method_number};
use std::borrow::Cow;
use std::rc::Rc;
use std::time::Duration;
use tollgate_cache::LineBlock;
use tollgate_engine::{MonoTime, Outgoing, Verdict, Work};
use tollgate_http::{HeaderStorage, Request};

/// Most loops from API to API per request, as in Tyk.
const LOOPS_MAX: usize = 5;

/// One API's part of processing a request.
struct ApiTurn<'a> {
    api: usize,
    url: Url<'a>,
    method: Cow<'a, str>,
    check_limits: bool,
    /// The body that replaces the request's own.
    body: Option<Vec<u8>>,
}

/// Where a chain leads.
enum Destination {
    Upstream(Chosen),
    Control,
    Loop(String),
}

impl GatewayHandler {
    /// Runs the chains and fills `outgoing`.
    pub(super) fn walk<'a>(
        &mut self,
        arrival: &RequestContext<'a>,
        snapshot: &Rc<CoreSnapshot>,
        api: usize,
        url: Url<'a>,
        outgoing: &mut Outgoing,
    ) -> Result<Verdict, Refusal> {
        let mut turn = ApiTurn { api, url, method: Cow::Borrowed(arrival.request.method), check_limits: true, body: None };
        let mut looped_through = Vec::new();
        self.changes.clear();
        self.upstream_changes.clear();
        self.limit_lines.clear();
        self.steps.start();
        for level in 0..=LOOPS_MAX {
            let Some(api) = snapshot.apis.get(turn.api) else { break };
            self.place = VersionPlace { api: turn.api, version: 0 };
            if level == 0 && api.batches && is_batch(&turn.url) {
                return self.batch(arrival, &turn.url, outgoing);
            }
            let is_for_provider = level == 0 && api.provider.is_some() && ProviderEndpoints::endpoint(&turn.url).is_some();
            let selected = match is_for_provider {
                // Token requests do not name a version.
                true => VersionPlace { api: turn.api, version: PROVIDER },
                false => {
                    let mut asked = None;
                    let request = select::SelectedRequest {
                        url: &mut turn.url,
                        arrival,
                        changes: &mut self.changes,
                        edits: &mut outgoing.edits,
                        asked: &mut asked,
                    };
                    let selected = select::version(snapshot, api, turn.api, request);
                    if let (Err(refusal), Some(events)) = (&selected, &api.events)
                        // As in Tyk, which has no event if versions are APIs of their own.
                        && !matches!(api.versions, Versions::Apis { .. })
                    {
                        tell_refused_version(
                            events,
                            arrival.request,
                            arrival.client_ip,
                            &turn.url.path.decoded,
                            &api.facts,
                            refusal,
                        );
                    }
                    match selected {
                        Ok(selected) => selected,
                        Err(refusal) => {
                            let version = asked.as_deref();
                            let unwalked = UnwalkedRequest { api, url: &turn.url, version };
                            self.record = record_builder::build_unwalked_record(arrival, &unwalked);
                            return Err(refusal);
                        }
                    }
                }
            };
            let Some(api) = snapshot.apis.get(selected.api) else { break };
            let Some(version) = selected.version(api) else { break };
            self.place = selected;
            // As in Tyk, only the middlewares of the API that calls the upstream process the response.
            self.response_chain.clear();
            let run = self.run(arrival, api, version, turn, level, outgoing);
            // As in Tyk, which announces the version's expiry except when the version itself refuses.
            if run.as_ref().is_err_and(|refusal| *refusal != refusal::FORBIDDEN_ENDPOINT) {
                self.limit_lines.extend_from_slice(&version.response_lines);
            }
            match run? {
                Run::Reply => {
                    self.changes.iter().for_each(|change| change.apply_to_reply(&mut outgoing.edits));
                    outgoing.close |= arrival.core.shared.settings.close_connections;
                    return Ok(Verdict::Reply);
                }
                Run::Wait(time) => {
                    self.tries += 1;
                    return Ok(Verdict::Wait(time));
                }
                Run::Await(work, time_max) => return Ok(Verdict::Await(work, time_max)),
                Run::Read(bytes_max) => return Ok(Verdict::Read(bytes_max)),
                Run::Forward(verdict, chosen, breaker) => {
                    self.in_flight = Some(InFlight {
                        snapshot: snapshot.clone(),
                        place: selected,
                        looped_through,
                        chosen,
                        breaker,
                        xml_type: xml_type(arrival.request),
                        began: arrival.began,
                        sent: None,
                        method: method_number(arrival.request.method),
                        status: 0,
                        upstream_status: 0,
                        failed: None,
                    });
                    return Ok(verdict);
                }
                Run::Loop { name, url, method, body } => {
                    looped_through.push(selected);
                    let Some(target) = loop_target(snapshot, selected, &name) else {
                        let unwalked = UnwalkedRequest { api, url: &url, version: None };
                        self.record = record_builder::build_unwalked_record(arrival, &unwalked);
                        return Err(refusal::LOOP_TARGET_UNKNOWN);
                    };
                    turn = ApiTurn { body, ..loop_turn(snapshot, target, url, method) };
                }
            }
        }
        if let Some(api) = snapshot.apis.get(turn.api) {
            let unwalked = UnwalkedRequest { api, url: &turn.url, version: None };
            self.record = record_builder::build_unwalked_record(arrival, &unwalked);
        }
        Err(refusal::LOOP_TOO_DEEP)
    }

    /// Runs one chain.
    fn run<'a>(
        &mut self,
        arrival: &RequestContext<'a>,
        api: &CompiledApi,
        version: &ApiVersion,
        turn: ApiTurn<'a>,
        level: usize,
        outgoing: &mut Outgoing,
    ) -> Result<Run, Refusal> {
        if !version.matcher.is_empty() {
            find_endpoints(version, &turn.url, &mut self.hits);
        }
        let settings = &arrival.core.shared.settings;
        let exchange = Exchange {
            request: arrival.request,
            settings,
            api,
            version: matches!(api.versions, Versions::Many { .. }).then_some(version.name.as_str()),
            client_ip: arrival.client_ip,
            forwarded_for: (!version.keeps_forwarded_for).then(|| arrival.peer.ip()),
            tls: arrival.tls,
            now: arrival.now.since(arrival.core.shared.start),
            request_id: arrival.request_id,
            full_path: &arrival.full_path,
            method: turn.method,
            url: turn.url,
            hits: &self.hits,
            unix_s: arrival.core.time_of_day.unix_s(arrival.now),
            keys: &arrival.core.shared.keys,
            key: None,
            claims: None,
            granted_scopes: None,
            token: None,
            trace: arrival.trace,
            api_rate: None,
            core: arrival.core.index,
            counting_core: arrival.core.shared.observer.metrics.then_some(arrival.core.index),
            answers: &mut self.answers,
            tries: self.tries,
            limit_lines: &mut self.limit_lines,
            ignored: false,
            track: Track::Default,
            level,
            check_limits: turn.check_limits,
            counted: CountedRequest::default(),
            from_cache: false,
            records_reply: false,
            last_lines: LineBlock::default(),
            is_conditional: false,
            redirected: None,
            first_byte_ms: version.first_byte_ms,
            breaker: None,
            outgoing,
            response_changes: &mut self.changes,
            upstream_changes: &mut self.upstream_changes,
            response_chain: &mut self.response_chain,
            new_body: turn.body,
            changed_meta_data: None,
        };
        // With `options_passthrough` the upstream answers preflight requests: they bypass the chain.
        let chain = if api.options_passthrough && exchange.method == "OPTIONS" { &[] } else { version.chain.as_slice() };
        let walk = ChainWalk {
            arrival,
            version,
            sampled: arrival.core.is_sampled(),
            traced: api.facts.detailed_tracing && arrival.trace.is_some_and(|trace| trace.taken),
        };
        walk.run(exchange, chain, &mut self.steps, &mut self.record)
    }
}

/// The part of a walk that is the same for all middlewares of a chain.
struct ChainWalk<'w> {
    arrival: &'w RequestContext<'w>,
    version: &'w ApiVersion,
    /// Whether the middlewares are timed for metrics.
    sampled: bool,
    /// Whether they are timed for the request's trace.
    traced: bool,
}

impl ChainWalk<'_> {
    /// Runs the rest of a chain.
    fn run(
        &self,
        mut exchange: Exchange<'_>,
        chain: &[Box<dyn Middleware>],
        steps: &mut Steps,
        record: &mut Option<Box<RequestRecord>>,
    ) -> Result<Run, Refusal> {
        let ChainWalk { arrival, version, .. } = self;
        let mut rest = chain.iter();
        let mut own = None;
        while let Some(middleware) = rest.next() {
            if own.is_some() && !middleware.is_for_responses() {
                continue;
            }
            let began = self.traced.then(MonoTime::now);
            let step = if self.sampled {
                arrival.core.timed_step(middleware.as_ref(), &mut exchange)
            } else {
                middleware.on_request(&mut exchange)
            };
            if let Some(began) = began {
                steps.end(middleware.name(), arrival.began, began, MonoTime::now());
            }
            match step {
                Step::Next => {}
                Step::Reread => return self.reread(exchange, rest.as_slice(), steps, record),
                Step::Refuse(refusal) => {
                    if let Some(events) = &exchange.api.events {
                        tell_refusal(events, &exchange, exchange.key.as_deref(), middleware.name(), &refusal);
                    }
                    *record = record_builder::build_refusal_record(arrival, &exchange, middleware.as_ref(), &refusal);
                    return Err(refusal);
                }
                Step::Reply => {
                    *record = if exchange.records_reply {
                        record_builder::build_record(arrival, &exchange, "")
                    } else if exchange.from_cache {
                        complete_stored(&mut exchange, version);
                        record_builder::build_record(arrival, &exchange, "")
                    } else {
                        record_builder::build_trace_record(arrival, &exchange)
                    };
                    return Ok(Run::Reply);
                }
                Step::Respond(response) => own = Some(response),
                Step::Revalidate(answer) => {
                    let detached = match destination(&mut exchange, version)? {
                        Destination::Upstream(chosen) => {
                            let upstream = upstream_of(&chosen, version)?;
                            show_request(&exchange, Some(upstream));
                            Some(revalidation::detached(&mut exchange, version, upstream, arrival.peer.ip()))
                        }
                        Destination::Control | Destination::Loop(_) => None,
                    };
                    caching::serve(exchange.outgoing, &answer);
                    if let Some(sourced) = &mut exchange.outgoing.sourced {
                        sourced.detached = detached;
                    }
                    exchange.from_cache = true;
                    complete_stored(&mut exchange, version);
                    *record = record_builder::build_record(arrival, &exchange, "");
                    return Ok(Run::Reply);
                }
                Step::Wait(time) => return Ok(Run::Wait(time)),
                Step::Await(work, time_max) => return Ok(Run::Await(work, time_max)),
                Step::Read(bytes_max) => return Ok(Run::Read(bytes_max)),
            }
        }
        if let Some(response) = own {
            let tells_limits = response.tells_limits;
            let processed = own_response::process(&mut exchange, *response);
            if let Some((work, time_max)) = self.noted(processed, &exchange, record)? {
                return Ok(Run::Await(work, time_max));
            }
            if !tells_limits {
                exchange.limit_lines.clear();
            }
            complete_stored(&mut exchange, version);
            *record = record_builder::build_record(arrival, &exchange, "");
            return Ok(Run::Reply);
        }
        let destination = destination(&mut exchange, version);
        match self.noted(destination, &exchange, record)? {
            Destination::Control => {
                // Not recorded: bodies contain secrets, and it is not a call of the API.
                let forward = forward::fill_for_provider(&mut exchange, arrival.core.shared.control.serial);
                Ok(Run::Forward(Verdict::Forward(forward), Chosen::Control, None))
            }
            Destination::Upstream(chosen) => {
                let upstream = upstream_of(&chosen, version)?;
                if !exchange.response_chain.is_empty() {
                    show_request(&exchange, Some(upstream));
                }
                let mut forward = forward::fill(&mut exchange, version, upstream);
                if let (Chosen::Balanced(taken), Upstreams::Balanced(rules)) = (&chosen, &version.upstreams) {
                    forward.first_byte_ms = taken.time();
                    forward.resend = rules.keeps(taken);
                    if let Some(mirror) = rules.mirror.as_ref().filter(|mirror| mirror.takes(arrival.core.next_id().0 as u64)) {
                        mirror::add(mirror, &exchange.api.id, &mut forward);
                    }
                }
                *record = record_builder::build_record(arrival, &exchange, &upstream.host);
                if let Some(record) = record.as_mut() {
                    record_builder::note_upstream(record, upstream, &exchange.outgoing.target);
                    forward.timed = true;
                    forward.capture_bytes_max = arrival.core.captured_bytes(record);
                }
                let verdict = Verdict::Forward(forward);
                Ok(Run::Forward(verdict, chosen, exchange.breaker))
            }
            Destination::Loop(name) => {
                let url = forward::loop_url(&exchange);
                Ok(Run::Loop { name, url, method: exchange.method.into_owned(), body: exchange.new_body })
            }
        }
    }

    /// Starts the record of a request that is refused behind the middlewares.
    #[inline]
    fn noted<T>(
        &self,
        result: Result<T, Refusal>,
        exchange: &Exchange<'_>,
        record: &mut Option<Box<RequestRecord>>,
    ) -> Result<T, Refusal> {
        if let Err(refusal) = &result {
            *record = record_builder::build_record(self.arrival, exchange, "");
            record.iter_mut().for_each(|record| record.class = error_flags::of_refusal(refusal, ""));
        }
        result
    }

    /// Runs the rest of a chain on the request as its edits have made it.
    #[cold]
    fn reread(
        &self,
        exchange: Exchange<'_>,
        rest: &[Box<dyn Middleware>],
        steps: &mut Steps,
        record: &mut Option<Box<RequestRecord>>,
    ) -> Result<Run, Refusal> {
        let original = exchange.request;
        let outgoing = exchange.outgoing;
        let mut base = std::mem::take(&mut outgoing.edits);
        let (mut head, mut lines) = (Vec::new(), HeaderStorage::new());
        original.write_first_line(&mut head);
        base.write_lines(&original.headers, &mut head);
        head.extend_from_slice(b"\r\n");
        // A plugin may have added more lines than a head can have.
        let Ok(Some(mut request)) = Request::parse(&head, &mut lines) else { return Err(refusal::PLUGIN_FAILED) };
        base.mark_hops(&original.headers, &mut request.headers);
        let mut hits = Hits::default();
        if !self.version.matcher.is_empty() {
            find_endpoints(self.version, &exchange.url, &mut hits);
        }
        let reread = Exchange { request: &request, hits: &hits, outgoing: &mut *outgoing, ..exchange };
        let run = self.run(reread, rest, steps, record);
        if let Ok(Run::Forward(..) | Run::Loop { .. }) = &run {
            base.followed_by(&original.headers, &outgoing.edits);
            outgoing.edits = base;
        }
        run
    }
}

/// Result of a chain that did not refuse.
enum Run {
    Reply,
    Wait(Duration),
    Await(Work, Duration),
    Read(usize),
    Forward(Verdict, Chosen, Option<Passage>),
    Loop { name: String, url: Url<'static>, method: String, body: Option<Vec<u8>> },
}

/// Completes a cached response like an upstream's response.
fn complete_stored(exchange: &mut Exchange<'_>, version: &ApiVersion) {
    let changes = exchange.response_changes.iter().chain(exchange.upstream_changes.iter());
    reply::complete_stored(&mut exchange.outgoing.edits, version, exchange.limit_lines, changes);
    exchange.last_lines.iter().for_each(|(name, value)| exchange.outgoing.edits.set_added(name, value));
    exchange.response_changes.clear();
    exchange.upstream_changes.clear();
}

#[inline]
fn upstream_of<'u>(chosen: &'u Chosen, version: &'u ApiVersion) -> Result<&'u Upstream, Refusal> {
    match chosen {
        Chosen::Listed(index) => version.upstreams.get(*index).ok_or(refusal::UPSTREAM_FAILED),
        Chosen::Named(upstream) => Ok(upstream),
        Chosen::Balanced(taken) => taken.upstream().ok_or(refusal::UPSTREAM_FAILED),
        Chosen::Control => Err(refusal::UPSTREAM_FAILED),
    }
}

fn destination(exchange: &mut Exchange<'_>, version: &ApiVersion) -> Result<Destination, Refusal> {
    match exchange.redirected.take() {
        Some(Redirect::Upstream(upstream)) => Ok(Destination::Upstream(Chosen::Named(upstream))),
        Some(Redirect::Loop(name)) => Ok(Destination::Loop(name)),
        None => match &version.upstreams {
            Upstreams::Loop(name) => Ok(Destination::Loop(name.clone())),
            Upstreams::Control => Ok(Destination::Control),
            Upstreams::Nowhere => Err(refusal::UPSTREAM_FAILED),
            Upstreams::Balanced(rules) => Ok(Destination::Upstream(Chosen::Balanced(rules.choose(exchange)?))),
            upstreams => Ok(Destination::Upstream(Chosen::Listed(upstreams.next()))),
        },
    }
}

/// The API that a loop names.
fn loop_target(snapshot: &Snapshot, from: VersionPlace, name: &str) -> Option<usize> {
    let api = if name == "self" { Some(from.api) } else { snapshot.api_by_id_or_name(name) };
    // A stream understands no requests.
    api.filter(|api| snapshot.apis.get(*api).is_some_and(|api| api.stream.is_none()))
}

/// The turn of a loop's API. The query parameters `method` and `check_limits` are for the gateway.
fn loop_turn(snapshot: &Snapshot, api: usize, url: Url<'static>, method: String) -> ApiTurn<'static> {
    let asked = |name: &str| url.query.as_deref().and_then(|query| parameter(query, name)).filter(|value| !value.is_empty());
    let method = Cow::Owned(asked("method").map_or(method, |method| method.to_ascii_uppercase()));
    let check_limits = asked("check_limits").is_some_and(|value| value == "true");
    let listen_path = snapshot.apis.get(api).map_or("", |api| api.listen_path.as_str());
    let listen_bytes = if url.path.decoded.starts_with(listen_path) { listen_path.len() } else { 0 };
    let query = url.query.map(|query| without_controls(&query)).filter(|query| !query.is_empty()).map(Cow::Owned);
    ApiTurn { api, url: Url { path: url.path, listen_bytes, query }, method, check_limits, body: None }
}

fn without_controls(query: &str) -> String {
    let is_control = |pair: &&str| !["method=", "loop_limit=", "check_limits="].iter().any(|name| pair.starts_with(name));
    query.split('&').filter(is_control).collect::<Vec<_>>().join("&")
}

/// Matches the path after the listen path; where access depends on it, also the complete path.
fn find_endpoints(version: &ApiVersion, url: &Url<'_>, hits: &mut Hits) {
    let whole = (url.listen_bytes > 0).then_some(url.path.decoded.as_ref());
    version.matcher.find(&url.path_behind_listen(), whole, hits);
}
