//! `/tyk/top`: the most frequent values of a field, over a sliding window.

use super::Control;
use super::answer::{ControlAnswer, Error, error, ok};
use super::nodes::asks_all;
use super::query::Parameters;
use crate::figures_question::FiguresQuestion;
use crate::nodes::NodeTop;
use crate::report::api_name;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_observe::tap::TopBy;
use tollgate_statistics::{COUNTERS, PANE_S, PANES_MAX};
use utoipa::ToSchema;

const WINDOW_S: u64 = 60;
const ROWS: usize = 20;
/// Keys that are named.
const NAMED_ROWS_MAX: usize = 50;

/// The most frequent values of a field.
#[derive(Serialize, ToSchema)]
#[schema(as = Top)]
pub(super) struct TopAnswer {
    node: String,
    /// The gateways whose requests are in it.
    nodes: Vec<String>,
    /// Gateways that did not answer in time, or count too many other lists.
    missing: Vec<String>,
    #[schema(inline)]
    by: TopBy,
    window_s: u64,
    from_unix_s: u64,
    to_unix_s: u64,
    /// Nothing was counted before: counting begins with the first question and ends five minutes after the last.
    counting_since_unix_s: u64,
    /// Requests of the window.
    seen: u64,
    algorithm: String,
    /// Counters of each half minute and core.
    counters: usize,
    /// A value that is not listed has at most so many requests.
    error_max: u64,
    rows: Vec<TopRow>,
}

/// One value.
#[derive(Serialize, ToSchema)]
struct TopRow {
    value: String,
    /// Name of an API, alias of a key whose hash is known.
    name: String,
    /// Requests: at most so many, and at least `requests - error`.
    requests: u64,
    error: u64,
    /// These and the following are of the requests that were counted for the value with certainty.
    refused: u64,
    server_errors: u64,
    response_bytes: u64,
    mean_us: u64,
}

/// The most frequent values of a field
///
/// Counted from all requests with Space-Saving, in bounded memory, while somebody asks: the first answer is empty. A value with more than 1/256 of the requests is never missing. Requests of APIs with `do_not_track` are not counted.
#[utoipa::path(
    get, path = "/tyk/top", tag = "Figures", operation_id = "getTop",
    security(("secret" = ["viewer", "scope:query:api"])),
    params(
        ("by" = inline(Option<TopBy>), Query, description = "The field; `api` by default. Keys are hashes.", example = "path"),
        ("api" = Option<String>, Query, description = "Only requests of this API."),
        ("window" = Option<String>, Query, description = "Seconds, in steps of 30 up to 600; 60 by default.", example = "60"),
        ("nodes" = Option<String>, Query, description = "`all`: sums over all gateways that share the Redis."),
        ("k" = Option<String>, Query, description = "Rows at most, up to 256; 20 by default.", example = "10"),
    ),
    responses(
        (status = 200, body = TopAnswer, description = "The values, the most frequent first."),
        (status = 400, body = Error, description = "A parameter is unknown or has an invalid value."),
        (status = 429, body = Error, description = "Lists of four APIs are being counted already; they end five minutes after their last question."),
    )
)]
pub(super) async fn top(State(control): State<Arc<Control>>, Query(query): Query<HashMap<String, String>>) -> ControlAnswer {
    let (by, api, window_s, rows_max, is_for_all) = match question(&query) {
        Ok(question) => question,
        Err(message) => return error(StatusCode::BAD_REQUEST, message),
    };
    let shared = &control.shared;
    let Some(own) = control.nodes.own.top(by, api, window_s) else {
        return error(StatusCode::TOO_MANY_REQUESTS, "too many APIs have top lists of their own; ask without api, or try later");
    };
    let asked = FiguresQuestion::Top { by, api: api.map(str::to_owned), window_s };
    let others = if is_for_all { control.nodes.ask(&asked).await } else { Default::default() };
    let (mut sum, mut seen, mut from_unix_s) = (own.summary(), own.seen, own.from_unix_s);
    let mut nodes = vec![shared.observer.node().to_owned()];
    let mut missing = others.missing;
    for (node, answer) in others.answers {
        match serde_json::from_value::<NodeTop>(answer) {
            Ok(more) => {
                sum.merge(&more.summary());
                seen += more.seen;
                from_unix_s = from_unix_s.min(more.from_unix_s);
                nodes.push(node);
            }
            Err(_) => missing.push(node),
        }
    }
    let mut rows = Vec::new();
    for (value, count) in sum.top(rows_max) {
        let value = String::from_utf8_lossy(&value).into_owned();
        let certain = count.requests.saturating_sub(count.error).max(1);
        let name = match by {
            TopBy::Api => api_name(shared, &value),
            // In memory on this gateway, or one question to Redis.
            TopBy::Key if !value.is_empty() && rows.len() < NAMED_ROWS_MAX => {
                super::keys::alias(&shared.keys, &value).await.unwrap_or_default()
            }
            _ => String::new(),
        };
        rows.push(TopRow {
            value,
            name,
            requests: count.requests,
            error: count.error,
            refused: count.refused,
            server_errors: count.server_errors,
            response_bytes: count.response_bytes,
            mean_us: count.total_ns / certain / 1_000,
        });
    }
    ok(TopAnswer {
        node: shared.observer.node().to_owned(),
        nodes,
        missing,
        by,
        window_s,
        from_unix_s,
        to_unix_s: tollgate_clock::unix_s(),
        counting_since_unix_s: own.since_unix_s,
        seen,
        algorithm: "Space-Saving".to_owned(),
        counters: COUNTERS,
        error_max: sum.floor(),
        rows,
    })
}

type TopQuestion<'q> = (TopBy, Option<&'q str>, u64, usize, bool);

fn question(query: &HashMap<String, String>) -> Result<TopQuestion<'_>, String> {
    let parameters = Parameters::new(query, &["by", "api", "window", "k", "nodes"])?;
    let name = parameters.text("by").unwrap_or("api");
    let by = TopBy::read(name).ok_or_else(|| format!("by is {name:?}; it must be one of {}", TopBy::NAMES.join(", ")))?;
    let window_s = parameters.number("window")?.unwrap_or(WINDOW_S);
    if window_s == 0 || window_s > PANE_S * PANES_MAX as u64 {
        return Err(format!("window must be 1 to {} seconds", PANE_S * PANES_MAX as u64));
    }
    let rows = parameters.number("k")?.map_or(ROWS, |rows| usize::try_from(rows).unwrap_or(COUNTERS)).min(COUNTERS);
    Ok((by, parameters.text("api"), window_s, rows, asks_all(&parameters)?))
}
