//! Statuses of Tyk's resources, with the fields that Tyk Operator gives them.

use super::super::{ServeReport, StatusChange};
use super::names::living;
use super::openapi::versions;
use super::references::target;
use super::{TykApi, TykResources};
use crate::cluster::{Cluster, Objects};
use crate::objects::{Key, Metadata, Object, ResourceKind, TYK_EXTENSION, TykSettings};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The statuses that differ from what is written.
pub(in crate::compile) fn changes(
    resources: &TykResources<'_>,
    cluster: &Cluster,
    states: &ServeReport,
    now: &str,
) -> Vec<StatusChange> {
    let links = Links::of(resources);
    let mut changes = Changes { found: Vec::new() };
    for api in &resources.apis {
        let status = match api.kind {
            ResourceKind::ApiDefinition => classic_status(api, &links, states, now),
            _ => openapi_status(api, resources, &links, states, now),
        };
        changes.add(api.kind, &api.object.metadata, &api.object.status, status);
    }
    for policy in &resources.policies {
        let linked: Vec<Value> = policy
            .apis
            .iter()
            .map(|(kind, key)| json!({"kind": kind.name(), "name": key.name, "namespace": key.namespace}))
            .collect();
        let status = json!({
            "pol_id": policy.id,
            "linked_apis": linked,
            "latestCRDSpecHash": digest(&policy.object.spec.0),
            "latestTykSpecHash": policy.document.as_ref().ok().map(digest),
        });
        changes.add(ResourceKind::SecurityPolicy, &policy.object.metadata, &policy.object.status, status);
    }
    for (key, graph) in living(&cluster.subgraphs) {
        let status = json!({"linked_by_api": links.subgraphs.get(key)});
        changes.add(ResourceKind::SubGraph, &graph.metadata, &graph.status, status);
    }
    for (key, context) in living(&cluster.operator_contexts) {
        changes.add(ResourceKind::OperatorContext, &context.metadata, &context.status, context_status(key, resources, cluster));
    }
    changes.found
}

struct Changes {
    found: Vec<StatusChange>,
}

impl Changes {
    /// Notes a status, unless all of it is written already.
    fn add(&mut self, kind: ResourceKind, metadata: &Metadata, written: &Value, status: Value) {
        let is_written = |(name, value): (&String, &Value)| {
            let old = written.get(name).unwrap_or(&Value::Null);
            old == value || old.is_null() && value.as_array().is_some_and(Vec::is_empty)
        };
        if !status.as_object().is_some_and(|status| status.iter().all(is_written)) {
            let resource_version = metadata.resource_version.clone();
            self.found.push(StatusChange { kind, key: metadata.key(), resource_version, status });
        }
    }
}

/// Who refers to whom.
#[derive(Default)]
struct Links {
    policies: BTreeMap<(ResourceKind, Key), Vec<Key>>,
    /// The APIs that send requests to each.
    apis: BTreeMap<Key, Vec<Key>>,
    /// The id of each subgraph's API.
    subgraphs: BTreeMap<Key, String>,
    /// Of each version of an API, its base, and whether it is the default.
    bases: BTreeMap<Key, (Key, bool)>,
}

impl Links {
    fn of(resources: &TykResources<'_>) -> Self {
        let mut links = Links::default();
        for policy in &resources.policies {
            for api in &policy.apis {
                let users = links.policies.entry(api.clone()).or_default();
                let key = policy.object.metadata.key();
                if !users.contains(&key) {
                    users.push(key);
                }
            }
        }
        for api in &resources.apis {
            let key = api.object.metadata.key();
            for target in &api.targets {
                links.apis.entry(target.clone()).or_default().push(key.clone());
            }
            if let Some(subgraph) = &api.subgraph {
                links.subgraphs.insert(subgraph.clone(), api.id.clone());
            }
            let default =
                api.object.spec.0.get("versioning").and_then(|versioning| versioning.get("default")).and_then(Value::as_str);
            for (name, version) in versions(api.object) {
                links.bases.insert(version, (key.clone(), default == Some(name)));
            }
        }
        links
    }

    fn policies_of(&self, api: &TykApi<'_>) -> Value {
        targets(self.policies.get(&(api.kind, api.object.metadata.key())).into_iter().flatten())
    }
}

fn targets<'k>(keys: impl IntoIterator<Item = &'k Key>) -> Value {
    let mut keys: Vec<&Key> = keys.into_iter().collect();
    keys.sort();
    keys.into_iter().map(|key| json!({"name": key.name, "namespace": key.namespace})).collect()
}

fn classic_status(api: &TykApi<'_>, links: &Links, states: &ServeReport, now: &str) -> Value {
    let key = api.object.metadata.key();
    let mut status = common_status(api, states, now);
    let id = if api.is_template { "" } else { &api.id };
    let subgraph = api.subgraph.as_ref().map(|subgraph| subgraph.name.as_str());
    status.insert("api_id".to_owned(), json!(id));
    status.insert("orgId".to_owned(), Some(api.org.as_str()).filter(|org| !org.is_empty()).map_or(Value::Null, |org| json!(org)));
    status.insert("linked_by_policies".to_owned(), links.policies_of(api));
    status.insert("linked_by_apis".to_owned(), targets(links.apis.get(&key).into_iter().flatten()));
    status.insert("linked_to_apis".to_owned(), targets(&api.targets));
    status.insert("linked_to_subgraph".to_owned(), json!(subgraph));
    Value::Object(status)
}

/// What statuses of all APIs have.
fn common_status(api: &TykApi<'_>, states: &ServeReport, now: &str) -> Map<String, Value> {
    let written = &api.object.status;
    let mut status = Map::new();
    let error = match &api.document {
        Err(why) => Some(why.as_str()),
        Ok(_) => states.rejected.get(&api.id).map(String::as_str).filter(|_| !api.is_template),
    };
    let hashes = [
        ("latestCRDSpecHash", Some(digest(&api.object.spec.0))),
        ("latestTykSpecHash", api.document.as_ref().ok().filter(|_| !api.is_template).map(digest)),
    ];
    // What was is told until something else is.
    let is_same = hashes.iter().all(|(name, hash)| written.get(name) == hash.as_ref().map(|hash| json!(hash)).as_ref());
    status.extend(hashes.map(|(name, hash)| (name.to_owned(), json!(hash))));
    let result = if error.is_some() { "Failed" } else { "Successful" };
    let old = written.get("latestTransaction");
    let of_old = |name: &str| old.and_then(|old| old.get(name)).and_then(Value::as_str);
    let is_same = is_same && of_old("status") == Some(result) && of_old("error").unwrap_or_default() == error.unwrap_or_default();
    let time = of_old("time").filter(|_| is_same).unwrap_or(now);
    let transaction = match (is_same, old) {
        (true, Some(old)) => old.clone(),
        _ => json!({"status": result, "time": time, "error": error.unwrap_or_default()}),
    };
    status.insert("latestTransaction".to_owned(), transaction);
    let is_template = api.is_template || written.get("ingressTemplate").is_some();
    if is_template {
        status.insert("ingressTemplate".to_owned(), json!(api.is_template));
    }
    status
}

fn openapi_status(api: &TykApi<'_>, resources: &TykResources<'_>, links: &Links, states: &ServeReport, now: &str) -> Value {
    let mut status = common_status(api, states, now);
    let mut put = |name: &str, value: Value| drop(status.insert(name.to_owned(), value));
    put("id", json!(api.id));
    put("linkedByPolicies", links.policies_of(api));
    put("latestConfigMapHash", json!(api.text.map(|text| number_of(text.as_bytes()))));
    if api.kind == ResourceKind::TykOasApiDefinition {
        put("versioningStatus", versioning_status(api, resources, links));
    }
    let Some(extension) = api.document.as_ref().ok().and_then(|document| document.get(TYK_EXTENSION)) else {
        return Value::Object(status);
    };
    let at = |path: &[&str]| path.iter().try_fold(extension, |value, name| value.get(*name)).cloned().unwrap_or_default();
    let or_empty = |value: Value| if value.is_null() { json!("") } else { value };
    put("name", or_empty(at(&["info", "name"])));
    put("listenPath", or_empty(at(&["server", "listenPath", "value"])));
    put("enabled", json!(at(&["info", "state", "active"]).as_bool().unwrap_or_default()));
    let domain = at(&["server", "customDomain"]);
    if api.kind == ResourceKind::TykOasApiDefinition {
        put("targetURL", or_empty(at(&["upstream", "url"])));
        put("domain", if domain.is_object() { domain } else { Value::Null });
        let pins = at(&["upstream", "certificatePinning", "domainToPublicKeysMapping"]);
        put("certificatePinning", if pins.is_array() { pins } else { json!([]) });
    } else {
        put("domain", or_empty(domain.get("name").cloned().unwrap_or_default()));
    }
    Value::Object(status)
}

fn versioning_status(api: &TykApi<'_>, resources: &TykResources<'_>, links: &Links) -> Value {
    let key = api.object.metadata.key();
    let base = links.bases.get(&key).filter(|(base, _)| resources.apis.iter().any(|api| api.object.metadata.key() == *base));
    match base {
        Some((base, is_default)) => json!({
            "baseAPIVersionContextRef": {"name": base.name, "namespace": base.namespace},
            "isDefaultVersion": is_default,
            "isVersionedAPI": true,
        }),
        None => Value::Null,
    }
}

fn context_status(context: &Key, resources: &TykResources<'_>, cluster: &Cluster) -> Value {
    let of_kind = |kind: ResourceKind| {
        let linked: Vec<Key> = resources
            .apis
            .iter()
            .filter(|api| api.kind == kind && api.context.as_ref() == Some(context))
            .map(|api| api.object.metadata.key())
            .collect();
        targets(&linked)
    };
    let policies: Vec<Key> = users(&cluster.security_policies, context).collect();
    json!({
        "linked_api_definitions": of_kind(ResourceKind::ApiDefinition),
        "linked_security_policies": targets(&policies),
        "linked_tyk_oas_api_definition": of_kind(ResourceKind::TykOasApiDefinition),
        "linked_tyk_mcp_proxy_definition": of_kind(ResourceKind::TykMcpProxyDefinition),
        "linked_tyk_streams_api_definition": of_kind(ResourceKind::TykStreamsApiDefinition),
    })
}

/// The objects that refer to a context by its name.
fn users<'c>(objects: &'c Objects<TykSettings>, context: &'c Key) -> impl Iterator<Item = Key> + 'c {
    let refers = |object: &Object<TykSettings>| {
        let reference = object.spec.0.get("contextRef");
        reference.is_some_and(|reference| target(reference, &object.metadata.namespace) == *context)
    };
    living(objects).filter(move |(_, object)| refers(object)).map(|(key, _)| key.clone())
}

/// A digest as the operator writes them: a number.
fn digest(document: &impl serde::Serialize) -> String {
    number_of(&serde_json::to_vec(document).unwrap_or_default())
}

fn number_of(text: &[u8]) -> String {
    let digest = Sha256::digest(text);
    let number = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    number.to_string()
}
