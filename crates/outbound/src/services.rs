//! Proxies and certificates for calls of the gateway itself, by kind of server. Reads `external_services` of the configuration.

use crate::public_address::is_public;
use crate::{AddressGuard, HttpProxy, ProxyChooser};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, Uri};
use ipnet::IpNet;
use percent_encoding::percent_decode_str;
use std::net::IpAddr;
use std::sync::Arc;
use tollgate_model::config::{ExternalProxy, ExternalService, ExternalServices as Written, ExternalTls};
use tollgate_model::network::parse_network;
use tollgate_tls::ServiceKind;
use tollgate_tls::TlsRules;

/// The settings of all kinds.
#[derive(Default)]
pub struct ExternalServices {
    oauth: ServiceTerms,
    health: ServiceTerms,
    discovery: ServiceTerms,
    webhooks: ServiceTerms,
    issuers: ServiceTerms,
    other: ServiceTerms,
    /// Private networks to which redirects are followed.
    redirect_networks: Arc<[IpNet]>,
}

/// The settings of one kind.
#[derive(Default)]
pub struct ServiceTerms {
    /// Chooses the proxy of a call.
    pub proxies: Option<ProxyChooser>,
    tls: Option<ExternalTls>,
}

impl ExternalServices {
    /// From the configuration; `redirect_networks` are the private networks to which redirects may lead.
    pub fn new(written: &Written, redirect_networks: Vec<IpNet>) -> Self {
        let global = || proxies(&written.global).filter(|_| written.global.enabled);
        let terms = |service: &ExternalService| ServiceTerms {
            proxies: proxies(&service.proxy).or_else(global),
            tls: Some(service.mtls.clone()).filter(|tls| tls.enabled),
        };
        ExternalServices {
            oauth: terms(&written.oauth),
            health: terms(&written.health),
            discovery: terms(&written.discovery),
            webhooks: terms(&written.webhooks),
            issuers: ServiceTerms { proxies: global(), tls: None },
            other: ServiceTerms::default(),
            redirect_networks: redirect_networks.into(),
        }
    }

    /// The addresses to which the gateway's own calls follow redirects to another origin: whoever answers a call must not reach what only
    /// the gateway can reach.
    pub fn redirect_guard(&self) -> AddressGuard {
        let networks = self.redirect_networks.clone();
        Arc::new(move |address| is_public(address) || networks.iter().any(|network| network.contains(&address.to_canonical())))
    }

    /// The settings of a kind.
    pub fn of(&self, kind: ServiceKind) -> &ServiceTerms {
        match kind {
            ServiceKind::OAuth => &self.oauth,
            ServiceKind::Health => &self.health,
            ServiceKind::Discovery => &self.discovery,
            ServiceKind::Webhooks => &self.webhooks,
            ServiceKind::Issuers => &self.issuers,
            ServiceKind::Other => &self.other,
        }
    }
}

impl ServiceTerms {
    /// Rules for a server with what this kind of server overrides.
    pub fn applied_to(&self, rules: &TlsRules) -> TlsRules {
        let Some(own) = &self.tls else { return rules.clone() };
        let text = |path: &std::path::Path| Some(path.to_string_lossy().into_owned()).filter(|text| !text.is_empty());
        let version = |written: &str, other| match written {
            "1.2" => 771,
            "1.3" => 772,
            _ => other,
        };
        TlsRules {
            insecure: own.insecure_skip_verify,
            min_version: version(&own.tls_min_version, rules.min_version),
            max_version: version(&own.tls_max_version, rules.max_version),
            certificate: text(&own.cert_file).or_else(|| Some(own.cert_id.clone()).filter(|id| !id.is_empty())),
            key_file: text(&own.key_file),
            authorities: text(&own.ca_file).into_iter().chain(own.ca_cert_ids.clone()).collect(),
            ..rules.clone()
        }
    }
}

/// Chooses proxies by these settings; `None` if there are none.
fn proxies(written: &ExternalProxy) -> Option<ProxyChooser> {
    let of_environment = |names: [&str; 2]| names.into_iter().find_map(|name| std::env::var(name).ok()).unwrap_or_default();
    let (http, https, bypass) = match (written.http_proxy.is_empty() && written.https_proxy.is_empty(), written.enabled) {
        (true, false) => return None,
        (true, true) => (
            // Upper case may be set by a client of a CGI program, which the gateway is not; Go reads both.
            of_environment(["HTTP_PROXY", "http_proxy"]),
            of_environment(["HTTPS_PROXY", "https_proxy"]),
            of_environment(["NO_PROXY", "no_proxy"]),
        ),
        (false, _) => (written.http_proxy.clone(), written.https_proxy.clone(), written.bypass_proxy.clone()),
    };
    let (http, https) = (proxy(&http), proxy(&https));
    let bypass = Bypass::new(&bypass);
    Some(Arc::new(move |uri: &Uri| {
        let own = if uri.scheme_str() == Some("https") { https.as_ref().or(http.as_ref()) } else { http.as_ref() };
        own.filter(|_| !bypass.covers(uri)).cloned()
    }))
}

/// The proxy at a URL.
fn proxy(url: &str) -> Option<HttpProxy> {
    let uri: Uri = url.parse().ok()?;
    let authority = uri.authority()?.as_str();
    let (information, place) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) = information.split_once(':').unwrap_or((information, ""));
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let basic =
        || HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(format!("{}:{}", decoded(user), decoded(password))))).ok();
    Some(HttpProxy {
        uri: Uri::builder().scheme("http").authority(place).path_and_query("/").build().ok()?,
        authorization: if information.is_empty() { None } else { basic() },
    })
}

/// Hosts that are called directly.
struct Bypass {
    hosts: Vec<String>,
    networks: Vec<IpNet>,
}

impl Bypass {
    fn new(list: &str) -> Self {
        let entries = list.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let hosts = entries.clone().filter(|entry| parse_network(entry).is_none()).map(str::to_ascii_lowercase).collect();
        Bypass { hosts, networks: entries.filter_map(parse_network).collect() }
    }

    fn covers(&self, uri: &Uri) -> bool {
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        if let Ok(address) = host.parse::<IpAddr>() {
            let is_local = address.is_loopback() && self.hosts.iter().any(|entry| entry == "localhost");
            return is_local || self.networks.iter().any(|network| network.contains(&address));
        }
        let with_port = uri.port_u16().map(|port| format!("{host}:{port}"));
        self.hosts.iter().any(|entry| match entry.trim_start_matches('*').strip_prefix('.') {
            Some(domain) => host.strip_suffix(domain).is_some_and(|start| start.ends_with('.')),
            None => entry == "*" || *entry == host || Some(entry) == with_port.as_ref(),
        })
    }
}

#[cfg(test)]
mod tests;
