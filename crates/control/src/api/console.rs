//! The console: its door. Serves the pages at `/tyk/console/`, signs operators in and out, also at providers, and passes their calls at `/tyk/console/api/*` to
//! the same endpoints that scripts call at `/tyk/*`. It refuses calls that a foreign page could make a browser send.

mod door;
mod federated;
mod pages;
pub(super) mod sessions;
mod sign_in;

use super::console_document::ConsoleDocument;
use super::workers::{self, Workers};
use super::{CONSOLE_PAGE, Control, answer};
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, post};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::Handle;
use tollgate_admin::{Tries, Users};
use tollgate_model::config::{ConsoleServe, GatewayConfig};
use tollgate_store::StoreFault;

/// The beginning of the paths of calls.
const API: &str = "/tyk/console/api";
/// A sign-in is a short document.
const SIGN_IN_BYTES_MAX: usize = 4 << 10;
/// A provider's word that sessions have ended is a signed token.
const LOGOUT_BYTES_MAX: usize = 64 << 10;

/// State of the console.
pub struct Console {
    facts: ConsoleFacts,
    tries: Mutex<Tries>,
    pub(super) users: ConsoleDocument<Users>,
}

/// What the console says about its gateway.
pub struct ConsoleFacts {
    /// Name of this gateway among others.
    pub node: String,
    /// Where the console is.
    pub address: Option<SocketAddr>,
    /// File of the secret, if it was generated.
    pub secret_file: Option<PathBuf>,
}

/// Whether the console is served with this configuration.
pub fn console_is_served(config: &GatewayConfig) -> bool {
    let has_own_port = config.control_api_port != 0 && config.control_api_port != config.listen_port;
    let address = config.listen_address.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = address == "localhost" || address.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    match config.tollgate.console.serve {
        ConsoleServe::Auto => has_own_port || is_loopback,
        ConsoleServe::On => true,
        ConsoleServe::Off => false,
    }
}

impl Console {
    pub fn new(facts: ConsoleFacts) -> Self {
        Console { facts, tries: Mutex::default(), users: ConsoleDocument::new("users") }
    }

    /// Whether a user has this password. Slow by design.
    pub(super) async fn has_password(&self, control: &Control, name: &str, password: String) -> Result<bool, StoreFault> {
        let users = self.users.load(control).await?;
        let name = name.to_owned();
        Ok(tokio::task::spawn_blocking(move || users.verified(&name, &password).is_some()).await.unwrap_or(false))
    }

    fn tries(&self) -> MutexGuard<'_, Tries> {
        self.tries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The pages, the sign-in, and the way to `endpoints`.
pub(super) fn router(control: &Arc<Control>, endpoints: &Router, threads: &Handle) -> Router<Arc<Control>> {
    let small = Workers::new(threads.clone(), SIGN_IN_BYTES_MAX);
    let session = get(sign_in::show).post(sign_in::sign_in).delete(sign_in::sign_out).fallback(not_allowed);
    let at_providers = Router::new()
        .route(&format!("{CONSOLE_PAGE}login/{{name}}"), get(federated::start))
        .route(&format!("{CONSOLE_PAGE}login/{{name}}/callback"), get(federated::finish))
        .route(&format!("{CONSOLE_PAGE}login/{{name}}/back-channel"), post(federated::back_channel))
        .route_layer(from_fn_with_state(Workers::new(threads.clone(), LOGOUT_BYTES_MAX), workers::run));
    Router::new()
        .route(&format!("{API}/session"), session)
        .route_layer(from_fn_with_state(small, workers::run))
        .merge(at_providers)
        .route("/tyk/console", get(pages::redirect))
        .route(CONSOLE_PAGE, get(pages::page))
        .route(&format!("{CONSOLE_PAGE}{{file}}"), get(pages::file))
        .route(&format!("{API}/{{*rest}}"), any(door::pass).with_state((control.clone(), endpoints.clone())))
        .layer(axum::middleware::from_fn(pages::with_headers))
}

async fn not_allowed() -> answer::ControlAnswer {
    answer::error(axum::http::StatusCode::METHOD_NOT_ALLOWED, "Method not supported")
}
