//! `/hello` for those who know Tyk's, `/live` and `/ready` for orchestrators.

use super::Control;
use super::answer::{Answer, error};
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the process knows of its own state.
#[derive(Debug, Default)]
pub struct Health {
    draining: AtomicBool,
}

impl Health {
    /// From now on no new work should be sent here.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }
}

/// The gateway runs; always 200, as in Tyk.
pub async fn hello() -> Answer {
    Answer(StatusCode::OK, json!({ "status": "pass", "version": version(), "description": "Tyk GW" }))
}

/// The gateway can take requests; 503 while it drains, and as long as no definitions could be read.
pub async fn ready(State(control): State<Arc<Control>>) -> Answer {
    if control.health.draining.load(Ordering::Relaxed) {
        return error(StatusCode::SERVICE_UNAVAILABLE, "Gateway is shutting down");
    }
    if !control.loader.has_loaded() {
        return error(StatusCode::SERVICE_UNAVAILABLE, "A successful API reload did not happen");
    }
    Answer(StatusCode::OK, json!({ "status": "pass", "version": version(), "description": "Tyk GW Ready" }))
}

/// The process answers.
pub async fn live() -> Answer {
    Answer(StatusCode::OK, json!({ "status": "pass", "version": version() }))
}

fn version() -> &'static str {
    concat!("v", env!("CARGO_PKG_VERSION"))
}
