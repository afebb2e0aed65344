//! `/tyk/apis`: API definitions. A write goes to `app_path` and is in effect when the response is sent.

use super::Control;
use super::answer::{Change, Changed, ControlAnswer, Error, changed, error, no_such_api, ok};
use super::failures::{DefinitionNotWritten, NoSuchApi};
use super::parameters::ApiId;
use super::versions::{self, NewVersion};
use super::{document, examples};
use crate::base::secret::random_text;
use crate::control::loader::FILE_BYTES_MAX;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde_json::Value;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use tollgate_model::Problem;
use tollgate_model::api::ApiDefinition;

/// Maximum errors in a response. If there are more, the user fixes these first.
const REASONS_MAX: usize = 50;

/// All API definitions
#[utoipa::path(
    get, path = "/tyk/apis", tag = "APIs", operation_id = "listApis",
    security(("secret" = ["viewer"])),
    responses(
        (status = 200, body = Vec<document::ApiDefinition>, description = "The definitions as they were written."),
    )
)]
pub(super) async fn list(State(control): State<Arc<Control>>) -> ControlAnswer {
    let snapshot = control.shared.current.load();
    let definitions: Vec<Value> = snapshot.apis.iter().map(|api| ApiDefinition::shown(&api.raw)).collect();
    ok(definitions)
}

/// One API definition
#[utoipa::path(
    get, path = "/tyk/apis/{id}", tag = "APIs", operation_id = "getApi",
    security(("secret" = ["viewer"])),
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
    security(("secret" = ["editor"])),
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
    body: Bytes,
) -> ControlAnswer {
    let wanted = match NewVersion::asked_for(&query, &control.shared.current.load()) {
        Ok(wanted) => wanted,
        Err(answer) => return answer,
    };
    let Ok(Value::Object(mut definition)) = serde_json::from_slice(&body) else { return malformed() };
    let id = match definition.get("api_id").unwrap_or(&Value::Null) {
        Value::String(id) if !id.is_empty() => id.clone(),
        Value::String(_) | Value::Null => match random_text() {
            Ok(id) => id,
            Err(failure) => return error(StatusCode::INTERNAL_SERVER_ERROR, format!("no id can be made: {failure}")),
        },
        _ => return malformed(),
    };
    definition.insert("api_id".to_owned(), id.clone().into());
    let _alone = if wanted.is_some() { Some(control.versions.lock().await) } else { None };
    let answer = store(&control, &id, &Value::Object(definition), Change::Added).await;
    let Some(version) = wanted.filter(|_| answer.0 == StatusCode::OK) else { return answer };
    let Some(base) = control.shared.current.load().api(&version.base).map(|base| version.added_to(&base.raw, &id)) else {
        return error(StatusCode::CONFLICT, format!("{id} was added, but its base API is gone"));
    };
    let base_answer = store(&control, &version.base, &base, Change::Modified).await;
    if base_answer.0 == StatusCode::OK { answer } else { base_answer }
}

/// Same as `POST /tyk/apis`
///
/// The id in the path has no effect, as in Tyk.
#[utoipa::path(
    post, path = "/tyk/apis/{id}", tag = "APIs", operation_id = "createApiAt",
    security(("secret" = ["editor"])),
    params(ApiId),
    request_body(content = document::ApiDefinition, example = json!(examples::definition())),
    responses(
        (status = 200, body = Changed, description = "The definition is served."),
        (status = 400, body = Error, description = "The body is not a definition, or has an error."),
        (status = 422, body = Error, description = "`base_api_id` without `new_version_name`."),
        DefinitionNotWritten,
    )
)]
pub(super) async fn create_at(state: State<Arc<Control>>, query: Query<HashMap<String, String>>, body: Bytes) -> ControlAnswer {
    create(state, query, body).await
}

/// Replace an API definition
#[utoipa::path(
    put, path = "/tyk/apis/{id}", tag = "APIs", operation_id = "updateApi",
    security(("secret" = ["editor"])),
    params(ApiId),
    request_body(content = document::ApiDefinition, example = json!(examples::definition())),
    responses(
        (status = 200, body = Changed, description = "The new definition is served."),
        (status = 400, body = Error, description = "The body is not a definition, has an error, or has another id."),
        NoSuchApi, DefinitionNotWritten,
    )
)]
pub(super) async fn update(State(control): State<Arc<Control>>, Path(ApiId { id }): Path<ApiId>, body: Bytes) -> ControlAnswer {
    if control.shared.current.load().api(&id).is_none() {
        return no_such_api();
    }
    let Ok(Value::Object(definition)) = serde_json::from_slice(&body) else { return malformed() };
    let asked = match definition.get("api_id").unwrap_or(&Value::Null) {
        Value::String(asked) => asked.as_str(),
        Value::Null => "",
        _ => return malformed(),
    };
    if asked != id {
        let message = "Request APIID does not match that in Definition! For Update operations these must match.";
        return error(StatusCode::BAD_REQUEST, message);
    }
    store(&control, &id, &Value::Object(definition.clone()), Change::Modified).await
}

/// Remove an API
#[utoipa::path(
    delete, path = "/tyk/apis/{id}", tag = "APIs", operation_id = "deleteApi",
    security(("secret" = ["editor"])),
    params(ApiId),
    responses(
        (status = 200, body = Changed, description = "The API is not served any more."),
        NoSuchApi,
        (status = 500, body = Error, description = "The file could not be removed."),
    )
)]
pub(super) async fn remove(State(control): State<Arc<Control>>, Path(ApiId { id }): Path<ApiId>) -> ControlAnswer {
    if control.shared.current.load().api(&id).is_none() {
        return no_such_api();
    }
    let bases = || control.shared.current.load().apis.iter().filter_map(|api| versions::without(api, &id)).collect::<Vec<_>>();
    let _alone = if bases().is_empty() { None } else { Some(control.versions.lock().await) };
    let removed = remove_file(&control, &id).await;
    let bases = bases();
    // Reloads even if someone else removed the file, which may have happened by hand.
    let _ = control.reloads.request().await;
    match removed {
        Ok(true) => {}
        Ok(false) => return no_such_api(),
        Err(failure) => {
            tracing::error!(%failure, id, "cannot delete an API definition");
            return error(StatusCode::INTERNAL_SERVER_ERROR, "Delete failed");
        }
    }
    for (base, definition) in bases {
        let answer = store(&control, &base, &definition, Change::Modified).await;
        if answer.0 != StatusCode::OK {
            tracing::error!(base, id, answer = %answer.1, "a deleted version stays in the list of its base API");
        }
    }
    changed(id, Change::Deleted)
}

/// Removes the file of a definition. False if it does not exist any more.
async fn remove_file(control: &Control, id: &str) -> io::Result<bool> {
    let _alone = control.files.lock().await;
    match control.loader.file_of(id).map(std::fs::remove_file) {
        Some(Ok(())) => Ok(true),
        None => Ok(false),
        Some(Err(failure)) if failure.kind() == io::ErrorKind::NotFound => Ok(false),
        Some(Err(failure)) => Err(failure),
    }
}

fn malformed() -> ControlAnswer {
    error(StatusCode::BAD_REQUEST, "Request malformed")
}

/// Checks a definition, writes its file and waits until it is served.
async fn store(control: &Control, id: &str, definition: &Value, action: Change) -> ControlAnswer {
    let invalid = |reason: &str| error(StatusCode::BAD_REQUEST, format!("Validation of API Definition failed. Reason: {reason}."));
    // The id becomes a file name.
    if !is_file_name(id) {
        return invalid("api_id: may have letters, digits, '-', '_', '~' and '.', and at most 200 of them");
    }
    let text = match serde_json::to_vec_pretty(definition) {
        Ok(text) => text,
        Err(failure) => return invalid(&failure.to_string()),
    };
    // The pretty-printed text is longer than the body.
    if text.len() > FILE_BYTES_MAX {
        return invalid(&format!("its file would be larger than {FILE_BYTES_MAX} bytes"));
    }
    if let Err(problems) = control.loader.api(&text, None) {
        return invalid(&reasons(&problems));
    }
    let alone = control.files.lock().await;
    let path = control.loader.file_of(id).unwrap_or_else(|| control.loader.app_path().join(format!("{id}.json")));
    if let Err(failure) = write_file(&path, &text) {
        tracing::error!(%failure, path = %path.display(), "cannot write an API definition");
        return error(StatusCode::INTERNAL_SERVER_ERROR, "Failed to create file!");
    }
    drop(alone);
    match control.reloads.request().await {
        Ok(_) => changed(id, action),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the definition was written, but the reload did not finish"),
    }
}

/// The first errors of a definition, and the number of the others.
fn reasons(problems: &[Problem]) -> String {
    let errors: Vec<&Problem> = problems.iter().filter(|problem| problem.is_error()).collect();
    let said = errors.iter().take(REASONS_MAX).map(|error| format!("{}: {}", error.path, error.message));
    let more = errors.len().saturating_sub(REASONS_MAX);
    said.chain((more > 0).then(|| format!("and {more} more"))).collect::<Vec<_>>().join("; ")
}

/// Whether an id can be the name of a file.
pub(super) fn is_file_name(id: &str) -> bool {
    id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte)) && !id.starts_with('.') && id.len() <= 200
}

/// Writes a file atomically: at any time, either the old or the new file is there in full.
pub(super) fn write_file(path: &std::path::Path, text: &[u8]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(std::path::Path::new("."));
    std::fs::create_dir_all(directory)?;
    let temporary = path.with_extension("json.new");
    let mut file = File::create(&temporary)?;
    file.write_all(text)?;
    file.sync_all()?;
    std::fs::rename(&temporary, path)?;
    File::open(directory)?.sync_all()
}
