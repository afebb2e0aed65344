//! `tollgate.key_ring` of a definition: keys that another part of the process has found, and that are in no store.

use crate::json_path::JsonPath;
use crate::problem::Findings;
use schemars::JsonSchema;
use serde::Deserialize;

/// `tollgate.key_ring`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KeyRing {
    /// Name of the ring. One that is not there has no keys.
    pub name: String,
    /// Keys of the store are accepted too; those of the ring come first.
    pub stored_keys: bool,
}

impl KeyRing {
    pub(super) fn check(&self, findings: &mut Findings) {
        if self.name.is_empty() {
            findings.error(&JsonPath::of("tollgate.key_ring.name"), "must not be empty");
        }
    }
}
