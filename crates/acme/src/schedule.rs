//! When a certificate is renewed, and when a try that failed is made again. No clock: times are in seconds since 1970.

use crate::documents::PlannedCertificate;
use crate::staple::ASK_S_MOST as STATUS_S_MOST;

/// Between the first failure and the next try; twice as long after each further one.
const AGAIN_S_FIRST: u64 = 60;
const AGAIN_S_MAX: u64 = 24 * 3600;
/// As long as this is left of a certificate, an issuer's own wait is long enough.
const URGENT_S: u64 = 24 * 3600;
const AGAIN_URGENT_S_MAX: u64 = 3600;

/// What is to be done with a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextStep {
    /// It is ordered.
    Order,
    /// Its issuer is asked when it is to be renewed.
    AskIssuer,
    /// Its issuer is asked whether it is revoked.
    AskStatus,
    /// Nothing, for now.
    Wait,
}

pub(crate) fn next_step(plan: &PlannedCertificate, now: u64) -> NextStep {
    // A time that is further away than any wait was noted while the clock was wrong.
    let is_status_due = !(1..=STATUS_S_MOST).contains(&plan.status_unix_s.saturating_sub(now));
    let is_asked_about = now < plan.ends_unix_s && plan.status_unix_s != plan.ends_unix_s;
    if !plan.id.is_empty() && is_asked_about && is_status_due {
        NextStep::AskStatus
    } else if (1..=AGAIN_S_MAX).contains(&plan.again_unix_s.saturating_sub(now)) {
        NextStep::Wait
    } else if plan.id.is_empty() || now >= plan.renew_unix_s {
        NextStep::Order
    } else if now >= plan.ask_unix_s {
        NextStep::AskIssuer
    } else {
        NextStep::Wait
    }
}

/// When a certificate is renewed whose issuer says nothing about it: when a third of its time is left, half of it if that is short.
pub(crate) fn renewal(since: u64, ends: u64) -> u64 {
    let time = ends.saturating_sub(since);
    let left = if time < 10 * 24 * 3600 { time / 2 } else { time / 3 };
    ends.saturating_sub(left)
}

/// A moment in the window that an issuer suggests; `share` between 0 and 1 spreads the load of many. What is in the past is now.
pub(crate) fn within(window: (u64, u64), share: f64, now: u64) -> u64 {
    let (start, end) = window;
    let length = end.saturating_sub(start);
    // A window of years has far fewer seconds than fit.
    let chosen = start + (length as f64 * share) as u64;
    chosen.max(now)
}

/// Notes that a try has failed.
pub(crate) fn note_failure(plan: &mut PlannedCertificate, why: String, now: u64) {
    plan.failures = plan.failures.saturating_add(1);
    plan.error = why;
    let is_urgent = plan.id.is_empty() || plan.ends_unix_s < now + URGENT_S;
    let most = if is_urgent { AGAIN_URGENT_S_MAX } else { AGAIN_S_MAX };
    let wait = AGAIN_S_FIRST.saturating_mul(1 << (plan.failures - 1).min(20));
    plan.again_unix_s = now + wait.min(most);
}

#[cfg(test)]
mod tests;
