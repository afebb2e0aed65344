//! `/tyk/portal`: what operators publish at the developer portal, and what they decide about those who use it.

mod applications;
mod developers;
mod invoices;
mod published;

use super::Control;
use super::answer::{ControlAnswer, error};
use super::workers::{self, Workers};
use axum::Router;
use axum::http::{StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::any;
use serde::de::DeserializeOwned;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use tokio::runtime::Handle;
use tollgate_data::control_caller::{ControlCaller, PORTAL_PATH};
use tollgate_portal::{Portal, PortalRefusal, Visitor};
use tower::ServiceExt;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

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

/// The same for requests of the data plane, which are for the portal's host.
pub(super) fn at_host(portal: Arc<Portal>, threads: Handle) -> Router {
    let pages = pages(portal, threads);
    let pass = move |request: axum::extract::Request| {
        let pages = pages.clone();
        async move {
            let target = request.uri().path_and_query().and_then(|target| target.as_str().strip_prefix(PORTAL_PATH));
            let Some(Ok(target)) = target.map(str::parse::<Uri>) else { return StatusCode::BAD_REQUEST.into_response() };
            let (head, body) = request.into_parts();
            // A new request: what the outer router noted about its path would mislead the inner one.
            let mut inner = axum::extract::Request::builder().method(head.method).uri(target).body(body).unwrap_or_default();
            *inner.headers_mut() = head.headers;
            if let Some(caller) = head.extensions.get::<ControlCaller>() {
                inner.extensions_mut().insert(*caller);
            }
            pages.oneshot(inner).await.unwrap_or_else(|never| match never {})
        }
    };
    Router::new().route(&format!("{PORTAL_PATH}/"), any(pass.clone())).route(&format!("{PORTAL_PATH}/{{*rest}}"), any(pass))
}

/// The endpoints.
pub(super) fn endpoints() -> OpenApiRouter<Arc<Control>> {
    OpenApiRouter::new()
        .routes(routes!(published::products))
        .routes(routes!(published::product, published::put_product, published::remove_product))
        .routes(routes!(published::own_pages))
        .routes(routes!(published::own_page, published::put_page, published::remove_page))
        .routes(routes!(developers::invite))
        .routes(routes!(applications::requests))
        .routes(routes!(applications::applications))
        .routes(routes!(applications::usage))
        .routes(routes!(applications::decide))
        .routes(routes!(developers::teams))
        .routes(routes!(invoices::months))
        .routes(routes!(invoices::invoice))
        .routes(routes!(developers::developers))
        .routes(routes!(developers::suspend, developers::remove_developer))
}

/// Asks the portal, if there is one.
async fn of(control: &Control, ask: impl AsyncFnOnce(&Portal) -> Result<ControlAnswer, PortalRefusal>) -> ControlAnswer {
    let Some(portal) = &control.portal else {
        return error(
            StatusCode::NOT_FOUND,
            "there is no developer portal: tollgate.portal.listen and tollgate.portal.host are empty",
        );
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
