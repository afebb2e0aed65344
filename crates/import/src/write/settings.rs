//! The gateway's own configuration, and its listeners.

use super::{WrittenFile, file, merge, tidy};
use crate::files::NamedFiles;
use crate::plan::{Plan, PlannedCertificate, PlannedListener};
use crate::report::ImportReport;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Port of the gateway itself where the configuration names none without TLS.
const OWN_PORT: u16 = 8080;

/// What is listened to, and what each listener is called here.
pub(super) struct Sockets {
    own: Option<PlannedListener>,
    /// Listeners of the routing file.
    tables: Map<String, Value>,
    /// Names in the routing file by those of the plan; empty for the gateway's own port.
    names: BTreeMap<String, String>,
}

impl Sockets {
    pub(super) fn new(plan: &Plan, files: &mut NamedFiles, report: &mut ImportReport) -> Self {
        // Of several without TLS, the first is the gateway's own port.
        let own = plan.listeners.iter().find(|listener| !listener.is_tls).cloned();
        let mut sockets = Sockets { own, tables: Map::new(), names: BTreeMap::new() };
        for listener in &plan.listeners {
            if sockets.own.as_ref().is_some_and(|own| own.name == listener.name) {
                sockets.names.insert(listener.name.clone(), String::new());
                continue;
            }
            let certificates = certificates(listener, files, report);
            sockets.names.insert(listener.name.clone(), listener.name.clone());
            if listener.is_tls && certificates.is_empty() {
                continue;
            }
            let addresses: Vec<String> = listener.address.iter().map(ToString::to_string).collect();
            let written = json!({
                "addresses": addresses,
                "port": listener.port,
                "protocol": if listener.is_tls { "https" } else { "http" },
                "tls": { "certificates": certificates },
            });
            sockets.tables.insert(listener.name.clone(), tidy(written));
        }
        sockets
    }

    /// `attached` of a route.
    pub(super) fn attached(&self, listeners: &[String], hosts: &[String]) -> Value {
        let names: Vec<&String> = match listeners {
            [] => self.names.values().collect(),
            some => some.iter().filter_map(|name| self.names.get(name)).collect(),
        };
        let own = String::new();
        let names = if names.is_empty() { vec![&own] } else { names };
        Value::Array(names.into_iter().map(|name| tidy(json!({"listener": name, "hosts": hosts}))).collect())
    }
}

/// The PEM texts of a listener. A file that cannot be read here is reported.
fn certificates(listener: &PlannedListener, files: &mut NamedFiles, report: &mut ImportReport) -> Vec<String> {
    let mut list = Vec::new();
    for certificate in &listener.certificates {
        match certificate {
            PlannedCertificate::Pem(text) => list.push(text.clone()),
            PlannedCertificate::Files { certificate, key, place } => {
                let mut pem = |name: &str| files.read(&files.path(name)).map_err(|why| format!("{name} {why}"));
                let both = pem(certificate).and_then(|chain| {
                    let key = if key == certificate { String::new() } else { pem(key)? };
                    Ok(format!("{}\n{}", chain.trim_end(), key.trim_end()))
                });
                match both {
                    Ok(text) if text.contains("-----BEGIN") => list.push(text),
                    Ok(_) => report.not_carried(place, "certificate", format!("{certificate} and its key are not in PEM")),
                    Err(why) => report.not_carried(
                        place,
                        "certificate",
                        format!("{why}; the listener {} is opened once routing.json has it", listener.name),
                    ),
                }
            }
        }
    }
    list
}

/// The configuration and the routing file.
pub(super) fn files(plan: &Plan, sockets: &Sockets) -> Vec<WrittenFile> {
    let own = sockets.own.as_ref();
    let has_tables = !sockets.tables.is_empty();
    // Without TLS nothing is asked for but the control API.
    let only_tls = !plan.listeners.is_empty() && own.is_none();
    let address = own.and_then(|own| own.address).map(|address| address.to_string());
    let proxies: Vec<String> = plan.trusted_proxies.iter().map(ToString::to_string).collect();
    let connections = Some(plan.address_connections).filter(|most| *most > 0);
    let settings = json!({
        "listen_address": address.or_else(|| only_tls.then(|| "127.0.0.1".to_owned())),
        "listen_port": own.map_or(OWN_PORT, |own| own.port),
        "app_path": "apis/",
        "policies": { "policy_source": "file", "policy_path": "policies/" },
        "hash_keys": true,
        "hide_generator_header": true,
        "enable_jsvm": merge::is_needed(plan),
        "jsvm_timeout": merge::longest_s(plan),
        "middleware_path": merge::is_needed(plan).then_some(merge::SCRIPTS),
        "proxy_default_timeout": Some(plan.upstream_s).filter(|time| *time > 0),
        "http_server_options": { "enable_websockets": true, "max_request_body_size": plan.body_bytes_max },
        "tollgate": {
            "data_dir": "data/",
            "routing_file": has_tables.then_some("routing.json"),
            "rate_limit_headers": "ietf",
            "trusted_proxies": proxies,
            "client_ip_header": plan.client_header,
            "limits": { "connections_per_ip_max": connections },
            "timeouts": plan.timeouts,
        },
    });
    let mut written = vec![file("tyk.conf".to_owned(), tidy(settings))];
    if has_tables {
        let tables = file("routing.json".to_owned(), json!({"listeners": sockets.tables}));
        written.push(WrittenFile { is_secret: true, ..tables });
    }
    written
}
