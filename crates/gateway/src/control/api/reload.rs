//! `/tyk/reload` and `/tyk/reload/group`.

use super::Control;
use super::answer::{Answer, error, message};
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;

/// Reads the definitions again. With `block=true` the answer comes when the new ones serve, and names what is wrong with them.
pub async fn reload(State(control): State<Arc<Control>>, Query(query): Query<HashMap<String, String>>) -> Answer {
    if query.get("block").is_none_or(|block| block != "true") {
        control.reloads.request_later();
        return message("");
    }
    let problems: Vec<String> = match control.reloads.request().await {
        Ok(report) => report.errors().map(ToString::to_string).collect(),
        Err(_) => vec!["the reload did not finish".to_owned()],
    };
    if problems.is_empty() {
        return message("");
    }
    Answer(StatusCode::OK, json!({ "status": "ok", "message": "", "problems": problems }))
}

/// The same for all gateways that share a store.
pub async fn reload_all(state: State<Arc<Control>>, query: Query<HashMap<String, String>>) -> Answer {
    if let Some(shared) = state.0.shared.keys.shared_keys()
        && let Err(fault) = shared.bus.tell(crate::base::bus::RELOAD_ALL, "").await
    {
        return error(StatusCode::INTERNAL_SERVER_ERROR, format!("other gateways could not be told: {fault}"));
    }
    reload(state, query).await
}
