//! What is allowed across namespaces, and how backends are spoken to.

use super::reference::ObjectRef;
use serde::Deserialize;

/// Lets objects of other namespaces refer to objects of its own.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct ReferenceGrant {
    pub from: Vec<GrantedFrom>,
    pub to: Vec<GrantedTo>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct GrantedFrom {
    pub group: String,
    pub kind: String,
    pub namespace: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct GrantedTo {
    pub group: String,
    pub kind: String,
    /// Without one, all objects of the kind.
    pub name: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BackendTlsPolicy {
    #[serde(default)]
    pub target_refs: Vec<PolicyTarget>,
    pub validation: BackendValidation,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PolicyTarget {
    #[serde(default)]
    pub group: String,
    pub kind: String,
    pub name: String,
    /// The name of one port of the service.
    #[serde(default)]
    pub section_name: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct BackendValidation {
    pub ca_certificate_refs: Vec<ObjectRef>,
    #[serde(rename = "wellKnownCACertificates")]
    pub well_known_ca_certificates: Option<String>,
    pub hostname: String,
    pub subject_alt_names: Vec<SubjectAltName>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct SubjectAltName {
    #[serde(rename = "type")]
    pub kind: String,
    pub hostname: String,
    pub uri: String,
}
