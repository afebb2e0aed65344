//! `/hello` as in Tyk; `/live` and `/ready` for orchestrators.

use super::Control;
use super::answer::{ControlAnswer, Error, error, ok};
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tollgate_clock::unix_s;
use tollgate_model::calendar::rfc3339;
use utoipa::ToSchema;

/// Interval between write attempts to a store after a failed write.
const WRITE_RETRY_AFTER: Duration = Duration::from_secs(1);

/// State of the gateway.
#[derive(Serialize, ToSchema)]
#[schema(as = Health)]
pub(super) struct Pulse {
    #[schema(inline)]
    status: HealthStatus,
    version: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    #[schema(required = false)]
    description: &'static str,
    /// State of the shared store, if there is one.
    #[serde(skip_serializing_if = "Value::is_null")]
    #[schema(required = false)]
    details: Value,
}

/// `fail` while the shared store does not respond.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum HealthStatus {
    Pass,
    Fail,
}

impl Pulse {
    fn pass(description: &'static str) -> Self {
        Pulse { status: HealthStatus::Pass, version: version().to_owned(), description, details: Value::Null }
    }
}

/// The process's own state.
#[derive(Debug, Default)]
pub struct Health {
    draining: AtomicBool,
    frozen: AtomicBool,
}

impl Health {
    /// Refuses or allows changes; they are refused while another process takes over the store.
    pub fn freeze(&self, frozen: bool) {
        self.frozen.store(frozen, Ordering::Relaxed);
    }

    /// Whether changes are refused for now.
    pub fn is_frozen(&self) -> bool {
        self.frozen.load(Ordering::Relaxed)
    }

    /// Starts draining: from now on, the gateway asks for no new work.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }
}

/// Version and state, for people and for scripts written for Tyk
///
/// The path is `health_check_endpoint_name` in the configuration.
#[utoipa::path(
    get, path = "/hello", tag = "Health", operation_id = "getHello",
    security(),
    responses(
        (status = 200, body = Pulse, description = "The process answers."),
    )
)]
pub(super) async fn hello(State(control): State<Arc<Control>>) -> ControlAnswer {
    let Some(redis) = redis(&control) else {
        return ok(Pulse::pass("Tyk GW"));
    };
    let status = if redis.get("output").is_some() { HealthStatus::Fail } else { HealthStatus::Pass };
    ok(Pulse { status, details: json!({ "redis": redis }), ..Pulse::pass("Tyk GW") })
}

/// State of the shared store in Tyk's format, if there is one.
fn redis(control: &Control) -> Option<Value> {
    let trouble = control.shared.keys.shared_keys()?.cluster.redis.trouble();
    let mut state = json!({ "status": "pass", "componentType": "datastore", "time": rfc3339(unix_s()) });
    if let (Some(trouble), Value::Object(fields)) = (trouble, &mut state) {
        fields.insert("status".to_owned(), "fail".into());
        fields.insert("output".to_owned(), trouble.into());
    }
    Some(state)
}

/// Whether the gateway accepts requests
///
/// The path is `readiness_check_endpoint_name` in the configuration.
#[utoipa::path(
    get, path = "/ready", tag = "Health", operation_id = "getReady",
    security(),
    responses(
        (status = 200, body = Pulse, description = "Definitions are loaded and the gateway is not shutting down."),
        (status = 503, body = Error, description = "Definitions are not loaded yet, the store does not answer, or the gateway is shutting down."),
    )
)]
pub(super) async fn ready(State(control): State<Arc<Control>>) -> ControlAnswer {
    if control.health.draining.load(Ordering::Relaxed) {
        return error(StatusCode::SERVICE_UNAVAILABLE, "Gateway is shutting down");
    }
    if let Some(redis) = redis(&control).filter(|redis| redis.get("output").is_some()) {
        let message = "Redis connection not available";
        let answer = json!({ "status": "error", "message": message, "details": { "redis": redis } });
        return ControlAnswer::new(StatusCode::SERVICE_UNAVAILABLE, answer);
    }
    if let Some(trouble) = control.shared.keys.store().trouble() {
        let details = json!({ "store": { "status": "fail", "componentType": "datastore", "output": trouble.to_string() } });
        let answer = json!({ "status": "error", "message": "The store can't be written to", "details": details });
        return ControlAnswer::new(StatusCode::SERVICE_UNAVAILABLE, answer);
    }
    if !control.definitions.has_loaded() {
        return error(StatusCode::SERVICE_UNAVAILABLE, "A successful API reload did not happen");
    }
    ok(Pulse::pass("Tyk GW Ready"))
}

/// Whether the process responds
#[utoipa::path(
    get, path = "/live", tag = "Health", operation_id = "getLive",
    security(),
    responses(
        (status = 200, body = Pulse, description = "The process answers."),
    )
)]
pub(super) async fn live() -> ControlAnswer {
    ok(Pulse::pass(""))
}

/// After a failed write, checks periodically whether the store is writable again. Runs while the process lives.
pub(super) async fn watch_store(control: Arc<Control>) {
    loop {
        tokio::time::sleep(WRITE_RETRY_AFTER).await;
        let keys = control.shared.keys.clone();
        let Some(trouble) = keys.store().trouble() else { continue };
        let tried = tokio::task::spawn_blocking(move || keys.store().try_write());
        if let Ok(Ok(())) = tried.await {
            tracing::info!(%trouble, "the store can be written to again");
        }
    }
}

fn version() -> &'static str {
    concat!("v", env!("CARGO_PKG_VERSION"))
}
