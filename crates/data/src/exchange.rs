//! One request in the chain of an API, in parts: as it came, who calls, the decisions so far, and what is wanted of its response.

mod arrival;
mod attempt;
mod body;
mod caller;
mod decisions;
mod hold;
mod middleware;
mod notes;
mod received;
mod response;

pub use arrival::Arrival;
pub use attempt::AuthAttempt;
pub use body::RequestBody;
pub use caller::KnownCaller;
pub use decisions::{Decisions, Redirect, Track};
pub use hold::{Awaited, Continuation, GRACE, Hold};
pub use middleware::{AboutMiddleware, ChainLink, ChainPhase, Middleware, Rehearsed};
pub use notes::{Notes, ResponseView};
pub use received::{ShownEdits, ShownHead};
pub use response::WantedResponse;

use crate::api::Api;
use crate::api_call::CallOrigin;
use crate::endpoints::Hits;
use crate::header_change::HeaderChange;
use crate::refusal::{self, Refusal};
use crate::url::Url;
use crate::version_terms::VersionTerms;
use std::borrow::Cow;
use std::time::Duration;
use tollgate_access::keys::{HeldKey, Key, Presented, RequestLimits};
use tollgate_cache::CachedResponse;
use tollgate_clock::Pending;
use tollgate_engine::{HoldUntil, Outgoing, Work};
use tollgate_http::{HeadView, KnownHeader, Request};
use tollgate_limit::WaitPolicy;
use tollgate_outbound::{CALLER_LINE, CallerLine};

/// A request, and what the chain adds to it.
pub struct Exchange<'a> {
    /// The request as its client sent it.
    pub request: &'a Request<'a>,
    /// Its head as middlewares read it.
    pub head: ShownHead<'a>,
    pub arrival: &'a Arrival<'a>,
    pub api: &'a Api,
    /// The version of the API.
    pub version: &'a VersionTerms,
    /// The endpoint patterns that the path matches.
    pub hits: &'a mut Hits,
    /// The current method.
    pub method: Cow<'a, str>,
    /// The current path and query, including the listen path.
    pub url: Url<'a>,
    pub body: &'a mut RequestBody,
    pub caller: &'a mut KnownCaller,
    pub decisions: &'a mut Decisions,
    pub notes: &'a mut Notes,
    /// What is wanted of the response.
    pub response: &'a mut WantedResponse,
    /// The request as it will leave, or the reply.
    pub outgoing: &'a mut Outgoing,
}

/// The parts of a request's state that last as long as the request. The memory is reused from request to request.
#[derive(Default)]
pub struct RequestState {
    pub hits: Hits,
    pub body: RequestBody,
    pub caller: KnownCaller,
    pub decisions: Decisions,
    pub notes: Notes,
    pub response: WantedResponse,
}

impl RequestState {
    /// Starts the chain of another API, to which the request has looped.
    pub fn begin_chain(&mut self, skips_limits: bool) {
        self.caller = KnownCaller::default();
        let loops = self.decisions.loops.saturating_add(1);
        self.decisions = Decisions { loops, skips_limits, ..Decisions::default() };
        self.hits.forget_call();
        // As in Tyk, only the middlewares of the API that calls the upstream process the response.
        self.response.chain.clear();
    }

    /// Forgets everything, because the request has ended.
    pub fn clear(&mut self) {
        self.caller = KnownCaller::default();
        self.decisions = Decisions::default();
        self.hits.forget_call();
        self.body = RequestBody::default();
        self.notes = Notes::default();
        self.response.clear();
    }
}

/// The chain's next step after a middleware.
pub enum Step {
    /// Continues with the next middleware.
    Next,
    /// Holds the request, and then goes on with this middleware.
    Hold(Box<Hold>),
    /// Ends with a refusal.
    Refuse(Refusal),
    /// Goes to the upstream, a server of the gateway, which refuses it in its own words: for others than the caller, it is refused for this reason.
    /// Of later middlewares, those that process responses still run.
    RefuseUpstream(Refusal),
    /// Ends with the reply in `outgoing`.
    Reply,
    /// Ends with a response in the upstream's place: later middlewares that process responses still run, and so do all response steps.
    Respond(Box<SubstituteResponse>),
    /// Ends with this stored response, and the request goes to its upstream without the client.
    Revalidate(Box<CachedResponse>),
}

/// A response that the gateway makes in the upstream's place.
pub struct SubstituteResponse {
    pub status: u16,
    /// Header lines, without those that frame the message.
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
    /// Whether it tells the caller about limits, like an upstream's response.
    pub tells_limits: bool,
}

impl SubstituteResponse {
    /// The response of a script: as in Tyk it names its server, and tells no limits.
    pub fn of_script(status: u16, mut headers: Vec<(String, Vec<u8>)>, body: Vec<u8>) -> Self {
        headers.retain(|(name, _)| !name.eq_ignore_ascii_case("server"));
        headers.push(("Server".to_owned(), b"tyk".to_vec()));
        SubstituteResponse { status, headers, body, tells_limits: false }
    }
}

impl<'a> Exchange<'a> {
    /// Whence calls come that this request leads to.
    pub fn origin(&self) -> CallOrigin {
        CallOrigin { client: self.arrival.client_ip, loops: self.arrival.loops.saturating_add(self.decisions.loops) }
    }

    /// Tells a server within the process who calls, by the digest of the key, the number of the call, and `rest`.
    pub fn tell_caller(&mut self, key_digest: &str, call: Option<u64>, rest: Option<&str>) {
        let CallOrigin { client, loops } = self.origin();
        let headers = &self.request.headers;
        let host = headers.known(KnownHeader::Host).and_then(|host| std::str::from_utf8(host).ok());
        let line = CallerLine { key_digest, address: Some(client), loops, host, call, rest };
        let edits = &mut self.outgoing.edits;
        edits.remove(headers, CALLER_LINE);
        edits.add_line(|out| line.write(out));
    }

    /// The header lines of the request as the client and plugins have made them.
    #[inline]
    pub fn received(&self) -> HeadView<'a> {
        self.head.lines()
    }

    /// Shows the request as it is now to all later middlewares: its header lines, and the endpoints of its path.
    pub fn show_changes(&mut self) {
        self.head.show(Some(self.outgoing.edits.clone()));
        self.find_endpoints();
    }

    /// Matches the path after the listen path; where access depends on it, also the complete path.
    pub fn find_endpoints(&mut self) {
        if !self.version.matcher.is_empty() {
            let whole = (self.url.listen_bytes > 0).then_some(self.url.path.decoded.as_ref());
            self.version.matcher.find(&self.url.path_behind_listen(), whole, self.hits);
        }
    }

    /// Name of the version, if requests can choose among several.
    pub fn version_name(&self) -> Option<&'a str> {
        self.version.is_chosen.then_some(self.version.name.as_str())
    }

    /// The current query, without `?`.
    pub fn query(&self) -> Option<&str> {
        self.url.query.as_deref()
    }

    /// The decoded path after the listen path, with a leading slash.
    pub fn path_behind_listen(&self) -> Cow<'_, str> {
        self.url.path_behind_listen()
    }

    /// Looks up a presented key that [`Keys::find`](tollgate_access::keys::Keys::find) did not find. Asks the shared store, if there is one, and holds
    /// the request meanwhile.
    pub fn ask_for_key(&mut self, token: &str, org: &str) -> Result<Option<HeldKey>, Step> {
        match self.arrival.keys.look_up(token, org, &mut self.notes.asked_keys) {
            Presented::Known(key) => Ok(Some(key)),
            Presented::Unknown => Ok(None),
            Presented::Unanswered => Err(Step::Refuse(refusal::STORE_SILENT)),
            Presented::Asked(work, time_max) => Err(Step::again(HoldUntil::Done(work, time_max + GRACE))),
        }
    }

    /// The key with this name, from memory or from the store.
    pub fn key_or_ask(&mut self, name: &str, org: &str) -> Result<Option<HeldKey>, Step> {
        match self.arrival.keys.find(name, org) {
            Some(key) => Ok(Some(key)),
            None => self.ask_for_key(name, org),
        }
    }

    /// The key with this name, from memory or from the store's answer to this request.
    pub fn known_key(&self, name: &str, org: &str) -> Option<HeldKey> {
        self.arrival.keys.find(name, org).or_else(|| self.arrival.keys.answered_key(name, org, &self.notes.asked_keys))
    }

    /// The limits of a key for this request.
    pub fn limits_of<'k>(&self, key: &'k Key) -> RequestLimits<'k> {
        let limits = key.limits_at(&self.api.id, &self.method, || self.path_behind_listen());
        match &self.decisions.call {
            None => limits,
            Some(call) => limits.with_call(key.call_limits(&self.api.id, &call.method, call.names())),
        }
    }

    /// Size, remainder and renewal time of the key's quota.
    pub fn quota_figures(&self) -> Option<[i64; 3]> {
        let (max, view) = self.limits_of(self.caller.key.as_ref()?).quota(self.arrival.unix_s)?;
        Some([max, view.remaining, i64::try_from(view.renews_unix_s).unwrap_or_default()])
    }

    /// Requests, remainder and reset time of the last checked rate limit: the API's, else the key's.
    pub fn rate_figures(&self) -> Option<[i64; 3]> {
        let of_key = || {
            let (rule, room, full) = self.limits_of(self.caller.key.as_ref()?).told(self.arrival.now)?;
            Some([rule.requests as i64, room as i64, self.reset_after(full)])
        };
        self.decisions.api_rate.or_else(of_key)
    }

    /// The time after a duration, in Unix seconds.
    pub fn reset_after(&self, time: Duration) -> i64 {
        i64::try_from(self.arrival.unix_s.saturating_add(time.as_secs())).unwrap_or_default()
    }

    /// Whether the request may be held until the shared store answers about limits.
    pub fn patience(&self) -> WaitPolicy {
        let held = self.notes.held_for_limits(self.arrival.now);
        let is_over = self.arrival.keys.shared_keys().is_some_and(|shared| held >= shared.cluster.limits.answer_time_max());
        if is_over { WaitPolicy::IsOver } else { WaitPolicy::Waits }
    }

    /// Holds the request until there is an answer about its limits; then its middleware begins again.
    pub fn hold_for_limits(&mut self, pending: Option<Pending<()>>) -> Step {
        Step::again(self.until_limits(pending))
    }

    /// Until there is an answer about its limits. All holds together last no longer than one answer may take.
    pub fn until_limits(&mut self, pending: Option<Pending<()>>) -> HoldUntil {
        let now = self.arrival.now;
        self.notes.limits_since.get_or_insert(now);
        let held = self.notes.held_for_limits(now);
        let time_max = self.arrival.keys.shared_keys().map_or(Duration::ZERO, |shared| shared.cluster.limits.answer_time_max());
        // `None` when the answer has arrived meanwhile.
        let work: Work = pending.map_or_else(|| Box::pin(std::future::ready(())) as Work, |answer| answer.work());
        HoldUntil::Done(work, time_max.saturating_sub(held))
    }

    /// Counts a refusal that only dry run prevented.
    pub fn count_dry_run(&self, refusal: &Refusal) {
        if let Some(cells) = self.arrival.counting_core.and_then(|core| self.api.meter.core(core)) {
            cells.dry_run(refusal.cause);
        }
    }

    /// Counts a refusal that only dry run prevented, and tells the client.
    pub fn report_dry_run(&mut self, refusal: &Refusal) {
        let cause = refusal.cause;
        self.count_dry_run(refusal);
        self.response.changes.push(HeaderChange::Add("Tollgate-Dry-Run".into(), cause.as_bytes().to_vec()));
    }

    /// Starts a reply of the gateway. Nothing that was meant for the upstream is in it.
    pub fn begin_reply(&mut self, status: u16) -> &mut Outgoing {
        self.outgoing.edits.clear();
        self.outgoing.body.clear();
        self.outgoing.status = status;
        self.outgoing
    }

    /// The current path and query.
    pub fn uri(&self) -> String {
        match &self.url.query {
            Some(query) => format!("{}?{query}", self.url.path.raw),
            None => self.url.path.raw.clone().into_owned(),
        }
    }
}
