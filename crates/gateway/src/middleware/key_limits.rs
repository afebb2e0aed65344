//! The key's rates and quota. Reads the session's limits and the API's `disable_rate_limit` and `disable_quota`. The client sees 429
//! `Rate Limit Exceeded`, 403 `Quota exceeded`, and `X-Ratelimit-*` headers; a request over a rate with throttling is held and tried
//! again. What is refused counts nothing. In dry run a header says what would have been refused.

use super::Middleware;
use crate::compile::Source;
use crate::exchange::{Exchange, Step};
use crate::keys::{Checks, Key, Rejection};
use crate::refusal;
use std::fmt::Write;
use std::sync::Arc;

pub struct KeyLimits {
    checks: Checks,
}

impl KeyLimits {
    pub fn compile(source: &mut Source<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        let checks = Checks { rates: !definition.disable_rate_limit, quota: !definition.disable_quota };
        let applies = !definition.use_keyless && (checks.rates || checks.quota);
        applies.then(|| Box::new(KeyLimits { checks }) as Box<dyn Middleware>)
    }
}

impl Middleware for KeyLimits {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(key) = exchange.key.clone().filter(|_| exchange.check_limits) else { return Step::Next };
        let limits = key.limits(&exchange.api.id);
        let admitted = limits.admit(exchange.now, exchange.unix_s, self.checks, key.dry_run);
        match admitted {
            Ok(would_refuse) => {
                if let Some(rejection) = would_refuse {
                    exchange.report_dry_run(cause(rejection));
                }
                write_headers(exchange, &key);
                Step::Next
            }
            Err(Rejection::Rate(_)) => {
                if let Some((interval, tries)) = limits.throttle
                    && exchange.tries < tries
                {
                    return Step::Wait(interval);
                }
                write_headers(exchange, &key);
                Step::Refuse(refusal::KEY_RATE_LIMIT)
            }
            Err(Rejection::Quota) => {
                write_headers(exchange, &key);
                Step::Refuse(refusal::QUOTA_EXCEEDED)
            }
        }
    }
}

fn cause(rejection: Rejection) -> &'static str {
    match rejection {
        Rejection::Rate(_) => refusal::KEY_RATE_LIMIT.cause,
        Rejection::Quota => refusal::QUOTA_EXCEEDED.cause,
    }
}

/// What is left, in Tyk's headers: of the quota, or with `rate_limits` of the rate.
fn write_headers(exchange: &mut Exchange<'_>, key: &Arc<Key>) {
    let limits = key.limits(&exchange.api.id);
    let (limit, remaining, reset) = if exchange.settings.reports_quotas {
        match limits.quota(exchange.unix_s) {
            Some((max, view)) => (max, view.remaining, i64::try_from(view.renews_unix_s).unwrap_or_default()),
            None => (key.session.quota_max, key.session.quota_remaining, key.session.quota_renews),
        }
    } else {
        let Some((room, full)) = limits.room(exchange.now) else { return };
        (limits.shown_rate as i64, room as i64, (exchange.unix_s + full.as_secs()) as i64)
    };
    exchange.limit_lines.clear();
    let mut lines = String::with_capacity(96);
    let _ = write!(lines, "X-Ratelimit-Limit: {limit}\r\nX-Ratelimit-Remaining: {remaining}\r\nX-Ratelimit-Reset: {reset}\r\n");
    exchange.limit_lines.extend_from_slice(lines.as_bytes());
}
