//! `/tyk/portal/developers`, `teams` and `invitations`: who has an account.

use super::{of, parsed};
use crate::api::Control;
use crate::api::answer::{ControlAnswer, Error, Success, message, ok};
use crate::api::failures::StoreFailed;
use axum::body::Bytes;
use axum::extract::{Path, State};
use serde::Deserialize;
use std::sync::Arc;
use tollgate_portal::InvitationRequest;
use utoipa::{IntoParams, ToSchema};

/// A developer in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(in crate::api) struct DeveloperId {
    /// Id of a developer.
    #[param(example = "b5fc85e55755f9e0d030a10ab4429b6b", min_length = 1)]
    pub id: String,
}

/// Whom to invite.
#[derive(ToSchema)]
#[schema(as = PortalInvitation)]
#[expect(dead_code, reason = "describes a document that the portal's own type reads")]
pub(in crate::api) struct InvitationSchema {
    /// Mail address.
    mail: String,
    /// What they are called, until they say otherwise.
    name: String,
}

/// A change of a developer.
#[derive(ToSchema)]
#[schema(as = PortalDeveloperChange)]
#[expect(dead_code, reason = "describes a document that the portal's own type reads")]
pub(in crate::api) struct DeveloperChangeSchema {
    /// Whether they are suspended.
    suspended: bool,
}

/// Invite somebody to the developer portal
///
/// They may make an account, whatever the rule for sign-ups is. The link works once and for seven days.
#[utoipa::path(
    post, path = "/tyk/portal/invitations", tag = "Portal", operation_id = "inviteDeveloper",
    security(("secret" = ["editor", "scope:closed"])),
    request_body(content = InvitationSchema, example = json!({"mail": "ada@example.com", "name": "Ada"})),
    responses(
        (status = 200, body = Object, description = "`link` is the invitation; `is_mailed` says whether a mail with it is on its way."),
        (status = 400, body = Error, description = "The address or the name is none."),
        (status = 404, body = Error, description = "There is no portal."),
        StoreFailed,
    )
)]
pub(in crate::api) async fn invite(State(control): State<Arc<Control>>, body: Bytes) -> ControlAnswer {
    of(&control, async |portal| {
        let request: InvitationRequest = parsed(&body)?;
        let invitation = portal.invite(&request).await?;
        Ok(ok(invitation).logged("create", "portal_invitation", &request.mail))
    })
    .await
}

/// Teams of the portal
#[utoipa::path(
    get, path = "/tyk/portal/teams", tag = "Portal", operation_id = "listPortalTeams",
    security(("secret" = ["viewer", "scope:closed"])),
    responses(
        (status = 200, body = Vec<Object>, description = "The teams by name, each with its members and what they may do."),
        (status = 404, body = Error, description = "There is no portal."),
        StoreFailed,
    )
)]
pub(in crate::api) async fn teams(State(control): State<Arc<Control>>) -> ControlAnswer {
    of(&control, async |portal| Ok(ok(portal.teams().await?))).await
}

/// Developers of the portal
#[utoipa::path(
    get, path = "/tyk/portal/developers", tag = "Portal", operation_id = "listDevelopers",
    security(("secret" = ["viewer", "scope:closed"])),
    responses(
        (status = 200, body = Vec<Object>, description = "The developers, each with mail address, name and teams."),
        (status = 404, body = Error, description = "There is no portal."),
        StoreFailed,
    )
)]
pub(in crate::api) async fn developers(State(control): State<Arc<Control>>) -> ControlAnswer {
    of(&control, async |portal| Ok(ok(portal.developers().await?))).await
}

/// Suspend a developer, or let them go on
///
/// Suspended, they are signed out, and the keys that they made are refused from the next request on.
#[utoipa::path(
    patch, path = "/tyk/portal/developers/{id}", tag = "Portal", operation_id = "changeDeveloper",
    security(("secret" = ["editor", "scope:closed"])),
    params(DeveloperId),
    request_body(content = DeveloperChangeSchema, example = json!({"suspended": true})),
    responses(
        (status = 200, body = Object, description = "The developer as they are now."),
        (status = 400, body = Error, description = "The body is not a change."),
        (status = 404, body = Error, description = "There is no such developer, or no portal."),
        StoreFailed,
    )
)]
pub(in crate::api) async fn suspend(
    State(control): State<Arc<Control>>,
    Path(DeveloperId { id }): Path<DeveloperId>,
    body: Bytes,
) -> ControlAnswer {
    of(&control, async |portal| {
        let shown = portal.suspend(&id, parsed(&body)?).await?;
        Ok(ok(shown).logged("update", "portal_developer", &id))
    })
    .await
}

/// Remove a developer
///
/// The keys that they made are removed, and the applications of teams in which nobody else is.
#[utoipa::path(
    delete, path = "/tyk/portal/developers/{id}", tag = "Portal", operation_id = "deleteDeveloper",
    security(("secret" = ["editor", "scope:closed"])),
    params(DeveloperId),
    responses(
        (status = 200, body = Success, description = "The developer is removed."),
        (status = 404, body = Error, description = "There is no such developer, or no portal."),
        StoreFailed,
    )
)]
pub(in crate::api) async fn remove_developer(
    State(control): State<Arc<Control>>,
    Path(DeveloperId { id }): Path<DeveloperId>,
) -> ControlAnswer {
    of(&control, async |portal| {
        portal.remove_developer(&id).await?;
        Ok(message("removed").logged("delete", "portal_developer", &id))
    })
    .await
}
