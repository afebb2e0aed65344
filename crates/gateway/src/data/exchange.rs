//! One request on its way through the chain: what is known of it, what was decided so far, and what will be changed in the response.

mod body;

use crate::auth::jwt::ClaimTexts;
use crate::auth::keys::{CountedRequest, HeldKey, Key, Keys, Presented, SessionLimits};
use crate::base::answers::Answers;
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
use crate::observe::trace::TraceId;
use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tollgate_engine::Pending;
use tollgate_engine::{Outgoing, Work};
use tollgate_http::Request;
use tollgate_limit::Patience;

/// A request and what the chain makes of it.
pub(crate) struct Exchange<'a> {
    pub request: &'a Request<'a>,
    pub settings: &'a Settings,
    pub api: &'a Api,
    /// The version's name, where requests choose among several.
    pub version: Option<&'a str>,
    /// The client's address, of the connection or of what a trusted proxy says.
    pub client_ip: IpAddr,
    /// What the client's TLS handshake told, if it speaks TLS.
    pub tls: Option<&'a CallerTls>,
    /// Time since the gateway's start, for limits.
    pub now: Duration,
    /// Seconds since 1970.
    pub unix_s: u64,
    pub keys: &'a Keys,
    /// The key that the request was let in with.
    pub key: Option<HeldKey>,
    /// The claims of its token that variables name.
    pub claims: Option<Arc<ClaimTexts>>,
    /// The key that the request was let in with, as it is written, where a variable names it.
    pub token: Option<Box<str>>,
    /// The trace that the request belongs to, when requests are traced.
    pub trace_id: Option<TraceId>,
    /// Limit, remaining requests and reset of the API's own rate limit, where variables may name them.
    pub api_rate: Option<[i64; 3]>,
    /// The core that the request is on, when requests are counted.
    pub counting_core: Option<usize>,
    /// What was answered to this request's middlewares while it was held.
    pub answers: &'a mut Answers,
    /// How often the request was held and tried again.
    pub tries: u32,
    /// Whole lines about limits that the response gets.
    pub limit_lines: &'a mut Vec<u8>,
    /// Made for this request; the same in all its uses.
    pub request_id: RequestId,
    /// The decoded path as the client sent it, for `$tyk_context.path`.
    pub full_path: &'a str,
    /// The method so far.
    pub method: Cow<'a, str>,
    /// Path and query so far; the listen path is still in it.
    pub url: Url<'a>,
    /// Which of the version's endpoint patterns the path fits.
    pub hits: &'a Hits,
    /// The endpoint is open to everyone.
    pub ignored: bool,
    /// Whether and how it is recorded.
    pub track: Track,
    /// How many APIs have sent the request on to this one.
    pub level: usize,
    /// Limits count, also after a loop.
    pub check_limits: bool,
    /// What the key's limits have counted of the request.
    pub counted: CountedRequest,
    /// The answer is a stored response.
    pub from_cache: bool,
    /// Where a rewrite sends the request instead of the API's target.
    pub redirected: Option<Redirect>,
    pub first_byte_ms: Option<u64>,
    /// The breaker that is told how the request went.
    pub breaker: Option<Passage>,
    pub outgoing: &'a mut Outgoing,
    /// Changes to the response's headers beyond the version's own.
    pub response_changes: &'a mut Vec<HeaderChange>,
    /// What takes part in the response.
    pub response_chain: &'a mut ResponseChain,
    /// The body that the request goes on with in place of its own.
    pub new_body: Option<Vec<u8>>,
}

/// Whether a request is recorded, and under which name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Track {
    /// As the API has it.
    #[default]
    Default,
    Never,
    /// Under a pattern.
    As(Arc<str>),
}

/// A target that a rewrite chose.
#[derive(Clone)]
pub(crate) enum Redirect {
    /// Another upstream.
    Upstream(Arc<Upstream>),
    /// Another API, by id or name.
    Loop(String),
}

/// What the chain does after a middleware.
pub(crate) enum Step {
    /// Goes on.
    Next,
    /// Holds the request for this long and starts over.
    Wait(Duration),
    /// Holds the request until some work is done, at most this long, and starts over.
    Await(Work, Duration),
    /// Holds the request until its body is there, of at most so many bytes, and starts over: see [`Answers::body`].
    Read(usize),
    /// Ends with a refusal.
    Refuse(Refusal),
    /// Ends with the answer in `outgoing`.
    Reply,
}

impl<'a> Exchange<'a> {
    /// The query so far, without `?`.
    pub(crate) fn query(&self) -> Option<&str> {
        self.url.query.as_deref()
    }

    /// The decoded path behind the listen path, with a slash in front.
    pub(crate) fn path_behind_listen(&self) -> Cow<'_, str> {
        self.url.path_behind_listen()
    }

    /// The key that a request presents when [`Keys::find`] has none: asks the store that it shares with other gateways, if it does, and
    /// holds the request meanwhile.
    pub(crate) fn ask_for_key(&mut self, token: &str, org: &str) -> Result<Option<HeldKey>, Step> {
        match self.keys.look_up(token, org, self.answers) {
            Presented::Known(key) => Ok(Some(key)),
            Presented::Unknown => Ok(None),
            Presented::Unanswered => Err(Step::Refuse(refusal::STORE_SILENT)),
            Presented::Asked(work, time_max) => Err(Step::Await(work, time_max)),
        }
    }

    /// The key of a name, in memory or in the store.
    pub(crate) fn key_or_ask(&mut self, name: &str, org: &str) -> Result<Option<HeldKey>, Step> {
        match self.keys.find(name, org) {
            Some(key) => Ok(Some(key)),
            None => self.ask_for_key(name, org),
        }
    }

    /// The key of a name, in memory or as the store has answered to this request.
    pub(crate) fn known_key(&self, name: &str, org: &str) -> Option<HeldKey> {
        self.keys.find(name, org).or_else(|| self.keys.answered_key(name, org, self.answers))
    }

    /// The limits of a key that hold for this request.
    pub(crate) fn limits_of<'k>(&self, key: &'k Key) -> &'k SessionLimits {
        key.limits_at(&self.api.id, &self.method, || self.path_behind_listen())
    }

    /// Size, rest and renewal of the key's quota.
    pub(crate) fn quota_figures(&self) -> Option<[i64; 3]> {
        let (max, view) = self.limits_of(self.key.as_ref()?).quota(self.unix_s)?;
        Some([max, view.remaining, i64::try_from(view.renews_unix_s).unwrap_or_default()])
    }

    /// Requests, rest and reset of the rate limit that was looked at last: the API's, else the key's.
    pub(crate) fn rate_figures(&self) -> Option<[i64; 3]> {
        let of_key = || {
            let (rule, room, full) = self.limits_of(self.key.as_ref()?).rooms(self.now).next()?;
            Some([rule.requests as i64, room as i64, self.reset_after(full)])
        };
        self.api_rate.or_else(of_key)
    }

    /// The second in which so much time will have passed.
    pub(crate) fn reset_after(&self, time: Duration) -> i64 {
        i64::try_from(self.unix_s.saturating_add(time.as_secs())).unwrap_or_default()
    }

    /// Whether the request may be held for what other gateways have counted.
    pub(crate) fn patience(&self) -> Patience {
        let held = self.answers.held_for_limits(self.now);
        let is_over = self.keys.shared_keys().is_some_and(|shared| held >= shared.limits.answer_time_max());
        if is_over { Patience::IsOver } else { Patience::Waits }
    }

    /// Holds the request until there is an answer about its limits, all of them together for no longer than one answer may take.
    pub(crate) fn hold_for_limits(&mut self, pending: Option<Pending<()>>) -> Step {
        self.answers.hold_for_limits(self.now);
        let held = self.answers.held_for_limits(self.now);
        let time_max = self.keys.shared_keys().map_or(Duration::ZERO, |shared| shared.limits.answer_time_max());
        // Without one it has come meanwhile.
        let work: Work = pending.map_or_else(|| Box::pin(std::future::ready(())) as Work, |answer| answer.work());
        Step::Await(work, time_max.saturating_sub(held))
    }

    /// The request has passed these limits, but for what would have been refused if it were not for the dry run. They count it once, also
    /// when it is held later and comes again. `limits` is one address for each of them.
    pub(crate) fn pass<T>(&mut self, limits: &T, would_refuse: Option<Refusal>) {
        match would_refuse {
            None => self.answers.put(passed_at(limits, self.level), ()),
            Some(refusal) => self.answers.put(passed_at(limits, self.level), refusal),
        }
    }

    /// Whether the request has passed these limits before it was held. What they would have refused is told again.
    pub(crate) fn has_passed<T>(&mut self, limits: &T) -> bool {
        let place = passed_at(limits, self.level);
        if let Some(refusal) = self.answers.get::<Refusal>(place).cloned() {
            self.tell_dry_run(&refusal);
            return true;
        }
        self.answers.get::<()>(place).is_some()
    }

    /// Counts what would have been refused if it were not for the dry run, and tells the client.
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

    /// Path and query so far.
    pub(crate) fn uri(&self) -> String {
        match &self.url.query {
            Some(query) => format!("{}?{query}", self.url.path.raw),
            None => self.url.path.raw.clone().into_owned(),
        }
    }
}

/// Under what a request keeps that it has passed some limits at a level: unlike the numbers of middlewares, which are small, and in bits
/// that no address has.
fn passed_at<T>(limits: &T, level: usize) -> u64 {
    std::ptr::from_ref(limits).addr() as u64 | (level as u64) << 56
}
