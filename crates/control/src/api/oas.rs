//! `/tyk/apis/oas`: APIs that OpenAPI documents define. A write goes to `app_path` as a pair of files, the document and its classic form, and is
//! in effect when the response is sent.

use super::Control;
use super::answer::{Change, Changed, ControlAnswer, Error, error, list_of, no_such_api, ok};
use super::definition_store::{self, ChangeRequest, is_mcp, reasons};
use super::failures::{DefinitionNotWritten, NoSuchApi};
use super::scoping::Reach;
use super::versions::{self, NewVersion, VersionList};
use super::{examples, parameters::ApiId, parameters::DocumentId};
use crate::definitions::is_file_name;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_access::secret::random_text;
use tollgate_data::snapshot::CompiledApi;
use tollgate_openapi::{Document, EXTENSION, ImportOptions, apply_import, convert_swagger, is_swagger, mcp_mark, read_text};

pub(super) const CLASSIC: &str = "the requested API definition is in Tyk classic format, please use old api endpoint";
const NOT_MIGRATED: &str = "the supplied API definition is in OAS format, please use the Tyk classic format for this API";
pub(super) const NO_EXTENSION: &str = "the payload should contain x-tyk-api-gateway";
const IS_MCP: &str = "this API endpoint does not support MCP proxies; please use /tyk/mcps";
pub(super) const OTHER_ID: &str = "Request APIID does not match that in Definition! For Update operations these must match.";
const HAS_EXTENSION: &str = "the import payload should not contain x-tyk-api-gateway";

type ImportParameters = Query<HashMap<String, String>>;

/// All OpenAPI documents
#[utoipa::path(
    get, path = "/tyk/apis/oas", tag = "OpenAPI", operation_id = "listOpenApiDocuments",
    security(("secret" = ["viewer", "scope:reached"])),
    params(("mode" = Option<String>, Query, description = "`public`: without `x-tyk-api-gateway`.")),
    responses((status = 200, body = Vec<Object>, description = "The documents of all APIs that have one, as they were written.")),
)]
pub(super) async fn list(State(control): State<Arc<Control>>, reach: Reach, Query(query): ImportParameters) -> Response {
    let snapshot = control.shared.current.load();
    list_of(snapshot.apis.iter().filter(|api| !is_mcp(api) && reach.has_api(api)).filter_map(|api| shown(api, &query)))
}

/// One OpenAPI document
#[utoipa::path(
    get, path = "/tyk/apis/oas/{id}", tag = "OpenAPI", operation_id = "getOpenApiDocument",
    security(("secret" = ["viewer", "scope:api"])),
    params(DocumentId, ("mode" = Option<String>, Query, description = "`public`: without `x-tyk-api-gateway`.")),
    responses(
        (status = 200, body = Object, description = "The document as it was written."),
        (status = 400, body = Error, description = "A classic definition defines this API."),
        NoSuchApi,
    )
)]
pub(super) async fn show(
    State(control): State<Arc<Control>>,
    Path(DocumentId { id }): Path<DocumentId>,
    Query(query): ImportParameters,
) -> ControlAnswer {
    match control.shared.current.load().api(&id) {
        None => no_such_api(),
        Some(api) => shown(api, &query).map_or_else(|| error(StatusCode::BAD_REQUEST, CLASSIC), ok),
    }
}

/// All OpenAPI documents, as a download
#[utoipa::path(
    get, path = "/tyk/apis/oas/export", tag = "OpenAPI", operation_id = "exportOpenApiDocuments",
    security(("secret" = ["viewer", "scope:reached"])),
    params(("mode" = Option<String>, Query, description = "`public`: without `x-tyk-api-gateway`.")),
    responses((
        status = 200, body = Vec<Object>, content_type = "application/octet-stream",
        description = "The documents, with a file name in `Content-Disposition`."
    )),
)]
pub(super) async fn export_all(state: State<Arc<Control>>, reach: Reach, query: ImportParameters) -> Response {
    let name = file_name(&query, "");
    as_download(list(state, reach, query).await, &name)
}

/// One OpenAPI document, as a download
#[utoipa::path(
    get, path = "/tyk/apis/oas/{id}/export", tag = "OpenAPI", operation_id = "exportOpenApiDocument",
    security(("secret" = ["viewer", "scope:api"])),
    params(DocumentId, ("mode" = Option<String>, Query, description = "`public`: without `x-tyk-api-gateway`.")),
    responses(
        (
            status = 200, body = Object, content_type = "application/octet-stream",
            description = "The document, with a file name in `Content-Disposition`."
        ),
        (status = 400, body = Error, description = "A classic definition defines this API."),
        NoSuchApi,
    )
)]
pub(super) async fn export(
    state: State<Arc<Control>>,
    Path(DocumentId { id }): Path<DocumentId>,
    query: ImportParameters,
) -> Response {
    // Names with other characters need no download: no file has them.
    let name = file_name(&query, if is_file_name(&id) { &id } else { "" });
    as_download(show(state, Path(DocumentId { id }), query).await, &name)
}

/// List the versions of an API that are separate APIs
#[utoipa::path(
    get, path = "/tyk/apis/oas/{id}/versions", tag = "OpenAPI", operation_id = "listOpenApiVersions",
    security(("secret" = ["viewer", "scope:reached"])),
    params(
        DocumentId,
        ("searchText" = Option<String>, Query, description = "Part of the version's name, in any letter case."),
        ("accessType" = Option<String>, Query, description = "Only these: `internal` or `external`."),
    ),
    responses((status = 200, body = VersionList, description = "The versions; the API itself comes first."), NoSuchApi)
)]
pub(super) async fn versions(
    state: State<Arc<Control>>,
    reach: Reach,
    Path(DocumentId { id }): Path<DocumentId>,
    query: ImportParameters,
) -> ControlAnswer {
    versions::list(state, reach, Path(ApiId { id }), query).await
}

/// Add an API by its OpenAPI document
///
/// The document has its settings in `x-tyk-api-gateway`. Without an id there, it gets a generated one. With `base_api_id`, it becomes a version of that API.
#[utoipa::path(
    post, path = "/tyk/apis/oas", tag = "OpenAPI", operation_id = "createOpenApi",
    security(("secret" = ["editor", "scope:reached"])),
    params(
        ("base_api_id" = Option<String>, Query, description = "Id of the API that it is a version of."),
        ("base_api_version_name" = Option<String>, Query, description = "What the base itself is called among its versions."),
        ("new_version_name" = Option<String>, Query, description = "What the new version is called."),
        ("set_default" = Option<String>, Query, description = "`true`: requests that name no version get this one."),
    ),
    request_body(content = Object, example = json!(examples::openapi_document())),
    responses(
        (status = 200, body = Changed, description = "The document is written to `app_path` and served."),
        (status = 400, body = Error, description = "The body is not an OpenAPI document, or has an error; the message names the JSON path."),
        (status = 422, body = Error, description = "`base_api_id` without `new_version_name`."),
        DefinitionNotWritten,
    )
)]
pub(super) async fn create(
    State(control): State<Arc<Control>>,
    Query(query): ImportParameters,
    change: ChangeRequest,
    body: Bytes,
) -> ControlAnswer {
    match read_text(&body) {
        Err(why) => error(StatusCode::BAD_REQUEST, why),
        Ok(document) if document.get(EXTENSION).is_none() => error(StatusCode::BAD_REQUEST, NO_EXTENSION),
        Ok(document) if is_of_proxy(&control, &document) => error(StatusCode::BAD_REQUEST, IS_MCP),
        Ok(document) => add(&control, change, &query, document).await,
    }
}

/// Make an API of a plain OpenAPI document
///
/// The document, in JSON or YAML, gets an `x-tyk-api-gateway` by the parameters. Without `upstreamURL`, the first server is the upstream.
#[utoipa::path(
    post, path = "/tyk/apis/oas/import", tag = "OpenAPI", operation_id = "importOpenApi",
    security(("secret" = ["editor", "scope:reached"])),
    params(
        ("upstreamURL" = Option<String>, Query, description = "URL of the upstream."),
        ("listenPath" = Option<String>, Query, description = "Listen path; `/` by default."),
        ("customDomain" = Option<String>, Query, description = "Host of the API."),
        ("apiID" = Option<String>, Query, description = "Id of the API."),
        ("allowList" = Option<bool>, Query, description = "Only the operations of the document are open."),
        ("validateRequest" = Option<bool>, Query, description = "Requests must fit the document."),
        ("mockResponse" = Option<bool>, Query, description = "The gateway answers with the document's examples."),
        ("authentication" = Option<String>, Query, description = "`true`: callers authenticate by the schemes of the document's `security`."),
        ("securityProcessingMode" = Option<String>, Query, description = "`legacy`: all schemes of the first requirement; `compliant`: those of any one."),
    ),
    request_body(content = Object, example = json!(examples::plain_openapi_document())),
    responses(
        (status = 200, body = Changed, description = "The API is served."),
        (status = 400, body = Error, description = "The body is not an OpenAPI document, has an error, or has `x-tyk-api-gateway` already."),
        (status = 422, body = Error, description = "`base_api_id` without `new_version_name`."),
        DefinitionNotWritten,
    )
)]
pub(super) async fn import(
    State(control): State<Arc<Control>>,
    Query(query): ImportParameters,
    change: ChangeRequest,
    body: Bytes,
) -> ControlAnswer {
    let mut document = match read_text(&body) {
        Ok(document) => document,
        Err(why) => return error(StatusCode::BAD_REQUEST, why),
    };
    if document.get(EXTENSION).is_some() {
        return error(StatusCode::BAD_REQUEST, HAS_EXTENSION);
    }
    if is_swagger(&document) {
        document = convert_swagger(&document).document;
    }
    if let Err(problems) = Document::new(document.clone()) {
        return error(StatusCode::BAD_REQUEST, reasons(problems.iter()));
    }
    match apply_import(&mut document, &options(&query), true) {
        Err(why) => error(StatusCode::BAD_REQUEST, why),
        Ok(()) if is_of_proxy(&control, &document) => error(StatusCode::BAD_REQUEST, IS_MCP),
        Ok(()) => add(&control, change, &query, document).await,
    }
}

/// Replace the OpenAPI document of an API
#[utoipa::path(
    put, path = "/tyk/apis/oas/{id}", tag = "OpenAPI", operation_id = "updateOpenApi",
    security(("secret" = ["editor", "scope:api"])),
    params(DocumentId),
    request_body(content = Object, example = json!(examples::openapi_document())),
    responses(
        (status = 200, body = Changed, description = "The new document is served."),
        (status = 400, body = Error, description = "The body is not an OpenAPI document, has an error or another id, or a classic definition defines the API."),
        NoSuchApi, DefinitionNotWritten,
    )
)]
pub(super) async fn update(
    State(control): State<Arc<Control>>,
    Path(DocumentId { id }): Path<DocumentId>,
    change: ChangeRequest,
    body: Bytes,
) -> ControlAnswer {
    let document = match read_text(&body) {
        Ok(document) => document,
        Err(why) => return error(StatusCode::BAD_REQUEST, why),
    };
    if document.get(EXTENSION).is_none() {
        return error(StatusCode::BAD_REQUEST, NO_EXTENSION);
    }
    replace(&control, change, &id, document).await
}

/// Change the OpenAPI document of an API
///
/// The document replaces the API's; without `x-tyk-api-gateway` in it, the API keeps its own. Then the parameters apply, as for an import.
#[utoipa::path(
    patch, path = "/tyk/apis/oas/{id}", tag = "OpenAPI", operation_id = "patchOpenApi",
    security(("secret" = ["editor", "scope:api"])),
    params(
        DocumentId,
        ("upstreamURL" = Option<String>, Query, description = "URL of the upstream."),
        ("listenPath" = Option<String>, Query, description = "Listen path."),
        ("customDomain" = Option<String>, Query, description = "Host of the API."),
        ("allowList" = Option<bool>, Query, description = "Only the operations of the document are open."),
        ("validateRequest" = Option<bool>, Query, description = "Requests must fit the document."),
        ("mockResponse" = Option<bool>, Query, description = "The gateway answers with the document's examples."),
        ("authentication" = Option<String>, Query, description = "`true`: callers authenticate by the schemes of the document's `security`."),
        ("securityProcessingMode" = Option<String>, Query, description = "`legacy` or `compliant`."),
    ),
    request_body(content = Object, example = json!(examples::plain_openapi_document())),
    responses(
        (status = 200, body = Changed, description = "The changed document is served."),
        (status = 400, body = Error, description = "The body is not an OpenAPI document, the result has an error, or a classic definition defines the API."),
        NoSuchApi, DefinitionNotWritten,
    )
)]
pub(super) async fn patch(
    State(control): State<Arc<Control>>,
    Path(DocumentId { id }): Path<DocumentId>,
    Query(query): ImportParameters,
    change: ChangeRequest,
    body: Bytes,
) -> ControlAnswer {
    let mut document = match read_text(&body) {
        Ok(document) => document,
        Err(why) => return error(StatusCode::BAD_REQUEST, why),
    };
    if is_swagger(&document) {
        document = convert_swagger(&document).document;
    }
    if let Err(problems) = Document::new(document.clone()) {
        return error(StatusCode::BAD_REQUEST, reasons(problems.iter()));
    }
    let current = match control.shared.current.load().api(&id) {
        None => return no_such_api(),
        Some(api) if is_mcp(api) => return error(StatusCode::BAD_REQUEST, IS_MCP),
        Some(api) => api.openapi.clone(),
    };
    let Some(current) = current else { return error(StatusCode::BAD_REQUEST, NOT_MIGRATED) };
    if let Value::Object(members) = &mut document {
        for kept in [EXTENSION, "servers"] {
            if let Some(value) = current.root.get(kept).filter(|_| !members.contains_key(kept)) {
                members.insert(kept.to_owned(), value.clone());
            }
        }
    }
    match apply_import(&mut document, &options(&query), false) {
        Err(why) => error(StatusCode::BAD_REQUEST, why),
        Ok(()) => replace(&control, change, &id, document).await,
    }
}

/// Remove an API
#[utoipa::path(
    delete, path = "/tyk/apis/oas/{id}", tag = "OpenAPI", operation_id = "deleteOpenApi",
    security(("secret" = ["editor", "scope:api"])),
    params(DocumentId),
    responses(
        (status = 200, body = Changed, description = "The API is not served any more."),
        (status = 400, body = Error, description = "The API is a proxy for the Model Context Protocol."),
        NoSuchApi,
        (status = 500, body = Error, description = "A file could not be removed."),
    )
)]
pub(super) async fn remove(
    State(control): State<Arc<Control>>,
    Path(DocumentId { id }): Path<DocumentId>,
    change: ChangeRequest,
) -> ControlAnswer {
    if control.shared.current.load().api(&id).is_some_and(|api| is_mcp(api)) {
        return error(StatusCode::BAD_REQUEST, IS_MCP);
    }
    definition_store::remove(&control, change, &id).await
}

/// The document of an API, if it has one.
fn shown(api: &CompiledApi, query: &HashMap<String, String>) -> Option<Value> {
    let mut document = mcp_mark::without(api.openapi.as_ref()?.root.clone());
    if query.get("mode").is_some_and(|mode| mode == "public")
        && let Value::Object(members) = &mut document
    {
        members.shift_remove(EXTENSION);
    }
    Some(document)
}

/// What the parameters of a request decide.
fn options(query: &HashMap<String, String>) -> ImportOptions {
    let text = |name: &str| query.get(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let flag = |name: &str| {
        text(name).and_then(|value| match value.as_str() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
            _ => None,
        })
    };
    let is_compliant = text("authentication").is_some_and(|value| value == "compliant");
    ImportOptions {
        upstream_url: text("upstreamURL"),
        listen_path: text("listenPath"),
        custom_domain: text("customDomain"),
        api_id: text("apiID"),
        authentication: flag("authentication"),
        allow_list: flag("allowList"),
        validate_request: flag("validateRequest"),
        mock_response: flag("mockResponse"),
        security_processing_mode: text("securityProcessingMode").or_else(|| is_compliant.then(|| "compliant".to_owned())),
    }
}

/// Whether a document is one of a proxy for the Model Context Protocol, or would replace one.
fn is_of_proxy(control: &Control, document: &Value) -> bool {
    let id = document.pointer(&format!("/{EXTENSION}/info/id")).and_then(Value::as_str).unwrap_or_default();
    mcp_mark::is_in(document) || control.shared.current.load().api(id).is_some_and(|api| is_mcp(api))
}

/// Adds an API, and lists it as a version if the parameters ask for it.
pub(super) async fn add(
    control: &Arc<Control>,
    change: ChangeRequest,
    query: &HashMap<String, String>,
    mut document: Value,
) -> ControlAnswer {
    let version = match NewVersion::asked_for(query, &control.shared.current.load()) {
        Ok(wanted) => wanted,
        Err(answer) => return answer,
    };
    let written = document.pointer(&format!("/{EXTENSION}/info/id")).and_then(Value::as_str).unwrap_or_default().to_owned();
    let id = match written.is_empty().then(random_text) {
        None => written,
        Some(Ok(id)) => id,
        Some(Err(failure)) => return error(StatusCode::INTERNAL_SERVER_ERROR, format!("no id can be made: {failure}")),
    };
    if let Some(Value::Object(extension)) = document.get_mut(EXTENSION)
        && let Value::Object(info) = extension.entry("info").or_insert_with(|| Value::Object(Default::default()))
    {
        info.insert("id".to_owned(), id.clone().into());
    }
    definition_store::store(control, change, &id, document, version, Change::Added).await
}

async fn replace(control: &Arc<Control>, change: ChangeRequest, id: &str, document: Value) -> ControlAnswer {
    match control.shared.current.load().api(id) {
        None => return no_such_api(),
        Some(api) if api.openapi.is_none() => return error(StatusCode::BAD_REQUEST, NOT_MIGRATED),
        Some(api) if is_mcp(api) || mcp_mark::is_in(&document) => return error(StatusCode::BAD_REQUEST, IS_MCP),
        Some(_) => {}
    }
    if document.pointer(&format!("/{EXTENSION}/info/id")).and_then(Value::as_str) != Some(id) {
        return error(StatusCode::BAD_REQUEST, OTHER_ID);
    }
    definition_store::store(control, change, id, document, None, Change::Modified).await
}

fn file_name(query: &ImportParameters, id: &str) -> String {
    let start = if query.get("mode").is_some_and(|mode| mode == "public") { "oas" } else { "TykOasApiDef" };
    if id.is_empty() { format!("{start}.json") } else { format!("{start}-{id}.json") }
}

fn as_download(answer: impl IntoResponse, name: &str) -> Response {
    let mut response = answer.into_response();
    if response.status() == StatusCode::OK
        && let Ok(disposition) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""))
    {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, disposition);
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    }
    response
}
