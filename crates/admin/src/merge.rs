//! JSON merge patches (RFC 7396).

use serde_json::{Map, Value};

/// Applies a patch: its members replace those of `target`, and null removes them.
pub fn merge(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(members) = target else { return };
    for (name, value) in patch {
        match value {
            Value::Null => {
                members.shift_remove(&name);
            }
            value => merge(members.entry(name).or_insert(Value::Null), value),
        }
    }
}

#[cfg(test)]
mod tests;
