//! `/tyk/configuration/revisions`: the changes of definitions and policies in files, in the order in which they took effect, whoever made them, and
//! the way back. A revision keeps what it replaced, with secrets; nobody is shown that.

use super::written::{ChangeAction, ChangeSet, ObjectChange, ObjectKind};
use super::{ChangeReport, Unchanged, carry_out};
use crate::control::api::Control;
use crate::control::api::answer::{ControlAnswer, Error, error, ok};
use crate::control::api::definition_store::ChangeRequest;
use crate::control::definitions::{DefinitionsChanged, DocumentChange, DocumentClass};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use tollgate_clock::unix_s;
use tollgate_model::json_document;
use tollgate_store::{DocumentSpace, Question, Store, StoreFault};
use utoipa::ToSchema;

/// Revisions that are kept; older ones are removed.
const REVISIONS_MAX: u64 = 200;
/// Largest revision whose content is kept. A document of the store holds a few MiB; beyond this, the way back is an older state of the directory.
const PIECES_MAX: usize = 32;
const PIECE_BYTES: usize = 900 << 10;
/// Objects of a revision that are named.
const NAMED_MAX: usize = 50;

/// What is kept of a revision beside its content.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ConfigurationRevision)]
pub(in crate::control::api) struct RevisionEntry {
    number: u64,
    /// When it took effect, in seconds since 1970.
    time: u64,
    /// The gateway.
    node: String,
    /// The first of its objects: what became of which.
    objects: Vec<String>,
    /// Number of objects.
    count: usize,
    /// Whether it concerns all gateways, because they share their definitions.
    #[serde(default)]
    shared: bool,
    /// Pieces in which the content is stored; 0 if it was too large, so that there is no way back beyond this revision.
    pieces: usize,
}

/// The revisions.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::control::api) struct RevisionList {
    /// The newest first.
    #[schema(inline)]
    revisions: Vec<RevisionEntry>,
}

/// Where to go back to.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ConfigurationRollback)]
pub(in crate::control::api) struct Rollback {
    /// Number of the revision whose state is restored: what later ones changed is changed back.
    to: u64,
    /// Only say what would change.
    #[serde(default)]
    #[schema(required = false)]
    dry_run: bool,
    /// Answer when the other gateways that share definitions serve the change, and say which do.
    #[serde(default)]
    #[schema(required = false)]
    wait: bool,
}

/// The objects that one change replaced.
#[derive(Serialize, Deserialize)]
struct Revision {
    objects: Vec<RevisedObject>,
}

/// An object before and after.
#[derive(Serialize, Deserialize)]
struct RevisedObject {
    kind: DocumentClass,
    id: String,
    /// With its secrets; `None` if it did not exist.
    old: Option<Value>,
    /// Whether it exists afterwards.
    exists: bool,
}

impl RevisedObject {
    fn of(change: DocumentChange) -> Self {
        RevisedObject { kind: change.class, id: change.id, old: change.old, exists: change.exists }
    }
}

fn entry_id(number: u64) -> String {
    format!("revision/{number}")
}

fn piece_id(number: u64, piece: usize) -> String {
    format!("revision/{number}/{piece}")
}

const LATEST: &str = "revision/latest";

/// Stores what a change replaced.
pub(in crate::control::api) async fn keep(control: &Control, changed: DefinitionsChanged) {
    let node = control.shared.observer.node().to_owned();
    let is_shared = changed.changes.iter().any(|change| change.is_shared);
    // What can't be used has changed nothing.
    let objects: Vec<RevisedObject> =
        changed.changes.into_iter().filter(|change| change.is_usable).map(RevisedObject::of).collect();
    if objects.is_empty() {
        return;
    }
    if let Err(fault) = put(control.shared.keys.store(), &Revision { objects }, node, is_shared).await {
        tracing::error!(%fault, "a revision of the configuration can't be stored: there is no way back from it");
    }
}

async fn put(store: &dyn Store, revision: &Revision, node: String, shared: bool) -> Result<(), StoreFault> {
    let content = serde_json::to_vec(revision).unwrap_or_default();
    let pieces = content.len().div_ceil(PIECE_BYTES);
    let pieces = if pieces > PIECES_MAX { 0 } else { pieces };
    let mut number = latest(store).await? + 1;
    loop {
        let objects = revision.objects.iter().take(NAMED_MAX).map(described).collect();
        let entry =
            RevisionEntry { number, time: unix_s(), node: node.clone(), objects, count: revision.objects.len(), shared, pieces };
        let value = serde_json::to_vec(&entry).unwrap_or_default();
        let question = Question::PutNew { kind: DocumentSpace::Console, id: entry_id(number), value, expires_unix_s: None };
        // Another gateway on the store may have taken the number.
        if !store.ask(question).await?.existed()? {
            break;
        }
        number += 1;
    }
    for (piece, value) in content.chunks(PIECE_BYTES).take(pieces).enumerate() {
        let id = piece_id(number, piece);
        store.ask(Question::Put { kind: DocumentSpace::Console, id, value: value.to_vec(), expires_unix_s: None }).await?;
    }
    let value = number.to_string().into_bytes();
    store.ask(Question::Put { kind: DocumentSpace::Console, id: LATEST.to_owned(), value, expires_unix_s: None }).await?;
    if let Some(old) = number.checked_sub(REVISIONS_MAX).filter(|old| *old > 0) {
        remove(store, old).await?;
    }
    Ok(())
}

fn described(object: &RevisedObject) -> String {
    let action = match (&object.old, object.exists) {
        (None, _) => "create",
        (Some(_), false) => "delete",
        (Some(_), true) => "update",
    };
    format!("{action} {} {}", object.kind.name(), object.id)
}

async fn remove(store: &dyn Store, number: u64) -> Result<(), StoreFault> {
    let pieces = entry(store, number).await?.map_or(0, |entry| entry.pieces);
    let ids = std::iter::once(entry_id(number)).chain((0..pieces).map(|piece| piece_id(number, piece)));
    for id in ids {
        store.ask(Question::Delete { kind: DocumentSpace::Console, id }).await?;
    }
    Ok(())
}

async fn document(store: &dyn Store, id: String) -> Result<Option<Vec<u8>>, StoreFault> {
    let document = store.ask(Question::Get { kind: DocumentSpace::Console, id }).await?.into_document()?;
    Ok(document.map(|document| document.to_vec()))
}

async fn latest(store: &dyn Store) -> Result<u64, StoreFault> {
    let text = document(store, LATEST.to_owned()).await?.unwrap_or_default();
    Ok(std::str::from_utf8(&text).ok().and_then(|digits| digits.parse().ok()).unwrap_or_default())
}

async fn entry(store: &dyn Store, number: u64) -> Result<Option<RevisionEntry>, StoreFault> {
    Ok(document(store, entry_id(number)).await?.and_then(|text| serde_json::from_slice(&text).ok()))
}

/// The kept revisions after one, the newest first.
async fn after(store: &dyn Store, number: u64) -> Result<Vec<RevisionEntry>, StoreFault> {
    let latest = latest(store).await?;
    let oldest = latest.saturating_sub(REVISIONS_MAX).max(number);
    let mut entries = Vec::new();
    for number in (oldest + 1..=latest).rev() {
        entries.extend(entry(store, number).await?);
    }
    Ok(entries)
}

async fn content(store: &dyn Store, entry: &RevisionEntry) -> Result<Option<Revision>, StoreFault> {
    let mut text = Vec::new();
    for piece in 0..entry.pieces {
        text.extend(document(store, piece_id(entry.number, piece)).await?.unwrap_or_default());
    }
    Ok(json_document::from_slice(&text).ok())
}

/// The revisions of the configuration
///
/// Each change of definitions and policies in files that took effect, by the control API, a sync or a reload; the last 200, of all gateways on the store.
#[utoipa::path(
    get, path = "/tyk/configuration/revisions", tag = "Configuration", operation_id = "listRevisions",
    security(("secret" = ["admin"])),
    responses(
        (status = 200, body = RevisionList, description = "The revisions."),
        (status = 500, body = Error, description = "The store does not answer."),
    )
)]
pub(in crate::control::api) async fn list(State(control): State<Arc<Control>>) -> ControlAnswer {
    match after(control.shared.keys.store(), 0).await {
        Ok(revisions) => ok(RevisionList { revisions }),
        Err(fault) => crate::control::api::oauth::silent(&fault),
    }
}

/// Go back to a revision
///
/// What later revisions of this gateway changed is changed back, as one change. That is a revision again, so it can be taken back too.
#[utoipa::path(
    post, path = "/tyk/configuration/rollback", tag = "Configuration", operation_id = "rollback",
    security(("secret" = ["admin"])),
    request_body(content = Rollback, example = json!({"to": 0, "dry_run": true})),
    responses(
        (status = 200, body = ChangeReport, description = "The change is made and in service; or this is what it would be."),
        (status = 400, body = Object, description = "The body has no number, or a document that would come back is not valid any more."),
        (status = 404, body = Error, description = "There is no such revision any more, or what a later one replaced was too large to be kept."),
        (status = 412, body = Object, description = "The configuration was changed meanwhile."),
        (status = 500, body = Error, description = "The store does not answer, or a file can't be written."),
        (status = 503, body = Error, description = "Another gateway changes the files at the moment."),
    )
)]
pub(in crate::control::api) async fn rollback(
    State(control): State<Arc<Control>>,
    request: ChangeRequest,
    body: Bytes,
) -> ControlAnswer {
    let wanted: Rollback = match serde_json::from_slice(&body) {
        Ok(wanted) => wanted,
        Err(failure) => return error(StatusCode::BAD_REQUEST, format!("the body names no revision: {failure}")),
    };
    let changes = match way_back(&control, wanted.to).await {
        Ok(Ok(changes)) => changes,
        Ok(Err(message)) => return error(StatusCode::NOT_FOUND, message),
        Err(fault) => return crate::control::api::oauth::silent(&fault),
    };
    let set = ChangeSet { digest: "*".to_owned(), dry_run: wanted.dry_run, wait: wanted.wait, changes };
    carry_out::carry_out(&control, request.author, set).await.map_or_else(Unchanged::answer, ok)
}

/// The changes that take back what came after a revision; the inner error says why there are none.
async fn way_back(control: &Control, to: u64) -> Result<Result<Vec<ObjectChange>, String>, StoreFault> {
    let store = control.shared.keys.store();
    let latest = latest(store).await?;
    if to > latest {
        return Ok(Err(format!("There is no revision {to}; the latest is {latest}")));
    }
    if to < latest.saturating_sub(REVISIONS_MAX) {
        return Ok(Err(format!("Revision {to} is too long ago: {REVISIONS_MAX} are kept")));
    }
    let node = control.shared.observer.node();
    let is_shared = control.definitions.shared_definitions().is_some();
    let mut wanted: BTreeMap<(DocumentClass, String), Option<Value>> = BTreeMap::new();
    for entry in after(store, to).await?.iter().filter(|entry| if entry.shared { is_shared } else { entry.node == node }) {
        let Some(revision) = content(store, entry).await? else {
            return Ok(Err(format!("What revision {} replaced was too large to be kept", entry.number)));
        };
        // The oldest revision that touched an object comes last, and knows what was before.
        wanted.extend(revision.objects.into_iter().map(|object| ((object.kind, object.id), object.old)));
    }
    let change = |((kind, id), document): ((DocumentClass, String), Option<Value>)| ObjectChange {
        kind: match kind {
            DocumentClass::Api => ObjectKind::Api,
            DocumentClass::Policy => ObjectKind::Policy,
        },
        action: if document.is_some() { ChangeAction::Put } else { ChangeAction::Delete },
        source: format!("revision {to}"),
        id,
        document: document.unwrap_or_default(),
        pem: String::new(),
        org_id: String::new(),
    };
    Ok(Ok(wanted.into_iter().map(change).collect()))
}
