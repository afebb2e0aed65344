//! `/tyk/apis`: API definitions. A write goes to `app_path` and is in effect when the response is sent.

use super::Control;
use super::answer::{Change, Changed, ControlAnswer, Error, error, list_of, no_such_api, ok};
use super::definition_store::{self, ChangeRequest, is_mcp};
use super::failures::{DefinitionNotWritten, NoSuchApi};
use super::parameters::ApiId;
use super::scoping::Reach;
use super::versions::NewVersion;
use super::{document, examples};
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_access::secret::random_text;
use tollgate_model::api::ApiDefinition;
use tollgate_model::json_document;

/// Tyk's answer to a classic definition of an API that an OpenAPI document defines.
const OPENAPI: &str = "this API endpoint only supports Tyk Classic APIs; please use the appropriate Tyk OAS API endpoint";

/// All API definitions
#[utoipa::path(
    get, path = "/tyk/apis", tag = "APIs", operation_id = "listApis",
    security(("secret" = ["viewer", "scope:reached"])),
    params(("include_types" = Option<String>, Query, description = "`mcp`: also proxies for the Model Context Protocol.")),
    responses(
        (status = 200, body = Vec<document::ApiDefinition>, description = "The definitions as they were written."),
    )
)]
pub(super) async fn list(
    State(control): State<Arc<Control>>,
    reach: Reach,
    Query(query): Query<HashMap<String, String>>,
) -> Response {
    let snapshot = control.shared.current.load();
    let has_mcp = query.get("include_types").is_some_and(|types| types.split(',').any(|kind| kind.trim() == "mcp"));
    let listed = snapshot.apis.iter().filter(|api| (has_mcp || !is_mcp(api)) && reach.has_api(api));
    list_of(listed.map(|api| ApiDefinition::shown(&api.raw)))
}

/// One API definition
#[utoipa::path(
    get, path = "/tyk/apis/{id}", tag = "APIs", operation_id = "getApi",
    security(("secret" = ["viewer", "scope:api"])),
    params(ApiId),
    responses(
        (status = 200, body = document::ApiDefinition, description = "The definition as it was written."),
        NoSuchApi,
    )
)]
pub(super) async fn show(State(control): State<Arc<Control>>, Path(ApiId { id }): Path<ApiId>) -> ControlAnswer {
    match control.shared.current.load().api(&id) {
        Some(api) => ok(ApiDefinition::shown(&api.raw)),
        None => no_such_api(),
    }
}

/// Add an API definition
///
/// A definition without `api_id` gets a generated one; a definition with an existing id replaces that API. With `base_api_id`, it becomes a version of that API.
#[utoipa::path(
    post, path = "/tyk/apis", tag = "APIs", operation_id = "createApi",
    security(("secret" = ["editor", "scope:reached"])),
    params(
        ("base_api_id" = Option<String>, Query, description = "Id of the API that it is a version of."),
        ("base_api_version_name" = Option<String>, Query, description = "What the base itself is called among its versions."),
        ("new_version_name" = Option<String>, Query, description = "What the new version is called."),
        ("set_default" = Option<String>, Query, description = "`true`: requests that name no version get this one."),
    ),
    request_body(content = document::ApiDefinition, example = json!(examples::definition())),
    responses(
        (status = 200, body = Changed, description = "The definition is written to `app_path` and served."),
        (status = 400, body = Error, description = "The body is not a definition, or has an error; the message names the JSON path."),
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
    let version = match NewVersion::asked_for(&query, &control.shared.current.load()) {
        Ok(wanted) => wanted,
        Err(answer) => return answer,
    };
    let Ok(Value::Object(mut definition)) = json_document::from_slice(&body) else { return malformed() };
    let id = match definition.get("api_id").unwrap_or(&Value::Null) {
        Value::String(id) if !id.is_empty() => id.clone(),
        Value::String(_) | Value::Null => match random_text() {
            Ok(id) => id,
            Err(failure) => return error(StatusCode::INTERNAL_SERVER_ERROR, format!("no id can be made: {failure}")),
        },
        _ => return malformed(),
    };
    definition.insert("api_id".to_owned(), id.clone().into());
    definition_store::store(&control, change, &id, Value::Object(definition), version, Change::Added).await
}

/// Same as `POST /tyk/apis`
///
/// The id in the path has no effect, as in Tyk.
#[utoipa::path(
    post, path = "/tyk/apis/{id}", tag = "APIs", operation_id = "createApiAt",
    security(("secret" = ["editor", "scope:reached"])),
    params(ApiId),
    request_body(content = document::ApiDefinition, example = json!(examples::definition())),
    responses(
        (status = 200, body = Changed, description = "The definition is served."),
        (status = 400, body = Error, description = "The body is not a definition, or has an error."),
        (status = 422, body = Error, description = "`base_api_id` without `new_version_name`."),
        DefinitionNotWritten,
    )
)]
pub(super) async fn create_at(
    state: State<Arc<Control>>,
    query: Query<HashMap<String, String>>,
    change: ChangeRequest,
    body: Bytes,
) -> ControlAnswer {
    create(state, query, change, body).await
}

/// Replace an API definition
#[utoipa::path(
    put, path = "/tyk/apis/{id}", tag = "APIs", operation_id = "updateApi",
    security(("secret" = ["editor", "scope:api"])),
    params(ApiId),
    request_body(content = document::ApiDefinition, example = json!(examples::definition())),
    responses(
        (status = 200, body = Changed, description = "The new definition is served."),
        (status = 400, body = Error, description = "The body is not a definition, has an error, or has another id."),
        NoSuchApi, DefinitionNotWritten,
    )
)]
pub(super) async fn update(
    State(control): State<Arc<Control>>,
    Path(ApiId { id }): Path<ApiId>,
    change: ChangeRequest,
    body: Bytes,
) -> ControlAnswer {
    match control.shared.current.load().api(&id) {
        None => return no_such_api(),
        Some(api) if api.openapi.is_some() => return error(StatusCode::BAD_REQUEST, OPENAPI),
        Some(_) => {}
    }
    let Ok(Value::Object(definition)) = json_document::from_slice(&body) else { return malformed() };
    let asked = match definition.get("api_id").unwrap_or(&Value::Null) {
        Value::String(asked) => asked.as_str(),
        Value::Null => "",
        _ => return malformed(),
    };
    if asked != id {
        let message = "Request APIID does not match that in Definition! For Update operations these must match.";
        return error(StatusCode::BAD_REQUEST, message);
    }
    definition_store::store(&control, change, &id, Value::Object(definition), None, Change::Modified).await
}

/// Remove an API
#[utoipa::path(
    delete, path = "/tyk/apis/{id}", tag = "APIs", operation_id = "deleteApi",
    security(("secret" = ["editor", "scope:api"])),
    params(ApiId),
    responses(
        (status = 200, body = Changed, description = "The API is not served any more."),
        NoSuchApi,
        (status = 500, body = Error, description = "The file could not be removed."),
    )
)]
pub(super) async fn remove(
    State(control): State<Arc<Control>>,
    Path(ApiId { id }): Path<ApiId>,
    change: ChangeRequest,
) -> ControlAnswer {
    definition_store::remove(&control, change, &id).await
}

fn malformed() -> ControlAnswer {
    error(StatusCode::BAD_REQUEST, "Request malformed")
}
