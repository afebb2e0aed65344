//! The key's rates and quota. Reads the session's limits and the API's `disable_rate_limit` and `disable_quota`. The client sees 429
//! `Rate Limit Exceeded`, 403 `Quota exceeded`, and `X-Ratelimit-*` headers; a request over a rate with throttling is held and tried
//! again, and one that other gateways count as well until the store has answered. What is refused counts nothing. In dry run a header says what would have been refused.

use super::{Middleware, limit_headers};
use crate::compile::Source;
use crate::exchange::{Exchange, Step};
use crate::keys::{Checks, Key, Rejection};
use crate::refusal::{self, Refusal};

pub struct KeyLimits {
    checks: Checks,
}

impl KeyLimits {
    pub fn compile(source: &mut Source<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        let on_store_failure = definition.tollgate.on_store_failure;
        let checks = Checks { rates: !definition.disable_rate_limit, quota: !definition.disable_quota, on_store_failure };
        let applies = !definition.use_keyless && (checks.rates || checks.quota);
        applies.then(|| Box::new(KeyLimits { checks }) as Box<dyn Middleware>)
    }
}

impl Middleware for KeyLimits {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        // Taken out and put back: counting its holders would touch memory that all cores touch.
        let Some(key) = exchange.key.take() else { return Step::Next };
        let step = if exchange.check_limits { self.check(exchange, &key) } else { Step::Next };
        exchange.key = Some(key);
        step
    }
}

impl KeyLimits {
    fn check(&self, exchange: &mut Exchange<'_>, key: &Key) -> Step {
        let limits = exchange.limits_of(key);
        if exchange.answers.has_passed(self) {
            limit_headers::write(exchange, key, limits, None);
            return Step::Next;
        }
        let admitted = limits.admit(exchange.now, exchange.unix_s, self.checks, key.dry_run, exchange.patience());
        match admitted {
            Ok(would_refuse) => {
                match would_refuse {
                    Some(rejection) => exchange.report_dry_run(&refusal_of(rejection)),
                    // What comes next may hold the request once more.
                    None if exchange.keys.shared_keys().is_some() => exchange.answers.pass(self),
                    None => {}
                }
                limit_headers::write(exchange, key, limits, None);
                Step::Next
            }
            Err(Rejection::Asked) => exchange.hold_for_limits(limits.pending()),
            Err(rejection) => {
                if let (Rejection::Rate(_), Some((interval, tries))) = (rejection, limits.throttle)
                    && exchange.tries < tries
                {
                    return Step::Wait(interval);
                }
                limit_headers::write(exchange, key, limits, Some(rejection));
                Step::Refuse(refusal_of(rejection))
            }
        }
    }
}

fn refusal_of(rejection: Rejection) -> Refusal {
    match rejection {
        Rejection::Rate(_) => refusal::KEY_RATE_LIMIT,
        Rejection::Quota => refusal::QUOTA_EXCEEDED,
        Rejection::Asked | Rejection::Silent => refusal::STORE_SILENT,
    }
}
