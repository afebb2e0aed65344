//! KrakenD's configuration: endpoints with their backends, and `extra_config` at each level, by its present and its former names.

mod bodies;
mod endpoint;
mod extra;
mod martian;
mod settings;

use crate::files::{ImportFailure, NamedFiles};
use crate::node::{Member, Node};
use crate::plan::{Plan, PlannedAction, PlannedCertificate, PlannedListener, PlannedMatch, PlannedPath, PlannedRoute};
use crate::report::{ImportReport, Place};
use crate::tree::read_yaml;
use crate::unread;
use serde_json::Value;
use std::path::PathBuf;

/// Where KrakenD listens unless told otherwise.
const PORT: u16 = 8080;

/// What is otherwise at every endpoint.
const ENDPOINTS: &str = "responses keep the status and the headers of the backend, also those of errors; backends do not get \
                         KrakenD's own User-Agent";

/// Where KrakenD says that it is well.
const HEALTH: &str = "/__health";

/// What becomes of parts of seconds.
const WHOLE_SECONDS: &str = "rounded up to whole seconds";

/// The file and what holds for all endpoints.
struct KrakendReader<'r> {
    file: PathBuf,
    report: &'r mut ImportReport,
    hosts: Vec<String>,
    timeout_ms: u64,
    /// For which clients may keep responses.
    cache_ms: u64,
    /// Of endpoints that have none of their own.
    output_encoding: String,
    /// The endpoint that is read, with the types of its values. Nothing, if the file is not in JSON.
    endpoint: Value,
}

impl KrakendReader<'_> {
    fn place(&self, line: usize) -> Place {
        Place::new(&self.file, line)
    }

    /// Settings of servers and clients that the gateway has itself.
    fn is_own(&mut self, member: &Member, path: &str) -> bool {
        let how = match member.key.as_str() {
            "$schema" | "version" | "name" | "id" | "@comment" | "comment" => {
                let place = self.place(member.line);
                match member.key.as_str() {
                    "version" => {
                        member.node.whole();
                    }
                    _ => {
                        member.node.text();
                    }
                }
                self.report.carried(&place, format!("{path}{}", member.key));
                return true;
            }
            key if key.starts_with('@') || key.starts_with('_') => "a comment",
            "read_timeout"
            | "write_timeout"
            | "idle_timeout"
            | "read_header_timeout"
            | "dialer_timeout"
            | "dialer_keep_alive"
            | "dialer_fallback_delay"
            | "response_header_timeout"
            | "expect_continue_timeout"
            | "max_idle_connections"
            | "max_idle_connections_per_host"
            | "idle_connection_timeout"
            | "disable_keep_alives"
            | "disable_compression"
            | "max_header_bytes"
            | "max_shutdown_wait_time" => "the gateway's own limits of time and connections",
            "debug_endpoint" | "echo_endpoint" => "the control API answers questions",
            "sequential_start" | "use_h2c" | "dns_cache_ttl" | "disable_rest" | "concurrent_calls" => "the gateway's own way",
            "output_encoding" if ["json", "json-collection", "no-op"].contains(&member.node.text()) => {
                let place = self.place(member.line);
                self.report.carried(&place, format!("{path}{}", member.key));
                return true;
            }
            "disable_host_sanitize" if member.node.is_true() || member.node.is_false() => {
                let place = self.place(member.line);
                self.report.built_in(&place, format!("{path}{}", member.key), "hosts with and without a scheme are taken");
                return true;
            }
            "output_encoding" | "encoding" => "responses pass as the backend sends them; shapes need JSON",
            "sd_scheme" => "hosts are taken as they are",
            _ => return false,
        };
        let place = self.place(member.line);
        self.report.approximated(&place, format!("{path}{}", member.key), how);
        true
    }
}

/// Reads the file into the plan.
pub(crate) fn read(text: &str, files: &NamedFiles, plan: &mut Plan, report: &mut ImportReport) -> Result<(), ImportFailure> {
    if text.trim_start().starts_with("{{") || text.contains("{{ ") && text.contains(" }}") {
        return Err(files.failure("is a template: give what KrakenD makes of it (FC_OUT)"));
    }
    let mut root = read_yaml(text, files)?;
    settings::use_present_names(&mut root);
    if !root.is_map() {
        return Err(files.failure("is no object with endpoints"));
    }
    let port = root.get("port").up_to(65_535).filter(|port| *port > 0).map_or(PORT, |port| port as u16);
    let address = root.get("listen_ip").address();
    let mut listener = PlannedListener { name: "main".to_owned(), address, port, ..PlannedListener::default() };
    let mut reader = KrakendReader {
        file: files.first().to_owned(),
        report,
        hosts: root.get("host").hosts_of_backends(),
        timeout_ms: root.get("timeout").duration_ms().unwrap_or(2_000),
        cache_ms: root.get("cache_ttl").duration_ms().unwrap_or_default(),
        output_encoding: root.get("output_encoding").text().to_owned(),
        endpoint: Value::Null,
    };
    let mut tls_closes = None;
    for member in root.members() {
        let place = reader.place(member.line);
        match member.key.as_str() {
            "timeout" if !reader.timeout_ms.is_multiple_of(1_000) => reader.report.approximated(&place, "timeout", WHOLE_SECONDS),
            "port" | "listen_ip" | "host" | "timeout" | "extra_config" => reader.report.carried(&place, member.key.clone()),
            "endpoints" => {
                reader.report.carried(&place, "endpoints");
                reader.report.approximated(&place, "endpoints.headers", ENDPOINTS);
            }
            "tls" => tls_closes = tls(&member.node, &mut listener, &mut reader),
            "cache_ttl" => reader.report.carried(&place, "cache_ttl"),
            "async_agent" | "plugin" | "client_tls" | "sd" => {
                reader.report.not_carried(&place, member.key.clone(), "has no counterpart")
            }
            _ if reader.is_own(member, "") => {}
            _ => reader.report.not_carried(&place, member.key.clone(), "is not known to the importer"),
        }
    }
    plan.listeners.push(listener);
    let mut document: Value = serde_json::from_str(text).unwrap_or_default();
    for (index, node) in root.get("endpoints").objects().iter().enumerate().filter(|(_, node)| node.is_map()) {
        reader.endpoint = document.pointer_mut(&format!("/endpoints/{index}")).map(Value::take).unwrap_or_default();
        endpoint::read(node, plan, &mut reader)?;
    }
    extra::of_service(root.get("extra_config"), plan, &mut reader);
    if let Some(why) = tls_closes {
        plan.routes.iter_mut().for_each(|route| route.closed.push(why.clone()));
    }
    let has_endpoints = !plan.routes.is_empty();
    health(root.get("extra_config").find("router"), plan, &mut reader);
    unread::complete(&root, files, report)?;
    if !has_endpoints {
        return Err(files.failure("has no endpoints"));
    }
    Ok(())
}

/// The endpoint for probes that KrakenD has by itself.
fn health(router: Option<&Node>, plan: &mut Plan, reader: &mut KrakendReader<'_>) {
    let setting = |name: &str| router.map_or(Node::nothing(), |router| router.get(name));
    if setting("disable_health").is_true() {
        return;
    }
    let path = match setting("health_path") {
        path if path.is_empty() => HEALTH,
        path => match path.path() {
            Some(path) => path,
            None => return,
        },
    };
    let place = reader.place(router.map_or(1, |router| router.line));
    reader.report.carried(&place, path);
    plan.add(PlannedRoute {
        name: format!("GET {path}"),
        place,
        matches: vec![PlannedMatch {
            path: PlannedPath::Exact(path.to_owned()),
            method: "GET".to_owned(),
            ..PlannedMatch::default()
        }],
        action: PlannedAction::Answer {
            status: 200,
            body: "{\"status\":\"ok\"}".to_owned(),
            headers: vec![("Content-Type".to_owned(), "application/json; charset=utf-8".to_owned())],
        },
        ..PlannedRoute::default()
    });
}

/// The result is why all endpoints must refuse.
fn tls(node: &Node, listener: &mut PlannedListener, reader: &mut KrakendReader<'_>) -> Option<String> {
    let place = reader.place(node.line);
    if node.get("disabled").is_true() {
        node.settle();
        reader.report.carried(&place, "tls");
        return None;
    }
    listener.is_tls = true;
    let alone = std::slice::from_ref(node);
    let keys = node.get("keys").items();
    for pair in if keys.is_empty() { alone } else { keys } {
        let (certificate, key) = (pair.get("public_key").text().to_owned(), pair.get("private_key").text().to_owned());
        listener.certificates.push(PlannedCertificate::Files { certificate, key, place: place.clone() });
    }
    if node.get("enable_mtls").is_true() {
        let why = "certificates of clients are not asked for";
        reader.report.unprotected(&place, "tls.enable_mtls", why);
        return Some(format!("tls.enable_mtls at line {}: {why}", node.line));
    }
    reader.report.carried(&place, "tls");
    None
}
