//! The forms of the control API's answers: one line of JSON each.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A status and a JSON value.
pub(super) struct ControlAnswer(pub StatusCode, pub Value);

impl IntoResponse for ControlAnswer {
    fn into_response(self) -> Response {
        let ControlAnswer(status, value) = self;
        (status, [(header::CONTENT_TYPE, "application/json")], format!("{value}\n")).into_response()
    }
}

/// 200 with a value.
pub(super) fn ok(value: impl Serialize) -> ControlAnswer {
    ControlAnswer(StatusCode::OK, json(value))
}

/// A value as JSON; null for what can't be, which none of our types is.
pub(super) fn json(value: impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// Says what went wrong.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Error {
    #[schema(inline)]
    status: Failed,
    message: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Failed {
    Error,
}

/// Says that the request was carried out.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Message)]
pub(super) struct Success {
    #[schema(inline)]
    status: Done,
    message: String,
}

/// The status of whatever went well.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Done {
    Ok,
}

/// Says what was changed.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Changed {
    /// Id of what was changed.
    key: String,
    #[schema(inline)]
    status: Done,
    #[schema(inline)]
    action: Change,
}

/// What was done.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Change {
    Added,
    Modified,
    Updated,
    Deleted,
}

/// An answer that says what went wrong.
pub(super) fn error(status: StatusCode, message: impl Into<String>) -> ControlAnswer {
    ControlAnswer(status, json(Error { status: Failed::Error, message: message.into() }))
}

/// An answer that says that the request was carried out.
pub(super) fn message(message: impl Into<String>) -> ControlAnswer {
    ok(Success { status: Done::Ok, message: message.into() })
}

/// An answer that says what was changed.
pub(super) fn changed(key: impl Into<String>, action: Change) -> ControlAnswer {
    ok(Changed { key: key.into(), status: Done::Ok, action })
}

/// The answer when there is no such API.
pub(super) fn no_such_api() -> ControlAnswer {
    error(StatusCode::NOT_FOUND, "API not found")
}
