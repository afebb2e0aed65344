//! The limits of a key on an API: rates and a quota. [`RequestLimits`] counts requests against them.

use super::quota::Quota;
use super::rights::RightPatterns;
use std::sync::Arc;
use std::time::Duration;
use tollgate_limit::{LimitDecision, Limiter, Rate, SmoothingRules, WaitPolicy};
use tollgate_model::config::OnStoreFailure;
use tollgate_model::session::{AccessLimit, LimitStoreFailure, RateLimit, Smoothing};

mod request_limits;

pub use request_limits::{CallRates, RequestLimits};

/// Rates and a quota with their counters.
pub(super) struct SessionLimits {
    rates: Vec<RateRule>,
    quota: Option<QuotaRule>,
    /// How long a request over the rate is held before a retry, and how many retries it gets.
    throttle: Option<(Duration, u32)>,
    on_store_failure: LimitStoreFailure,
    /// How the first rate, or the one of an endpoint in its place, rises and falls.
    smoothing: Option<SmoothingRules>,
}

/// One rate as it is configured, and its counter.
pub struct RateRule {
    /// Name for clients; letters, digits, `-`, `_` and `.`.
    pub name: String,
    pub requests: f64,
    pub window_s: f64,
    rate: Rate,
    counter: Arc<Limiter>,
    smoothing: Option<SmoothingRules>,
    on_store_failure: Option<OnStoreFailure>,
}

#[derive(Clone)]
struct QuotaRule {
    max: i64,
    renewal_s: i64,
    counter: Arc<Quota>,
}

/// Sources of the counters and patterns that limits use.
pub struct LimitSource<'a> {
    /// The counter of a rate, by name.
    pub rate: &'a dyn Fn(String) -> Arc<Limiter>,
    /// The counter of a quota, by scope.
    pub quota: &'a dyn Fn(&str) -> Arc<Quota>,
    pub patterns: &'a RightPatterns,
    /// Whether rates may rise and fall in steps.
    pub smooths: bool,
}

/// Why a request is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitRejection {
    /// A rate is exceeded; the client may retry after this time.
    Rate(Duration),
    Quota,
    /// Other gateways count as well, and the shared store is being asked; see [`RequestLimits::pending`].
    Asked,
    /// The shared store does not answer, and no request may pass meanwhile.
    Silent,
}

/// Which limits an API enforces.
#[derive(Clone, Copy, Debug)]
pub struct Checks {
    pub rates: bool,
    pub quota: bool,
    /// Default behaviour while the store does not answer, for limits without a setting of their own.
    pub on_store_failure: Option<OnStoreFailure>,
}

/// What was counted for a request; it is taken back when the request is refused for another reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountedRequest {
    rates: bool,
    quota: bool,
}

impl CountedRequest {
    /// The counts of a request that passed. A limit in dry run that would have refused it has counted nothing; with several rates, it is
    /// unknown which one that was.
    pub fn of(checks: Checks, would_refuse: Option<LimitRejection>) -> Self {
        let is_over_rate = matches!(would_refuse, Some(LimitRejection::Rate(_)));
        CountedRequest { rates: checks.rates && !is_over_rate, quota: checks.quota && would_refuse != Some(LimitRejection::Quota) }
    }
}

impl Checks {
    pub const ALL: Self = Checks { rates: true, quota: true, on_store_failure: None };
}

impl SessionLimits {
    /// Makes the limits of a document, with the counters of a scope.
    pub(super) fn new(limit: &AccessLimit, scope: &str, source: &LimitSource<'_>) -> Self {
        let rules = limit.rate_limits().enumerate();
        let on_store_failure = limit.on_store_failure;
        let rates = rules.filter_map(|(index, written)| {
            RateRule::new(&written, index, format!("{scope}/{index}"), source, on_store_failure.rate_limit)
        });
        let smoothing = Some(&limit.smoothing).filter(|_| source.smooths).and_then(Smoothing::of).and_then(smoothing_rules);
        // The first one is the rate beside `smoothing`, if that limits anything.
        let has_rate = limit.rate > 0.0 && limit.per > 0.0;
        let mut rates: Vec<RateRule> = rates.collect();
        rates.iter_mut().take(usize::from(has_rate)).for_each(|rule| rule.smoothing = smoothing);
        let rule = |max| QuotaRule { max, renewal_s: limit.quota_renewal_rate, counter: (source.quota)(scope) };
        let interval = Duration::try_from_secs_f64(limit.throttle_interval).unwrap_or_default();
        let tries = u32::try_from(limit.throttle_retry_limit).unwrap_or_default();
        let throttle = (!interval.is_zero() && tries > 0).then_some((interval, tries));
        SessionLimits { rates, quota: limit.quota().map(rule), throttle, on_store_failure, smoothing }
    }

    /// The same limits with this rate in place of theirs, or without a rate.
    pub(super) fn with_rate(&self, written: &RateLimit, counter: String, source: &LimitSource<'_>) -> Self {
        let on_store_failure = self.on_store_failure;
        let rule = RateRule::new(written, 0, counter, source, on_store_failure.rate_limit);
        let rates = rule.map(|rule| RateRule { smoothing: self.smoothing, ..rule }).into_iter().collect();
        SessionLimits { rates, quota: self.quota.clone(), throttle: self.throttle, on_store_failure, smoothing: self.smoothing }
    }

    /// The rate of a call that counts beside these limits; `None` if it limits nothing. `of` names it for clients.
    pub(super) fn beside(&self, written: &RateLimit, of: &str, counter: String, source: &LimitSource<'_>) -> Option<RateRule> {
        let rule = RateRule::new(written, 0, counter, source, self.on_store_failure.rate_limit)?;
        Some(if written.name.is_empty() { RateRule { name: of.to_owned(), ..rule } } else { rule })
    }

    /// The limits of a request that no other rate counts.
    pub(super) fn alone(&self) -> RequestLimits<'_> {
        RequestLimits::new(self, CallRates::default())
    }
}

impl QuotaRule {
    fn take(
        &self,
        now: Duration,
        now_unix_s: u64,
        patience: WaitPolicy,
        on_failure: Option<OnStoreFailure>,
    ) -> Result<(), LimitRejection> {
        let Some(shared) = self.counter.shared() else {
            return self.counter.take(self.max, self.renewal_s, now_unix_s).map(|_| ()).map_err(|_| LimitRejection::Quota);
        };
        match shared.admit(self.max, self.renewal_s, now, patience, on_failure) {
            LimitDecision::Admitted => Ok(()),
            LimitDecision::Refused(_) => Err(LimitRejection::Quota),
            LimitDecision::Asked => Err(LimitRejection::Asked),
            LimitDecision::Silent => Err(LimitRejection::Silent),
        }
    }
}

impl RateRule {
    /// The rate that applies now.
    #[inline]
    fn rate(&self) -> Rate {
        match &self.smoothing {
            None => self.rate,
            Some(rules) => self.counter.smoothed(self.rate, rules),
        }
    }

    fn admit(&self, now: Duration, patience: WaitPolicy, on_failure: Option<OnStoreFailure>) -> Result<(), LimitRejection> {
        let Some(shared) = self.counter.shared() else { return self.counter.admit(self.rate(), now).map_err(LimitRejection::Rate) };
        match shared.admit(self.rate(), now, patience, self.on_store_failure.or(on_failure)) {
            LimitDecision::Admitted => Ok(()),
            LimitDecision::Refused(wait) => Err(LimitRejection::Rate(wait)),
            LimitDecision::Asked => Err(LimitRejection::Asked),
            LimitDecision::Silent => Err(LimitRejection::Silent),
        }
    }

    /// Makes the rule of a rate; `None` if it does not limit anything.
    fn new(
        written: &RateLimit,
        index: usize,
        counter: String,
        source: &LimitSource<'_>,
        on_store_failure: Option<OnStoreFailure>,
    ) -> Option<Self> {
        let rate = Rate::with_burst(written.rate, written.per, written.burst.unwrap_or(written.rate))?;
        let name = written.name.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).collect::<String>();
        Some(RateRule {
            name: if name.is_empty() { format!("rate-{}", index + 1) } else { name },
            requests: written.rate,
            window_s: written.per,
            rate,
            counter: (source.rate)(counter),
            smoothing: None,
            on_store_failure: written.on_store_failure.or(on_store_failure),
        })
    }
}

fn smoothing_rules(written: Smoothing) -> Option<SmoothingRules> {
    let number = |number| u64::try_from(number).unwrap_or_default();
    let delay = Duration::from_secs(number(written.delay));
    SmoothingRules::new(number(written.threshold), written.trigger, number(written.step), delay)
}

#[cfg(test)]
mod tests;
