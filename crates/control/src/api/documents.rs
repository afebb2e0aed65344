//! Definitions, policies and keys as documents with versions: `ETag` on answers, `If-Match` on changes, and secrets in place of the masks that
//! the console sends back. The handlers of the resources know nothing of it.

use super::answer::{ControlAnswer, error};
use super::authority::Signed;
use super::change_log::Change;
use super::definition_store::{is_known_version, known_version};
use super::{Control, definition_store, key_changes, keys};
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
    let who = (request.extensions().get::<Operator>().cloned(), request.extensions().get::<ControlCaller>().copied());
    let method = request.method().clone();
    let Some(document) = named(path, &uri, body.as_ref()) else {
        let request = match restored(&control, path, None, request, body) {
            Ok(request) => request,
            Err(answer) => return answer.into_response(),
        };
        let response = next.run(request).await;
        return match change_of(&method, path, response.status()) {
            Some(change) if is_change => {
                let target = uri.path().rsplit('/').next().unwrap_or_default().to_owned();
                let (response, answer) = with_answer(response).await;
                let (action, target) = match (path, change.kind) {
                    ("/tyk/keys/bulk", _) => match key_changes::logged(&answer) {
                        Some(target) => ("bulk", target),
                        None => return response,
                    },
                    (_, "key") => (change.action, name_in(&answer, &["key_hash"]).unwrap_or_default()),
                    _ => (change.action, name_in(&answer, &["client_id", "id", "key"]).unwrap_or(target)),
                };
                control.changes.add(who.0.as_ref(), who.1, Change { action, target, ..change });
                response
            }
            _ => response,
        };
    };
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
    let key = if document.kind == VersionedKind::Key { shown_key(&control, &document, &uri).await } else { None };
    if let Err(answer) = check_version(&request, stored.as_ref()) {
        return answer.into_response();
    }
    let request = match restored(&control, path, stored.as_ref(), request, body) {
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
    if let Some(change) = change_of(&method, path, response.status()) {
        let diff = masked_differences(&control.shared.keys, stored.as_ref(), changed.as_ref());
        let target = match (document.kind, key) {
            (VersionedKind::Key, Some(shown)) => shown,
            (VersionedKind::Key, None) => shown_key(&control, &document, &uri).await.unwrap_or_default(),
            _ => document.id,
        };
        let change = Change { target, diff, etag: etag.clone(), ..change };
        control.changes.add(who.0.as_ref(), who.1, change);
    }
    tagged(response, etag)
}

/// What a request changed; `None` if it only asks.
fn change_of(method: &Method, path: &str, status: StatusCode) -> Option<Change> {
    let asks = ["/tyk/check/", "/tyk/list/"].iter().any(|start| path.starts_with(start))
        || ["/tyk/keys/preview", "/tyk/tail", "/tyk/debug"].contains(&path);
    if asks || !status.is_success() {
        return None;
    }
    let kind = match path.split('/').nth(2)? {
        // The store of definitions and policies tells what became of them.
        "apis" | "policies" => return None,
        "keys" => "key",
        "org" => "organisation",
        "certs" => "certificate",
        "oauth" => "client",
        "users" => "user",
        "cache" => "cache",
        _ => "other",
    };
    let action = match *method {
        Method::POST => "create",
        Method::DELETE => "delete",
        _ => "update",
    };
    Some(Change { action, kind, status: status.as_u16(), ..Change::default() })
}

/// A short answer, also as JSON.
async fn with_answer(response: Response) -> (Response, Value) {
    let (head, body) = response.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let value = serde_json::from_slice(&body).unwrap_or_default();
    (Response::from_parts(head, Body::from(body)), value)
}

/// The first text among these members.
fn name_in(answer: &Value, members: &[&str]) -> Option<String> {
    members.iter().find_map(|name| answer.get(name)?.as_str()).map(str::to_owned)
}

/// A key as the log shows it: its hash. A key that is not hashed is a secret.
async fn shown_key(control: &Control, document: &VersionedDocument, uri: &Uri) -> Option<String> {
    let keys = &control.shared.keys;
    let Query(query) = Query::<HashMap<String, String>>::try_from_uri(uri).ok()?;
    let (name, _) = keys::named(keys, &document.id, &query).await.ok()??;
    Some(if keys.rules.hash_keys { name.shown } else { MASK.to_owned() })
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

fn tagged(mut response: Response, etag: Option<String>) -> Response {
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
    ControlAnswer(StatusCode::PRECONDITION_FAILED, body)
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
