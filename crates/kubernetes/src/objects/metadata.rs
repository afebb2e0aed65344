//! What all objects have: their name, their generation.

use super::ResourceKind;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// The name of an object. What is not in a namespace has an empty one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub namespace: String,
    pub name: String,
}

impl Key {
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        Key { namespace: namespace.to_owned(), name: name.to_owned() }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() { f.write_str(&self.name) } else { write!(f, "{}/{}", self.namespace, self.name) }
    }
}

/// Of an object's metadata, what decides something.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Metadata {
    pub name: String,
    pub namespace: String,
    pub generation: i64,
    /// As written, in UTC: earlier ones are smaller texts.
    pub creation_timestamp: String,
    pub resource_version: String,
    pub uid: String,
    pub labels: BTreeMap<String, String>,
    /// Only of kinds whose annotations decide something.
    pub annotations: BTreeMap<String, String>,
    pub finalizers: Vec<String>,
    /// When somebody began to delete it. Empty if nobody has.
    pub deletion_timestamp: String,
}

/// A copy of the object, which kubectl writes.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

impl Metadata {
    pub(crate) fn is_being_deleted(&self) -> bool {
        !self.deletion_timestamp.is_empty()
    }

    pub(crate) fn key(&self) -> Key {
        Key::new(&self.namespace, &self.name)
    }

    /// Leaves out annotations that decide nothing.
    pub(crate) fn without_idle_annotations(mut self, kind: ResourceKind) -> Self {
        self.annotations.retain(|name, _| kind.has_annotations() && name != LAST_APPLIED);
        self
    }

    /// Who has precedence: the older one, then the name.
    pub(crate) fn age(&self) -> (&str, &str, &str) {
        (&self.creation_timestamp, &self.namespace, &self.name)
    }
}

/// An object with its status as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Object<S> {
    pub metadata: Metadata,
    pub spec: S,
    pub status: Value,
}

/// The settings of a kind of objects.
pub(crate) trait Spec: DeserializeOwned + PartialEq {
    /// Whether they stand beside the metadata, and not in `spec`.
    const IS_FLAT: bool = false;
}

impl<S: Spec> Object<S> {
    /// `data` is the object without its metadata.
    ///
    /// # Errors
    /// What can't be read.
    pub(crate) fn read(metadata: Metadata, mut data: Value) -> Result<Self, serde_json::Error> {
        let mut take = |name: &str| data.get_mut(name).map(Value::take).unwrap_or_default();
        let status = take("status");
        let mut spec = if S::IS_FLAT { data } else { take("spec") };
        remove_nulls(&mut spec);
        Ok(Object { metadata, spec: serde_json::from_value(spec)?, status })
    }
}

/// Go writes lists without entries as null.
fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(remove_nulls);
        }
        Value::Array(entries) => entries.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}
