//! Response headers about a key's limits: Tyk's `X-Ratelimit-*`, the IETF's `RateLimit` fields, and `Retry-After`.

use crate::exchange::Exchange;
use std::io::Write;
use std::time::Duration;
use tollgate_access::keys::{Key, LimitRejection, RequestLimits};

/// Writes the lines for a request that passed or was refused. In Tyk's default mode a refusal has no `X-Ratelimit-*`.
pub(super) fn write(exchange: &mut Exchange<'_>, key: &Key, limits: &RequestLimits<'_>, refused: Option<LimitRejection>) {
    exchange.response.limit_lines.clear();
    let settings = exchange.arrival.settings;
    if settings.answers.tyk_limit_headers && !(settings.answers.reports_quotas && refused.is_some()) {
        write_tyk(exchange, key, limits);
    }
    if settings.answers.ietf_limit_headers {
        write_ietf(exchange, limits);
        write_retry(exchange, limits, refused);
    }
}

/// Adds the lines of one more rate of `requests` in `window_s`: `room` is left, and after `full` all of it. Tyk's lines have room for one rate: the
/// first, or the one that refuses.
pub(super) fn add_rate(
    exchange: &mut Exchange<'_>,
    name: &str,
    (requests, window_s): (f64, f64),
    (room, full): (u64, Duration),
    refused: Option<Duration>,
) {
    let answers = &exchange.arrival.settings.answers;
    let lines = &mut exchange.response.limit_lines;
    if refused.is_some() {
        lines.clear();
    }
    let requests = requests as u64;
    if answers.tyk_limit_headers && !answers.reports_quotas && lines.is_empty() {
        let reset = exchange.arrival.unix_s.saturating_add(full.as_secs());
        let _ = write!(lines, "X-Ratelimit-Limit: {requests}\r\nX-Ratelimit-Remaining: {room}\r\nX-Ratelimit-Reset: {reset}\r\n");
    }
    if answers.ietf_limit_headers {
        let (window_s, full_s) = (window_s.ceil() as u64, full.as_secs_f64().ceil() as u64);
        let _ = write!(
            lines,
            "RateLimit-Policy: \"{name}\";q={requests};w={window_s}\r\nRateLimit: \"{name}\";r={room};t={full_s}\r\n"
        );
    }
    if let Some(wait) = refused {
        let _ = write!(lines, "Retry-After: {}\r\n", (wait.as_secs_f64().ceil() as u64).max(1));
    }
}

/// Writes the quota, or with `rate_limits` a rate.
fn write_tyk(exchange: &mut Exchange<'_>, key: &Key, limits: &RequestLimits<'_>) {
    let (limit, remaining, reset) = if exchange.arrival.settings.answers.reports_quotas {
        match limits.quota(exchange.arrival.unix_s) {
            Some((max, view)) => (max, view.remaining, i64::try_from(view.renews_unix_s).unwrap_or_default()),
            None => (key.session.quota_max, key.session.quota_remaining, key.session.quota_renews),
        }
    } else {
        let Some((rule, room, full)) = limits.told(exchange.arrival.now) else { return };
        (rule.requests as i64, room as i64, (exchange.arrival.unix_s + full.as_secs()) as i64)
    };
    // Every response to a key has these lines; the formatting machinery would cost three times as much.
    let lines = &mut exchange.response.limit_lines;
    for (name, number) in [("X-Ratelimit-Limit: ", limit), ("X-Ratelimit-Remaining: ", remaining), ("X-Ratelimit-Reset: ", reset)] {
        lines.extend_from_slice(name.as_bytes());
        lines.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        lines.extend_from_slice(b"\r\n");
    }
}

/// Writes every rate and the quota as in draft-ietf-httpapi-ratelimit-headers: `q` requests in `w` seconds; `r` remain, and the limit is
/// completely free again in `t` seconds.
fn write_ietf(exchange: &mut Exchange<'_>, limits: &RequestLimits<'_>) {
    let (now, unix_s) = (exchange.arrival.now, exchange.arrival.unix_s);
    let quota = limits.quota(unix_s);
    if quota.is_none() && limits.rooms(now).next().is_none() {
        return;
    }
    let lines = &mut exchange.response.limit_lines;
    let mut separator = "RateLimit-Policy: ";
    for (rule, _, _) in limits.rooms(now) {
        let (requests, window_s) = (rule.requests.ceil() as u64, rule.window_s.ceil() as u64);
        let _ = write!(lines, "{separator}\"{}\";q={requests};w={window_s}", rule.name);
        separator = ", ";
    }
    if let Some((max, _)) = quota {
        let _ = write!(lines, "{separator}\"quota\";q={max}");
    }
    separator = "\r\nRateLimit: ";
    for (rule, room, full) in limits.rooms(now) {
        let _ = write!(lines, "{separator}\"{}\";r={room};t={}", rule.name, full.as_secs_f64().ceil() as u64);
        separator = ", ";
    }
    if let Some((_, view)) = quota {
        let _ = write!(lines, "{separator}\"quota\";r={}", view.remaining);
        let left_s = view.renews_unix_s.saturating_sub(unix_s);
        if left_s < u64::from(u32::MAX) {
            let _ = write!(lines, ";t={left_s}");
        }
    }
    lines.extend_from_slice(b"\r\n");
}

/// Writes `Retry-After`, unless a retry is pointless.
fn write_retry(exchange: &mut Exchange<'_>, limits: &RequestLimits<'_>, refused: Option<LimitRejection>) {
    let wait_s = match refused {
        Some(LimitRejection::Rate(wait)) => Some(wait.as_secs_f64().ceil() as u64),
        Some(LimitRejection::Quota) => {
            limits.quota(exchange.arrival.unix_s).map(|(_, view)| view.renews_unix_s.saturating_sub(exchange.arrival.unix_s))
        }
        Some(LimitRejection::Asked | LimitRejection::Silent) | None => None,
    };
    if let Some(wait_s) = wait_s.filter(|wait_s| *wait_s < u64::from(u32::MAX)) {
        let _ = write!(exchange.response.limit_lines, "Retry-After: {}\r\n", wait_s.max(1));
    }
}
