//! What the controller writes: statuses of objects, and objects of its own.

use crate::cluster::Cluster;
use crate::compile::{FinalizerChange, OwnObject, StatusChange};
use crate::objects::{Key, ResourceKind};
use crate::picture::Picture;
use crate::watch::KnownResources;
use futures_util::{StreamExt, stream};
use kube::api::{DynamicObject, Patch, PatchParams};
use kube::{Api, Client};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Statuses that are written at the same time.
const WRITES_AT_ONCE: usize = 8;
/// Statuses that are written before it is looked whether they are still what is wanted.
const WRITES_BETWEEN_LOOKS: usize = 64;
/// The API server keeps apart by it who has written what.
const FIELD_MANAGER: &str = "tollgate";

/// How long it takes until what could not be written is tried again.
const WRITE_AGAIN: Duration = Duration::from_secs(2);
/// The same for what is not allowed, until somebody allows it.
const REFUSED_AGAIN: Duration = Duration::from_secs(60);

/// What is to be written by whoever leads.
#[derive(Clone, Default)]
pub(crate) struct WantedWrites {
    pub patches: Vec<ObjectPatch>,
    pub objects: Vec<OwnObject>,
}

/// A change of an object that is somebody else's.
#[derive(Clone, Debug)]
pub(crate) struct ObjectPatch {
    kind: ResourceKind,
    key: Key,
    resource_version: String,
    part: PatchedPart,
}

#[derive(Clone, Debug)]
enum PatchedPart {
    Status(Value),
    Finalizers(Vec<String>),
}

impl From<StatusChange> for ObjectPatch {
    fn from(StatusChange { kind, key, resource_version, status }: StatusChange) -> Self {
        ObjectPatch { kind, key, resource_version, part: PatchedPart::Status(status) }
    }
}

impl From<FinalizerChange> for ObjectPatch {
    fn from(FinalizerChange { kind, key, resource_version, finalizers }: FinalizerChange) -> Self {
        ObjectPatch { kind, key, resource_version, part: PatchedPart::Finalizers(finalizers) }
    }
}

/// Writes beside the controller, so that what is served waits for no write.
pub(crate) struct Writer {
    client: Client,
    resources: KnownResources,
    picture: Arc<Picture>,
    /// The versions of objects whose status was written, until the watch brings newer ones.
    written: HashMap<(ResourceKind, Key), String>,
    applied: Arc<AppliedObjects>,
    /// Whether it is allowed to write objects of its own.
    may_apply: bool,
    /// Kinds whose statuses it may not write, as far as it knows.
    refused: HashSet<ResourceKind>,
    /// When it looks whether it may.
    ask_again: Option<Instant>,
}

/// The objects of the controller's own as they were written last.
#[derive(Default)]
pub(crate) struct AppliedObjects(Mutex<HashMap<(ResourceKind, Key), Value>>);

impl AppliedObjects {
    /// Whether an object is as it is to be.
    pub(crate) fn has(&self, object: &OwnObject, cluster: &Cluster) -> bool {
        self.lock().get(&(object.kind, object.key.clone())) == Some(&object.document) && cluster.has(object.kind, &object.key)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(ResourceKind, Key), Value>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writer {
    /// Starts it. What it is given last is what it writes.
    pub(crate) fn start(
        client: Client,
        resources: KnownResources,
        picture: Arc<Picture>,
    ) -> (watch::Sender<WantedWrites>, Arc<AppliedObjects>) {
        let (sender, wanted) = watch::channel(WantedWrites::default());
        let applied = Arc::<AppliedObjects>::default();
        let (written, applied_copy) = (HashMap::new(), applied.clone());
        let (refused, ask_again) = (HashSet::new(), None);
        let writer = Writer { client, resources, picture, written, applied: applied_copy, may_apply: true, refused, ask_again };
        tokio::spawn(writer.run(wanted));
        (sender, applied)
    }

    async fn run(mut self, mut wanted: watch::Receiver<WantedWrites>) {
        loop {
            let again = async {
                match self.ask_again {
                    Some(time) => tokio::time::sleep_until(time).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                changed = wanted.changed() => if changed.is_err() { return },
                () = again => {
                    self.ask_again = None;
                    self.written.retain(|(kind, _), _| !self.refused.contains(kind));
                }
            }
            let WantedWrites { patches, objects } = wanted.borrow_and_update().clone();
            let mut is_complete = self.apply(objects).await;
            for some in self.unwritten(patches).chunks(WRITES_BETWEEN_LOOKS) {
                if wanted.has_changed().unwrap_or(true) {
                    break;
                }
                is_complete &= self.write(some.to_vec()).await;
            }
            if !is_complete {
                tokio::time::sleep(WRITE_AGAIN).await;
                self.picture.touch();
            }
        }
    }

    /// Writes objects of the controller's own. `false` if some could not be written.
    async fn apply(&mut self, objects: Vec<OwnObject>) -> bool {
        let mut is_complete = true;
        for object in objects {
            let Some(resource) = self.resources.get(object.kind).filter(|_| self.may_apply) else { continue };
            let api: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), &object.key.namespace, &resource);
            let parameters = PatchParams::apply(FIELD_MANAGER).force();
            match api.patch(&object.key.name, &parameters, &Patch::Apply(&object.document)).await {
                Ok(_) => {}
                // The namespace or the gateway is on its way out.
                Err(kube::Error::Api(status)) if status.code == 404 || status.reason == "Invalid" => {}
                Err(kube::Error::Api(status)) if status.code == 403 => {
                    tracing::warn!(%status, "gateways get no services of their own: it is not allowed");
                    self.may_apply = false;
                }
                Err(error) => {
                    tracing::warn!(kind = %object.kind, object = %object.key, %error, "an object of a gateway can't be written; retrying");
                    is_complete = false;
                    continue;
                }
            }
            self.applied.lock().insert((object.kind, object.key), object.document);
        }
        is_complete
    }

    /// Leaves out what was written already, and the watch has not brought back yet.
    fn unwritten(&mut self, mut changes: Vec<ObjectPatch>) -> Vec<ObjectPatch> {
        let wanted: HashMap<_, _> =
            changes.iter().map(|change| ((change.kind, change.key.clone()), change.resource_version.clone())).collect();
        self.written.retain(|key, version| wanted.get(key) == Some(version));
        changes.retain(|change| !self.written.contains_key(&(change.kind, change.key.clone())));
        changes
    }

    /// Writes statuses and finalizers. `false` if some could not be written.
    async fn write(&mut self, changes: Vec<ObjectPatch>) -> bool {
        let writes = changes.into_iter().filter_map(|change| {
            let resource = self.resources.get(change.kind)?;
            let objects: Api<DynamicObject> = if change.key.namespace.is_empty() {
                Api::all_with(self.client.clone(), &resource)
            } else {
                Api::namespaced_with(self.client.clone(), &change.key.namespace, &resource)
            };
            Some(write(objects, change))
        });
        let results: Vec<(ObjectPatch, PatchWrite)> = stream::iter(writes).buffer_unordered(WRITES_AT_ONCE).collect().await;
        let mut is_complete = true;
        for (change, end) in results {
            match end {
                PatchWrite::Done => {
                    self.refused.remove(&change.kind);
                }
                PatchWrite::Refused(why) => {
                    if self.refused.insert(change.kind) {
                        tracing::warn!(kind = %change.kind, why, "statuses or finalizers of this kind can't be written: it is not allowed");
                    }
                    self.ask_again.get_or_insert_with(|| Instant::now() + REFUSED_AGAIN);
                }
                PatchWrite::Failed => {
                    is_complete = false;
                    continue;
                }
            }
            self.written.insert((change.kind, change.key), change.resource_version);
        }
        is_complete
    }
}

/// How the write of a status or of finalizers ended.
enum PatchWrite {
    /// The object has it, or is another one by now.
    Done,
    /// Whoever runs this has not the right.
    Refused(String),
    Failed,
}

async fn write(objects: Api<DynamicObject>, change: ObjectPatch) -> (ObjectPatch, PatchWrite) {
    let (name, version) = (&change.key.name, &change.resource_version);
    let parameters = PatchParams::default();
    let written = match &change.part {
        PatchedPart::Status(status) => {
            let patch = json!({"metadata": {"resourceVersion": version}, "status": status});
            objects.patch_status(name, &parameters, &Patch::Merge(&patch)).await
        }
        PatchedPart::Finalizers(finalizers) => {
            let patch = json!({"metadata": {"resourceVersion": version, "finalizers": finalizers}});
            objects.patch(name, &parameters, &Patch::Merge(&patch)).await
        }
    };
    let done = match written {
        Ok(_) => PatchWrite::Done,
        // Somebody was faster: the watch brings what it is now.
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => PatchWrite::Done,
        Err(kube::Error::Api(status)) if status.code == 403 => PatchWrite::Refused(status.message.clone()),
        Err(error) => {
            tracing::warn!(kind = %change.kind, object = %change.key, %error, "a status or finalizer can't be written; retrying");
            PatchWrite::Failed
        }
    };
    (change, done)
}
