//! Masks secrets in what the console gets, and puts them back into what it sends. Callers with the control secret in a header get documents
//! as they are.

use super::Control;
use super::answer::{ControlAnswer, error};
use super::authority::role_missing;
use super::change_log::Change;
use super::console::Signed;
use crate::auth::keys::Keys;
use crate::data::control_caller::ControlCaller;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use serde_json::Value;
use std::sync::Arc;
use tollgate_admin::mask::mask as mask_secrets;
use tollgate_admin::{Operator, RawKeys, Role};

/// Answers that hold nothing of this installation; their members have the names of secrets.
const DESCRIPTIONS: [&str; 2] = ["/tyk/openapi.json", "/tyk/schema"];

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

async fn masked(control: &Control, response: Response) -> Response {
    let (mut head, body) = response.into_parts();
    // A stream has figures, and keys as hashes only. It has no end to wait for.
    if head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream") {
        return Response::from_parts(head, body);
    }
    let Ok(body) = body.collect().await.map(|body| body.to_bytes()) else { return unmasked() };
    let kind = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let keys = KnownKeys(&control.shared.keys);
    let body = if body.is_empty() {
        body
    } else if kind.starts_with("application/json") {
        let Ok(mut value) = serde_json::from_slice::<Value>(&body) else { return unmasked() };
        mask_secrets(&mut value, &keys);
        Bytes::from(format!("{value}\n"))
    } else if kind.starts_with("text/csv") {
        let cells = |line: &str| {
            line.split(',')
                .map(|cell| if keys.is_raw_key(cell.trim_matches('"')) { "********" } else { cell })
                .collect::<Vec<_>>()
                .join(",")
        };
        let text = String::from_utf8_lossy(&body);
        Bytes::from(
            text.split_inclusive('\n')
                .map(|line| match line.strip_suffix('\n') {
                    Some(line) => cells(line) + "\n",
                    None => cells(line),
                })
                .collect::<String>(),
        )
    } else {
        // What can't be read can't be masked.
        return unmasked();
    };
    head.headers.remove(CONTENT_LENGTH);
    Response::from_parts(head, Body::from(body))
}

fn unmasked() -> Response {
    let answer: ControlAnswer = error(StatusCode::INTERNAL_SERVER_ERROR, "the answer could not be masked");
    answer.into_response()
}

/// The keys of callers, if they are stored as they are. Otherwise only hashes are known here, and a hash opens nothing.
pub(super) struct KnownKeys<'k>(pub &'k Keys);

impl RawKeys for KnownKeys<'_> {
    fn is_raw_key(&self, text: &str) -> bool {
        !self.0.rules.hash_keys && self.0.has_in_memory(text)
    }
}
