//! `/tyk/cache`: shows and purges stored responses, and invalidates the key sets of token issuers.

use super::Control;
use super::answer::{ControlAnswer, Error, Success, error, message, ok};
use super::parameters::ApiId;
use crate::report::{ResponseCacheFigures, response_caches};
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Serialize;
use std::sync::Arc;
use tollgate_cluster::{CachePurge, PurgeScope};
use utoipa::ToSchema;

/// URLs, prefixes and tags of one purge. A content management system names what one change touches.
const ITEMS_MAX: usize = 256;

/// What the response cache holds and did.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CacheReport {
    /// Bytes in memory, all APIs together.
    bytes: u64,
    /// Limit for `bytes`.
    bytes_max: u64,
    /// The gateways that a purge reaches, this one first; empty without Redis. A gateway drops what it has when it begins to follow the log of
    /// purges, and stands here from then on.
    gateways: Vec<String>,
    /// The APIs that use the cache.
    #[schema(inline)]
    apis: Vec<CacheReportOfApi>,
}

#[derive(Serialize, ToSchema)]
struct CacheReportOfApi {
    /// Id of the API.
    api_id: String,
    #[serde(flatten)]
    #[schema(inline)]
    figures: ResponseCacheFigures,
}

/// Statistics of the response cache
///
/// They are those of the gateway that answers, since its start.
#[utoipa::path(
    get, path = "/tyk/cache", tag = "Cache", operation_id = "getCache",
    security(("secret" = ["viewer", "scope:closed"])),
    responses(
        (status = 200, body = CacheReport, description = "The statistics."),
    )
)]
pub(super) async fn status(State(control): State<Arc<Control>>) -> ControlAnswer {
    let shared = &control.shared;
    let apis = response_caches(shared).into_iter().map(|(api_id, figures)| CacheReportOfApi { api_id, figures });
    ok(CacheReport {
        bytes: shared.registry.api_caches().1,
        bytes_max: shared.settings.sizes.cache.memory_bytes_max,
        gateways: control.purger.followers(),
        apis: apis.collect(),
    })
}

/// Invalidate the cached responses of an API
///
/// They are gone on all gateways when the response is sent. The response is the same for an unknown API.
#[utoipa::path(
    delete, path = "/tyk/cache/{id}", tag = "Cache", operation_id = "invalidateCache",
    security(("secret" = ["editor", "scope:api"])),
    params(ApiId),
    responses(
        (status = 200, body = Success, description = "The request was carried out."),
        (status = 500, body = Error, description = "This gateway has purged; the message names the others that have not confirmed it within a second, \
            or says why Redis could not be used. They purge as soon as they can."),
    )
)]
pub(super) async fn invalidate(State(control): State<Arc<Control>>, Path(ApiId { id }): Path<ApiId>) -> ControlAnswer {
    everywhere(&control, CachePurge::everything(Some(id.clone()))).await.logged("delete", "cache", id)
}

/// Purge cached responses of an API by URL, prefix or tag
///
/// They are gone, or stale, on all gateways when the response is sent. A URL or prefix is one that clients ask for, or what the upstream is asked for
/// after rewrites. The response is the same for an unknown API, and for what is not stored.
#[utoipa::path(
    post, path = "/tyk/cache/{id}/purge", tag = "Cache", operation_id = "purgeCache",
    security(("secret" = ["editor", "scope:api"])),
    params(ApiId),
    request_body(content = PurgeScope, example = json!({"urls": ["/quick/products/1"], "prefixes": ["/quick/images/"], "tags": ["shoes"]})),
    responses(
        (status = 200, body = Success, description = "The request was carried out."),
        (status = 400, body = Error, description = "The body does not say what is purged."),
        (status = 500, body = Error, description = "As for `DELETE /tyk/cache/{id}`."),
    )
)]
pub(super) async fn purge(State(control): State<Arc<Control>>, Path(ApiId { id }): Path<ApiId>, body: Bytes) -> ControlAnswer {
    let scope: PurgeScope = match serde_json::from_slice(&body) {
        Ok(scope) => scope,
        Err(reason) => return error(StatusCode::BAD_REQUEST, format!("the body is no purge: {reason}")),
    };
    if let Err(reason) = check(&scope) {
        return error(StatusCode::BAD_REQUEST, reason);
    }
    let scope = with_upstream_paths(&control, &id, scope);
    everywhere(&control, CachePurge { api: Some(id.clone()), scope }).await.logged("create", "cache", id)
}

async fn everywhere(control: &Control, purge: CachePurge) -> ControlAnswer {
    match control.purger.purge(&purge).await {
        Ok(()) => message("cache invalidated"),
        Err(why) => error(StatusCode::INTERNAL_SERVER_ERROR, format!("Cache invalidation failed: {why}")),
    }
}

fn check(scope: &PurgeScope) -> Result<(), String> {
    let PurgeScope { everything, urls, prefixes, tags, .. } = scope;
    let items = urls.len() + prefixes.len() + tags.len();
    if items == 0 && !everything {
        return Err("name what to purge: urls, prefixes, tags, or everything".to_owned());
    }
    if items > ITEMS_MAX {
        return Err(format!("{items} urls, prefixes and tags in one purge, at most {ITEMS_MAX}"));
    }
    for (list, paths) in [("urls", urls), ("prefixes", prefixes)] {
        if let Some((index, path)) = paths.iter().enumerate().find(|(_, path)| !path.starts_with('/')) {
            return Err(format!("$.{list}[{index}]: {path:?} must begin with /, without scheme and host"));
        }
    }
    if let Some((index, path)) = prefixes.iter().enumerate().find(|(_, path)| path.contains('?')) {
        return Err(format!("$.prefixes[{index}]: {path:?} must have no query"));
    }
    let is_tag = |tag: &String| !tag.is_empty() && !tag.contains([' ', '\t', ',']);
    match tags.iter().enumerate().find(|(_, tag)| !is_tag(tag)) {
        Some((index, tag)) => Err(format!("$.tags[{index}]: {tag:?} must be one tag, without spaces and commas")),
        None => Ok(()),
    }
}

/// Responses are known by the path that the upstream is asked for. A path of clients may have the listen path before it; whichever of the two is meant,
/// purging both does no harm.
fn with_upstream_paths(control: &Control, id: &str, mut scope: PurgeScope) -> PurgeScope {
    let snapshot = control.shared.current.load();
    let Some(api) = snapshot.api(id).filter(|api| api.strip_listen_path) else { return scope };
    let listen_path = api.listen_path.trim_end_matches('/');
    for paths in [&mut scope.urls, &mut scope.prefixes] {
        let stripped = paths.iter().filter_map(|path| {
            let rest = path.strip_prefix(listen_path)?;
            match rest.chars().next() {
                Some('/') => Some(rest.to_owned()),
                Some('?') | None => Some(format!("/{rest}")),
                Some(_) => None,
            }
        });
        let stripped: Vec<String> = stripped.collect();
        paths.extend(stripped);
    }
    scope
}

/// Invalidate the key sets of all token issuers
///
/// They are fetched again when they are needed.
#[utoipa::path(
    delete, path = "/tyk/cache/jwks", tag = "Cache", operation_id = "forgetKeySets",
    security(("secret" = ["editor", "scope:closed"])),
    responses(
        (status = 200, body = Success, description = "The request was carried out."),
    )
)]
pub(super) async fn forget_all_key_sets(State(control): State<Arc<Control>>) -> ControlAnswer {
    control.shared.current.load().apis.iter().for_each(|api| api.forget_key_sets());
    message("cache invalidated").logged("delete", "cache", "jwks")
}

/// Invalidate the key sets of an API's token issuers
///
/// A set that several APIs use is invalidated for all of them. The response is the same for an unknown API.
#[utoipa::path(
    delete, path = "/tyk/cache/jwks/{id}", tag = "Cache", operation_id = "forgetKeySetsOfApi",
    security(("secret" = ["editor", "scope:api"])),
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
    message("cache invalidated").logged("delete", "cache", id)
}
