//! Names, headers and access rights shared by Tyk documents and control API requests.

use super::Setup;
use serde_json::{Value, json};

/// The id of one of a case's APIs.
pub(crate) fn api_id(case: usize, index: usize) -> String {
    format!("api-{case}-{index}")
}

/// Headers that the control API requires.
pub(crate) fn control_headers(setup: &Setup) -> Vec<(String, String)> {
    vec![("x-tyk-authorization".to_owned(), setup.secret.clone())]
}

/// The right to call an API.
pub(crate) fn right(api_id: &str) -> Value {
    json!({"api_id": api_id, "api_name": api_id, "versions": ["Default"]})
}

/// Merges objects key by key; any other value is replaced.
pub(crate) fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}
