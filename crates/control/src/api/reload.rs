//! `/tyk/reload` and `/tyk/reload/group`.

use super::Control;
use super::answer::{ControlAnswer, Done, error, ok};
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;
use utoipa::ToSchema;

/// A reload was requested or is done.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Reloaded {
    #[schema(inline)]
    status: Done,
    message: &'static str,
    /// Problems found in the files; only with `block=true`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    problems: Vec<String>,
}

fn reloaded(problems: Vec<String>) -> ControlAnswer {
    ok(Reloaded { status: Done::Ok, message: "", problems })
}

/// Reload definitions and policies
///
/// Requests in flight are not affected. A broken definition keeps its last good version, and `problems` names it.
#[utoipa::path(
    get, path = "/tyk/reload", tag = "Reload", operation_id = "reload",
    security(("secret" = ["editor", "scope:closed"])),
    params(
        ("block" = Option<String>, Query, description = "`true`: answer when the new configuration is serving.", example = "true"),
    ),
    responses(
        (status = 200, body = Reloaded, description = "The reload is requested; with `block=true` it is done."),
    )
)]
pub(super) async fn reload(State(control): State<Arc<Control>>, Query(query): Query<HashMap<String, String>>) -> ControlAnswer {
    if query.get("block").is_none_or(|block| block != "true") {
        control.reloads.request_later();
        return reloaded(Vec::new());
    }
    let problems: Vec<String> = match control.reloads.request().await {
        Ok(report) => report.errors().map(ToString::to_string).collect(),
        Err(_) => vec!["the reload did not finish".to_owned()],
    };
    reloaded(problems)
}

/// Reload all gateways that share a store
///
/// Each of them reloads at its own time.
#[utoipa::path(
    get, path = "/tyk/reload/group", tag = "Reload", operation_id = "reloadGroup",
    security(("secret" = ["editor", "scope:closed"])),
    responses(
        (status = 200, body = Reloaded, description = "The reload is requested."),
    )
)]
pub(super) async fn reload_all(state: State<Arc<Control>>, query: Query<HashMap<String, String>>) -> ControlAnswer {
    if let Some(shared) = state.0.shared.keys.shared_keys()
        && let Err(fault) = shared.cluster.messages.tell(tollgate_cluster::RELOAD_ALL, "").await
    {
        return error(StatusCode::INTERNAL_SERVER_ERROR, format!("other gateways could not be told: {fault}"));
    }
    reload(state, query).await
}
