//! Changes definitions and policies through their store, and says in Tyk's words what came of it.

use super::Control;
use super::answer::{Change, ControlAnswer, changed_document, error, no_such_api};
use super::scoping::check_wanted;
use super::serving;
use super::versions::{NewVersion, without};
use crate::definitions::{
    ChangeAuthor, DocumentClass, NotApplied, NotShared, ReadDefinition, ReadFiles, WantedDocument, etag, is_file_name,
};
use axum::extract::FromRequestParts;
use axum::http::header::IF_MATCH;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use tollgate_admin::Operator;
use tollgate_data::control_caller::ControlCaller;
use tollgate_data::snapshot::CompiledApi;
use tollgate_file_set::FileSetFault;
use tollgate_model::Problem;
use tollgate_openapi::set_classic_fields;

/// Maximum errors in a response. If there are more, the user fixes these first.
const REASONS_MAX: usize = 50;
/// Tries to add a version to the list of its base, if others change the list.
const VERSION_TRIES_MAX: usize = 10;

/// Who wants a change, and of which version.
#[derive(Clone)]
pub(super) struct ChangeRequest {
    pub author: ChangeAuthor,
    /// `If-Match`, if the caller has sent it.
    pub version: Option<String>,
}

impl<S: Sync> FromRequestParts<S> for ChangeRequest {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let (operator, caller) = (parts.extensions.get::<Operator>(), parts.extensions.get::<ControlCaller>());
        let author = ChangeAuthor::Caller(operator.cloned(), caller.copied());
        Ok(ChangeRequest { author, version: known_version(&parts.headers) })
    }
}

/// The version that a caller wants to change.
pub(super) fn known_version(headers: &HeaderMap) -> Option<String> {
    headers.get(IF_MATCH).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// Whether a document, of which this is shown, is of the version that the caller wants to change.
pub(super) fn is_known_version(known: Option<&str>, shown: Option<&Value>) -> bool {
    let (Some(known), Some(shown)) = (known, shown) else { return known.is_none() };
    let etag = etag(shown);
    known.split(',').any(|known| matches!(known.trim(), "*") || known.trim() == etag)
}

/// Makes a change of a document and what belongs to it, which is served then. The answer says why not.
pub(super) async fn apply(
    control: &Arc<Control>,
    ChangeRequest { author, version }: ChangeRequest,
    (class, id): (DocumentClass, &str),
    plan: impl FnOnce(&ReadFiles) -> Result<Vec<WantedDocument>, ControlAnswer> + Send + 'static,
) -> Result<(), ControlAnswer> {
    let (definitions, id) = (control.definitions.clone(), id.to_owned());
    let scope = author.operator().map(|operator| operator.scope).unwrap_or_default();
    let plan = move |read: &ReadFiles| {
        // Again, as another gateway may have changed it since.
        if !is_known_version(version.as_deref(), read.shown(class, &id).as_ref()) {
            return Err(not_shared_answer(&NotShared::Changed));
        }
        let wanted = plan(read)?;
        check_wanted(&scope, read, &wanted)?;
        Ok((wanted, ()))
    };
    let unchanged = match tokio::task::spawn_blocking(move || definitions.apply(author, plan)).await {
        Ok(Ok(applied)) => {
            if let Some(revision) = applied.revision {
                serving::tell(control, revision);
            }
            return Ok(());
        }
        Ok(Err(unchanged)) => unchanged,
        Err(_) => return Err(error(StatusCode::INTERNAL_SERVER_ERROR, "the change did not finish")),
    };
    Err(match unchanged {
        NotApplied::Refused(answer) => {
            if answer.status == StatusCode::PRECONDITION_FAILED {
                // So that the answer has the version that the other gateway has stored.
                let _ = control.reloads.request().await;
            }
            answer
        }
        NotApplied::Problems(problems) => invalid(&reasons(problems.iter().map(|found| &found.problem))),
        NotApplied::Files(FileSetFault::Busy) => {
            error(StatusCode::SERVICE_UNAVAILABLE, "Another gateway is changing the files; nothing was changed")
        }
        NotApplied::Files(fault) => {
            tracing::error!(%fault, "definitions or policies can't be written");
            error(StatusCode::INTERNAL_SERVER_ERROR, format!("Failed to create file! {fault}"))
        }
        NotApplied::Shared(not_shared) => {
            if matches!(not_shared, NotShared::Changed) {
                let _ = control.reloads.request().await;
            }
            not_shared_answer(&not_shared)
        }
    })
}

/// Why what gateways share was not changed.
fn not_shared_answer(why: &NotShared) -> ControlAnswer {
    let (status, cause) = match why {
        NotShared::Changed => (StatusCode::PRECONDITION_FAILED, "changed"),
        NotShared::Store(_) | NotShared::Unconfirmed(_) => (StatusCode::SERVICE_UNAVAILABLE, "store"),
    };
    ControlAnswer::new(status, json!({"status": "error", "message": why.to_string(), "cause": cause}))
}

fn invalid(reason: &str) -> ControlAnswer {
    error(StatusCode::BAD_REQUEST, format!("Validation of API Definition failed. Reason: {reason}."))
}

/// Stores a definition in either language and waits until it is served. With `version`, it becomes a version of another API in the same change.
pub(super) async fn store(
    control: &Arc<Control>,
    request: ChangeRequest,
    id: &str,
    definition: Value,
    version: Option<NewVersion>,
    action: Change,
) -> ControlAnswer {
    // The id becomes a file name.
    if !is_file_name(id) {
        return invalid("api_id: may have letters, digits, '-', '_', '~' and '.', and at most 200 of them");
    }
    if version.as_ref().is_some_and(|version| version.base == id) {
        return invalid("base_api_id: an API can't be a version of itself");
    }
    let mut wanted = (definition, version);
    let mut tries = if wanted.1.is_some() && request.version.is_none() { VERSION_TRIES_MAX } else { 1 };
    let outcome = loop {
        tries -= 1;
        let again = (tries > 0).then(|| wanted.clone());
        let outcome = apply(control, request.clone(), (DocumentClass::Api, id), plan_of(id, wanted)).await;
        match again {
            // Another gateway has added another version to the list; this one is added to that.
            Some(again) if outcome.as_ref().is_err_and(|answer| answer.status == StatusCode::PRECONDITION_FAILED) => wanted = again,
            _ => break outcome,
        }
    };
    match outcome {
        Ok(()) => changed_document(id, action, control.definitions.shared_definitions().is_some(), control.nodes.one_of_several()),
        Err(answer) => answer,
    }
}

/// A definition as it is stored, with the list of the API whose version it becomes.
fn plan_of(
    id: &str,
    (definition, version): (Value, Option<NewVersion>),
) -> impl FnOnce(&ReadFiles) -> Result<Vec<WantedDocument>, ControlAnswer> + use<> {
    let id = id.to_owned();
    move |read| {
        let definition = ReadDefinition::new(definition, None).map_err(|problems| invalid(&reasons(problems.iter())))?;
        let mut wanted = vec![WantedDocument::api(&id, definition)];
        if let Some(version) = version {
            let Some(base) = read.api(&version.base) else {
                return Err(error(StatusCode::CONFLICT, format!("the base API {} is gone; nothing was added", version.base)));
            };
            wanted.push(with_versions(base, &version.added_to(&base.raw, &id))?);
        }
        Ok(wanted)
    }
}

/// Removes an API, from the lists of versions too.
pub(super) async fn remove(control: &Arc<Control>, request: ChangeRequest, id: &str) -> ControlAnswer {
    if control.shared.current.load().api(id).is_none() {
        return no_such_api();
    }
    let is_shared = control.definitions.shared_definitions().is_some_and(|shared| shared.known().has(DocumentClass::Api, id));
    let gone = id.to_owned();
    let plan = move |read: &ReadFiles| {
        read.api(&gone).ok_or_else(no_such_api)?;
        let mut wanted = vec![WantedDocument::gone(DocumentClass::Api, &gone)];
        for base in read.apis() {
            if let Some(definition) = without(base.api, &gone) {
                wanted.push(with_versions(base.api, &definition)?);
            }
        }
        Ok(wanted)
    };
    match apply(control, request, (DocumentClass::Api, id), plan).await {
        Ok(()) => changed_document(id, Change::Deleted, is_shared, control.nodes.one_of_several()),
        Err(answer) => {
            if answer.status == StatusCode::NOT_FOUND {
                // Somebody has removed its file, which is not noticed yet.
                let _ = control.reloads.request().await;
            }
            answer
        }
    }
}

/// An API whose list of versions has changed; `definition` is its classic form.
fn with_versions(base: &CompiledApi, definition: &Value) -> Result<WantedDocument, ControlAnswer> {
    let value = match &base.openapi {
        None => definition.clone(),
        Some(document) => {
            let mut root = document.root.clone();
            set_classic_fields(&mut root, definition, "definition.");
            root
        }
    };
    let definition = ReadDefinition::new(value, None).map_err(|problems| invalid(&reasons(problems.iter())))?;
    Ok(WantedDocument::api(&base.id, definition))
}

/// Whether an API is a proxy for the Model Context Protocol.
pub(super) fn is_mcp(api: &CompiledApi) -> bool {
    api.raw.get("application_protocol").and_then(Value::as_str) == Some("mcp")
}

/// Loads what other gateways have stored, so that a change is made to the newest version.
pub(super) async fn refresh(control: &Control) {
    if let Some(shared) = control.definitions.shared_definitions()
        && shared.is_to_be_loaded().await
    {
        let _ = control.reloads.request().await;
    }
}

/// The first errors of a definition, and the number of the others.
pub(super) fn reasons<'p>(problems: impl Iterator<Item = &'p Problem>) -> String {
    let errors: Vec<&Problem> = problems.filter(|problem| problem.is_error()).collect();
    let said = errors.iter().take(REASONS_MAX).map(|error| format!("{}: {}", error.path, error.message));
    let more = errors.len().saturating_sub(REASONS_MAX);
    said.chain((more > 0).then(|| format!("and {more} more"))).collect::<Vec<_>>().join("; ")
}
