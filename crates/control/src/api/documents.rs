//! Definitions, policies and keys as documents with versions: `ETag` on answers, `If-Match` on changes, and secrets in place of the masks that
//! the console sends back. The handlers of the resources know nothing of it.

use super::answer::{ControlAnswer, LoggedAs, error};
use super::authority::Signed;
use super::change_log::Change;
use super::definition_store::{is_known_version, known_version};
use super::scoping::{Reach, ScopeRule};
use super::{Control, definition_store, keys};
use crate::definitions::etag;
use crate::known_keys::{KnownKeys, masked_differences};
use axum::body::{Body, Bytes};
use axum::extract::{MatchedPath, Query, Request, State};
use axum::http::header::{CONTENT_LENGTH, ETAG};
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::Mutex;
use tollgate_admin::{MASK, Operator, mask};
use tollgate_data::control_caller::ControlCaller;
use tollgate_model::api::ApiDefinition;
use tollgate_model::json_document;

/// Locks for changes; two documents may share one.
const LOCKS: usize = 64;

/// Held from the check of a version to the end of the change.
pub struct DocumentLocks([Mutex<()>; LOCKS]);

impl Default for DocumentLocks {
    fn default() -> Self {
        DocumentLocks(std::array::from_fn(|_| Mutex::default()))
    }
}

impl DocumentLocks {
    fn of(&self, document: &VersionedDocument) -> Option<&Mutex<()>> {
        let hash = blake3::hash(document.id.as_bytes());
        let place = hash.as_bytes().first().copied().unwrap_or_default() as usize % LOCKS;
        self.0.get(place)
    }
}

/// A document that a request names.
struct VersionedDocument {
    kind: VersionedKind,
    id: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum VersionedKind {
    Api,
    Policy,
    Key,
}

/// Answers with the document's version, and carries out a change only of the version that the caller knows.
pub(super) async fn guard(
    State(control): State<Arc<Control>>,
    path: Option<MatchedPath>,
    request: Request,
    next: Next,
) -> Response {
    let path = path.as_ref().map_or("", MatchedPath::as_str);
    let is_change = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    let (request, body) = match with_body(request, is_change).await {
        Ok(both) => both,
        Err(answer) => return answer.into_response(),
    };
    let uri = request.uri().clone();
    let scope = request.extensions().get::<Operator>().map(|operator| operator.scope.clone()).unwrap_or_default();
    let reach = Reach::of(&control, scope);
    let who = (request.extensions().get::<Operator>().cloned(), request.extensions().get::<ControlCaller>().copied());
    let Some(document) = named(path, &uri, body.as_ref()) else {
        let request = match restored(&control, path, None, request, body) {
            Ok(request) => request,
            Err(answer) => return answer.into_response(),
        };
        let response = next.run(request).await;
        log(&control, who, &response, Change::default());
        return response;
    };
    if !is_reached(&control, &reach, &document, &uri).await {
        return reach.refusal(ScopeRule::Reached).into_response();
    }
    if !is_change {
        let etag = current(&control, &document, &uri).await.map(|value| etag(&value));
        return tagged(next.run(request).await, etag);
    }
    let lock = control.documents.of(&document);
    let _alone = match lock {
        Some(lock) => Some(lock.lock().await),
        None => None,
    };
    if document.kind != VersionedKind::Key {
        definition_store::refresh(&control).await;
    }
    let stored = current(&control, &document, &uri).await;
    if let Err(answer) = check_version(&request, stored.as_ref()) {
        return answer.into_response();
    }
    // The version is that of the classic form; the secrets of a document are elsewhere in it.
    let with_secrets = if path == "/tyk/mcps/{id}" { openapi_of(&control, &document.id) } else { stored.clone() };
    let request = match restored(&control, path, with_secrets.as_ref(), request, body) {
        Ok(request) => request,
        Err(answer) => return answer.into_response(),
    };
    let response = next.run(request).await;
    if response.status() == StatusCode::PRECONDITION_FAILED {
        // Another gateway was faster, since the version was checked.
        return conflict(current(&control, &document, &uri).await.as_ref()).into_response();
    }
    if !response.status().is_success() {
        return response;
    }
    let changed = current(&control, &document, &uri).await;
    let etag = changed.as_ref().map(etag);
    if document.kind == VersionedKind::Key {
        let diff = masked_differences(&control.shared.keys, stored.as_ref(), changed.as_ref());
        log(&control, who, &response, Change { diff, etag: etag.clone(), ..Change::default() });
    }
    tagged(response, etag)
}

/// Logs what a handler says that it has changed. What becomes of definitions and policies, their store tells.
fn log(control: &Control, (operator, caller): (Option<Operator>, Option<ControlCaller>), response: &Response, change: Change) {
    if let Some(LoggedAs { action, kind, target }) = response.extensions().get::<LoggedAs>().cloned() {
        let change = Change { action, kind, target, status: response.status().as_u16(), ..change };
        control.changes.add(operator.as_ref(), caller, change);
    }
}

/// Takes the body of a change apart. It is in memory already.
async fn with_body(request: Request, is_change: bool) -> Result<(Request, Option<Bytes>), ControlAnswer> {
    if !is_change {
        return Ok((request, None));
    }
    let (head, body) = request.into_parts();
    match body.collect().await {
        Ok(body) => {
            let body = body.to_bytes();
            Ok((Request::from_parts(head, Body::from(body.clone())), Some(body)))
        }
        Err(_) => Err(error(StatusCode::BAD_REQUEST, "the body ends before its end")),
    }
}

/// The document that a request reads or changes.
fn named(path: &str, uri: &Uri, body: Option<&Bytes>) -> Option<VersionedDocument> {
    let of_path = |kind| {
        let id = uri.path().rsplit('/').next().unwrap_or_default();
        let id = percent_encoding::percent_decode_str(id).decode_utf8_lossy().into_owned();
        Some(VersionedDocument { kind, id })
    };
    let of_body = |kind, member: &str| {
        let body: Value = json_document::from_slice(body?).ok()?;
        let id = body.get(member).and_then(Value::as_str).filter(|id| !id.is_empty())?.to_owned();
        Some(VersionedDocument { kind, id })
    };
    let of_query = || {
        let Query(query) = Query::<HashMap<String, String>>::try_from_uri(uri).ok()?;
        Some(VersionedDocument { kind: VersionedKind::Key, id: query.get("id")?.clone() })
    };
    match path {
        "/tyk/apis/{id}" if body.is_none_or(Bytes::is_empty) => of_path(VersionedKind::Api),
        "/tyk/apis/{id}" | "/tyk/apis" => of_body(VersionedKind::Api, "api_id"),
        "/tyk/mcps/{id}" => of_path(VersionedKind::Api),
        "/tyk/policies/{id}" if body.is_none_or(Bytes::is_empty) => of_path(VersionedKind::Policy),
        "/tyk/policies/{id}" | "/tyk/policies" => of_body(VersionedKind::Policy, "id"),
        "/tyk/check/api" => of_body(VersionedKind::Api, "api_id"),
        "/tyk/check/policy" => of_body(VersionedKind::Policy, "id"),
        "/tyk/check/key" => of_query(),
        "/tyk/keys/{id}" => of_path(VersionedKind::Key),
        _ => None,
    }
}

/// The document as it is stored; `None` if there is none or it can't be read.
async fn current(control: &Control, document: &VersionedDocument, uri: &Uri) -> Option<Value> {
    match document.kind {
        VersionedKind::Api => control.shared.current.load().api(&document.id).map(|api| ApiDefinition::shown(&api.raw)),
        VersionedKind::Policy => control.shared.keys.policies().get(&document.id).map(|policy| policy.shown()),
        VersionedKind::Key => {
            let Query(query) = Query::<HashMap<String, String>>::try_from_uri(uri).ok()?;
            keys::stored(&control.shared.keys, &document.id, &query).await
        }
    }
}

/// Whether the caller reaches the document, if there is one.
async fn is_reached(control: &Control, reach: &Reach, document: &VersionedDocument, uri: &Uri) -> bool {
    if reach.is_whole() {
        return true;
    }
    match document.kind {
        VersionedKind::Api => control.shared.current.load().api(&document.id).is_none_or(|api| reach.has_api(api)),
        VersionedKind::Policy => control.shared.keys.policies().get(&document.id).is_none_or(|policy| reach.has_policy(policy)),
        VersionedKind::Key => {
            let Ok(Query(query)) = Query::<HashMap<String, String>>::try_from_uri(uri) else { return false };
            match keys::named(&control.shared.keys, &document.id, &query).await {
                Ok(found) => found.is_none_or(|(_, session)| reach.has_session(&session)),
                Err(_) => false,
            }
        }
    }
}

/// The OpenAPI document of an API.
fn openapi_of(control: &Control, id: &str) -> Option<Value> {
    Some(control.shared.current.load().api(id)?.openapi.as_ref()?.root.clone())
}

pub(super) fn tagged(mut response: Response, etag: Option<String>) -> Response {
    if response.status().is_success()
        && let Some(value) = etag.and_then(|etag| HeaderValue::try_from(etag).ok())
    {
        response.headers_mut().insert(ETAG, value);
    }
    response
}

/// Compares the version that the caller knows with the one that is stored.
fn check_version(request: &Request, stored: Option<&Value>) -> Result<(), ControlAnswer> {
    if is_known_version(known_version(request.headers()).as_deref(), stored) { Ok(()) } else { Err(conflict(stored)) }
}

/// The answer to a change of another version than the stored one.
fn conflict(stored: Option<&Value>) -> ControlAnswer {
    let etag = stored.map(etag);
    let message = if etag.is_some() { "It was changed meanwhile; nothing was written" } else { "It does not exist any more" };
    let mut current = stored.cloned().unwrap_or_default();
    mask::mask(&mut current, &());
    let body = json!({"status": "error", "message": message, "cause": "changed", "etag": etag, "current": current});
    ControlAnswer::new(StatusCode::PRECONDITION_FAILED, body)
}

/// Puts stored secrets in place of masks, for the console.
fn restored(
    control: &Control,
    path: &str,
    stored: Option<&Value>,
    request: Request,
    body: Option<Bytes>,
) -> Result<Request, ControlAnswer> {
    let may_have_masks = request.extensions().get::<Signed>().is_some() && path != "/tyk/keys/preview";
    let Some(body) = body.filter(|body| may_have_masks && body.windows(MASK.len()).any(|part| part == MASK.as_bytes())) else {
        return Ok(request);
    };
    let Ok(mut sent) = json_document::from_slice::<Value>(&body) else { return Ok(request) };
    if let Err(paths) = mask::unmask(&mut sent, stored, &KnownKeys(&control.shared.keys)) {
        let message = format!("{}: there is no stored secret for this mask", paths.join(", "));
        return Err(error(StatusCode::BAD_REQUEST, message));
    }
    let (mut head, _) = request.into_parts();
    head.headers.remove(CONTENT_LENGTH);
    Ok(Request::from_parts(head, Body::from(sent.to_string())))
}
