//! The control plane: Tyk's control API and the health endpoints. One thread handles its connections and answers probes; `workers`
//! does everything else. Requests on the gateway's main port arrive through socket pairs, so that all limits of the data plane
//! apply to them as well.

mod acme;
mod answer;
mod api_health;
mod apis;
mod audited_calls;
mod authority;
mod cache;
mod certificate_list;
mod certs;
mod chain;
mod change_log;
mod check;
mod client_list;
mod configuration;
mod console;
mod console_document;
mod debug;
mod definition_changes;
mod definition_store;
mod discovery;
mod document;
mod documents;
mod examples;
mod failures;
mod health;
mod history;
mod inspection;
mod key_changes;
mod key_events;
pub(crate) mod keys;
mod lists;
mod llm_budgets;
mod llm_overview;
mod llm_spend;
mod logged_files;
mod masking;
mod mcp_clients;
mod mcp_state;
mod mcps;
mod metrics;
mod nodes;
mod oas;
mod oauth;
mod openapi;
mod operator_rights;
mod operators;
mod orgs;
mod own_port;
mod parameters;
mod policies;
mod portal;
mod provider;
mod query;
pub(crate) mod recorded;
mod reload;
mod right_fields;
mod schema;
mod scoping;
mod serving;
mod store_queues;
mod stream;
mod tail;
mod token_store;
mod tokens;
mod top;
mod usage;
mod users;
mod versions;
mod workers;

use crate::definitions::FILE_BYTES_MAX;
use crate::definitions::{DefinitionStore, Reloads};
use crate::mirrored_documents::MirroredDocuments;
use crate::nodes::Nodes;
use crate::replay::Replays;
use crate::statistics::Statistics;
use crate::target_watcher::watch_targets;
use crate::tried_apis::watch_tried_apis;
use answer::error;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io;
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, watch};
use tollgate_access::oauth::{Notices, TokenStore};
use tollgate_access::secret::ControlSecret;
use tollgate_admin::Guesses;
use tollgate_data::cache_purger::CachePurger;
use tollgate_data::control_caller::ControlCaller;
use tollgate_data::gateway_state::GatewayState;
use tollgate_engine::LocalConnector;
use tollgate_portal::Portal;
use tower::ServiceExt;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use api_health::ApiHealth;
pub use change_log::{ChangeLog, WaitingEntries};
pub use console::{Console, ConsoleFacts, console_is_served};
pub use documents::DocumentLocks;
pub use health::Health;
pub use inspection::Inspection;
pub use openapi::described;
pub use operators::Operators;
pub use own_port::OwnPort;
pub use store_queues::StoreQueues;
pub use token_store::TokenDocument;
use workers::Workers;

/// Threads that render metrics; further scrapers wait.
const FIGURES_THREADS_MAX: usize = 2;
/// Time from the start of a connection to the end of a head.
const HEAD_TIME_MAX: Duration = Duration::from_secs(15);

/// How long an idle connection to an own port is kept after the port was closed.
const LAST_REQUEST_TIME: Duration = Duration::from_secs(1);

/// Path of the console's page, with the slash that makes its links relative to it.
const CONSOLE_PAGE: &str = "/tyk/console/";

/// State of the control API.
pub struct Control {
    pub shared: Arc<GatewayState>,
    pub definitions: Arc<DefinitionStore>,
    pub reloads: Reloads,
    /// Held while a version of a document is checked and changed.
    pub documents: DocumentLocks,
    /// The log of changes.
    pub changes: ChangeLog,
    pub secret: ControlSecret,
    /// Wrong guesses at the secret.
    pub guesses: Mutex<Guesses>,
    /// The console; `None` if it is not served.
    pub console: Option<Console>,
    /// Providers at which operators sign in, and what the secret is good for.
    pub operators: Operators,
    /// Tokens for automation.
    pub tokens: TokenDocument,
    pub health: Arc<Health>,
    pub statistics: Arc<Statistics>,
    /// The configuration as it is shown; `None` if it is not.
    pub inspection: Option<Inspection>,
    pub nodes: Nodes,
    /// `None` if switched off.
    pub api_health: Option<ApiHealth>,
    /// The token store of the OAuth 2.0 provider.
    pub token_store: TokenStore,
    /// Purges stored responses on all gateways.
    pub purger: Arc<CachePurger>,
    /// What upstreams say of themselves, for clients of the Model Context Protocol.
    pub mirrored_documents: MirroredDocuments,
    /// Sends notifications about its tokens.
    pub notices: Arc<Notices>,
    pub replays: Arc<Replays>,
    /// Names of the certificates that the configuration wants the gateway to get by itself.
    pub issued_names: Vec<String>,
    /// The developer portal; `None` if it is not served.
    pub portal: Option<Arc<Portal>>,
}

/// The control plane's ends of connections that the data plane opens.
pub struct SocketPairs(mpsc::UnboundedReceiver<UnixStream>);

/// Connects the data plane to a control plane that starts later.
pub fn socket_pairs() -> (LocalConnector, SocketPairs) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let connect = move || {
        let (own, other) = UnixStream::pair()?;
        other.set_nonblocking(true)?;
        sender.send(other).map_err(|_| io::Error::other("the control plane is gone"))?;
        Ok(own)
    };
    (Arc::new(connect), SocketPairs(receiver))
}

/// Ports besides the gateway's main one.
pub struct Ports {
    /// The control API's own port.
    pub own: Option<OwnPort>,
    /// A port for `/metrics` only, without a secret.
    pub metrics: Option<OwnPort>,
    /// The port of the developer portal.
    pub portal: Option<OwnPort>,
    /// Becomes true when these ports accept no more.
    pub closed: watch::Receiver<bool>,
}

/// Starts the control plane's thread. `names` are the paths of the health and readiness endpoints.
pub fn start(
    control: Control,
    changes: WaitingEntries,
    names: [String; 2],
    pairs: SocketPairs,
    ports: Ports,
) -> io::Result<StoreQueues> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().max_blocking_threads(FIGURES_THREADS_MAX).build()?;
    let threads = workers::start()?;
    let keys = control.shared.keys.clone();
    let control = Arc::new(control);
    let proxies = Arc::new(control.shared.settings.callers.client_address.clone());
    {
        let _threads = threads.enter();
        control.statistics.start(control.shared.clone(), control.nodes.cluster.clone());
    }
    let scraped = Router::new().route("/metrics", get(metrics::metrics)).with_state(control.clone());
    let routes = Routes::new(&control, &names, threads.handle());
    let portal_threads = threads.handle().clone();
    let (stop, stopped) = watch::channel(false);
    let (all_stored, ended) = oneshot::channel();
    std::thread::Builder::new().name("control".to_owned()).spawn(move || {
        runtime.block_on(async {
            tokio::spawn(keys.clone().follow_orgs());
            tokio::spawn(keys.write_behind());
            tokio::spawn(health::watch_store(control.clone()));
            tokio::spawn(watch_targets(control.shared.clone()));
            tokio::spawn(watch_tried_apis(control.shared.clone()));
            tokio::spawn(watch_shared_definitions(control.clone()));
            let (changed, waiting) = mpsc::channel(store_queues::WAITING_MAX);
            control.definitions.tell_changes(changed);
            let noting = definition_changes::note(control.clone(), waiting, stopped);
            let (noted, all_noted) = watch::channel(false);
            let writing = change_log::write(control.clone(), changes, all_noted);
            tokio::spawn(async move {
                let noting = async {
                    noting.await;
                    // From now on, no entry comes from definitions.
                    let _ = noted.send(true);
                };
                tokio::join!(noting, writing);
                let _ = all_stored.send(());
            });
            if let Some(portal) = control.portal.clone() {
                tokio::spawn(portal.clone().deliver_mail());
                tokio::spawn(portal.clone().look_every_hour());
                if let Some(port) = ports.portal {
                    tokio::spawn(port.serve(portal::pages(portal, portal_threads), proxies.clone(), ports.closed.clone()));
                }
            }
            tokio::spawn(async move {
                if let Some(health) = &control.api_health {
                    health.watch(&control.shared.registry.meters).await;
                }
            });
            if let Some(port) = ports.metrics {
                tokio::spawn(port.serve(scraped, proxies.clone(), ports.closed.clone()));
            }
            if let Some(port) = ports.own {
                tokio::spawn(port.serve(routes.public.clone(), proxies.clone(), ports.closed.clone()));
            }
            // Shutdown waits for the own ports, but not for this loop.
            drop(ports.closed);
            routes.serve(pairs).await;
        });
        threads.shutdown_background();
    })?;
    Ok(StoreQueues { stop, ended })
}

/// All endpoints.
pub struct Routes {
    /// Those that are also on the control API's own port.
    public: Router,
    /// Those that only the data plane can reach.
    of_data_plane: Router,
}

impl Routes {
    /// `names` are the paths of the health and readiness endpoints; `threads` answer.
    pub fn new(control: &Arc<Control>, names: &[String; 2], threads: &Handle) -> Self {
        let callers = Workers::new(threads.clone(), FILE_BYTES_MAX);
        let clients = Workers::new(threads.clone(), provider::BODY_BYTES_MAX);
        let large_callers = Workers::new(threads.clone(), configuration::BODY_BYTES_MAX);
        let public = router(control, names, [callers, large_callers], threads);
        let of_data_plane = Router::new()
            .route("/oauth/{api}/{endpoint}", any(provider::answer))
            .route("/discovery/{scheme}/{api}/{endpoint}", any(discovery::answer))
            .route("/.well-known/acme-challenge/{token}", get(acme::answer))
            .layer(from_fn_with_state(clients, workers::run))
            .with_state(control.clone());
        let of_data_plane = match &control.portal {
            Some(portal) => of_data_plane.merge(portal::at_host(portal.clone(), threads.clone())),
            None => of_data_plane,
        };
        Routes { public, of_data_plane }
    }

    /// Serves the requests of the data plane.
    pub async fn serve(self, mut pairs: SocketPairs) {
        let router = self.public.merge(self.of_data_plane);
        while let Some(pair) = pairs.0.recv().await {
            match tokio::net::UnixStream::from_std(pair) {
                Ok(stream) => spawn(&router, stream, None, None),
                Err(error) => tracing::error!(%error, "a request for the control API was lost"),
            }
        }
    }
}

/// Loads what other gateways have stored.
async fn watch_shared_definitions(control: Arc<Control>) {
    let Some(shared) = control.definitions.shared_definitions() else { return };
    let Some(mut beats) = control.shared.cluster.as_ref().map(|cluster| cluster.beats()) else { return };
    while beats.changed().await.is_ok() {
        if shared.is_to_be_loaded().await {
            // One after the other: while it loads, the revision is still the old one.
            let _ = control.reloads.request().await;
        }
        let definitions = control.definitions.clone();
        let _ = tokio::task::spawn_blocking(move || definitions.keep_copy()).await;
    }
}

/// The endpoints that need the secret. Handlers declare method, path and description. A test sends the examples method by method,
/// in this order: an endpoint that removes something must follow those that need it.
fn endpoints() -> OpenApiRouter<Arc<Control>> {
    OpenApiRouter::new()
        .routes(routes!(reload::reload))
        .routes(routes!(reload::reload_all))
        .routes(routes!(apis::list, apis::create))
        .routes(routes!(apis::show, apis::create_at, apis::update, apis::remove))
        .routes(routes!(chain::chain))
        .routes(routes!(versions::list))
        .routes(routes!(oas::list, oas::create))
        .routes(routes!(oas::import))
        .routes(routes!(oas::export_all))
        .routes(routes!(oas::export))
        .routes(routes!(oas::versions))
        .routes(routes!(oas::show, oas::update, oas::patch, oas::remove))
        .routes(routes!(mcps::list, mcps::create))
        .routes(routes!(mcp_state::servers, mcp_state::ask))
        .routes(routes!(mcp_clients::list))
        .routes(routes!(mcp_clients::restore, mcp_clients::remove))
        .routes(routes!(mcps::show, mcps::update, mcps::remove))
        .routes(routes!(llm_budgets::list))
        .routes(routes!(llm_budgets::reset))
        .routes(routes!(keys::list, keys::add_unnamed))
        .routes(routes!(keys::create))
        .routes(routes!(keys::preview))
        .routes(routes!(keys::set_policies))
        .routes(routes!(key_changes::bulk))
        .routes(routes!(keys::show, keys::add, keys::update, keys::remove, key_changes::patch))
        .routes(routes!(orgs::list))
        .routes(routes!(orgs::show, orgs::add, orgs::update, orgs::remove))
        .routes(routes!(policies::list, policies::create))
        .routes(routes!(policies::show, policies::create_at, policies::update, policies::remove))
        .routes(routes!(certs::list, certs::add))
        .routes(routes!(certs::show, certs::add_at, certs::remove))
        .routes(routes!(acme::list))
        .routes(routes!(acme::renew))
        .merge(portal::endpoints())
        .routes(routes!(oauth::create))
        .routes(routes!(oauth::apis_of_client))
        .routes(routes!(oauth::list))
        .routes(routes!(oauth::rotate))
        .routes(routes!(oauth::tokens, oauth::revoke_tokens))
        .routes(routes!(oauth::show, oauth::update, oauth::remove))
        .routes(routes!(provider::authorize_client_of))
        .routes(routes!(oauth::remove_refresh))
        .routes(routes!(oauth::revoke))
        .routes(routes!(oauth::revoke_all))
        .routes(routes!(oauth::purge))
        .routes(routes!(cache::status))
        .routes(routes!(cache::purge))
        .routes(routes!(cache::invalidate))
        .routes(routes!(cache::forget_all_key_sets))
        .routes(routes!(cache::forget_key_sets))
        .routes(routes!(api_health::health))
        .routes(routes!(usage::usage))
        .routes(routes!(llm_spend::spend))
        .routes(routes!(llm_overview::overview))
        .routes(routes!(debug::debug))
        .routes(routes!(debug::live::debug_stream))
        .routes(routes!(check::api))
        .routes(routes!(check::policy))
        .routes(routes!(check::key))
        .routes(routes!(lists::apis))
        .routes(routes!(lists::keys, lists::find_keys))
        .routes(routes!(lists::policies))
        .routes(routes!(mcp_state::primitives))
        .routes(routes!(certificate_list::certs))
        .routes(routes!(client_list::clients))
        .routes(routes!(nodes::search))
        .routes(routes!(change_log::list))
        .routes(routes!(users::list, users::create))
        .routes(routes!(users::set_password))
        .routes(routes!(users::update, users::remove))
        .routes(routes!(tokens::list, tokens::create))
        .routes(routes!(tokens::remove))
        .routes(routes!(usage::last_seen))
        .routes(routes!(tail::list, tail::find))
        .routes(routes!(schema::schema))
        .routes(routes!(inspection::config))
        .routes(routes!(inspection::env))
        .routes(routes!(openapi::document))
}

/// Endpoints whose bodies may be large.
fn large() -> OpenApiRouter<Arc<Control>> {
    OpenApiRouter::new()
        .routes(routes!(configuration::show, configuration::change))
        .routes(routes!(configuration::revisions::list))
        .routes(routes!(configuration::revisions::rollback))
        .routes(routes!(configuration::replays::begin))
        .routes(routes!(configuration::replays::requests))
        .routes(routes!(configuration::replays::report, configuration::replays::end))
}

/// Endpoints for metrics, which are polled constantly and must answer regardless of the load on the others.
fn figures() -> OpenApiRouter<Arc<Control>> {
    OpenApiRouter::new()
        .routes(routes!(metrics::metrics))
        .routes(routes!(metrics::figures))
        .routes(routes!(history::history))
        .routes(routes!(stream::stream))
        .routes(routes!(configuration::samples::sample))
        .routes(routes!(top::top))
        .routes(routes!(nodes::list))
}

/// All endpoints; the public ones under their configured names.
fn router(
    control: &Arc<Control>,
    [hello, ready]: &[String; 2],
    [workers, large_callers]: [Workers; 2],
    threads: &Handle,
) -> Router {
    let table = Arc::new(authority::AccessTable::of(&endpoints().merge(large()).merge(figures()).into_openapi()));
    let guarded = Router::from(endpoints())
        .route_layer(from_fn_with_state(control.clone(), documents::guard))
        .route_layer(from_fn_with_state(control.clone(), masking::mask))
        .route_layer(from_fn_with_state(workers, workers::run))
        .merge(
            Router::from(large())
                .route_layer(from_fn_with_state(control.clone(), masking::mask))
                .route_layer(from_fn_with_state(large_callers, workers::run)),
        )
        .merge(Router::from(figures()).route_layer(from_fn_with_state(control.clone(), masking::mask)))
        // Where scrapers look by default; on a port shared with APIs, the path belongs to the APIs.
        .route("/metrics", get(metrics::metrics))
        .fallback(|| async { (StatusCode::NOT_FOUND, "404 page not found\n") })
        .method_not_allowed_fallback(|| async { error(StatusCode::METHOD_NOT_ALLOWED, "Method not supported") })
        .layer(from_fn_with_state((control.clone(), table), authority::authorize))
        .layer(from_fn_with_state(control.clone(), audited_calls::note))
        .with_state(control.clone());
    let open = Router::new()
        .route(&format!("/{hello}"), get(health::hello))
        .route(&format!("/{ready}"), get(health::ready))
        .route("/live", get(health::live))
        .route("/tyk/operators/providers", get(operators::providers))
        .method_not_allowed_fallback(|| async { error(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed") });
    let console = if control.console.is_some() { console::router(control, &guarded, threads) } else { Router::new() };
    // Bodies are read and limited before they arrive here.
    open.merge(console).with_state(control.clone()).merge(guarded).layer(DefaultBodyLimit::disable())
}

/// Serves a connection. On an own port, whose `peer` is known, it ends with its current request once the port is closed, and keeps `held`
/// until then.
fn spawn(
    router: &Router,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    held: Option<own_port::Held>,
    peer: Option<own_port::PortPeer>,
) {
    let arrive = move |request| with_caller(without_trailing_slash(request), peer.as_ref());
    let service = TowerToHyperService::new(router.clone().map_request(arrive));
    tokio::spawn(async move {
        let mut server = hyper::server::conn::http1::Builder::new();
        server.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME_MAX);
        let mut connection = pin!(server.serve_connection(TokioIo::new(stream), service));
        let ended = match held {
            None => connection.await,
            Some(mut held) => tokio::select! {
                ended = &mut connection => ended,
                () = last_request(&mut held.closed) => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            },
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection to the control API ended");
        }
    });
}

/// Waits until a port is closed, then gives connections a moment to send a last request.
async fn last_request(closed: &mut watch::Receiver<bool>) {
    let _ = closed.wait_for(|closed| *closed).await;
    tokio::time::sleep(LAST_REQUEST_TIME).await;
}

/// Attaches who calls: known from the connection, or from the header of the data plane, which nobody else can send.
fn with_caller(mut request: http::Request<Incoming>, peer: Option<&own_port::PortPeer>) -> http::Request<Incoming> {
    let told = request.headers_mut().remove(ControlCaller::HEADER);
    let caller = match peer {
        Some(peer) => Some(peer.caller(request.headers())),
        None => told.and_then(|value| ControlCaller::parse(value.to_str().ok()?)),
    };
    if let Some(caller) = caller {
        request.extensions_mut().insert(caller);
    }
    request
}

/// Removes trailing slashes, but from the console's page: paths of the control API mean the same with and without them.
fn without_trailing_slash(mut request: http::Request<Incoming>) -> http::Request<Incoming> {
    let uri = request.uri();
    let path = uri.path();
    let trimmed = path.trim_end_matches('/');
    if path.starts_with("/tyk/") && path != CONSOLE_PAGE && trimmed.len() < path.len() {
        let target = match uri.query() {
            Some(query) => format!("{trimmed}?{query}"),
            None => trimmed.to_owned(),
        };
        if let Ok(uri) = target.parse::<Uri>() {
            *request.uri_mut() = uri;
        }
    }
    request
}
