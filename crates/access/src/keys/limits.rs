//! The limits of a key on an API: rates and a quota. A request is counted against all of them or against none.

use super::quota::{Quota, QuotaView};
use super::rights::RightPatterns;
use std::sync::Arc;
use std::time::Duration;
use tollgate_clock::Pending;
use tollgate_limit::{LimitDecision, Limiter, Rate, SmoothingChange, SmoothingRules, WaitPolicy};
use tollgate_model::config::OnStoreFailure;
use tollgate_model::session::{AccessLimit, DryRun, LimitStoreFailure, RateLimit, Smoothing};

/// Rates and a quota with their counters.
pub struct SessionLimits {
    rates: Vec<RateRule>,
    quota: Option<QuotaRule>,
    /// How long a request over the rate is held before a retry, and how many retries it gets.
    pub throttle: Option<(Duration, u32)>,
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
    /// Other gateways count as well, and the shared store is being asked; see [`SessionLimits::pending`].
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
    pub fn new(limit: &AccessLimit, scope: &str, source: &LimitSource<'_>) -> Self {
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
    pub fn with_rate(&self, written: &RateLimit, counter: String, source: &LimitSource<'_>) -> Self {
        let on_store_failure = self.on_store_failure;
        let rule = RateRule::new(written, 0, counter, source, on_store_failure.rate_limit);
        let rates = rule.map(|rule| RateRule { smoothing: self.smoothing, ..rule }).into_iter().collect();
        SessionLimits { rates, quota: self.quota.clone(), throttle: self.throttle, on_store_failure, smoothing: self.smoothing }
    }

    /// Counts a request against all limits, or against none if one of them is exhausted. A limit in dry run counts requests but never
    /// refuses them: the result then says which limit would have refused.
    pub fn admit(
        &self,
        now: Duration,
        now_unix_s: u64,
        checks: Checks,
        dry_run: DryRun,
        patience: WaitPolicy,
    ) -> Result<Option<LimitRejection>, LimitRejection> {
        let mut would_refuse = None;
        // Indexes of rates in dry run that were exceeded and counted nothing. Allocates only when there are some.
        let mut over = Vec::new();
        let rates = if checks.rates { self.rates.as_slice() } else { &[] };
        if rates.len() > 1
            && !dry_run.rate_limit
            && let Some(wait) = rates.iter().find_map(|rule| rule.counter.shared()?.refuses(now))
        {
            // Avoids counting against the other rates only to refund them.
            return Err(LimitRejection::Rate(wait));
        }
        for (index, rule) in rates.iter().enumerate() {
            match rule.admit(now, patience, checks.on_store_failure) {
                Ok(()) => {}
                Err(rejection @ LimitRejection::Rate(_)) if dry_run.rate_limit => {
                    over.push(index);
                    would_refuse = Some(rejection);
                }
                Err(rejection) => {
                    refund(rates.get(..index).unwrap_or_default(), &over, now);
                    return Err(rejection);
                }
            }
        }
        let Some(quota) = self.quota.as_ref().filter(|_| checks.quota) else { return Ok(would_refuse) };
        match quota.take(now, now_unix_s, patience, self.on_store_failure.quota.or(checks.on_store_failure)) {
            Ok(()) => Ok(would_refuse),
            Err(LimitRejection::Quota) if dry_run.quota => Ok(Some(LimitRejection::Quota)),
            Err(rejection) => {
                refund(rates, &over, now);
                Err(rejection)
            }
        }
    }

    /// Lets the rate rise or fall after a request. Returns a change that nobody has been told of.
    #[inline]
    pub fn smooth(&self, now: Duration) -> Option<SmoothingChange> {
        let rules = self.smoothing.as_ref()?;
        let rule = self.rates.first().filter(|rule| rule.smoothing.is_some())?;
        rule.counter.smooth(rule.rate, rules, now)
    }

    /// Takes back what was counted for a request in this second.
    pub fn take_back(&self, now: Duration, now_unix_s: u64, counted: CountedRequest) {
        if counted.rates {
            refund(&self.rates, &[], now);
        }
        if let Some(quota) = self.quota.as_ref().filter(|_| counted.quota) {
            quota.counter.give_back(quota.renewal_s, now_unix_s);
        }
    }

    /// The answer that a request with [`LimitRejection::Asked`] waits for; `None` when it has arrived.
    pub fn pending(&self) -> Option<Pending<()>> {
        let rates = self.rates.iter().filter_map(|rule| rule.counter.shared()?.pending());
        rates.chain(self.quota.iter().filter_map(|quota| quota.counter.shared()?.pending())).next()
    }

    /// Remaining requests under each rate, and the time until it is completely free again.
    pub fn rooms(&self, now: Duration) -> impl Iterator<Item = (&RateRule, u64, Duration)> {
        self.rates.iter().map(move |rule| {
            let (room, full) = rule.counter.room(rule.rate(), now);
            (rule, room, full)
        })
    }

    /// The rate that a request must wait for longest, the requests that it still admits, and how long that is.
    pub fn tightest(&self, now: Duration) -> Option<(&RateRule, u64, Duration)> {
        let waits =
            self.rates.iter().map(|rule| (rule, rule.counter.room(rule.rate(), now).0, rule.counter.wait(rule.rate(), now)));
        waits.max_by_key(|(_, _, wait)| *wait)
    }

    /// Size of the quota and what remains of it.
    pub fn quota(&self, now_unix_s: u64) -> Option<(i64, QuotaView)> {
        let quota = self.quota.as_ref()?;
        let unused = QuotaView { remaining: quota.max, renews_unix_s: 0 };
        Some((quota.max, quota.counter.view(quota.max, now_unix_s).unwrap_or(unused)))
    }
}

/// Refunds a request to the rates that counted it at `now`; rates in `over` have counted nothing.
fn refund(rates: &[RateRule], over: &[usize], now: Duration) {
    let counted = rates.iter().enumerate().filter(|(index, _)| !over.contains(index));
    counted.for_each(|(_, rule)| rule.counter.refund(rule.rate(), now));
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
