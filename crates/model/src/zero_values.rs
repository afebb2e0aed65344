//! Documents as Tyk's control API shows them: with all of Tyk's fields; a missing one has the zero of its type. Existing fields are
//! unchanged, including unknown ones. Sessions are not among them, because Tyk shows these without zeros.

use serde_json::{Map, Value};
use std::sync::LazyLock;

/// The zero values of each document. A list contains the zero of its items. The only member of a map is `*` with the zero of its
/// values, or `?` with that of an object that is null if it is missing. A name that ends in `?` is a field that Tyk omits if it is
/// missing.
static ZEROS: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(include_str!("zero_values.json")).unwrap_or_default());

/// A kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// A classic API definition.
    Api,
    /// A policy.
    Policy,
}

impl DocumentKind {
    /// A document with its missing fields.
    pub fn with_zeros(self, written: &Value) -> Value {
        let name = match self {
            DocumentKind::Api => "api",
            DocumentKind::Policy => "policy",
        };
        fill(Some(written), ZEROS.get(name).unwrap_or(&Value::Null))
    }
}

fn fill(written: Option<&Value>, zero: &Value) -> Value {
    let written = written.filter(|written| !written.is_null());
    match zero {
        Value::Object(shape) => match (shape.get("*"), shape.get("?")) {
            (Some(value), _) => match written {
                Some(Value::Object(members)) => {
                    members.iter().map(|(name, member)| (name.clone(), fill(Some(member), value))).collect()
                }
                other => other.cloned().unwrap_or_default(),
            },
            (_, Some(object)) => written.map_or(Value::Null, |written| fill(Some(written), object)),
            _ => match written {
                Some(Value::Object(members)) => Value::Object(fill_members(members, shape)),
                Some(other) => other.clone(),
                None => Value::Object(fill_members(&Map::new(), shape)),
            },
        },
        Value::Array(items) => match (written, items.first()) {
            (Some(Value::Array(list)), Some(item)) => list.iter().map(|written| fill(Some(written), item)).collect(),
            (other, _) => other.cloned().unwrap_or_default(),
        },
        zero => written.unwrap_or(zero).clone(),
    }
}

/// The existing members in order, then the missing ones. Names match in any letter case, as when a document is read.
fn fill_members(members: &Map<String, Value>, shape: &Map<String, Value>) -> Map<String, Value> {
    let names: Map<String, Value> = shape.iter().map(|(name, zero)| (plain(name).to_ascii_lowercase(), zero.clone())).collect();
    let mut filled = Map::with_capacity(shape.len().max(members.len()));
    let mut there = std::collections::HashSet::new();
    for (name, written) in members {
        let known = name.to_ascii_lowercase();
        let value = names.get(&known).map_or_else(|| written.clone(), |zero| fill(Some(written), zero));
        filled.insert(name.clone(), value);
        there.insert(known);
    }
    for (name, zero) in shape {
        if !name.ends_with('?') && !there.contains(&name.to_ascii_lowercase()) {
            filled.insert(name.clone(), fill(None, zero));
        }
    }
    filled
}

fn plain(name: &str) -> &str {
    name.strip_suffix('?').unwrap_or(name)
}

#[cfg(test)]
mod tests;
