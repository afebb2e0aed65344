//! The limits of one request: those of its key on the API, and the rates of its method and primitive on an MCP proxy. A request is counted
//! against all of them or against none.

use super::{Checks, CountedRequest, LimitRejection, RateRule, SessionLimits};
use crate::keys::quota::QuotaView;
use std::time::Duration;
use tollgate_clock::Pending;
use tollgate_limit::{SmoothingChange, WaitPolicy};
use tollgate_model::session::DryRun;

/// All limits that count one request.
#[derive(Clone, Copy)]
pub struct RequestLimits<'k> {
    own: &'k SessionLimits,
    call: CallRates<'k>,
}

/// The rates of a call's method and primitive.
#[derive(Clone, Copy, Default)]
pub struct CallRates<'k>([Option<&'k RateRule>; 2]);

impl<'k> CallRates<'k> {
    pub(in crate::keys) fn new(of_method: Option<&'k RateRule>, of_primitive: Option<&'k RateRule>) -> Self {
        CallRates([of_method, of_primitive])
    }

    /// Whether nothing counts the call.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

impl<'k> RequestLimits<'k> {
    pub(in crate::keys) fn new(own: &'k SessionLimits, call: CallRates<'k>) -> Self {
        RequestLimits { own, call }
    }

    /// The same limits, with the rates of a call.
    pub fn with_call(self, call: CallRates<'k>) -> Self {
        RequestLimits { call, ..self }
    }

    /// How long a request over the rate is held before a retry, and how many retries it gets.
    #[inline]
    pub fn throttle(&self) -> Option<(Duration, u32)> {
        self.own.throttle
    }

    #[inline]
    fn rates(&self) -> impl Iterator<Item = &'k RateRule> + use<'k> {
        self.own.rates.iter().chain(self.call.0.into_iter().flatten())
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
        let counted = if checks.rates { usize::MAX } else { 0 };
        if self.rates().take(counted).nth(1).is_some()
            && !dry_run.rate_limit
            && let Some(wait) = self.rates().find_map(|rule| rule.counter.shared()?.refuses(now))
        {
            // Avoids counting against the other rates only to refund them.
            return Err(LimitRejection::Rate(wait));
        }
        for (index, rule) in self.rates().take(counted).enumerate() {
            match rule.admit(now, patience, checks.on_store_failure) {
                Ok(()) => {}
                Err(rejection @ LimitRejection::Rate(_)) if dry_run.rate_limit => {
                    over.push(index);
                    would_refuse = Some(rejection);
                }
                Err(rejection) => {
                    self.refund(index, &over, now);
                    return Err(rejection);
                }
            }
        }
        let Some(quota) = self.own.quota.as_ref().filter(|_| checks.quota) else { return Ok(would_refuse) };
        match quota.take(now, now_unix_s, patience, self.own.on_store_failure.quota.or(checks.on_store_failure)) {
            Ok(()) => Ok(would_refuse),
            Err(LimitRejection::Quota) if dry_run.quota => Ok(Some(LimitRejection::Quota)),
            Err(rejection) => {
                self.refund(counted, &over, now);
                Err(rejection)
            }
        }
    }

    /// Lets the rate rise or fall after a request. Returns a change that nobody has been told of.
    #[inline]
    pub fn smooth(&self, now: Duration) -> Option<SmoothingChange> {
        let rules = self.own.smoothing.as_ref()?;
        let rule = self.own.rates.first().filter(|rule| rule.smoothing.is_some())?;
        rule.counter.smooth(rule.rate, rules, now)
    }

    /// Takes back what was counted for a request in this second.
    pub fn take_back(&self, now: Duration, now_unix_s: u64, counted: CountedRequest) {
        if counted.rates {
            self.refund(usize::MAX, &[], now);
        }
        if let Some(quota) = self.own.quota.as_ref().filter(|_| counted.quota) {
            quota.counter.give_back(quota.renewal_s, now_unix_s);
        }
    }

    /// The answer that a request with [`LimitRejection::Asked`] waits for; `None` when it has arrived.
    pub fn pending(&self) -> Option<Pending<()>> {
        let rates = self.rates().filter_map(|rule| rule.counter.shared()?.pending());
        rates.chain(self.own.quota.iter().filter_map(|quota| quota.counter.shared()?.pending())).next()
    }

    /// Remaining requests under each rate, and the time until it is completely free again.
    pub fn rooms(&self, now: Duration) -> impl Iterator<Item = (&'k RateRule, u64, Duration)> + use<'k> {
        self.rates().map(move |rule| {
            let (room, full) = rule.counter.room(rule.rate(), now);
            (rule, room, full)
        })
    }

    /// The rate that clients are told of: of those of a call and its key the one with the least room, otherwise the first.
    pub fn told(&self, now: Duration) -> Option<(&'k RateRule, u64, Duration)> {
        let mut rooms = self.rooms(now);
        if self.call.is_empty() { rooms.next() } else { rooms.min_by_key(|(_, room, _)| *room) }
    }

    /// The rate that a request must wait for longest, the requests that it still admits, and how long that is.
    pub fn tightest(&self, now: Duration) -> Option<(&'k RateRule, u64, Duration)> {
        let waits = self.rates().map(|rule| (rule, rule.counter.room(rule.rate(), now).0, rule.counter.wait(rule.rate(), now)));
        waits.max_by_key(|(_, _, wait)| *wait)
    }

    /// Size of the quota and what remains of it.
    pub fn quota(&self, now_unix_s: u64) -> Option<(i64, QuotaView)> {
        let quota = self.own.quota.as_ref()?;
        let unused = QuotaView { remaining: quota.max, renews_unix_s: 0 };
        Some((quota.max, quota.counter.view(quota.max, now_unix_s).unwrap_or(unused)))
    }

    /// Refunds a request to those of the first `count` rates that counted it at `now`; rates in `over` have counted nothing.
    fn refund(&self, count: usize, over: &[usize], now: Duration) {
        let counted = self.rates().take(count).enumerate().filter(|(index, _)| !over.contains(index));
        counted.for_each(|(_, rule)| rule.counter.refund(rule.rate(), now));
    }
}
