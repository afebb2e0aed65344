//! `GET {listen_path}/tyk/rate-limits/`: a caller's own limits and remaining quota, as JSON. Counts nothing.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use serde_json::json;

pub(super) struct LimitsReport;

impl LimitsReport {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        (!source.definition.use_keyless).then(|| Box::new(LimitsReport) as Box<dyn Middleware>)
    }
}

impl Middleware for LimitsReport {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let is_asked = exchange.method == "GET" && exchange.path_behind_listen().trim_end_matches('/') == "/tyk/rate-limits";
        let Some(key) = exchange.caller.key.as_ref().filter(|_| is_asked) else { return Step::Next };
        let limits = key.limits(&exchange.api.id);
        let (max, remaining, renews) = match limits.quota(exchange.arrival.unix_s) {
            Some((max, view)) => (max, view.remaining, view.renews_unix_s),
            None => {
                (key.session.quota_max, key.session.quota_remaining, u64::try_from(key.session.quota_renews).unwrap_or_default())
            }
        };
        let rate = limits.rooms(exchange.arrival.now).next();
        let (requests, per) = rate.map_or((0.0, 0.0), |(rule, _, _)| (rule.requests, rule.window_s));
        let report = json!({
            "quota": { "quota_max": max, "quota_remaining": remaining, "quota_renews": renews },
            "rate_limit": { "requests": number(requests), "per_unit": number(per) },
        });
        let outgoing = exchange.begin_reply(200);
        outgoing.edits.add_lines(b"Content-Type: application/json\r\n");
        outgoing.body.extend_from_slice(report.to_string().as_bytes());
        outgoing.body.push(b'\n');
        Step::Reply
    }
}

/// A whole number as an integer, without `.0`.
fn number(value: f64) -> serde_json::Value {
    if value.fract() == 0.0 && value.abs() < 1e15 { json!(value as i64) } else { json!(value) }
}
