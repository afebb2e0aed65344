//! `/tyk/tail`: the last refusals and failures, and why they were refused.

use super::Control;
use super::answer::{ControlAnswer, Error, error, ok};
use super::nodes::asks_all;
use super::query::Parameters;
use super::scoping::Reach;
use crate::figures_question::FiguresQuestion;
use crate::nodes::NodeTail;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_model::key::{self as key_format, KeyFunction};
use tollgate_observe::TailEntry;
use tollgate_observe::tap::{KEPT_MAX, TailFilter};
use utoipa::ToSchema;

/// Rows without `limit`.
const ROWS: usize = 100;
/// Names of the filter's members.
pub(super) const FILTERS: [&str; 8] = ["api", "key", "alias", "status", "cause", "request_id", "trace", "address"];

/// Kept requests.
#[derive(Serialize, ToSchema)]
#[schema(as = Tail)]
pub(super) struct TailAnswer {
    node: String,
    /// The gateways whose requests are in it.
    nodes: Vec<String>,
    /// Gateways that did not answer in time.
    missing: Vec<String>,
    /// Requests that are kept, of all filters.
    kept: usize,
    kept_max: usize,
    /// Refusals and failures since the start; of floods, only a part is kept.
    seen: u64,
    /// The requests that fit, newest first.
    entries: Vec<TailEntry>,
}

/// Which requests to show. All that is set must fit.
#[derive(Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TailQuestion {
    /// Id of the API.
    #[schema(required = false, example = "quick")]
    api: Option<String>,
    /// Hash of the key.
    #[schema(required = false)]
    key: Option<String>,
    /// Alias of the key.
    #[schema(required = false)]
    alias: Option<String>,
    /// A status such as `429`, or a class such as `5xx`.
    #[schema(required = false, example = "4xx")]
    status: Option<String>,
    /// Cause, as in metrics.
    #[schema(required = false)]
    cause: Option<String>,
    #[schema(required = false)]
    request_id: Option<String>,
    /// Id of the trace.
    #[schema(required = false)]
    trace: Option<String>,
    /// Address of the client.
    #[schema(required = false)]
    address: Option<String>,
    /// A key itself instead of its hash. It belongs into a body, because URLs are logged.
    #[schema(required = false)]
    raw_key: Option<String>,
    /// Rows at most; 100 by default.
    #[schema(required = false, example = 10)]
    limit: Option<usize>,
    /// `all`: of all gateways that share the Redis.
    #[schema(required = false)]
    nodes: Option<String>,
}

/// The last refusals and failures
///
/// The gateway always keeps the last 2,000 requests that it rejected or that ended with 5xx, with the middleware, the limit and when a request passes again. Of more than 50 in a second, each core keeps one in 20. Nothing is kept of APIs with `do_not_track`, and of no request its query, headers or body.
#[utoipa::path(
    get, path = "/tyk/tail", tag = "Figures", operation_id = "listRefused",
    security(("secret" = ["viewer", "scope:reached"])),
    params(
        ("api" = Option<String>, Query, description = "Id of the API."),
        ("key" = Option<String>, Query, description = "Hash of the key."),
        ("alias" = Option<String>, Query, description = "Alias of the key."),
        ("status" = Option<String>, Query, description = "A status or class, such as 429 or 5xx.", example = "4xx"),
        ("cause" = Option<String>, Query, description = "Cause, as in metrics.", example = "auth_missing"),
        ("request_id" = Option<String>, Query, description = "Id of the request."),
        ("trace" = Option<String>, Query, description = "Id of its trace."),
        ("address" = Option<String>, Query, description = "Address of the client."),
        ("nodes" = Option<String>, Query, description = "`all`: of all gateways that share the Redis."),
        ("limit" = Option<String>, Query, description = "Rows at most, up to 2000; 100 by default.", example = "10"),
    ),
    responses(
        (status = 200, body = TailAnswer, description = "The requests, newest first."),
        (status = 400, body = Error, description = "A parameter is unknown or has an invalid value."),
    )
)]
pub(super) async fn list(
    State(control): State<Arc<Control>>,
    reach: Reach,
    Query(query): Query<HashMap<String, String>>,
) -> ControlAnswer {
    let known: Vec<&str> = FILTERS.into_iter().chain(["limit", "nodes"]).collect();
    let asked = Parameters::new(&query, &known).and_then(|parameters| {
        let rows = parameters.number("limit")?.map_or(ROWS, |rows| usize::try_from(rows).unwrap_or(KEPT_MAX));
        Ok((filter(&parameters)?, rows, asks_all(&parameters)?))
    });
    match asked {
        Ok((filter, rows, is_for_all)) => answer(&control, &reach, filter, rows, is_for_all).await,
        Err(message) => error(StatusCode::BAD_REQUEST, message),
    }
}

/// The same, with the filter in a body
///
/// For a key itself, which belongs into no URL.
#[utoipa::path(
    post, path = "/tyk/tail", tag = "Figures", operation_id = "findRefused",
    security(("secret" = ["viewer", "scope:reached"])),
    request_body(content = TailQuestion, example = json!({ "raw_key": "default0123456789abcdef", "limit": 10 })),
    responses(
        (status = 200, body = TailAnswer, description = "The requests, newest first."),
        (status = 400, body = Error, description = "The body is no filter."),
    )
)]
pub(super) async fn find(State(control): State<Arc<Control>>, reach: Reach, body: Bytes) -> ControlAnswer {
    let question: TailQuestion = match serde_json::from_slice(&body) {
        Ok(question) => question,
        Err(failure) => return error(StatusCode::BAD_REQUEST, format!("the body is no filter: {failure}")),
    };
    let raw_key = question.raw_key.as_ref().map(|key| key_format::hash(key, KeyFunction::Plain));
    let filter = TailFilter {
        api: question.api,
        key: raw_key.or(question.key),
        alias: question.alias,
        oauth_client: None,
        status: question.status,
        cause: question.cause,
        request_id: question.request_id,
        trace: question.trace,
        address: question.address,
    };
    if let Err(message) = filter.check() {
        return error(StatusCode::BAD_REQUEST, message);
    }
    let is_for_all = question.nodes.as_deref() == Some("all");
    answer(&control, &reach, filter, question.limit.unwrap_or(ROWS), is_for_all).await
}

/// The filter in a query.
pub(super) fn filter(parameters: &Parameters<'_>) -> Result<TailFilter, String> {
    let text = |name: &str| parameters.text(name).map(str::to_owned);
    let filter = TailFilter {
        api: text("api"),
        key: text("key"),
        alias: text("alias"),
        oauth_client: None,
        status: text("status"),
        cause: text("cause"),
        request_id: text("request_id"),
        trace: text("trace"),
        address: text("address"),
    };
    filter.check().map(|()| filter)
}

async fn answer(control: &Control, reach: &Reach, filter: TailFilter, rows: usize, is_for_all: bool) -> ControlAnswer {
    let rows = rows.min(KEPT_MAX);
    let node = control.shared.observer.node().to_owned();
    let NodeTail { mut entries, mut kept, mut seen } = control.nodes.own.tail(&filter, rows);
    let mut nodes = vec![node.clone()];
    let others = if is_for_all { control.nodes.ask(&FiguresQuestion::Tail { filter, rows }).await } else { Default::default() };
    let mut missing = others.missing;
    for (other, answer) in others.answers {
        match serde_json::from_value::<NodeTail>(answer) {
            Ok(own) => {
                entries.extend(own.entries);
                (kept, seen) = (kept + own.kept, seen + own.seen);
                nodes.push(other);
            }
            Err(_) => missing.push(other),
        }
    }
    if !reach.is_whole() {
        entries.retain(|entry| reach.has_api_id(&entry.api_id));
        (kept, seen) = (entries.len(), entries.len() as u64);
    }
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.unix_ms));
    entries.truncate(rows);
    ok(TailAnswer { node, nodes, missing, kept, kept_max: KEPT_MAX, seen, entries })
}
