//! One listener: what it speaks, which routes it lets in, its certificates, and what is said of it.

use super::certificates::{ReasonNames, authorities, key_pair};
use super::grants::Referrer;
use crate::cluster::Cluster;
use crate::conditions::Fault;
use crate::objects::{
    ClientValidation, GATEWAY_GROUP, Gateway, Key, Listener, NamespaceFilter, NamespaceScope, Object, ResourceKind,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::IpAddr;

const CERTIFICATE_REASONS: ReasonNames = ReasonNames { invalid: "InvalidCertificateRef", invalid_kind: "InvalidCertificateRef" };
const AUTHORITY_REASONS: ReasonNames = ReasonNames { invalid: "InvalidCACertificateRef", invalid_kind: "InvalidCACertificateKind" };

/// What is spoken at a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Http,
    Https,
    TlsPassthrough,
    TlsTerminate,
    Tcp,
    Udp,
}

impl Protocol {
    fn of(listener: &Listener) -> Option<Self> {
        let passes = listener.tls.as_ref().is_some_and(|tls| tls.passes_through());
        Some(match listener.protocol.as_str() {
            "HTTP" => Protocol::Http,
            "HTTPS" => Protocol::Https,
            "TLS" if passes => Protocol::TlsPassthrough,
            "TLS" => Protocol::TlsTerminate,
            "TCP" => Protocol::Tcp,
            "UDP" => Protocol::Udp,
            _ => return None,
        })
    }

    /// The kinds of routes that it can serve.
    fn kinds(self) -> &'static [ResourceKind] {
        match self {
            Protocol::Http | Protocol::Https => &[ResourceKind::HttpRoute, ResourceKind::GrpcRoute],
            Protocol::TlsPassthrough | Protocol::TlsTerminate => &[ResourceKind::TlsRoute],
            Protocol::Tcp => &[ResourceKind::TcpRoute],
            Protocol::Udp => &[ResourceKind::UdpRoute],
        }
    }

    /// The protocols that share ports have the same.
    pub(super) fn of_port(self) -> PortUse {
        match self {
            Protocol::Http => PortUse::Plain,
            Protocol::Https | Protocol::TlsPassthrough | Protocol::TlsTerminate => PortUse::Secure,
            Protocol::Tcp => PortUse::Bytes,
            Protocol::Udp => PortUse::Datagrams,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Protocol::Http => "http",
            Protocol::Https => "https",
            Protocol::TlsPassthrough | Protocol::TlsTerminate => "tls",
            Protocol::Tcp => "tcp",
            Protocol::Udp => "udp",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PortUse {
    Plain,
    Secure,
    Bytes,
    Datagrams,
}

/// A listener of a gateway, or one that a listener set adds to it.
pub(super) struct CompiledListener<'c> {
    /// Among the documents.
    pub id: String,
    /// The set that it comes from; `None` for the gateway's own.
    pub set: Option<Key>,
    pub written: &'c Listener,
    /// `None` if it is one that nobody here speaks.
    pub protocol: Option<Protocol>,
    /// The kinds of routes that it lets in.
    pub kinds: Vec<ResourceKind>,
    pub rejected: Option<Fault>,
    pub conflict: Option<Fault>,
    pub unresolved: Option<Fault>,
    /// What keeps it from being served, beside the others.
    pub unusable: Option<Fault>,
    tls: Value,
    /// The routes that are attached to it.
    pub attached: BTreeSet<(ResourceKind, Key)>,
}

impl<'c> CompiledListener<'c> {
    /// `owner` is the gateway or the listener set that it is written in.
    pub(super) fn new(cluster: &Cluster, gateway: &Object<Gateway>, set: Option<&Key>, written: &'c Listener) -> Self {
        let gateway_key = gateway.metadata.key();
        let id = match set {
            None => format!("{gateway_key}/{}", written.name),
            Some(set) => format!("{gateway_key}/{set}/{}", written.name),
        };
        let protocol = Protocol::of(written);
        let mut listener = CompiledListener {
            id,
            set: set.cloned(),
            written,
            protocol,
            kinds: protocol.map(|protocol| protocol.kinds().to_vec()).unwrap_or_default(),
            rejected: None,
            conflict: None,
            unresolved: None,
            unusable: None,
            tls: Value::Null,
            attached: BTreeSet::new(),
        };
        if protocol.is_none() {
            let message = format!("The protocol {} is not supported", written.protocol);
            listener.rejected = Some(Fault::new("UnsupportedProtocol", message));
        }
        let owner = match set {
            None => Referrer { kind: "Gateway", namespace: &gateway.metadata.namespace },
            Some(set) => Referrer { kind: "ListenerSet", namespace: &set.namespace },
        };
        listener.resolve_tls(cluster, gateway, owner);
        listener.limit_kinds();
        listener
    }

    fn limit_kinds(&mut self) {
        let wanted = &self.written.allowed_routes.kinds;
        if wanted.is_empty() {
            return;
        }
        let supported = std::mem::take(&mut self.kinds);
        for kind in wanted {
            let known = supported.iter().find(|supported| kind.group == GATEWAY_GROUP && supported.name() == kind.kind);
            match known {
                Some(known) => self.kinds.push(*known),
                None => {
                    let message = format!("Routes of the kind {}/{} are not supported here", kind.group, kind.kind);
                    self.unresolved.get_or_insert_with(|| Fault::new("InvalidRouteKinds", message));
                }
            }
        }
        if self.kinds.is_empty() {
            self.unusable = Some(Fault::new("Invalid", "It lets in no kind of routes that is supported"));
        }
    }

    fn resolve_tls(&mut self, cluster: &Cluster, gateway: &Object<Gateway>, owner: Referrer<'_>) {
        let Some(protocol @ (Protocol::Https | Protocol::TlsPassthrough | Protocol::TlsTerminate)) = self.protocol else { return };
        if protocol == Protocol::TlsPassthrough {
            self.tls = json!({"passthrough": true});
            return;
        }
        let references = self.written.tls.as_ref().map(|tls| tls.certificate_refs.as_slice()).unwrap_or_default();
        let mut certificates = Vec::new();
        for reference in references {
            match key_pair(cluster, owner, reference, &CERTIFICATE_REASONS) {
                Ok(text) => certificates.push(text),
                Err(fault) => {
                    self.unresolved.get_or_insert(fault);
                }
            }
        }
        if certificates.is_empty() {
            let missing = || Fault::new("InvalidCertificateRef", "It has no certificate");
            self.unresolved.get_or_insert_with(missing);
            self.unusable = Some(Fault::new("Invalid", "It has no certificate that can be used"));
        }
        self.tls = json!({"certificates": certificates});
        let validation = gateway.spec.tls.frontend.as_ref().and_then(|frontend| frontend.of_port(self.written.port));
        if let Some(validation) = validation.filter(|_| protocol == Protocol::Https) {
            self.resolve_clients(cluster, gateway, validation);
        }
    }

    fn resolve_clients(&mut self, cluster: &Cluster, gateway: &Object<Gateway>, validation: &ClientValidation) {
        let from = Referrer { kind: "Gateway", namespace: &gateway.metadata.namespace };
        let mut found = Vec::new();
        for reference in &validation.ca_certificate_refs {
            match authorities(cluster, from, reference, &AUTHORITY_REASONS) {
                Ok(text) => found.push(text),
                Err(fault) => {
                    self.unresolved.get_or_insert(fault);
                }
            }
        }
        if found.is_empty() {
            self.rejected = Some(Fault::new("NoValidCACertificate", "No certificate of an authority for clients can be used"));
        }
        if let Value::Object(tls) = &mut self.tls {
            tls.insert(
                "client_certificates".to_owned(),
                json!({"authorities": found, "insecure_fallback": validation.falls_back()}),
            );
        }
    }

    /// Whether two listeners cannot stand side by side.
    pub(super) fn conflict_with(&self, other: &CompiledListener<'_>) -> Option<Fault> {
        let (own, others) = (self.protocol?, other.protocol?);
        let are_datagrams = [own, others].map(|protocol| protocol.of_port() == PortUse::Datagrams);
        if self.written.port != other.written.port || are_datagrams[0] != are_datagrams[1] {
            return None;
        }
        let port = self.written.port;
        if own.of_port() != others.of_port() {
            let message = format!("Port {port} is used for another protocol by the listener {}", other.written.name);
            return Some(Fault::new("ProtocolConflict", message));
        }
        let has_hosts = matches!(own.of_port(), PortUse::Plain | PortUse::Secure);
        if !has_hosts {
            return Some(Fault::new("ProtocolConflict", format!("Port {port} is used by the listener {}", other.written.name)));
        }
        let is_same_host = self.host() == other.host();
        is_same_host
            .then(|| Fault::new("HostnameConflict", format!("The listener {} has the same port and host", other.written.name)))
    }

    pub(super) fn host(&self) -> Option<String> {
        let has_host = !matches!(self.protocol, Some(Protocol::Tcp | Protocol::Udp));
        self.written.host().filter(|_| has_host).map(str::to_ascii_lowercase)
    }

    /// Whether it is one that clients can be served at.
    pub(super) fn is_served(&self) -> bool {
        self.rejected.is_none() && self.conflict.is_none() && self.unusable.is_none()
    }

    /// Whether routes of a kind may be attached from a namespace.
    pub(super) fn lets_in(&self, cluster: &Cluster, kind: ResourceKind, from: &str, owner: &str) -> bool {
        self.kinds.contains(&kind) && selects(&self.written.allowed_routes.namespaces, cluster, from, owner, NamespaceScope::Same)
    }

    /// What the gateway gets of it.
    pub(super) fn document(&self, addresses: &[IpAddr]) -> Option<Value> {
        let protocol = self.protocol.filter(|_| self.is_served() && !addresses.is_empty())?;
        let addresses: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
        let mut document = json!({"addresses": addresses, "port": self.written.port, "protocol": protocol.name()});
        if let Value::Object(members) = &mut document {
            members.extend(self.host().map(|host| ("host".to_owned(), json!(host))));
            members.extend(Some(("tls".to_owned(), self.tls.clone())).filter(|(_, tls)| !tls.is_null()));
        }
        Some(document)
    }
}

/// Whether a filter lets objects of a namespace in, for an owner in another one.
pub(super) fn selects(filter: &NamespaceFilter, cluster: &Cluster, from: &str, owner: &str, usual: NamespaceScope) -> bool {
    match filter.from.unwrap_or(usual) {
        NamespaceScope::All => true,
        NamespaceScope::Same => from == owner,
        NamespaceScope::None => false,
        NamespaceScope::Selector => {
            let namespace = cluster.namespaces.get(&Key::new("", from));
            namespace.is_some_and(|namespace| filter.selector.selects(&namespace.metadata.labels))
        }
    }
}
