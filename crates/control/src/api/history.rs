//! `/tyk/history`: the last hour in samples of five seconds.

use super::Control;
use super::answer::{ControlAnswer, Error, error, ok};
use super::failures::MetricsOff;
use super::nodes::asks_all;
use super::query::Parameters;
use crate::figures_question::FiguresQuestion;
use crate::nodes::NodeHistory;
use crate::report::api_name;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_observe::GatewayChange;
use tollgate_statistics::{APIS_MAX, STEP_S, SpanQuestion};
use utoipa::ToSchema;

/// Longest step: five minutes.
const STEP_S_MAX: u64 = 300;

/// The last hour. Each column has `samples` elements; element i covers `step_s` seconds from `from_unix_s + i * step_s` on. `null` is a gap: the
/// gateway did not run, or the API was not among the busiest.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what is written in `HistorySpan::to_json`")]
pub(super) struct HistoryAnswer {
    /// The gateway that answers.
    node: String,
    /// The gateways whose figures are in it.
    nodes: Vec<String>,
    /// Gateways that did not answer in time.
    missing: Vec<String>,
    from_unix_s: u64,
    step_s: u64,
    samples: u64,
    /// Bounds of the buckets that percentiles are calculated from.
    upstream_bounds_us: Vec<u64>,
    gateway_bounds_us: Vec<u64>,
    totals: HistoryColumns,
    /// The busiest APIs, with `api_id` and `name` besides their columns.
    apis: Vec<HistoryColumns>,
    /// Busy APIs that are not shown.
    apis_left_out: u64,
    marks: Vec<GatewayChange>,
}

/// Columns of all APIs together, or of one.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what is written in `HistorySpan::to_json`")]
struct HistoryColumns {
    #[schema(required = false)]
    api_id: String,
    #[schema(required = false)]
    name: String,
    requests: Vec<Option<u64>>,
    /// Answers below 400.
    ok: Vec<Option<u64>>,
    /// Answers with 4xx, those of the gateway included.
    client_errors: Vec<Option<u64>>,
    /// Answers with 5xx, those of the gateway included, and requests without an answer.
    server_errors: Vec<Option<u64>>,
    /// Requests that the gateway rejected.
    refused: Vec<Option<u64>>,
    /// Requests that an upstream failed.
    upstream_errors: Vec<Option<u64>>,
    /// Of these, those that took too long.
    timeouts: Vec<Option<u64>>,
    /// Requests at the upstream at the end of the step; in steps of several samples the most.
    in_flight: Vec<Option<u64>>,
    request_bytes: Vec<Option<u64>>,
    response_bytes: Vec<Option<u64>>,
    /// `null` without a request, as for all percentiles. The last bound stands for everything above it.
    upstream_p50_us: Vec<Option<u64>>,
    upstream_p90_us: Vec<Option<u64>>,
    upstream_p99_us: Vec<Option<u64>>,
    gateway_p50_us: Vec<Option<u64>>,
    gateway_p90_us: Vec<Option<u64>>,
    gateway_p99_us: Vec<Option<u64>>,
}

/// The last hour in steps of five seconds
///
/// All APIs together and the 50 busiest, at most 2 MiB. Percentiles are calculated from merged buckets, the gateway's own time apart from the upstream's. Starts and changes of the configuration are marks.
#[utoipa::path(
    get, path = "/tyk/history", tag = "Figures", operation_id = "getHistory",
    security(("secret" = ["viewer", "scope:closed"])),
    params(
        ("api" = Option<String>, Query, description = "Only this API, besides the totals."),
        ("apis" = Option<String>, Query, description = "How many APIs at most; 50 by default.", example = "10"),
        ("from" = Option<String>, Query, description = "Seconds since 1970: nothing before."),
        ("nodes" = Option<String>, Query, description = "`all`: sums over all gateways that share the Redis."),
        ("step" = Option<String>, Query, description = "Seconds per element: a multiple of 5, at most 300.", example = "30"),
    ),
    responses(
        (status = 200, body = HistoryAnswer, description = "The columns."),
        (status = 400, body = Error, description = "A parameter is unknown or has an invalid value."),
        MetricsOff,
    )
)]
pub(super) async fn history(State(control): State<Arc<Control>>, Query(query): Query<HashMap<String, String>>) -> ControlAnswer {
    if !control.shared.observer.metrics {
        return super::metrics::switched_off();
    }
    let (span, is_for_all) = match question(&query) {
        Ok(question) => question,
        Err(message) => return error(StatusCode::BAD_REQUEST, message),
    };
    let from_unix_s = span.from_unix_s.max(tollgate_clock::unix_s().saturating_sub(3_600));
    let asked = FiguresQuestion::History { span: span.clone(), from_unix_s };
    let others = if is_for_all { control.nodes.ask(&asked).await } else { Default::default() };
    let made = tokio::task::spawn_blocking(move || {
        let shared = &control.shared;
        let NodeHistory { span: mut sum, mut marks } = control.nodes.own.history(span, from_unix_s);
        let mut nodes = vec![shared.observer.node().to_owned()];
        let mut missing = others.missing;
        for (node, answer) in others.answers {
            match serde_json::from_value::<NodeHistory>(answer) {
                Ok(own) => {
                    sum.merge(own.span);
                    marks.extend(own.marks);
                    nodes.push(node);
                }
                Err(_) => missing.push(node),
            }
        }
        marks.sort_by_key(|mark| mark.unix_s);
        let mut answer = sum.to_json(|api| api_name(shared, api));
        if let Some(members) = answer.as_object_mut() {
            members.insert("node".to_owned(), shared.observer.node().into());
            members.insert("nodes".to_owned(), json!(nodes));
            members.insert("missing".to_owned(), json!(missing));
            members.insert("marks".to_owned(), json!(marks));
        }
        ok(answer)
    });
    made.await.unwrap_or_else(|_| super::metrics::unwritten())
}

fn question(query: &HashMap<String, String>) -> Result<(SpanQuestion, bool), String> {
    let parameters = Parameters::new(query, &["api", "apis", "from", "step", "nodes"])?;
    let step_s = parameters.number("step")?.unwrap_or(STEP_S);
    if step_s == 0 || !step_s.is_multiple_of(STEP_S) || step_s > STEP_S_MAX {
        return Err(format!("step must be a multiple of {STEP_S} up to {STEP_S_MAX}"));
    }
    let span = SpanQuestion {
        from_unix_s: parameters.number("from")?.unwrap_or_default(),
        to_unix_s: tollgate_clock::unix_s(),
        step_s,
        api: parameters.text("api").map(str::to_owned),
        apis_max: parameters.number("apis")?.map_or(APIS_MAX, |apis| usize::try_from(apis).unwrap_or(APIS_MAX)),
    };
    Ok((span, asks_all(&parameters)?))
}
