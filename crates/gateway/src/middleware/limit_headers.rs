//! What responses say about a key's limits: Tyk's `X-Ratelimit-*`, the IETF's `RateLimit` fields, and when to come again.

use crate::exchange::Exchange;
use crate::keys::{Key, Limits, Rejection};
use std::fmt::Write;
use std::sync::Arc;

/// Writes the lines for a request that passed, or for one that is refused. In Tyk's default mode a refusal has no `X-Ratelimit-*`.
pub fn write(exchange: &mut Exchange<'_>, key: &Arc<Key>, refused: Option<Rejection>) {
    let limits = key.limits(&exchange.api.id);
    let mut lines = String::with_capacity(128);
    let settings = exchange.settings;
    if settings.tyk_limit_headers && !(settings.reports_quotas && refused.is_some()) {
        write_tyk(exchange, key, limits, &mut lines);
    }
    if settings.ietf_limit_headers {
        write_ietf(exchange, limits, &mut lines);
        let wait_s = match refused {
            Some(Rejection::Rate(wait)) => Some(wait.as_secs_f64().ceil() as u64),
            Some(Rejection::Quota) => {
                limits.quota(exchange.unix_s).map(|(_, view)| view.renews_unix_s.saturating_sub(exchange.unix_s))
            }
            None => None,
        };
        if let Some(wait_s) = wait_s.filter(|wait_s| *wait_s < u64::from(u32::MAX)) {
            let _ = write!(lines, "Retry-After: {}\r\n", wait_s.max(1));
        }
    }
    exchange.limit_lines.clear();
    exchange.limit_lines.extend_from_slice(lines.as_bytes());
}

/// The quota, or with `rate_limits` the first rate.
fn write_tyk(exchange: &Exchange<'_>, key: &Key, limits: &Limits, lines: &mut String) {
    let (limit, remaining, reset) = if exchange.settings.reports_quotas {
        match limits.quota(exchange.unix_s) {
            Some((max, view)) => (max, view.remaining, i64::try_from(view.renews_unix_s).unwrap_or_default()),
            None => (key.session.quota_max, key.session.quota_remaining, key.session.quota_renews),
        }
    } else {
        let Some((rule, room, full)) = limits.rooms(exchange.now).next() else { return };
        (rule.requests as i64, room as i64, (exchange.unix_s + full.as_secs()) as i64)
    };
    let _ = write!(lines, "X-Ratelimit-Limit: {limit}\r\nX-Ratelimit-Remaining: {remaining}\r\nX-Ratelimit-Reset: {reset}\r\n");
}

/// Every rate and the quota, as draft-ietf-httpapi-ratelimit-headers has them: `q` requests in `w` seconds, `r` are left, and in `t`
/// seconds all are there again.
fn write_ietf(exchange: &Exchange<'_>, limits: &Limits, lines: &mut String) {
    let (mut policies, mut states) = (Vec::new(), Vec::new());
    for (rule, room, full) in limits.rooms(exchange.now) {
        policies.push(format!("\"{}\";q={};w={}", rule.name, rule.requests.ceil() as u64, rule.window_s.ceil() as u64));
        states.push(format!("\"{}\";r={room};t={}", rule.name, full.as_secs_f64().ceil() as u64));
    }
    if let Some((max, view)) = limits.quota(exchange.unix_s) {
        policies.push(format!("\"quota\";q={max}"));
        let left_s = view.renews_unix_s.saturating_sub(exchange.unix_s);
        let time = if left_s < u64::from(u32::MAX) { format!(";t={left_s}") } else { String::new() };
        states.push(format!("\"quota\";r={}{time}", view.remaining));
    }
    if !policies.is_empty() {
        let _ = write!(lines, "RateLimit-Policy: {}\r\nRateLimit: {}\r\n", policies.join(", "), states.join(", "));
    }
}
