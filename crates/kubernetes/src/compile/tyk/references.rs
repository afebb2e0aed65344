//! How Tyk's resources name each other.

use crate::objects::Key;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

/// The id that Tyk Operator gives an object: Base64 of its namespace and name.
pub(super) fn encoded(key: &Key) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}/{}", key.namespace, key.name))
}

/// The object that a member with a name, and perhaps a namespace, refers to.
pub(super) fn target(reference: &Value, namespace: &str) -> Key {
    let text = |name: &str| reference.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    Key::new(text("namespace").unwrap_or(namespace), text("name").unwrap_or_default())
}

/// The graph that a definition of some mode refers to.
pub(super) fn graph_reference<'v>(definition: &'v Map<String, Value>, mode: &str) -> Option<&'v str> {
    let graphql = definition.get("graphql")?;
    let text = |name: &str| graphql.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    text("graph_ref").filter(|_| text("execution_mode") == Some(mode))
}
