//! The limits that hold for a key on an API: rates and a quota, all of them or none.

use super::Counters;
use super::quota::{Quota, QuotaView};
use crate::limit::{Gcra, Rate};
use std::sync::Arc;
use std::time::Duration;
use tollgate_model::session::{AccessLimit, DryRun};

/// Rates and a quota with their counters.
pub struct Limits {
    rates: Vec<RateRule>,
    quota: Option<QuotaRule>,
    /// How long a request over the rate is held, and how often.
    pub throttle: Option<(Duration, u32)>,
}

/// One rate as it was written, and its counter.
pub struct RateRule {
    /// For clients; letters, digits, `-`, `_` and `.`.
    pub name: String,
    pub requests: f64,
    pub window_s: f64,
    rate: Rate,
    counter: Arc<Gcra>,
}

struct QuotaRule {
    max: i64,
    renewal_s: i64,
    counter: Arc<Quota>,
}

/// Why a request is over a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// A rate; it may come again after this long.
    Rate(Duration),
    Quota,
}

/// Which limits an API asks for.
#[derive(Clone, Copy, Debug)]
pub struct Checks {
    pub rates: bool,
    pub quota: bool,
}

impl Limits {
    /// The limits of a document, with the counters of a scope.
    pub fn new(limit: &AccessLimit, scope: &str, counters: &Counters, quota: &dyn Fn(&str) -> Arc<Quota>) -> Self {
        let mut rates = Vec::new();
        for (index, written) in limit.rate_limits().enumerate() {
            let burst = written.burst.unwrap_or(written.rate);
            let Some(rate) = Rate::with_burst(written.rate, written.per, burst) else { continue };
            let name = written.name.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).collect::<String>();
            rates.push(RateRule {
                name: if name.is_empty() { format!("rate-{}", index + 1) } else { name },
                requests: written.rate,
                window_s: written.per,
                rate,
                counter: counters.rate(format!("{scope}/{index}")),
            });
        }
        let rule = |max| QuotaRule { max, renewal_s: limit.quota_renewal_rate, counter: quota(scope) };
        let interval = Duration::try_from_secs_f64(limit.throttle_interval).unwrap_or_default();
        let tries = u32::try_from(limit.throttle_retry_limit).unwrap_or_default();
        let throttle = (!interval.is_zero() && tries > 0).then_some((interval, tries));
        Limits { rates, quota: limit.quota().map(rule), throttle }
    }

    /// Counts a request against all limits, or against none if one of them is used up. What is in dry run is counted and never
    /// refuses: then the answer says what would have.
    pub fn admit(&self, now: Duration, now_unix_s: u64, checks: Checks, dry_run: DryRun) -> Result<Option<Rejection>, Rejection> {
        let mut would_refuse = None;
        let rates = if checks.rates { self.rates.as_slice() } else { &[] };
        for (index, rule) in rates.iter().enumerate() {
            if let Err(wait) = rule.counter.admit(rule.rate, now) {
                if !dry_run.rate_limit {
                    self.refund(index);
                    return Err(Rejection::Rate(wait));
                }
                would_refuse = Some(Rejection::Rate(wait));
            }
        }
        let Some(quota) = self.quota.as_ref().filter(|_| checks.quota) else { return Ok(would_refuse) };
        match quota.counter.take(quota.max, quota.renewal_s, now_unix_s) {
            Ok(_) => Ok(would_refuse),
            Err(_) if dry_run.quota => Ok(Some(Rejection::Quota)),
            Err(_) => {
                self.refund(rates.len());
                Err(Rejection::Quota)
            }
        }
    }

    /// Takes back what the first `count` rates have counted.
    fn refund(&self, count: usize) {
        self.rates.iter().take(count).for_each(|rule| rule.counter.refund(rule.rate));
    }

    /// Room under each rate, and how long until it is all there again.
    pub fn rooms(&self, now: Duration) -> impl Iterator<Item = (&RateRule, u64, Duration)> {
        self.rates.iter().map(move |rule| {
            let (room, full) = rule.counter.room(rule.rate, now);
            (rule, room, full)
        })
    }

    /// The quota's size and what is left of it.
    pub fn quota(&self, now_unix_s: u64) -> Option<(i64, QuotaView)> {
        let quota = self.quota.as_ref()?;
        let unused = QuotaView { remaining: quota.max, renews_unix_s: 0 };
        Some((quota.max, quota.counter.view(quota.max, now_unix_s).unwrap_or(unused)))
    }
}
