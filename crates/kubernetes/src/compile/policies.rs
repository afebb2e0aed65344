//! How TLS is spoken with backends: which policy applies to which port of a service, and which policies lose.

use super::certificates::{ReasonNames, authorities};
use super::grants::Referrer;
use crate::cluster::Cluster;
use crate::conditions::Fault;
use crate::objects::{BackendTlsPolicy, BackendValidation, Key, Object, SubjectAltName};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const AUTHORITY_REASONS: ReasonNames = ReasonNames { invalid: "InvalidCACertificateRef", invalid_kind: "InvalidKind" };

pub(super) struct Policies<'c> {
    /// The oldest first.
    pub all: Vec<CompiledPolicy<'c>>,
    /// The policy of a service, and of a port of it by name.
    winners: BTreeMap<(Key, Option<String>), usize>,
}

pub(super) struct CompiledPolicy<'c> {
    pub object: &'c Object<BackendTlsPolicy>,
    /// The services that it is for.
    pub services: Vec<Key>,
    pub rejected: Option<Fault>,
    pub unresolved: Option<Fault>,
    /// What the backend's document gets.
    pub tls: Map<String, Value>,
}

impl<'c> Policies<'c> {
    pub(super) fn of(cluster: &'c Cluster) -> Self {
        let mut objects: Vec<&Object<BackendTlsPolicy>> = cluster.backend_tls_policies.values().collect();
        objects.sort_by(|a, b| a.metadata.age().cmp(&b.metadata.age()));
        let mut policies = Policies { all: Vec::with_capacity(objects.len()), winners: BTreeMap::new() };
        for object in objects {
            policies.add(cluster, object);
        }
        policies
    }

    fn add(&mut self, cluster: &Cluster, object: &'c Object<BackendTlsPolicy>) {
        let mut policy = CompiledPolicy::new(cluster, object);
        let mut wins_any = false;
        for target in object.spec.target_refs.iter().filter(|target| target.group.is_empty() && target.kind == "Service") {
            let service = Key::new(&object.metadata.namespace, &target.name);
            let section = target.section_name.clone().filter(|section| !section.is_empty());
            let is_free = !self.winners.contains_key(&(service.clone(), section.clone()));
            if is_free {
                self.winners.insert((service.clone(), section), self.all.len());
            }
            wins_any |= is_free;
            policy.services.push(service);
        }
        if !wins_any && !policy.services.is_empty() {
            policy.rejected = Some(Fault::new("Conflicted", "An older policy is for the same target"));
        }
        self.all.push(policy);
    }

    /// The policy for a port of a service.
    pub(super) fn of_port(&self, service: &Key, port: &str) -> Option<&CompiledPolicy<'c>> {
        let named = (!port.is_empty()).then(|| self.winners.get(&(service.clone(), Some(port.to_owned())))).flatten();
        self.all.get(*named.or_else(|| self.winners.get(&(service.clone(), None)))?)
    }
}

impl<'c> CompiledPolicy<'c> {
    fn new(cluster: &Cluster, object: &'c Object<BackendTlsPolicy>) -> Self {
        let validation = &object.spec.validation;
        let from = Referrer { kind: "BackendTLSPolicy", namespace: &object.metadata.namespace };
        let (mut found, mut unresolved) = (Vec::new(), None);
        for reference in &validation.ca_certificate_refs {
            match authorities(cluster, from, reference, &AUTHORITY_REASONS) {
                Ok(text) => found.push(text),
                Err(fault) => {
                    unresolved.get_or_insert(fault);
                }
            }
        }
        let rejected = match (found.is_empty(), validation.well_known_ca_certificates.as_deref()) {
            (false, _) | (true, Some("System")) => None,
            (true, Some(other)) if validation.ca_certificate_refs.is_empty() => {
                Some(Fault::new("Invalid", format!("There are no well-known certificates with the name `{other}`")))
            }
            (true, _) => Some(Fault::new("NoValidCACertificate", "No certificate of an authority can be used")),
        };
        let tls = document(validation, &found);
        CompiledPolicy { object, services: Vec::new(), rejected, unresolved, tls }
    }
}

fn document(validation: &BackendValidation, authorities: &[String]) -> Map<String, Value> {
    let mut tls = Map::new();
    tls.insert("host".to_owned(), json!(validation.hostname));
    tls.insert("authorities".to_owned(), json!(authorities));
    let name = |name: &SubjectAltName| match name.kind.as_str() {
        "URI" => format!("uri:{}", name.uri),
        _ => format!("dns:{}", name.hostname),
    };
    let names: Vec<String> = validation.subject_alt_names.iter().map(name).collect();
    if !names.is_empty() {
        tls.insert("names".to_owned(), json!(names));
    }
    tls
}
