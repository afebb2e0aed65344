//! What all objects have: their kind, their name, their generation.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// The kinds that the controller watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ResourceKind {
    GatewayClass,
    Gateway,
    ListenerSet,
    HttpRoute,
    GrpcRoute,
    TlsRoute,
    TcpRoute,
    UdpRoute,
    BackendTlsPolicy,
    ReferenceGrant,
    Namespace,
    Service,
    EndpointSlice,
    Secret,
    ConfigMap,
}

/// Where the API server has the objects of a kind.
pub(crate) struct ResourcePlace {
    pub group: &'static str,
    /// In the order in which they are preferred.
    pub versions: &'static [&'static str],
    pub kind: &'static str,
    pub plural: &'static str,
    pub is_namespaced: bool,
    /// Only objects whose fields match are watched. Empty for all.
    pub fields: &'static str,
}

const GATEWAY: &str = super::GATEWAY_GROUP;

impl ResourceKind {
    pub(crate) const ALL: [ResourceKind; 15] = [
        ResourceKind::GatewayClass,
        ResourceKind::Gateway,
        ResourceKind::ListenerSet,
        ResourceKind::HttpRoute,
        ResourceKind::GrpcRoute,
        ResourceKind::TlsRoute,
        ResourceKind::TcpRoute,
        ResourceKind::UdpRoute,
        ResourceKind::BackendTlsPolicy,
        ResourceKind::ReferenceGrant,
        ResourceKind::Namespace,
        ResourceKind::Service,
        ResourceKind::EndpointSlice,
        ResourceKind::Secret,
        ResourceKind::ConfigMap,
    ];

    pub(crate) fn place(self) -> ResourcePlace {
        let gateway =
            |versions, kind, plural| ResourcePlace { group: GATEWAY, versions, kind, plural, is_namespaced: true, fields: "" };
        let core = |kind, plural| ResourcePlace { group: "", versions: &["v1"], kind, plural, is_namespaced: true, fields: "" };
        match self {
            ResourceKind::GatewayClass => {
                ResourcePlace { is_namespaced: false, ..gateway(&["v1"], "GatewayClass", "gatewayclasses") }
            }
            ResourceKind::Gateway => gateway(&["v1"], "Gateway", "gateways"),
            ResourceKind::ListenerSet => gateway(&["v1"], "ListenerSet", "listenersets"),
            ResourceKind::HttpRoute => gateway(&["v1"], "HTTPRoute", "httproutes"),
            ResourceKind::GrpcRoute => gateway(&["v1"], "GRPCRoute", "grpcroutes"),
            ResourceKind::TlsRoute => gateway(&["v1", "v1alpha3"], "TLSRoute", "tlsroutes"),
            ResourceKind::TcpRoute => gateway(&["v1", "v1alpha2"], "TCPRoute", "tcproutes"),
            ResourceKind::UdpRoute => gateway(&["v1", "v1alpha2"], "UDPRoute", "udproutes"),
            ResourceKind::BackendTlsPolicy => gateway(&["v1", "v1alpha3"], "BackendTLSPolicy", "backendtlspolicies"),
            ResourceKind::ReferenceGrant => gateway(&["v1", "v1beta1"], "ReferenceGrant", "referencegrants"),
            ResourceKind::Namespace => ResourcePlace { is_namespaced: false, ..core("Namespace", "namespaces") },
            ResourceKind::Service => core("Service", "services"),
            ResourceKind::EndpointSlice => ResourcePlace { group: "discovery.k8s.io", ..core("EndpointSlice", "endpointslices") },
            // Other secrets are nobody's business here.
            ResourceKind::Secret => ResourcePlace { fields: "type=kubernetes.io/tls", ..core("Secret", "secrets") },
            ResourceKind::ConfigMap => core("ConfigMap", "configmaps"),
        }
    }

    /// Whether the Gateway API defines it, so that it may be missing.
    pub(crate) fn is_of_gateway_api(self) -> bool {
        self.place().group == GATEWAY
    }

    /// Whether nothing can be served without it.
    pub(crate) fn is_needed(self) -> bool {
        !self.is_of_gateway_api() || matches!(self, ResourceKind::GatewayClass | ResourceKind::Gateway)
    }

    pub(crate) fn name(self) -> &'static str {
        self.place().kind
    }
}

impl fmt::Display for ResourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

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
}

impl Metadata {
    pub(crate) fn key(&self) -> Key {
        Key::new(&self.namespace, &self.name)
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
