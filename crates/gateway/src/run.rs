//! Starts the parts of the gateway in order, waits for signals, and stops them in order.

use crate::acme;
use crate::announcement::{ServedAddresses, announce};
use crate::cli::{MockOptions, RunOptions};
use crate::control_plane::ControlPlane;
use crate::engine_settings::{address, address_limit, limits, listen, threads};
use crate::handover::{HandoverState, Inherited, Predecessor, SocketRole};
use crate::kubernetes::{Controller, RunningController};
use crate::notify::Notifier;
use crate::parts::GatewayParts;
use crate::pid_file::PidFile;
use crate::secret_stores;
use crate::signals::{Signals, StopCause};
use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tollgate_access::secret;
use tollgate_control::api::{self, OwnPort, Ports, StoreQueues};
use tollgate_control::certificate_watch::CertificateWatch;
use tollgate_control::definitions::Reloads;
use tollgate_control::report::{Pusher, StatsdSink};
use tollgate_data::gateway_state::GatewayState;
use tollgate_data::handler::{CoreHandle, CoreService};
use tollgate_data::settings::Settings;
use tollgate_engine::{CoreStats, Engine, EngineConfig, ServiceFactory};
use tollgate_mock_upstream::OtherPaths;
use tollgate_model::Problem;
use tollgate_model::config::GatewayConfig;
use tollgate_observe::Recording;
use tollgate_observe::logs::{self, Log, LogFormat};
use tollgate_observe::syslog_link::SyslogServer;

/// Interval between checks of the certificate files.
const CERTIFICATES_EVERY: Duration = Duration::from_secs(5);

/// Time for storing what was answered when the process ends: a thousand entries of the log of changes, and some revisions.
const STORE_QUEUES_TIME: Duration = Duration::from_secs(30);

/// How long an idle connection may still send a request after another process took over.
const LAST_REQUEST_TIME: Duration = Duration::from_secs(5);

/// Runs the gateway until a signal ends it, with a controller for a cluster beside it, if there is one.
pub(crate) fn run(options: RunOptions, cluster: Option<Controller>) -> Result<(), Box<dyn Error>> {
    // Must run before anything else is opened.
    let inherited = Inherited::take()?;
    let predecessor = inherited.predecessor()?;
    let served = serve(options, cluster, inherited, predecessor.as_ref());
    if let (Err(error), Some(predecessor)) = (&served, &predecessor) {
        predecessor.say_failed(&error.to_string());
    }
    served
}

fn serve(
    options: RunOptions,
    cluster: Option<Controller>,
    mut inherited: Inherited,
    predecessor: Option<&Predecessor>,
) -> Result<(), Box<dyn Error>> {
    let (config, log, settings) = configured(&options, cluster.is_some())?;
    raise_open_files_limit();
    let (secret, secret_file) = secret::configured_or_made(&config.secret, config.made_secret_file())?;
    let (connector, control_inbox) = api::socket_pairs();
    let notifier = Arc::new(Notifier::from_environment());
    let recording = Recording::start(&config, threads(&config), log_format(&options, &config))?;
    let mut parts = GatewayParts::build(&config, settings, recording, log.figures.clone(), connector, &mut inherited)?;
    let _ = parts.shared.registry.session_secret.set(secret.derived("tollgate sessions"));
    parts.definitions.reload();
    let cluster = cluster.map(|controller| controller.start(parts.definitions.clone(), parts.shared.keys.clone())).transpose()?;
    if let (Some(cluster), Some(_)) = (&cluster, predecessor) {
        cluster.wait_until_served()?;
    }
    let statsd = statsd_sink(&config, &parts.shared)?;
    let own_ports = OwnPorts::open(&config, &parts, &mut inherited)?;
    // All steps that can fail are done: from here on, clients are served.
    if let Some(predecessor) = predecessor {
        predecessor.wait_for_go()?;
        parts.shared.keys.read_quotas_again()?;
    }
    let (mut engine, are_given) = start_engine(&config, &parts, &mut inherited)?;
    if let Some(statsd) = statsd {
        statsd.start(parts.shared.clone())?;
    }
    let pusher = start_pusher(&config, &parts.shared)?;
    let reloads = Reloads::start(parts.definitions.clone(), config.reload_interval())?;
    watch(&config, &parts.shared, &reloads)?;
    acme::start(&config, &parts)?;
    let sockets = own_ports.sockets(&mut engine, are_given)?;
    for unused in inherited.unused() {
        tracing::warn!(socket = unused, "the configuration has no use for an inherited socket");
    }
    drop(inherited);

    let addresses = own_ports.addresses(&engine);
    let (close_ports, closed) = watch::channel(false);
    let ports_of_control = Ports { own: own_ports.control, metrics: own_ports.metrics, portal: own_ports.portal, closed };
    let plane = ControlPlane::new(&config, &parts, &reloads, &addresses, (secret, secret_file.clone()))?;
    let names = [config.health_check_endpoint_name.clone(), config.readiness_check_endpoint_name.clone()];
    let store_queues = api::start(plane.control, plane.waiting_changes, names, control_inbox, ports_of_control)?;

    // Installs the handlers before the announcement: a signal may follow it at once.
    let mut signals = Signals::catch()?;
    // Like the handlers, the file must be there before anyone learns that the gateway serves.
    let _pid_file = PidFile::write(&config.pid_file_location);
    // Problems must be in the log before anyone learns that the gateway serves.
    log.flush();
    announce(&addresses, parts.client_terms.is_some(), secret_file.as_deref(), api::console_is_served(&config));
    if let Some(predecessor) = predecessor {
        predecessor.say_ready();
    }
    notifier.ready(predecessor.map(|_| std::process::id()));
    let estate = HandoverState {
        sockets,
        ports: parts.ports.clone(),
        lock: parts.lock.take(),
        keys: parts.shared.keys.clone(),
        health: plane.health.clone(),
        time_max: Duration::from_millis(config.tollgate.timeouts.restart_ms),
    };
    let end = signals.wait_for_end(&reloads, &estate, &notifier, is_alive(parts.shared.observer.engine.clone()));
    plane.statistics.end_streams();
    // Whoever takes over writes statuses from now on; what is served stays.
    cluster.into_iter().for_each(RunningController::stop);
    // Once the engine accepts no more, connections would wait on these sockets, which still listen.
    let ports = parts.ports.clone();
    let stop_listening = move || {
        ports.close();
        drop(estate);
    };
    let limit_ms = config.drain_timeout().as_millis() as u64;
    match end {
        StopCause::Stop => {
            notifier.stopping();
            plane.health.drain();
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
    let ending = Ending { pusher, close_ports, store_queues };
    ending.finish(&parts, end)
}

/// The configuration, the log that it describes, and the settings of the data plane.
fn configured(options: &RunOptions, for_cluster: bool) -> Result<(GatewayConfig, Log, Settings), Box<dyn Error>> {
    let (mut config, problems) = load_config(options)?;
    if for_cluster {
        // Routes may carry them, and no file says otherwise of a cluster.
        config.http_server_options.enable_websockets = true;
        if config.listen_address.is_empty() {
            // On all addresses, the gateway's own port would be one that no Gateway can have.
            config.listen_address = Ipv4Addr::LOCALHOST.to_string();
        }
    }
    let log = start_log(options, &config);
    logs::problems(&problems);
    for flag in options.without_effect.names() {
        tracing::warn!(flag, "a flag of Tyk's has no effect here");
    }
    let (settings, problems) = Settings::new(&config).with_errors(&config);
    let (errors, problems): (Vec<_>, Vec<_>) = problems.into_iter().partition(Problem::is_error);
    logs::problems(&problems);
    match errors.is_empty() {
        true => Ok((config, log, settings)),
        false => Err(unusable(&errors).into()),
    }
}

/// Where figures go by StatsD, if anywhere. Tyk sends nothing unless a variable is set; here the server's name is enough, and the variable can
/// only switch it off.
fn statsd_sink(config: &GatewayConfig, shared: &GatewayState) -> Result<Option<StatsdSink>, Box<dyn Error>> {
    let is_off = std::env::var("TYK_INSTRUMENTATION").is_ok_and(|text| matches!(text.as_str(), "0" | "false"));
    Ok(StatsdSink::new(config, shared.observer.statsd.clone())?.filter(|_| config.tollgate.metrics.enabled && !is_off))
}

/// Starts the data threads. Returns also whether their sockets were given by whoever has started the process.
fn start_engine(config: &GatewayConfig, parts: &GatewayParts, inherited: &mut Inherited) -> Result<(Engine, bool), Box<dyn Error>> {
    let shared = parts.shared.clone();
    let services: ServiceFactory = Arc::new(move |core| Rc::new(CoreHandle(Rc::new(CoreService::new(shared.clone(), core)))));
    let listen = listen(config, parts.client_terms.clone());
    let (sockets, are_given) = inherited.data(listen.address);
    let engine_config = EngineConfig {
        listen: vec![listen],
        threads: threads(config),
        limits: limits(config),
        name_servers: config.tollgate.dns.addresses(),
        services,
        stats: parts.shared.observer.engine.clone(),
        address_limit: address_limit(config),
    };
    let engine = Engine::start(engine_config, vec![sockets])?;
    parts.ports.start(engine.listener_control(), &parts.shared.current.load().ports());
    parts.shared.observer.name_node(engine.addresses.first().map_or(config.listen_port, SocketAddr::port));
    Ok((engine, are_given))
}

/// Starts to watch what definitions refer to: certificates, bundles, secrets, and the changes of other gateways.
fn watch(config: &GatewayConfig, shared: &Arc<GatewayState>, reloads: &Reloads) -> Result<(), Box<dyn Error>> {
    watch_certificates(shared.clone(), config)?;
    if let Some(bundles) = shared.registry.bundles.get() {
        let reloads = reloads.clone();
        bundles.on_fetched(move || reloads.request_later());
    }
    if let Some(secrets) = &shared.settings.documents.secrets.remote {
        let (reloads, interval) = (reloads.clone(), Duration::from_secs(config.tollgate.secrets.renew_s.max(1)));
        secret_stores::watch(secrets, interval, move || reloads.request_later())?;
    }
    if let Some(shared_keys) = shared.keys.shared_keys() {
        let reloads = reloads.clone();
        shared_keys.cluster.messages.on_reload(move || reloads.request_later());
    }
    Ok(())
}

/// The control plane's own ports.
struct OwnPorts {
    control: Option<OwnPort>,
    metrics: Option<OwnPort>,
    portal: Option<OwnPort>,
}

impl OwnPorts {
    fn open(config: &GatewayConfig, parts: &GatewayParts, inherited: &mut Inherited) -> Result<Self, Box<dyn Error>> {
        let mut control = |address| {
            let socket = inherited.port(SocketRole::Control, address);
            OwnPort::bind(address, socket, parts.client_terms.as_deref(), parts.shared.control_callers.clone())
        };
        let control = control_address(config).map(&mut control).transpose()?;
        let mut metrics = |address| OwnPort::bind(address, inherited.port(SocketRole::Metrics, address), None, None);
        let metrics = config.tollgate.metrics.address().map(&mut metrics).transpose()?;
        let mut portal = |address| {
            let socket = inherited.port(SocketRole::Portal, address);
            OwnPort::bind(address, socket, parts.client_terms.as_deref(), None)
        };
        let portal = config.tollgate.portal.address().map(&mut portal).transpose()?;
        Ok(OwnPorts { control, metrics, portal })
    }

    /// The listening sockets, which a process that takes over gets.
    fn sockets(&self, engine: &mut Engine, are_given: bool) -> Result<Vec<(SocketRole, TcpListener)>, Box<dyn Error>> {
        let data = if are_given { SocketRole::Given } else { SocketRole::Data };
        let mut sockets: Vec<_> = std::mem::take(&mut engine.listeners).into_iter().map(|socket| (data, socket)).collect();
        for (role, port) in
            [(SocketRole::Control, &self.control), (SocketRole::Metrics, &self.metrics), (SocketRole::Portal, &self.portal)]
        {
            sockets.extend(port.as_ref().map(OwnPort::socket).transpose()?.map(|socket| (role, socket)));
        }
        Ok(sockets)
    }

    fn addresses(&self, engine: &Engine) -> ServedAddresses {
        let of = |port: &Option<OwnPort>| port.iter().filter_map(|port| port.address().ok()).collect();
        ServedAddresses {
            data: engine.addresses.clone(),
            control: of(&self.control),
            metrics: of(&self.metrics),
            portal: of(&self.portal),
        }
    }
}

/// What ends after the data threads, in this order.
struct Ending {
    pusher: Option<Pusher>,
    close_ports: watch::Sender<bool>,
    store_queues: StoreQueues,
}

impl Ending {
    fn finish(self, parts: &GatewayParts, end: StopCause) -> Result<(), Box<dyn Error>> {
        let shared = &parts.shared;
        let keys = &shared.keys;
        // Until now, the control plane's own ports have reported that the gateway drains.
        let _ = self.close_ports.send(true);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        if runtime.block_on(async { tokio::time::timeout(LAST_REQUEST_TIME, self.close_ports.closed()).await }).is_err() {
            tracing::warn!("a request to the control API is cut off");
        }
        // Whatever ends the process: changes that were answered are in the store before anything else is.
        if !runtime.block_on(self.store_queues.finish(STORE_QUEUES_TIME)) {
            tracing::error!("revisions or entries of the log of changes are lost: the store takes too long");
        }
        parts.definitions.keep_copy();
        shared.observer.recording.iter().for_each(Recording::stop);
        shared.settings.watch.events.finish();
        self.pusher.into_iter().for_each(Pusher::stop);
        if let Some(cluster) = &shared.cluster {
            runtime.block_on(cluster.leave());
            runtime.block_on(cluster.limits.settle(true));
        }
        shared.registry.end_processes();
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
            runtime.block_on(keys.store().counters(Vec::new()))?;
        }
        if let Err(fault) = keys.store().fold_log() {
            tracing::warn!(%fault, "the store's log stays beside its database; both belong together");
        }
        tracing::info!("stopped");
        Ok(())
    }
}

/// Runs the mock upstream.
pub(crate) fn mock(options: MockOptions) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(options.listen).map_err(|error| format!("cannot listen on {}: {error}", options.listen))?;
    say!("tollgate: mock upstream on http://{}", listener.local_addr()?);
    Ok(tollgate_mock_upstream::serve(listener, None, OtherPaths::Description)?)
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

/// Starts pushing metrics to a collector, if configured.
fn start_pusher(config: &GatewayConfig, shared: &Arc<GatewayState>) -> Result<Option<Pusher>, Box<dyn Error>> {
    let Some(figures) = shared.observer.otlp_metrics.clone().filter(|_| shared.observer.metrics) else { return Ok(None) };
    let Some((collector, interval)) = config.opentelemetry.metrics() else { return Ok(None) };
    Ok(Some(Pusher::start(shared.clone(), &collector, interval, figures)?))
}

/// Starts reloading renewed certificate files, and looking for certificates that end.
fn watch_certificates(shared: Arc<GatewayState>, config: &GatewayConfig) -> io::Result<()> {
    let mut ending = CertificateWatch::new(config, &shared);
    let watch = move || loop {
        ending.look(&shared);
        std::thread::sleep(CERTIFICATES_EVERY);
        shared.certificates.read_if_missing();
        shared.certificates.look_again();
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
