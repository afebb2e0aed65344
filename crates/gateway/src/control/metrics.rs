//! `/metrics`: all figures, as Prometheus' text or as OpenMetrics; `/tyk/live`: the same as JSON.

use super::Control;
use super::answer::{Answer, error};
use crate::observe::{Form, live, scrape};
use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

const SWITCHED_OFF: &str = "Figures are switched off: tollgate.metrics.enabled";

pub async fn metrics(State(control): State<Arc<Control>>, headers: HeaderMap) -> Response {
    if !control.shared.observer.metrics {
        return error(StatusCode::NOT_FOUND, SWITCHED_OFF).into_response();
    }
    let form = Form::accepted(headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default());
    ([(CONTENT_TYPE, form.content_type())], scrape(&control.shared, form)).into_response()
}

pub async fn figures(State(control): State<Arc<Control>>) -> Answer {
    if !control.shared.observer.metrics {
        return error(StatusCode::NOT_FOUND, SWITCHED_OFF);
    }
    Answer(StatusCode::OK, live(&control.shared))
}
