//! The key's rates and quota, and on an MCP proxy its rates for the call's method and primitive. Reads the session's limits and the API's
//! `disable_rate_limit` and `disable_quota`. The client sees 429 `Rate Limit Exceeded`, 403 `Quota exceeded`, and `X-Ratelimit-*` headers. A
//! request over a rate with throttling is held and retried; a request under limits that gateways share is held until the store answers. A
//! refused request counts nothing. In dry run a header says what would have been refused.

use super::{Middleware, limit_headers};
use crate::events::key_places;
use crate::exchange::{Exchange, Step};
use crate::middleware::MiddlewareSource;
use crate::quota_monitor::QuotaMonitor;
use crate::refusal::{self, Refusal};
use crate::refusal_events::{sent_key, tell_refusal, tell_smoothing};
use std::sync::Arc;
use std::time::Duration;
use tollgate_access::keys::{Checks, CountedRequest, Key, LimitRejection};
use tollgate_engine::HoldUntil;
use tollgate_model::api::AuthConfig;
use tollgate_observe::LimitFact;

pub(super) struct KeyLimits {
    checks: Checks,
    monitor: Option<MonitoredKeys>,
}

/// What is told of a quota that is used to a share.
struct MonitoredKeys {
    monitor: Arc<QuotaMonitor>,
    /// Where requests have their keys.
    places: Option<Arc<AuthConfig>>,
    org: String,
}

impl KeyLimits {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        let on_store_failure = definition.tollgate.on_store_failure;
        let checks = Checks { rates: !definition.disable_rate_limit, quota: !definition.disable_quota, on_store_failure };
        let applies = !definition.use_keyless && (checks.rates || checks.quota);
        let monitor = source.context.settings.callers.quota_monitor.as_ref().filter(|monitor| monitor.watches_keys && checks.quota);
        let monitor = monitor.map(|monitor| MonitoredKeys {
            monitor: monitor.clone(),
            places: key_places(definition),
            org: definition.org_id.clone(),
        });
        applies.then(|| Box::new(KeyLimits { checks, monitor }) as Box<dyn Middleware>)
    }
}

impl Middleware for KeyLimits {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        // Taken out and put back: a reference count would touch memory that all cores share.
        let Some(key) = exchange.caller.key.take() else { return Step::Next };
        let step = if !exchange.decisions.skips_limits { self.check(exchange, &key) } else { Step::Next };
        exchange.caller.key = Some(key);
        step
    }

    fn limit_of(&self, exchange: &Exchange<'_>, refusal: &Refusal) -> Option<LimitFact> {
        let key = exchange.caller.key.as_deref()?;
        limit_fact(exchange, key, "key", *refusal == refusal::QUOTA_EXCEEDED)
    }
}

/// The quota of a key or organisation, or the rate that is exhausted.
pub(super) fn limit_fact(exchange: &Exchange<'_>, key: &Key, of: &str, is_quota: bool) -> Option<LimitFact> {
    let limits = exchange.limits_of(key);
    let of = of.to_owned();
    if is_quota {
        let (max, view) = limits.quota(exchange.arrival.unix_s)?;
        let renewal_s = u64::try_from(key.session.quota_renewal_rate).ok().filter(|seconds| *seconds > 0);
        return Some(LimitFact {
            what: "quota".to_owned(),
            of,
            max: u64::try_from(max).unwrap_or_default(),
            per_s: renewal_s,
            left: view.remaining,
            retry_unix_s: renewal_s.map(|_| view.renews_unix_s),
        });
    }
    let (rule, room, wait) = limits.tightest(exchange.arrival.now)?;
    Some(rate_fact(exchange, of, (rule.requests, rule.window_s), room, wait))
}

/// A rate of `requests` in `window_s`, of which `room` is left; after `wait` a request passes.
pub(super) fn rate_fact(
    exchange: &Exchange<'_>,
    of: String,
    (requests, window_s): (f64, f64),
    room: u64,
    wait: Duration,
) -> LimitFact {
    let wait_s = wait.as_secs_f64().ceil().max(1.0) as u64;
    LimitFact {
        what: "rate".to_owned(),
        of,
        max: requests as u64,
        per_s: Some(window_s.ceil() as u64),
        left: i64::try_from(room).unwrap_or(i64::MAX),
        retry_unix_s: Some(exchange.arrival.unix_s + wait_s),
    }
}

impl KeyLimits {
    fn check(&self, exchange: &mut Exchange<'_>, key: &Key) -> Step {
        let limits = exchange.limits_of(key);
        let admitted = match limits.throttle() {
            // As in Tyk, which waits once more after the last try, and then refuses.
            Some((_, tries)) if exchange.decisions.throttled > tries => {
                let wait = limits.tightest(exchange.arrival.now).map(|(_, _, wait)| wait);
                Err(LimitRejection::Rate(wait.unwrap_or_default()))
            }
            _ => limits.admit(exchange.arrival.now, exchange.arrival.unix_s, self.checks, key.dry_run, exchange.patience()),
        };
        if admitted != Err(LimitRejection::Asked)
            && let Some(change) = limits.smooth(exchange.arrival.now)
            && let Some(events) = &exchange.api.events
        {
            tell_smoothing(events, exchange, key, change);
        }
        match admitted {
            Ok(would_refuse) => {
                exchange.decisions.counted = CountedRequest::of(self.checks, would_refuse);
                let would_refuse = would_refuse.map(refusal_of);
                would_refuse.iter().for_each(|refusal| exchange.report_dry_run(refusal));
                limit_headers::write(exchange, key, &limits, None);
                if let Some(MonitoredKeys { monitor, places, org }) = &self.monitor {
                    let shown = || sent_key(places.as_deref(), org, exchange, Some(key));
                    monitor.look(key, &key.session.org_id, &limits, exchange.arrival.unix_s, shown);
                }
                Step::Next
            }
            Err(LimitRejection::Asked) => exchange.hold_for_limits(limits.pending()),
            Err(rejection) => {
                if let (LimitRejection::Rate(_), Some((interval, tries))) = (rejection, limits.throttle())
                    && exchange.decisions.throttled <= tries
                {
                    // As in Tyk, which reports a throttled request once, before it waits.
                    if exchange.decisions.throttled == 0
                        && let Some(events) = &exchange.api.events
                    {
                        tell_refusal(events, exchange, Some(key), &refusal::KEY_RATE_LIMIT);
                    }
                    exchange.decisions.throttled += 1;
                    return Step::again(HoldUntil::Time(interval));
                }
                limit_headers::write(exchange, key, &limits, Some(rejection));
                Step::Refuse(refusal_of(rejection))
            }
        }
    }
}

/// Takes back the counts of a request that is refused after its key's limits have passed it.
pub(super) fn take_back(exchange: &mut Exchange<'_>) {
    let Some(key) = exchange.caller.key.take() else { return };
    let limits = exchange.limits_of(&key);
    limits.take_back(exchange.arrival.now, exchange.arrival.unix_s, exchange.decisions.counted);
    if exchange.decisions.counted != CountedRequest::default() {
        limit_headers::write(exchange, &key, &limits, None);
    }
    exchange.caller.key = Some(key);
}

fn refusal_of(rejection: LimitRejection) -> Refusal {
    match rejection {
        LimitRejection::Rate(_) => refusal::KEY_RATE_LIMIT,
        LimitRejection::Quota => refusal::QUOTA_EXCEEDED,
        LimitRejection::Asked | LimitRejection::Silent => refusal::STORE_SILENT,
    }
}
