//! `/tyk/health`: recent results of an API's requests, per second. Sampled from the counters behind the metrics, so that requests
//! cost nothing extra. `health_check.enable_health_checks` enables it.

use super::Control;
use super::answer::{ControlAnswer, Error, error, ok};
use super::failures::NoSuchApi;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Serialize;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tollgate_model::config::GatewayConfig;
use tollgate_observe::{Meter, Meters};
use utoipa::ToSchema;

/// Samples per window. Each has about 100 bytes per API.
const NOTES: u32 = 12;

/// Samples of the window.
pub struct ApiHealth {
    window: Duration,
    /// Counts by API, oldest first.
    notes: Mutex<VecDeque<HashMap<String, Counts>>>,
}

/// Results of an API's requests since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    throttled: u64,
    over_quota: u64,
    key_failures: u64,
    sent_on: u64,
    upstream_ns: u64,
}

/// Recent request rates of an API. Names and spelling are Tyk's.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ApiHealth)]
pub(super) struct Recently {
    /// Requests rejected by a rate limit.
    #[serde(rename = "throttle_reqests_per_second")]
    throttled: f64,
    /// Requests rejected by a quota.
    #[serde(rename = "quota_violations_per_second")]
    over_quota: f64,
    /// Requests without a valid key or without the required access right.
    #[serde(rename = "key_failures_per_second")]
    key_failures: f64,
    /// Average latency of the upstream in milliseconds.
    #[serde(rename = "average_upstream_latency")]
    upstream_latency_ms: u64,
    /// Requests that were sent to the upstream.
    #[serde(rename = "average_requests_per_second")]
    sent_on: f64,
}

impl ApiHealth {
    /// Health of APIs over the configured window; `None` if it or the metrics are disabled.
    pub fn new(config: &GatewayConfig) -> Option<Self> {
        let is_on = config.health_check.enable_health_checks && config.tollgate.metrics.enabled;
        let seconds = u64::try_from(config.health_check.health_check_value_timeouts).ok().filter(|seconds| *seconds > 0);
        is_on.then(|| ApiHealth { window: Duration::from_secs(seconds.unwrap_or(60)), notes: Mutex::default() })
    }

    /// Takes samples while the process lives.
    pub async fn watch(&self, meters: &Meters) {
        loop {
            let counts = meters.all().iter().filter_map(|meter| Some((meter.api.clone(), Counts::of(meter)?))).collect();
            self.note(counts);
            tokio::time::sleep(self.window / NOTES).await;
        }
    }

    fn note(&self, counts: HashMap<String, Counts>) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.push_back(counts);
        if notes.len() > NOTES as usize {
            notes.pop_front();
        }
    }

    /// Counts since the oldest sample.
    fn lately(&self, api: &str, now: Counts) -> Counts {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        let then = notes.front().and_then(|oldest| oldest.get(api)).copied().unwrap_or_default();
        Counts {
            throttled: now.throttled.saturating_sub(then.throttled),
            over_quota: now.over_quota.saturating_sub(then.over_quota),
            key_failures: now.key_failures.saturating_sub(then.key_failures),
            sent_on: now.sent_on.saturating_sub(then.sent_on),
            upstream_ns: now.upstream_ns.saturating_sub(then.upstream_ns),
        }
    }

    /// Events per second, truncated to two decimals.
    fn per_second(&self, count: u64) -> f64 {
        (count as f64 / self.window.as_secs_f64() * 100.0).floor() / 100.0
    }
}

impl Counts {
    fn of(meter: &Meter) -> Option<Self> {
        let sum = meter.sum()?;
        let refused = |is_meant: fn(&str) -> bool| -> u64 {
            sum.refusals.iter().filter(|(cause, _)| is_meant(cause)).map(|(_, count)| *count).sum()
        };
        Some(Counts {
            throttled: refused(|cause| cause.ends_with("rate_limit")),
            over_quota: refused(|cause| cause.ends_with("quota_exceeded")),
            key_failures: refused(is_key_failure),
            sent_on: sum.upstream_time.count(),
            upstream_ns: sum.upstream_time.sum_ns,
        })
    }
}

/// Whether a cause concerns the caller's identity or rights, and not a limit.
fn is_key_failure(cause: &str) -> bool {
    let is_about_key = ["auth_", "key_", "token_", "jwt_"].iter().any(|start| cause.starts_with(start));
    let is_about_rights = matches!(cause, "api_disallowed" | "resource_disallowed");
    (is_about_key || is_about_rights) && !cause.ends_with("rate_limit")
}

/// Recent request rates of an API
///
/// The names are Tyk's. `health_check.enable_health_checks` enables it.
#[utoipa::path(
    get, path = "/tyk/health", tag = "Figures", operation_id = "getApiHealth",
    security(("secret" = ["viewer", "scope:query:api_id"])),
    params(("api_id" = String, Query, description = "Id of the API.", example = "quick")),
    responses(
        (status = 200, body = Recently, description = "Figures of the last `health_check_value_timeouts` seconds."),
        (status = 400, body = Error, description = "`enable_health_checks` is off, or `api_id` is missing."),
        NoSuchApi,
    )
)]
pub(super) async fn health(State(control): State<Arc<Control>>, Query(query): Query<HashMap<String, String>>) -> ControlAnswer {
    let Some(health) = &control.api_health else {
        return error(StatusCode::BAD_REQUEST, "Health checks are not enabled for this node");
    };
    let Some(id) = query.get("api_id").filter(|id| !id.is_empty()) else {
        return error(StatusCode::BAD_REQUEST, "missing api_id parameter");
    };
    if control.shared.current.load().api(id).is_none() {
        return error(StatusCode::NOT_FOUND, "API ID not found");
    }
    let meters = control.shared.registry.meters.all();
    let Some(meter) = meters.iter().find(|meter| meter.api == *id) else {
        let message = "this API is counted together with others: there are more than tollgate.metrics.apis_max";
        return error(StatusCode::NOT_FOUND, message);
    };
    let lately = health.lately(id, Counts::of(meter).unwrap_or_default());
    let upstream_latency_ms = lately.upstream_ns.checked_div(lately.sent_on).unwrap_or_default() / 1_000_000;
    ok(Recently {
        throttled: health.per_second(lately.throttled),
        over_quota: health.per_second(lately.over_quota),
        key_failures: health.per_second(lately.key_failures),
        upstream_latency_ms,
        sent_on: health.per_second(lately.sent_on),
    })
}

#[cfg(test)]
mod tests;
