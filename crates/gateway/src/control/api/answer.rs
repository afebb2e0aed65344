//! The forms of the control API's answers: one line of JSON each.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// A status and a JSON value.
pub struct Answer(pub StatusCode, pub Value);

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let Answer(status, value) = self;
        (status, [(header::CONTENT_TYPE, "application/json")], format!("{value}\n")).into_response()
    }
}

/// `{"status":"error","message":…}`
pub fn error(status: StatusCode, message: impl Into<String>) -> Answer {
    Answer(status, json!({ "status": "error", "message": message.into() }))
}

/// `{"status":"ok","message":…}`
pub fn message(message: impl Into<String>) -> Answer {
    Answer(StatusCode::OK, json!({ "status": "ok", "message": message.into() }))
}

/// `{"key":…,"status":"ok","action":…}`
pub fn done(key: &str, action: &str) -> Answer {
    Answer(StatusCode::OK, json!({ "key": key, "status": "ok", "action": action }))
}
