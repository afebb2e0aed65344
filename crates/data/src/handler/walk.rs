//! Processes one request: version, chain, and target; loops from API to API as rewrites demand.

use super::batch::is_batch;
use super::context::RequestContext;
use super::held::{HeldAt, HeldChain, HeldRequest, RestOfChain, Resumption};
use super::in_flight::{Chosen, InFlight, MIRROR, PROVIDER, VersionPlace};
use super::record_builder::UnwalkedRequest;
use super::{GatewayHandler, forward, mirror, own_response, record_builder, revalidation, select};
use crate::api_call::LOOPS_MAX;
use crate::balanced::nanos;
use crate::breaker::Passage;
use crate::caching;
use crate::error_body::xml_type;
use crate::exchange::{ChainLink, Exchange, Hold, Redirect, ShownEdits, ShownHead, Step};
use crate::plugins::show_request;
use crate::refusal::{self, Refusal};
use crate::refusal_events::{tell_refusal, tell_refused_version};
use crate::route::{Found, FoundRule};
use crate::snapshot::{ApiVersion, CoreSnapshot, ProviderEndpoints, Snapshot, Upstreams, Versions};
use crate::upstream::Upstream;
use crate::url::Url;
use std::borrow::Cow;
use std::rc::Rc;
use tollgate_balance::mix;
use tollgate_clock::MonoTime;
use tollgate_engine::{HoldUntil, Outgoing, Verdict};
use tollgate_http::form::parameter;
use tollgate_http::{HeadView, HeaderEdits};
use tollgate_observe::{RequestRecord, StepTime, method_number};

/// One API's part of processing a request.
struct ApiTurn<'a> {
    api: usize,
    /// The rule that it belongs to, if that is known and the API is a route.
    rule: Option<FoundRule>,
    url: Url<'a>,
    method: Cow<'a, str>,
    skips_limits: bool,
}

/// A request in the chain of one version.
struct ChainRun<'a> {
    place: VersionPlace,
    /// The versions that looped it to this one.
    looped_through: Vec<VersionPlace>,
    method: Cow<'a, str>,
    url: Url<'a>,
    /// The edits that were shown to middlewares before it was held.
    shown: Option<HeaderEdits>,
    rest: RestOfChain,
}

/// Where a chain leads.
enum Destination {
    Upstream(Chosen),
    Control,
    Loop(String),
}

/// Result of a chain that did not refuse.
enum Run {
    Reply,
    Hold(HoldUntil, Box<HeldChain>),
    Forward(Verdict, Chosen, Option<Passage>),
    Loop { name: String, url: Url<'static>, method: String },
}

/// What follows a chain.
enum AfterChain {
    Verdict(Verdict),
    Loop(ApiTurn<'static>, Vec<VersionPlace>),
}

impl GatewayHandler {
    /// Runs the chains and fills `outgoing`.
    pub(super) fn walk<'a>(
        &mut self,
        context: &RequestContext<'a>,
        snapshot: &Rc<CoreSnapshot>,
        found: Found,
        url: Url<'a>,
        outgoing: &mut Outgoing,
    ) -> Result<Verdict, Refusal> {
        let Found { api, rule, .. } = found;
        let turn = ApiTurn { api, rule, url, method: Cow::Borrowed(context.request.method), skips_limits: false };
        self.take_turns(context, snapshot, turn, Vec::new(), outgoing)
    }

    /// Goes on with a chain that was held.
    pub(super) fn resume_chain(
        &mut self,
        context: &RequestContext<'_>,
        snapshot: &Rc<CoreSnapshot>,
        held: HeldChain,
        outgoing: &mut Outgoing,
    ) -> Result<Verdict, Refusal> {
        let HeldChain { place, looped_through, method, url, shown, rest } = held;
        let run = ChainRun { place, looped_through, method, url, shown, rest };
        match self.run(context, snapshot, run, outgoing)? {
            AfterChain::Verdict(verdict) => Ok(verdict),
            AfterChain::Loop(turn, looped_through) => {
                self.state.begin_chain(turn.skips_limits);
                self.take_turns(context, snapshot, turn, looped_through, outgoing)
            }
        }
    }

    /// Takes the turn of one API after the other, as long as they loop the request.
    fn take_turns<'a>(
        &mut self,
        context: &RequestContext<'a>,
        snapshot: &Rc<CoreSnapshot>,
        mut turn: ApiTurn<'a>,
        mut looped_through: Vec<VersionPlace>,
        outgoing: &mut Outgoing,
    ) -> Result<Verdict, Refusal> {
        while context.arrival.loops.saturating_add(looped_through.len()) <= LOOPS_MAX {
            self.place = VersionPlace { api: turn.api, version: 0 };
            let Some(api) = snapshot.apis.get(turn.api) else {
                if turn.api == Found::PORTAL {
                    return Ok(self.forward_to_portal(context.request, context.arrival.client_ip, outgoing));
                }
                break;
            };
            let is_first = looped_through.is_empty();
            if is_first && api.batches && is_batch(&turn.url) {
                return self.batch(context, snapshot, turn.url, outgoing);
            }
            let is_for_provider = is_first && api.provider.is_some() && ProviderEndpoints::endpoint(&turn.url).is_some();
            let mirrored = api.discovery.as_ref().filter(|_| is_first);
            let mirrored = mirrored.and_then(|paths| paths.endpoint(&turn.method, &turn.url.path.decoded));
            let place = match (is_for_provider, mirrored) {
                // Token requests do not name a version.
                (true, _) => VersionPlace { api: turn.api, version: PROVIDER },
                (_, Some(_)) => VersionPlace { api: turn.api, version: MIRROR },
                (false, None) => self.select(context, snapshot, &mut turn, outgoing)?,
            };
            let ApiTurn { url, method, .. } = turn;
            let run = ChainRun { place, looped_through, method, url, shown: None, rest: RestOfChain::whole() };
            match self.run(context, snapshot, run, outgoing)? {
                AfterChain::Verdict(verdict) => return Ok(verdict),
                AfterChain::Loop(next, through) => {
                    self.state.begin_chain(next.skips_limits);
                    (turn, looped_through) = (next, through);
                }
            }
        }
        if let Some(api) = snapshot.apis.get(turn.api) {
            let unwalked = UnwalkedRequest { api, url: &turn.url, version: None };
            self.record = record_builder::build_unwalked_record(context, &unwalked);
        }
        Err(refusal::LOOP_TOO_DEEP)
    }

    /// Selects the version for a turn.
    #[inline]
    fn select<'a>(
        &mut self,
        context: &RequestContext<'a>,
        snapshot: &CoreSnapshot,
        turn: &mut ApiTurn<'a>,
        outgoing: &mut Outgoing,
    ) -> Result<VersionPlace, Refusal> {
        let Some(api) = snapshot.apis.get(turn.api) else { return Err(refusal::LOOP_TARGET_UNKNOWN) };
        let mut asked = None;
        let request = select::SelectedRequest {
            url: &mut turn.url,
            context,
            changes: &mut self.state.response.changes,
            edits: &mut outgoing.edits,
            asked: &mut asked,
            method: &turn.method,
            rule: &mut turn.rule,
        };
        let selected = select::version(snapshot, api, turn.api, request);
        if let Err(refusal) = &selected {
            // As in Tyk, which has no event if versions are APIs of their own.
            if let Some(events) = api.events.as_ref().filter(|_| !matches!(api.versions, Versions::Apis { .. })) {
                let (request, client_ip) = (context.request, context.arrival.client_ip);
                tell_refused_version(events, request, client_ip, &turn.url.path.decoded, &api.facts, refusal);
            }
            let unwalked = UnwalkedRequest { api, url: &turn.url, version: asked.as_deref() };
            self.record = record_builder::build_unwalked_record(context, &unwalked);
        }
        self.state.decisions.prefix_bytes = turn.rule.map_or(0, |rule| rule.prefix_bytes);
        selected
    }

    /// Runs one chain, or what is left of it, and does what follows.
    fn run<'a>(
        &mut self,
        context: &RequestContext<'a>,
        snapshot: &Rc<CoreSnapshot>,
        run: ChainRun<'a>,
        outgoing: &mut Outgoing,
    ) -> Result<AfterChain, Refusal> {
        let ChainRun { place, looped_through, method, url, shown, rest } = run;
        let api = snapshot.apis.get(place.api).ok_or(refusal::LOOP_TOO_DEEP)?;
        let version = place.version(api).ok_or(refusal::LOOP_TOO_DEEP)?;
        self.place = place;
        let shown_edits = ShownEdits::default();
        let state = &mut self.state;
        let mut exchange = Exchange {
            request: context.request,
            head: ShownHead::new(&context.request.headers, &shown_edits),
            arrival: &context.arrival,
            api,
            version: &version.terms,
            hits: &mut state.hits,
            method,
            url,
            body: &mut state.body,
            caller: &mut state.caller,
            decisions: &mut state.decisions,
            notes: &mut state.notes,
            response: &mut state.response,
            outgoing,
        };
        if shown.is_some() {
            exchange.head.show(shown);
        }
        if let Resumption::Next = rest.resumed {
            exchange.decisions.first_byte_ms = version.first_byte_ms;
            exchange.find_endpoints();
        }
        let chain = ChainWalk {
            context,
            version,
            sampled: context.core.is_sampled(),
            traced: api.facts.detailed_tracing && context.arrival.trace.is_some_and(|trace| trace.taken),
        };
        let run = chain.run(&mut exchange, rest, &mut self.steps, &mut self.record);
        // As in Tyk, which announces the version's expiry except when the version itself refuses.
        if !version.response_lines.is_empty() && run.as_ref().is_err_and(|refusal| *refusal != refusal::FORBIDDEN_ENDPOINT) {
            self.state.response.limit_lines.extend_from_slice(&version.response_lines);
        }
        match run? {
            Run::Reply => {
                outgoing.close |= context.core.shared.settings.answers.close_connections;
                Ok(AfterChain::Verdict(Verdict::Reply))
            }
            Run::Hold(until, mut held) => {
                (held.place, held.looped_through) = (place, looped_through);
                Ok(AfterChain::Verdict(self.hold(context, snapshot, until, HeldAt::Chain(held), outgoing)))
            }
            Run::Forward(verdict, chosen, breaker) => {
                self.in_flight = Some(InFlight {
                    snapshot: snapshot.clone(),
                    place,
                    looped_through,
                    chosen,
                    breaker,
                    xml_type: xml_type(HeadView::new(&context.request.headers)),
                    began: context.arrival.began,
                    sent: None,
                    method: method_number(context.request.method),
                    status: 0,
                    upstream_status: 0,
                    failed: None,
                    refused: self.state.decisions.refused_upstream.take().map(Box::new),
                });
                Ok(AfterChain::Verdict(verdict))
            }
            Run::Loop { name, url, method } => {
                let Some(target) = loop_target(snapshot, place, &name) else {
                    let unwalked = UnwalkedRequest { api, url: &url, version: None };
                    self.record = record_builder::build_unwalked_record(context, &unwalked);
                    return Err(refusal::LOOP_TARGET_UNKNOWN);
                };
                let mut looped_through = looped_through;
                looped_through.push(place);
                Ok(AfterChain::Loop(loop_turn(snapshot, target, url, method), looped_through))
            }
        }
    }

    /// Holds a request.
    #[cold]
    pub(super) fn hold(
        &mut self,
        context: &RequestContext<'_>,
        snapshot: &Rc<CoreSnapshot>,
        until: HoldUntil,
        at: HeldAt,
        outgoing: &mut Outgoing,
    ) -> Verdict {
        self.held = Some(Box::new(HeldRequest {
            snapshot: snapshot.clone(),
            began: context.arrival.began,
            request_id: context.arrival.request_id,
            client_ip: context.arrival.client_ip,
            full_path: context.arrival.full_path.to_owned(),
            outgoing: std::mem::take(outgoing),
            at,
        }));
        Verdict::Hold(until)
    }
}

/// The part of a walk that is the same for all middlewares of a chain.
struct ChainWalk<'w, 'a> {
    context: &'w RequestContext<'a>,
    version: &'w ApiVersion,
    /// Whether the middlewares are timed for metrics.
    sampled: bool,
    /// Whether they are timed for the request's trace.
    traced: bool,
}

impl ChainWalk<'_, '_> {
    /// Runs what is left of a chain.
    fn run(
        &self,
        exchange: &mut Exchange<'_>,
        mut rest: RestOfChain,
        steps: &mut Vec<StepTime>,
        record: &mut Option<Box<RequestRecord>>,
    ) -> Result<Run, Refusal> {
        let mut chain = self.version.chain.as_slice();
        match std::mem::replace(&mut rest.resumed, Resumption::Next) {
            Resumption::Next => {
                // With `options_passthrough` the upstream answers preflight requests: they bypass the chain.
                if exchange.api.options_passthrough && exchange.method == "OPTIONS" {
                    chain = &[];
                }
            }
            Resumption::Response(held) => {
                let tells_limits = held.tells_limits;
                let processed = own_response::go_on(exchange, *held);
                return self.respond(exchange, processed, tells_limits, record);
            }
            Resumption::Held(then) => {
                let held_by = rest.next.checked_sub(1).and_then(|held| chain.get(held));
                let link = held_by.ok_or(refusal::UPSTREAM_FAILED)?;
                let step = match self.sampled {
                    true => self.context.core.timed_step(link, exchange, Some(then)),
                    false => then.go_on(link.middleware.as_ref(), exchange),
                };
                if let Some(held) = steps.last_mut().filter(|_| self.traced) {
                    held.took_ns = MonoTime::now().ns_since(self.context.arrival.began).saturating_sub(held.after_ns);
                }
                if let Some(run) = self.follow(step, link, exchange, &mut rest, record)? {
                    return Ok(run);
                }
            }
        }
        while let Some(link) = chain.get(rest.next) {
            rest.next += 1;
            let has_answer = rest.own.is_some() || exchange.decisions.refused_upstream.is_some();
            if has_answer && !link.middleware.is_for_responses() {
                continue;
            }
            let began = self.traced.then(MonoTime::now);
            let step = match self.sampled {
                true => self.context.core.timed_step(link, exchange, None),
                false => link.middleware.on_request(exchange),
            };
            if let Some(began) = began {
                let (after_ns, took_ns) = (began.ns_since(self.context.arrival.began), MonoTime::now().ns_since(began));
                steps.push(StepTime { middleware: link.about.name, after_ns, took_ns });
            }
            if let Step::Next = step {
                continue;
            }
            if let Some(run) = self.follow(step, link, exchange, &mut rest, record)? {
                return Ok(run);
            }
        }
        match rest.own.take() {
            Some(response) => {
                let tells_limits = response.tells_limits;
                let processed = own_response::process(exchange, *response);
                self.respond(exchange, processed, tells_limits, record)
            }
            None => self.leave(exchange, record),
        }
    }

    /// Does what a middleware wants; `None` if the chain goes on.
    fn follow(
        &self,
        step: Step,
        link: &ChainLink,
        exchange: &mut Exchange<'_>,
        rest: &mut RestOfChain,
        record: &mut Option<Box<RequestRecord>>,
    ) -> Result<Option<Run>, Refusal> {
        let ChainWalk { context, version, .. } = self;
        match step {
            Step::Next => Ok(None),
            Step::Refuse(refusal) => {
                self.note_refusal(&refusal, link, exchange, record);
                Err(refusal)
            }
            Step::RefuseUpstream(refusal) => {
                self.note_refusal(&refusal, link, exchange, record);
                // The client is told with status 200 that there is no such thing.
                record.iter_mut().for_each(|record| record.failure_status = Some(refusal.status));
                exchange.decisions.refused_upstream = Some(refusal);
                Ok(None)
            }
            Step::Reply => {
                *record = if exchange.decisions.records_reply {
                    record_builder::build_record(context, exchange, "")
                } else if exchange.decisions.from_cache {
                    exchange.decisions.is_stored = true;
                    record_builder::build_record(context, exchange, "")
                } else {
                    record_builder::build_trace_record(context, exchange)
                };
                Ok(Some(Run::Reply))
            }
            Step::Respond(response) => {
                rest.own = Some(response);
                Ok(None)
            }
            Step::Revalidate(answer) => {
                let detached = match destination(exchange, version)? {
                    Destination::Upstream(chosen) => {
                        let upstream = upstream_of(&chosen, version)?;
                        show_request(exchange, Some(upstream));
                        Some(revalidation::detached(exchange, version, upstream, context.arrival.peer.ip()))
                    }
                    Destination::Control | Destination::Loop(_) => None,
                };
                caching::serve(exchange.outgoing, &answer);
                if let Some(sourced) = &mut exchange.outgoing.sourced {
                    sourced.detached = detached;
                }
                exchange.decisions.from_cache = true;
                exchange.decisions.is_stored = true;
                *record = record_builder::build_record(context, exchange, "");
                Ok(Some(Run::Reply))
            }
            Step::Hold(hold) => {
                let Hold { until, then } = *hold;
                let (next, own) = (rest.next, rest.own.take());
                Ok(Some(held_run(exchange, until, RestOfChain { next, own, resumed: Resumption::Held(then) })))
            }
        }
    }

    /// Tells others than the caller of a refusal.
    fn note_refusal(
        &self,
        refusal: &Refusal,
        link: &ChainLink,
        exchange: &mut Exchange<'_>,
        record: &mut Option<Box<RequestRecord>>,
    ) {
        if let Some(events) = &exchange.api.events {
            tell_refusal(events, exchange, exchange.caller.key.as_deref(), refusal);
        }
        *record = record_builder::build_refusal_record(self.context, exchange, link, refusal);
    }

    /// Ends a chain with a response that the gateway has made, when the steps for responses have processed it.
    fn respond(
        &self,
        exchange: &mut Exchange<'_>,
        processed: Result<own_response::Processed, Refusal>,
        tells_limits: bool,
        record: &mut Option<Box<RequestRecord>>,
    ) -> Result<Run, Refusal> {
        if let own_response::Processed::Waits(work, time_max, held) = self.noted(processed, exchange, record)? {
            let rest = RestOfChain { resumed: Resumption::Response(held), ..RestOfChain::whole() };
            return Ok(held_run(exchange, HoldUntil::Done(work, time_max), rest));
        }
        if !tells_limits {
            exchange.response.limit_lines.clear();
        }
        exchange.decisions.is_stored = true;
        *record = record_builder::build_record(self.context, exchange, "");
        Ok(Run::Reply)
    }

    /// Ends a chain that every middleware has let the request pass.
    fn leave(&self, exchange: &mut Exchange<'_>, record: &mut Option<Box<RequestRecord>>) -> Result<Run, Refusal> {
        let ChainWalk { context, version, .. } = self;
        let destination = destination(exchange, version);
        match self.noted(destination, exchange, record)? {
            Destination::Control => {
                // Not recorded: bodies contain secrets, and it is not a call of the API.
                let forward = forward::fill_for_control(exchange, context.core.shared.control.serial);
                Ok(Run::Forward(Verdict::Forward(forward), Chosen::Control, None))
            }
            Destination::Upstream(chosen) => {
                let upstream = upstream_of(&chosen, version)?;
                if !exchange.response.chain.is_empty() {
                    show_request(exchange, Some(upstream));
                }
                let mut forward = forward::fill(exchange, version, upstream);
                if let (Chosen::Balanced(taken), Upstreams::Balanced(rules)) = (&chosen, &version.upstreams) {
                    forward.first_byte_ms = taken.time();
                    forward.resend = rules.keeps(taken);
                    for mirror in rules.mirrors(taken) {
                        let random = context.core.next_id().0 as u64;
                        if mirror.takes(random) {
                            mirror::add(mirror, &exchange.api.id, (mix(random), nanos(exchange.arrival.now)), &mut forward);
                        }
                    }
                }
                if exchange.decisions.refused_upstream.is_none() {
                    *record = record_builder::build_record(context, exchange, &upstream.host);
                }
                if let Some(record) = record.as_mut() {
                    record_builder::note_upstream(record, upstream, &exchange.outgoing.target);
                    forward.timed = true;
                    forward.capture_bytes_max = context.core.captured_bytes(record);
                }
                let verdict = Verdict::Forward(forward);
                Ok(Run::Forward(verdict, chosen, exchange.decisions.breaker.take()))
            }
            Destination::Loop(name) => {
                let url = forward::loop_url(exchange);
                let method = std::mem::take(&mut exchange.method).into_owned();
                Ok(Run::Loop { name, url, method })
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
            *record = record_builder::build_record(self.context, exchange, "");
            record.iter_mut().for_each(|record| record.class = refusal.facts.class);
        }
        result
    }
}

/// The chain as it is when a middleware holds its request.
#[cold]
fn held_run(exchange: &mut Exchange<'_>, until: HoldUntil, rest: RestOfChain) -> Run {
    let url = std::mem::replace(&mut exchange.url, Url::nowhere()).into_owned();
    let held = HeldChain {
        place: VersionPlace::default(),
        looped_through: Vec::new(),
        method: Cow::Owned(std::mem::take(&mut exchange.method).into_owned()),
        url,
        shown: exchange.head.lines().edits().cloned(),
        rest,
    };
    Run::Hold(until, Box::new(held))
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
    match exchange.decisions.redirected.take() {
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
    let skips_limits = asked("check_limits").is_none_or(|value| value != "true");
    let listen_path = snapshot.apis.get(api).map_or("", |api| api.listen_path.as_str());
    let listen_bytes = if url.path.decoded.starts_with(listen_path) { listen_path.len() } else { 0 };
    let query = url.query.map(|query| without_controls(&query)).filter(|query| !query.is_empty()).map(Cow::Owned);
    ApiTurn { api, rule: None, url: Url { path: url.path, listen_bytes, query }, method, skips_limits }
}

fn without_controls(query: &str) -> String {
    let is_control = |pair: &&str| !["method=", "loop_limit=", "check_limits="].iter().any(|name| pair.starts_with(name));
    query.split('&').filter(is_control).collect::<Vec<_>>().join("&")
}
