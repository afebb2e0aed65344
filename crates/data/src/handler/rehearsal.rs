//! Decides about requests without sending them anywhere: by the same code as for clients, with a snapshot, keys and counters of its own
//! (`GatewayState::rehearsal`). Time is that of the requests. Nothing is asked from other servers: where a decision needs that, or a body that is
//! not known, the verdict says so.

mod verdict;

pub use verdict::{RehearsedDecision, RehearsedVerdict};

use super::in_flight::VersionPlace;
use super::{CoreService, GatewayHandler};
use crate::api::Api;
use crate::exchange::{ChainLink, ChainPhase, Continuation, Exchange, Rehearsed, Step};
use crate::gateway_state::GatewayState;
use crate::refusal;
use crate::route::RoutedRequest;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{self, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;
use tollgate_access::keys::stand_in;
use tollgate_clock::MonoTime;
use tollgate_engine::{ClientInfo, Handler, HoldUntil, KeptBody, Outgoing, ResponseVerdict, Verdict, Work};
use tollgate_http::{HeaderStorage, Request, Response};
use verdict::VerdictParts;

/// Tries of a request that a limit holds: throttling retries a few dozen times.
const TRIES_MAX: u32 = 1_000;
/// Seed of the numbers that a request gets, so that two rehearsals of it get the same.
const SEED: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

/// A request that was recorded.
pub struct RecordedRequest<'r> {
    /// Its head, for HTTP/1.1.
    pub head: &'r [u8],
    pub unix_ms: u64,
    pub client_ip: IpAddr,
    /// Who was recognised, if that was recorded.
    pub caller: Option<&'r RecordedCaller>,
    /// `None` if it is not known.
    pub body: Option<&'r [u8]>,
    /// What its client got of the upstream; `None` if it is not known.
    pub response: Option<&'r RecordedResponse>,
}

/// A response as its client got it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedResponse {
    /// Its head, for HTTP/1.1, with the length of the body.
    pub head: Vec<u8>,
    pub body: Vec<u8>,
}

/// The key that the gateway found for a recorded request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCaller {
    /// Listed form of the key.
    pub shown: String,
    /// How the API that found it identifies callers: see [`auth_digest`]. An API that does it in the same way finds the same key.
    pub auth: u64,
}

/// A configuration that requests are tried with. Belongs to one thread.
pub struct Rehearsal {
    core: Rc<CoreService>,
    run: Rc<RehearsalRun>,
    storage: RefCell<HeaderStorage>,
    /// A monotonic time and its Unix time in milliseconds: those of the first request.
    base: Cell<Option<(MonoTime, u64)>>,
    latest: Cell<MonoTime>,
}

/// What the chain of the current request has come to.
#[derive(Default)]
pub(super) struct RehearsalRun {
    caller: RefCell<Option<RecordedCaller>>,
    has_body: Cell<bool>,
    response: RefCell<Option<RecordedResponse>>,
    parts: RefCell<VerdictParts>,
    auth_digests: RefCell<HashMap<usize, u64>>,
}

impl Rehearsal {
    /// `state` is made by [`GatewayState::rehearsal`].
    pub fn new(state: Arc<GatewayState>) -> Self {
        let run = Rc::new(RehearsalRun::default());
        let mut core = CoreService::new(state, 0);
        core.rehearsal = Some(run.clone());
        core.sampling.take_all();
        Rehearsal {
            core: Rc::new(core),
            run,
            storage: RefCell::default(),
            base: Cell::new(None),
            latest: Cell::new(MonoTime::now()),
        }
    }

    /// The API that a GET request without headers reaches by its host and path, before its version or a loop leads elsewhere.
    pub fn api_at(&self, authority: &str, path: &str) -> Option<Arc<crate::snapshot::CompiledApi>> {
        let path = tollgate_http::path::Path::new(path.into())?;
        let snapshot = self.core.snapshot();
        let authority = authority.as_bytes();
        let found = snapshot.find(self.port_of(authority), (authority, None), &path.decoded, &RoutedRequest::bare("GET")).ok()?;
        snapshot.apis.get(found.api).cloned()
    }

    /// The API with an id.
    pub fn api(&self, id: &str) -> Option<Arc<crate::snapshot::CompiledApi>> {
        self.core.snapshot().api(id).cloned()
    }

    /// What would become of the request; `None` if it is no request.
    pub fn decide(&self, recorded: &RecordedRequest<'_>) -> Option<RehearsedVerdict> {
        let mut storage = self.storage.borrow_mut();
        let request = Request::parse(recorded.head, &mut storage).ok()??;
        let client = ClientInfo {
            address: SocketAddr::new(recorded.client_ip, 0),
            listener: self.port_of(request.authority),
            tls: None,
            http2: false,
            is_own: false,
            ticket: 0,
        };
        let mut handler = GatewayHandler::new(self.core.clone(), &client);
        handler.place = VersionPlace { api: usize::MAX, version: 0 };
        handler.state.body.sent = recorded.body.map(|body| Ok(Arc::new(body.to_vec())));
        self.run.caller.replace(recorded.caller.cloned());
        self.run.has_body.set(recorded.body.is_some());
        self.run.response.replace(recorded.response.cloned());
        self.core.random.set(SEED);
        let mut now = self.time_of(recorded.unix_ms);
        self.run.parts.take();
        let mut outgoing = Outgoing::default();
        let mut verdict = handler.on_request(&request, now, &mut outgoing);
        for _ in 0..TRIES_MAX {
            let Verdict::Hold(HoldUntil::Time(time)) = verdict else {
                return Some(self.run.parts.take().verdict(&verdict, &handler, &request, &outgoing));
            };
            now = now + time;
            verdict = handler.on_resume(&request, None, now, &mut outgoing);
        }
        Some(RehearsedVerdict::undecided("KeyLimits"))
    }

    /// The port of an API, if the host names it.
    fn port_of(&self, authority: &[u8]) -> u32 {
        let digits = authority.rsplit(|byte| *byte == b':').next().and_then(|digits| std::str::from_utf8(digits).ok());
        let number = digits.and_then(|digits| digits.parse().ok()).unwrap_or_default();
        if number != 0 && self.core.snapshot().port(number).is_some() { number } else { 0 }
    }

    /// The monotonic time of a request. Records may be a little out of order; time never goes back.
    fn time_of(&self, unix_ms: u64) -> MonoTime {
        let (moment, first_ms) = self.base.get().unwrap_or_else(|| {
            let base = (self.latest.get(), unix_ms);
            self.core.time_of_day.set(base.0, unix_ms.saturating_mul(1_000_000));
            self.base.set(Some(base));
            base
        });
        let now = moment + Duration::from_millis(unix_ms.saturating_sub(first_ms));
        if now > self.latest.get() {
            self.latest.set(now);
        }
        self.latest.get()
    }
}

impl RehearsalRun {
    /// Runs a middleware, or what is `left` of its step, as far as it decides by what is here.
    pub(super) fn step(&self, link: &ChainLink, exchange: &mut Exchange<'_>, left: Option<Continuation>) -> Step {
        let (about, middleware) = (link.about, link.middleware.as_ref());
        let identifies = about.rehearsed == Rehearsed::Recorded || link.phase == ChainPhase::Auth;
        if identifies && let Some(step) = self.recorded_caller(link.phase, exchange) {
            return step;
        }
        match about.rehearsed {
            Rehearsed::Runs | Rehearsed::RunsOn | Rehearsed::Waits | Rehearsed::Recorded => {}
            // A recorded caller has no token whose scopes are known.
            Rehearsed::NeedsScopes if exchange.caller.granted_scopes.is_some() => {}
            Rehearsed::NeedsScopes | Rehearsed::Asks => {
                self.parts.borrow_mut().undecided = Some(about.name);
                return Step::Refuse(refusal::FORWARD_AUTH_FAILED);
            }
            Rehearsed::Passes => return Step::Next,
            Rehearsed::Judges => return self.judge_response(link, exchange),
            Rehearsed::CacheKey => {
                self.parts.borrow_mut().cache_key = middleware.cache_key(exchange);
                return Step::Next;
            }
        }
        let mut step = left.unwrap_or(Continuation::Again).go_on(middleware, exchange);
        if let (Step::Hold(hold), Rehearsed::RunsOn) = (&step, about.rehearsed)
            && matches!(hold.until, HoldUntil::Done(..))
            && let Step::Hold(hold) = step
        {
            step = hold.then.go_on(middleware, exchange);
        }
        if let (Step::Hold(hold), Rehearsed::Waits) = (&mut step, about.rehearsed)
            && let HoldUntil::Done(work, _) = &mut hold.until
        {
            wait_for(work);
            if let Step::Hold(hold) = step {
                step = hold.then.go_on(middleware, exchange);
            }
        }
        let mut parts = self.parts.borrow_mut();
        if let Some(facts) = exchange.notes.waf.take() {
            parts.waf_rules = facts.rules();
            exchange.notes.waf.set(Some(facts));
        }
        match &step {
            Step::Hold(hold) => match hold.until {
                HoldUntil::Body(_) if !self.has_body.get() => {
                    parts.unread.push(about.name);
                    return Step::Next;
                }
                HoldUntil::Done(..) => parts.undecided = Some(about.name),
                HoldUntil::Body(_) | HoldUntil::Time(_) => {}
            },
            Step::Refuse(refusal) | Step::RefuseUpstream(refusal) => parts.refused = Some((about.name, refusal.clone())),
            Step::Reply | Step::Revalidate(_) => parts.replied = about.name,
            Step::Respond(_) => {
                parts.replied = about.name;
                // Plugins for responses are not called.
                return Step::Reply;
            }
            Step::Next => {}
        }
        step
    }

    /// Has the recorded response judged by the step that a middleware adds.
    fn judge_response(&self, link: &ChainLink, exchange: &mut Exchange<'_>) -> Step {
        let (name, others) = (link.about.name, std::mem::take(&mut exchange.response.chain));
        let step = link.middleware.on_request(exchange);
        let mut chain = std::mem::replace(&mut exchange.response.chain, others);
        if chain.is_empty() {
            return step;
        }
        let (response, mut storage) = (self.response.borrow(), HeaderStorage::new());
        let response = response.as_ref();
        let parsed = response.and_then(|response| Response::parse(&response.head, exchange.is_head(), &mut storage).ok()?);
        let mut parts = self.parts.borrow_mut();
        let (Some(response), Some(parsed)) = (response, parsed) else {
            parts.unread.push(name);
            return Step::Next;
        };
        let mut outgoing = Outgoing::default();
        let mut verdict = chain.on_whole(&parsed, &response.body, &mut outgoing);
        while let (ResponseVerdict::Await, Some((mut work, _))) = (verdict, outgoing.work.take()) {
            wait_for(&mut work);
            verdict = chain.on_body(&parsed, KeptBody::Whole(&response.body), &mut outgoing);
        }
        let found = exchange.notes.response_waf.as_ref().and_then(|place| place.take());
        parts.waf_response_rules = found.map(|facts| facts.rules()).unwrap_or_default();
        let Some(refusal) = chain.take_refusal() else { return Step::Next };
        parts.refused = Some((name, refusal.clone()));
        Step::Refuse(refusal)
    }

    /// Takes the recorded caller in place of an identification that would find the same one; `None` if the middleware must decide.
    fn recorded_caller(&self, phase: ChainPhase, exchange: &mut Exchange<'_>) -> Option<Step> {
        let caller = self.caller.borrow();
        let caller = caller.as_ref()?;
        if caller.auth != self.auth_digest(exchange.api) {
            return None;
        }
        if phase == ChainPhase::Auth && !exchange.decisions.ignored {
            let org = exchange.api.facts.org_id.as_str();
            exchange.caller.key = exchange.arrival.keys.find(&stand_in(&caller.shown), org);
            if exchange.caller.key.is_none() {
                self.parts.borrow_mut().undecided = Some("unknown key");
                return Some(Step::Refuse(refusal::KEY_DISALLOWED));
            }
        }
        Some(Step::Next)
    }

    fn auth_digest(&self, api: &Api) -> u64 {
        let place = std::ptr::from_ref(api).addr();
        *self.auth_digests.borrow_mut().entry(place).or_insert_with(|| auth_digest(&api.raw))
    }
}

/// Waits for work of other threads, which ends by itself.
fn wait_for(work: &mut Work) {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    while work.as_mut().poll(&mut task::Context::from_waker(&waker)).is_pending() {
        thread::park();
    }
}

/// Digest of everything in a definition that says how callers are identified.
pub fn auth_digest(definition: &Value) -> u64 {
    let mut hasher = blake3::Hasher::new();
    let members = definition.as_object().into_iter().flatten();
    let starts =
        ["use_", "auth", "jwt", "enable_jwt", "openid", "basic_auth", "hmac", "enable_signature", "oauth", "external_oauth"];
    let named =
        ["org_id", "base_identity_provided_by", "client_certificates", "scopes", "enable_coprocess_auth", "strip_auth_data"];
    for (name, value) in members {
        if starts.iter().any(|start| name.starts_with(start)) || named.contains(&name.as_str()) {
            hasher.update(format!("{name}\0{value}\0").as_bytes());
        }
    }
    for name in ["forward_auth", "auth_alternatives"] {
        let own = definition.get("tollgate").and_then(|own| own.get(name));
        hasher.update(own.map(Value::to_string).unwrap_or_default().as_bytes());
    }
    hasher.finalize().as_bytes().first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
}
