//! `/metrics`: all metrics in the text format of Prometheus or OpenMetrics; `/tyk/live`: the same as JSON. Separate threads render
//! them, because thousands of APIs take a while.

use super::Control;
use super::answer::{ControlAnswer, error};
use super::failures::MetricsOff;
use crate::report::{ExpositionFormat, live, scrape};
use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
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
    security(("secret" = ["viewer"])),
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
    security(("secret" = ["viewer"])),
    responses(
        (status = 200, body = LiveFigures, description = "The metrics."),
        MetricsOff,
    )
)]
pub(super) async fn figures(State(control): State<Arc<Control>>) -> ControlAnswer {
    if !control.shared.observer.metrics {
        return switched_off();
    }
    let written = tokio::task::spawn_blocking(move || ControlAnswer(StatusCode::OK, live(&control.shared)));
    written.await.unwrap_or_else(|_| unwritten())
}

/// The answer while nothing is counted.
pub(super) fn switched_off() -> ControlAnswer {
    error(StatusCode::NOT_FOUND, SWITCHED_OFF)
}

pub(super) fn unwritten() -> ControlAnswer {
    error(StatusCode::INTERNAL_SERVER_ERROR, "the figures could not be written")
}
