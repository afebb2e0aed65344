//! Ingresses, with the annotations of ingress-nginx: which are served, their listeners and definitions, and what is said of them. Several with one
//! host are one: of equal paths, that of the older Ingress is served.

mod annotations;
mod backend_place;
mod canary;
mod classes;
mod definition;
mod draft;
mod firewall_settings;
mod hosts;
mod options;
mod passthrough;
mod paths;
mod report;
mod rules;
mod secrets;
mod settings;
mod sockets;

pub use options::IngressOptions;
pub use report::{ReportLine, ReportOutcome};

use super::Settings;
use super::addresses::{self, written_of_ingress};
use super::backends::Backends;
use super::gateways::Gateways;
use super::policies::Policies;
use crate::cluster::Cluster;
use crate::objects::{Ingress, IngressBackend, Key, Object};
use backend_place::BackendPlace;
use canary::CanaryPath;
use definition::Purpose;
use draft::{HostTerms, IngressDraft, host_terms};
use rules::{DraftRule, RuleMaker, document, service_backend};
use serde_json::{Map, Value, json};
use settings::IngressSettings;
use sockets::Sockets;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// The table of annotations: name, what becomes of it in a word, and how.
pub(crate) fn annotation_rows() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    annotations::rows().map(|row| (row.name, row.outcome(), row.becomes))
}

/// What follows from all Ingresses.
#[derive(Default)]
pub(super) struct Ingresses<'c> {
    pub objects: Vec<&'c Object<Ingress>>,
    pub address: Option<IpAddr>,
    pub definitions: BTreeMap<String, Value>,
    /// In the place of definitions that the gateway does not take.
    pub refusing: BTreeMap<String, Value>,
    pub listeners: BTreeMap<String, Value>,
    pub reports: BTreeMap<Key, Vec<ReportLine>>,
}

impl<'c> Ingresses<'c> {
    pub(super) fn of(
        cluster: &'c Cluster,
        settings: &Settings,
        gateways: &Gateways<'c>,
        policies: &Policies<'c>,
        backends: &mut Backends<'c>,
    ) -> Self {
        let options = &settings.ingress;
        let objects = classes::served(cluster, options);
        if objects.is_empty() {
            return Ingresses::default();
        }
        let mut drafts: Vec<IngressDraft<'c>> = objects.iter().map(|object| IngressDraft::new(cluster, object)).collect();
        let hosts = host_terms(cluster, &mut drafts);
        let taken: BTreeSet<IpAddr> =
            gateways.by_key.values().flat_map(|gateway| gateway.addresses.bound.iter().copied()).collect();
        let written = objects.iter().flat_map(|object| written_of_ingress(&object.status));
        let address = addresses::of_ingresses(&settings.pool, options.address, written, &taken);
        let mut ingresses = Ingresses { objects, address, ..Ingresses::default() };
        let canaries = canaries(&mut drafts);
        let mut maker = RuleMaker {
            cluster,
            backends: &*backends,
            policies,
            hosts: &hosts,
            canaries: &canaries,
            used: Default::default(),
            serves_external_names: options.serves_external_names,
        };
        let rules: Vec<Vec<DraftRule>> =
            drafts.iter_mut().map(|draft| if draft.settings.is_canary { Vec::new() } else { maker.rules(draft) }).collect();
        let default_backend = options.default_backend.as_deref().map(|written| default_backend(&mut maker, written));
        let streams = passthrough::streams(&mut maker, &mut drafts);
        let used = maker.used;
        if let Some(address) = address {
            ingresses.serve(
                cluster,
                options,
                &mut drafts,
                &rules,
                (&hosts, Sockets::of(gateways, address, (options.http_port, options.https_port))),
                default_backend,
            );
            for (id, definition) in streams {
                let listener = definition.pointer("/tollgate/route/attached/0/listener").and_then(Value::as_str);
                if listener.is_some_and(|listener| ingresses.listeners.contains_key(listener)) {
                    ingresses.definitions.insert(id, definition);
                }
            }
            ingresses.refusing = definition::all_refusing(&ingresses.definitions);
        }
        backends.add(&used, &BTreeSet::new());
        ingresses.reports = drafts.into_iter().map(|draft| (draft.object.metadata.key(), draft.settings.report)).collect();
        ingresses
    }

    fn serve(
        &mut self,
        cluster: &Cluster,
        options: &IngressOptions,
        drafts: &mut [IngressDraft<'c>],
        rules: &[Vec<DraftRule>],
        (hosts, sockets): (&BTreeMap<String, HostTerms>, Sockets),
        default_backend: Option<Result<BackendPlace, String>>,
    ) {
        let default_certificate = options.default_certificate.as_deref().map(|written| {
            let (namespace, name) = written.split_once('/').unwrap_or(("default", written));
            secrets::certificate(cluster, namespace, name)
        });
        let unusable = default_certificate.as_ref().and_then(|certificate| certificate.as_ref().err().cloned());
        let certificate = default_certificate.and_then(Result::ok);
        self.listeners = sockets.documents(hosts, certificate.as_deref());
        let mut rest_listeners: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (draft, rules) in drafts.iter_mut().zip(rules) {
            for why in sockets.blocked().chain(unusable.as_deref()) {
                draft.settings.note("spec", ReportOutcome::NotCarried, why);
            }
            for host in draft.all_hosts() {
                let Some(terms) = hosts.get(&host).filter(|_| sockets.is_gateways(&host)) else { continue };
                let why = format!("a gateway has the listener of {host}");
                if terms.needs_own_listener() {
                    draft.settings.close("auth-tls-secret", &why);
                }
                if draft.settings.passes_tls {
                    draft.settings.close("ssl-passthrough", &why);
                }
            }
            let (documents, redirects) = rule_documents(draft, rules, hosts, sockets.https_port());
            let own_hosts = hosts_of(rules);
            let (mut http, mut https) = sockets.listeners(&own_hosts, hosts);
            let exists = |id: &String| self.listeners.contains_key(id) || !sockets::is_own(id);
            http.retain(exists);
            https.retain(exists);
            for listener in http.iter().chain(&https) {
                rest_listeners
                    .entry(listener.clone())
                    .or_default()
                    .extend(own_hosts.iter().filter(|host| !host.is_empty()).cloned());
            }
            definition::add(&mut self.definitions, draft, Purpose::Redirect, &http, &redirects);
            let all: Vec<String> = http.into_iter().chain(https).collect();
            definition::add(&mut self.definitions, draft, Purpose::Serve, &all, &documents);
        }
        self.add_rest(rest_listeners, default_backend);
    }

    /// What is served where no path fits: requests for a host of an Ingress get no further than to it.
    fn add_rest(&mut self, listeners: BTreeMap<String, BTreeSet<String>>, default_backend: Option<Result<BackendPlace, String>>) {
        let rule = match &default_backend {
            Some(Ok(backend)) => json!({"backends": [backend.document(None)]}),
            Some(Err(why)) => json!({"answer": {"status": 503, "message": why}}),
            None => json!({"answer": {"status": 404, "message": "No Ingress has this path"}}),
        };
        let attached: Vec<Value> = listeners
            .iter()
            .map(|(listener, own)| {
                // On the host's own listener, no other one can come.
                let own: Vec<String> = own
                    .iter()
                    .filter(|host| sockets::host_of(listener).is_none_or(|of| of == *host))
                    .map(|host| hosts::of_rule(host))
                    .collect();
                json!({"listener": listener, "hosts": own})
            })
            .filter(|attached| attached.get("hosts").and_then(Value::as_array).is_some_and(|hosts| !hosts.is_empty()))
            .collect();
        let mut add = |id: &str, attached: &[Value]| {
            if !attached.is_empty() {
                let definition = definition::base(id, "Ingresses: everything else", "~~", attached, std::slice::from_ref(&rule));
                self.definitions.insert(id.to_owned(), Value::Object(definition));
            }
        };
        add("k8s-ingress-rest", &attached);
        if default_backend.is_some() {
            let any: Vec<Value> = listeners.keys().map(|listener| json!({"listener": listener})).collect();
            add("k8s-ingress-rest~any", &any);
        }
    }
}

/// The rules of an Ingress as documents, and those that redirect to https.
fn rule_documents(
    draft: &IngressDraft<'_>,
    rules: &[DraftRule],
    hosts: &BTreeMap<String, HostTerms>,
    https_port: u16,
) -> (Vec<Value>, Vec<Value>) {
    let closed = draft
        .settings
        .closed
        .as_ref()
        .map(|why| Map::from_iter([("answer".to_owned(), json!({"status": 503, "message": format!("not served: {why}")}))]));
    let redirect = match https_port {
        443 => json!({"scheme": "https", "status": 308}),
        port => json!({"scheme": "https", "status": 308, "port": port}),
    };
    let redirect = Map::from_iter([("redirect".to_owned(), redirect)]);
    let serving = rules.iter().map(|rule| document(rule, &rule.hosts, closed.as_ref().unwrap_or(&rule.members))).collect();
    let redirects = rules.iter().filter_map(|rule| {
        let is_redirected = |host: &&String| draft.redirects_to_https(hosts.get(*host));
        let secure: Vec<String> = rule.hosts.iter().filter(is_redirected).cloned().collect();
        let is_any = rule.hosts.is_empty() && draft.settings.forces_ssl;
        (is_any || !secure.is_empty()).then(|| document(rule, &secure, &redirect))
    });
    (serving, redirects.collect())
}

/// The hosts of rules, sorted; an empty one stands for any.
fn hosts_of(rules: &[DraftRule]) -> Vec<String> {
    let mut own: Vec<String> = rules.iter().flat_map(|rule| rule.hosts.clone()).collect();
    if rules.iter().any(|rule| rule.hosts.is_empty()) {
        own.push(String::new());
    }
    own.sort();
    own.dedup();
    own
}

/// What canaries get, by namespace, host and path.
fn canaries<'c>(drafts: &mut [IngressDraft<'c>]) -> BTreeMap<(String, String, String), CanaryPath<'c>> {
    let mut main: BTreeSet<(String, String, String)> = BTreeSet::new();
    let places = |object: &'c Object<Ingress>| {
        let namespace = &object.metadata.namespace;
        object.spec.rules.iter().flat_map(move |rule| {
            rule.http
                .paths
                .iter()
                .map(move |path| ((namespace.clone(), rule.host.to_ascii_lowercase(), path.path.clone()), &path.backend))
        })
    };
    for draft in drafts.iter().filter(|draft| !draft.settings.is_canary) {
        main.extend(places(draft.object).map(|(place, _)| place));
    }
    let mut found = BTreeMap::new();
    for draft in drafts.iter_mut().filter(|draft| draft.settings.is_canary) {
        if let Some((annotation, why)) = canary::fault(&draft.settings.canary) {
            draft.settings.note(annotation, ReportOutcome::NotCarried, &why);
            continue;
        }
        for (place, backend) in places(draft.object) {
            if !main.contains(&place) {
                let why = format!("no other Ingress of its namespace has the path {} of {:?}", place.2, place.1);
                draft.settings.note("canary", ReportOutcome::NotCarried, &why);
                continue;
            }
            found.entry(place).or_insert_with(|| CanaryPath { canary: draft.settings.canary.clone(), backend });
        }
    }
    found
}

/// The backend of requests that nothing else gets.
fn default_backend(maker: &mut RuleMaker<'_, '_>, written: &str) -> Result<BackendPlace, String> {
    let (key, port) = written.rsplit_once(':').unwrap_or((written, "80"));
    let (namespace, name) = key.split_once('/').unwrap_or(("default", key));
    let port = port.parse::<u16>().map_err(|_| format!("{written:?} is no service with a port"))?;
    let backend = IngressBackend::of_service(name, port);
    service_backend(maker, namespace, "", &backend, &IngressSettings::default())
}
