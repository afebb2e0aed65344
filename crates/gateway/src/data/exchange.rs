//! One request in the chain: its data, the decisions so far, and the pending changes to the response.

mod body;
mod graphql;

use crate::auth::jwt::{ClaimTexts, GrantedScopes};
use crate::auth::keys::{CountedRequest, HeldKey, Key, Keys, Presented, SessionLimits};
use crate::base::answers::{Answers, RequestSlot};
use crate::base::request_id::RequestId;
use crate::base::tls::CallerTls;
use crate::data::api::Api;
use crate::data::breaker::Passage;
use crate::data::endpoints::Hits;
use crate::data::header_change::HeaderChange;
use crate::data::refusal::{self, Refusal};
use crate::data::response_chain::ResponseChain;
use crate::data::settings::Settings;
use crate::data::upstream::Upstream;
use crate::data::url::Url;
use crate::observe::trace::RequestTrace;
use serde_json::{Map, Value as Json};
use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tollgate_cache::{CachedResponse, LineBlock};
use tollgate_engine::Pending;
use tollgate_engine::{Outgoing, Work};
use tollgate_http::Request;
use tollgate_limit::WaitPolicy;

/// The number under which a request keeps the variables that middlewares set.
const VARIABLES: u64 = RequestSlot::Variables.number();

/// A request, and the state that the chain adds to it.
pub(crate) struct Exchange<'a> {
    pub request: &'a Request<'a>,
    pub settings: &'a Settings,
    pub api: &'a Api,
    /// Name of the version, if requests can choose among several.
    pub version: Option<&'a str>,
    /// The client's address: the connection's, or the one that a trusted proxy reports.
    pub client_ip: IpAddr,
    /// The connection's address, which the upstream finds at the end of `X-Forwarded-For`; `None` if that stays as it is.
    pub forwarded_for: Option<IpAddr>,
    /// Data of the client's TLS handshake, if it uses TLS.
    pub tls: Option<&'a CallerTls>,
    /// Time since the gateway started, for limits.
    pub now: Duration,
    /// Wall-clock time in Unix seconds.
    pub unix_s: u64,
    pub keys: &'a Keys,
    /// The key that authenticated the request.
    pub key: Option<HeldKey>,
    /// The claims of its token that variables use.
    pub claims: Option<Arc<ClaimTexts>>,
    /// The scopes of its verified token, if the API checks them.
    pub granted_scopes: Option<Arc<GrantedScopes>>,
    /// The text of the key that authenticated the request, if a variable uses it.
    pub token: Option<Box<str>>,
    /// The trace of the request, if requests are traced.
    pub trace: Option<RequestTrace>,
    /// Limit, remaining requests and reset time of the API's own rate limit, if variables may use them.
    pub api_rate: Option<[i64; 3]>,
    /// The core that handles the request.
    pub core: usize,
    /// The core that handles the request, if requests are counted.
    pub counting_core: Option<usize>,
    /// Answers to middlewares' questions from the time when the request was held.
    pub answers: &'a mut Answers,
    /// How often the request was held and retried.
    pub tries: u32,
    /// Complete header lines about limits, for the response.
    pub limit_lines: &'a mut Vec<u8>,
    /// Random id of this request; the same wherever it is used.
    pub request_id: RequestId,
    /// The decoded path in the client's request, for `$tyk_context.path`.
    pub full_path: &'a str,
    /// The current method.
    pub method: Cow<'a, str>,
    /// The current path and query, including the listen path.
    pub url: Url<'a>,
    /// The endpoint patterns that the path matches.
    pub hits: &'a Hits,
    /// Whether the endpoint needs no authentication.
    pub ignored: bool,
    /// Whether the request is recorded, and how.
    pub track: Track,
    /// Number of APIs that have looped the request to this one.
    pub level: usize,
    /// Whether limits count the request; a loop may switch this off.
    pub check_limits: bool,
    /// The counts of the key's limits for this request.
    pub counted: CountedRequest,
    /// Whether the answer is a cached response.
    pub from_cache: bool,
    /// Whether a reply of the gateway is recorded like a response.
    pub records_reply: bool,
    /// Lines of the stored response that no change of the version replaces.
    pub last_lines: LineBlock,
    /// Whether the request has conditions that are not the client's.
    pub is_conditional: bool,
    /// Target of a rewrite, in place of the API's target.
    pub redirected: Option<Redirect>,
    pub first_byte_ms: Option<u64>,
    /// The breaker that is told the outcome of the request.
    pub breaker: Option<Passage>,
    pub outgoing: &'a mut Outgoing,
    /// Changes to the response's headers, beyond the version's own.
    pub response_changes: &'a mut Vec<HeaderChange>,
    /// The same, but only for responses of upstreams: the gateway's own errors do not get these changes.
    pub upstream_changes: &'a mut Vec<HeaderChange>,
    /// Middlewares that process the response.
    pub response_chain: &'a mut ResponseChain,
    /// The body that replaces the request's own.
    pub new_body: Option<Vec<u8>>,
    /// The `meta_data` that plugins have given to the caller's session.
    pub changed_meta_data: Option<Box<Map<String, Json>>>,
}

/// Whether a request is recorded, and under which name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Track {
    /// As the API is configured.
    #[default]
    Default,
    Never,
    /// Recorded under a pattern.
    As(Arc<str>),
}

/// The target that a rewrite selected.
#[derive(Clone)]
pub(crate) enum Redirect {
    /// Another upstream.
    Upstream(Arc<Upstream>),
    /// Another API, by id or name.
    Loop(String),
}

/// The chain's next step after a middleware.
pub(crate) enum Step {
    /// Continues with the next middleware.
    Next,
    /// Holds the request for this long and restarts the chain.
    Wait(Duration),
    /// Holds the request until the work is done, at most this long, and restarts the chain.
    Await(Work, Duration),
    /// Holds the request until its body has been read, of at most this many bytes, and restarts the chain: see [`Answers::body`].
    Read(usize),
    /// Continues with the next middleware, and from now on `request` has the headers that `outgoing.edits` have made, and `hits` are those
    /// of the current path.
    Reread,
    /// Ends with a refusal.
    Refuse(Refusal),
    /// Ends with the reply in `outgoing`.
    Reply,
    /// Ends with a response in the upstream's place: later middlewares that process responses still run, and so do all response steps.
    Respond(Box<SubstituteResponse>),
    /// Ends with this stored response, and the request goes to its upstream without the client.
    Revalidate(Box<CachedResponse>),
}

/// A response that the gateway makes in the upstream's place.
pub(crate) struct SubstituteResponse {
    pub status: u16,
    /// Header lines, without those that frame the message.
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
    /// Whether it tells the caller about limits, like an upstream's response.
    pub tells_limits: bool,
}

impl SubstituteResponse {
    /// The response of a script: as in Tyk it names its server, and tells no limits.
    pub(crate) fn of_script(status: u16, mut headers: Vec<(String, Vec<u8>)>, body: Vec<u8>) -> Self {
        headers.retain(|(name, _)| !name.eq_ignore_ascii_case("server"));
        headers.push(("Server".to_owned(), b"tyk".to_vec()));
        SubstituteResponse { status, headers, body, tells_limits: false }
    }
}

impl Step {
    /// Instead of just continuing, shows the changed request to later middlewares.
    pub(crate) fn then_reread(self) -> Step {
        if matches!(self, Step::Next) { Step::Reread } else { self }
    }
}

impl<'a> Exchange<'a> {
    /// Variables that middlewares have set beside those that every request has.
    pub(crate) fn variables(&self) -> Option<&Map<String, Json>> {
        self.answers.get(VARIABLES)
    }

    /// Sets variables, in place of others of their names.
    pub(crate) fn set_variables(&mut self, variables: Map<String, Json>) {
        let mut all = self.variables().cloned().unwrap_or_default();
        all.extend(variables);
        self.answers.put(VARIABLES, all);
    }

    /// Forgets all that a method of authentication has decided about the caller. Each field that such a method sets is here.
    pub(crate) fn forget_caller(&mut self) {
        self.key = None;
        self.claims = None;
        self.token = None;
        self.granted_scopes = None;
        self.changed_meta_data = None;
    }

    /// The `meta_data` of the caller's session, as plugins have changed it.
    pub(crate) fn meta_data(&self) -> Option<&Map<String, Json>> {
        let key = self.key.as_ref()?;
        Some(self.changed_meta_data.as_deref().unwrap_or(&key.session.meta_data))
    }

    /// The current query, without `?`.
    pub(crate) fn query(&self) -> Option<&str> {
        self.url.query.as_deref()
    }

    /// Notes the scopes of a verified token. Those of the token that gives the session count before others.
    pub(crate) fn grant(&mut self, scopes: Option<&Arc<GrantedScopes>>, gives_session: bool) {
        if let Some(scopes) = scopes
            && (gives_session || self.granted_scopes.is_none())
        {
            self.granted_scopes = Some(scopes.clone());
        }
    }

    /// The decoded path after the listen path, with a leading slash.
    pub(crate) fn path_behind_listen(&self) -> Cow<'_, str> {
        self.url.path_behind_listen()
    }

    /// Looks up a presented key that [`Keys::find`] did not find. Asks the shared store, if there is one, and holds the request meanwhile.
    pub(crate) fn ask_for_key(&mut self, token: &str, org: &str) -> Result<Option<HeldKey>, Step> {
        match self.keys.look_up(token, org, self.answers) {
            Presented::Known(key) => Ok(Some(key)),
            Presented::Unknown => Ok(None),
            Presented::Unanswered => Err(Step::Refuse(refusal::STORE_SILENT)),
            Presented::Asked(work, time_max) => Err(Step::Await(work, time_max)),
        }
    }

    /// The key with this name, from memory or from the store.
    pub(crate) fn key_or_ask(&mut self, name: &str, org: &str) -> Result<Option<HeldKey>, Step> {
        match self.keys.find(name, org) {
            Some(key) => Ok(Some(key)),
            None => self.ask_for_key(name, org),
        }
    }

    /// The key with this name, from memory or from the store's answer to this request.
    pub(crate) fn known_key(&self, name: &str, org: &str) -> Option<HeldKey> {
        self.keys.find(name, org).or_else(|| self.keys.answered_key(name, org, self.answers))
    }

    /// The limits of a key for this request.
    pub(crate) fn limits_of<'k>(&self, key: &'k Key) -> &'k SessionLimits {
        key.limits_at(&self.api.id, &self.method, || self.path_behind_listen())
    }

    /// Size, remainder and renewal time of the key's quota.
    pub(crate) fn quota_figures(&self) -> Option<[i64; 3]> {
        let (max, view) = self.limits_of(self.key.as_ref()?).quota(self.unix_s)?;
        Some([max, view.remaining, i64::try_from(view.renews_unix_s).unwrap_or_default()])
    }

    /// Requests, remainder and reset time of the last checked rate limit: the API's, else the key's.
    pub(crate) fn rate_figures(&self) -> Option<[i64; 3]> {
        let of_key = || {
            let (rule, room, full) = self.limits_of(self.key.as_ref()?).rooms(self.now).next()?;
            Some([rule.requests as i64, room as i64, self.reset_after(full)])
        };
        self.api_rate.or_else(of_key)
    }

    /// The time after a duration, in Unix seconds.
    pub(crate) fn reset_after(&self, time: Duration) -> i64 {
        i64::try_from(self.unix_s.saturating_add(time.as_secs())).unwrap_or_default()
    }

    /// Whether the request may be held until the shared store answers about limits.
    pub(crate) fn patience(&self) -> WaitPolicy {
        let held = self.answers.held_for_limits(self.now);
        let is_over = self.keys.shared_keys().is_some_and(|shared| held >= shared.limits.answer_time_max());
        if is_over { WaitPolicy::IsOver } else { WaitPolicy::Waits }
    }

    /// Holds the request until there is an answer about its limits. All holds together last no longer than one answer may take.
    pub(crate) fn hold_for_limits(&mut self, pending: Option<Pending<()>>) -> Step {
        self.answers.hold_for_limits(self.now);
        let held = self.answers.held_for_limits(self.now);
        let time_max = self.keys.shared_keys().map_or(Duration::ZERO, |shared| shared.limits.answer_time_max());
        // `None` when the answer has arrived meanwhile.
        let work: Work = pending.map_or_else(|| Box::pin(std::future::ready(())) as Work, |answer| answer.work());
        Step::Await(work, time_max.saturating_sub(held))
    }

    /// Notes that the request has passed these limits, except for a refusal that only dry run prevented. The limits count the request once,
    /// even if it is held later and retried. `limits` is identified by its address.
    pub(crate) fn pass<T>(&mut self, limits: &T, would_refuse: Option<Refusal>) {
        match would_refuse {
            None => self.answers.put(passed_at(limits, self.level), ()),
            Some(refusal) => self.answers.put(passed_at(limits, self.level), refusal),
        }
    }

    /// Whether the request passed these limits before it was held. Reports their dry-run refusal again.
    pub(crate) fn has_passed<T>(&mut self, limits: &T) -> bool {
        let place = passed_at(limits, self.level);
        if let Some(refusal) = self.answers.get::<Refusal>(place).cloned() {
            self.tell_dry_run(&refusal);
            return true;
        }
        self.answers.get::<()>(place).is_some()
    }

    /// Counts a refusal that only dry run prevented, and tells the client.
    pub(crate) fn report_dry_run(&mut self, refusal: &Refusal) {
        let cause = refusal.cause;
        if let Some(cells) = self.counting_core.and_then(|core| self.api.meter.core(core)) {
            cells.dry_run(cause);
        }
        self.tell_dry_run(refusal);
    }

    fn tell_dry_run(&mut self, refusal: &Refusal) {
        let cause = refusal.cause;
        self.response_changes.push(HeaderChange::Add("Tollgate-Dry-Run".into(), cause.as_bytes().to_vec()));
    }

    /// The current path and query.
    pub(crate) fn uri(&self) -> String {
        match &self.url.query {
            Some(query) => format!("{}?{query}", self.url.path.raw),
            None => self.url.path.raw.clone().into_owned(),
        }
    }
}

/// The number under which a request stores that it has passed some limits at a level. It differs from the small serial numbers of
/// middlewares, and the level is in bits that no address uses.
fn passed_at<T>(limits: &T, level: usize) -> u64 {
    std::ptr::from_ref(limits).addr() as u64 | (level as u64) << 56
}
