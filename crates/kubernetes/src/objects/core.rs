//! Objects of the core: services and their endpoints, secrets, texts, namespaces.

use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Service {
    #[serde(rename = "type")]
    pub kind: String,
    pub ip_families: Vec<String>,
    pub ports: Vec<ServicePort>,
    /// Where one of the type ExternalName leads.
    pub external_name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ServicePort {
    pub name: String,
    pub port: u16,
    /// `TCP` if it is empty.
    pub protocol: String,
    pub app_protocol: Option<String>,
}

/// Some of the endpoints of a service.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct EndpointSlice {
    pub address_type: String,
    pub endpoints: Vec<Endpoint>,
    pub ports: Vec<SlicePort>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Endpoint {
    pub addresses: Vec<String>,
    pub conditions: EndpointConditions,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct EndpointConditions {
    /// Unknown counts as ready.
    pub ready: Option<bool>,
    pub serving: Option<bool>,
    pub terminating: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SlicePort {
    pub name: String,
    pub port: Option<u16>,
    pub protocol: String,
    pub app_protocol: Option<String>,
}

/// A secret. Its values are in Base64.
#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Secret {
    #[serde(rename = "type")]
    pub kind: String,
    pub data: BTreeMap<String, String>,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.data.keys()).finish()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct ConfigMap {
    pub data: KeptTexts,
}

/// Of a config map's texts, those that can be referred to: a list of certificates, and definitions of APIs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "BTreeMap<String, String>")]
pub(crate) struct KeptTexts {
    /// `ca.crt`.
    pub ca: Option<String>,
    /// OpenAPI documents with Tyk's extension, by their keys.
    pub definitions: BTreeMap<String, String>,
}

/// The extension that makes an OpenAPI document the definition of an API.
pub(crate) const TYK_EXTENSION: &str = "x-tyk-api-gateway";

impl From<BTreeMap<String, String>> for KeptTexts {
    fn from(mut texts: BTreeMap<String, String>) -> Self {
        let ca = texts.remove("ca.crt");
        texts.retain(|_, text| text.contains(TYK_EXTENSION));
        KeptTexts { ca, definitions: texts }
    }
}

/// All that matters of it is in its metadata.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct Namespace {}
