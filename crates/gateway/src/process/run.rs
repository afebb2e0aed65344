//! Starts the parts of the gateway in order, waits for signals, and stops them in order.

use crate::auth::oauth::TokenStore;
use crate::base::bundle_store::BundleStore;
use crate::base::external_services::ExternalServices;
use crate::base::node_bus::NodeBus;
use crate::base::purge_log::PurgeLog;
use crate::base::tls::{AllowList, ClientTerms, Library};
use crate::base::{secret, secret_stores};
use crate::control::api::{self, ApiHealth, ChangeLog, Console, ConsoleFacts, Control, Health, OwnPort, Ports};
use crate::control::certificate_watch::CertificateWatch;
use crate::control::loader::{Loader, Reloads};
use crate::control::nodes::{Nodes, OwnFigures};
use crate::control::ports::ApiPorts;
use crate::control::shared_definitions::SharedDefinitions;
use crate::control::statistics::Statistics;
use crate::data::api_call::api_call_queue;
use crate::data::cache_purger::CachePurger;
use crate::data::gateway_state::GatewayState;
use crate::data::handler::{CoreHandle, CoreService};
use crate::data::probe::probe_queue;
use crate::data::registry;
use crate::data::second_tier::SecondTier;
use crate::data::settings::Settings;
use crate::observe::logs;
use crate::observe::logs::{Log, LogFormat, SyslogServer};
use crate::observe::{Meters, Observer, Recording, UptimeRecords};
use crate::process::cli::RunOptions;
use crate::process::handover::{HandoverState, Inherited, Predecessor, Role};
use crate::process::notify::Notifier;
use crate::process::pid_file::PidFile;
use crate::process::plugin_drivers::plugin_drivers;
use crate::process::signals::{Signals, StopCause};
use crate::process::storage;
use crate::report::{Pusher, StatsdSink};
use std::error::Error;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tollgate_client::MockOptions;
use tollgate_engine::{
    Address, AddressLimit, Content, CoreStats, Engine, EngineConfig, Http2, Limits, Listen, MonoTime, ServiceFactory, Speed,
    Target, TlsConfigSelector, TrustedProxies,
};
use tollgate_limit::{AddressRates, Rate};
use tollgate_model::Problem;
use tollgate_model::config::{GatewayConfig, Timeouts};
use tollgate_store::{Question, Redis};

/// Interval between checks of the certificate files.
const CERTIFICATES_EVERY: Duration = Duration::from_secs(5);

/// Time for storing what was answered when the process ends: a thousand entries of the log of changes, and some revisions.
const STORE_QUEUES_TIME: Duration = Duration::from_secs(30);

/// How long an idle connection may still send a request after another process took over.
const LAST_REQUEST_TIME: Duration = Duration::from_secs(5);

/// Runs the gateway until a signal ends it.
pub(crate) fn run(options: RunOptions) -> Result<(), Box<dyn Error>> {
    // Must run before anything else is opened.
    let inherited = Inherited::take()?;
    let predecessor = inherited.predecessor()?;
    let served = serve(options, inherited, predecessor.as_ref());
    if let (Err(error), Some(predecessor)) = (&served, &predecessor) {
        predecessor.say_failed(&error.to_string());
    }
    served
}

fn serve(options: RunOptions, mut inherited: Inherited, predecessor: Option<&Predecessor>) -> Result<(), Box<dyn Error>> {
    let (config, problems) = load_config(&options)?;
    let log = start_log(&options, &config);
    logs::problems(&problems);
    for flag in options.without_effect.names() {
        tracing::warn!(flag, "a flag of Tyk's has no effect here");
    }
    let (settings, problems) = Settings::new(&config).with_errors(&config);
    let (errors, problems): (Vec<_>, Vec<_>) = problems.into_iter().partition(Problem::is_error);
    logs::problems(&problems);
    if !errors.is_empty() {
        return Err(unusable(&errors).into());
    }
    raise_open_files_limit();

    let (secret, secret_file) = secret::configured_or_made(&config.secret, config.made_secret_file())?;
    let (connector, control_inbox) = api::socket_pairs();
    let metrics = &config.tollgate.metrics;
    let registry = Arc::new(registry::Registry::new(Meters::new(threads(&config), metrics.apis_max)));
    // Set once, here.
    let _ = registry.plugins.set(plugin_drivers(&config, &registry, threads(&config)));
    let _ = registry.bundles.set(Arc::new(BundleStore::new(&config)));
    let log_format = log_format(&options, &config);
    let recording = Recording::start(&config, threads(&config), log_format)?;
    let services = || ExternalServices::new(&config.external_services, config.tollgate.redirect_networks());
    registry.auth_client.configure(services(), registry.certificates.clone());
    registry.script_client.configure(services(), registry.certificates.clone());
    registry.graph_client.0.configure(services(), registry.certificates.clone());
    // Set once, here.
    let _ = registry.api_calls.set(Arc::new(api_call_queue(threads(&config))));
    let observer = Arc::new(Observer::new(
        metrics.enabled,
        threads(&config),
        recording,
        config.opentelemetry.metrics().is_some(),
        config.hash_keys,
        log.figures.clone(),
    ));
    let control_target =
        Target { serial: registry.new_serial(), address: Address::Local(connector), proxy: None, tls: None, http2: Http2::Never };
    let notifier = Arc::new(Notifier::from_environment());
    let storage::Opened { store, keys, lock } = storage::open(&config, inherited.lock.take(), registry.patterns.clone())?;
    let keys = Arc::new(keys);
    // It is set once, when the process starts.
    let _ = registry.script_keys.set(keys.clone());
    if config.enforce_org_data_age
        && let Some(recording) = &observer.recording
    {
        let keys = keys.clone();
        recording.enforce_data_ages(Box::new(move |org| keys.data_age_s(org)));
    }
    registry.oauth_clients.connect(store.as_ref(), keys.shared_keys().map(|shared| shared.redis.clone()))?;
    let token_store = TokenStore::new(store.clone(), keys.clone(), registry.oauth_clients.clone());
    if let Some(shared) = keys.shared_keys() {
        registry.share_limits(shared.limits.clone());
    }
    let certificates = Arc::new(storage::open_certificates(&config, store, &keys)?);
    let events = settings.events.clone();
    events.use_certificates(registry.certificates.clone());
    let uploaded = certificates.clone();
    registry.certificates.add_stored(Box::new(move |id| Some(uploaded.get(id)?.to_pem().into_bytes())));
    let client_terms = ClientTerms::new(&config, &registry.certificates, !certificates.are_read())?.map(Arc::new);
    let port_terms = match &client_terms {
        Some(terms) => Ok(terms.clone()),
        None => ClientTerms::for_ports(&config, &registry.certificates).map(Arc::new),
    };
    let shared = Arc::new(GatewayState {
        settings,
        control_callers: control_callers(&config, &registry.certificates),
        client_terms: port_terms.as_ref().ok().cloned(),
        registry,
        keys: keys.clone(),
        observer: observer.clone(),
        certificates,
        current: Default::default(),
        generation: Default::default(),
        start: keys.shared_keys().map_or_else(MonoTime::now, |shared| shared.limits.start_time()),
        address_rates: address_rates(&config),
        host_events: Default::default(),
        probes: probe_queue(threads(&config)),
        uptime_records: UptimeRecords::open(&config)?,
        control: Arc::new(control_target),
    });
    listen_to_hosts(&shared);
    let cache_redis = storage::open_cache(&config, &keys)?;
    if let Some(redis) = &cache_redis {
        let answer_time_max = Duration::from_millis(config.tollgate.shared_store.answer_ms_max);
        shared.registry.share_responses(Arc::new(SecondTier::new(redis.clone(), answer_time_max)));
    }
    let ports = Arc::new(api_ports(&config, port_terms, inherited.api_ports()));
    let shared_definitions = SharedDefinitions::new(&config, keys.shared_keys().map(|shared| shared.redis.clone()));
    let loader = Arc::new(Loader::new(shared.clone(), ports.clone(), &config, shared_definitions));
    loader.reload();
    // Tyk sends nothing unless this variable is set; here the server's name is enough, and the variable can only switch it off.
    let switched_off = std::env::var("TYK_INSTRUMENTATION").is_ok_and(|text| matches!(text.as_str(), "0" | "false"));
    let statsd = StatsdSink::new(&config, observer.statsd.clone())?.filter(|_| metrics.enabled && !switched_off);
    let mut own_port = |address| {
        let socket = inherited.port(Role::Control, address);
        OwnPort::bind(address, socket, client_terms.as_deref(), shared.control_callers.clone())
    };
    let own_port = control_address(&config).map(&mut own_port).transpose()?;
    let control_addresses = own_port.iter().filter_map(|port| port.address().ok()).collect::<Vec<_>>();
    let mut metrics_port = |address| OwnPort::bind(address, inherited.port(Role::Metrics, address), None, None);
    let metrics_port = config.tollgate.metrics.address().map(&mut metrics_port).transpose()?;
    let metrics_addresses = metrics_port.iter().filter_map(|port| port.address().ok()).collect::<Vec<_>>();
    // All steps that can fail are done: from here on, clients are served.
    if let Some(predecessor) = predecessor {
        predecessor.wait_for_go()?;
        keys.read_quotas_again()?;
    }

    let services: ServiceFactory = {
        let shared = shared.clone();
        Arc::new(move |core| Rc::new(CoreHandle(Rc::new(CoreService::new(shared.clone(), core)))))
    };
    let listen = listen(&config, client_terms.clone());
    let (sockets, are_given) = inherited.data(listen.address);
    let engine_config = EngineConfig {
        listen: vec![listen],
        threads: threads(&config),
        limits: limits(&config),
        name_servers: config.tollgate.dns.addresses(),
        services,
        stats: observer.engine.clone(),
        address_limit: address_limit(&config),
    };
    let mut engine = Engine::start(engine_config, vec![sockets])?;
    ports.start(engine.listener_control(), &shared.current.load().ports());
    observer.name_node(engine.addresses.first().map_or(config.listen_port, SocketAddr::port));
    if let Some(statsd) = statsd {
        statsd.start(shared.clone())?;
    }
    let pusher = start_pusher(&config, &shared)?;
    let reloads = Reloads::start(loader.clone(), config.reload_interval())?;
    watch_certificates(shared.clone(), &config)?;
    if let Some(bundles) = shared.registry.bundles.get() {
        let reloads = reloads.clone();
        bundles.on_fetched(move || reloads.request_later());
    }
    if let Some(secrets) = &shared.settings.secrets.remote {
        let (reloads, interval) = (reloads.clone(), Duration::from_secs(config.tollgate.secrets.renew_s.max(1)));
        secret_stores::watch(secrets, interval, move || reloads.request_later())?;
    }
    if let Some(shared) = keys.shared_keys() {
        let reloads = reloads.clone();
        shared.bus.on_reload(move || reloads.request_later());
    }
    let purger = start_purger(
        &config,
        shared.registry.clone(),
        keys.shared_keys().map(|shared| shared.redis.clone()).or(cache_redis),
        &engine.addresses,
    );
    let health = Arc::new(Health::default());
    let statistics = Statistics::new();
    let own_figures = OwnFigures::new(&config, shared.clone(), statistics.clone(), loader.clone());
    let node_bus = keys
        .shared_keys()
        .map(|shared| NodeBus::start(shared.redis.clone(), &config, observer.node().to_owned(), own_figures.clone()));
    let api_health = ApiHealth::new(&config);
    let console_address = control_addresses.first().or(engine.addresses.first()).copied();
    let node = node_name(&config, console_address);
    let (changes, waiting_changes) = ChangeLog::new(node.clone());
    let console = api::console_is_served(&config)
        .then(|| Console::new(ConsoleFacts { node, address: console_address, secret_file: secret_file.clone() }));
    let control = Control {
        shared,
        loader,
        reloads: reloads.clone(),
        files: Default::default(),
        versions: Default::default(),
        documents: Default::default(),
        changes,
        secret,
        guesses: Default::default(),
        console,
        health: health.clone(),
        statistics: statistics.clone(),
        nodes: Nodes { own: own_figures, bus: node_bus.clone() },
        api_health,
        token_store,
        purger: purger.clone(),
        notices: Arc::default(),
        replays: Arc::default(),
    };
    let names = [config.health_check_endpoint_name.clone(), config.readiness_check_endpoint_name.clone()];
    let data = if are_given { Role::Given } else { Role::Data };
    let mut sockets: Vec<(Role, TcpListener)> =
        std::mem::take(&mut engine.listeners).into_iter().map(|socket| (data, socket)).collect();
    for (role, port) in [(Role::Control, &own_port), (Role::Metrics, &metrics_port)] {
        sockets.extend(port.as_ref().map(OwnPort::socket).transpose()?.map(|socket| (role, socket)));
    }
    for unused in inherited.unused() {
        tracing::warn!(socket = unused, "the configuration has no use for an inherited socket");
    }
    drop(inherited);
    let (close_ports, closed) = watch::channel(false);
    let ports_of_control = Ports { own: own_port, metrics: metrics_port, closed };
    let store_queues = api::start(control, waiting_changes, names, control_inbox, ports_of_control)?;

    // Installs the handlers before the announcement: a signal may follow it at once.
    let mut signals = Signals::catch()?;
    let addresses = Addresses { data: &engine.addresses, control: &control_addresses, metrics: &metrics_addresses };
    // Like the handlers, the file must be there before anyone learns that the gateway serves.
    let _pid_file = PidFile::write(&config.pid_file_location);
    // Problems must be in the log before anyone learns that the gateway serves.
    log.flush();
    announce(&addresses, client_terms.is_some(), secret_file.as_deref(), api::console_is_served(&config));
    if let Some(predecessor) = predecessor {
        predecessor.say_ready();
    }
    notifier.ready(predecessor.map(|_| std::process::id()));
    let time_max = Duration::from_millis(config.tollgate.timeouts.restart_ms);
    let estate = HandoverState { sockets, ports: ports.clone(), lock, keys: keys.clone(), health: health.clone(), time_max };
    let end = signals.wait_for_end(&reloads, &estate, &notifier, is_alive(observer.engine.clone()));
    // Once the engine accepts no more, connections would wait on these sockets, which still listen.
    let stop_listening = move || {
        ports.close();
        drop(estate);
    };
    let limit_ms = config.drain_timeout().as_millis() as u64;
    statistics.end_streams();
    match end {
        StopCause::Stop => {
            notifier.stopping();
            health.drain();
            let delay_s = config.graceful_shutdown_delay_seconds;
            if delay_s > 0 {
                tracing::info!(delay_s, "stopping after a delay: not ready, but still accepting; another signal ends the delay");
                signals.wait_for_another(Duration::from_secs(delay_s));
            }
            tracing::info!(limit_ms, "draining");
            stop_listening();
            engine.drain(Duration::ZERO);
        }
        StopCause::HandedOver(pid) => {
            tracing::info!(pid, limit_ms, "handed over; draining");
            let _ = close_ports.send(true);
            stop_listening();
            engine.drain(LAST_REQUEST_TIME);
        }
    }
    // Until now, the control plane's own ports have reported that the gateway drains.
    let _ = close_ports.send(true);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if runtime.block_on(async { tokio::time::timeout(LAST_REQUEST_TIME, close_ports.closed()).await }).is_err() {
        tracing::warn!("a request to the control API is cut off");
    }
    // Whatever ends the process: changes that were answered are in the store before anything else is.
    if !runtime.block_on(store_queues.finish(STORE_QUEUES_TIME)) {
        tracing::error!("revisions or entries of the log of changes are lost: the store takes too long");
    }
    observer.recording.iter().for_each(Recording::stop);
    events.finish();
    pusher.into_iter().for_each(Pusher::stop);
    // After a handover, the new process answers under the same name.
    if let Some(bus) = node_bus.filter(|_| end == StopCause::Stop) {
        runtime.block_on(bus.leave());
    }
    if let Some(log) = purger.log() {
        runtime.block_on(log.leave());
    }
    if let Some(shared) = keys.shared_keys() {
        runtime.block_on(shared.limits.settle(true));
    }
    if end != StopCause::Stop {
        // The store now belongs to the new process.
        tracing::info!("stopped");
        return Ok(());
    }
    if let Err(fault) = runtime.block_on(keys.save_quotas()) {
        // An unavailable server must not turn an orderly shutdown into a failure; the embedded store has no such excuse.
        if keys.shared_keys().is_none() {
            return Err(fault.into());
        }
        tracing::error!(%fault, "the last quotas could not be stored");
    }
    // What was asked of the store in the background has its turn before.
    if keys.shared_keys().is_none() {
        runtime.block_on(keys.store().ask(Question::Counters { names: Vec::new() }))?;
    }
    if let Err(fault) = keys.store().fold_log() {
        tracing::warn!(%fault, "the store's log stays beside its database; both belong together");
    }
    tracing::info!("stopped");
    Ok(())
}

/// Runs the mock upstream.
pub(crate) fn mock(options: MockOptions) -> Result<(), Box<dyn Error>> {
    let _log = logs::start(LogFormat::Plain, "info", None);
    let listener = TcpListener::bind(options.listen).map_err(|error| format!("cannot listen on {}: {error}", options.listen))?;
    println!("tollgate: mock upstream on http://{}", listener.local_addr()?);
    Ok(tollgate_client::serve_mock(listener)?)
}

/// The configuration for a command that does not run the gateway; ignores warnings.
pub(crate) fn load_config_file(file: Option<&Path>) -> Result<GatewayConfig, Box<dyn Error>> {
    let options = RunOptions { conf: file.map(Path::to_owned), ..RunOptions::default() };
    load_config(&options).map(|(config, _)| config)
}

fn load_config(options: &RunOptions) -> Result<(GatewayConfig, Vec<Problem>), Box<dyn Error>> {
    let file = options.conf.clone().or_else(GatewayConfig::default_file);
    let loaded = GatewayConfig::load_with(file.as_deref(), std::env::vars(), &secret_stores::connect);
    let (mut config, problems) = loaded.map_err(|problems| unusable(&problems))?;
    if let Some(port) = options.port {
        config.listen_port = port;
    }
    if let Some(address) = options.listen_address {
        config.listen_address = address.to_string();
    }
    Ok((config, problems))
}

fn unusable(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
    format!("the configuration is not usable\n{}", lines.join("\n"))
}

fn start_log(options: &RunOptions, config: &GatewayConfig) -> Log {
    let level = if options.debug { "debug" } else { config.log_level.as_str() };
    logs::start(log_format(options, config), level, SyslogServer::new(config))
}

fn log_format(options: &RunOptions, config: &GatewayConfig) -> LogFormat {
    options.log_format.unwrap_or_else(|| LogFormat::named(&config.log_format))
}

/// Raises the limit of open files: a gateway needs a descriptor for each connection on both sides, and the soft limit is often
/// 1024.
fn raise_open_files_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::warn!(%error, "cannot raise the limit of open files");
    }
}

fn threads(config: &GatewayConfig) -> usize {
    match config.tollgate.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

fn limits(config: &GatewayConfig) -> Limits {
    let (written, timeouts) = (&config.tollgate.limits, &config.tollgate.timeouts);
    let threads = threads(config) as u64;
    let of_each_thread = |idle_max: u64| if idle_max == 0 { u64::MAX } else { idle_max.div_ceil(threads) };
    let idle_max = if config.proxy_close_connections { 0 } else { of_each_thread(config.max_idle_connections_per_host) };
    let idle_total_max = of_each_thread(config.max_idle_connections);
    // Tyk's setting, unless ours differs from the default.
    let is_usual = timeouts.client_write_ms == Timeouts::default().client_write_ms;
    let client_write_s = if is_usual { config.http_server_options.write_timeout } else { 0 };
    let seconds_or = |seconds: u64, default_ms: u64| if seconds == 0 { default_ms } else { seconds.saturating_mul(1000) };
    Limits {
        head_bytes_max: written.head_bytes_max,
        header_lines_max: written.header_lines_max,
        head_ms: timeouts.head_ms,
        handshake_ms: timeouts.handshake_ms,
        http2_streams_max: written.http2_streams_max,
        http2_buffer_bytes_max: written.http2_buffer_bytes_max / threads.max(1) as usize,
        kept_body_bytes_max: written.bodies_bytes_max / threads.max(1) as usize,
        tunnels: config.http_server_options.enable_websockets,
        tunnels_max: written.tunnels_max,
        tunnel_idle_ms: timeouts.tunnel_idle_ms,
        client_idle_ms: timeouts.client_idle_ms,
        client_write_ms: seconds_or(client_write_s, timeouts.client_write_ms),
        upstream_connect_ms: timeouts.upstream_connect_ms.min(config.proxy_timeout().as_millis() as u64),
        upstream_first_byte_ms: config.proxy_timeout().as_millis() as u64,
        body_stall_ms: seconds_or(config.http_server_options.read_timeout, Limits::default().body_stall_ms),
        upload_min: Speed { bytes_per_s_min: written.upload_rate_min, grace_ms: timeouts.rate_grace_ms },
        download_min: Speed { bytes_per_s_min: written.download_rate_min, grace_ms: timeouts.rate_grace_ms },
        upstream_idle_ms: timeouts.upstream_idle_ms,
        upstream_idle_max: usize::try_from(idle_max).unwrap_or(usize::MAX),
        upstream_idle_total_max: usize::try_from(idle_total_max).unwrap_or(usize::MAX),
        upstream_connections_max: usize::try_from(config.tollgate.upstream_connections_max).unwrap_or(usize::MAX),
        upstream_life_ms: config.max_conn_time.saturating_mul(1000),
        drain_ms: config.drain_timeout().as_millis() as u64,
    }
}

fn listen(config: &GatewayConfig, terms: Option<Arc<ClientTerms>>) -> Listen {
    Listen {
        address: address(&config.listen_address, config.listen_port),
        name: 0,
        content: Content::Http,
        tls: terms.map(|terms| terms as Arc<dyn TlsConfigSelector>),
        proxies: announcing_proxies(config),
    }
}

/// The proxies whose connections begin with a PROXY header, if there are any.
fn announcing_proxies(config: &GatewayConfig) -> Option<TrustedProxies> {
    let networks = config.tollgate.announcing_networks();
    let is_announcing = move |address: IpAddr| networks.iter().any(|network| network.contains(&address));
    let proxies: TrustedProxies = Arc::new(is_announcing);
    Some(proxies).filter(|_| !config.tollgate.proxy_protocol.is_empty())
}

/// The ports that definitions open.
fn api_ports(config: &GatewayConfig, terms: Result<Arc<ClientTerms>, String>, inherited: Vec<TcpListener>) -> ApiPorts {
    let proxies = announcing_proxies(config);
    // Whoever reaches a port with `enable_proxy_protocol` announces clients there, unless the proxies are named.
    let everybody: TrustedProxies = Arc::new(|_| true);
    let stream_proxies = proxies.clone().unwrap_or(everybody);
    ApiPorts::new(address(&config.listen_address, 0).ip(), threads(config), terms, proxies, stream_proxies, inherited)
}

/// The limit on connections per client address, if configured. Proxies are exempt: many clients are behind them.
fn address_limit(config: &GatewayConfig) -> Option<Arc<AddressLimit>> {
    let connections_max = config.tollgate.limits.connections_per_ip_max;
    let proxies = [config.tollgate.trusted_networks(), config.tollgate.announcing_networks()].concat();
    let is_proxy = move |address: IpAddr| proxies.iter().any(|network| network.contains(&address));
    (connections_max > 0).then(|| AddressLimit::new(connections_max, Arc::new(is_proxy)))
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

/// The name of this gateway among others: its machine and port.
fn node_name(config: &GatewayConfig, address: Option<SocketAddr>) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let port = address.map_or(config.listen_port, |address| address.port());
    format!("{}:{port}", host.trim())
}

/// Purges stored responses here, and on the other gateways if they share a Redis.
fn start_purger(
    config: &GatewayConfig,
    registry: Arc<registry::Registry>,
    redis: Option<Arc<Redis>>,
    addresses: &[SocketAddr],
) -> Arc<CachePurger> {
    let purger = CachePurger::new(registry);
    if let Some(redis) = redis {
        let name = format!("{} (process {})", node_name(config, addresses.first().copied()), std::process::id());
        purger.share(PurgeLog::start(redis, config, name, purger.clone()));
    }
    purger
}

/// Starts pushing metrics to a collector, if configured.
fn start_pusher(config: &GatewayConfig, shared: &Arc<GatewayState>) -> Result<Option<Pusher>, Box<dyn Error>> {
    let Some(figures) = shared.observer.otlp_metrics.clone().filter(|_| shared.observer.metrics) else { return Ok(None) };
    let Some((collector, interval)) = config.opentelemetry.metrics() else { return Ok(None) };
    Ok(Some(Pusher::start(shared.clone(), &collector, interval, figures)?))
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

/// Starts reloading renewed certificate files, and looking for certificates that end.
fn watch_certificates(shared: Arc<GatewayState>, config: &GatewayConfig) -> io::Result<()> {
    let mut ending = CertificateWatch::new(config, &shared);
    let watch = move || loop {
        ending.look(&shared);
        std::thread::sleep(CERTIFICATES_EVERY);
        shared.certificates.read_if_missing();
        shared.refresh_certificates();
    };
    std::thread::Builder::new().name("certificates".to_owned()).spawn(watch)?;
    Ok(())
}

/// The control API's own address, if it has one.
fn control_address(config: &GatewayConfig) -> Option<SocketAddr> {
    let own = config.control_api_port != 0 && config.control_api_port != config.listen_port;
    let written = Some(config.tollgate.control_listen_address.as_str()).filter(|written| !written.is_empty());
    own.then(|| address(written.unwrap_or(&config.listen_address), config.control_api_port))
}

/// Whether every core has swept its time limits since the last call.
fn is_alive(cores: Vec<Arc<CoreStats>>) -> impl FnMut() -> bool {
    let mut last = Vec::new();
    move || {
        let now: Vec<u64> = cores.iter().map(|core| core.sweeps.get()).collect();
        let before = std::mem::replace(&mut last, now);
        before.iter().zip(&last).all(|(before, now)| before != now)
    }
}

/// The configured address. Without one, all addresses of both families, if the system has IPv6.
fn address(written: &str, port: u16) -> SocketAddr {
    let written = match written {
        "localhost" => "127.0.0.1",
        written => written.trim_start_matches('[').trim_end_matches(']'),
    };
    let ip = written.parse().unwrap_or_else(|_| match TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0)) {
        Ok(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        Err(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
    });
    SocketAddr::new(ip, port)
}

/// The listening addresses.
struct Addresses<'a> {
    data: &'a [SocketAddr],
    control: &'a [SocketAddr],
    metrics: &'a [SocketAddr],
}

/// Prints the listening addresses to standard output, in a form that scripts can parse.
fn announce(addresses: &Addresses<'_>, tls: bool, secret_file: Option<&Path>, has_console: bool) {
    let scheme = if tls { "https" } else { "http" };
    let Addresses { data: addresses, control, metrics } = *addresses;
    // A missing reader is no reason to end.
    let say = |line: String| drop(writeln!(io::stdout(), "tollgate: {line}"));
    for address in addresses {
        say(format!("listening on {scheme}://{}", reachable(*address)));
    }
    let secret = secret_file.map(|path| format!(" (secret in {})", path.display())).unwrap_or_default();
    for address in control.iter().chain(addresses.first()).take(1) {
        say(format!("control API at {scheme}://{}/tyk/{secret}", reachable(*address)));
        if has_console {
            say(format!("console at {scheme}://{}/tyk/console/", reachable(*address)));
        }
    }
    for address in metrics {
        say(format!("metrics at http://{}/metrics", reachable(*address)));
    }
}

/// An address that clients on this machine can use.
fn reachable(address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() { SocketAddr::new(Ipv4Addr::LOCALHOST.into(), address.port()) } else { address }
}
