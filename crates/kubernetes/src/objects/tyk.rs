//! Resources of Tyk Operator. Their settings stay as they are written: they are documents for whoever serves them.

use serde::Deserialize;
use serde_json::{Map, Value};

/// The settings of one of Tyk's resources; empty if they are no object.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "Value")]
pub(crate) struct TykSettings(pub Map<String, Value>);

impl From<Value> for TykSettings {
    fn from(written: Value) -> Self {
        match written {
            Value::Object(members) => TykSettings(members),
            _ => TykSettings::default(),
        }
    }
}

impl TykSettings {
    /// The text of a member; empty if there is none.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

/// A resource for Tyk's portal, which is not there: all that matters of it is that it exists.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct PortalObject {}
