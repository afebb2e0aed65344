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
    pub data: Certificates,
}

/// Of a text's entries, the one that can be a list of certificates.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Certificates {
    #[serde(rename = "ca.crt")]
    pub ca: Option<String>,
}

/// All that matters of it is in its metadata.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct Namespace {}
