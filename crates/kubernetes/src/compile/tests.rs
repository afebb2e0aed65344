//! Manifests in, and out what is said of them, in lines: what each listener and route becomes, and each condition with its reason.

mod attached;
mod attachment;
mod backends;
mod gateways;
mod ingress;
mod rules;
mod statuses;
mod tyk;

use super::{AddressPool, Compiled, IngressOptions, InstalledDefinitions, ListenerStates, ServeReport, Settings, compile};
use crate::cluster::{Change, Cluster};
use crate::objects::{Metadata, ResourceKind};
use serde_json::Value;
use std::fmt::Write;

pub(super) const NOW: &str = "2026-01-01T00:00:00Z";

/// A class, a gateway with one listener, and a service with two endpoints: what most cases stand on.
pub(crate) const BASE: &str = r#"
kind: GatewayClass
metadata: {name: tollgate}
spec: {controllerName: tollgate.dev/gateway-controller}
---
kind: Gateway
metadata: {name: gw, namespace: default}
spec:
  gatewayClassName: tollgate
  listeners: [{name: http, port: 80, protocol: HTTP}]
---
kind: Service
metadata: {name: echo, namespace: default}
spec: {ports: [{name: web, port: 8080}]}
---
kind: EndpointSlice
metadata: {name: echo-1, namespace: default, labels: {kubernetes.io/service-name: echo}}
addressType: IPv4
ports: [{name: web, port: 3000}]
endpoints: [{addresses: [10.1.0.1]}, {addresses: [10.1.0.2]}, {addresses: [10.1.0.3], conditions: {ready: false}}]
"#;

pub(super) fn settings() -> Settings {
    Settings {
        controller_name: "tollgate.dev/gateway-controller".to_owned(),
        pool: AddressPool(vec!["10.0.0.0/29".parse().unwrap()]),
        definitions: InstalledDefinitions { version: Some("v1.6.3".to_owned()), are_experimental: false },
        ingress: IngressOptions::default(),
    }
}

/// The cluster that manifests describe. Later ones replace earlier ones.
pub(super) fn cluster(manifests: &[&str]) -> Cluster {
    let mut cluster = Cluster::default();
    for manifest in manifests.iter().flat_map(|manifests| manifests.split("\n---\n")) {
        let mut object: Value = tollgate_text::yaml::read(manifest).unwrap_or_else(|error| panic!("{error}\n{manifest}"));
        let kind = object["kind"].as_str().unwrap_or_default().to_owned();
        let kind = ResourceKind::ALL.iter().copied().find(|known| known.name() == kind).unwrap_or_else(|| panic!("{kind}"));
        let mut metadata: Metadata = serde_json::from_value(object["metadata"].take()).unwrap();
        metadata.generation = metadata.generation.max(1);
        if let Change::Unreadable(why) = cluster.put(kind, metadata, object) {
            panic!("{why}");
        }
    }
    cluster
}

/// What follows from manifests.
pub(super) fn with<T>(manifests: &[&str], states: &ListenerStates, f: impl FnOnce(&Compiled<'_>, Vec<(String, Value)>) -> T) -> T {
    let (cluster, settings) = (cluster(manifests), settings());
    let compiled = compile(&cluster, &settings);
    let report = ServeReport { listeners: states.clone(), ..ServeReport::default() };
    let changes = compiled.status_changes(&report, NOW);
    let statuses = changes.into_iter().map(|change| (format!("{} {}", change.kind, change.key), change.status)).collect();
    f(&compiled, statuses)
}

/// The conditions of all objects but the class, in lines.
pub(super) fn conditions(manifests: &[&str]) -> String {
    with(manifests, &ListenerStates::new(), |_, statuses| {
        let mut lines = String::new();
        for (object, status) in statuses.iter().filter(|(object, _)| !object.starts_with("GatewayClass")) {
            add_conditions(&mut lines, object, status);
            for listener in list(status, "listeners") {
                let name = format!("  {} routes={}", text(listener, "name"), listener["attachedRoutes"]);
                add_conditions(&mut lines, &name, listener);
            }
            for parent in list(status, "parents") {
                let section = parent["parentRef"]["sectionName"].as_str().map(|name| format!("#{name}")).unwrap_or_default();
                add_conditions(&mut lines, &format!("  {}{section}", text(&parent["parentRef"], "name")), parent);
            }
            for ancestor in list(status, "ancestors") {
                add_conditions(&mut lines, &format!("  {}", text(&ancestor["ancestorRef"], "name")), ancestor);
            }
        }
        lines
    })
}

fn add_conditions(lines: &mut String, name: &str, status: &Value) {
    lines.push_str(name);
    for condition in list(status, "conditions") {
        let state = if condition["status"] == "True" { "+" } else { "-" };
        let (kind, reason) = (text(condition, "type"), text(condition, "reason"));
        let reason = if kind == reason { String::new() } else { format!(":{reason}") };
        write!(lines, " {state}{kind}{reason}").unwrap();
    }
    lines.push('\n');
}

/// The documents, in lines.
pub(super) fn documents(manifests: &[&str]) -> String {
    with(manifests, &ListenerStates::new(), |compiled, _| {
        let mut lines = String::new();
        for (name, listener) in &compiled.documents.listeners {
            writeln!(lines, "listener {name} {listener}").unwrap();
        }
        for (id, definition) in &compiled.documents.definitions {
            let route = &definition["tollgate"]["route"];
            writeln!(lines, "{id} {} {}", text(route, "kind"), text(route, "precedence")).unwrap();
            for attached in list(route, "attached") {
                writeln!(lines, "  at {} {}", text(attached, "listener"), attached["hosts"]).unwrap();
            }
            list(route, "rules").iter().for_each(|rule| writeln!(lines, "  {rule}").unwrap());
        }
        for (name, backend) in &compiled.documents.backends {
            writeln!(lines, "backend {name} {backend}").unwrap();
        }
        lines
    })
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

/// Compares lines without their indentation in the source.
#[track_caller]
pub(super) fn expect(actual: &str, expected: &str) {
    let mut lines: Vec<&str> = expected.lines().filter(|line| !line.trim().is_empty()).collect();
    let indentation = lines.iter().map(|line| line.len() - line.trim_start().len()).min().unwrap_or_default();
    lines.iter_mut().for_each(|line| *line = &line[indentation..]);
    assert_eq!(actual.trim_end(), lines.join("\n"), "\nis:\n{actual}");
}
