//! The parts of a gateway that all of its threads share, each built from those before it.

use super::engine_settings::{address, announcing_proxies, threads};
use super::handover::Inherited;
use super::plugin_drivers::plugin_drivers;
use super::storage;
use std::error::Error;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;
use tollgate_access::oauth::TokenStore;
use tollgate_clock::MonoTime;
use tollgate_cluster::Cluster;
use tollgate_control::definitions::DefinitionStore;
use tollgate_control::definitions::SharedDefinitions;
use tollgate_control::ports::ApiPorts;
use tollgate_data::api_call::api_call_queue;
use tollgate_data::bundle_store::BundleStore;
use tollgate_data::client_tls::{AllowList, ClientTerms};
use tollgate_data::gateway_state::GatewayState;
use tollgate_data::mcp_mail::ClusterMail;
use tollgate_data::own_apis::ServedApis;
use tollgate_data::probe::probe_queue;
use tollgate_data::registry::Registry;
use tollgate_data::second_tier::SecondTier;
use tollgate_data::settings::Settings;
use tollgate_engine::{Address, Http2, ListenSocket, LocalConnector, Target, TrustedProxies};
use tollgate_limit::{AddressRates, Rate};
use tollgate_model::config::GatewayConfig;
use tollgate_observe::logs::LogFigures;
use tollgate_observe::{Meters, Observer, Recording, UptimeRecords};
use tollgate_outbound::ExternalServices;
use tollgate_tls::Library;

pub(super) struct GatewayParts {
    pub shared: Arc<GatewayState>,
    pub definitions: Arc<DefinitionStore>,
    /// The ports that definitions open.
    pub ports: Arc<ApiPorts>,
    pub token_store: TokenStore,
    /// TLS towards clients of the gateway's own port, if it speaks TLS.
    pub client_terms: Option<Arc<ClientTerms>>,
    /// The lock that keeps other processes out of the store, if there is one.
    pub lock: Option<File>,
}

impl GatewayParts {
    /// Builds all of them. Requests for the control plane go to `connector`.
    pub(super) fn build(
        config: &GatewayConfig,
        settings: Settings,
        recording: Option<Recording>,
        log_figures: Arc<LogFigures>,
        connector: LocalConnector,
        inherited: &mut Inherited,
    ) -> Result<Self, Box<dyn Error>> {
        let registry = registry(config);
        let observer = Arc::new(Observer::new(
            config.tollgate.metrics.enabled,
            threads(config),
            recording,
            config.opentelemetry.metrics().is_some(),
            config.hash_keys,
            log_figures,
        ));
        let storage::Opened { store, keys, cluster, lock } =
            storage::open(config, inherited.lock.take(), registry.patterns.clone())?;
        let keys = Arc::new(keys);
        let redis = cluster.as_ref().map(|cluster| cluster.redis.clone());
        // It is set once, when the process starts.
        let _ = registry.script_keys.set(keys.clone());
        if config.enforce_org_data_age
            && let Some(recording) = &observer.recording
        {
            let keys = keys.clone();
            recording.enforce_data_ages(Box::new(move |org| keys.data_age_s(org)));
        }
        registry.oauth_clients.connect(store.as_ref(), redis.clone())?;
        let token_store = TokenStore::new(store.clone(), keys.clone(), registry.oauth_clients.clone());
        if let Some(cluster) = &cluster {
            registry.share_limits(cluster.limits.clone());
        }
        let cache_redis = storage::open_cache(config, &keys)?;
        if let Some(redis) = &cache_redis {
            let answer_time_max = Duration::from_millis(config.tollgate.shared_store.answer_ms_max);
            registry.share_responses(Arc::new(SecondTier::new(redis.clone(), answer_time_max)));
        }
        let certificates = Arc::new(storage::open_certificates(config, store, &keys)?);
        settings.watch.events.use_certificates(registry.certificates.clone());
        let uploaded = certificates.clone();
        registry.certificates.add_stored(Box::new(move |id| Some(uploaded.get_used(id)?.to_pem().into_bytes())));
        let client_terms = ClientTerms::new(config, &registry.certificates, !certificates.are_read())?.map(Arc::new);
        let port_terms = match &client_terms {
            Some(terms) => Ok(terms.clone()),
            None => ClientTerms::for_ports(config, &registry.certificates).map(Arc::new),
        };
        let serial = registry.new_serial();
        let control = Target { serial, address: Address::Local(connector), proxy: None, tls: None, http2: Http2::Never };
        let shared = Arc::new(GatewayState {
            settings,
            control_callers: control_callers(config, &registry.certificates),
            client_terms: port_terms.as_ref().ok().cloned(),
            registry,
            keys: keys.clone(),
            observer,
            certificates,
            current: Default::default(),
            generation: Default::default(),
            start: cluster.as_ref().map_or_else(MonoTime::now, |cluster| cluster.limits.start_time()),
            // Gateways may share cached responses and nothing else.
            cluster: cluster.or_else(|| Some(Cluster::connect(cache_redis.clone()?, config))),
            address_rates: address_rates(config),
            host_events: Default::default(),
            probes: probe_queue(threads(config)),
            uptime_records: UptimeRecords::open(config)?,
            control: Arc::new(control),
        });
        if let Some(cluster) = &shared.cluster {
            let mail = Arc::new(ClusterMail(cluster.clone()));
            shared.registry.mailboxes.connect(mail.clone());
            let _ = shared.registry.rest_mail.set(mail);
        }
        let _ = shared.registry.own_apis.set(Arc::new(ServedApis::of(&shared)));
        listen_to_hosts(&shared);
        let ports = Arc::new(api_ports(config, port_terms, inherited.api_ports()));
        let shared_definitions = SharedDefinitions::new(config, redis);
        let definitions = Arc::new(DefinitionStore::new(shared.clone(), ports.clone(), config, shared_definitions));
        Ok(GatewayParts { shared, definitions, ports, token_store, client_terms, lock })
    }
}

/// State that survives reloads, with what runs plugins and calls other servers.
fn registry(config: &GatewayConfig) -> Arc<Registry> {
    let registry = Arc::new(Registry::new(Meters::new(threads(config), config.tollgate.metrics.apis_max)));
    // Set once, here.
    let _ = registry.plugins.set(plugin_drivers(config, &registry, threads(config)));
    let _ = registry.bundles.set(Arc::new(BundleStore::new(config)));
    let _ = registry.api_calls.set(Arc::new(api_call_queue(threads(config))));
    let services = || ExternalServices::new(&config.external_services, config.tollgate.redirect_networks());
    registry.auth_client.configure(services(), registry.certificates.clone());
    registry.script_client.configure(services(), registry.certificates.clone());
    registry.graph_client.0.configure(services(), registry.certificates.clone());
    registry
}

/// The ports that definitions open.
fn api_ports(config: &GatewayConfig, terms: Result<Arc<ClientTerms>, String>, inherited: Vec<ListenSocket>) -> ApiPorts {
    let proxies = announcing_proxies(config);
    // Whoever reaches a port with `enable_proxy_protocol` announces clients there, unless the proxies are named.
    let everybody: TrustedProxies = Arc::new(|_| true);
    let stream_proxies = proxies.clone().unwrap_or(everybody);
    ApiPorts::new(address(&config.listen_address, 0).ip(), threads(config), terms, proxies, stream_proxies, inherited)
}

/// The rate limit per client address, if configured.
fn address_rates(config: &GatewayConfig) -> Option<AddressRates> {
    let written = &config.tollgate.limits.requests_per_ip;
    let rate = Rate::new(written.rate, written.per)?;
    Some(AddressRates::new(rate, written.addresses_max))
}

/// The certificates allowed to call the control API, if it requires one.
fn control_callers(config: &GatewayConfig, library: &Library) -> Option<Arc<AllowList>> {
    let security = &config.security;
    security.control_api_use_mutual_tls.then(|| Arc::new(AllowList::new(&security.certificates.control_api, library)))
}

/// Makes the states of targets events of their APIs.
fn listen_to_hosts(shared: &Arc<GatewayState>) {
    let watched = Arc::downgrade(shared);
    shared.host_events.listen(move |event| {
        let Some(shared) = watched.upgrade() else { return };
        let snapshot = shared.current.load();
        snapshot.api(event.api).and_then(|api| api.events.as_ref()).iter().for_each(|events| events.host(event));
    });
}
