//! `/tyk/org/keys`: the sessions of organisations. A change is stored before it is answered, and in effect with the next request.

use super::Control;
use super::answer::{Answer, done, error};
use super::keys::{Parameters, unremoved};
use crate::base::clock::unix_s;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{Method, StatusCode};
use serde_json::json;
use std::sync::Arc;
use tollgate_model::session::Session;

/// The organisations that have a session.
pub async fn list(State(control): State<Arc<Control>>, Query(query): Parameters) -> Answer {
    let prefix = query.get("filter").map_or("", String::as_str);
    let ids: Vec<String> = control.shared.keys.orgs().into_iter().filter(|id| id.starts_with(prefix)).collect();
    Answer(StatusCode::OK, json!({ "keys": ids }))
}

/// An organisation's session with what is left of its quotas.
pub async fn show(State(control): State<Arc<Control>>, Path(id): Path<String>) -> Answer {
    match control.shared.keys.org_session(&id, unix_s()) {
        Some(session) => Answer(StatusCode::OK, session.to_json()),
        None => not_found(),
    }
}

/// Makes or replaces an organisation's session; POST and PUT differ only in what they answer.
pub async fn put(
    State(control): State<Arc<Control>>,
    method: Method,
    Path(id): Path<String>,
    Query(query): Parameters,
    body: Bytes,
) -> Answer {
    let Ok((mut session, _)) = Session::parse(&body) else { return error(StatusCode::BAD_REQUEST, "Request malformed") };
    if control.shared.settings.suppress_default_org_store && !has_api(&control, &id) {
        return error(StatusCode::NOT_FOUND, "No such organisation found in Active API list");
    }
    session.last_updated = unix_s().to_string();
    let reset_quota = query.get("reset_quota").is_some_and(|value| value == "1");
    match control.shared.keys.put_org(&id, session, reset_quota).await {
        Ok(()) => done(&id, if method == Method::POST { "added" } else { "modified" }),
        Err(fault) => error(StatusCode::INTERNAL_SERVER_ERROR, format!("Error writing to key store {fault}")),
    }
}

/// Removes an organisation's session: it is not limited any longer.
pub async fn remove(State(control): State<Arc<Control>>, Path(id): Path<String>) -> Answer {
    match control.shared.keys.remove_org(&id).await {
        Ok(true) => done(&id, "deleted"),
        Ok(false) => not_found(),
        Err(fault) => unremoved(&fault),
    }
}

/// Whether an API of the organisation is loaded.
fn has_api(control: &Control, id: &str) -> bool {
    let snapshot = control.shared.current.load();
    snapshot.apis.iter().any(|api| api.raw.get("org_id").is_some_and(|org| org == id))
}

fn not_found() -> Answer {
    error(StatusCode::NOT_FOUND, "Org not found")
}
