//! Manifests without a cluster: what would be served of them, and what would be said. The same functions as for a cluster.

use crate::cluster::{Change, Cluster};
use crate::compile::{AddressPool, Documents, IngressOptions, InstalledDefinitions, ReportLine, ServeReport, Settings, compile};
use crate::objects::{Key, Metadata, ResourceKind};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

/// The address of everything that is checked: one of those that are for documentation.
const ADDRESS: &str = "192.0.2.0/24";
const CONTROLLER: &str = "tollgate.dev/gateway-controller";

/// What becomes of manifests.
#[derive(Debug, Default)]
pub struct CheckedManifests {
    pub documents: Documents,
    /// What is said of Ingresses: `namespace/name`, and each of its parts.
    pub ingresses: Vec<(String, ReportLine)>,
    /// Conditions of other objects that do not hold: the object, and what its status would say.
    pub conditions: Vec<(String, String)>,
    /// Objects that can't be read, and why.
    pub unreadable: Vec<(String, String)>,
}

/// Checks objects, as manifests have them. All Ingresses count as served, whatever their class is; objects of kinds that are not watched are left
/// out. What other objects refer to must be among them.
pub fn check_manifests(objects: Vec<Value>) -> CheckedManifests {
    let mut checked = CheckedManifests::default();
    let mut cluster = Cluster::default();
    for object in objects.into_iter().flat_map(items) {
        put(&mut cluster, object, &mut checked.unreadable);
    }
    let classes = cluster.ingresses.values().filter_map(|ingress| ingress.spec.ingress_class_name.clone());
    let old =
        cluster.ingresses.values().filter_map(|ingress| ingress.metadata.annotations.get("kubernetes.io/ingress.class").cloned());
    let ingress = IngressOptions { classes: classes.chain(old).collect(), serves_without_class: true, ..IngressOptions::default() };
    let pool = AddressPool(ADDRESS.parse().into_iter().collect());
    let definitions = InstalledDefinitions::default();
    let settings = Settings { controller_name: CONTROLLER.to_owned(), pool, definitions, ingress };
    let compiled = compile(&cluster, &settings);
    for change in compiled.status_changes(&ServeReport::default(), "") {
        let object = format!("{} {}", change.kind, change.key);
        add_conditions(&change.status, &object, &mut checked.conditions);
    }
    for (key, report) in compiled.ingress_reports() {
        checked.ingresses.extend(report.iter().map(|line| (key.to_string(), line.clone())));
    }
    checked.documents = compiled.documents.clone();
    checked
}

/// The objects of a list, or the object itself.
fn items(mut object: Value) -> Vec<Value> {
    let is_list = object.get("kind").and_then(Value::as_str) == Some("List");
    match object.get_mut("items").map(Value::take) {
        Some(Value::Array(items)) if is_list => items,
        _ => vec![object],
    }
}

fn put(cluster: &mut Cluster, mut object: Value, unreadable: &mut Vec<(String, String)>) {
    let text = |object: &Value, name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (version, written) = (text(&object, "apiVersion"), text(&object, "kind"));
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let known = ResourceKind::ALL.iter().copied().find(|kind| kind.place().kind == written && kind.place().group == group);
    let Some(kind) = known else { return };
    let metadata = object.get_mut("metadata").map(Value::take).unwrap_or_default();
    let named = |metadata: &Value| {
        let (name, namespace) = (text(metadata, "name"), text(metadata, "namespace"));
        let usual = if kind.place().is_namespaced { "default" } else { "" };
        format!("{written} {}", Key::new(if namespace.is_empty() { usual } else { &namespace }, &name))
    };
    let name = named(&metadata);
    if let Some(why) = no_text(&metadata) {
        return unreadable.push((name, why));
    }
    let mut metadata: Metadata = match serde_json::from_value(metadata) {
        Ok(metadata) => metadata,
        Err(error) => return unreadable.push((name, format!("metadata: {error}"))),
    };
    if kind.place().is_namespaced && metadata.namespace.is_empty() {
        metadata.namespace = "default".to_owned();
    }
    if kind == ResourceKind::Secret {
        encode_texts(&mut object);
    }
    if let Change::Unreadable(why) = cluster.put(kind, metadata, object) {
        unreadable.push((name, why));
    }
}

/// Which annotation or label is no text: `5` without quotation marks is a number, and the API server takes none.
fn no_text(metadata: &Value) -> Option<String> {
    let entries = ["annotations", "labels"].into_iter().flat_map(|list| {
        let members = metadata.get(list).and_then(Value::as_object).into_iter().flatten();
        members.map(move |(key, value)| (list, key, value))
    });
    let (list, key, value) = entries.into_iter().find(|(_, _, value)| !value.is_string())?;
    Some(format!("metadata.{list}: {key} is {value}, and must be a text: write it in quotation marks"))
}

/// Texts of a secret as the API server keeps them.
fn encode_texts(secret: &mut Value) {
    let Some(Value::Object(texts)) = secret.get_mut("stringData").map(Value::take) else { return };
    let Value::Object(members) = secret else { return };
    let data = members.entry("data").or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(data) = data {
        let text = |value: Value| value.as_str().map(|text| STANDARD.encode(text)).unwrap_or_default();
        data.extend(texts.into_iter().map(|(name, value)| (name, json!(text(value)))));
    }
}

fn add_conditions(status: &Value, object: &str, conditions: &mut Vec<(String, String)>) {
    match status {
        Value::Object(members) => {
            for condition in members.get("conditions").and_then(Value::as_array).into_iter().flatten() {
                let text = |name: &str| condition.get(name).and_then(Value::as_str).unwrap_or_default();
                if text("status") == "False" && text("type") != "Conflicted" {
                    conditions.push((object.to_owned(), format!("{}: {}: {}", text("type"), text("reason"), text("message"))));
                }
            }
            members.values().for_each(|member| add_conditions(member, object, conditions));
        }
        Value::Array(entries) => entries.iter().for_each(|entry| add_conditions(entry, object, conditions)),
        _ => {}
    }
}

/// The table of the annotations of ingress-nginx, for people: the annotation, what becomes of it, and how.
pub fn annotation_table() -> Vec<[String; 3]> {
    let mut table: Vec<[String; 3]> = crate::compile::annotation_rows()
        .map(|(name, outcome, becomes)| [name.to_owned(), outcome.to_owned(), becomes.to_owned()])
        .collect();
    table.sort();
    table
}

#[cfg(test)]
mod tests;
