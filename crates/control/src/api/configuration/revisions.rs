//! `/tyk/configuration/revisions`: the changes of definitions and policies in files, in the order in which they took effect, whoever made them, and
//! the way back. A revision keeps what it replaced, with secrets; nobody is shown that.

use super::written::{ChangeAction, ChangeSet, ObjectChange, ObjectKind};
use super::{ChangeReport, Unchanged, carry_out};
use crate::api::Control;
use crate::api::answer::{ControlAnswer, Error, error, ok};
use crate::api::definition_store::ChangeRequest;
use crate::api::store_queues::Storable;
use crate::definitions::{DefinitionsChanged, DocumentChange, DocumentClass};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tollgate_model::json_document;
use tollgate_store::{DocumentSpace, Store, StoreFault};
use utoipa::ToSchema;

/// Revisions that are kept; older ones are removed.
const REVISIONS_MAX: u64 = 200;
/// Largest revision whose content is kept. A document of the store holds a few MiB; beyond this, the way back is an older state of the directory.
const PIECES_MAX: usize = 32;
const PIECE_BYTES: usize = 900 << 10;
/// What may wait for a store that does not answer; the oldest are given up.
pub(in crate::api) const WAITING_BYTES_MAX: usize = 64 << 20;
/// How long a rollback waits until changes are revisions.
const NOTICE_TIME_MAX: Duration = Duration::from_secs(10);
const NOTICE_EVERY: Duration = Duration::from_millis(10);
/// Weight of a revision beside its content.
const ENTRY_BYTES: usize = 64 << 10;
/// Objects of a revision that are named.
const NAMED_MAX: usize = 50;

/// What is kept of a revision beside its content.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ConfigurationRevision)]
pub(in crate::api) struct RevisionEntry {
    number: u64,
    /// When it took effect, in seconds since 1970.
    time: u64,
    /// The gateway.
    node: String,
    /// What names the directory of definitions, if it can be written; empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schema(required = false)]
    directory: String,
    /// The first of its objects: what became of which.
    objects: Vec<String>,
    /// Number of objects.
    count: usize,
    /// Whether it concerns all gateways, because they share their definitions.
    #[serde(default)]
    shared: bool,
    /// Pieces in which the content is stored; 0 if it was too large, so that there is no way back beyond this revision.
    pieces: usize,
    /// Whether the store failed for so long that what was replaced is not known any more, so that there is no way back beyond this revision.
    #[serde(default, skip_serializing_if = "is_false")]
    #[schema(required = false)]
    lost: bool,
}

/// The revisions.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::api) struct RevisionList {
    /// The newest first.
    #[schema(inline)]
    revisions: Vec<RevisionEntry>,
}

/// Where to go back to.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ConfigurationRollback)]
pub(in crate::api) struct Rollback {
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

/// A revision that is not in the store yet.
pub(in crate::api) struct WaitingRevision {
    /// Its number is 0 until it has one.
    entry: RevisionEntry,
    content: Vec<u8>,
    /// A number that it may have, if the store did not say so.
    may_be: u64,
}

/// What a change replaced, to be stored.
pub(in crate::api) fn of(control: &Control, changed: DefinitionsChanged) -> Option<WaitingRevision> {
    let shared = changed.changes.iter().any(|change| change.is_shared);
    // What can't be used has changed nothing.
    let objects: Vec<RevisedObject> =
        changed.changes.into_iter().filter(|change| change.is_usable).map(RevisedObject::of).collect();
    if objects.is_empty() {
        return None;
    }
    let mut entry = RevisionEntry {
        number: 0,
        time: changed.unix_s,
        directory: changed.files.identity.unwrap_or_default(),
        node: control.shared.observer.node().to_owned(),
        objects: objects.iter().take(NAMED_MAX).map(described).collect(),
        count: objects.len(),
        shared,
        pieces: 0,
        lost: false,
    };
    let mut content = serde_json::to_vec(&Revision { objects }).unwrap_or_default();
    entry.pieces = content.len().div_ceil(PIECE_BYTES);
    if entry.pieces > PIECES_MAX {
        (entry.pieces, content) = (0, Vec::new());
    }
    Some(WaitingRevision { entry, content, may_be: 0 })
}

impl Storable for WaitingRevision {
    async fn store(&mut self, control: &Control) -> Result<(), StoreFault> {
        let store = control.shared.keys.store();
        if self.entry.number == 0 {
            self.take_number(store).await?;
        } else if self.entry.lost {
            put(store, entry_id(self.entry.number), serde_json::to_vec(&self.entry).unwrap_or_default()).await?;
        }
        let number = self.entry.number;
        for (piece, value) in self.content.chunks(PIECE_BYTES).enumerate() {
            put(store, piece_id(number, piece), value.to_vec()).await?;
        }
        put(store, LATEST.to_owned(), number.to_string().into_bytes()).await?;
        match number.checked_sub(REVISIONS_MAX).filter(|old| *old > 0) {
            Some(old) => remove(store, old).await,
            None => Ok(()),
        }
    }

    fn weight(&self) -> usize {
        self.content.len() + ENTRY_BYTES
    }

    fn described(&self) -> String {
        format!("the way back from: {}", self.entry.objects.join(", "))
    }

    fn into_gap(self) -> Self {
        WaitingRevision { entry: RevisionEntry { pieces: 0, lost: true, ..self.entry }, content: Vec::new(), may_be: 0 }
    }

    fn widen(&mut self, other: Self) {
        let room = NAMED_MAX.saturating_sub(self.entry.objects.len());
        self.entry.objects.extend(other.entry.objects.into_iter().take(room));
        self.entry.count += other.entry.count;
        self.entry.shared |= other.entry.shared;
        self.may_be = 0;
    }
}

impl WaitingRevision {
    /// Takes the next number in the store.
    async fn take_number(&mut self, store: &dyn Store) -> Result<(), StoreFault> {
        let mut number = latest(store).await? + 1;
        loop {
            let value = serde_json::to_vec(&RevisionEntry { number, ..self.entry.clone() }).unwrap_or_default();
            if self.may_be == number && document(store, entry_id(number)).await?.is_some_and(|stored| stored == value) {
                break;
            }
            self.may_be = number;
            // Another gateway on the store may have taken the number.
            if !store.write_over(DocumentSpace::Console, entry_id(number), None, value, None).await? {
                break;
            }
            number += 1;
        }
        self.entry.number = number;
        Ok(())
    }
}

async fn put(store: &dyn Store, id: String, value: Vec<u8>) -> Result<(), StoreFault> {
    store.write(DocumentSpace::Console, id, value, None).await.map(drop)
}

fn is_false(value: &bool) -> bool {
    !value
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
        store.remove(DocumentSpace::Console, id).await?;
    }
    Ok(())
}

async fn document(store: &dyn Store, id: String) -> Result<Option<Vec<u8>>, StoreFault> {
    let document = store.read(DocumentSpace::Console, id).await?;
    Ok(document.map(|document| document.to_vec()))
}

async fn latest(store: &dyn Store) -> Result<u64, StoreFault> {
    let text = document(store, LATEST.to_owned()).await?.unwrap_or_default();
    Ok(std::str::from_utf8(&text).ok().and_then(|digits| digits.parse().ok()).unwrap_or_default())
}

async fn entry(store: &dyn Store, number: u64) -> Result<Option<RevisionEntry>, StoreFault> {
    Ok(document(store, entry_id(number)).await?.and_then(|text| serde_json::from_slice(&text).ok()))
}

/// The kept revisions after one, the newest first; the number of one that is not in the store.
async fn after(store: &dyn Store, number: u64) -> Result<Vec<Result<RevisionEntry, u64>>, StoreFault> {
    let latest = latest(store).await?;
    let oldest = latest.saturating_sub(REVISIONS_MAX).max(number);
    let mut entries = Vec::new();
    for number in (oldest + 1..=latest).rev() {
        entries.push(entry(store, number).await?.ok_or(number));
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
    security(("secret" = ["admin", "scope:closed"])),
    responses(
        (status = 200, body = RevisionList, description = "The revisions."),
        (status = 500, body = Error, description = "The store does not answer."),
    )
)]
pub(in crate::api) async fn list(State(control): State<Arc<Control>>) -> ControlAnswer {
    match after(control.shared.keys.store(), 0).await {
        Ok(revisions) => ok(RevisionList { revisions: revisions.into_iter().flatten().collect() }),
        Err(fault) => crate::api::oauth::silent(&fault),
    }
}

/// Go back to a revision
///
/// What later revisions of this gateway changed is changed back, as one change. That is a revision again, so it can be taken back too.
#[utoipa::path(
    post, path = "/tyk/configuration/rollback", tag = "Configuration", operation_id = "rollback",
    security(("secret" = ["admin", "scope:closed"])),
    request_body(content = Rollback, example = json!({"to": 0, "dry_run": true})),
    responses(
        (status = 200, body = ChangeReport, description = "The change is made and in service; or this is what it would be."),
        (status = 400, body = Object, description = "The body has no number, or a document that would come back is not valid any more."),
        (status = 404, body = Error, description = "There is no such revision any more, or what a later one replaced was too large to be kept."),
        (status = 412, body = Object, description = "The configuration was changed meanwhile."),
        (status = 500, body = Error, description = "The store does not answer, or a file can't be written."),
        (status = 503, body = Error, description = "Another gateway changes the files at the moment, or changes wait to be stored as revisions."),
    )
)]
pub(in crate::api) async fn rollback(State(control): State<Arc<Control>>, request: ChangeRequest, body: Bytes) -> ControlAnswer {
    let wanted: Rollback = match serde_json::from_slice(&body) {
        Ok(wanted) => wanted,
        Err(failure) => return error(StatusCode::BAD_REQUEST, format!("the body names no revision: {failure}")),
    };
    if let Err(answer) = noticed(&control).await {
        return answer;
    }
    let changes = match way_back(&control, wanted.to).await {
        Ok(Ok(changes)) => changes,
        Ok(Err(message)) => return error(StatusCode::NOT_FOUND, message),
        Err(fault) => return crate::api::oauth::silent(&fault),
    };
    let set = ChangeSet { digest: "*".to_owned(), dry_run: wanted.dry_run, wait: wanted.wait, changes };
    carry_out::carry_out(&control, request.author, set).await.map_or_else(Unchanged::answer, ok)
}

/// Waits until all changes of this gateway are revisions, also those of files that nobody has noticed yet.
async fn noticed(control: &Control) -> Result<(), ControlAnswer> {
    let _ = control.reloads.request().await;
    let end = Instant::now() + NOTICE_TIME_MAX;
    while !control.definitions.has_told_all() {
        if Instant::now() >= end {
            let message = "Changes wait to be stored as revisions, so that it is not known what to take back; nothing was changed";
            return Err(error(StatusCode::SERVICE_UNAVAILABLE, message));
        }
        tokio::time::sleep(NOTICE_EVERY).await;
    }
    Ok(())
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
    let directory = control.definitions.files_place().identity.unwrap_or_default();
    // The name of a gateway may change; earlier versions kept nothing else, and a directory that can't be written has no name.
    let is_of_files = |entry: &RevisionEntry| {
        if entry.directory.is_empty() || directory.is_empty() { entry.node == node } else { entry.directory == directory }
    };
    let is_own = |entry: &RevisionEntry| if entry.shared { is_shared } else { is_of_files(entry) };
    for entry in after(store, to).await? {
        let entry = match entry {
            Ok(entry) if is_own(&entry) => entry,
            Ok(_) => continue,
            Err(number) => return Ok(Err(format!("Revision {number} is missing in the store; there is no way back beyond it"))),
        };
        if is_shared && !entry.shared {
            let number = entry.number;
            return Ok(Err(format!(
                "Revision {number} changed files of this gateway, and a rollback changes what all gateways share: restore its files by hand, or go back to \
                 revision {number} or a later one"
            )));
        }
        let Some(revision) = content(store, &entry).await? else {
            let why = match entry {
                RevisionEntry { lost: true, .. } => "is lost, as the store did not answer for too long",
                RevisionEntry { pieces: 0, .. } => "was too large to be kept",
                _ => "is not in the store",
            };
            return Ok(Err(format!("What revision {} replaced {why}; there is no way back beyond it", entry.number)));
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
