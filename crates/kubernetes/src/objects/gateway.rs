//! Classes of gateways, gateways, and listeners that are added to them.

use super::reference::{ObjectRef, ParentRef, RouteKind};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GatewayClass {
    pub controller_name: String,
    #[serde(default)]
    pub parameters_ref: Option<Value>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Gateway {
    pub gateway_class_name: String,
    #[serde(default)]
    pub listeners: Vec<Listener>,
    #[serde(default)]
    pub addresses: Vec<GatewayAddress>,
    #[serde(default)]
    pub infrastructure: Infrastructure,
    #[serde(default)]
    pub allowed_listeners: AllowedListeners,
    #[serde(default)]
    pub tls: GatewayTls,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Infrastructure {
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
    pub parameters_ref: Option<Value>,
}

/// Which listener sets may add listeners.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct AllowedListeners {
    pub namespaces: Option<NamespaceFilter>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct GatewayTls {
    pub backend: BackendTls,
    pub frontend: Option<FrontendTls>,
}

/// What the gateway shows to backends that it speaks TLS with.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct BackendTls {
    pub client_certificate_ref: Option<ObjectRef>,
}

/// Which certificates clients must have.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrontendTls {
    #[serde(default)]
    pub default: PortTls,
    #[serde(default)]
    pub per_port: Vec<TlsOfPort>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct PortTls {
    pub validation: Option<ClientValidation>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct TlsOfPort {
    pub port: u16,
    pub tls: PortTls,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClientValidation {
    pub ca_certificate_refs: CaReferences,
    #[serde(default)]
    pub mode: String,
}

pub(crate) type CaReferences = Vec<ObjectRef>;

impl ClientValidation {
    pub(crate) fn falls_back(&self) -> bool {
        self.mode == "AllowInsecureFallback"
    }
}

impl FrontendTls {
    /// What applies to a port.
    pub(crate) fn of_port(&self, port: u16) -> Option<&ClientValidation> {
        let own = self.per_port.iter().find(|own| own.port == port);
        own.map_or(&self.default, |own| &own.tls).validation.as_ref()
    }

    /// Whether clients without a valid certificate are served at any port.
    pub(crate) fn falls_back(&self) -> bool {
        let all = std::iter::once(&self.default).chain(self.per_port.iter().map(|own| &own.tls));
        all.filter_map(|tls| tls.validation.as_ref()).any(ClientValidation::falls_back)
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct GatewayAddress {
    #[serde(rename = "type", default)]
    pub kind: AddressType,
    #[serde(default)]
    pub value: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "String")]
pub(crate) enum AddressType {
    #[default]
    IpAddress,
    Other(String),
}

impl From<String> for AddressType {
    fn from(written: String) -> Self {
        if written == "IPAddress" { AddressType::IpAddress } else { AddressType::Other(written) }
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listener {
    pub name: String,
    #[serde(default)]
    pub hostname: Option<String>,
    pub port: u16,
    pub protocol: String,
    #[serde(default)]
    pub tls: Option<ListenerTls>,
    #[serde(default)]
    pub allowed_routes: AllowedRoutes,
}

impl Listener {
    /// The host that it serves; `None` for any.
    pub(crate) fn host(&self) -> Option<&str> {
        self.hostname.as_deref().filter(|host| !host.is_empty())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ListenerTls {
    pub mode: Option<String>,
    pub certificate_refs: Vec<ObjectRef>,
}

impl ListenerTls {
    pub(crate) fn passes_through(&self) -> bool {
        self.mode.as_deref() == Some("Passthrough")
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct AllowedRoutes {
    pub namespaces: NamespaceFilter,
    pub kinds: Vec<RouteKind>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct NamespaceFilter {
    pub from: Option<NamespaceScope>,
    pub selector: LabelSelector,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) enum NamespaceScope {
    All,
    Selector,
    Same,
    None,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct LabelSelector {
    pub match_labels: BTreeMap<String, String>,
    pub match_expressions: Vec<LabelExpression>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct LabelExpression {
    pub key: String,
    pub operator: String,
    #[serde(default)]
    pub values: Vec<String>,
}

impl LabelSelector {
    pub(crate) fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        self.match_labels.iter().all(|(name, value)| labels.get(name) == Some(value))
            && self.match_expressions.iter().all(|expression| expression.selects(labels))
    }
}

impl LabelExpression {
    fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(&self.key);
        match self.operator.as_str() {
            "In" => value.is_some_and(|value| self.values.contains(value)),
            "NotIn" => !value.is_some_and(|value| self.values.contains(value)),
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            _ => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListenerSet {
    pub parent_ref: ParentRef,
    #[serde(default)]
    pub listeners: Vec<Listener>,
}
