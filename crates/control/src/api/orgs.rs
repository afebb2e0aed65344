//! `/tyk/org/keys`: sessions of organisations. A change is stored before the response is sent, and takes effect with the next
//! request.

use super::Control;
use super::answer::{Change, Changed, ControlAnswer, Error, changed, error, ok};
use super::failures::ChangeNotStored;
use super::keys::{KeyList, KeyQuery, parsed_session, unremoved};
use super::{document, examples};
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_clock::unix_s;
use utoipa::IntoParams;

/// The organisation in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct OrgId {
    /// Id of an organisation.
    #[param(example = "default", min_length = 1)]
    pub id: String,
}

/// List the organisations that have limits
#[utoipa::path(
    get, path = "/tyk/org/keys", tag = "Organisations", operation_id = "listOrganisations",
    security(("secret" = ["viewer", "scope:closed"])),
    params(("filter" = Option<String>, Query, description = "Only those that begin so.")),
    responses(
        (status = 200, body = KeyList, description = "The ids of the organisations, sorted."),
    )
)]
pub(super) async fn list(State(control): State<Arc<Control>>, Query(query): KeyQuery) -> ControlAnswer {
    let prefix = query.get("filter").map_or("", String::as_str);
    let keys = control.shared.keys.orgs().into_iter().filter(|id| id.starts_with(prefix)).collect();
    ok(KeyList { keys })
}

/// The limits of an organisation and its remaining quota
#[utoipa::path(
    get, path = "/tyk/org/keys/{id}", tag = "Organisations", operation_id = "getOrganisation",
    security(("secret" = ["viewer", "scope:org"])),
    params(OrgId),
    responses(
        (status = 200, body = document::Session, description = "The limits, as a session."),
        (status = 404, body = Error, description = "The organisation has no limits."),
    )
)]
pub(super) async fn show(State(control): State<Arc<Control>>, Path(OrgId { id }): Path<OrgId>) -> ControlAnswer {
    match control.shared.keys.org_session(&id, unix_s()) {
        Some(session) => ok(session),
        None => not_found(),
    }
}

/// Set limits for all APIs of an organisation together
#[utoipa::path(
    post, path = "/tyk/org/keys/{id}", tag = "Organisations", operation_id = "addOrganisation",
    security(("secret" = ["editor", "scope:org"])),
    params(
        OrgId,
        ("reset_quota" = Option<String>, Query, description = "`1`: the quota begins anew."),
    ),
    request_body(content = document::Session, example = json!(examples::limits())),
    responses(
        (status = 200, body = Changed, description = "The change is in effect."),
        (status = 400, body = Error, description = "The body is not a session."),
        (status = 404, body = Error, description = "The organisation has no API, and `suppress_default_org_store` is on."),
        ChangeNotStored,
    )
)]
pub(super) async fn add(
    State(control): State<Arc<Control>>,
    Path(OrgId { id }): Path<OrgId>,
    Query(query): KeyQuery,
    body: Bytes,
) -> ControlAnswer {
    put(&control, &id, &query, &body, Change::Added).await.logged("create", "organisation", id)
}

/// Replace the limits of an organisation
#[utoipa::path(
    put, path = "/tyk/org/keys/{id}", tag = "Organisations", operation_id = "updateOrganisation",
    security(("secret" = ["editor", "scope:org"])),
    params(
        OrgId,
        ("reset_quota" = Option<String>, Query, description = "`1`: the quota begins anew."),
    ),
    request_body(content = document::Session, example = json!(examples::limits())),
    responses(
        (status = 200, body = Changed, description = "The change is in effect."),
        (status = 400, body = Error, description = "The body is not a session."),
        (status = 404, body = Error, description = "The organisation has no API, and `suppress_default_org_store` is on."),
        ChangeNotStored,
    )
)]
pub(super) async fn update(
    State(control): State<Arc<Control>>,
    Path(OrgId { id }): Path<OrgId>,
    Query(query): KeyQuery,
    body: Bytes,
) -> ControlAnswer {
    put(&control, &id, &query, &body, Change::Modified).await.logged("update", "organisation", id)
}

/// Creates or replaces an organisation's session.
async fn put(control: &Control, id: &str, query: &HashMap<String, String>, body: &[u8], action: Change) -> ControlAnswer {
    let mut session = match parsed_session(body, error(StatusCode::BAD_REQUEST, "Request malformed")) {
        Ok(session) => session,
        Err(refused) => return refused,
    };
    if control.shared.settings.callers.suppress_default_org_store && !has_api(control, id) {
        return error(StatusCode::NOT_FOUND, "No such organisation found in Active API list");
    }
    session.last_updated = unix_s().to_string();
    let reset_quota = query.get("reset_quota").is_some_and(|value| value == "1");
    match control.shared.keys.put_org(id, session, reset_quota).await {
        Ok(()) => changed(id, action),
        Err(fault) => error(StatusCode::INTERNAL_SERVER_ERROR, format!("Error writing to key store {fault}")),
    }
}

/// Remove the limits of an organisation
#[utoipa::path(
    delete, path = "/tyk/org/keys/{id}", tag = "Organisations", operation_id = "deleteOrganisation",
    security(("secret" = ["editor", "scope:org"])),
    params(OrgId),
    responses(
        (status = 200, body = Changed, description = "The change is in effect."),
        (status = 400, body = Error, description = "The organisation has no limits, or their removal failed."),
    )
)]
pub(super) async fn remove(State(control): State<Arc<Control>>, Path(OrgId { id }): Path<OrgId>) -> ControlAnswer {
    match control.shared.keys.remove_org(&id).await {
        Ok(true) => changed(id.as_str(), Change::Deleted).logged("delete", "organisation", id),
        // Tyk's own status and words.
        Ok(false) => error(StatusCode::BAD_REQUEST, "Failed to remove the key"),
        Err(fault) => unremoved(&fault),
    }
}

/// Whether an API of the organisation is loaded.
fn has_api(control: &Control, id: &str) -> bool {
    let snapshot = control.shared.current.load();
    snapshot.apis.iter().any(|api| api.raw.get("org_id").is_some_and(|org| org == id))
}

fn not_found() -> ControlAnswer {
    error(StatusCode::NOT_FOUND, "Org not found")
}
