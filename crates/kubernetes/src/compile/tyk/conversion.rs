//! One resource on its way to a document: what it refers to, and what is found on the way.

use super::names::TykNames;
use super::references::encoded;
use crate::objects::{Key, Metadata};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Conversion<'n, 'c> {
    pub names: &'n TykNames<'c>,
    pub metadata: &'c Metadata,
    /// The organisation; empty for none.
    pub org: String,
    pub id: &'n str,
    /// The certificates that the document names: PEM text by id.
    pub certificates: BTreeMap<String, String>,
    /// The APIs to which it sends requests.
    pub targets: BTreeSet<Key>,
    /// The subgraph that it is the API of.
    pub subgraph: Option<Key>,
}

impl Conversion<'_, '_> {
    /// The id of a policy that is named `namespace/name`, or has the id itself. One that is not there is not there under its id either.
    pub(super) fn policy_id(&self, written: &str) -> String {
        let Some((namespace, name)) = written.split_once('/') else { return written.to_owned() };
        self.policy_of(&Key::new(namespace, name))
    }

    pub(super) fn policy_of(&self, key: &Key) -> String {
        self.names.policy(key).map_or_else(|| encoded(key), str::to_owned)
    }
}

/// Sets a member below others, which are made if they are not there.
pub(super) fn set(members: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [] => {}
        [name] => drop(members.insert((*name).to_owned(), value)),
        [name, rest @ ..] => {
            let mut inner = match members.remove(*name) {
                Some(Value::Object(inner)) => inner,
                _ => Map::new(),
            };
            set(&mut inner, rest, value);
            members.insert((*name).to_owned(), Value::Object(inner));
        }
    }
}

/// The texts of a list; others are left out.
pub(super) fn texts(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The members that are texts, by their names.
pub(super) fn text_members(value: Option<&Value>) -> impl Iterator<Item = (&str, &str)> {
    value.and_then(Value::as_object).into_iter().flatten().filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
}

/// The entries of a list.
pub(super) fn entries(list: Option<&Value>) -> &[Value] {
    list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Numbers that are written as texts, as custom resources must write fractions, become numbers.
///
/// # Errors
/// The text is no number.
pub(super) fn unquote(member: Option<&mut Value>, field: &str) -> Result<(), String> {
    let Some(member) = member else { return Ok(()) };
    let Some(text) = member.as_str() else { return Ok(()) };
    let number = text.trim().parse::<f64>().ok().and_then(serde_json::Number::from_f64);
    *member = Value::Number(number.ok_or_else(|| format!("{field}: {text:?} is no number"))?);
    Ok(())
}
