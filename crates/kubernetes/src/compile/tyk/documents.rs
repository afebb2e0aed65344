//! OpenAPI documents in config maps, to which Tyk's resources refer.

use super::references::target;
use crate::cluster::Cluster;
use crate::objects::{Object, ResourceKind, TYK_EXTENSION, TykSettings};
use serde_json::{Map, Value};
use tollgate_text::{byte_order_mark, yaml};

/// The text of the document that a resource refers to, with the key of its config map and its name there.
fn text<'c>(cluster: &'c Cluster, kind: ResourceKind, object: &Object<TykSettings>) -> Result<&'c str, String> {
    let member = if kind == ResourceKind::TykMcpProxyDefinition { "tykMCP" } else { "tykOAS" };
    let at = format!("spec.{member}.configmapRef");
    let reference = object.spec.0.get(member).and_then(|member| member.get("configmapRef"));
    let reference = reference.ok_or_else(|| format!("{at}: is missing"))?;
    let key = target(reference, &object.metadata.namespace);
    let name = reference.get("keyName").and_then(Value::as_str).unwrap_or_default();
    let config_map = cluster.config_maps.get(&key).ok_or_else(|| format!("{at}: the ConfigMap {key} does not exist"))?;
    let text = config_map.spec.data.definitions.get(name);
    text.map(String::as_str).ok_or_else(|| format!("{at}: the ConfigMap {key} has no {name:?} with the extension {TYK_EXTENSION}"))
}

/// The document, in JSON or YAML.
fn document(text: &str) -> Result<Map<String, Value>, String> {
    let text = byte_order_mark::without_in(text);
    let read = if text.trim_start().starts_with('{') {
        serde_json::from_str(text).map_err(|error| error.to_string())
    } else {
        yaml::read(text)
    };
    match read.map_err(|error| format!("the document can't be read: {error}"))? {
        Value::Object(members) => Ok(members),
        _ => Err("the document is no object".to_owned()),
    }
}

/// The document that a resource refers to.
///
/// # Errors
/// There is none, or it can't be read.
pub(super) fn document_of(
    cluster: &Cluster,
    kind: ResourceKind,
    object: &Object<TykSettings>,
) -> Result<Map<String, Value>, String> {
    document(text(cluster, kind, object)?)
}

/// The text of the document, for its digest.
pub(super) fn text_of<'c>(cluster: &'c Cluster, kind: ResourceKind, object: &Object<TykSettings>) -> Option<&'c str> {
    text(cluster, kind, object).ok()
}

/// The id that the document of a resource says itself.
pub(super) fn written_id(cluster: &Cluster, kind: ResourceKind, object: &Object<TykSettings>) -> Option<String> {
    let document = document(text(cluster, kind, object).ok()?).ok()?;
    let id = document.get(TYK_EXTENSION)?.get("info")?.get("id")?.as_str()?;
    Some(id.to_owned()).filter(|id| !id.is_empty())
}
