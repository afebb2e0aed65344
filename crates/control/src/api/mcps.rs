//! `/tyk/mcps`: proxies for the Model Context Protocol, each an OpenAPI document. A write goes to `app_path` as a pair of files, the document and its
//! classic form, and is in effect when the response is sent.

use super::Control;
use super::answer::{Change, Changed, ControlAnswer, Error, error, list_of, no_such_api, ok};
use super::definition_store::{self, ChangeRequest, is_mcp};
use super::failures::{DefinitionNotWritten, NoSuchApi};
use super::oas::{self, NO_EXTENSION, OTHER_ID};
use super::scoping::Reach;
use super::versions::base_of;
use super::{examples, parameters::ProxyId};
use crate::definitions::is_file_name;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_data::snapshot::CompiledApi;
use tollgate_openapi::{EXTENSION, mcp_mark, read_text};

const NOT_MCP: &str = "API is not an MCP Proxy";
const BAD_ID: &str = "Invalid API ID";
const MALFORMED: &str = "request malformed";

/// The header with the id of the API that a version belongs to.
const BASE_ID: &str = "x-tyk-base-api-id";

/// What a document must have: places and their members.
const REQUIRED: [(&str, &[&str]); 5] = [
    ("", &["openapi", "info", "paths"]),
    (EXTENSION, &["info", "upstream", "server"]),
    ("x-tyk-api-gateway.info", &["name", "state"]),
    ("x-tyk-api-gateway.server", &["listenPath"]),
    ("x-tyk-api-gateway.server.listenPath", &["value"]),
];

/// All proxies for the Model Context Protocol
#[utoipa::path(
    get, path = "/tyk/mcps", tag = "MCP proxies", operation_id = "listMcpProxies",
    security(("secret" = ["viewer", "scope:reached"])),
    responses((status = 200, body = Vec<Object>, description = "Their documents, as they were written.")),
)]
pub(super) async fn list(State(control): State<Arc<Control>>, reach: Reach) -> Response {
    let snapshot = control.shared.current.load();
    list_of(snapshot.apis.iter().filter(|api| is_mcp(api) && reach.has_api(api)).filter_map(|api| shown(api)))
}

/// One proxy for the Model Context Protocol
#[utoipa::path(
    get, path = "/tyk/mcps/{id}", tag = "MCP proxies", operation_id = "getMcpProxy",
    security(("secret" = ["viewer", "scope:api"])),
    params(ProxyId),
    responses(
        (status = 200, body = Object, description = "The document as it was written. A version of another API has that one's id in `x-tyk-base-api-id`."),
        (status = 400, body = Error, description = "A classic definition defines this proxy, or the id can't be one."),
        NoSuchApi,
    )
)]
pub(super) async fn show(State(control): State<Arc<Control>>, Path(ProxyId { id }): Path<ProxyId>) -> Response {
    let snapshot = control.shared.current.load();
    let api = match known(&id, snapshot.api(&id)) {
        Ok(api) => api,
        Err(answer) => return answer.into_response(),
    };
    let Some(document) = shown(api) else { return error(StatusCode::BAD_REQUEST, oas::CLASSIC).into_response() };
    let mut response = ok(document).into_response();
    if let Some(base) = base_of(&snapshot, &id).and_then(|base| HeaderValue::from_str(&base.id).ok()) {
        response.headers_mut().insert(BASE_ID, base);
    }
    response
}

/// Add a proxy for the Model Context Protocol
///
/// The document has its settings in `x-tyk-api-gateway`. Without an id there, it gets a generated one. With `base_api_id`, it becomes a version of that API.
#[utoipa::path(
    post, path = "/tyk/mcps", tag = "MCP proxies", operation_id = "createMcpProxy",
    security(("secret" = ["editor", "scope:reached"])),
    params(
        ("base_api_id" = Option<String>, Query, description = "Id of the API that it is a version of."),
        ("base_api_version_name" = Option<String>, Query, description = "What the base itself is called among its versions."),
        ("new_version_name" = Option<String>, Query, description = "What the new version is called."),
        ("set_default" = Option<String>, Query, description = "`true`: requests that name no version get this one."),
    ),
    request_body(content = Object, example = json!(examples::mcp_document())),
    responses(
        (status = 200, body = Changed, description = "The document is written to `app_path` and served."),
        (status = 400, body = Error, description = "The body is not an OpenAPI document, or has an error; the message names the place."),
        (status = 422, body = Error, description = "`base_api_id` without `new_version_name`."),
        DefinitionNotWritten,
    )
)]
pub(super) async fn create(
    State(control): State<Arc<Control>>,
    Query(query): Query<HashMap<String, String>>,
    change: ChangeRequest,
    body: Bytes,
) -> ControlAnswer {
    let document = match read(&body) {
        Ok(document) => document,
        Err(answer) => return answer,
    };
    let id = document.pointer(&format!("/{EXTENSION}/info/id")).and_then(Value::as_str).unwrap_or_default();
    if !id.is_empty() && !is_file_name(id) {
        return error(StatusCode::BAD_REQUEST, BAD_ID);
    }
    oas::add(&control, change, &query, document).await
}

/// Replace the document of a proxy for the Model Context Protocol
#[utoipa::path(
    put, path = "/tyk/mcps/{id}", tag = "MCP proxies", operation_id = "updateMcpProxy",
    security(("secret" = ["editor", "scope:api"])),
    params(ProxyId),
    request_body(content = Object, example = json!(examples::mcp_document())),
    responses(
        (status = 200, body = Changed, description = "The new document is served."),
        (status = 400, body = Error, description = "The body is not an OpenAPI document, has an error, or has another id."),
        NoSuchApi, DefinitionNotWritten,
    )
)]
pub(super) async fn update(
    State(control): State<Arc<Control>>,
    Path(ProxyId { id }): Path<ProxyId>,
    change: ChangeRequest,
    body: Bytes,
) -> ControlAnswer {
    let document = match read(&body) {
        Ok(document) => document,
        Err(answer) => return answer,
    };
    if let Err(answer) = known(&id, control.shared.current.load().api(&id)) {
        return answer;
    }
    if document.pointer(&format!("/{EXTENSION}/info/id")).and_then(Value::as_str) != Some(id.as_str()) {
        return error(StatusCode::BAD_REQUEST, OTHER_ID);
    }
    definition_store::store(&control, change, &id, document, None, Change::Modified).await
}

/// Remove a proxy for the Model Context Protocol
#[utoipa::path(
    delete, path = "/tyk/mcps/{id}", tag = "MCP proxies", operation_id = "deleteMcpProxy",
    security(("secret" = ["editor", "scope:api"])),
    params(ProxyId),
    responses(
        (status = 200, body = Changed, description = "The proxy is not served any more."),
        (status = 400, body = Error, description = "The id can't be one."),
        NoSuchApi,
        (status = 500, body = Error, description = "A file could not be removed."),
    )
)]
pub(super) async fn remove(
    State(control): State<Arc<Control>>,
    Path(ProxyId { id }): Path<ProxyId>,
    change: ChangeRequest,
) -> ControlAnswer {
    if let Err(answer) = known(&id, control.shared.current.load().api(&id)) {
        return answer;
    }
    definition_store::remove(&control, change, &id).await
}

/// The API with an id, if it is such a proxy.
fn known<'a>(id: &str, api: Option<&'a Arc<CompiledApi>>) -> Result<&'a Arc<CompiledApi>, ControlAnswer> {
    match api {
        _ if id.contains(['/', '\\']) => Err(error(StatusCode::BAD_REQUEST, BAD_ID)),
        None => Err(no_such_api()),
        Some(api) if !is_mcp(api) => Err(error(StatusCode::NOT_FOUND, NOT_MCP)),
        Some(api) => Ok(api),
    }
}

/// The document of a proxy. The endpoint says what its mark says.
fn shown(api: &CompiledApi) -> Option<Value> {
    Some(mcp_mark::without(api.openapi.as_ref()?.root.clone()))
}

/// Reads a document and marks it.
fn read(body: &[u8]) -> Result<Value, ControlAnswer> {
    let refused = |why: &str| error(StatusCode::BAD_REQUEST, why);
    if body.trim_ascii().is_empty() {
        return Err(refused(NO_EXTENSION));
    }
    let mut document = read_text(body).map_err(|_| refused(MALFORMED))?;
    if document.get(EXTENSION).is_none() {
        return Err(refused(NO_EXTENSION));
    }
    if let Some(missing) = missing(&document) {
        return Err(refused(&missing));
    }
    mcp_mark::add(&mut document);
    Ok(document)
}

/// The first member that a document lacks, in Tyk's words.
fn missing(document: &Value) -> Option<String> {
    REQUIRED.iter().find_map(|(place, members)| {
        let object = place.split('.').filter(|key| !key.is_empty()).try_fold(document, |value, key| value.get(key))?;
        let member = members.iter().find(|member| object.get(**member).is_none())?;
        let place = if place.is_empty() { "(root)" } else { place };
        Some(format!("{place}: {member} is required"))
    })
}
