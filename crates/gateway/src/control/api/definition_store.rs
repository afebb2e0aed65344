//! Writes API definitions of either language to `app_path`, or to the Redis that gateways share, removes them, and waits until the change is
//! served.

use super::Control;
use super::answer::{Change, ControlAnswer, changed_document, error};
use super::versions::NewVersion;
use crate::base::definition_files::{ApiFile, companion_of};
use crate::control::definition::{DefinitionText, FILE_BYTES_MAX};
use crate::control::shared_definitions::{DocumentClass, NotShared, SharedDefinitions};
use crate::data::snapshot::CompiledApi;
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tollgate_model::Problem;
use tollgate_openapi::{Document, classic_form, set_classic_fields};

/// Maximum errors in a response. If there are more, the user fixes these first.
const REASONS_MAX: usize = 50;

/// Checks a definition, writes its file and waits until it is served.
pub(super) async fn store(control: &Control, id: &str, definition: &Value, action: Change) -> ControlAnswer {
    match serde_json::to_vec_pretty(definition) {
        Ok(text) => store_text(control, id, &text, None, action).await,
        Err(failure) => error(StatusCode::BAD_REQUEST, failure.to_string()),
    }
}

/// Checks a definition, writes its files and waits until it is served. An OpenAPI document also has a classic form.
async fn store_text(control: &Control, id: &str, text: &[u8], classic: Option<&Value>, action: Change) -> ControlAnswer {
    let invalid = |reason: &str| error(StatusCode::BAD_REQUEST, format!("Validation of API Definition failed. Reason: {reason}."));
    // The id becomes a file name.
    if !is_file_name(id) {
        return invalid("api_id: may have letters, digits, '-', '_', '~' and '.', and at most 200 of them");
    }
    // The pretty-printed text is longer than the body.
    if text.len() > FILE_BYTES_MAX {
        return invalid(&format!("its file would be larger than {FILE_BYTES_MAX} bytes"));
    }
    if let Err(problems) = control.loader.api(&DefinitionText::of(text), None) {
        return invalid(&reasons(&problems));
    }
    if let Some(shared) = control.loader.shared_definitions() {
        let Ok(text) = std::str::from_utf8(text) else { return invalid("is not UTF-8") };
        return share(control, shared, DocumentClass::Api, id, Some(text), action).await;
    }
    let alone = control.files.lock().await;
    let own_write = control.loader.own_writes().begin(DocumentClass::Api, id);
    let known = control.loader.file_of(id);
    let is_alone = known.as_ref().is_some_and(|path| ApiFile::at(path.clone()).companion.is_none()) && classic.is_some();
    let path = known.unwrap_or_else(|| control.loader.app_path().join(format!("{id}.json")));
    // The document comes first: alone it is a definition, and the classic form alone would be one without validation.
    let document = document_path(&path, classic.is_some() && !is_alone);
    let written = write_file(&document, text).and_then(|()| match classic.filter(|_| document != path) {
        Some(classic) => write_file(&path, &serde_json::to_vec_pretty(classic).unwrap_or_default()),
        None => Ok(()),
    });
    if let Err(failure) = written {
        tracing::error!(%failure, path = %path.display(), "cannot write an API definition");
        return error(StatusCode::INTERNAL_SERVER_ERROR, "Failed to create file!");
    }
    drop((own_write, alone));
    match control.reloads.request().await {
        Ok(_) => changed_document(id, action, false, control.nodes.one_of_several()),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the definition was written, but the reload did not finish"),
    }
}

/// Stores a document for all gateways, or removes it, and waits until this one serves the change.
pub(super) async fn share(
    control: &Control,
    shared: &SharedDefinitions,
    class: DocumentClass,
    id: &str,
    text: Option<&str>,
    action: Change,
) -> ControlAnswer {
    match shared.put(class, id, text).await {
        Ok(()) => {}
        Err(NotShared::Changed) => {
            // So that the answer has the version that the other gateway has stored.
            let _ = control.reloads.request().await;
            let message = "It was changed on another gateway at the same time; nothing was written";
            let body = json!({"status": "error", "message": message, "cause": "changed"});
            return ControlAnswer(StatusCode::PRECONDITION_FAILED, body);
        }
        Err(NotShared::Store(fault)) => {
            let message = format!(
                "Not saved: Redis, which has the definitions of all gateways, does not answer: {fault}. What was served before is still served"
            );
            let body = json!({"status": "error", "message": message, "cause": "store"});
            return ControlAnswer(StatusCode::SERVICE_UNAVAILABLE, body);
        }
    }
    match control.reloads.request().await {
        Ok(_) => changed_document(id, action, true, control.nodes.one_of_several()),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the change was stored, but the reload did not finish"),
    }
}

/// Loads what other gateways have stored, so that a change is made to the newest version.
pub(super) async fn refresh(control: &Control) {
    if let Some(shared) = control.loader.shared_definitions()
        && shared.is_to_be_loaded().await
    {
        let _ = control.reloads.request().await;
    }
}

/// The first errors of a definition, and the number of the others.
pub(super) fn reasons(problems: &[Problem]) -> String {
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
pub(super) fn write_file(path: &Path, text: &[u8]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)?;
    let temporary = path.with_extension("json.new");
    let mut file = File::create(&temporary)?;
    file.write_all(text)?;
    file.sync_all()?;
    std::fs::rename(&temporary, path)?;
    File::open(directory)?.sync_all()
}

/// Checks a document, writes its files and waits until it is served.
pub(super) async fn store_document(control: &Control, id: &str, document: &Value, action: Change) -> ControlAnswer {
    let text = serde_json::to_vec_pretty(document).unwrap_or_default();
    let classic = match Document::new(document.clone()) {
        Ok((document, _)) => classic_form(&document).definition,
        Err(problems) => return error(StatusCode::BAD_REQUEST, reasons(&problems)),
    };
    store_text(control, id, &text, Some(&classic), action).await
}

/// Where the document of a definition is written: its own file if it stands alone, else the companion of the classic file.
fn document_path(path: &Path, has_classic_form: bool) -> PathBuf {
    let companion = if has_classic_form { companion_of(path) } else { None };
    companion.unwrap_or_else(|| path.to_owned())
}

/// Lists a new API as a version of its base API. `answer` reports the new API.
pub(super) async fn list_version(control: &Control, version: &NewVersion, id: &str, answer: ControlAnswer) -> ControlAnswer {
    let base = control.shared.current.load().api(&version.base).cloned();
    let Some(base) = base else {
        return error(StatusCode::CONFLICT, format!("{id} was added, but its base API is gone"));
    };
    let base_answer = store_versions(control, &base, &version.added_to(&base.raw, id)).await;
    if base_answer.0 == StatusCode::OK { answer } else { base_answer }
}

/// Stores an API whose list of versions has changed; `definition` is its classic form.
pub(super) async fn store_versions(control: &Control, base: &CompiledApi, definition: &Value) -> ControlAnswer {
    match &base.openapi {
        None => store(control, &base.id, definition, Change::Modified).await,
        Some(document) => {
            let mut root = document.root.clone();
            set_classic_fields(&mut root, definition, "definition.");
            store_document(control, &base.id, &root, Change::Modified).await
        }
    }
}

/// Removes the file of a definition. False if it does not exist any more.
pub(super) async fn remove_file(control: &Control, id: &str) -> io::Result<bool> {
    let _alone = control.files.lock().await;
    let _own_write = control.loader.own_writes().begin(DocumentClass::Api, id);
    let Some(path) = control.loader.file_of(id) else { return Ok(false) };
    let companion = ApiFile::at(path.clone()).companion;
    let removed = match std::fs::remove_file(path) {
        Ok(()) => true,
        Err(failure) if failure.kind() == io::ErrorKind::NotFound => false,
        Err(failure) => return Err(failure),
    };
    // The document would be served alone.
    companion.map_or(Ok(()), std::fs::remove_file)?;
    Ok(removed)
}
