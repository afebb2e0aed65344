//! `/tyk/portal`: what operators publish at the developer portal, and what they decide about those who use it.

use super::Control;
use super::answer::{Change, Changed, ControlAnswer, Error, Success, changed, error, message, ok};
use super::failures::StoreFailed;
use super::workers::{self, Workers};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use tokio::runtime::Handle;
use tollgate_data::control_caller::ControlCaller;
use tollgate_portal::{ApiProduct, GrantPlace, GrantState, Portal, PortalPage, PortalRefusal, Visitor};
use utoipa::{IntoParams, ToSchema};

/// Bytes of a body; people type what is in it.
const BODY_BYTES_MAX: usize = 64 << 10;

/// The portal's pages and endpoints, on the control plane's threads, with limits of their own.
pub(super) fn pages(portal: Arc<Portal>, threads: Handle) -> Router {
    let visited = |mut request: axum::extract::Request| {
        let caller = request.extensions().get::<ControlCaller>().copied();
        let address = caller.map_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED), |caller| caller.address);
        request.extensions_mut().insert(Visitor { address });
        request
    };
    tollgate_portal::router(portal)
        .layer(axum::middleware::map_request(move |request| std::future::ready(visited(request))))
        .layer(from_fn_with_state(Workers::new(threads, BODY_BYTES_MAX), workers::run))
}

/// A product or page in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct PublishedId {
    /// Its id.
    #[param(example = "shop", min_length = 1)]
    pub id: String,
}

/// A developer in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct DeveloperId {
    /// Id of a developer.
    #[param(example = "b5fc85e55755f9e0d030a10ab4429b6b", min_length = 1)]
    pub id: String,
}

/// A grant in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct GrantId {
    /// Id of an application.
    #[param(example = "0123456789abcdef0123456789abcdef-0123456789abcdef0123456789abcdef", min_length = 1)]
    pub application: String,
    /// Id of its grant.
    #[param(example = "0123456789abcdef0123456789abcdef", min_length = 1)]
    pub grant: String,
}

/// A product of the portal.
#[derive(ToSchema)]
#[schema(as = PortalProduct)]
#[expect(dead_code, reason = "describes a document that the portal's own type reads")]
pub(super) struct ProductSchema {
    /// Its id; that of the path if left out.
    #[schema(required = false)]
    id: String,
    name: String,
    /// One line about it.
    #[schema(required = false)]
    summary: String,
    /// More about it, in Markdown.
    #[schema(required = false)]
    description: String,
    /// Ids of its APIs.
    apis: Vec<String>,
    /// Under which conditions it is to be had: `id`, `name`, `summary`, `policy`, and `approval`, which is `manual` or `automatic`.
    #[schema(required = false)]
    plans: Vec<serde_json::Value>,
    /// Whether people see it who have not signed in.
    #[schema(required = false)]
    is_public: bool,
    /// Where it stands in the catalogue.
    #[schema(required = false)]
    order: i64,
}

/// A page of the portal.
#[derive(ToSchema)]
#[schema(as = PortalPage)]
#[expect(dead_code, reason = "describes a document that the portal's own type reads")]
pub(super) struct PageSchema {
    /// Its id; that of the path if left out.
    #[schema(required = false)]
    id: String,
    title: String,
    /// Its text, in Markdown.
    #[schema(required = false)]
    text: String,
    /// Whether people see it who have not signed in.
    #[schema(required = false)]
    is_public: bool,
    /// Where it stands among the pages.
    #[schema(required = false)]
    order: i64,
}

/// Whom to invite.
#[derive(ToSchema)]
#[schema(as = PortalInvitation)]
#[expect(dead_code, reason = "describes a document that the portal's own type reads")]
pub(super) struct InvitationSchema {
    /// Mail address.
    mail: String,
    /// What they are called, until they say otherwise.
    name: String,
}

/// A decision about a plan of an application.
#[derive(ToSchema)]
#[schema(as = PortalDecision)]
#[expect(dead_code, reason = "describes a document that the portal's own type reads")]
pub(super) struct DecisionSchema {
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

/// A change of a developer.
#[derive(ToSchema)]
#[schema(as = PortalDeveloperChange)]
#[expect(dead_code, reason = "describes a document that the portal's own type reads")]
pub(super) struct DeveloperChangeSchema {
    /// Whether they are suspended.
    suspended: bool,
}

/// Products of the developer portal
#[utoipa::path(
    get, path = "/tyk/portal/products", tag = "Portal", operation_id = "listPortalProducts",
    security(("secret" = ["viewer", "scope:closed"])),
    responses(
        (status = 200, body = Vec<ProductSchema>, description = "The products, in the order of the catalogue."),
        (status = 404, body = Error, description = "There is no portal: `tollgate.portal.listen` is empty."),
        StoreFailed,
    )
)]
pub(super) async fn products(State(control): State<Arc<Control>>) -> ControlAnswer {
    of(&control, async |portal| Ok(ok(portal.products().await?))).await
}

/// Publish a product at the developer portal
#[utoipa::path(
    put, path = "/tyk/portal/products/{id}", tag = "Portal", operation_id = "putPortalProduct",
    security(("secret" = ["editor", "scope:closed"])),
    params(PublishedId),
    request_body(content = ProductSchema, example = json!({
        "name": "Shop", "apis": ["quick"], "is_public": true,
        "plans": [{"id": "gold", "name": "Gold", "policy": "gold", "approval": "automatic"}]
    })),
    responses(
        (status = 200, body = Changed, description = "It is in the catalogue of all gateways on this store."),
        (status = 400, body = Error, description = "The product is not valid, or names an API or a policy that does not exist."),
        (status = 404, body = Error, description = "There is no portal."),
        (status = 409, body = Error, description = "There are as many products as there may be."),
        StoreFailed,
    )
)]
pub(super) async fn put_product(
    State(control): State<Arc<Control>>,
    Path(PublishedId { id }): Path<PublishedId>,
    body: Bytes,
) -> ControlAnswer {
    of(&control, async |portal| {
        let mut product: ApiProduct = parsed(&body)?;
        named(&mut product.id, &id)?;
        let is_new = portal.put_product(&product).await?;
        let (action, what) = if is_new { ("create", Change::Added) } else { ("update", Change::Modified) };
        Ok(changed(&id, what).logged(action, "portal_product", &id))
    })
    .await
}

/// Take a product out of the catalogue
///
/// Keys that were made for it go on.
#[utoipa::path(
    delete, path = "/tyk/portal/products/{id}", tag = "Portal", operation_id = "deletePortalProduct",
    security(("secret" = ["editor", "scope:closed"])),
    params(PublishedId),
    responses(
        (status = 200, body = Changed, description = "It is not in the catalogue any more."),
        (status = 404, body = Error, description = "There is no such product, or no portal."),
        StoreFailed,
    )
)]
pub(super) async fn remove_product(
    State(control): State<Arc<Control>>,
    Path(PublishedId { id }): Path<PublishedId>,
) -> ControlAnswer {
    of(&control, async |portal| match portal.remove_product(&id).await? {
        true => Ok(changed(&id, Change::Deleted).logged("delete", "portal_product", &id)),
        false => Ok(error(StatusCode::NOT_FOUND, "there is no such product")),
    })
    .await
}

/// Pages of the developer portal
#[utoipa::path(
    get, path = "/tyk/portal/pages", tag = "Portal", operation_id = "listPortalPages",
    security(("secret" = ["viewer", "scope:closed"])),
    responses(
        (status = 200, body = Vec<PageSchema>, description = "The pages, in their order."),
        (status = 404, body = Error, description = "There is no portal."),
        StoreFailed,
    )
)]
pub(super) async fn own_pages(State(control): State<Arc<Control>>) -> ControlAnswer {
    of(&control, async |portal| Ok(ok(portal.pages().await?))).await
}

/// Publish a page at the developer portal
#[utoipa::path(
    put, path = "/tyk/portal/pages/{id}", tag = "Portal", operation_id = "putPortalPage",
    security(("secret" = ["editor", "scope:closed"])),
    params(PublishedId),
    request_body(content = PageSchema, example = json!({"title": "Welcome", "text": "# Welcome", "is_public": true})),
    responses(
        (status = 200, body = Changed, description = "It is at the portal of all gateways on this store."),
        (status = 400, body = Error, description = "The page is not valid."),
        (status = 404, body = Error, description = "There is no portal."),
        (status = 409, body = Error, description = "There are as many pages as there may be."),
        StoreFailed,
    )
)]
pub(super) async fn put_page(
    State(control): State<Arc<Control>>,
    Path(PublishedId { id }): Path<PublishedId>,
    body: Bytes,
) -> ControlAnswer {
    of(&control, async |portal| {
        let mut page: PortalPage = parsed(&body)?;
        named(&mut page.id, &id)?;
        let is_new = portal.put_page(&page).await?;
        let (action, what) = if is_new { ("create", Change::Added) } else { ("update", Change::Modified) };
        Ok(changed(&id, what).logged(action, "portal_page", &id))
    })
    .await
}

/// Remove a page of the developer portal
#[utoipa::path(
    delete, path = "/tyk/portal/pages/{id}", tag = "Portal", operation_id = "deletePortalPage",
    security(("secret" = ["editor", "scope:closed"])),
    params(PublishedId),
    responses(
        (status = 200, body = Changed, description = "It is not at the portal any more."),
        (status = 404, body = Error, description = "There is no such page, or no portal."),
        StoreFailed,
    )
)]
pub(super) async fn remove_page(State(control): State<Arc<Control>>, Path(PublishedId { id }): Path<PublishedId>) -> ControlAnswer {
    of(&control, async |portal| match portal.remove_page(&id).await? {
        true => Ok(changed(&id, Change::Deleted).logged("delete", "portal_page", &id)),
        false => Ok(error(StatusCode::NOT_FOUND, "there is no such page")),
    })
    .await
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
pub(super) async fn invite(State(control): State<Arc<Control>>, body: Bytes) -> ControlAnswer {
    of(&control, async |portal| {
        let request: tollgate_portal::InvitationRequest = parsed(&body)?;
        let invitation = portal.invite(&request).await?;
        Ok(ok(invitation).logged("create", "portal_invitation", &request.mail))
    })
    .await
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
pub(super) async fn requests(State(control): State<Arc<Control>>, Query(query): Query<HashMap<String, String>>) -> ControlAnswer {
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
pub(super) async fn decide(
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
pub(super) async fn developers(State(control): State<Arc<Control>>) -> ControlAnswer {
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
pub(super) async fn suspend(
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
pub(super) async fn remove_developer(
    State(control): State<Arc<Control>>,
    Path(DeveloperId { id }): Path<DeveloperId>,
) -> ControlAnswer {
    of(&control, async |portal| {
        portal.remove_developer(&id).await?;
        Ok(message("removed").logged("delete", "portal_developer", &id))
    })
    .await
}

/// Asks the portal, if there is one.
async fn of(control: &Control, ask: impl AsyncFnOnce(&Portal) -> Result<ControlAnswer, PortalRefusal>) -> ControlAnswer {
    let Some(portal) = &control.portal else {
        return error(StatusCode::NOT_FOUND, "there is no developer portal: tollgate.portal.listen is empty");
    };
    ask(portal).await.unwrap_or_else(|refusal| {
        let status = if refusal.cause == "store" { 500 } else { refusal.status };
        error(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), refusal.message)
    })
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, PortalRefusal> {
    serde_json::from_slice(body).map_err(|error| PortalRefusal::invalid(format!("the body is not valid: {error}")))
}

/// A document in a path has the id of the path.
fn named(own: &mut String, id: &str) -> Result<(), PortalRefusal> {
    if own.is_empty() {
        id.clone_into(own);
    }
    if own == id { Ok(()) } else { Err(PortalRefusal::invalid("id: is not that of the path")) }
}
