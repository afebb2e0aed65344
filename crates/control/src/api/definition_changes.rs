//! What becomes of definitions and policies, in the log of changes and as revisions.

use super::Control;
use super::change_log::Change;
use super::configuration::revisions::{self, WaitingRevision};
use super::logged_files::LoggedFiles;
use super::store_queues::{Storable, store_all};
use crate::definitions::{ChangeAuthor, DefinitionsChanged, DocumentChange, LOGGED_MAX};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tollgate_store::StoreFault;

/// Weight of a change of which it is not known yet whether another gateway has logged it, per document.
const DOCUMENT_BYTES: usize = 16 << 10;
/// How long a change of files that was found waits for the notes of the gateway that may have made it.
const FOUND_WAIT: Duration = Duration::from_secs(1);

/// Logs what became of definitions and policies, and keeps what was replaced.
pub(super) async fn note(control: Arc<Control>, waiting: mpsc::Receiver<DefinitionsChanged>, stopped: watch::Receiver<bool>) {
    let logged = control.nodes.one_of_several().and_then(|_| LoggedFiles::new()).map(Arc::new);
    let accept = |changed: DefinitionsChanged| {
        let is_logged = logged.is_none() || matches!(changed.author, ChangeAuthor::Caller(..));
        if is_logged {
            log(&control, &changed);
        }
        let untold = changed.untold.clone();
        let mut waiting = WaitingChange {
            control: control.clone(),
            logged: logged.clone(),
            changed: Some(changed),
            is_logged,
            revision: None,
            since: Instant::now(),
            _untold: untold,
        };
        if waiting.logged.is_none() {
            waiting.decide();
        }
        Some(waiting)
    };
    store_all(&control, waiting, stopped, revisions::WAITING_BYTES_MAX, accept).await;
}

/// A change that is not stored yet.
struct WaitingChange {
    control: Arc<Control>,
    logged: Option<Arc<LoggedFiles>>,
    /// Until it is known what of it another gateway on the same files has logged.
    changed: Option<DefinitionsChanged>,
    is_logged: bool,
    revision: Option<WaitingRevision>,
    since: Instant,
    _untold: Arc<()>,
}

impl WaitingChange {
    /// Logs what is left of it.
    fn decide(&mut self) {
        if let Some(changed) = self.changed.take() {
            if !self.is_logged {
                log(&self.control, &changed);
            }
            self.revision = revisions::of(&self.control, changed);
        }
    }
}

impl Storable for WaitingChange {
    async fn store(&mut self, control: &Control) -> Result<(), StoreFault> {
        if let (Some(logged), Some(changed)) = (&self.logged, &mut self.changed) {
            if !self.is_logged {
                tokio::time::sleep(FOUND_WAIT.saturating_sub(self.since.elapsed())).await;
            }
            logged.leave_out_known(control.shared.keys.store(), changed).await?;
            self.decide();
        }
        match &mut self.revision {
            Some(revision) => revision.store(control).await,
            None => Ok(()),
        }
    }

    fn weight(&self) -> usize {
        let undecided = self.changed.as_ref().map_or(0, |changed| changed.changes.len() * DOCUMENT_BYTES);
        undecided + self.revision.as_ref().map_or(0, WaitingRevision::weight)
    }

    fn described(&self) -> String {
        let undecided = self.changed.as_ref().map(|changed| changed.changes.iter().map(|change| change.id.as_str()));
        match &self.revision {
            Some(revision) => revision.described(),
            None => undecided.into_iter().flatten().take(LOGGED_MAX).collect::<Vec<_>>().join(", "),
        }
    }

    fn into_gap(mut self) -> Self {
        self.decide();
        WaitingChange { revision: self.revision.map(WaitingRevision::into_gap), ..self }
    }

    fn widen(&mut self, mut other: Self) {
        other.decide();
        match (&mut self.revision, other.revision) {
            (Some(own), Some(other)) => own.widen(other),
            (own, other) => *own = own.take().or(other.map(WaitingRevision::into_gap)),
        }
    }
}

/// An entry for each object, or one for all if there are very many.
fn log(control: &Control, DefinitionsChanged { author, changes, unix_s, .. }: &DefinitionsChanged) {
    let (operator, caller) = (author.operator(), author.caller());
    let add = |change: Change| control.changes.add_at(*unix_s, operator.as_ref(), caller, change);
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
