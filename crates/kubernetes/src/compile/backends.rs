//! Backends: from a reference to a service's port, its protocol, its TLS and its endpoints.

use super::grants::{Referent, Referrer, is_granted};
use super::policies::{CompiledPolicy, Policies};
use crate::cluster::Cluster;
use crate::conditions::Fault;
use crate::objects::{Endpoint, EndpointSlice, Key, Metadata, Object, ObjectRef, Service, ServicePort};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The label of a slice that names its service.
const SERVICE_LABEL: &str = "kubernetes.io/service-name";

/// What a route sends to a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Traffic {
    Http,
    Grpc,
    /// Connections whose TLS ends here.
    Terminated,
    Bytes,
    Datagrams,
}

/// The certificate that a gateway shows to backends.
#[derive(Clone, Copy)]
pub(super) struct OwnCertificate<'r> {
    pub gateway: &'r Key,
    pub text: &'r str,
}

pub(super) struct Backends<'c> {
    cluster: &'c Cluster,
    slices: BTreeMap<(&'c str, &'c str), Vec<&'c EndpointSlice>>,
    table: BTreeMap<String, Value>,
    /// The gateways that send requests to a service.
    pub users: BTreeMap<Key, BTreeSet<Key>>,
}

/// What a reference leads to.
pub(super) struct ResolvedBackend {
    /// In the table; one that is not there stands for an invalid reference.
    pub name: String,
    pub service: Option<Key>,
    pub document: Option<Value>,
    pub fault: Option<Fault>,
}

impl<'c> Backends<'c> {
    pub(super) fn new(cluster: &'c Cluster) -> Self {
        let mut slices: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for slice in cluster.endpoint_slices.values() {
            if let Some(service) = slice.metadata.labels.get(SERVICE_LABEL) {
                slices.entry((slice.metadata.namespace.as_str(), service.as_str())).or_default().push(&slice.spec);
            }
        }
        Backends { cluster, slices, table: BTreeMap::new(), users: BTreeMap::new() }
    }

    /// Adds backends that a route uses, which is attached to gateways.
    pub(super) fn add(&mut self, used: &UsedBackends, gateways: &BTreeSet<Key>) {
        self.table.extend(used.documents.iter().map(|(name, document)| (name.clone(), document.clone())));
        for service in &used.services {
            self.users.entry(service.clone()).or_default().extend(gateways.iter().cloned());
        }
    }

    pub(super) fn documents(&self) -> BTreeMap<String, Value> {
        self.table.clone()
    }

    /// Looks a backend up.
    pub(super) fn resolve(
        &self,
        policies: &Policies<'c>,
        from: Referrer<'_>,
        to: &ObjectRef,
        port: Option<u16>,
        traffic: Traffic,
        certificate: Option<OwnCertificate<'_>>,
    ) -> ResolvedBackend {
        let namespace = to.namespace_from(from.namespace);
        let key = Key::new(namespace, &to.name);
        let number = port.map(|port| format!(":{port}")).unwrap_or_default();
        let kind = to.kind_or("Service");
        let invalid = |fault: Fault| ResolvedBackend {
            name: format!("invalid:{key}{number}"),
            service: None,
            document: None,
            fault: Some(fault),
        };
        if !to.group.is_empty() || kind != "Service" {
            return invalid(Fault::new("InvalidKind", format!("{}/{kind} is not supported: refer to a Service", to.group)));
        }
        if !is_granted(self.cluster, from, Referent { group: "", kind: "Service", namespace, name: &to.name }) {
            return invalid(Fault::new("RefNotPermitted", format!("No ReferenceGrant allows a reference to the Service {key}")));
        }
        let Some(service) = self.cluster.services.get(&key) else {
            return invalid(Fault::new("BackendNotFound", format!("The Service {key} does not exist")));
        };
        if service.spec.kind == "ExternalName" {
            let message = format!("The Service {key} is an ExternalName, which is not supported");
            return invalid(Fault::new("UnsupportedProtocol", message));
        }
        let protocol = if traffic == Traffic::Datagrams { "UDP" } else { "TCP" };
        let speaks = |port: &&ServicePort| if port.protocol.is_empty() { protocol == "TCP" } else { port.protocol == protocol };
        let numbered = || service.spec.ports.iter().filter(|candidate| Some(candidate.port) == port);
        let Some(service_port) = numbered().find(speaks) else {
            let is_other = numbered().next().is_some();
            let reason = if is_other { "UnsupportedProtocol" } else { "BackendNotFound" };
            return invalid(Fault::new(reason, format!("The Service {key} has no {protocol} port {}", port.unwrap_or_default())));
        };
        let policy = policies.of_port(&key, &service_port.name).filter(|_| traffic < Traffic::Bytes);
        let spoken = match protocol_of(traffic, service_port, policy.is_some()) {
            Ok(spoken) => spoken,
            Err(fault) => return invalid(fault),
        };
        let certificate = certificate.filter(|_| policy.is_some());
        let suffix = if spoken == "http" { String::new() } else { format!("/{spoken}") };
        let by = certificate.map(|certificate| format!("@{}", certificate.gateway)).unwrap_or_default();
        let document = self.document(service, service_port, spoken, policy, certificate);
        ResolvedBackend { name: format!("{key}{number}{suffix}{by}"), service: Some(key), document: Some(document), fault: None }
    }

    /// A port of a service that is spoken to with TLS, as `tls` says. `name` is the backend's in the table.
    pub(super) fn secure(&self, key: &Key, port: u16, tls: Map<String, Value>, name: String) -> Result<ResolvedBackend, Fault> {
        let missing = || Fault::new("BackendNotFound", format!("The Service {key} does not exist, or has no port {port}"));
        let service = self.cluster.services.get(key).ok_or_else(missing)?;
        let service_port = service.spec.ports.iter().find(|candidate| candidate.port == port).ok_or_else(missing)?;
        let mut document = self.document(service, service_port, "https", None, None);
        if let Value::Object(members) = &mut document {
            members.insert("tls".to_owned(), Value::Object(tls));
        }
        Ok(ResolvedBackend { name, service: Some(key.clone()), document: Some(document), fault: None })
    }

    fn document(
        &self,
        service: &Object<Service>,
        port: &ServicePort,
        protocol: &str,
        policy: Option<&CompiledPolicy<'_>>,
        certificate: Option<OwnCertificate<'_>>,
    ) -> Value {
        let mut document = Map::new();
        document.insert("protocol".to_owned(), json!(protocol));
        document.insert("endpoints".to_owned(), Value::Array(self.endpoints(&service.metadata, &service.spec, port)));
        if let Some(policy) = policy {
            let mut tls = policy.tls.clone();
            tls.extend(certificate.map(|certificate| ("certificate".to_owned(), json!(certificate.text))));
            document.insert("tls".to_owned(), Value::Object(tls));
            if let Some(fault) = &policy.rejected {
                let why = format!("BackendTLSPolicy {}: {}", policy.object.metadata.key(), fault.message);
                document.insert("broken".to_owned(), json!(why));
            }
        }
        Value::Object(document)
    }

    /// The endpoints of one family: those that are ready, or if there are none, those that still serve while they end.
    fn endpoints(&self, metadata: &Metadata, service: &Service, port: &ServicePort) -> Vec<Value> {
        let slices = self.slices.get(&(metadata.namespace.as_str(), metadata.name.as_str())).map(Vec::as_slice).unwrap_or_default();
        let families =
            if service.ip_families.first().is_some_and(|family| family == "IPv6") { ["IPv6", "IPv4"] } else { ["IPv4", "IPv6"] };
        let is_ready = |endpoint: &Endpoint| endpoint.conditions.ready != Some(false);
        let still_serves =
            |endpoint: &Endpoint| endpoint.conditions.serving == Some(true) && endpoint.conditions.terminating == Some(true);
        let found = families.into_iter().flat_map(|family| [(family, true), (family, false)]).map(|(family, ready)| {
            let mut found = BTreeSet::new();
            for slice in slices.iter().filter(|slice| slice.address_type == family) {
                let number = slice.ports.iter().find(|candidate| candidate.name == port.name).and_then(|port| port.port);
                let endpoints =
                    slice.endpoints.iter().filter(|endpoint| if ready { is_ready(endpoint) } else { still_serves(endpoint) });
                let addresses = endpoints.filter_map(|endpoint| endpoint.addresses.first());
                found.extend(number.into_iter().flat_map(|number| addresses.clone().map(move |address| (address, number))));
            }
            found
        });
        let found = found.into_iter().find(|found| !found.is_empty()).unwrap_or_default();
        found.into_iter().map(|(address, port)| json!({"address": address, "port": port})).collect()
    }
}

/// The backends that one route uses.
#[derive(Default)]
pub(super) struct UsedBackends {
    pub documents: BTreeMap<String, Value>,
    pub services: BTreeSet<Key>,
}

/// What is spoken with a backend.
fn protocol_of(traffic: Traffic, port: &ServicePort, is_tls: bool) -> Result<&'static str, Fault> {
    let written = port.app_protocol.as_deref().unwrap_or_default();
    let unsupported =
        || Fault::new("UnsupportedProtocol", format!("The protocol {written} of port {} is not supported here", port.port));
    match traffic {
        Traffic::Datagrams => Ok("udp"),
        Traffic::Bytes => Ok("tcp"),
        Traffic::Terminated => Ok(if is_tls { "tls" } else { "tcp" }),
        Traffic::Http | Traffic::Grpc if is_tls => Ok("https"),
        Traffic::Http => match written {
            "kubernetes.io/h2c" => Ok("h2c"),
            "kubernetes.io/ws" => Ok("http"),
            written if written.starts_with("kubernetes.io/") => Err(unsupported()),
            _ => Ok("http"),
        },
        Traffic::Grpc => match written {
            "kubernetes.io/h2c" => Ok("h2c"),
            written if written.starts_with("kubernetes.io/") => Err(unsupported()),
            _ => Ok("h2c"),
        },
    }
}
