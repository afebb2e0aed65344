//! `/tyk/policies`: policies as files in `policy_path`. A write is in effect when the response is sent.

use super::Control;
use super::answer::{Change, Changed, ControlAnswer, Error, changed_document, error, ok};
use super::definition_store::{is_file_name, share, write_file};
use super::failures::{InvalidPolicy, PolicyNotWritten};
use super::{document, examples};
use crate::base::secret::random_text;
use crate::control::shared_definitions::DocumentClass;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use tollgate_model::policy::Policy;
use utoipa::IntoParams;

/// The policy in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct PolicyId {
    /// Id of a policy.
    #[param(example = "gold", min_length = 1)]
    pub id: String,
}

/// All policies
#[utoipa::path(
    get, path = "/tyk/policies", tag = "Policies", operation_id = "listPolicies",
    security(("secret" = ["viewer"])),
    responses(
        (status = 200, body = Vec<document::Policy>, description = "The policies in effect."),
    )
)]
pub(super) async fn list(State(control): State<Arc<Control>>) -> ControlAnswer {
    ok(control.shared.keys.policies().iter().map(Policy::shown).collect::<Vec<Value>>())
}

/// One policy
#[utoipa::path(
    get, path = "/tyk/policies/{id}", tag = "Policies", operation_id = "getPolicy",
    security(("secret" = ["viewer"])),
    params(PolicyId),
    responses(
        (status = 200, body = document::Policy, description = "The policy."),
        (status = 404, body = Error, description = "No such policy."),
    )
)]
pub(super) async fn show(State(control): State<Arc<Control>>, Path(PolicyId { id }): Path<PolicyId>) -> ControlAnswer {
    match control.shared.keys.policies().get(&id) {
        Some(policy) => ok(policy.shown()),
        None => error(StatusCode::NOT_FOUND, "Policy not found"),
    }
}

/// Add a policy
///
/// A policy without `id` gets a generated one; a policy with an existing id replaces that policy.
#[utoipa::path(
    post, path = "/tyk/policies", tag = "Policies", operation_id = "createPolicy",
    security(("secret" = ["editor"])),
    request_body(content = document::Policy, example = json!(examples::policy())),
    responses(
        (status = 200, body = Changed, description = "The policy is written to `policy_path` and in effect."),
        InvalidPolicy, PolicyNotWritten,
    )
)]
pub(super) async fn create(State(control): State<Arc<Control>>, body: Bytes) -> ControlAnswer {
    store(&control, None, &body, Change::Added).await
}

/// Same as `POST /tyk/policies`
///
/// The id in the path has no effect, as in Tyk.
#[utoipa::path(
    post, path = "/tyk/policies/{id}", tag = "Policies", operation_id = "createPolicyAt",
    security(("secret" = ["editor"])),
    params(PolicyId),
    request_body(content = document::Policy, example = json!(examples::policy())),
    responses(
        (status = 200, body = Changed, description = "The change is in effect."),
        InvalidPolicy, PolicyNotWritten,
    )
)]
pub(super) async fn create_at(state: State<Arc<Control>>, body: Bytes) -> ControlAnswer {
    create(state, body).await
}

/// Replace a policy
#[utoipa::path(
    put, path = "/tyk/policies/{id}", tag = "Policies", operation_id = "updatePolicy",
    security(("secret" = ["editor"])),
    params(PolicyId),
    request_body(content = document::Policy, example = json!(examples::policy())),
    responses(
        (status = 200, body = Changed, description = "The policy applies from each key's next request."),
        InvalidPolicy, PolicyNotWritten,
    )
)]
pub(super) async fn update(
    State(control): State<Arc<Control>>,
    Path(PolicyId { id }): Path<PolicyId>,
    body: Bytes,
) -> ControlAnswer {
    store(&control, Some(&id), &body, Change::Modified).await
}

/// Remove a policy
#[utoipa::path(
    delete, path = "/tyk/policies/{id}", tag = "Policies", operation_id = "deletePolicy",
    security(("secret" = ["editor"])),
    params(PolicyId),
    responses(
        (status = 200, body = Changed, description = "The policy is removed. Keys without another policy are refused."),
        (status = 500, body = Error, description = "No such policy, or the file could not be removed."),
    )
)]
pub(super) async fn remove(State(control): State<Arc<Control>>, Path(PolicyId { id }): Path<PolicyId>) -> ControlAnswer {
    let mut is_shared = false;
    if let Some(shared) = control.loader.shared_definitions().filter(|shared| shared.known().has(DocumentClass::Policy, &id)) {
        let answer = share(&control, shared, DocumentClass::Policy, &id, None, Change::Deleted).await;
        if answer.0 != StatusCode::OK || control.shared.keys.policies().get(&id).is_none() {
            return answer;
        }
        // A file with the same id took its place.
        is_shared = true;
    }
    let policies = control.shared.keys.policies();
    let own_file = policies.file_of(&id).filter(|_| control.loader.policy_path().is_some());
    let Some(file) = own_file else { return error(StatusCode::INTERNAL_SERVER_ERROR, "Delete failed") };
    let alone = control.files.lock().await;
    let own_write = control.loader.own_writes().begin(DocumentClass::Policy, &id);
    if let Err(failure) = std::fs::remove_file(file) {
        tracing::error!(%failure, id, "cannot delete a policy");
        return error(StatusCode::INTERNAL_SERVER_ERROR, "Delete failed");
    }
    drop((own_write, alone));
    let _ = control.reloads.request().await;
    changed_document(id, Change::Deleted, is_shared, control.nodes.one_of_several())
}

async fn store(control: &Control, id: Option<&str>, body: &[u8], action: Change) -> ControlAnswer {
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
    if let Some(shared) = control.loader.shared_definitions() {
        if !is_file_name(&id) {
            return error(StatusCode::BAD_REQUEST, "Invalid Policy ID");
        }
        let text = serde_json::to_string_pretty(&policy.to_json()).unwrap_or_default();
        return share(control, shared, DocumentClass::Policy, &id, Some(&text), action).await;
    }
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
    let own_write = control.loader.own_writes().begin(DocumentClass::Policy, &id);
    if let Err(failure) = write_file(&path, &text) {
        tracing::error!(%failure, path = %path.display(), "cannot write a policy");
        return error(StatusCode::INTERNAL_SERVER_ERROR, "Failed to create file!");
    }
    drop((own_write, alone));
    match control.reloads.request().await {
        Ok(_) => changed_document(id, action, false, control.nodes.one_of_several()),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the policy was written, but the reload did not finish"),
    }
}
