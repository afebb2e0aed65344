//! `/tyk/portal/requests` and `applications`: who asks for what, what operators decide, who uses what.

use super::{of, parsed};
use crate::api::Control;
use crate::api::answer::{ControlAnswer, Error, error, ok};
use crate::api::failures::StoreFailed;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_portal::{GrantPlace, GrantState};
use utoipa::{IntoParams, ToSchema};

/// An application in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(in crate::api) struct ApplicationPath {
    /// Id of an application.
    #[param(example = "0123456789abcdef0123456789abcdef-0123456789abcdef0123456789abcdef", min_length = 1)]
    pub application: String,
}

/// A grant in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(in crate::api) struct GrantId {
    /// Id of an application.
    #[param(example = "0123456789abcdef0123456789abcdef-0123456789abcdef0123456789abcdef", min_length = 1)]
    pub application: String,
    /// Id of its grant.
    #[param(example = "0123456789abcdef0123456789abcdef", min_length = 1)]
    pub grant: String,
}

/// A decision about a plan of an application.
#[derive(ToSchema)]
#[schema(as = PortalDecision)]
#[expect(dead_code, reason = "describes a document that the portal's own type reads")]
pub(in crate::api) struct DecisionSchema {
    /// `approved`, `rejected` or `suspended`; unchanged if left out.
    #[schema(required = false)]
    state: String,
    /// Another plan of the product; unchanged if left out.
    #[schema(required = false)]
    plan: String,
    /// What the developer reads.
    #[schema(required = false)]
    answer: String,
}

/// Plans that applications have or have asked for
#[utoipa::path(
    get, path = "/tyk/portal/requests", tag = "Portal", operation_id = "listPortalRequests",
    security(("secret" = ["viewer", "scope:closed"])),
    params(("state" = Option<String>, Query, description = "Only these: `requested`, `approved`, `rejected` or `suspended`.", example = "requested")),
    responses(
        (status = 200, body = Vec<Object>, description = "The plans, newest request first, each with its application, product, developer and keys."),
        (status = 400, body = Error, description = "There is no such state."),
        (status = 404, body = Error, description = "There is no portal."),
        StoreFailed,
    )
)]
pub(in crate::api) async fn requests(
    State(control): State<Arc<Control>>,
    Query(query): Query<HashMap<String, String>>,
) -> ControlAnswer {
    of(&control, async |portal| {
        let state = query.get("state").filter(|state| !state.is_empty());
        let state = state.map(|state| serde_json::from_value::<GrantState>(json!(state))).transpose();
        match state {
            Ok(state) => Ok(ok(portal.requests(state).await?)),
            Err(_) => Ok(error(StatusCode::BAD_REQUEST, "state: must be requested, approved, rejected or suspended")),
        }
    })
    .await
}

/// Decide about a plan of an application
///
/// Suspended or rejected, its keys are refused from the next request on. With another plan, its keys have the policy of that plan.
#[utoipa::path(
    patch, path = "/tyk/portal/applications/{application}/grants/{grant}", tag = "Portal", operation_id = "decidePortalRequest",
    security(("secret" = ["editor", "scope:closed"])),
    params(GrantId),
    request_body(content = DecisionSchema, example = json!({"state": "approved"})),
    responses(
        (status = 200, body = Object, description = "The plan as it is now."),
        (status = 400, body = Error, description = "The decision is not valid."),
        (status = 404, body = Error, description = "There is no such application or plan, or no portal."),
        StoreFailed,
    )
)]
pub(in crate::api) async fn decide(
    State(control): State<Arc<Control>>,
    Path(GrantId { application, grant }): Path<GrantId>,
    body: Bytes,
) -> ControlAnswer {
    of(&control, async |portal| {
        let decision = parsed(&body)?;
        let place = GrantPlace { application: &application, grant: &grant };
        let shown = portal.decide(place, &decision).await?;
        Ok(ok(shown).logged("update", "portal_grant", format!("{application}/{grant}")))
    })
    .await
}

/// Applications of the portal
#[utoipa::path(
    get, path = "/tyk/portal/applications", tag = "Portal", operation_id = "listPortalApplications",
    security(("secret" = ["viewer", "scope:closed"])),
    responses(
        (status = 200, body = Vec<Object>, description = "The applications by team and name, each with its plans and their keys. Keys have the `id` of `/tyk/list/keys`."),
        (status = 404, body = Error, description = "There is no portal."),
        StoreFailed,
    )
)]
pub(in crate::api) async fn applications(State(control): State<Arc<Control>>) -> ControlAnswer {
    of(&control, async |portal| Ok(ok(portal.application_overviews().await?))).await
}

/// What the keys of an application were used for
///
/// In the last 30 days, on all gateways that share the store. It has the first 20 keys, and `more` counts the others.
#[utoipa::path(
    get, path = "/tyk/portal/applications/{application}/usage", tag = "Portal", operation_id = "getPortalApplicationUsage",
    security(("secret" = ["viewer", "scope:closed"])),
    params(ApplicationPath),
    responses(
        (status = 200, body = Object, description = "Requests, last use and limits of each key."),
        (status = 404, body = Error, description = "There is no such application, or no portal."),
        StoreFailed,
    )
)]
pub(in crate::api) async fn usage(
    State(control): State<Arc<Control>>,
    Path(ApplicationPath { application }): Path<ApplicationPath>,
) -> ControlAnswer {
    of(&control, async |portal| Ok(ok(portal.application_usage(&application).await?))).await
}
