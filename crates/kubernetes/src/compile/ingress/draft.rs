//! An Ingress on its way to its rules: its annotations, what they refer to, and what is true of its hosts, whichever Ingress says so.

use super::annotations::{self, request_text};
use super::report::ReportOutcome;
use super::settings::IngressSettings;
use super::{hosts, secrets};
use crate::cluster::Cluster;
use crate::objects::{Ingress, Object};
use std::collections::BTreeMap;

/// What is true of a host, whichever Ingress says so.
#[derive(Default)]
pub(super) struct HostTerms {
    /// Its paths are expressions.
    pub is_regex: bool,
    /// The certificate, or why it can't be used.
    pub tls: Option<Result<String, String>>,
    pub client_authorities: Option<String>,
    /// TLS ends at the backend.
    pub passes_tls: bool,
}

impl HostTerms {
    /// Whether its clients are asked for certificates.
    pub(super) fn needs_own_listener(&self) -> bool {
        self.client_authorities.is_some()
    }
}

/// An Ingress on its way.
pub(super) struct IngressDraft<'c> {
    pub object: &'c Object<Ingress>,
    pub settings: IngressSettings,
    pub basic_users: Vec<String>,
    pub auth_url: Option<String>,
}

impl<'c> IngressDraft<'c> {
    pub(super) fn new(cluster: &'c Cluster, object: &'c Object<Ingress>) -> Self {
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
    pub(super) fn named_hosts(&self) -> Vec<String> {
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
    pub(super) fn all_hosts(&self) -> Vec<String> {
        let mut all = self.named_hosts();
        if self.settings.redirects_www {
            let others: Vec<String> =
                all.iter().filter_map(|host| hosts::other_www(host)).filter(|other| !all.contains(other)).collect();
            all.extend(others);
        }
        all
    }

    /// Whether requests for a host without TLS are redirected.
    pub(super) fn redirects_to_https(&self, terms: Option<&HostTerms>) -> bool {
        let has_tls = terms.is_some_and(|terms| terms.tls.is_some());
        let asks = terms.is_some_and(HostTerms::needs_own_listener);
        let passes = terms.is_some_and(|terms| terms.passes_tls);
        asks || passes || self.settings.forces_ssl || (has_tls && self.settings.ssl_redirect != Some(false))
    }
}

/// What is true of each host.
pub(super) fn host_terms(cluster: &Cluster, drafts: &mut [IngressDraft<'_>]) -> BTreeMap<String, HostTerms> {
    let mut terms: BTreeMap<String, HostTerms> = BTreeMap::new();
    for draft in drafts.iter_mut().filter(|draft| !draft.settings.is_canary) {
        let namespace = draft.object.metadata.namespace.clone();
        let authorities = secrets::client_authorities(cluster, &namespace, &mut draft.settings);
        let named = draft.named_hosts();
        for host in &named {
            let of_host = terms.entry(host.clone()).or_default();
            of_host.is_regex |= draft.settings.is_regex();
            of_host.passes_tls |= draft.settings.passes_tls && draft.settings.closed.is_none();
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
