//! Ingresses and their classes.

use super::reference::ObjectRef;
use serde::Deserialize;

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct IngressClass {
    pub controller: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Ingress {
    pub ingress_class_name: Option<String>,
    pub default_backend: Option<IngressBackend>,
    pub tls: Vec<IngressTls>,
    pub rules: Vec<IngressRule>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct IngressTls {
    /// Empty for all hosts of the Ingress.
    pub hosts: Vec<String>,
    pub secret_name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct IngressRule {
    /// Empty for any.
    pub host: String,
    pub http: IngressPaths,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct IngressPaths {
    pub paths: Vec<IngressPath>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct IngressPath {
    pub path: String,
    pub path_type: String,
    pub backend: IngressBackend,
}

/// A service, or something else that is refused.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct IngressBackend {
    pub service: Option<IngressService>,
    pub resource: Option<ObjectRef>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct IngressService {
    pub name: String,
    pub port: IngressPort,
}

/// A port by its name or its number.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct IngressPort {
    pub name: String,
    pub number: u16,
}

impl IngressBackend {
    /// A service with the number of its port.
    pub(crate) fn of_service(name: &str, number: u16) -> Self {
        let port = IngressPort { name: String::new(), number };
        IngressBackend { service: Some(IngressService { name: name.to_owned(), port }), resource: None }
    }
}
