//! A gateway without threads and sockets of its own: one core, whose clock stands still, and the control API.

use super::exchange::play;
use crate::base::secret;
use crate::control::api::{Routes, socket_pairs};
use crate::control::loader::Reloads;
use crate::data::handler::{CoreHandle, CoreService};
use crate::data::settings::Settings;
use crate::observe::logs::LogFigures;
use crate::process::announcement::ServedAddresses;
use crate::process::control_plane::ControlPlane;
use crate::process::handover::Inherited;
use crate::process::parts::Parts;
use serde_json::{Value, json};
use std::cell::Cell;
use std::fs;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tollgate_engine::{ClientInfo, Handler, MonoTime, Service};
use tollgate_model::config::GatewayConfig;
use tollgate_testing::definition::merge;
use tollgate_testing::keys::Served;
use tollgate_testing::{Connection, Definition, Response, get, request};

const SECRET: &str = "test-secret";

/// A gateway inside the test.
pub(crate) struct Gateway {
    pub(super) runtime: Runtime,
    pub(super) service: CoreHandle,
    /// The time of the next request.
    pub(super) now: Cell<MonoTime>,
    /// Keeps what the service refers to.
    _parts: Parts,
    _dir: TempDir,
}

impl Gateway {
    /// Starts one with these definitions and with `conf` laid over the tests' configuration.
    pub(crate) fn start(conf: Value, apis: impl IntoIterator<Item = Definition>) -> Gateway {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let apps = dir.path().join("apps");
        fs::create_dir(&apps).expect("a folder for definitions");
        for api in apis {
            fs::write(apps.join(format!("{}.json", api.id())), api.0.to_string()).expect("a definition");
        }
        let mut whole = json!({
            "secret": SECRET,
            "app_path": apps,
            "file": {"base_path": "/"},
            "tollgate": {"data_dir": dir.path().join("data"), "threads": 1}
        });
        merge(&mut whole, &conf);
        let path = dir.path().join("tyk.conf");
        fs::write(&path, whole.to_string()).expect("a configuration");
        let no_store = |_: &_| None;
        let (config, _) = GatewayConfig::load_with(Some(&path), std::iter::empty(), &no_store).expect("a usable configuration");

        let (settings, _) = Settings::new(&config).with_errors(&config);
        let (connector, pairs) = socket_pairs();
        let mut inherited = Inherited::default();
        let parts = Parts::build(&config, settings, None, LogFigures::of_no_log(), connector, &mut inherited)
            .expect("a usable configuration");
        parts.loader.reload();

        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let secret = secret::configured_or_made(&config.secret, config.made_secret_file()).expect("a secret");
        let reloads = Reloads::start(parts.loader.clone(), Duration::ZERO).expect("a thread");
        let addresses = ServedAddresses { data: Vec::new(), control: Vec::new(), metrics: Vec::new() };
        let plane = {
            let _entered = runtime.enter();
            ControlPlane::new(&config, &parts, &reloads, &addresses, secret)
        };
        let names = [config.health_check_endpoint_name.clone(), config.readiness_check_endpoint_name.clone()];
        let routes = Routes::new(&Arc::new(plane.control), &names, runtime.handle());
        runtime.spawn(routes.serve(pairs));

        let service = CoreHandle(Rc::new(CoreService::new(parts.shared.clone(), 0)));
        Gateway { runtime, service, now: Cell::new(MonoTime::now()), _parts: parts, _dir: dir }
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, time: Duration) {
        self.now.set(self.now.get() + time);
    }

    pub(crate) fn connect(&self) -> Client<'_> {
        let client = client();
        Client { gateway: self, handler: self.service.handler(&client), ip: client.address.ip().to_string() }
    }

    /// One request on a connection of its own.
    pub(crate) fn send(&self, request: impl AsRef<[u8]>) -> Response {
        self.connect().ask(request)
    }

    pub(crate) fn get(&self, target: &str) -> Response {
        self.send(get(target))
    }

    /// A call of the control API with the right secret.
    pub(crate) fn control(&self, method: &str, target: &str, body: &str) -> Response {
        let secret = format!("x-tyk-authorization: {SECRET}");
        self.send(request(method, target, &[&secret, "Connection: close"], body))
    }
}

impl Served for Gateway {
    fn answer(&self, request: &[u8]) -> Response {
        self.send(request)
    }

    fn control_answer(&self, method: &str, target: &str, body: &str) -> Response {
        self.control(method, target, body)
    }
}

/// A client's connection.
pub(crate) struct Client<'g> {
    gateway: &'g Gateway,
    handler: Box<dyn Handler>,
    ip: String,
}

impl Client<'_> {
    /// Sends one request and reads its answer.
    pub(crate) fn ask(&mut self, request: impl AsRef<[u8]>) -> Response {
        let bytes = request.as_ref();
        let method = String::from_utf8_lossy(bytes.split(|byte| *byte == b' ').next().unwrap_or_default()).into_owned();
        let answer = play(self.gateway, self.handler.as_mut(), &self.ip, bytes);
        Connection::received(answer).response(&method)
    }
}

/// A client on this machine.
fn client() -> ClientInfo {
    ClientInfo {
        address: "127.0.0.1:40000".parse().expect("an address"),
        listener: 0,
        tls: None,
        http2: false,
        is_own: false,
        ticket: 0,
    }
}
