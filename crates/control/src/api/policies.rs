//! `/tyk/policies`: policies as files in `policy_path`. A write is in effect when the response is sent.

use super::Control;
use super::answer::{Change, Changed, ControlAnswer, Error, changed_document, error, ok};
use super::definition_store::{self, ChangeRequest};
use super::failures::{InvalidPolicy, PolicyNotWritten};
use super::right_fields::check_right_fields;
use super::scoping::Reach;
use super::{document, examples};
use crate::definitions::{DocumentClass, ReadFiles, WantedDocument, is_file_name};
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use tollgate_access::secret::random_text;
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
    security(("secret" = ["viewer", "scope:reached"])),
    responses(
        (status = 200, body = Vec<document::Policy>, description = "The policies in effect."),
    )
)]
pub(super) async fn list(State(control): State<Arc<Control>>, reach: Reach) -> ControlAnswer {
    ok(control.shared.keys.policies().iter().filter(|policy| reach.has_policy(policy)).map(Policy::shown).collect::<Vec<Value>>())
}

/// One policy
#[utoipa::path(
    get, path = "/tyk/policies/{id}", tag = "Policies", operation_id = "getPolicy",
    security(("secret" = ["viewer", "scope:policy"])),
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
    security(("secret" = ["editor", "scope:reached"])),
    request_body(content = document::Policy, example = json!(examples::policy())),
    responses(
        (status = 200, body = Changed, description = "The policy is written to `policy_path` and in effect."),
        InvalidPolicy, PolicyNotWritten,
    )
)]
pub(super) async fn create(State(control): State<Arc<Control>>, reach: Reach, change: ChangeRequest, body: Bytes) -> ControlAnswer {
    store(&control, &reach, change, None, &body, Change::Added).await
}

/// Same as `POST /tyk/policies`
///
/// The id in the path has no effect, as in Tyk.
#[utoipa::path(
    post, path = "/tyk/policies/{id}", tag = "Policies", operation_id = "createPolicyAt",
    security(("secret" = ["editor", "scope:reached"])),
    params(PolicyId),
    request_body(content = document::Policy, example = json!(examples::policy())),
    responses(
        (status = 200, body = Changed, description = "The change is in effect."),
        InvalidPolicy, PolicyNotWritten,
    )
)]
pub(super) async fn create_at(state: State<Arc<Control>>, reach: Reach, change: ChangeRequest, body: Bytes) -> ControlAnswer {
    create(state, reach, change, body).await
}

/// Replace a policy
#[utoipa::path(
    put, path = "/tyk/policies/{id}", tag = "Policies", operation_id = "updatePolicy",
    security(("secret" = ["editor", "scope:reached"])),
    params(PolicyId),
    request_body(content = document::Policy, example = json!(examples::policy())),
    responses(
        (status = 200, body = Changed, description = "The policy applies from each key's next request."),
        InvalidPolicy, PolicyNotWritten,
    )
)]
pub(super) async fn update(
    State(control): State<Arc<Control>>,
    reach: Reach,
    Path(PolicyId { id }): Path<PolicyId>,
    change: ChangeRequest,
    body: Bytes,
) -> ControlAnswer {
    store(&control, &reach, change, Some(&id), &body, Change::Modified).await
}

/// Remove a policy
#[utoipa::path(
    delete, path = "/tyk/policies/{id}", tag = "Policies", operation_id = "deletePolicy",
    security(("secret" = ["editor", "scope:policy"])),
    params(PolicyId),
    responses(
        (status = 200, body = Changed, description = "The policy is removed. Keys without another policy are refused."),
        (status = 403, body = Error, description = "The policy comes from another source, such as a cluster; or the secret of the request is wrong."),
        (status = 500, body = Error, description = "No such policy, or the file could not be removed."),
    )
)]
pub(super) async fn remove(
    State(control): State<Arc<Control>>,
    Path(PolicyId { id }): Path<PolicyId>,
    change: ChangeRequest,
) -> ControlAnswer {
    let is_shared = control.definitions.shared_definitions().is_some_and(|shared| shared.known().has(DocumentClass::Policy, &id));
    let failed = || error(StatusCode::INTERNAL_SERVER_ERROR, "Delete failed");
    let gone = id.clone();
    let plan = move |read: &ReadFiles| match read.policies().get(&gone) {
        Some(_) if read.is_external(DocumentClass::Policy, &gone) => {
            Err(error(StatusCode::FORBIDDEN, "The policy comes from another source, where alone it can be changed"))
        }
        Some(_) => Ok(vec![WantedDocument::gone(DocumentClass::Policy, &gone)]),
        None => Err(failed()),
    };
    match definition_store::apply(&control, change, (DocumentClass::Policy, &id), plan).await {
        Ok(()) => changed_document(id, Change::Deleted, is_shared, control.nodes.one_of_several()),
        // The policies of one file for all can't be deleted.
        Err(ControlAnswer { status: StatusCode::BAD_REQUEST, .. }) => failed(),
        Err(answer) => answer,
    }
}

async fn store(
    control: &Arc<Control>,
    reach: &Reach,
    change: ChangeRequest,
    id: Option<&str>,
    body: &[u8],
    action: Change,
) -> ControlAnswer {
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
    let is_shared = control.definitions.shared_definitions().is_some();
    if !is_shared && control.definitions.policy_path().is_none() {
        return error(StatusCode::INTERNAL_SERVER_ERROR, "policies.policy_path is not configured: there is nowhere to write to");
    }
    let id = policy.id().to_owned();
    if !is_file_name(&id) {
        return error(StatusCode::BAD_REQUEST, "Invalid Policy ID");
    }
    if let Err(refused) = reach.check_policy(&policy) {
        return refused;
    }
    if let Err(refused) = check_right_fields(&control.shared.current.load(), &policy.access_rights) {
        return refused;
    }
    match definition_store::apply(control, change, (DocumentClass::Policy, &id), move |_| Ok(vec![WantedDocument::policy(policy)]))
        .await
    {
        Ok(()) => changed_document(id, action, is_shared, control.nodes.one_of_several()),
        Err(answer) => answer,
    }
}
