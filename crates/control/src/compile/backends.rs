//! Compiles a backend of the table: the targets of its endpoints.

use super::balancing::{drop_verdict, health_rules};
use super::watch;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tollgate_balance::{BalanceMethod, Candidate, Candidates, HealthRules, hash_bytes};
use tollgate_data::backends::SharedTargets;
use tollgate_data::pool_name::PoolName;
use tollgate_data::registry::Registry;
use tollgate_data::settings::Settings;
use tollgate_data::target_list::{EmptyList, PoolTarget, TargetList};
use tollgate_data::target_pool::TargetPool;
use tollgate_data::upstream::Upstream;
use tollgate_model::api::BackendEndpoint;
use tollgate_model::routing::{BackendProtocol, RoutedBackend, RoutingTables};
use tollgate_tls::{Library, TlsRules};

/// What the health of endpoints is kept under, in place of an API.
const BACKENDS: &str = "backends";
const NS_PER_MS: u64 = 1_000_000;

/// Without rules of its own, no response ejects a target of a backend: whoever fills the table says which ones are ready. But one that is gone
/// may be in it for as long as a node is believed to live, 40 seconds in Kubernetes.
const HEALTH: HealthRules = HealthRules {
    failed_connect: true,
    consecutive_faults: 0,
    fault_percent: 0,
    latency_factor: 0.0,
    latency_min: 0,
    requests_min: 0,
    interval: 1_000 * NS_PER_MS,
    ejected: 1_000 * NS_PER_MS,
    ejected_max: 30_000 * NS_PER_MS,
    ejected_percent_max: 100,
    slow_start: 5_000 * NS_PER_MS,
};

/// The targets of a backend. `Err` says why it cannot be used.
pub(crate) fn backend_targets(
    name: &str,
    backend: &RoutedBackend,
    settings: &Settings,
    registry: &Registry,
) -> Result<TargetList, String> {
    if !backend.broken.is_empty() {
        return Err(backend.broken.clone());
    }
    let texts = backend.tls.authorities.iter().chain(Some(&backend.tls.certificate).filter(|text| !text.is_empty()));
    // A document is not to name files.
    if texts.into_iter().any(|text| !Library::is_text(text)) {
        return Err("tls.authorities and tls.certificate must be PEM".to_owned());
    }
    let pool = pool_name(name);
    let rules = tls_rules(backend);
    let (mut targets, mut candidates) = (Vec::new(), Vec::new());
    for endpoint in backend.endpoints.iter().take(RoutingTables::ENDPOINTS_MAX) {
        let Ok(address) = endpoint.address.parse::<IpAddr>() else { continue };
        let address = SocketAddr::new(address, endpoint.port);
        let upstream = upstream(address, backend, &rules, registry)?;
        let url = format!("{}://{address}", scheme(backend.protocol));
        candidates.push(candidate(endpoint, &pool, &url, registry));
        let sticky_id = settings.upstreams.sticky_key.id(BACKENDS, &format!("{name} {url}"));
        targets.push(PoolTarget { url, upstream, sticky_id });
    }
    if candidates.iter().all(|candidate| candidate.weight == 0) {
        return Ok(TargetList::empty(EmptyList::NoEndpoints));
    }
    if backend.checks.is_none() {
        // No check will say that a target which was down is up.
        candidates.iter().for_each(|candidate| drop_verdict(&candidate.health));
    }
    let rules = backend
        .health
        .as_ref()
        .map_or(HEALTH, |health| HealthRules { failed_connect: HEALTH.failed_connect, ..health_rules(Some(health)) });
    let mut list = TargetList::new(targets, Candidates::new(candidates, BalanceMethod::default(), rules));
    list.fault_statuses = backend.health.as_ref().map(|health| health.statuses.clone()).unwrap_or_default();
    list.fault_statuses.sort_unstable();
    Ok(list)
}

/// The pool whose targets are checked, if they are. It has those that the backend has at the time.
pub(crate) fn checked_pool(
    name: &str,
    backend: &RoutedBackend,
    targets: SharedTargets,
    registry: &Registry,
) -> Option<Arc<TargetPool>> {
    let mut rules = tls_rules(backend);
    // Endpoints are asked at their addresses, which no certificate has.
    if rules.names.is_empty() && !backend.tls.host.is_empty() {
        rules.names.push(format!("dns:{}", backend.tls.host));
    }
    let watch = watch::each_target(backend.checks.as_ref()?, move |_| rules.clone());
    let name = pool_name(name);
    let budget = registry.retry_budget(&name);
    Some(Arc::new(TargetPool { name, targets, budget, hedging: None, watch: Some(watch) }))
}

fn pool_name(backend: &str) -> PoolName {
    PoolName { api: BACKENDS.to_owned(), version: String::new(), part: backend.to_owned() }
}

fn candidate(endpoint: &BackendEndpoint, pool: &PoolName, url: &str, registry: &Registry) -> Candidate {
    let health = registry.target_health(pool, url);
    Candidate { weight: endpoint.weight, hash: hash_bytes(url.as_bytes()), tier: 0, health }
}

fn scheme(protocol: BackendProtocol) -> &'static str {
    match protocol {
        BackendProtocol::Http => "http",
        BackendProtocol::H2c => "h2c",
        BackendProtocol::Https => "https",
        BackendProtocol::Tcp => "tcp",
        BackendProtocol::Tls => "tls",
        BackendProtocol::Udp => "udp",
    }
}

fn tls_rules(backend: &RoutedBackend) -> TlsRules {
    TlsRules {
        authorities: backend.tls.authorities.clone(),
        names: backend.tls.names.clone(),
        insecure: backend.tls.insecure,
        certificate: Some(backend.tls.certificate.clone()).filter(|certificate| !certificate.is_empty()),
        // gRPC needs it, and others agree on what they understand. What a stream speaks is not known.
        http2: backend.protocol == BackendProtocol::Https,
        ..TlsRules::default()
    }
}

fn upstream(address: SocketAddr, backend: &RoutedBackend, rules: &TlsRules, registry: &Registry) -> Result<Upstream, String> {
    let is_secure = matches!(backend.protocol, BackendProtocol::Https | BackendProtocol::Tls);
    let host = backend.tls.host.as_str();
    let tls = is_secure.then_some((host, rules));
    Upstream::at(address, tls, backend.protocol == BackendProtocol::H2c, registry)
}
