//! The processes of a scenario: the upstream, and every gateway configured for all cases that it can do. All run at the same time,
//! so that rounds can switch between them; idle ones cost nothing.

use super::certificate;
use super::machines::Role;
use super::plan::{PeerCase, RunPlan};
use super::recorded::Recorded;
use crate::interrupt::Interrupt;
use crate::machine::Child;
use crate::peers::{CertificateFiles, ControlRequest, Credential, PeerAdapter, Program, Reload, Setup, SinkPorts, own_program};
use crate::probe::{self, Endpoint, HOST};
use crate::record::StoreSpeed;
use crate::scenario::{Case, Scenario};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

const UPSTREAM_PATIENCE: Duration = Duration::from_secs(10);
/// How long to wait for a gateway: some take a while for ten thousand APIs.
const GATEWAY_PATIENCE: Duration = Duration::from_secs(120);
/// Maximum configuration files kept, for configurations with very many files.
const KEPT_FILES: usize = 20;

/// All running processes.
pub(crate) struct TestBed {
    pub upstream: Child,
    upstream_address: SocketAddr,
    gateways: Vec<RunningGateway>,
    /// Certificate of the gateways for clients that use TLS.
    certificate: Option<CertificateFiles>,
    sink_ports: SinkPorts,
    pub dir: TempDir,
}

/// A running gateway.
struct RunningGateway {
    peer: usize,
    cases: Vec<usize>,
    /// Where each process answers; where the upstream itself does without one.
    places: Vec<SocketAddr>,
    /// The processes, which share a store if there are several; empty for the upstream itself.
    children: Vec<Child>,
    stores: Vec<Child>,
    store_port: u16,
    /// Credentials by index of the case in `cases`.
    credentials: BTreeMap<usize, Credential>,
    passes_paths_on: bool,
    recorded: Option<Recorded>,
    reload: Option<Reload>,
}

/// Where to send the requests of a case.
pub(crate) struct ServedCase<'a> {
    /// Where each of its processes answers.
    pub places: &'a [SocketAddr],
    pub is_tls: bool,
    pub path: String,
    pub gateways: &'a [Child],
    pub store: Option<&'a Child>,
    pub credential: Option<&'a Credential>,
    pub recorded: Option<&'a Recorded>,
    passes_paths_on: bool,
    reload: Option<&'a Reload>,
}

impl TestBed {
    /// Starts the upstream.
    pub(crate) fn new(plan: &RunPlan, scenario: &Scenario, interrupt: &Interrupt) -> Result<TestBed, String> {
        let dir = tempfile::Builder::new()
            .prefix("tollgate-bench-")
            .tempdir()
            .map_err(|error| format!("no temporary directory can be made: {error}"))?;
        // Workers of nginx and Varnish may run as other users.
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755))
            .map_err(|error| format!("{}: {error}", dir.path().display()))?;
        let machine = &plan.machines.upstream;
        machine.make(dir.path())?;
        let upstream_address = machine.at(machine.free_port()?);
        let listen = SocketAddr::new(machine.listen_address(), upstream_address.port()).to_string();
        let program = Program::new("upstream", &own_program()?).args(["upstream", "--threads", "1", "--listen", &listen]);
        let upstream = Child::start(machine, &program, &plan.cpus(Role::Upstream), dir.path())?;
        upstream.await_answer(upstream_address.into(), Some("/json/valid"), UPSTREAM_PATIENCE, interrupt)?;
        let kind = scenario.case.iter().find_map(|case| case.api.tls);
        let certificate = kind.map(|kind| certificate::make(kind, dir.path())).transpose()?;
        if let Some(files) = &certificate {
            plan.machines.gateway.make(dir.path())?;
            [&files.certificate, &files.key, &files.both].into_iter().try_for_each(|file| plan.machines.gateway.send_file(file))?;
        }
        let sink_ports = plan.machines.gateway.open_sinks()?;
        Ok(TestBed { upstream, upstream_address, gateways: Vec::new(), certificate, sink_ports, dir })
    }

    /// Starts a gateway for some cases and saves its configuration in `kept`.
    pub(crate) fn add(
        &mut self,
        plan: &RunPlan,
        scenario: &Scenario,
        peer: usize,
        cases: Vec<usize>,
        kept: &Path,
        interrupt: &Interrupt,
    ) -> Result<(), String> {
        let Some(chosen) = plan.peers.get(peer) else { return Ok(()) };
        let name = chosen.adapter.name();
        let dir = self.dir.path().join(format!("{name}-{}", self.gateways.len()));
        fs::create_dir_all(&dir).map_err(|error| format!("{}: cannot be made: {error}", dir.display()))?;
        let machine = &plan.machines.gateway;
        let setup = Setup {
            program: chosen.program.clone(),
            listen_address: machine.listen_address(),
            address: machine.at(machine.free_port()?),
            second_port: machine.free_port()?,
            upstream: self.upstream_address,
            threads: plan.threads,
            cases: cases.iter().filter_map(|index| scenario.case.get(*index)).collect(),
            certificate: self
                .certificate
                .as_ref()
                .filter(|_| cases.iter().any(|index| scenario.case.get(*index).is_some_and(|case| case.api.tls.is_some()))),
            sink_ports: self.sink_ports,
            secret: secret()?,
            dir,
        };
        let launch = chosen.adapter.prepare(&setup)?;
        keep(&launch.configuration, &kept.join(name), &setup)?;
        machine.send(&setup.dir)?;
        let mut stores = Vec::new();
        for program in &launch.before {
            let store = Child::start(machine, program, &plan.store_cpus(), &setup.dir)?;
            if let Some(port) = program.port {
                store.await_port(port, UPSTREAM_PATIENCE, interrupt)?;
            }
            stores.push(store);
        }
        let mut places = Vec::new();
        let mut children = Vec::new();
        let mut credentials = BTreeMap::new();
        if let Some(program) = launch.gateway {
            children.push(self.start(plan, &setup, chosen.adapter, program, interrupt)?);
            places.push(setup.address);
            credentials = chosen.adapter.finish(&setup).map_err(|reason| {
                format!("{reason}; its last words:\n{}", children.first().map(Child::tail).unwrap_or_default())
            })?;
        }
        for number in 1..scenario.gateways {
            // The first one has started the store and created the keys in it.
            let dir = setup.dir.join(format!("gateway-{number}"));
            fs::create_dir_all(&dir).map_err(|error| format!("{}: cannot be made: {error}", dir.display()))?;
            let further = Setup {
                address: machine.at(machine.free_port()?),
                dir,
                cases: setup.cases.clone(),
                program: setup.program.clone(),
                secret: setup.secret.clone(),
                ..setup
            };
            let Some(program) = chosen.adapter.prepare(&further)?.gateway else { break };
            machine.send(&further.dir)?;
            children.push(self.start(plan, &further, chosen.adapter, program, interrupt)?);
            places.push(further.address);
        }
        if children.is_empty() {
            places.push(self.upstream_address);
        }
        let sink = setup.cases.iter().find_map(|case| case.records.clone()).filter(|_| !children.is_empty());
        let recorded =
            sink.map(|sink| Recorded::new(sink, machine, &setup.dir, setup.listener(), setup.second_port, &setup.secret));
        let reload = chosen.adapter.reload(&setup);
        let passes_paths_on = chosen.adapter.passes_paths_on();
        self.gateways.push(RunningGateway {
            peer,
            cases,
            places,
            children,
            stores,
            store_port: setup.second_port,
            credentials,
            passes_paths_on,
            recorded,
            reload,
        });
        Ok(())
    }

    /// Starts a gateway's process and waits until it serves.
    fn start(
        &self,
        plan: &RunPlan,
        setup: &Setup,
        adapter: &dyn PeerAdapter,
        mut program: Program,
        interrupt: &Interrupt,
    ) -> Result<Child, String> {
        let environment = setup.cases.iter().flat_map(|case| &case.environment);
        program.environment.extend(environment.map(|(name, value)| (name.clone(), value.clone())));
        let gateway = Child::start(&plan.machines.gateway, &program, &plan.cpus(Role::Gateway), &setup.dir)?;
        // Without the query, which may contain a key that allows only one request.
        let first = setup.cases.first().filter(|case| !case.api.http2);
        let first = first.map(|case| path_of(adapter.passes_paths_on(), case, &case.request.path));
        let first = first.map(|path| path.split('?').next().unwrap_or("/").to_owned());
        gateway.await_answer(setup.listener(), first.as_deref(), GATEWAY_PATIENCE, interrupt)?;
        Ok(gateway)
    }

    /// How many commands a store executes per second without its gateways; `None` if there is no store, or nothing to measure it.
    pub(crate) fn store_speed(&self, plan: &RunPlan) -> Option<StoreSpeed> {
        let gateway = self.gateways.iter().find(|gateway| !gateway.stores.is_empty())?;
        let (connections, commands) = ("100", "100000");
        let (cpus, port) = (plan.store_cpus(), gateway.store_port.to_string());
        let mut words = vec!["-c", &cpus, "redis-benchmark", "-h", HOST, "-p", &port, "-c", connections];
        words.extend(["-n", commands, "-t", "incr", "--csv"]);
        let text = plan.machines.gateway.output(Path::new("taskset"), &words).ok()?;
        let row = text.lines().find(|line| line.starts_with("\"INCR\""))?;
        let commands_per_second = row.split(',').nth(1)?.trim_matches('"').parse().ok()?;
        Some(StoreSpeed { measured: format!("redis-benchmark, INCR on {connections} connections"), commands_per_second })
    }

    /// Where to send the requests of a target; `None` if its gateway did not start.
    pub(crate) fn place(&self, target: PeerCase, case: &Case) -> Option<ServedCase<'_>> {
        let gateway = self.gateways.iter().find(|gateway| gateway.peer == target.peer && gateway.cases.contains(&target.case))?;
        let place = gateway.cases.iter().position(|index| *index == target.case)?;
        Some(ServedCase {
            places: &gateway.places,
            is_tls: case.api.tls.is_some() && !gateway.children.is_empty(),
            path: path_of(gateway.passes_paths_on, case, &case.request.path),
            credential: gateway.credentials.get(&place),
            recorded: gateway.recorded.as_ref(),
            passes_paths_on: gateway.passes_paths_on,
            gateways: &gateway.children,
            store: gateway.stores.first(),
            reload: gateway.reload.as_ref(),
        })
    }
}

impl ServedCase<'_> {
    /// The full path for another path of the case.
    pub(crate) fn path_of(&self, case: &Case, path: &str) -> String {
        path_of(self.passes_paths_on, case, path)
    }

    /// Where its first process answers.
    pub(crate) fn listener(&self) -> Endpoint {
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        Endpoint { address: self.places.first().copied().unwrap_or(nowhere), is_tls: self.is_tls }
    }

    pub(crate) fn can_reload(&self) -> bool {
        self.reload.is_some()
    }

    /// Clears the gateway's token cache before the same tokens are sent again. Then sends one request, so that the gateway fetches
    /// what it needs before the measurement.
    pub(crate) fn forget_tokens(&self, case: &Case) -> Result<(), String> {
        let Some(credential) = self.credential else { return Ok(()) };
        let Some(tokens) = &credential.tokens else { return Ok(()) };
        self.control(&tokens.forget)?;
        let headers: Vec<_> =
            credential.headers.iter().map(|(name, value)| (name.clone(), value.replace("{token}", &tokens.first))).collect();
        match probe::send(self.listener(), &case.request.method, &self.path, &headers, b"")?.status {
            200 => Ok(()),
            status => Err(format!("the first token was answered with {status}")),
        }
    }

    fn control(&self, request: &ControlRequest) -> Result<(), String> {
        let ControlRequest { method, path, headers } = request;
        match probe::send(self.listener(), method, path, headers, b"")?.status {
            200 => Ok(()),
            status => Err(format!("{method} {path} was answered with {status}")),
        }
    }

    /// Makes the gateway reload its configuration.
    pub(crate) fn reload(&self) -> Result<(), String> {
        match (self.reload, self.gateways.first()) {
            (Some(Reload::Hangup), Some(gateway)) => {
                gateway.hang_up();
                Ok(())
            }
            (Some(Reload::Request(request)), _) => self.control(request),
            _ => Ok(()),
        }
    }
}

/// The path to request from a gateway.
fn path_of(passes_paths_on: bool, case: &Case, path: &str) -> String {
    if passes_paths_on { path.to_owned() } else { case.path_below(path) }
}

/// Copies configuration files to the results, without the run's secret and directory.
fn keep(files: &[PathBuf], into: &Path, setup: &Setup) -> Result<(), String> {
    let directory = setup.dir.display().to_string();
    let failed = |error: std::io::Error| format!("{}: cannot be written: {error}", into.display());
    fs::create_dir_all(into).map_err(failed)?;
    for file in files {
        let mut listed: Vec<PathBuf> = match fs::read_dir(file) {
            Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
            Err(_) => vec![file.clone()],
        };
        listed.sort();
        for file in listed.iter().take(KEPT_FILES) {
            let text = fs::read_to_string(file).unwrap_or_default();
            let text = text.replace(&setup.secret, "SECRET").replace(&directory, ".");
            fs::write(into.join(file.file_name().unwrap_or_default()), text).map_err(failed)?;
        }
    }
    Ok(())
}

/// A secret for the control APIs of this run.
fn secret() -> Result<String, String> {
    let mut bytes = [0; 16];
    let mut random = fs::File::open("/dev/urandom").map_err(|error| format!("/dev/urandom: {error}"))?;
    random.read_exact(&mut bytes).map_err(|error| format!("/dev/urandom: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
