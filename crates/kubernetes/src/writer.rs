//! What the controller writes: statuses of objects, and objects of its own.

use crate::cluster::Cluster;
use crate::compile::{OwnObject, StatusChange};
use crate::objects::{Key, ResourceKind};
use crate::watch::Resources;
use futures_util::{StreamExt, stream};
use kube::api::{DynamicObject, Patch, PatchParams};
use kube::{Api, Client};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// Statuses that are written at the same time.
const WRITES_AT_ONCE: usize = 8;
/// The API server keeps apart by it who has written what.
const FIELD_MANAGER: &str = "tollgate";

/// Writes for the controller, if it is the one that leads.
pub(crate) struct Writer {
    client: Client,
    resources: Resources,
    /// The versions of objects whose status was written, until the watch brings newer ones.
    written: HashMap<(ResourceKind, Key), String>,
    applied: Arc<AppliedObjects>,
    /// Whether it is allowed to write objects of its own.
    may_apply: bool,
}

/// The objects of the controller's own as they were written last.
#[derive(Clone, Default)]
pub(crate) struct AppliedObjects(HashMap<(ResourceKind, Key), Value>);

impl AppliedObjects {
    /// Whether an object is as it is to be.
    pub(crate) fn is_there(&self, object: &OwnObject, cluster: &Cluster) -> bool {
        self.0.get(&(object.kind, object.key.clone())) == Some(&object.document) && cluster.has(object.kind, &object.key)
    }
}

impl Writer {
    pub(crate) fn new(client: Client, resources: Resources) -> Self {
        Writer { client, resources, written: HashMap::new(), applied: Arc::default(), may_apply: true }
    }

    pub(crate) fn applied(&self) -> Arc<AppliedObjects> {
        self.applied.clone()
    }

    /// Writes objects of the controller's own. `false` if some could not be written.
    pub(crate) async fn apply(&mut self, objects: Vec<OwnObject>) -> bool {
        let mut is_complete = true;
        for object in objects {
            let Some(resource) = self.resources.get(&object.kind).filter(|_| self.may_apply) else { continue };
            let api: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), &object.key.namespace, resource);
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
                }
            }
            Arc::make_mut(&mut self.applied).0.insert((object.kind, object.key), object.document);
        }
        is_complete
    }

    /// Writes statuses. `false` if some could not be written, and are to be tried again.
    pub(crate) async fn write(&mut self, mut changes: Vec<StatusChange>) -> bool {
        changes.retain(|change| self.written.get(&(change.kind, change.key.clone())) != Some(&change.resource_version));
        self.written.retain(|key, _| changes.iter().all(|change| (change.kind, &change.key) != (key.0, &key.1)));
        let writes = changes.into_iter().filter_map(|change| {
            let resource = self.resources.get(&change.kind)?;
            let objects: Api<DynamicObject> = if change.key.namespace.is_empty() {
                Api::all_with(self.client.clone(), resource)
            } else {
                Api::namespaced_with(self.client.clone(), &change.key.namespace, resource)
            };
            Some(write(objects, change))
        });
        let results: Vec<(StatusChange, bool)> = stream::iter(writes).buffer_unordered(WRITES_AT_ONCE).collect().await;
        let is_complete = results.iter().all(|(_, is_written)| *is_written);
        let done = results.into_iter().filter(|(_, is_written)| *is_written);
        self.written.extend(done.map(|(change, _)| ((change.kind, change.key), change.resource_version)));
        is_complete
    }
}

async fn write(objects: Api<DynamicObject>, change: StatusChange) -> (StatusChange, bool) {
    let patch = json!({"metadata": {"resourceVersion": change.resource_version}, "status": change.status});
    let done = match objects.patch_status(&change.key.name, &PatchParams::default(), &Patch::Merge(&patch)).await {
        Ok(_) => true,
        // Somebody was faster: the watch brings what it is now.
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => true,
        Err(error) => {
            tracing::warn!(kind = %change.kind, object = %change.key, %error, "a status can't be written; retrying");
            false
        }
    };
    (change, done)
}
