//! The listeners of Ingresses, and those of gateways at the same address and port. The most specific host decides who gets a request; of one
//! host, the listener is the gateway's, and the rules of Ingresses are attached to it beside its own routes.

use super::draft::HostTerms;
use crate::compile::gateways::Gateways;
use crate::compile::hosts::overlap;
use crate::compile::listeners::{PortUse, Protocol};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The ports of Ingresses at their address.
pub(super) struct Sockets {
    address: IpAddr,
    http: Socket,
    https: Socket,
}

/// One port.
struct Socket {
    port: u16,
    /// The listeners of gateways there: id, and host unless it is any.
    shared: Vec<(String, Option<String>)>,
    /// Another protocol is spoken there.
    blocked: Option<String>,
}

// No namespace has a colon, so no listener of a gateway has such a name.
const HTTP: &str = "ingress:http";
const HTTPS: &str = "ingress:https";

impl Sockets {
    pub(super) fn of(gateways: &Gateways<'_>, address: IpAddr, (http, https): (u16, u16)) -> Self {
        let socket = |port: u16, protocol: Protocol| {
            let mut socket = Socket { port, shared: Vec::new(), blocked: None };
            let there =
                gateways.by_key.values().filter(|gateway| gateway.is_accepted() && gateway.addresses.bound.contains(&address));
            for listener in there.flat_map(|gateway| &gateway.listeners) {
                let Some(spoken) = listener.protocol.filter(|_| listener.is_served() && listener.written.port == port) else {
                    continue;
                };
                match spoken.of_port() {
                    PortUse::Datagrams => {}
                    _ if spoken == protocol => socket.shared.push((listener.id.clone(), listener.host())),
                    used if used == protocol.of_port() => {}
                    _ => socket.blocked = Some(format!("the listener {} has port {port} for another protocol", listener.id)),
                }
            }
            socket
        };
        Sockets { address, http: socket(http, Protocol::Http), https: socket(https, Protocol::Https) }
    }

    /// Why Ingresses are not served at a port.
    pub(super) fn blocked(&self) -> impl Iterator<Item = &str> {
        [&self.http, &self.https].into_iter().filter_map(|socket| socket.blocked.as_deref())
    }

    /// The port in a location that redirects to https.
    pub(super) fn https_port(&self) -> u16 {
        self.https.port
    }

    /// The listeners of Ingresses alone. `default` is the certificate for hosts that have none.
    pub(super) fn documents(&self, hosts: &BTreeMap<String, HostTerms>, default: Option<&str>) -> BTreeMap<String, Value> {
        let mut documents = BTreeMap::new();
        let addresses = json!([self.address.to_string()]);
        if self.http.blocked.is_none() && self.http.is_free(None) {
            documents.insert(HTTP.to_owned(), json!({"addresses": addresses, "port": self.http.port, "protocol": "http"}));
        }
        if self.https.blocked.is_some() {
            return documents;
        }
        let secure = |tls: Value| json!({"addresses": addresses, "port": self.https.port, "protocol": "https", "tls": tls});
        if let Some(certificate) = default.filter(|_| self.https.is_free(None)) {
            documents.insert(HTTPS.to_owned(), secure(json!({"certificates": [certificate]})));
        }
        for (host, terms) in hosts.iter().filter(|(host, _)| self.https.is_free(Some(host))) {
            if terms.passes_tls {
                let tls = json!({"passthrough": true});
                let document =
                    json!({"addresses": addresses, "port": self.https.port, "protocol": "tls", "host": host, "tls": tls});
                documents.insert(own_tls(host), document);
                continue;
            }
            let certificate = terms.tls.as_ref().and_then(|tls| tls.as_deref().ok());
            let Some(certificate) = certificate.or_else(|| default.filter(|_| terms.needs_own_listener())) else { continue };
            let mut tls = json!({"certificates": [certificate]});
            if let (Some(authorities), Value::Object(members)) = (&terms.client_authorities, &mut tls) {
                members.insert("client_certificates".to_owned(), json!({"authorities": [authorities]}));
            }
            let mut document = secure(tls);
            if let Value::Object(members) = &mut document {
                members.insert("host".to_owned(), json!(host));
            }
            documents.insert(own_https(host), document);
        }
        documents
    }

    /// Where requests for some hosts come from: those without TLS, those with it. An empty host is any.
    pub(super) fn listeners(&self, hosts: &[String], terms: &BTreeMap<String, HostTerms>) -> (Vec<String>, Vec<String>) {
        let mut http = self.http.listeners(HTTP, hosts);
        // With certificates of clients, only the host's own listener asks for them. Where TLS passes, there are no requests.
        let passes = |host: &String| terms.get(host).is_some_and(|terms| terms.passes_tls);
        let is_open = |host: &&String| !passes(host) && !terms.get(*host).is_some_and(HostTerms::needs_own_listener);
        let open: Vec<String> = hosts.iter().filter(is_open).cloned().collect();
        let mut https = if open.is_empty() { Vec::new() } else { self.https.listeners(HTTPS, &open) };
        https.extend(hosts.iter().filter(|host| !host.is_empty() && !passes(host)).map(|host| own_https(host)));
        http.dedup();
        https.dedup();
        (http, https)
    }

    /// Whether a gateway has the listener of a host with TLS.
    pub(super) fn is_gateways(&self, host: &str) -> bool {
        !self.https.is_free(Some(host))
    }
}

impl Socket {
    /// Whether no gateway has a listener for a host here.
    fn is_free(&self, host: Option<&str>) -> bool {
        !self.shared.iter().any(|(_, taken)| taken.as_deref() == host)
    }

    /// The listener of Ingresses for any host, and those of gateways that get requests for some hosts.
    fn listeners(&self, own: &str, hosts: &[String]) -> Vec<String> {
        let shared = self.shared.iter().filter(|(_, host)| match host {
            None => true,
            Some(host) => hosts.iter().any(|own| !own.is_empty() && overlap(std::slice::from_ref(own), std::slice::from_ref(host))),
        });
        std::iter::once(own.to_owned()).chain(shared.map(|(id, _)| id.clone())).collect()
    }
}

/// Whether a listener is one of Ingresses.
pub(super) fn is_own(listener: &str) -> bool {
    listener.starts_with("ingress:")
}

/// The host of a listener that is for one alone.
pub(super) fn host_of(listener: &str) -> Option<&str> {
    listener.strip_prefix(HTTPS)?.strip_prefix('/')
}

/// The listener of a host whose TLS ends at a backend.
pub(super) fn own_tls(host: &str) -> String {
    format!("ingress:tls/{host}")
}

fn own_https(host: &str) -> String {
    format!("{HTTPS}/{host}")
}
