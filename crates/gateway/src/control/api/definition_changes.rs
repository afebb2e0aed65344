//! What becomes of definitions and policies, in the log of changes and as revisions.

use super::Control;
use super::change_log::Change;
use super::configuration::revisions;
use super::store_queues::store_all;
use crate::control::definitions::{DefinitionsChanged, DocumentChange, LOGGED_MAX};
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// Logs what became of definitions and policies, and keeps what was replaced.
pub(super) async fn note(control: Arc<Control>, waiting: mpsc::Receiver<DefinitionsChanged>, stopped: watch::Receiver<bool>) {
    let accept = |changed: DefinitionsChanged| {
        log(&control, &changed);
        revisions::of(&control, changed)
    };
    store_all(&control, waiting, stopped, revisions::WAITING_BYTES_MAX, accept).await;
}

/// An entry for each object, or one for all if there are very many.
fn log(control: &Control, DefinitionsChanged { author, changes }: &DefinitionsChanged) {
    let (operator, caller) = (author.operator(), author.caller());
    let add = |change: Change| control.changes.add(operator.as_ref(), caller, change);
    let action = |change: &DocumentChange| match (&change.old, change.exists) {
        // The old version stays in service.
        _ if !change.is_usable => "update",
        (None, _) => "create",
        (Some(_), false) => "delete",
        (Some(_), true) => "update",
    };
    if changes.len() > LOGGED_MAX {
        let count = |name| changes.iter().filter(|change| action(change) == name).count();
        let target = format!("{} created, {} updated, {} deleted", count("create"), count("update"), count("delete"));
        return add(Change { action: "update", kind: "configuration", target, status: 200, ..Change::default() });
    }
    for change in changes {
        add(Change {
            action: action(change),
            kind: change.class.name(),
            target: change.id.clone(),
            status: if change.is_usable { 200 } else { 422 },
            diff: change.diff.clone(),
            etag: change.etag.clone(),
        });
    }
}
