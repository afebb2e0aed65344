//! What a check of manifests says, whether the controller for a cluster is built in or not.

use serde_json::Value;
use std::collections::BTreeMap;

/// What is found in manifests.
pub(crate) struct ManifestFindings {
    pub lines: Vec<ManifestLine>,
    /// What would be served, by id.
    pub definitions: BTreeMap<String, Value>,
}

/// One finding.
pub(crate) struct ManifestLine {
    /// The line of the file, once it is known.
    pub number: Option<usize>,
    /// `error`, `no effect`, `approximated` or `carried`.
    pub level: &'static str,
    /// Kind, namespace and name.
    pub object: String,
    /// The annotation or member.
    pub subject: String,
    pub reason: String,
}
