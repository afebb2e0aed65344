//! `/hello` for those who know Tyk's, `/live` and `/ready` for orchestrators.

use super::Control;
use super::answer::{Answer, error};
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

/// Between attempts to write to a store that could not be written to.
const WRITE_RETRY_AFTER: Duration = Duration::from_secs(1);

/// What the process knows of its own state.
#[derive(Debug, Default)]
pub struct Health {
    draining: AtomicBool,
    frozen: AtomicBool,
}

impl Health {
    /// Whether changes are refused for now: another process takes over what is stored.
    pub fn freeze(&self, frozen: bool) {
        self.frozen.store(frozen, Ordering::Relaxed);
    }

    /// Changes are refused for now.
    pub fn is_frozen(&self) -> bool {
        self.frozen.load(Ordering::Relaxed)
    }

    /// From now on no new work should be sent here.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }
}

/// The gateway runs; always 200, as in Tyk, and says how the store is that it shares with others.
pub async fn hello(State(control): State<Arc<Control>>) -> Answer {
    let Some(redis) = redis(&control) else {
        return Answer(StatusCode::OK, json!({ "status": "pass", "version": version(), "description": "Tyk GW" }));
    };
    let status = redis.get("status").cloned().unwrap_or_default();
    let details = json!({ "redis": redis });
    Answer(StatusCode::OK, json!({ "status": status, "version": version(), "description": "Tyk GW", "details": details }))
}

/// The state of the shared store, if there is one, in Tyk's form.
fn redis(control: &Control) -> Option<Value> {
    let trouble = control.shared.keys.shared_keys()?.redis.trouble();
    let mut state = json!({ "status": "pass", "componentType": "datastore", "time": httpdate::fmt_http_date(SystemTime::now()) });
    if let (Some(trouble), Value::Object(fields)) = (trouble, &mut state) {
        fields.insert("status".to_owned(), "fail".into());
        fields.insert("output".to_owned(), trouble.into());
    }
    Some(state)
}

/// The gateway can take requests; 503 while it drains, while its store can't be reached or written to, and as long as no
/// definitions could be read.
pub async fn ready(State(control): State<Arc<Control>>) -> Answer {
    if control.health.draining.load(Ordering::Relaxed) {
        return error(StatusCode::SERVICE_UNAVAILABLE, "Gateway is shutting down");
    }
    if let Some(redis) = redis(&control).filter(|redis| redis.get("output").is_some()) {
        let message = "Redis connection not available";
        let answer = json!({ "status": "error", "message": message, "details": { "redis": redis } });
        return Answer(StatusCode::SERVICE_UNAVAILABLE, answer);
    }
    if let Some(trouble) = control.shared.keys.store().trouble() {
        let details = json!({ "store": { "status": "fail", "componentType": "datastore", "output": trouble.to_string() } });
        let answer = json!({ "status": "error", "message": "The store can't be written to", "details": details });
        return Answer(StatusCode::SERVICE_UNAVAILABLE, answer);
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

/// Looks whether a store that could not be written to can be again, for as long as the process lives.
pub async fn watch_store(control: Arc<Control>) {
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
