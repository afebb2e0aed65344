//! The mark of documents that define a proxy for the Model Context Protocol. Tyk tells them by the name of their file and by the endpoint that takes
//! them; a document that stands alone says it itself, in `x-tollgate.application_protocol`.

use serde_json::{Value, json};

use crate::places::{OWN_EXTENSION, put};

const PROTOCOL: &str = "application_protocol";

/// What the mark says, if there is one.
pub(crate) fn of(root: &Value) -> Option<&Value> {
    root.get(OWN_EXTENSION)?.get(PROTOCOL)
}

/// Whether a document has the mark.
pub fn is_in(root: &Value) -> bool {
    of(root).and_then(Value::as_str) == Some("mcp")
}

/// Marks a document.
pub fn add(root: &mut Value) {
    // Anything else than an object is reported when the document is read.
    if root.get(OWN_EXTENSION).is_none_or(Value::is_object) {
        put(root, &[OWN_EXTENSION, PROTOCOL], json!("mcp"));
    }
}

/// The document without the mark.
pub fn without(mut root: Value) -> Value {
    if let Value::Object(members) = &mut root
        && let Some(Value::Object(own)) = members.get_mut(OWN_EXTENSION)
        && own.shift_remove(PROTOCOL).is_some()
        && own.is_empty()
    {
        members.shift_remove(OWN_EXTENSION);
    }
    root
}
