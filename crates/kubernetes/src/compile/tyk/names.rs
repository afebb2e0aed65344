//! The ids of Tyk's resources, and what they find of each other by name.

use super::documents::written_id;
use super::references::{encoded, graph_reference, target};
use crate::cluster::{Cluster, Objects};
use crate::objects::{Key, Metadata, Object, ResourceKind, TykSettings};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::collections::BTreeMap;

/// Kinds whose objects are APIs.
pub(super) const API_KINDS: [ResourceKind; 4] = [
    ResourceKind::ApiDefinition,
    ResourceKind::TykOasApiDefinition,
    ResourceKind::TykMcpProxyDefinition,
    ResourceKind::TykStreamsApiDefinition,
];

/// The label of definitions that only others are made of.
const TEMPLATE_LABEL: &str = "template";

/// Resources by name, without those that are being deleted.
pub(super) struct TykNames<'c> {
    pub cluster: &'c Cluster,
    /// Of templates too.
    api_ids: BTreeMap<ResourceKind, BTreeMap<&'c Key, String>>,
    policy_ids: BTreeMap<&'c Key, String>,
    /// The API of each subgraph: the oldest one that refers to it.
    subgraph_users: BTreeMap<Key, &'c Object<TykSettings>>,
}

impl<'c> TykNames<'c> {
    pub(super) fn of(cluster: &'c Cluster) -> Self {
        let mut names =
            TykNames { cluster, api_ids: BTreeMap::new(), policy_ids: BTreeMap::new(), subgraph_users: BTreeMap::new() };
        for kind in API_KINDS {
            for (key, object) in living(apis(cluster, kind)) {
                names.api_ids.entry(kind).or_default().insert(key, api_id(cluster, kind, object));
            }
        }
        for (key, object) in living(&cluster.security_policies) {
            let id = Some(object.spec.text("id")).filter(|id| !id.is_empty());
            names.policy_ids.insert(key, id.map_or_else(|| encoded(key), str::to_owned));
        }
        for (_, object) in living(&cluster.api_definitions) {
            let Some(subgraph) = graph_reference(&object.spec.0, "subgraph") else { continue };
            let user = names.subgraph_users.entry(Key::new(&object.metadata.namespace, subgraph)).or_insert(object);
            if object.metadata.age() < user.metadata.age() {
                *user = object;
            }
        }
        names
    }

    /// The id of an API that is there, and its kind.
    pub(super) fn api(&self, key: &Key) -> Option<(ResourceKind, &str)> {
        API_KINDS.into_iter().find_map(|kind| Some((kind, self.api_of_kind(kind, key)?)))
    }

    pub(super) fn api_of_kind(&self, kind: ResourceKind, key: &Key) -> Option<&str> {
        self.api_ids.get(&kind)?.get(key).map(String::as_str)
    }

    pub(super) fn policy(&self, key: &Key) -> Option<&str> {
        self.policy_ids.get(key).map(String::as_str)
    }

    pub(super) fn subgraph_user(&self, subgraph: &Key) -> Option<&'c Object<TykSettings>> {
        self.subgraph_users.get(subgraph).copied()
    }

    /// The context that an object refers to.
    ///
    /// # Errors
    /// It does not exist.
    pub(super) fn context(&self, metadata: &Metadata, settings: &TykSettings) -> Result<Option<&'c Object<TykSettings>>, String> {
        let Some(reference) = settings.0.get("contextRef") else { return Ok(None) };
        let key = target(reference, &metadata.namespace);
        let of_cluster = |key: &Key| self.cluster.operator_contexts.get(key).filter(|context| !context.metadata.is_being_deleted());
        // Older versions of the operator look there if no namespace is given.
        let by_default = || {
            let is_given = reference.get("namespace").and_then(Value::as_str).is_some_and(|namespace| !namespace.is_empty());
            if is_given { None } else { of_cluster(&Key::new("default", &key.name)) }
        };
        let context = of_cluster(&key).or_else(by_default);
        context.map(Some).ok_or_else(|| format!("contextRef: the OperatorContext {key} does not exist"))
    }

    /// The organisation of a context: what it says itself, or its secret.
    pub(super) fn organisation(&self, context: &Object<TykSettings>) -> Option<String> {
        let written =
            context.spec.0.get("env").and_then(|env| env.get("org")).and_then(Value::as_str).filter(|org| !org.is_empty());
        let of_secret = || {
            let key = target(context.spec.0.get("secretRef")?, &context.metadata.namespace);
            let encoded = self.cluster.secrets.get(&key)?.spec.data.get("TYK_ORG")?;
            String::from_utf8(STANDARD.decode(encoded).ok()?).ok().filter(|org| !org.is_empty())
        };
        written.map(str::to_owned).or_else(of_secret)
    }
}

pub(super) fn apis(cluster: &Cluster, kind: ResourceKind) -> &Objects<TykSettings> {
    match kind {
        ResourceKind::TykOasApiDefinition => &cluster.oas_definitions,
        ResourceKind::TykMcpProxyDefinition => &cluster.mcp_definitions,
        ResourceKind::TykStreamsApiDefinition => &cluster.streams_definitions,
        _ => &cluster.api_definitions,
    }
}

/// Objects that nobody has begun to delete.
pub(super) fn living(objects: &Objects<TykSettings>) -> impl Iterator<Item = (&Key, &Object<TykSettings>)> {
    objects.iter().filter(|(_, object)| !object.metadata.is_being_deleted())
}

pub(super) fn is_template(metadata: &Metadata) -> bool {
    metadata.labels.get(TEMPLATE_LABEL).is_some_and(|value| value == "true")
}

/// The id that an API has written itself, or that of its name.
fn api_id(cluster: &Cluster, kind: ResourceKind, object: &Object<TykSettings>) -> String {
    let written = match kind {
        ResourceKind::ApiDefinition => Some(object.spec.text("api_id")).filter(|id| !id.is_empty()).map(str::to_owned),
        _ => written_id(cluster, kind, object),
    };
    written.unwrap_or_else(|| encoded(&object.metadata.key()))
}
