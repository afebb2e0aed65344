//! Ingresses, with the annotations of ingress-nginx: which are served, their listeners and definitions, and what is said of them. Several with one
//! host are one: of equal paths, that of the older Ingress is served.

mod annotations;
mod canary;
mod classes;
mod definition;
mod hosts;
mod paths;
mod rules;
mod secrets;
mod settings;
mod sockets;

pub use annotations::{ReportLine, ReportOutcome};

use super::Settings;
use super::addresses::{self, written_of_ingress};
use super::backends::Backends;
use super::gateways::Gateways;
use super::policies::Policies;
use crate::cluster::Cluster;
use crate::objects::{Ingress, IngressBackend, Key, Object};
use annotations::request_text;
use canary::CanaryPath;
use definition::Purpose;
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

/// What is served of Ingresses, and where.
#[derive(Clone, Debug)]
pub struct IngressOptions {
    /// The `controller` of the classes that are served.
    pub controller_name: String,
    /// Names of classes whose Ingresses are served, whatever their controller is.
    pub classes: Vec<String>,
    /// Whether Ingresses without a class are served.
    pub serves_without_class: bool,
    /// Their address; `None` for one of the pool.
    pub address: Option<IpAddr>,
    pub http_port: u16,
    pub https_port: u16,
    /// `namespace/name` of the Secret whose certificate hosts without one have.
    pub default_certificate: Option<String>,
    /// `namespace/name:port` of the service for requests that nothing else gets.
    pub default_backend: Option<String>,
}

impl Default for IngressOptions {
    fn default() -> Self {
        IngressOptions {
            controller_name: "tollgate.dev/ingress-controller".to_owned(),
            classes: Vec::new(),
            serves_without_class: false,
            address: None,
            http_port: 80,
            https_port: 443,
            default_certificate: None,
            default_backend: None,
        }
    }
}

/// What follows from all Ingresses.
#[derive(Default)]
pub(super) struct Ingresses<'c> {
    pub objects: Vec<&'c Object<Ingress>>,
    pub address: Option<IpAddr>,
    pub definitions: BTreeMap<String, Value>,
    pub listeners: BTreeMap<String, Value>,
    pub reports: BTreeMap<Key, Vec<ReportLine>>,
}

/// What is true of a host, whichever Ingress says so.
#[derive(Default)]
struct HostTerms {
    /// Its paths are expressions.
    is_regex: bool,
    /// The certificate, or why it can't be used.
    tls: Option<Result<String, String>>,
    client_authorities: Option<String>,
}

impl HostTerms {
    /// Whether its clients are asked for certificates.
    fn needs_own_listener(&self) -> bool {
        self.client_authorities.is_some()
    }
}

/// An Ingress on its way.
struct IngressDraft<'c> {
    object: &'c Object<Ingress>,
    settings: IngressSettings,
    basic_users: Vec<String>,
    auth_url: Option<String>,
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
        let mut maker =
            RuleMaker { cluster, backends: &*backends, policies, hosts: &hosts, canaries: &canaries, used: Default::default() };
        let rules: Vec<Vec<DraftRule>> =
            drafts.iter_mut().map(|draft| if draft.settings.is_canary { Vec::new() } else { maker.rules(draft) }).collect();
        let default_backend = options.default_backend.as_deref().map(|written| default_backend(&mut maker, written));
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
        default_backend: Option<Result<String, String>>,
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
                if hosts.get(&host).is_some_and(HostTerms::needs_own_listener) && sockets.is_gateways(&host) {
                    draft.settings.close("auth-tls-secret", &format!("a gateway has the listener of {host}"));
                }
            }
            let mut redirects = Vec::new();
            let mut documents = Vec::new();
            for rule in rules {
                let closed = draft.settings.closed.as_ref().map(|why| {
                    Map::from_iter([("answer".to_owned(), json!({"status": 503, "message": format!("not served: {why}")}))])
                });
                documents.push(document(rule, &rule.hosts, closed.as_ref().unwrap_or(&rule.members)));
                let is_any = rule.hosts.is_empty();
                let secure: Vec<String> =
                    rule.hosts.iter().filter(|host| draft.redirects_to_https(host, hosts.get(*host))).cloned().collect();
                if !secure.is_empty() || (is_any && draft.settings.forces_ssl) {
                    let mut redirect = json!({"scheme": "https", "status": 308});
                    if let (port, Value::Object(members)) = (sockets.https_port(), &mut redirect)
                        && port != 443
                    {
                        members.insert("port".to_owned(), json!(port));
                    }
                    redirects.push(document(rule, &secure, &Map::from_iter([("redirect".to_owned(), redirect)])));
                }
            }
            let mut own_hosts: Vec<String> = rules.iter().flat_map(|rule| rule.hosts.clone()).collect();
            if rules.iter().any(|rule| rule.hosts.is_empty()) {
                own_hosts.push(String::new());
            }
            own_hosts.sort();
            own_hosts.dedup();
            let (mut http, mut https) = sockets.listeners(&own_hosts, hosts);
            let exists = |id: &String| self.listeners.contains_key(id) || !id.starts_with("ingress/");
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
    fn add_rest(&mut self, listeners: BTreeMap<String, BTreeSet<String>>, default_backend: Option<Result<String, String>>) {
        let rule = match &default_backend {
            Some(Ok(backend)) => json!({"backends": [{"backend": backend}]}),
            Some(Err(why)) => json!({"answer": {"status": 503, "message": why}}),
            None => json!({"answer": {"status": 404, "message": "No Ingress has this path"}}),
        };
        let attached: Vec<Value> = listeners
            .iter()
            .map(|(listener, own)| {
                // On the host's own listener, no other one can come.
                let own: Vec<String> = own
                    .iter()
                    .filter(|host| listener.strip_prefix("ingress/https/").is_none_or(|of| of == *host))
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

impl<'c> IngressDraft<'c> {
    fn new(cluster: &'c Cluster, object: &'c Object<Ingress>) -> Self {
        let mut settings = annotations::read(&object.metadata.annotations);
        let namespace = &object.metadata.namespace;
        let basic_users = secrets::basic_users(cluster, namespace, &mut settings);
        let mut draft = IngressDraft { object, settings, basic_users, auth_url: None };
        draft.auth_url = draft.resolve_auth_url();
        draft
    }

    /// The URL of the service that decides about access. Closes the paths if it has variables that can't be replaced.
    fn resolve_auth_url(&mut self) -> Option<String> {
        let written = self.settings.auth_url.clone()?;
        let named = self.named_hosts();
        let resolved = request_text(&written).map(|text| match named.as_slice() {
            [host] if !host.starts_with("*.") => text.replace("{host}", host),
            _ => text,
        });
        let is_url =
            |text: &String| (text.starts_with("http://") || text.starts_with("https://")) && !text.contains(['{', '}', ' ']);
        match resolved {
            Ok(text) if is_url(&text) => Some(text),
            Ok(_) => {
                self.settings.close("auth-url", &format!("{written:?} is no URL, or has a variable that is not known before"));
                None
            }
            Err(why) => {
                self.settings.close("auth-url", &why);
                None
            }
        }
    }

    /// The hosts of its rules, with their aliases.
    fn named_hosts(&self) -> Vec<String> {
        let written = self.object.spec.rules.iter().map(|rule| rule.host.to_ascii_lowercase());
        let mut named: Vec<String> = Vec::new();
        for host in written.chain(self.settings.aliases.iter().cloned()).filter(|host| !host.is_empty() && hosts::is_host(host)) {
            if !named.contains(&host) {
                named.push(host);
            }
        }
        named
    }

    /// The same with those that are redirected to them.
    fn all_hosts(&self) -> Vec<String> {
        let mut all = self.named_hosts();
        if self.settings.redirects_www {
            let others: Vec<String> =
                all.iter().filter_map(|host| hosts::other_www(host)).filter(|other| !all.contains(other)).collect();
            all.extend(others);
        }
        all
    }

    fn redirects_to_https(&self, _: &str, terms: Option<&HostTerms>) -> bool {
        let has_tls = terms.is_some_and(|terms| terms.tls.is_some());
        let asks = terms.is_some_and(HostTerms::needs_own_listener);
        asks || self.settings.forces_ssl || (has_tls && self.settings.ssl_redirect != Some(false))
    }
}

/// What is true of each host.
fn host_terms(cluster: &Cluster, drafts: &mut [IngressDraft<'_>]) -> BTreeMap<String, HostTerms> {
    let mut terms: BTreeMap<String, HostTerms> = BTreeMap::new();
    for draft in drafts.iter_mut().filter(|draft| !draft.settings.is_canary) {
        let namespace = draft.object.metadata.namespace.clone();
        let authorities = secrets::client_authorities(cluster, &namespace, &mut draft.settings);
        let named = draft.named_hosts();
        for host in &named {
            terms.entry(host.clone()).or_default().is_regex |= draft.settings.is_regex();
        }
        if draft.object.spec.rules.iter().any(|rule| rule.host.is_empty()) {
            terms.entry(String::new()).or_default().is_regex |= draft.settings.is_regex();
        }
        let mut has_tls = false;
        for (index, section) in draft.object.spec.tls.iter().enumerate() {
            let covered: Vec<String> = draft
                .all_hosts()
                .into_iter()
                .filter(|host| section.hosts.is_empty() || section.hosts.iter().any(|of| hosts::covers(of, host)))
                .collect();
            has_tls |= !covered.is_empty();
            let certificate = match section.secret_name.as_str() {
                "" => Err("it names no Secret: the default certificate is used".to_owned()),
                name => secrets::certificate(cluster, &namespace, name),
            };
            if let Err(why) = &certificate {
                draft.settings.note(&format!("spec.tls[{index}]"), ReportOutcome::NotCarried, why);
            }
            for host in covered {
                let of_host = terms.entry(host).or_default();
                let is_better = !matches!(of_host.tls, Some(Ok(_)));
                if is_better {
                    of_host.tls = Some(certificate.clone());
                }
            }
        }
        if authorities.is_some() && !has_tls {
            draft.settings.close("auth-tls-secret", "its hosts have no TLS");
            continue;
        }
        for host in named.iter().filter(|_| authorities.is_some()) {
            terms.entry(host.clone()).or_default().client_authorities.clone_from(&authorities);
        }
    }
    terms
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
fn default_backend(maker: &mut RuleMaker<'_, '_>, written: &str) -> Result<String, String> {
    let (key, port) = written.rsplit_once(':').unwrap_or((written, "80"));
    let (namespace, name) = key.split_once('/').unwrap_or(("default", key));
    let port = port.parse::<u16>().map_err(|_| format!("{written:?} is no service with a port"))?;
    let backend = IngressBackend::of_service(name, port);
    service_backend(maker, namespace, "", &backend, &IngressSettings::default())
}
