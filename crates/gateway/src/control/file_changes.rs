//! Changes of definitions and policies in files that a reload finds, and which of them the control API has made itself. The others were made by
//! hand or by a program, and belong into the log of changes.

use crate::auth::keys::Policies;
use crate::control::shared_definitions::{DocumentClass, is_shared};
use crate::data::snapshot::CompiledApi;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tollgate_model::api::ApiDefinition;

/// Changes of one reload that are logged: whoever replaces thousands of files has a log elsewhere.
const CHANGES_MAX: usize = 200;

/// A change of one document.
pub(crate) struct FoundChange {
    pub class: DocumentClass,
    pub id: String,
    /// As operators see it; `None` if there was none.
    pub old: Option<Value>,
    pub new: Option<Value>,
    /// Whether the new text can be used. If not, the old version stays in service.
    pub is_usable: bool,
}

/// The changes of a reload.
#[derive(Default)]
pub(crate) struct FoundChanges(pub Vec<FoundChange>);

impl FoundChanges {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes a definition in a file that came, changed or went.
    pub(crate) fn add_api(&mut self, path: &Path, old: Option<Arc<CompiledApi>>, new: Option<Arc<CompiledApi>>, is_usable: bool) {
        let named = new.as_ref().or(old.as_ref()).map(|api| api.id.clone());
        let of_file = || path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let shown = |api: Option<Arc<CompiledApi>>| api.map(|api| ApiDefinition::shown(&api.raw));
        self.add(FoundChange {
            class: DocumentClass::Api,
            id: named.unwrap_or_else(of_file),
            old: shown(old),
            new: shown(new),
            is_usable,
        });
    }

    /// Notes policies of files that came, changed or went.
    pub(crate) fn add_policies(&mut self, before: &Policies, now: &Policies) {
        let is_file = |policies: &Policies, id: &str| policies.file_of(id).is_some_and(|path| !is_shared(path));
        let ids: BTreeSet<&str> = before.iter().chain(now.iter()).map(|policy| policy.id()).collect();
        for id in ids {
            let (old, new) = (before.get(id), now.get(id));
            if old != new && (is_file(before, id) || is_file(now, id)) {
                let [old, new] = [old, new].map(|policy| policy.map(|policy| policy.shown()));
                self.add(FoundChange { class: DocumentClass::Policy, id: id.to_owned(), old, new, is_usable: true });
            }
        }
    }

    fn add(&mut self, change: FoundChange) {
        if self.0.len() < CHANGES_MAX {
            self.0.push(change);
        }
    }

    /// Leaves out what the control API has written.
    pub(crate) fn leave_out(&mut self, own: &OwnWrites) {
        let writes = own.lock();
        self.0.retain(|change| !writes.contains_key(&(change.class, change.id.clone())));
    }
}

/// Documents that the control API writes to files, from before the write until a reload that began after it.
#[derive(Default)]
pub(crate) struct OwnWrites(Mutex<HashMap<(DocumentClass, String), OwnWrite>>);

/// Writes of one document.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct OwnWrite {
    running: usize,
    /// Number of writes so far.
    count: u64,
}

/// A write that is not complete.
pub(crate) struct RunningWrite<'w> {
    writes: &'w OwnWrites,
    document: (DocumentClass, String),
}

/// Writes that were complete at one time.
pub(crate) struct CompleteWrites(HashMap<(DocumentClass, String), OwnWrite>);

impl OwnWrites {
    /// Begins a write; dropping the result completes it.
    pub(crate) fn begin(&self, class: DocumentClass, id: &str) -> RunningWrite<'_> {
        let document = (class, id.to_owned());
        let mut writes = self.lock();
        let write = writes.entry(document.clone()).or_default();
        write.running += 1;
        write.count += 1;
        drop(writes);
        RunningWrite { writes: self, document }
    }

    /// The writes that are complete now: a reload that begins now sees them all.
    pub(crate) fn complete(&self) -> CompleteWrites {
        CompleteWrites(
            self.lock().iter().filter(|(_, write)| write.running == 0).map(|(name, write)| (name.clone(), *write)).collect(),
        )
    }

    /// Forgets writes that a reload has seen.
    pub(crate) fn forget(&self, seen: &CompleteWrites) {
        self.lock().retain(|document, write| seen.0.get(document) != Some(write));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(DocumentClass, String), OwnWrite>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningWrite<'_> {
    fn drop(&mut self) {
        if let Some(write) = self.writes.lock().get_mut(&self.document) {
            write.running = write.running.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DocumentClass, OwnWrites};

    #[test]
    fn a_write_is_known_until_a_reload_that_began_after_it() {
        let writes = OwnWrites::default();
        let knows = || writes.lock().contains_key(&(DocumentClass::Api, "shop".to_owned()));
        let running = writes.begin(DocumentClass::Api, "shop");
        let early = writes.complete();
        drop(running);
        writes.forget(&early);
        assert!(knows(), "a reload that began before the end of the write may not have seen the file");
        let seen = writes.complete();
        drop(writes.begin(DocumentClass::Api, "shop"));
        writes.forget(&seen);
        assert!(knows(), "a second write is not the first");
        writes.forget(&writes.complete());
        assert!(!knows());
    }
}
