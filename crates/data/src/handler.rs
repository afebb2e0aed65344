//! The gateway's interface to the engine: one service per core, and per connection a handler that takes requests through their chains.

mod batch;
mod called;
mod compressed;
mod context;
mod finish;
mod forward;
mod held;
mod in_flight;
mod late_records;
mod mirror;
mod observed;
mod own_response;
mod probed;
mod record_builder;
mod rehearsal;
mod reply;
mod revalidation;
mod running_batch;
mod select;
mod stream;
mod tries;
mod walk;

use crate::client_tls::CallerTls;
use crate::compression::CoderMemory;
use crate::control_caller::{ControlCaller, PORTAL_PATH};
use crate::error_body::{ErrorAudience, xml_type};
use crate::exchange::{Arrival, ChainLink, Continuation, Exchange, RequestState, Step};
use crate::gateway_state::GatewayState;
use crate::header_names::is_same_name;
use crate::refusal::{self, Refusal};
use crate::response_chain::BODY_DIGESTS;
use crate::route::{RoutedRequest, Unrouted};
use crate::snapshot::CoreSnapshot;
use crate::url::Url;
use called::CalledApi;
use context::RequestContext;
use finish::ResponseMaker;
use held::{HeldAt, HeldRequest};
use in_flight::{Chosen, InFlight, VersionPlace};
use late_records::LateRecords;
use probed::{Probe, ProbedHandler};
use rehearsal::RehearsalRun;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tollgate_clock::MonoTime;
use tollgate_clock::TimeOfDay;
use tollgate_engine::{
    ClientInfo, ClientTls, Ended, Fault, FaultKind, Forward, Handler, HedgeEnd, KeptBody, NotKept, Outgoing, OwnRequests, Resend,
    ResponseVerdict, Retarget, Service, StreamHandler, Target, TryEnd, Verdict, client_network,
};
use tollgate_http::path::{self, Path};
use tollgate_http::{HeadView, HeaderEdits, Headers, Request, Response};
use tollgate_model::request_id::RequestId;
use tollgate_observe::logs::EVERY;
use tollgate_observe::trace::{RequestTrace, TraceId};
use tollgate_observe::{Recorder, RequestRecord, RequestTap, StepTime};
use tracing::field::DisplayValue;

pub use rehearsal::{
    RecordedCaller, RecordedRequest, RecordedResponse, Rehearsal, RehearsedDecision, RehearsedVerdict, auth_digest,
};

/// Largest request body to the control API: a definition of 10 MB passes, an endless upload does not.
const CONTROL_BODY_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// The endpoints that take the definitions of thousands of APIs at once, what it takes, and time for its answer: it compiles all of them first.
const CONFIGURATION_PATH: &str = "/tyk/configuration";
const CONFIGURATION_BYTES_MAX: u64 = 128 * 1024 * 1024;
const CONFIGURATION_MS_MAX: u64 = 300_000;

/// The middlewares of one in this many chains are timed; a power of two.
const SAMPLED: u32 = 1_024;

/// The part of the gateway that belongs to one core.
pub struct CoreService {
    shared: Arc<GatewayState>,
    generation: Cell<u64>,
    /// This core's reference to the newest snapshot.
    snapshot: RefCell<Rc<CoreSnapshot>>,
    random: Cell<u128>,
    /// Sends requests to this core itself.
    own_requests: OnceCell<Rc<dyn OwnRequests>>,
    /// Index of this core.
    index: usize,
    recorder: Option<Recorder>,
    /// Records that wait for their last figures.
    late: LateRecords,
    /// Shows single requests to people who look.
    tap: RequestTap,
    /// Number of chains run.
    chains: Cell<u32>,
    /// Which chains are timed: those whose number has these bits in the place of the mask.
    sampling: TraceSampling,
    /// The probe whose request is being decided about.
    probed: RefCell<Option<Rc<Probe>>>,
    /// Probes that wait for their connection.
    probes: RefCell<HashMap<u64, Rc<Probe>>>,
    /// What calls are for that wait for their connection.
    called: RefCell<HashMap<u64, CalledApi>>,
    /// The last number that was given to one of the two.
    ticket: Cell<u64>,
    time_of_day: TimeOfDay,
    /// The memory of the compressors of this core.
    coder_memory: CoderMemory,
    /// Watches all chains, if requests are only rehearsed.
    rehearsal: Option<Rc<RehearsalRun>>,
}

impl CoreService {
    pub fn new(shared: Arc<GatewayState>, core: usize) -> Self {
        use std::hash::{BuildHasher, RandomState};
        let (high, low) = (RandomState::new().hash_one(core), RandomState::new().hash_one(core));
        CoreService {
            generation: Cell::new(shared.generation.load(Ordering::Acquire)),
            snapshot: RefCell::new(Rc::new(CoreSnapshot(shared.current.load_full()))),
            random: Cell::new(u128::from(high) << 64 | u128::from(low) | 1),
            own_requests: OnceCell::new(),
            index: core,
            chains: Cell::new(0),
            sampling: TraceSampling::new(shared.observer.metrics),
            probed: RefCell::default(),
            probes: RefCell::default(),
            called: RefCell::default(),
            ticket: Cell::new(0),
            time_of_day: TimeOfDay::new(),
            coder_memory: CoderMemory::default(),
            rehearsal: None,
            late: LateRecords::default(),
            tap: RequestTap::new(shared.observer.watch.clone()),
            recorder: shared.observer.recording.as_ref().and_then(|recording| recording.recorder(core)),
            shared,
        }
    }

    /// A number under which a handler is waited for.
    fn next_ticket(&self) -> u64 {
        self.ticket.set(self.ticket.get() + 1);
        self.ticket.get()
    }

    /// The newest snapshot.
    #[inline]
    fn snapshot(&self) -> Rc<CoreSnapshot> {
        let newest = self.shared.generation.load(Ordering::Acquire);
        if newest != self.generation.get() {
            self.generation.set(newest);
            *self.snapshot.borrow_mut() = Rc::new(CoreSnapshot(self.shared.current.load_full()));
        }
        self.snapshot.borrow().clone()
    }

    /// Whether this chain's middlewares are timed.
    #[inline]
    fn is_sampled(&self) -> bool {
        let chains = self.chains.get().wrapping_add(1);
        self.chains.set(chains);
        chains & self.sampling.mask.get() == self.sampling.place.get()
    }

    /// Runs a middleware's step, or what is `left` of it, and times it.
    #[cold]
    fn timed_step(&self, link: &ChainLink, exchange: &mut Exchange<'_>, left: Option<Continuation>) -> Step {
        if let Some(run) = &self.rehearsal {
            return run.step(link, exchange, left);
        }
        let is_resumed = left.is_some();
        let start = MonoTime::now();
        let step = left.unwrap_or(Continuation::Again).go_on(link.middleware.as_ref(), exchange);
        let ns = MonoTime::now().ns_since(start);
        let name = link.about.name;
        if let Some(totals) = self.shared.observer.totals(self.index) {
            totals.middleware_samples.add(name);
            totals.middleware_ns.add_many(name, ns);
        }
        if let Some(cells) = exchange.arrival.counting_core.and_then(|core| exchange.api.meter.core(core)) {
            cells.timed(name, ns);
        }
        if let Some(probe) = &*self.probed.borrow() {
            probe.note_step(name, &exchange.api.id, ns, &step, is_resumed);
        }
        step
    }

    /// How many body bytes are captured for a record.
    fn captured_bytes(&self, record: &RequestRecord) -> usize {
        let recording = self.shared.observer.recording.as_ref().filter(|_| record.is_detailed());
        recording.map_or(0, |recording| recording.body_bytes_max)
    }

    /// The next number of a pseudo-random sequence (a 128-bit multiplicative generator); for ids, not for secrets.
    #[inline]
    fn next_id(&self) -> RequestId {
        let state = self.random.get().wrapping_mul(0xda94_2042_e4dd_58b5_a3c5_9ac7_6f6b_4c65 | 1).rotate_left(61);
        self.random.set(state | 1);
        RequestId(state ^ state >> 64)
    }
}

/// Which chains a core times. Both parts are variables so that a probe can have its own timed without a test in all others.
struct TraceSampling {
    mask: Cell<u32>,
    place: Cell<u32>,
}

impl TraceSampling {
    /// One in [`SAMPLED`] chains, or none.
    fn new(is_on: bool) -> Self {
        let sampling = TraceSampling { mask: Cell::new(0), place: Cell::new(0) };
        sampling.reset(is_on);
        sampling
    }

    fn reset(&self, is_on: bool) {
        self.mask.set(if is_on { SAMPLED - 1 } else { 0 });
        self.place.set(1);
    }

    /// From now on all chains.
    fn take_all(&self) {
        self.mask.set(0);
        self.place.set(0);
    }
}

/// The engine's handle of the service.
pub struct CoreHandle(pub Rc<CoreService>);

impl Service for CoreHandle {
    fn handler(&self, client: &ClientInfo) -> Box<dyn Handler> {
        let mut handler = GatewayHandler::new(self.0.clone(), client);
        if client.ticket != 0 {
            handler.called = self.0.called.borrow_mut().remove(&client.ticket);
            if let Some(probe) = self.0.probes.borrow_mut().remove(&client.ticket) {
                return Box::new(ProbedHandler::new(handler, probe));
            }
        }
        Box::new(handler)
    }

    fn stream(&self, client: &ClientInfo) -> Option<Box<dyn StreamHandler>> {
        self.0.stream_handler(client)
    }

    fn start(&self, own_requests: Rc<dyn OwnRequests>) {
        let requests = self.0.shared.probes.of_core(self.0.index);
        tokio::task::spawn_local(probed::serve(self.0.clone(), own_requests.clone(), requests));
        let calls = self.0.shared.registry.api_calls.get().and_then(|calls| calls.of_core(self.0.index));
        tokio::task::spawn_local(called::serve(self.0.clone(), own_requests.clone(), calls));
        // A core starts once.
        let _ = self.0.own_requests.set(own_requests);
    }

    fn tick(&self) {
        self.0.time_of_day.read();
        // What is no longer served is let go, also by a core without requests.
        self.0.snapshot();
        self.0.write_complete(false);
        self.0.recorder.iter().for_each(Recorder::tick);
        self.0.tap.tick();
    }
}

/// Handles the requests of one connection.
struct GatewayHandler {
    core: Rc<CoreService>,
    peer: SocketAddr,
    /// The peer's address as text for the access log, if there is one.
    peer_text: Box<str>,
    http2: bool,
    /// The API port that the client connected to; 0 for the gateway's own.
    listener: u32,
    /// Its number, if it is not the gateway's own.
    listener_port: Option<u16>,
    tls: Option<Rc<CallerTls>>,
    client_tls: Option<Rc<ClientTls>>,
    /// Whether the gateway itself sends the requests.
    is_own: bool,
    /// What a request of the gateway's own is for.
    called: Option<CalledApi>,
    /// Position of the current request in its trace, if requests are traced.
    trace: Option<RequestTrace>,
    /// Record of the current request.
    record: Option<Box<RequestRecord>>,
    /// Id of the current request.
    request_id: Option<Box<str>>,
    /// What the chains add to the current request.
    state: RequestState,
    /// What is left of the current request, if it is held.
    held: Option<Box<HeldRequest>>,
    /// Last API and version that the current request reached.
    place: VersionPlace,
    /// Middlewares of the current request and their times, if they are traced.
    steps: Vec<StepTime>,
    /// The exchange that was forwarded to an upstream; `None` for one with the control plane.
    in_flight: Option<InFlight>,
    /// Why the last refused request was refused.
    cause: Option<&'static str>,
}

impl GatewayHandler {
    fn new(core: Rc<CoreService>, client: &ClientInfo) -> Self {
        let peer = SocketAddr::new(client.address.ip().to_canonical(), client.address.port());
        let is_logged = core.shared.observer.recording.as_ref().is_some_and(|recording| recording.access_log);
        let listener_port = if client.listener == 0 { None } else { core.snapshot().port_number(client.listener) };
        GatewayHandler {
            core,
            listener_port,
            peer,
            peer_text: if is_logged { peer.to_string().into() } else { Box::default() },
            http2: client.http2,
            listener: client.listener,
            client_tls: client.tls.clone(),
            is_own: client.is_own,
            called: None,
            record: None,
            request_id: None,
            tls: client.tls.as_deref().map(|tls| Rc::new(CallerTls::new(tls))),
            trace: None,
            state: RequestState::default(),
            held: None,
            place: VersionPlace::default(),
            steps: Vec::new(),
            in_flight: None,
            cause: None,
        }
    }
}

impl Handler for GatewayHandler {
    fn on_request(&mut self, request: &Request<'_>, now: MonoTime, outgoing: &mut Outgoing) -> Verdict {
        let core = self.core.clone();
        let tls = self.tls.clone();
        let settings = &core.shared.settings;
        let totals = core.shared.observer.totals(core.index);
        // Whoever has made a call of the gateway's own knows its client.
        let client_ip = if self.called.is_some() { self.peer.ip() } else { settings.client_ip(self.peer.ip(), request) };
        if let Some(rates) = &core.shared.address_rates
            && !settings.is_proxy(client_ip, self.peer.ip())
            && let Err(wait) = rates.admit(client_network(client_ip), now.since(core.shared.start))
        {
            totals.iter().for_each(|totals| totals.too_many.add(1));
            let xml = xml_type(HeadView::new(&request.headers));
            let audience = ErrorAudience::new(xml.as_deref(), None);
            reply::refuse(outgoing, settings, &refusal::ADDRESS_RATE_LIMIT, audience);
            let seconds = wait.as_millis().div_ceil(1000).max(1);
            outgoing.edits.add("Retry-After", seconds.to_string().as_bytes());
            return Verdict::Reply;
        }
        if matches!(request.method, "OPTIONS" | "TRACE") && ends_here(request, outgoing) {
            return Verdict::Reply;
        }
        let is_for_control = self.listener == 0 && settings.is_control_path(request.path());
        if self.called.is_none() && (is_for_control || settings.is_challenge_path(request.path())) {
            totals.iter().for_each(|totals| totals.control.add(1));
            return self.forward_to_control(request, client_ip, outgoing);
        }
        let path =
            if request.path_is_plain() { Some(Path::plain(request.path())) } else { Path::new(Cow::Borrowed(request.path())) };
        let Some(path) = path else {
            totals.iter().for_each(|totals| totals.bad_path.add(1));
            reply::plain(outgoing, settings, 400, "Bad Request");
            return Verdict::Reply;
        };
        if !settings.routing.skip_url_cleaning
            && !request.path_is_plain()
            && let Some(cleaned) = path::clean(&path.decoded)
        {
            totals.iter().for_each(|totals| totals.redirected.add(1));
            reply::redirect(outgoing, &path::encode(&cleaned), request.query());
            return Verdict::Reply;
        }
        let snapshot = core.snapshot();
        let found = match &self.called {
            None => {
                let routed = RoutedRequest::new(request.method, HeadView::new(&request.headers), request.query());
                // A handshake without a name belongs to the listener for all hosts.
                let server_name = self.client_tls.as_ref().map(|tls| tls.server_name.as_deref().unwrap_or_default());
                snapshot.find(self.listener, (request.authority, server_name), &path.decoded, &routed)
            }
            Some(called) => snapshot.called(&called.name, &path.decoded).ok_or(Unrouted::Nowhere),
        };
        let found = match found {
            Ok(found) => found,
            Err(Unrouted::Misdirected) => {
                totals.iter().for_each(|totals| totals.not_found.add(1));
                reply::plain(outgoing, settings, 421, "Misdirected Request");
                return Verdict::Reply;
            }
            Err(Unrouted::Nowhere) => {
                totals.iter().for_each(|totals| totals.not_found.add(1));
                if core.tap.is_sampled() {
                    let record = record_builder::build_unrouted(&core, request, client_ip, 404);
                    core.tap.take_unrouted(&record, core.time_of_day.unix_ns(now));
                    core.tap.put_back(record);
                }
                if settings.watch.logs_not_found {
                    tracing::warn!(target: EVERY, client = %self.peer, method = request.method, host = %String::from_utf8_lossy(request.authority), path = request.path(), "no API matches this request");
                }
                reply::plain(outgoing, settings, 404, "Not Found");
                // Connections to a port that no API has any more end.
                outgoing.close |= self.listener != 0 && snapshot.port(self.listener).is_none();
                return Verdict::Reply;
            }
        };
        let url = Url { path, listen_bytes: found.listen_bytes, query: request.query().map(Cow::Borrowed) };
        if let Some(tracer) = &settings.watch.tracer
            && self.trace.is_none()
        {
            self.trace = Some(tracer.place(&request.headers, core.next_id().0, core.next_id().0));
        }
        let full_path = url.path.decoded.clone();
        let context = RequestContext {
            core: &core,
            request,
            arrival: Arrival { full_path: &full_path, ..self.arrival(&core, tls.as_deref(), client_ip, now, now, core.next_id()) },
        };
        if settings.answers.request_id {
            self.request_id = Some(record_builder::request_id(&context));
        }
        let result = self.walk(&context, &snapshot, found, url, outgoing);
        self.end_chains(&context, &snapshot, result, outgoing)
    }

    fn on_resume(
        &mut self,
        request: &Request<'_>,
        body: Option<Result<Vec<u8>, NotKept>>,
        now: MonoTime,
        outgoing: &mut Outgoing,
    ) -> Verdict {
        let Some(held) = self.held.take() else { return self.on_request(request, now, outgoing) };
        let HeldRequest { snapshot, began, request_id, client_ip, full_path, outgoing: written, at } = *held;
        *outgoing = written;
        if let Some(body) = body {
            self.state.body.sent = Some(body.map(Arc::new));
        }
        let (core, tls) = (self.core.clone(), self.tls.clone());
        let context = RequestContext {
            core: &core,
            request,
            arrival: Arrival { full_path: &full_path, ..self.arrival(&core, tls.as_deref(), client_ip, began, now, request_id) },
        };
        let result = match at {
            HeldAt::Chain(held) => self.resume_chain(&context, &snapshot, *held, outgoing),
            HeldAt::BatchBody(url) => self.batch(&context, &snapshot, url, outgoing),
            HeldAt::BatchParsed(url, parsed) => match parsed.take().flatten() {
                Some(parsed) => self.send_batch(&context, &snapshot, url, parsed, outgoing),
                None => Err(refusal::BODY_WORK_BUSY),
            },
            HeldAt::Batch(running) => running.answer(outgoing).map(|()| Verdict::Reply),
        };
        self.end_chains(&context, &snapshot, result, outgoing)
    }

    fn target(&self) -> Option<Arc<Target>> {
        match &self.in_flight {
            Some(in_flight) if !matches!(in_flight.chosen, Chosen::Control) => {
                in_flight.upstream().map(|upstream| upstream.target.clone())
            }
            _ => Some(self.core.shared.control.clone()),
        }
    }

    fn on_try_ended(&mut self, ended: &TryEnd<'_>, retarget: &mut Retarget) -> Option<Resend> {
        self.next_try(ended, retarget)
    }

    fn gives_up(&mut self, waited: Duration) -> bool {
        self.gives_up_target(waited)
    }

    fn on_hedge(&mut self, retarget: &mut Retarget) -> Option<Arc<Target>> {
        self.hedge(retarget)
    }

    fn on_hedge_ended(&mut self, end: HedgeEnd) {
        self.end_hedge(end);
    }

    fn on_response(&mut self, response: &Response<'_>, outgoing: &mut Outgoing) -> ResponseVerdict {
        if self.is_late() && response.status != 101 {
            return self.answer_late(outgoing);
        }
        self.note_response(response.status);
        if let Some(in_flight) = &mut self.in_flight {
            in_flight.status = response.status;
            in_flight.upstream_status = response.status;
            in_flight.record(&self.core.shared, response.status >= 500);
        }
        if self.state.response.chain.is_empty() || response.status == 101 {
            let verdict = self.end_response(ResponseVerdict::Pass, response, outgoing);
            self.compress(verdict, response, outgoing);
            return verdict;
        }
        let verdict = self.state.response.chain.on_head(response, outgoing);
        self.end_chained(verdict, response, outgoing)
    }

    fn on_response_body(&mut self, response: &Response<'_>, body: KeptBody<'_>, outgoing: &mut Outgoing) -> ResponseVerdict {
        let verdict = self.state.response.chain.on_body(response, body, outgoing);
        self.end_chained(verdict, response, outgoing)
    }

    fn on_response_bytes(&mut self, bytes: &[u8], is_end: bool) {
        self.state.response.chain.on_bytes(bytes, is_end);
    }

    fn passes_request_trailer(&self, name: &str) -> bool {
        let is_used = self.core.shared.settings.uses_header(name);
        // The control plane does not read trailers.
        !is_used && self.in_flight.as_ref().is_some_and(|in_flight| !in_flight.uses_header(name))
    }

    fn passes_response_trailer(&self, name: &str) -> bool {
        let settings = &self.core.shared.settings;
        let is_own = (settings.answers.request_id && is_same_name(name, "X-Request-Id"))
            || (settings.answers.server_timing && is_same_name(name, "Server-Timing"));
        let of_version = self.in_flight.as_ref().and_then(InFlight::version).map_or(&[][..], |version| &version.response_changes);
        let wanted = &self.state.response;
        let by_status = wanted.all_status_changes().map(|change| &change.change);
        let is_digest = || BODY_DIGESTS.iter().any(|digest| is_same_name(digest, name));
        if wanted.compression.as_ref().is_some_and(|compression| compression.is_applied) && is_digest() {
            return false;
        }
        !is_own && !of_version.iter().chain(wanted.all_changes()).chain(by_status).any(|change| is_same_name(change.name(), name))
    }

    fn on_fault(&mut self, fault: &Fault, outgoing: &mut Outgoing) {
        self.note_try_fault(fault.kind);
        if self.state.response.chain.is_empty() || !self.state.response.chain.on_fault(fault.kind, outgoing) {
            self.answer_fault(fault, outgoing);
        } else if outgoing.sourced.is_some() {
            self.note_fault(fault);
            self.finish_in_flight(ResponseMaker::Store, (outgoing.status, None), &mut outgoing.edits);
        } else {
            self.label_in_flight(&mut outgoing.edits);
        }
        if let Some(in_flight) = &mut self.in_flight {
            in_flight.fail(fault.kind, outgoing.status);
            self.note_failure(fault, outgoing);
        }
        self.compress_reply(outgoing);
    }

    fn on_end(&mut self, ended: Ended) {
        if let Some(in_flight) = self.in_flight.take() {
            self.count_end(&in_flight, ended);
        }
        self.request_id = None;
        self.trace = None;
        self.state.clear();
        self.held = None;
        self.steps.clear();
    }
}

/// Answers `OPTIONS *` and requests whose `Max-Forwards` is 0, which proxies must answer themselves; true if it did. Otherwise decrements
/// `Max-Forwards` (RFC 9110 §7.6.2).
#[cold]
fn ends_here(request: &Request<'_>, outgoing: &mut Outgoing) -> bool {
    let written = request.headers.get("max-forwards").and_then(|value| std::str::from_utf8(value).ok());
    let left: Option<u64> =
        written.filter(|value| value.bytes().all(|byte| byte.is_ascii_digit())).and_then(|value| value.parse().ok());
    if request.target != "*" && left != Some(0) {
        if let Some(left) = left {
            outgoing.edits.set(&request.headers, "Max-Forwards", (left - 1).to_string().as_bytes());
        }
        return false;
    }
    match request.method {
        "OPTIONS" => outgoing.status = 200,
        // Does not echo the request, as TRACE would.
        _ => {
            outgoing.status = 405;
            outgoing.edits.add_lines(b"Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n");
        }
    }
    true
}

impl GatewayHandler {
    /// What is known of a request on arrival, except for its path.
    #[inline]
    fn arrival<'a>(
        &self,
        core: &'a CoreService,
        tls: Option<&'a CallerTls>,
        client_ip: IpAddr,
        began: MonoTime,
        now: MonoTime,
        request_id: RequestId,
    ) -> Arrival<'a> {
        Arrival {
            settings: &core.shared.settings,
            keys: &core.shared.keys,
            body_threads: &core.shared.registry.body_threads,
            client_ip,
            peer: self.peer,
            listener_port: self.listener_port,
            loops: self.called.as_ref().map_or(0, |called| called.origin.loops),
            http2: self.http2,
            tls,
            trace: self.trace,
            request_id,
            full_path: "",
            began,
            now: now.since(core.shared.start),
            unix_s: core.time_of_day.unix_s(now),
            core: core.index,
            counting_core: core.shared.observer.metrics.then_some(core.index),
        }
    }

    /// Does what the chains have decided.
    fn end_chains(
        &mut self,
        context: &RequestContext<'_>,
        snapshot: &Rc<CoreSnapshot>,
        result: Result<Verdict, Refusal>,
        outgoing: &mut Outgoing,
    ) -> Verdict {
        let began = context.arrival.began;
        match result {
            Ok(Verdict::Reply) => {
                let version = snapshot.apis.get(self.place.api).and_then(|api| self.place.version(api));
                let maker = if self.state.decisions.is_stored { ResponseMaker::Store } else { ResponseMaker::Middleware };
                self.finish(maker, version, began, (outgoing.status, None), &mut outgoing.edits);
                self.count_reply(context, snapshot, outgoing, None);
                self.compress_reply(outgoing);
                Verdict::Reply
            }
            Ok(Verdict::Hold(until)) => Verdict::Hold(until),
            Ok(verdict) => {
                self.count_begin();
                self.label_request(context, outgoing);
                verdict
            }
            Err(refusal) => {
                self.cause = Some(refusal.cause);
                let path = context.request.path();
                tracing::debug!(cause = refusal.cause, path, trace_id = self.trace_id(), "request refused");
                let settings = &context.core.shared.settings;
                let rules = snapshot.apis.get(self.place.api).and_then(|api| api.error_overrides.as_deref());
                let xml = xml_type(HeadView::new(&context.request.headers));
                let audience = ErrorAudience::new(xml.as_deref(), self.state.decisions.call.as_deref());
                let rule = reply::refuse_by_rules(outgoing, settings, rules, (&refusal, None), audience);
                self.finish(ResponseMaker::Refusal, None, began, (outgoing.status, None), &mut outgoing.edits);
                rule.iter().for_each(|rule| reply::set_headers(outgoing, rule));
                self.count_reply(context, snapshot, outgoing, Some(refusal.cause));
                self.compress_reply(outgoing);
                Verdict::Reply
            }
        }
    }

    /// Finishes a response after its steps.
    #[inline]
    fn end_response(&mut self, verdict: ResponseVerdict, response: &Response<'_>, outgoing: &mut Outgoing) -> ResponseVerdict {
        match verdict {
            ResponseVerdict::Keep(_) | ResponseVerdict::Await | ResponseVerdict::Again => return verdict,
            ResponseVerdict::Reply | ResponseVerdict::Detach => {
                if outgoing.sourced.as_ref().is_some_and(|sourced| sourced.is_event_stream) {
                    self.note_response_dimensions(|name| response.headers.get(name));
                }
                self.end_replaced(outgoing);
                return verdict;
            }
            ResponseVerdict::Rewrite | ResponseVerdict::Watch => self.note_status(outgoing.status),
            ResponseVerdict::Pass => {}
        }
        self.note_response_dimensions(|name| response.headers.get(name));
        let status = if outgoing.status == 0 { response.status } else { outgoing.status };
        self.finish_in_flight(ResponseMaker::Upstream, (status, Some(&response.headers)), &mut outgoing.edits);
        verdict
    }

    /// The same for a response that went through the response chain.
    fn end_chained(&mut self, verdict: ResponseVerdict, response: &Response<'_>, outgoing: &mut Outgoing) -> ResponseVerdict {
        let verdict = self.end_response(verdict, response, outgoing);
        if matches!(verdict, ResponseVerdict::Pass | ResponseVerdict::Watch | ResponseVerdict::Rewrite) {
            self.state.response.chain.set_last_headers(&response.headers, &mut outgoing.edits);
        }
        self.compress(verdict, response, outgoing);
        verdict
    }

    /// Adds the last lines to the response of the exchange that was forwarded.
    #[inline(always)]
    fn finish_in_flight(&self, maker: ResponseMaker, response: (u16, Option<&Headers<'_>>), edits: &mut HeaderEdits) {
        if let Some(in_flight) = &self.in_flight {
            self.finish(maker, in_flight.version(), in_flight.began, response, edits);
        }
    }

    /// Replaces the response by a step's reply or refusal.
    #[cold]
    fn end_replaced(&mut self, outgoing: &mut Outgoing) {
        if outgoing.sourced.is_some() {
            self.finish_in_flight(ResponseMaker::Store, (outgoing.status, None), &mut outgoing.edits);
        } else if let Some(refusal) = self.state.response.chain.take_refusal() {
            tracing::debug!(cause = refusal.cause, trace_id = self.trace_id(), "response refused");
            self.refuse_in_flight(ResponseMaker::StepRefusal, (&refusal, None), outgoing);
            if let Some(in_flight) = &mut self.in_flight {
                in_flight.refused = Some(Box::new(refusal));
            }
        } else {
            self.finish_in_flight(ResponseMaker::Step, (outgoing.status, None), &mut outgoing.edits);
        }
        self.note_status(outgoing.status);
    }

    /// Answers with a refusal in the place of an upstream's response.
    fn refuse_in_flight(&self, maker: ResponseMaker, refused: (&Refusal, Option<&Fault>), outgoing: &mut Outgoing) {
        let in_flight = self.in_flight.as_ref();
        let xml = in_flight.and_then(|in_flight| in_flight.xml_type.as_deref());
        let audience = ErrorAudience::new(xml, self.state.decisions.call.as_deref());
        let rules = in_flight.and_then(InFlight::error_overrides);
        let rule = reply::refuse_by_rules(outgoing, &self.core.shared.settings, rules, refused, audience);
        self.finish_in_flight(maker, (outgoing.status, None), &mut outgoing.edits);
        rule.iter().for_each(|rule| reply::set_headers(outgoing, rule));
    }

    /// Notes the status that the client receives, if it differs from the upstream's.
    fn note_status(&mut self, status: u16) {
        if let Some(in_flight) = self.in_flight.as_mut().filter(|_| status != 0) {
            in_flight.status = status;
        }
    }

    fn answer_fault(&self, fault: &Fault, outgoing: &mut Outgoing) {
        let settings = &self.core.shared.settings;
        let (status, text) = match fault.kind {
            FaultKind::BodyTooLarge => (413, "Request Entity Too Large"),
            FaultKind::ClientTimeout => (408, "Request Timeout"),
            FaultKind::BodyMalformed(_) => (400, "Bad Request"),
            FaultKind::TooManyTunnels => (503, "Too Many Connections"),
            // The client is gone.
            FaultKind::ClientGone => return,
            kind => {
                let gone = self.refusal_without_targets(kind);
                let refusal = gone.or_else(|| refusal::of_upstream(kind)).unwrap_or(refusal::UPSTREAM_FAILED);
                self.note_fault(fault);
                return self.refuse_in_flight(ResponseMaker::Fault, (&refusal, Some(fault)), outgoing);
            }
        };
        reply::plain(outgoing, settings, status, text);
        self.label_in_flight(&mut outgoing.edits);
    }

    /// Adds id and times to a reply that gets nothing else.
    fn label_in_flight(&self, edits: &mut HeaderEdits) {
        if let Some(in_flight) = &self.in_flight {
            self.label(in_flight.began, None, edits);
        }
    }

    /// Reports a failed exchange to the breaker and the log.
    fn note_fault(&self, fault: &Fault) {
        if let Some(in_flight) = &self.in_flight {
            in_flight.record(&self.core.shared, true);
        }
        let api = self.in_flight.as_ref().and_then(InFlight::api).map_or("", |api| api.id.as_str());
        let cause = refusal::of_upstream(fault.kind).map_or("", |refusal| refusal.cause);
        tracing::warn!(api, %fault, cause, trace_id = self.trace_id(), "request failed");
    }

    /// Trace id of the current request, for the log.
    fn trace_id(&self) -> Option<DisplayValue<TraceId>> {
        self.trace.map(|trace| tracing::field::display(trace.id))
    }

    /// Forwards a request to the control plane.
    fn forward_to_control(&mut self, request: &Request<'_>, client: IpAddr, outgoing: &mut Outgoing) -> Verdict {
        let shared = &self.core.shared;
        if let Some(callers) = shared.control_callers.as_ref().filter(|_| request.path().starts_with("/tyk"))
            && let Err(refusal) = callers.check(self.tls.as_deref(), tollgate_clock::unix_s()).map_err(Refusal::from)
        {
            reply::refuse(outgoing, &shared.settings, &refusal, ErrorAudience::Any);
            return Verdict::Reply;
        }
        outgoing.target.extend_from_slice(request.target.as_bytes());
        let is_configuration = request.path().starts_with(CONFIGURATION_PATH);
        self.pass_to_control(request, client, is_configuration, outgoing)
    }

    /// Forwards a request to the developer portal, which the control plane has below a path that no client reaches.
    fn forward_to_portal(&mut self, request: &Request<'_>, client: IpAddr, outgoing: &mut Outgoing) -> Verdict {
        self.core.shared.observer.totals(self.core.index).iter().for_each(|totals| totals.control.add(1));
        outgoing.target.extend_from_slice(PORTAL_PATH.as_bytes());
        outgoing.target.extend_from_slice(request.path().as_bytes());
        if let Some(query) = request.query() {
            outgoing.target.extend_from_slice(b"?");
            outgoing.target.extend_from_slice(query.as_bytes());
        }
        self.pass_to_control(request, client, false, outgoing)
    }

    /// Forwards a request whose target is written already.
    fn pass_to_control(
        &mut self,
        request: &Request<'_>,
        client: IpAddr,
        is_configuration: bool,
        outgoing: &mut Outgoing,
    ) -> Verdict {
        let shared = &self.core.shared;
        let caller = ControlCaller::behind_proxies(
            &shared.settings.callers.client_address,
            self.peer.ip(),
            client,
            self.tls.is_some(),
            &|name| request.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name)).last().map(|(_, value)| value),
        );
        outgoing.edits.set(&request.headers, ControlCaller::HEADER, caller.to_string().as_bytes());
        outgoing.host.extend_from_slice(if request.authority.is_empty() { b"localhost" } else { request.authority });
        let bytes_max = if is_configuration { CONFIGURATION_BYTES_MAX } else { CONTROL_BODY_BYTES_MAX };
        Verdict::Forward(Forward {
            target_serial: self.core.shared.control.serial,
            first_byte_ms: is_configuration.then_some(CONFIGURATION_MS_MAX),
            body_bytes_max: Some(bytes_max),
            upgrade: false,
            timed: false,
            capture_bytes_max: 0,
            is_conditional: false,
            resend: None,
            copies: Vec::new(),
        })
    }
}
