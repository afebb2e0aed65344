//! `/tyk/portal/products` and `/tyk/portal/pages`: what operators publish, drafts too.

use super::{named, of, parsed};
use crate::api::Control;
use crate::api::answer::{Change, Changed, ControlAnswer, Error, changed, error, ok};
use crate::api::definition_store::{is_known_version, known_version};
use crate::api::documents::tagged;
use crate::api::failures::StoreFailed;
use crate::definitions::etag;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use tollgate_portal::{ApiProduct, PortalPage, PublishedDocument};
use utoipa::{IntoParams, ToSchema};

/// A product or page in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(in crate::api) struct PublishedId {
    /// Its id.
    #[param(example = "shop", min_length = 1)]
    pub id: String,
}

/// A product of the portal.
#[derive(ToSchema)]
#[schema(as = PortalProduct)]
#[expect(dead_code, reason = "describes a document that the portal's own type reads")]
pub(in crate::api) struct ProductSchema {
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
    /// Under which conditions it is to be had: `id`, `name`, `summary`, `policy`, `approval`, which is `manual` or `automatic`, and `price` with
    /// `currency`, `per_month`, `per_call` (decimals as texts) and `free_calls`.
    #[schema(required = false)]
    plans: Vec<Value>,
    /// Whether people see it who have not signed in.
    #[schema(required = false)]
    is_public: bool,
    /// Whether operators alone see it; keys that were made for it go on.
    #[schema(required = false)]
    is_draft: bool,
    /// Where it stands in the catalogue.
    #[schema(required = false)]
    order: i64,
}

/// A page of the portal.
#[derive(ToSchema)]
#[schema(as = PortalPage)]
#[expect(dead_code, reason = "describes a document that the portal's own type reads")]
pub(in crate::api) struct PageSchema {
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
    /// Whether operators alone see it.
    #[schema(required = false)]
    is_draft: bool,
    /// Where it stands among the pages.
    #[schema(required = false)]
    order: i64,
}

/// Products of the developer portal
#[utoipa::path(
    get, path = "/tyk/portal/products", tag = "Portal", operation_id = "listPortalProducts",
    security(("secret" = ["viewer", "scope:closed"])),
    responses(
        (status = 200, body = Vec<ProductSchema>, description = "The products, in the order of the catalogue."),
        (status = 404, body = Error, description = "There is no portal: `tollgate.portal.listen` and `host` are empty."),
        StoreFailed,
    )
)]
pub(in crate::api) async fn products(State(control): State<Arc<Control>>) -> ControlAnswer {
    of(&control, async |portal| Ok(ok(portal.all_published::<ApiProduct>().await?))).await
}

/// A product of the developer portal
#[utoipa::path(
    get, path = "/tyk/portal/products/{id}", tag = "Portal", operation_id = "getPortalProduct",
    security(("secret" = ["viewer", "scope:closed"])),
    params(PublishedId),
    responses(
        (status = 200, body = ProductSchema, description = "The product; `ETag` is its version."),
        (status = 404, body = Error, description = "There is no such product, or no portal."),
        StoreFailed,
    )
)]
pub(in crate::api) async fn product(State(control): State<Arc<Control>>, Path(PublishedId { id }): Path<PublishedId>) -> Response {
    read::<ApiProduct>(&control, &id).await
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
        (status = 412, body = Error, description = "It is not the version of `If-Match`: somebody else has changed it."),
        StoreFailed,
    )
)]
pub(in crate::api) async fn put_product(
    State(control): State<Arc<Control>>,
    Path(PublishedId { id }): Path<PublishedId>,
    headers: HeaderMap,
    body: Bytes,
) -> ControlAnswer {
    put::<ApiProduct>(&control, &id, &headers, &body).await
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
        (status = 412, body = Error, description = "It is not the version of `If-Match`: somebody else has changed it."),
        StoreFailed,
    )
)]
pub(in crate::api) async fn remove_product(
    State(control): State<Arc<Control>>,
    Path(PublishedId { id }): Path<PublishedId>,
    headers: HeaderMap,
) -> ControlAnswer {
    remove::<ApiProduct>(&control, &id, &headers).await
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
pub(in crate::api) async fn own_pages(State(control): State<Arc<Control>>) -> ControlAnswer {
    of(&control, async |portal| Ok(ok(portal.all_published::<PortalPage>().await?))).await
}

/// A page of the developer portal
#[utoipa::path(
    get, path = "/tyk/portal/pages/{id}", tag = "Portal", operation_id = "getPortalPage",
    security(("secret" = ["viewer", "scope:closed"])),
    params(PublishedId),
    responses(
        (status = 200, body = PageSchema, description = "The page; `ETag` is its version."),
        (status = 404, body = Error, description = "There is no such page, or no portal."),
        StoreFailed,
    )
)]
pub(in crate::api) async fn own_page(State(control): State<Arc<Control>>, Path(PublishedId { id }): Path<PublishedId>) -> Response {
    read::<PortalPage>(&control, &id).await
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
        (status = 412, body = Error, description = "It is not the version of `If-Match`: somebody else has changed it."),
        StoreFailed,
    )
)]
pub(in crate::api) async fn put_page(
    State(control): State<Arc<Control>>,
    Path(PublishedId { id }): Path<PublishedId>,
    headers: HeaderMap,
    body: Bytes,
) -> ControlAnswer {
    put::<PortalPage>(&control, &id, &headers, &body).await
}

/// Remove a page of the developer portal
#[utoipa::path(
    delete, path = "/tyk/portal/pages/{id}", tag = "Portal", operation_id = "deletePortalPage",
    security(("secret" = ["editor", "scope:closed"])),
    params(PublishedId),
    responses(
        (status = 200, body = Changed, description = "It is not at the portal any more."),
        (status = 404, body = Error, description = "There is no such page, or no portal."),
        (status = 412, body = Error, description = "It is not the version of `If-Match`: somebody else has changed it."),
        StoreFailed,
    )
)]
pub(in crate::api) async fn remove_page(
    State(control): State<Arc<Control>>,
    Path(PublishedId { id }): Path<PublishedId>,
    headers: HeaderMap,
) -> ControlAnswer {
    remove::<PortalPage>(&control, &id, &headers).await
}

async fn read<T: PublishedDocument>(control: &Control, id: &str) -> Response {
    let mut version = None;
    let answer = of(control, async |portal| {
        let document = portal.one_published::<T>(id).await?;
        version = Some(etag(&shown(&document)));
        Ok(ok(document))
    });
    tagged(answer.await.into_response(), version)
}

async fn put<T: PublishedDocument>(control: &Control, id: &str, headers: &HeaderMap, body: &[u8]) -> ControlAnswer {
    of(control, async |portal| {
        let mut document: T = parsed(body)?;
        named(document.id_mut(), id)?;
        let is_new = portal.put_published(&document, is_expected::<T>(headers)).await?;
        let (action, what) = if is_new { ("create", Change::Added) } else { ("update", Change::Modified) };
        Ok(changed(id, what).logged(action, T::KIND, id))
    })
    .await
}

async fn remove<T: PublishedDocument>(control: &Control, id: &str, headers: &HeaderMap) -> ControlAnswer {
    of(control, async |portal| match portal.remove_published(id, is_expected::<T>(headers)).await? {
        true => Ok(changed(id, Change::Deleted).logged("delete", T::KIND, id)),
        false => Ok(error(StatusCode::NOT_FOUND, format!("there is no such {}", T::WHAT))),
    })
    .await
}

/// Whether what is stored is what a caller knows.
fn is_expected<T: PublishedDocument>(headers: &HeaderMap) -> impl Fn(Option<&T>) -> bool + use<T> {
    let known = known_version(headers);
    move |stored| is_known_version(known.as_deref(), stored.map(shown).as_ref())
}

fn shown<T: PublishedDocument>(document: &T) -> Value {
    serde_json::to_value(document).unwrap_or_default()
}
