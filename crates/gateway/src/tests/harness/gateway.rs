//! A gateway without threads and sockets of its own: one core, whose clock stands still, and the control API.

use super::exchange::play;
use crate::announcement::ServedAddresses;
use crate::control_plane::ControlPlane;
use crate::handover::Inherited;
use crate::parts::GatewayParts;
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tollgate_access::keys::Keys;
use tollgate_access::secret;
use tollgate_clock::MonoTime;
use tollgate_clock::virtual_time;
use tollgate_control::api::{Routes, socket_pairs};
use tollgate_control::definitions::Reloads;
use tollgate_data::handler::{CoreHandle, CoreService};
use tollgate_data::settings::Settings;
use tollgate_data::snapshot::CompiledApi;
use tollgate_engine::{ClientInfo, Handler, Service};
use tollgate_model::config::GatewayConfig;
use tollgate_observe::logs::{self, LogFigures};
use tollgate_testing::definition::merge;
use tollgate_testing::keys::Served;
use tollgate_testing::tokens::policy_file;
use tollgate_testing::wire::Broken;
use tollgate_testing::{CONTROL_SECRET, Connection, Definition, PATIENCE, Response, get, request};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;

thread_local! {
    /// The time on this thread, for all gateways on it.
    static NOW: Cell<Option<MonoTime>> = const { Cell::new(None) };
}

/// The time of the next request.
pub(crate) fn now() -> MonoTime {
    NOW.get().unwrap_or_else(|| {
        let now = MonoTime::now();
        NOW.set(Some(now));
        now
    })
}

/// Lets time pass.
pub(crate) fn pass(time: Duration) {
    NOW.set(Some(now() + time));
    virtual_time::pass(time);
}

/// Asks again and again until the condition holds, while time passes.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = now() + PATIENCE;
    while !holds() {
        assert!(now() < deadline, "never happened: {what}");
        pass(Duration::from_millis(50));
    }
}

/// Asks again and again until the condition holds, for what other threads do. No time passes on this thread.
pub(crate) fn settled(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "never happened: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// What a gateway is started with.
#[derive(Default)]
pub(crate) struct Setup {
    conf: Value,
    files: Vec<(String, Vec<u8>)>,
}

impl Setup {
    pub(crate) fn new(conf: Value) -> Setup {
        Setup { conf, files: Vec::new() }
    }

    pub(crate) fn api(self, definition: Definition) -> Setup {
        let name = format!("{}.json", definition.id());
        self.file(&name, definition.0.to_string())
    }

    /// A file in the folder of definitions.
    pub(crate) fn file(mut self, name: &str, content: impl Into<Vec<u8>>) -> Setup {
        self.files.push((name.to_owned(), content.into()));
        self
    }

    pub(crate) fn start(self) -> Gateway {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let apps = dir.path().join("apps");
        fs::create_dir(&apps).expect("a folder for definitions");
        for (name, content) in &self.files {
            let path = apps.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("its folder");
            fs::write(path, content).expect("a definition");
        }
        let mut conf = json!({
            "secret": CONTROL_SECRET,
            "app_path": apps,
            "file": {"base_path": "/"},
            "tollgate": {"data_dir": dir.path().join("data"), "threads": 1}
        });
        merge(&mut conf, &self.conf);
        let path = dir.path().join("tyk.conf");
        fs::write(&path, conf.to_string()).expect("a configuration");
        let log = CapturedLog::default();
        let logged = tracing_subscriber::fmt().with_writer(log.clone()).with_ansi(false).with_target(false).finish();
        let logged = tracing::subscriber::set_default(logged);
        let no_store = |_: &_| None;
        let (config, problems) =
            GatewayConfig::load_with(Some(&path), std::iter::empty(), &no_store).expect("a usable configuration");
        logs::problems(&problems);

        let (settings, problems) = Settings::new(&config).with_errors(&config);
        logs::problems(&problems);
        let (connector, pairs) = socket_pairs();
        let mut inherited = Inherited::default();
        let figures = LogFigures::of_no_log();
        let parts =
            GatewayParts::build(&config, settings, None, figures, connector, &mut inherited).expect("a usable configuration");
        parts.definitions.reload();

        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let secret = secret::configured_or_made(&config.secret, config.made_secret_file()).expect("a secret");
        let reloads = Reloads::start(parts.definitions.clone(), Duration::ZERO).expect("a thread");
        let addresses = ServedAddresses { data: Vec::new(), control: Vec::new(), metrics: Vec::new(), portal: Vec::new() };
        let plane = {
            let _entered = runtime.enter();
            ControlPlane::new(&config, &parts, &reloads, &addresses, secret).expect("a usable configuration")
        };
        let names = [config.health_check_endpoint_name.clone(), config.readiness_check_endpoint_name.clone()];
        let routes = Routes::new(&Arc::new(plane.control), &names, runtime.handle());
        runtime.spawn(routes.serve(pairs));

        let service = CoreHandle(Rc::new(CoreService::new(parts.shared.clone(), 0)));
        Gateway { runtime, service, parts, log, _logged: logged, dir }
    }
}

/// A gateway inside the test.
pub(crate) struct Gateway {
    pub(super) runtime: Runtime,
    pub(super) service: CoreHandle,
    parts: GatewayParts,
    log: CapturedLog,
    /// Ends the log of this thread.
    _logged: DefaultGuard,
    dir: TempDir,
}

impl Gateway {
    /// Starts one with these definitions and with `conf` laid over the tests' configuration.
    pub(crate) fn start(conf: Value, apis: impl IntoIterator<Item = Definition>) -> Gateway {
        apis.into_iter().fold(Setup::new(conf), Setup::api).start()
    }

    pub(crate) fn connect(&self) -> Client<'_> {
        let client = client();
        let ip = client.address.ip().to_string();
        Client { gateway: self, handler: self.service.handler(&client), ip, sent: Vec::new() }
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
        let secret = format!("x-tyk-authorization: {CONTROL_SECRET}");
        self.send(request(method, target, &[&secret, "Connection: close"], body))
    }

    /// Puts the definitions into effect as they are now.
    pub(crate) fn reload(&self) {
        self.parts.definitions.reload();
    }

    pub(crate) fn write_api(&self, definition: &Definition) {
        self.write_file(&format!("{}.json", definition.id()), definition.0.to_string());
    }

    pub(crate) fn write_file(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.dir.path().join("apps").join(name), content).expect("a definition");
    }

    pub(crate) fn remove_file(&self, name: &str) {
        fs::remove_file(self.dir.path().join("apps").join(name)).expect("a definition to remove");
    }

    pub(crate) fn keys(&self) -> &Keys {
        &self.parts.shared.keys
    }

    /// Names of the steps that requests to each API pass, by its id.
    pub(crate) fn chains(&self) -> BTreeMap<String, Vec<String>> {
        let snapshot = self.parts.shared.current.load();
        let names = |one: &CompiledApi| {
            one.versions.all().iter().flat_map(|version| &version.chain).map(|link| link.about.name.to_owned()).collect()
        };
        snapshot.apis.iter().map(|one| (one.api.id.clone(), names(one))).collect()
    }

    /// Says which APIs are in products of the developer portal.
    pub(crate) fn set_tried(&self, ids: &[&str]) {
        let tried = self.parts.shared.settings.answers.tried_apis.as_ref().expect("a portal");
        tried.set(ids.iter().map(|id| (*id).to_owned()).collect());
    }

    /// What was logged on this thread.
    pub(crate) fn log(&self) -> String {
        self.log.text()
    }
}

/// A gateway with these policies.
pub(crate) fn start_with(definitions: impl IntoIterator<Item = Definition>, policies: &[Value]) -> Gateway {
    let (_file, conf) = policy_file(policies);
    Gateway::start(conf, definitions)
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
    /// The requests that are not answered yet.
    sent: Vec<u8>,
}

impl Client<'_> {
    /// Sends one request and reads its answer.
    pub(crate) fn ask(&mut self, request: impl AsRef<[u8]>) -> Response {
        let method = String::from_utf8_lossy(request.as_ref()).split(' ').next().unwrap_or_default().to_owned();
        self.send(request);
        self.response(&method)
    }

    /// Sends requests. Each is handled when its answer is asked for.
    pub(crate) fn send(&mut self, requests: impl AsRef<[u8]>) {
        self.sent.extend_from_slice(requests.as_ref());
    }

    /// The answer to the first request that is not answered.
    pub(crate) fn response(&mut self, method: &str) -> Response {
        self.try_response(method).unwrap_or_else(|broken| panic!("no answer: {broken}"))
    }

    /// As `response`, for an answer that may break off.
    pub(crate) fn try_response(&mut self, method: &str) -> Result<Response, Broken> {
        // Handlers start tasks, as on a core.
        let _entered = self.gateway.runtime.enter();
        let (answer, used) = play(self.gateway, self.handler.as_mut(), &self.ip, &self.sent);
        self.sent.drain(..used);
        Connection::received(answer).try_response(method)
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

/// The lines of a log.
#[derive(Clone, Default)]
struct CapturedLog(Arc<Mutex<Vec<u8>>>);

impl CapturedLog {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("a whole log")).into_owned()
    }
}

impl io::Write for CapturedLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("a whole log").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for CapturedLog {
    type Writer = CapturedLog;

    fn make_writer(&self) -> CapturedLog {
        self.clone()
    }
}
