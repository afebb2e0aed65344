//! `/metrics`: all metrics in the text format of Prometheus or OpenMetrics; `/tyk/live`: the same as JSON. Separate threads render
//! them, because thousands of APIs take a while.

use super::Control;
use super::answer::{ControlAnswer, Error, error};
use super::failures::MetricsOff;
use super::query::Parameters;
use crate::figures_question::FiguresQuestion;
use crate::report::{ExpositionFormat, ShownApis, live, scrape};
use axum::extract::{Query, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use std::collections::HashMap;
use std::sync::Arc;
use utoipa::ToSchema;

/// The metrics; more members than these exist.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what `live` writes")]
pub(super) struct LiveFigures {
    version: String,
    apis: Vec<ApiFigures>,
}

/// The metrics of one API; more members than these exist.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what `live` writes")]
struct ApiFigures {
    api_id: String,
    requests: u64,
}

const SWITCHED_OFF: &str = "Figures are switched off: tollgate.metrics.enabled";

/// All metrics, for Prometheus
///
/// A scraper may send the secret as `Authorization: Bearer` instead. The control API's own port and the metrics port serve the same at `/metrics`.
#[utoipa::path(
    get, path = "/tyk/metrics", tag = "Figures", operation_id = "scrapeMetricsHere",
    security(("secret" = ["viewer", "scope:closed"])),
    responses(
        (status = 200, description = "The metrics.", content((String = "text/plain"), (String = "application/openmetrics-text"))),
        MetricsOff,
    )
)]
pub(super) async fn metrics(State(control): State<Arc<Control>>, headers: HeaderMap) -> Response {
    if !control.shared.observer.metrics {
        return error(StatusCode::NOT_FOUND, SWITCHED_OFF).into_response();
    }
    let form = ExpositionFormat::accepted(headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default());
    match tokio::task::spawn_blocking(move || scrape(&control.shared, form)).await {
        Ok(text) => ([(CONTENT_TYPE, form.content_type())], text).into_response(),
        Err(_) => unwritten().into_response(),
    }
}

/// All metrics as JSON, counted since the start
#[utoipa::path(
    get, path = "/tyk/live", tag = "Figures", operation_id = "getFigures",
    security(("secret" = ["viewer", "scope:closed"])),
    params(
        ("api" = Option<String>, Query, description = "Only this API, with its breakers.", example = "quick"),
        ("apis" = Option<String>, Query, description = "`0`: without APIs."),
        ("node" = Option<String>, Query, description = "Those of this gateway; it must share the Redis."),
        ("idle" = Option<String>, Query, description = "For the console: `1` if nobody has asked for it."),
    ),
    responses(
        (status = 200, body = LiveFigures, description = "The metrics."),
        (status = 400, body = Error, description = "A parameter is unknown or has an invalid value."),
        (status = 502, body = Error, description = "The gateway of `node` does not answer."),
        MetricsOff,
    )
)]
pub(super) async fn figures(State(control): State<Arc<Control>>, Query(query): Query<HashMap<String, String>>) -> ControlAnswer {
    if !control.shared.observer.metrics {
        return switched_off();
    }
    let shown = match shown_apis(&query) {
        Ok(shown) => shown,
        Err(message) => return error(StatusCode::BAD_REQUEST, message),
    };
    if let Some(node) = query.get("node").filter(|node| !node.is_empty() && *node != control.shared.observer.node()) {
        return figures_of(&control, node, shown).await;
    }
    let written = tokio::task::spawn_blocking(move || ControlAnswer::new(StatusCode::OK, live(&control.shared, &shown)));
    written.await.unwrap_or_else(|_| unwritten())
}

/// The figures of another gateway.
async fn figures_of(control: &Control, node: &str, shown: ShownApis) -> ControlAnswer {
    let answers = control.nodes.ask(&FiguresQuestion::Figures { node: node.to_owned(), shown }).await.answers;
    match answers.into_iter().find(|(name, answer)| name == node && answer.is_object()) {
        Some((_, figures)) => ControlAnswer::new(StatusCode::OK, figures),
        None => error(StatusCode::BAD_GATEWAY, format!("the gateway {node:?} does not answer")),
    }
}

fn shown_apis(query: &HashMap<String, String>) -> Result<ShownApis, String> {
    let parameters = Parameters::new(query, &["api", "apis", "idle", "node"])?;
    match (parameters.text("api"), parameters.text("apis")) {
        (Some(api), None) => Ok(ShownApis::One(api.to_owned())),
        (None, None) => Ok(ShownApis::All),
        (None, Some("0")) => Ok(ShownApis::None),
        (None, Some(other)) => Err(format!("apis is {other:?}; it may be 0")),
        (Some(_), Some(_)) => Err("api and apis exclude each other".to_owned()),
    }
}

/// The answer while nothing is counted.
pub(super) fn switched_off() -> ControlAnswer {
    error(StatusCode::NOT_FOUND, SWITCHED_OFF)
}

pub(super) fn unwritten() -> ControlAnswer {
    error(StatusCode::INTERNAL_SERVER_ERROR, "the figures could not be written")
}
