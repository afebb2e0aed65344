//! Resources of Tyk Operator: from objects of Tyk's group to definitions, policies and certificates. They are served at the gateway's own port.

mod classic;
mod conversion;
mod documents;
mod names;
mod openapi;
mod policy;
mod references;
mod secrets;
mod statuses;

use super::{Documents, FinalizerChange};
use crate::cluster::Cluster;
use crate::objects::{Key, Metadata, Object, ResourceKind, TYK_EXTENSION, TykSettings};
use conversion::Conversion;
use names::{API_KINDS, TykNames, apis, is_template, living};
use policy::TykPolicy;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(super) use statuses::changes;

/// How the finalizers of Tyk Operator begin.
const FINALIZERS: &str = "finalizers.tyk.io/";

/// All of Tyk's resources as they are compiled.
pub(super) struct TykResources<'c> {
    pub apis: Vec<TykApi<'c>>,
    pub policies: Vec<TykPolicy<'c>>,
    certificates: BTreeMap<String, String>,
}

/// An API as it is compiled.
pub(super) struct TykApi<'c> {
    pub kind: ResourceKind,
    pub object: &'c Object<TykSettings>,
    pub id: String,
    pub org: String,
    pub is_template: bool,
    /// Whether its definition says that it is not to be served.
    pub is_inactive: bool,
    /// `Err` says why it is not changed.
    pub document: Result<Value, String>,
    /// The text that the document was read from, if it was one.
    pub text: Option<&'c str>,
    pub context: Option<Key>,
    /// The APIs to which it sends requests.
    pub targets: BTreeSet<Key>,
    pub subgraph: Option<Key>,
}

impl<'c> TykResources<'c> {
    pub(super) fn of(cluster: &'c Cluster) -> Self {
        let names = TykNames::of(cluster);
        let mut objects: Vec<(ResourceKind, &Key, &Object<TykSettings>)> = Vec::new();
        for kind in API_KINDS {
            objects.extend(living(apis(cluster, kind)).map(|(key, object)| (kind, key, object)));
        }
        // Of those with one id, the oldest one has it.
        objects.sort_by_key(|(kind, _, object)| (object.metadata.age(), *kind));
        let mut resources = TykResources { apis: Vec::new(), policies: Vec::new(), certificates: BTreeMap::new() };
        let mut known: BTreeMap<String, (ResourceKind, &Key)> = BTreeMap::new();
        for (kind, key, object) in objects {
            let Some(id) = names.api_of_kind(kind, key) else { continue };
            let mut api = resources.compile(&names, (kind, object), id);
            if !api.is_template {
                if let Some((other, older)) = known.get(id) {
                    api.document = Err(format!("the id {id} is that of the older {other} {older}"));
                } else {
                    known.insert(id.to_owned(), (kind, key));
                }
            }
            resources.apis.push(api);
        }
        let mut policies: Vec<_> = living(&cluster.security_policies).collect();
        policies.sort_by_key(|(_, object)| object.metadata.age());
        let mut known: BTreeSet<String> = BTreeSet::new();
        for (key, object) in policies {
            let Some(id) = names.policy(key) else { continue };
            let mut policy = policy::policy(&names, object, id);
            if !known.insert(id.to_owned()) {
                policy.document = Err(format!("the id {id} is that of an older SecurityPolicy"));
            }
            resources.policies.push(policy);
        }
        resources
    }

    fn compile(&mut self, names: &TykNames<'c>, (kind, object): (ResourceKind, &'c Object<TykSettings>), id: &str) -> TykApi<'c> {
        let metadata: &'c Metadata = &object.metadata;
        let mut api = TykApi {
            kind,
            object,
            id: id.to_owned(),
            org: object.spec.text("org_id").to_owned(),
            is_template: is_template(metadata),
            is_inactive: object.spec.0.get("active") == Some(&Value::Bool(false)),
            document: Ok(Value::Null),
            text: documents::text_of(names.cluster, kind, object),
            context: None,
            targets: BTreeSet::new(),
            subgraph: None,
        };
        let context = match names.context(metadata, &object.spec) {
            Ok(context) => context,
            Err(why) => return TykApi { document: Err(why), ..api },
        };
        if let Some(context) = context {
            api.context = Some(context.metadata.key());
            if api.org.is_empty() {
                api.org = names.organisation(context).unwrap_or_default();
            }
        }
        if api.is_template {
            return api;
        }
        let (certificates, targets) = Default::default();
        let mut conversion = Conversion { names, metadata, org: api.org.clone(), id, certificates, targets, subgraph: None };
        api.document = match kind {
            ResourceKind::ApiDefinition => conversion.classic(&object.spec),
            ResourceKind::TykStreamsApiDefinition => Err("Tyk Streams is not supported".to_owned()),
            _ => conversion.openapi(kind, object),
        };
        let state = api.document.as_ref().ok().and_then(|document| document.get(TYK_EXTENSION)?.get("info")?.get("state"));
        api.is_inactive |= state.is_some_and(|state| state.get("active") == Some(&Value::Bool(false)));
        (api.targets, api.subgraph) = (conversion.targets, conversion.subgraph);
        self.certificates.append(&mut conversion.certificates);
        api
    }

    /// Adds what is served. An id that a route has already is left to it.
    pub(super) fn add_to(&mut self, documents: &mut Documents) {
        for api in self.apis.iter_mut().filter(|api| !api.is_template) {
            match &api.document {
                Ok(_) if documents.definitions.contains_key(&api.id) => {
                    api.document = Err(format!("the id {} is that of a route", api.id));
                }
                Ok(_) if api.is_inactive => {}
                Ok(document) => drop(documents.definitions.insert(api.id.clone(), document.clone())),
                Err(_) => drop(documents.kept_definitions.insert(api.id.clone())),
            }
        }
        for policy in &self.policies {
            match &policy.document {
                Ok(document) => drop(documents.policies.insert(policy.id.clone(), document.clone())),
                Err(_) => drop(documents.kept_policies.insert(policy.id.clone())),
            }
        }
        documents.certificates.append(&mut self.certificates);
    }

    /// What people should know beside statuses, in lines.
    pub(super) fn notes(&self, cluster: &Cluster) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        for policy in &self.policies {
            let key = policy.object.metadata.key();
            notes.extend(policy.document.as_ref().err().map(|why| format!("SecurityPolicy {key}: {why}")));
            notes.extend(policy.missing.iter().map(|api| format!("SecurityPolicy {key}: the API {api} does not exist")));
        }
        for (key, context) in living(&cluster.operator_contexts) {
            let env = context.spec.0.get("env").and_then(Value::as_object).into_iter().flatten();
            let ignored: Vec<&str> = env.map(|(name, _)| name.as_str()).filter(|name| !matches!(*name, "org" | "mode")).collect();
            if !ignored.is_empty() {
                let ignored = ignored.join(", ");
                notes.push(format!(
                    "OperatorContext {key}: env has no effect but for org: this gateway serves all; ignored: {ignored}"
                ));
            }
        }
        let portal = [
            (ResourceKind::PortalApiCatalogue, &cluster.portal_catalogues),
            (ResourceKind::ApiDescription, &cluster.api_descriptions),
            (ResourceKind::PortalConfig, &cluster.portal_configs),
        ];
        for (kind, objects) in portal.into_iter().filter(|(_, objects)| !objects.is_empty()) {
            notes.push(format!("{kind}: there is no portal; objects of this kind have no effect: {}", objects.len()));
        }
        notes
    }
}

/// The finalizers of Tyk Operator on objects that are being deleted: nobody else takes them off, and without that they would stay for ever.
pub(super) fn finalizer_changes(cluster: &Cluster) -> Vec<FinalizerChange> {
    let mut changes = Vec::new();
    let mut add = |kind: ResourceKind, metadata: &Metadata| {
        let kept: Vec<String> = metadata.finalizers.iter().filter(|name| !name.starts_with(FINALIZERS)).cloned().collect();
        if metadata.is_being_deleted() && kept.len() < metadata.finalizers.len() {
            let resource_version = metadata.resource_version.clone();
            changes.push(FinalizerChange { kind, key: metadata.key(), resource_version, finalizers: kept });
        }
    };
    let of_settings = [
        (ResourceKind::ApiDefinition, &cluster.api_definitions),
        (ResourceKind::TykOasApiDefinition, &cluster.oas_definitions),
        (ResourceKind::TykMcpProxyDefinition, &cluster.mcp_definitions),
        (ResourceKind::TykStreamsApiDefinition, &cluster.streams_definitions),
        (ResourceKind::SecurityPolicy, &cluster.security_policies),
        (ResourceKind::OperatorContext, &cluster.operator_contexts),
        (ResourceKind::SubGraph, &cluster.subgraphs),
        (ResourceKind::SuperGraph, &cluster.supergraphs),
    ];
    for (kind, objects) in of_settings {
        objects.values().for_each(|object| add(kind, &object.metadata));
    }
    let of_portal = [
        (ResourceKind::PortalApiCatalogue, &cluster.portal_catalogues),
        (ResourceKind::ApiDescription, &cluster.api_descriptions),
        (ResourceKind::PortalConfig, &cluster.portal_configs),
    ];
    for (kind, objects) in of_portal {
        objects.values().for_each(|object| add(kind, &object.metadata));
    }
    changes
}
