//! The rules of one Ingress.

use super::backend_place::BackendPlace;
use super::canary::{self, CanaryPath};
use super::draft::{HostTerms, IngressDraft};
use super::hosts::{is_host, of_rule, other_www};
use super::paths;
use super::report::ReportOutcome;
use super::secrets::backend_tls;
use super::settings::IngressSettings;
use crate::cluster::Cluster;
use crate::compile::backends::{Backends, Traffic, UsedBackends};
use crate::compile::grants::Referrer;
use crate::compile::policies::Policies;
use crate::compile::rule_context::RuleContext;
use crate::objects::{IngressBackend, IngressPort, Key, ObjectRef};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A rule before it is known where requests come from.
pub(super) struct DraftRule {
    /// As Ingresses have them; empty for any.
    pub hosts: Vec<String>,
    pub matched: Value,
    /// What it does.
    pub members: Map<String, Value>,
}

/// What rules are made with.
pub(super) struct RuleMaker<'r, 'c> {
    pub cluster: &'c Cluster,
    pub backends: &'r Backends<'c>,
    pub policies: &'r Policies<'c>,
    pub hosts: &'r BTreeMap<String, HostTerms>,
    /// By namespace, host and path.
    pub canaries: &'r BTreeMap<(String, String, String), CanaryPath<'c>>,
    pub used: UsedBackends,
    /// Whether services of type ExternalName are served.
    pub serves_external_names: bool,
}

impl<'c> RuleMaker<'_, 'c> {
    /// The rules of an Ingress, most of them one for each path.
    pub(super) fn rules(&mut self, draft: &mut IngressDraft<'c>) -> Vec<DraftRule> {
        let mut rules = Vec::new();
        let object = draft.object;
        if let Some(target) = draft.settings.app_root.clone() {
            let location = format!("{{scheme}}://{{host}}{target}");
            let members = Map::from_iter([("redirect".to_owned(), json!({"location": location, "status": 302}))]);
            rules.push(DraftRule { hosts: draft.named_hosts(), matched: json!({"path": {"exact": "/"}}), members });
        }
        for (index, rule) in object.spec.rules.iter().enumerate() {
            let at = format!("spec.rules[{index}]");
            if !rule.host.is_empty() && !is_host(&rule.host) {
                draft.settings.note(&format!("{at}.host"), ReportOutcome::NotCarried, &format!("{:?} is no host", rule.host));
                continue;
            }
            let host = rule.host.to_ascii_lowercase();
            let hosts: Vec<String> = if host.is_empty() {
                Vec::new()
            } else {
                std::iter::once(host.clone()).chain(draft.settings.aliases.clone()).collect()
            };
            let is_regex = self.hosts.get(&host).is_some_and(|terms| terms.is_regex);
            for (number, path) in rule.http.paths.iter().enumerate() {
                let at = format!("{at}.http.paths[{number}]");
                let matched = paths::matched(&path.path, &path.path_type, is_regex);
                let matched = match matched {
                    Ok(matched) => matched,
                    Err(why) => {
                        draft.settings.note(&format!("{at}.path"), ReportOutcome::Closed, &why);
                        let members = Map::from_iter([("answer".to_owned(), json!({"status": 503, "message": why}))]);
                        let matched = json!({"path": paths::literal_start(&path.path)});
                        rules.push(DraftRule { hosts: hosts.clone(), matched, members });
                        continue;
                    }
                };
                let rewrite = draft.settings.rewrite_target.as_ref().map(|target| paths::rewrite(&path.path, target));
                let canary = self.canaries.get(&(object.metadata.namespace.clone(), host.clone(), path.path.clone()));
                self.add(draft, &mut rules, (hosts.clone(), matched), (&path.backend, canary), (rewrite, &format!("{at}.backend")));
            }
        }
        if let Some(backend) = &object.spec.default_backend {
            let hosts = if object.spec.rules.is_empty() { Vec::new() } else { draft.named_hosts() };
            self.add(draft, &mut rules, (hosts, json!({"prefix": "/"})), (backend, None), (None, "spec.defaultBackend"));
        }
        if draft.settings.redirects_www {
            for host in draft.named_hosts() {
                let Some(other) = other_www(&host).filter(|other| !self.hosts.contains_key(other)) else { continue };
                let location = format!("{{scheme}}://{host}{{uri}}");
                let members = Map::from_iter([("redirect".to_owned(), json!({"location": location, "status": 308}))]);
                rules.push(DraftRule { hosts: vec![other], matched: json!({"path": {"prefix": "/"}}), members });
            }
        }
        rules
    }

    /// Adds the rules of a path.
    fn add(
        &mut self,
        draft: &mut IngressDraft<'c>,
        rules: &mut Vec<DraftRule>,
        (hosts, path): (Vec<String>, Value),
        (backend, canary): (&IngressBackend, Option<&CanaryPath<'c>>),
        (rewrite, at): (Option<Value>, &str),
    ) {
        if let Some(redirect) = draft.settings.redirect() {
            let members = Map::from_iter([("redirect".to_owned(), redirect)]);
            return rules.push(DraftRule { hosts, matched: json!({"path": path}), members });
        }
        if let Some(status) = draft.settings.answer_status {
            let message = format!("{} {status}", draft.object.metadata.key());
            let members = Map::from_iter([("answer".to_owned(), json!({"status": status, "message": message}))]);
            return rules.push(DraftRule { hosts, matched: json!({"path": path}), members });
        }
        let mut members = draft.settings.rule_members();
        let mut change = Map::new();
        change.extend(draft.settings.vhost.as_ref().map(|host| ("host".to_owned(), json!(host))));
        change.extend(rewrite.map(|path| ("path".to_owned(), path)));
        if !change.is_empty() {
            members.insert("rewrite".to_owned(), Value::Object(change));
        }
        let main = match self.backend(draft, backend) {
            Ok(main) => main,
            Err(why) => {
                draft.settings.note(at, ReportOutcome::NotCarried, &why);
                let members = Map::from_iter([("answer".to_owned(), json!({"status": 503, "message": why}))]);
                return rules.push(DraftRule { hosts, matched: json!({"path": path}), members });
            }
        };
        let other = canary.and_then(|canary| {
            let found = self.backend(draft, canary.backend);
            found.map_err(|why| draft.settings.note(at, ReportOutcome::NotCarried, &format!("its canary: {why}"))).ok()
        });
        let variants = match (canary, other) {
            (Some(canary), Some(other)) => canary::rules(&canary.canary, &main, &other),
            _ => vec![canary::CanaryRule { headers: Vec::new(), backends: vec![main.document(None)] }],
        };
        for variant in variants {
            let mut members = members.clone();
            members.insert("backends".to_owned(), Value::Array(variant.backends));
            let mut matched = json!({"path": path});
            if let Value::Object(matched) = &mut matched
                && !variant.headers.is_empty()
            {
                matched.insert("headers".to_owned(), Value::Array(variant.headers));
            }
            rules.push(DraftRule { hosts: hosts.clone(), matched, members });
        }
    }

    /// Where a backend is.
    fn backend(&mut self, draft: &mut IngressDraft<'c>, backend: &IngressBackend) -> Result<BackendPlace, String> {
        let object = draft.object;
        let (namespace, ingress) = (&object.metadata.namespace, &object.metadata.name);
        let place = service_backend(self, namespace, ingress, backend, &draft.settings)?;
        let (BackendPlace::Named(name), Some(default)) = (&place, draft.settings.default_backend.clone()) else { return Ok(place) };
        let endpoints = self.used.documents.get(name).and_then(|document| document.get("endpoints")?.as_array());
        if endpoints.is_none_or(|endpoints| !endpoints.is_empty()) {
            return Ok(place);
        }
        let first = self.cluster.services.get(&Key::new(namespace, &default)).and_then(|service| service.spec.ports.first());
        let found = match first.map(|port| port.port) {
            Some(port) => named_backend(self, namespace, &default, port, Traffic::Http),
            None => Err(format!("the Service {namespace}/{default} does not exist, or has no port")),
        };
        match found {
            Ok(name) => {
                let service = backend.service.as_ref();
                let port = service.map(|service| match service.port.name.as_str() {
                    "" => service.port.number.to_string(),
                    name => name.to_owned(),
                });
                let headers = json!([
                    {"name": "X-Code", "value": "503"},
                    {"name": "X-Namespace", "value": namespace},
                    {"name": "X-Ingress-Name", "value": ingress},
                    {"name": "X-Service-Name", "value": service.map(|service| service.name.clone()).unwrap_or_default()},
                    {"name": "X-Service-Port", "value": port.unwrap_or_default()},
                ]);
                Ok(BackendPlace::InPlace { name, headers })
            }
            Err(why) => {
                draft.settings.replace("default-backend", ReportOutcome::NotCarried, &why);
                Ok(place)
            }
        }
    }
}

/// Where the requests for a service's port go, once it is noted what it is.
///
/// # Errors
/// It is no service, or does not exist.
pub(super) fn service_backend(
    maker: &mut RuleMaker<'_, '_>,
    namespace: &str,
    user: &str,
    backend: &IngressBackend,
    settings: &IngressSettings,
) -> Result<BackendPlace, String> {
    if backend.resource.is_some() {
        return Err("resources are not supported as backends: only services are".to_owned());
    }
    let service = backend.service.as_ref().ok_or("it has no backend")?;
    let key = Key::new(namespace, &service.name);
    let port = service_port(maker.cluster, &key, &service.port)?;
    let external = maker.cluster.services.get(&key).filter(|service| service.spec.kind == "ExternalName");
    if let Some(external) = external {
        return elsewhere(maker.serves_external_names, &key, &external.spec.external_name, port, settings);
    }
    if settings.backend.is_secure {
        let tls = backend_tls(maker.cluster, namespace, &settings.backend, &format!("{}.{namespace}.svc", service.name))?;
        let name = format!("{key}:{port}/https@ingress:{namespace}.{user}");
        let resolved = maker.backends.secure(&key, port, tls, name).map_err(|fault| fault.message)?;
        maker.used.documents.extend(resolved.document.map(|document| (resolved.name.clone(), document)));
        return Ok(BackendPlace::Named(resolved.name));
    }
    let traffic = if settings.backend.is_grpc { Traffic::Grpc } else { Traffic::Http };
    named_backend(maker, namespace, &service.name, port, traffic).map(BackendPlace::Named)
}

/// The name of a service's port in the table of backends.
///
/// # Errors
/// It leads nowhere.
pub(super) fn named_backend(
    maker: &mut RuleMaker<'_, '_>,
    namespace: &str,
    service: &str,
    port: u16,
    traffic: Traffic,
) -> Result<String, String> {
    let mut context = RuleContext::new(maker.backends, maker.policies, Referrer { kind: "Ingress", namespace }, traffic, None);
    let (name, _) = context.backend(&ObjectRef { name: service.to_owned(), ..ObjectRef::default() }, Some(port));
    maker.used.documents.extend(std::mem::take(&mut context.used.documents));
    context.fault.map_or(Ok(name), |fault| Err(fault.message))
}

/// The number of a port that is written by number or name.
///
/// # Errors
/// The service has no such name.
pub(super) fn service_port(cluster: &Cluster, key: &Key, written: &IngressPort) -> Result<u16, String> {
    match written.name.as_str() {
        "" => Ok(written.number),
        name => {
            let found = cluster.services.get(key).and_then(|service| service.spec.ports.iter().find(|port| port.name == name));
            Ok(found.ok_or_else(|| format!("the Service {key} has no port {name:?}"))?.port)
        }
    }
}

/// Where an ExternalName leads. Whoever may write Services could reach with it what only the gateway can, so it has to be allowed.
fn elsewhere(is_allowed: bool, key: &Key, host: &str, port: u16, settings: &IngressSettings) -> Result<BackendPlace, String> {
    if !is_allowed {
        return Err(format!("the Service {key} is an ExternalName: allow them with --ingress-external-names"));
    }
    if !is_host(host.trim_end_matches('.')) || host.starts_with("*.") {
        return Err(format!("the Service {key} has no name of a host: {host:?}"));
    }
    let backend = &settings.backend;
    if backend.is_secure && (backend.name.is_some() || backend.secret.is_some()) {
        return Err(format!("the Service {key} is an ExternalName: proxy-ssl-name and proxy-ssl-secret are not supported with it"));
    }
    let scheme = match (backend.is_secure, backend.is_grpc) {
        (true, _) => "https",
        (false, true) => "h2c",
        (false, false) => "http",
    };
    Ok(BackendPlace::Elsewhere(format!("{scheme}://{}:{port}", host.trim_end_matches('.'))))
}

/// The document of a rule for some of its hosts.
pub(super) fn document(rule: &DraftRule, hosts: &[String], members: &Map<String, Value>) -> Value {
    let mut document = members.clone();
    if !hosts.is_empty() {
        let hosts: Vec<String> = hosts.iter().map(|host| of_rule(host)).collect();
        document.insert("hosts".to_owned(), json!(hosts));
    }
    document.insert("matches".to_owned(), json!([rule.matched]));
    Value::Object(document)
}
