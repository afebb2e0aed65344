//! `/tyk/cache`: invalidates caches: stored responses, and key sets of token issuers.

use super::Control;
use super::answer::{ControlAnswer, Success, message};
use super::parameters::ApiId;
use axum::extract::{Path, State};
use std::sync::Arc;

/// Invalidate the cached responses of an API
///
/// They are removed from this gateway when the response is sent; other gateways keep theirs. The response is the same for an unknown API.
#[utoipa::path(
    delete, path = "/tyk/cache/{id}", tag = "Cache", operation_id = "invalidateCache",
    params(ApiId),
    responses(
        (status = 200, body = Success, description = "The request was carried out."),
    )
)]
pub(super) async fn invalidate(State(control): State<Arc<Control>>, Path(ApiId { id }): Path<ApiId>) -> ControlAnswer {
    control.shared.registry.purge_api_cache(&id);
    message("cache invalidated")
}

/// Invalidate the key sets of all token issuers
///
/// They are fetched again when they are needed.
#[utoipa::path(
    delete, path = "/tyk/cache/jwks", tag = "Cache", operation_id = "forgetKeySets",
    responses(
        (status = 200, body = Success, description = "The request was carried out."),
    )
)]
pub(super) async fn forget_all_key_sets(State(control): State<Arc<Control>>) -> ControlAnswer {
    control.shared.current.load().apis.iter().for_each(|api| api.forget_key_sets());
    message("cache invalidated")
}

/// Invalidate the key sets of an API's token issuers
///
/// A set that several APIs use is invalidated for all of them. The response is the same for an unknown API.
#[utoipa::path(
    delete, path = "/tyk/cache/jwks/{id}", tag = "Cache", operation_id = "forgetKeySetsOfApi",
    params(ApiId),
    responses(
        (status = 200, body = Success, description = "The request was carried out."),
    )
)]
pub(super) async fn forget_key_sets(State(control): State<Arc<Control>>, Path(ApiId { id }): Path<ApiId>) -> ControlAnswer {
    let snapshot = control.shared.current.load();
    if let Some(api) = snapshot.api(&id) {
        api.forget_key_sets();
    }
    message("cache invalidated")
}
