//! Response formats of the control API: one line of JSON each.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;
use utoipa::ToSchema;

/// A status and a JSON value, and what was changed if it is to be logged.
pub(super) struct ControlAnswer {
    pub status: StatusCode,
    pub value: Value,
    logged: Option<Box<LoggedAs>>,
}

/// What a request has changed, as the log of changes names it. Nothing else knows which requests change something.
#[derive(Clone, Debug)]
pub(super) struct LoggedAs {
    pub action: &'static str,
    pub kind: &'static str,
    /// Never a secret.
    pub target: String,
}

impl ControlAnswer {
    pub(super) fn new(status: StatusCode, value: Value) -> Self {
        ControlAnswer { status, value, logged: None }
    }

    /// Says what was changed, if the answer is a success.
    pub(super) fn logged(mut self, action: &'static str, kind: &'static str, target: impl Into<String>) -> Self {
        self.logged = self.status.is_success().then(|| Box::new(LoggedAs { action, kind, target: target.into() }));
        self
    }
}

impl IntoResponse for ControlAnswer {
    fn into_response(self) -> Response {
        let ControlAnswer { status, value, logged } = self;
        let mut response = (status, [(header::CONTENT_TYPE, "application/json")], format!("{value}\n")).into_response();
        if let Some(logged) = logged {
            response.extensions_mut().insert(*logged);
        }
        response
    }
}

/// 200 with a value.
pub(super) fn ok(value: impl Serialize) -> ControlAnswer {
    ControlAnswer::new(StatusCode::OK, json(value))
}

/// 200 with a list. Each of its values is written before the next one is made, as there may be ten thousand large ones.
pub(super) fn list_of(values: impl Iterator<Item = Value>) -> Response {
    let mut text = String::from("[");
    for value in values {
        if text.len() > 1 {
            text.push(',');
        }
        // Writing to a text does not fail.
        let _ = write!(text, "{value}");
    }
    text.push_str("]\n");
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// A value as JSON; null if it cannot be serialised, which applies to none of our types.
pub(super) fn json(value: impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// An error.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Error {
    #[schema(inline)]
    status: FailedStatus,
    message: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum FailedStatus {
    Error,
}

/// The request succeeded.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Message)]
pub(super) struct Success {
    #[schema(inline)]
    status: Done,
    message: String,
}

/// The status of a success.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Done {
    Ok,
}

/// Reports a change.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Changed {
    /// Id of the changed object.
    key: String,
    #[schema(inline)]
    status: Done,
    #[schema(inline)]
    action: Change,
    /// For definitions and policies of gateways on one Redis: whether the change concerns all of them that have `tollgate.shared_definitions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    shared: Option<bool>,
    /// For the same: the gateway that made it, the only one that it concerns unless it is shared.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    node: Option<String>,
}

/// The kind of change.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Change {
    Added,
    Modified,
    Updated,
    Deleted,
}

/// An error response.
pub(super) fn error(status: StatusCode, message: impl Into<String>) -> ControlAnswer {
    ControlAnswer::new(status, json(Error { status: FailedStatus::Error, message: message.into() }))
}

/// A success response with a message.
pub(super) fn message(message: impl Into<String>) -> ControlAnswer {
    ok(Success { status: Done::Ok, message: message.into() })
}

/// A response that reports a change.
pub(super) fn changed(key: impl Into<String>, action: Change) -> ControlAnswer {
    ok(Changed { key: key.into(), status: Done::Ok, action, shared: None, node: None })
}

/// The same for a definition or policy. `node`: the gateway that made the change, if there are others.
pub(super) fn changed_document(key: impl Into<String>, action: Change, shared: bool, node: Option<String>) -> ControlAnswer {
    ok(Changed { key: key.into(), status: Done::Ok, action, shared: node.is_some().then_some(shared), node })
}

/// The response for an unknown API.
pub(super) fn no_such_api() -> ControlAnswer {
    error(StatusCode::NOT_FOUND, "API not found")
}
