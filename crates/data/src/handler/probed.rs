//! Sends a request that an operator tries through this core, and notes each middleware's decision and time, what goes upstream and what comes
//! back. The request is handled like any other; a handler of its own watches, so that others pay nothing for it.

use super::in_flight::InFlight;
use super::observed::fault_cause;
use super::{CoreService, GatewayHandler};
use crate::exchange::Step;
use crate::probe::{ProbeDecision, ProbeReport, ProbeRequest, ProbeResponse, ProbeStep, ProbedUpstream, STEPS_MAX};
use crate::route::RoutedRequest;
use crate::upstream::Upstream;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tollgate_clock::MonoTime;
use tollgate_engine::{
    ClientInfo, Ended, Fault, Handler, HedgeEnd, KeptBody, NotKept, Outgoing, OwnFault, OwnRequests, OwnWatch, Resend,
    ResponseVerdict, Retarget, Target, TryEnd, Verdict,
};
use tollgate_http::path::Path;
use tollgate_http::{Body, HeadView, Request, RequestHead, Response, write_request};
use tollgate_statistics::LlmCall;

/// What is found out about one request.
#[derive(Default)]
pub(super) struct Probe {
    report: RefCell<ProbeReport>,
    /// Since when it is held.
    held: Cell<Option<MonoTime>>,
    sent: Cell<Option<MonoTime>>,
    /// What becomes of a request to a language model.
    llm: RefCell<Option<Arc<LlmCall>>>,
}

/// Sends the requests that operators try, each in a task of its own.
pub(super) async fn serve(
    core: Rc<CoreService>,
    own_requests: Rc<dyn OwnRequests>,
    requests: Option<mpsc::Receiver<ProbeRequest>>,
) {
    let Some(mut requests) = requests else { return };
    while let Some(request) = requests.recv().await {
        let ticket = core.next_ticket();
        tokio::task::spawn_local(run(core.clone(), own_requests.clone(), ticket, request));
    }
}

async fn run(core: Rc<CoreService>, own_requests: Rc<dyn OwnRequests>, ticket: u64, request: ProbeRequest) {
    let ProbeRequest { bytes, is_head, client_ip, body_bytes_max, time_max, mut answer, pieces } = request;
    let probe = Rc::new(Probe::default());
    core.probes.borrow_mut().insert(ticket, probe.clone());
    let client = ClientInfo { address: SocketAddr::new(client_ip, 0), listener: 0, tls: None, http2: false, is_own: true, ticket };
    let began = MonoTime::now();
    let watch: OwnWatch = match pieces {
        // Whoever reads them may be gone, which ends the request.
        Some(pieces) => Box::new(move |piece| drop(pieces.send(piece.to_vec()))),
        None => Box::new(|_| ()),
    };
    let exchange = tokio::time::timeout(time_max, own_requests.send_watched(client, bytes, is_head, body_bytes_max, watch));
    let ended = tokio::select! {
        ended = exchange => ended,
        // The request ends like that of a client who leaves.
        () = answer.closed() => return drop(core.probes.borrow_mut().remove(&ticket)),
    };
    core.probes.borrow_mut().remove(&ticket);
    let mut report = std::mem::take(&mut *probe.report.borrow_mut());
    report.took = began.elapsed();
    report.llm = probe.llm.borrow_mut().take().map(|call| call.stats());
    match ended {
        Ok(Ok(response)) => {
            report.response =
                Some(ProbeResponse { status: response.status, headers: response.headers.clone(), body: response.body.clone() });
        }
        Ok(Err(OwnFault::TooLarge)) => report.failure = Some(format!("the response has more than {body_bytes_max} bytes")),
        Ok(Err(fault)) => report.failure = Some(fault.to_string()),
        Err(_) => report.failure = Some(format!("there was no complete response within {} s", time_max.as_secs())),
    }
    // The operator may be gone.
    let _ = answer.send(report);
}

impl Probe {
    /// Notes a middleware's step. `is_resumed`: the same one has held the request before.
    #[cold]
    pub(super) fn note_step(&self, middleware: &'static str, api: &str, ns: u64, step: &Step, is_resumed: bool) {
        let (decision, cause, message) = match step {
            Step::Next => (ProbeDecision::Next, "", String::new()),
            Step::Refuse(refusal) | Step::RefuseUpstream(refusal) => {
                (ProbeDecision::Refuse, refusal.cause, refusal.message.text().to_owned())
            }
            Step::Reply | Step::Respond(_) | Step::Revalidate(_) => (ProbeDecision::Reply, "", String::new()),
            Step::Hold(_) => (ProbeDecision::Held, "", String::new()),
        };
        let held = self.held.take().filter(|_| is_resumed).map_or(Duration::ZERO, |since| since.elapsed());
        let mut report = self.report.borrow_mut();
        let report = &mut *report;
        let is_full = report.steps.len() >= STEPS_MAX;
        let is_same = |known: &&mut ProbeStep| is_resumed && known.middleware == middleware && known.api == api;
        match report.steps.last_mut().filter(is_same) {
            Some(known) => {
                known.ns += ns;
                known.held += held;
                (known.decision, known.cause, known.message) = (decision, cause, message);
            }
            None if is_full => report.steps_left_out += 1,
            None => {
                let api = api.to_owned();
                report.steps.push(ProbeStep { middleware, api, decision, ns, held, cause, message });
            }
        }
        if matches!(step, Step::Hold(_)) {
            self.held.set(Some(MonoTime::now()));
        }
    }

    fn upstream(&self, note: impl FnOnce(&mut ProbedUpstream)) {
        if let Some(upstream) = &mut self.report.borrow_mut().upstream {
            note(upstream);
        }
    }
}

/// Watches how another handler handles a request.
pub(super) struct ProbedHandler {
    inner: GatewayHandler,
    probe: Rc<Probe>,
}

impl ProbedHandler {
    pub(super) fn new(inner: GatewayHandler, probe: Rc<Probe>) -> Self {
        ProbedHandler { inner, probe }
    }

    /// Watches a decision.
    fn watch(
        &mut self,
        request: &Request<'_>,
        outgoing: &mut Outgoing,
        decide: impl FnOnce(&mut GatewayHandler, &mut Outgoing) -> Verdict,
    ) -> Verdict {
        let core = self.inner.core.clone();
        *core.probed.borrow_mut() = Some(self.probe.clone());
        core.sampling.take_all();
        let verdict = decide(&mut self.inner, outgoing);
        core.sampling.reset(core.shared.observer.metrics);
        *core.probed.borrow_mut() = None;
        self.note_api(request);
        let record = self.inner.record.as_ref();
        *self.probe.llm.borrow_mut() = record.and_then(|record| Some(record.llm_call.as_ref()?.call()));
        if matches!(verdict, Verdict::Forward(_)) {
            self.note_forward(request, outgoing);
        }
        verdict
    }

    /// Notes the API that the request reached: the last of a loop, else the one that its path belongs to.
    fn note_api(&self, request: &Request<'_>) {
        let of_in_flight = self.inner.in_flight.as_ref().and_then(InFlight::api).map(|api| (api.id.clone(), api.name.clone()));
        let by_path = || {
            let snapshot = self.inner.core.snapshot();
            let path = Path::new(Cow::Borrowed(request.path()))?;
            let routed = RoutedRequest::new(request.method, HeadView::new(&request.headers), request.query());
            let found = snapshot.find(0, (request.authority, None), &path.decoded, &routed).ok()?;
            snapshot.apis.get(found.api).map(|api| (api.id.clone(), api.name.clone()))
        };
        let of_steps = || {
            let id = self.probe.report.borrow().steps.last()?.api.clone();
            let name = self.inner.core.snapshot().api(&id).map(|api| api.name.clone()).unwrap_or_default();
            Some((id, name))
        };
        self.probe.report.borrow_mut().api = of_in_flight.or_else(of_steps).or_else(by_path);
    }

    /// Notes what goes upstream.
    fn note_forward(&self, request: &Request<'_>, outgoing: &Outgoing) {
        let client = self.inner.peer.ip().to_string();
        let head = RequestHead {
            method: outgoing.method.as_deref().unwrap_or(request.method.as_bytes()),
            target: &outgoing.target,
            host: &outgoing.host,
            forwarded_for: (!outgoing.keep_forwarded_for).then_some(client.as_bytes()),
            upgrade: false,
            replaces_body: outgoing.replaces_body,
        };
        let mut written = Vec::new();
        write_request(request, &head, &outgoing.edits, &mut written);
        let text = String::from_utf8_lossy(&written);
        let lines = text.lines().skip(1).filter_map(|line| line.split_once(": "));
        let is_own = |name: &str, value: &str| {
            request.headers.iter().any(|(own, sent)| own.eq_ignore_ascii_case(name) && sent == value.as_bytes())
        };
        let headers = lines.map(|(name, value)| (name.to_owned(), value.to_owned(), is_own(name, value))).collect();
        let body_bytes = match request.body {
            _ if outgoing.replaces_body => Some(outgoing.body.len() as u64),
            Body::None => Some(0),
            Body::Length(bytes) => Some(bytes),
            _ => None,
        };
        self.probe.sent.set(Some(MonoTime::now()));
        self.probe.report.borrow_mut().upstream = Some(ProbedUpstream {
            method: String::from_utf8_lossy(head.method).into_owned(),
            path: String::from_utf8_lossy(&outgoing.target).into_owned(),
            target: self.target_text(),
            headers,
            body_bytes,
            ..ProbedUpstream::default()
        });
    }

    fn target_text(&self) -> String {
        let written = |upstream: &Upstream| {
            let scheme = if upstream.target.tls.is_some() { "https" } else { "http" };
            format!("{scheme}://{}", upstream.host)
        };
        self.inner.in_flight.as_ref().and_then(InFlight::upstream).map(written).unwrap_or_default()
    }

    fn note_upstream_end(&self, status: u16, error: &'static str) {
        let took = self.probe.sent.get().map(MonoTime::elapsed).unwrap_or_default();
        let target = self.target_text();
        self.probe.upstream(|upstream| {
            (upstream.status, upstream.error, upstream.took) = (status, error, took);
            if !target.is_empty() {
                upstream.target = target;
            }
        });
    }
}

impl Handler for ProbedHandler {
    fn on_request(&mut self, request: &Request<'_>, now: MonoTime, outgoing: &mut Outgoing) -> Verdict {
        self.watch(request, outgoing, |handler, outgoing| handler.on_request(request, now, outgoing))
    }

    fn on_resume(
        &mut self,
        request: &Request<'_>,
        body: Option<Result<Vec<u8>, NotKept>>,
        now: MonoTime,
        outgoing: &mut Outgoing,
    ) -> Verdict {
        self.watch(request, outgoing, |handler, outgoing| handler.on_resume(request, body, now, outgoing))
    }

    fn target(&self) -> Option<Arc<Target>> {
        self.inner.target()
    }

    fn gives_up(&mut self, waited: Duration) -> bool {
        self.inner.gives_up(waited)
    }

    fn on_hedge(&mut self, retarget: &mut Retarget) -> Option<Arc<Target>> {
        self.inner.on_hedge(retarget)
    }

    fn on_hedge_ended(&mut self, end: HedgeEnd) {
        self.inner.on_hedge_ended(end);
    }

    fn on_try_ended(&mut self, ended: &TryEnd<'_>, retarget: &mut Retarget) -> Option<Resend> {
        let resend = self.inner.on_try_ended(ended, retarget);
        if resend.is_some() {
            self.probe.upstream(|upstream| upstream.retries += 1);
        }
        resend
    }

    fn on_response(&mut self, response: &Response<'_>, outgoing: &mut Outgoing) -> ResponseVerdict {
        self.note_upstream_end(response.status, "");
        self.inner.on_response(response, outgoing)
    }

    fn on_response_body(&mut self, response: &Response<'_>, body: KeptBody<'_>, outgoing: &mut Outgoing) -> ResponseVerdict {
        self.inner.on_response_body(response, body, outgoing)
    }

    fn on_response_bytes(&mut self, bytes: &[u8], is_end: bool) {
        self.inner.on_response_bytes(bytes, is_end);
    }

    fn passes_request_trailer(&self, name: &str) -> bool {
        self.inner.passes_request_trailer(name)
    }

    fn passes_response_trailer(&self, name: &str) -> bool {
        self.inner.passes_response_trailer(name)
    }

    fn on_fault(&mut self, fault: &Fault, outgoing: &mut Outgoing) {
        self.note_upstream_end(0, fault_cause(fault.kind).1);
        self.inner.on_fault(fault, outgoing);
    }

    fn on_end(&mut self, ended: Ended) {
        self.inner.on_end(ended);
    }
}
