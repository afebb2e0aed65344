//! Masks secrets in what the console gets, and puts them back into what it sends. Callers with the control secret in a header get documents
//! as they are.

use super::Control;
use super::answer::{ControlAnswer, error};
use super::authority::{Signed, role_missing};
use super::change_log::Change;
use crate::known_keys::KnownKeys;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use serde_json::Value;
use std::sync::Arc;
use tollgate_admin::mask::{mask as mask_secrets, mask_labels};
use tollgate_admin::{MASK, Operator, RawKeys, Role};
use tollgate_data::control_caller::ControlCaller;
use tollgate_model::json_document;

/// Answers that hold nothing of this installation; their members have the names of secrets.
const DESCRIPTIONS: [&str; 2] = ["/tyk/openapi.json", "/tyk/schema"];
/// Longer answers are masked on a thread of their own.
const LONG_BYTES: usize = 64 << 10;

/// Masks the answer to a request of the console. Answers to changes are not masked for those who may make them: a new key or client secret is
/// shown once.
pub(super) async fn mask(State(control): State<Arc<Control>>, request: Request, next: Next) -> Response {
    let Some(signed) = request.extensions().get::<Signed>() else { return next.run(request).await };
    let role = signed.role;
    let reveals = request.uri().query().unwrap_or_default().split('&').any(|pair| pair == "reveal=true");
    if reveals && role < Role::Editor {
        return role_missing(Role::Editor).into_response();
    }
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let target = request.uri().path().to_owned();
    if reveals && reads {
        let caller = request.extensions().get::<ControlCaller>().copied();
        let change = Change { action: "reveal", kind: "secrets", target, status: 200, ..Change::default() };
        control.changes.add(request.extensions().get::<Operator>(), caller, change);
    }
    let is_description = DESCRIPTIONS.contains(&request.uri().path());
    let response = next.run(request).await;
    let makes_secrets = !reads && response.status().is_success();
    if is_description || (role >= Role::Editor && (reveals || makes_secrets)) { response } else { masked(&control, response).await }
}

async fn masked(control: &Arc<Control>, response: Response) -> Response {
    let (mut head, body) = response.into_parts();
    // Events are masked when they are made, once for all streams. A stream has no end to wait for.
    if head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream") {
        return Response::from_parts(head, body);
    }
    let Ok(body) = body.collect().await.map(|body| body.to_bytes()) else { return unmasked() };
    let kind = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let body = if body.len() > LONG_BYTES {
        let control = control.clone();
        // The figures of thousands of APIs take a while.
        tokio::task::spawn_blocking(move || without_secrets(&control, &kind, body)).await.ok().flatten()
    } else {
        without_secrets(control, &kind, body)
    };
    // What can't be read can't be masked.
    let Some(body) = body else { return unmasked() };
    head.headers.remove(CONTENT_LENGTH);
    Response::from_parts(head, Body::from(body))
}

fn without_secrets(control: &Control, kind: &str, body: Bytes) -> Option<Bytes> {
    let keys = KnownKeys(&control.shared.keys);
    if body.is_empty() {
        return Some(body);
    }
    // Exports of documents are files for browsers, and JSON too.
    if kind.starts_with("application/json") || kind.starts_with("application/octet-stream") {
        let mut value = json_document::from_slice::<Value>(&body).ok()?;
        mask_secrets(&mut value, &keys);
        return Some(Bytes::from(format!("{value}\n")));
    }
    let text = std::str::from_utf8(&body).ok()?;
    if kind.starts_with("text/csv") {
        let cells = |line: &str| {
            let cells = line.split(',').map(|cell| if keys.is_raw_key(cell.trim_matches('"')) { MASK } else { cell });
            cells.collect::<Vec<_>>().join(",")
        };
        let lines = text.split_inclusive('\n').map(|line| match line.strip_suffix('\n') {
            Some(line) => cells(line) + "\n",
            None => cells(line),
        });
        return Some(Bytes::from(lines.collect::<String>()));
    }
    let is_metrics = kind.starts_with("text/plain") || kind.starts_with("application/openmetrics-text");
    is_metrics.then(|| Bytes::from(mask_labels(text, &keys)))
}

fn unmasked() -> Response {
    let answer: ControlAnswer = error(StatusCode::INTERNAL_SERVER_ERROR, "the answer could not be masked");
    answer.into_response()
}
