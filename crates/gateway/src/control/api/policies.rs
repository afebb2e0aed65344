//! `/tyk/policies`: policies as files of `policy_path`. A write is in effect when the answer comes.

use super::Control;
use super::answer::{Answer, done, error};
use super::apis::{is_file_name, write_file};
use crate::base::secret::random_text;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde_json::Value;
use std::sync::Arc;
use tollgate_model::policy::Policy;

/// All policies.
pub async fn list(State(control): State<Arc<Control>>) -> Answer {
    Answer(StatusCode::OK, Value::Array(control.shared.keys.policies().iter().map(Policy::shown).collect()))
}

/// One policy.
pub async fn show(State(control): State<Arc<Control>>, Path(id): Path<String>) -> Answer {
    match control.shared.keys.policies().get(&id) {
        Some(policy) => Answer(StatusCode::OK, policy.shown()),
        None => error(StatusCode::NOT_FOUND, "Policy not found"),
    }
}

/// A new policy, or another in place of one with the same id; one without an id gets one.
pub async fn create(State(control): State<Arc<Control>>, body: Bytes) -> Answer {
    store(&control, None, &body, "added").await
}

/// Replaces a policy.
pub async fn update(State(control): State<Arc<Control>>, Path(id): Path<String>, body: Bytes) -> Answer {
    store(&control, Some(&id), &body, "modified").await
}

/// Removes a policy.
pub async fn remove(State(control): State<Arc<Control>>, Path(id): Path<String>) -> Answer {
    let policies = control.shared.keys.policies();
    let own_file = policies.file_of(&id).filter(|_| control.loader.policy_path().is_some());
    let Some(file) = own_file else { return error(StatusCode::INTERNAL_SERVER_ERROR, "Delete failed") };
    let alone = control.files.lock().await;
    if let Err(failure) = std::fs::remove_file(file) {
        tracing::error!(%failure, id, "cannot delete a policy");
        return error(StatusCode::INTERNAL_SERVER_ERROR, "Delete failed");
    }
    drop(alone);
    let _ = control.reloads.request().await;
    done(&id, "deleted")
}

async fn store(control: &Control, id: Option<&str>, body: &[u8], action: &str) -> Answer {
    let Ok((mut policy, _)) = Policy::parse(body, None) else { return error(StatusCode::BAD_REQUEST, "Request malformed") };
    if let Some(id) = id
        && id != policy.id()
    {
        let message = "Request ID does not match that in policy! For Update operations these must match.";
        return error(StatusCode::BAD_REQUEST, message);
    }
    if policy.id().is_empty() {
        match random_text() {
            Ok(text) => policy.id = text,
            Err(failure) => return error(StatusCode::INTERNAL_SERVER_ERROR, format!("no id can be made: {failure}")),
        }
    }
    let id = policy.id().to_owned();
    let Some(directory) = control.loader.policy_path() else {
        return error(StatusCode::INTERNAL_SERVER_ERROR, "policies.policy_path is not configured: there is nowhere to write to");
    };
    if !is_file_name(&id) {
        return error(StatusCode::BAD_REQUEST, "Invalid Policy ID");
    }
    let text = serde_json::to_vec_pretty(&policy.to_json()).unwrap_or_default();
    let policies = control.shared.keys.policies();
    let path = policies.file_of(&id).map_or_else(|| directory.join(format!("{id}.json")), ToOwned::to_owned);
    let alone = control.files.lock().await;
    if let Err(failure) = write_file(&path, &text) {
        tracing::error!(%failure, path = %path.display(), "cannot write a policy");
        return error(StatusCode::INTERNAL_SERVER_ERROR, "Failed to create file!");
    }
    drop(alone);
    match control.reloads.request().await {
        Ok(_) => done(&id, action),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the policy was written, but the reload did not finish"),
    }
}
