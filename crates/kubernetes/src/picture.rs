//! The cluster in memory, kept by the watches and read by the controller.

use crate::cluster::{Change, Cluster};
use crate::objects::{Key, Metadata, ResourceKind};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Shared by the watches.
#[derive(Default)]
pub(crate) struct Picture {
    state: Mutex<PictureState>,
    changed: Notify,
}

#[derive(Default)]
struct PictureState {
    cluster: Arc<Cluster>,
    /// Watches that have not listed their objects yet, by kind and namespace.
    unlisted: BTreeSet<(ResourceKind, Option<String>)>,
    is_started: bool,
}

impl Picture {
    /// Waits until something has changed since the last call. Changes that come at once are one.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Makes whoever waits look again.
    pub(crate) fn touch(&self) {
        self.changed.notify_one();
    }

    /// The cluster, once it is known as a whole.
    pub(crate) fn cluster(&self) -> Option<Arc<Cluster>> {
        let state = self.lock();
        (state.is_started && state.unlisted.is_empty()).then(|| state.cluster.clone())
    }

    /// A watch begins, without which the cluster is not known.
    pub(crate) fn expect(&self, kind: ResourceKind, namespace: Option<&str>) {
        self.lock().unlisted.insert((kind, namespace.map(str::to_owned)));
    }

    /// All watches that there are to be have begun.
    pub(crate) fn start(&self) {
        self.lock().is_started = true;
        self.touch();
    }

    pub(crate) fn put(&self, kind: ResourceKind, metadata: Metadata, data: Value) {
        let change = Arc::make_mut(&mut self.lock().cluster).put(kind, metadata, data);
        self.note(kind, change);
    }

    pub(crate) fn remove(&self, kind: ResourceKind, key: &Key) {
        let change = Arc::make_mut(&mut self.lock().cluster).remove(kind, key);
        self.note(kind, change);
    }

    /// A watch has listed its objects: others that were known are gone.
    pub(crate) fn listed(&self, kind: ResourceKind, namespace: Option<&str>, keys: &BTreeSet<Key>) {
        let mut state = self.lock();
        state.unlisted.remove(&(kind, namespace.map(str::to_owned)));
        let is_listed = |key: &Key| namespace.is_some_and(|namespace| key.namespace != namespace) || keys.contains(key);
        Arc::make_mut(&mut state.cluster).retain(kind, is_listed);
        drop(state);
        self.touch();
    }

    fn note(&self, kind: ResourceKind, change: Change) {
        match change {
            Change::Nothing => {}
            Change::Changed => self.touch(),
            Change::Unreadable(why) => {
                tracing::warn!(%kind, why, "an object can't be read: it counts as if it were not there");
                self.touch();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, PictureState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
