//! The processes of a scenario: the upstream, and every gateway configured for every case that it can do. All run at the same
//! time, so that rounds can go from one to the next; the idle ones cost nothing.

use super::child::Child;
use super::loader::own_program;
use super::plan::{PeerCase, RunPlan};
use crate::interrupt::Interrupt;
use crate::peers::{Program, Reload, Setup};
use crate::probe;
use crate::scenario::{Case, Scenario};
use rustix::process::Signal;
use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

const UPSTREAM_PATIENCE: Duration = Duration::from_secs(10);
/// Ten thousand APIs take some gateways a while.
const GATEWAY_PATIENCE: Duration = Duration::from_secs(120);
/// Of a configuration that has very many files, these are kept.
const KEPT_FILES: usize = 20;

/// Everything that runs.
pub(crate) struct TestBed {
    pub upstream: Child,
    upstream_port: u16,
    gateways: Vec<RunningGateway>,
    pub dir: TempDir,
}

/// A gateway that runs.
struct RunningGateway {
    peer: usize,
    cases: Vec<usize>,
    port: u16,
    /// `None` for the upstream itself.
    child: Option<Child>,
    stores: Vec<Child>,
    reload: Option<Reload>,
}

/// Where a case is asked.
pub(crate) struct ServedCase<'a> {
    pub port: u16,
    pub path: String,
    pub gateway: Option<&'a Child>,
    pub store: Option<&'a Child>,
    reload: Option<&'a Reload>,
}

impl TestBed {
    /// Starts the upstream.
    pub(crate) fn new(plan: &RunPlan, interrupt: &Interrupt) -> Result<TestBed, String> {
        let dir = tempfile::Builder::new()
            .prefix("tollgate-bench-")
            .tempdir()
            .map_err(|error| format!("no temporary directory can be made: {error}"))?;
        // Workers of nginx and Varnish may run as other users.
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755))
            .map_err(|error| format!("{}: {error}", dir.path().display()))?;
        let upstream_port = free_port()?;
        let listen = format!("127.0.0.1:{upstream_port}");
        let program = Program::new("upstream", &own_program()?).args(["upstream", "--threads", "1", "--listen", &listen]);
        let mut upstream = Child::start(&program, &plan.other_cpus(), dir.path())?;
        upstream.await_answer(upstream_port, Some("/json/valid"), UPSTREAM_PATIENCE, interrupt)?;
        Ok(TestBed { upstream, upstream_port, gateways: Vec::new(), dir })
    }

    /// Starts a gateway for some cases and keeps what it was configured with in `kept`.
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
        let setup = Setup {
            program: chosen.program.clone(),
            port: free_port()?,
            second_port: free_port()?,
            upstream_port: self.upstream_port,
            threads: plan.threads,
            cases: cases.iter().filter_map(|index| scenario.case.get(*index)).collect(),
            secret: secret()?,
            dir,
        };
        let launch = chosen.adapter.prepare(&setup)?;
        keep(&launch.configuration, &kept.join(name), &setup)?;
        let mut stores = Vec::new();
        for program in &launch.before {
            let mut store = Child::start(program, &plan.other_cpus(), &setup.dir)?;
            if let Some(port) = program.port {
                store.await_answer(port, None, UPSTREAM_PATIENCE, interrupt)?;
            }
            stores.push(store);
        }
        let mut child = None;
        if let Some(program) = &launch.gateway {
            let mut gateway = Child::start(program, &plan.gateway_cpus(), &setup.dir)?;
            // Without the query, in which a key may stand whose only request this would be.
            let first = setup.cases.first().map(|case| case.path().split('?').next().unwrap_or("/").to_owned());
            gateway.await_answer(setup.port, first.as_deref(), GATEWAY_PATIENCE, interrupt)?;
            chosen.adapter.finish(&setup).map_err(|reason| format!("{reason}; its last words:\n{}", gateway.tail()))?;
            child = Some(gateway);
        }
        let reload = chosen.adapter.reload(&setup);
        let port = if child.is_some() { setup.port } else { self.upstream_port };
        self.gateways.push(RunningGateway { peer, cases, port, child, stores, reload });
        Ok(())
    }

    /// Where a target is asked; `None` when its gateway did not start.
    pub(crate) fn place(&self, target: PeerCase, case: &Case) -> Option<ServedCase<'_>> {
        let gateway = self.gateways.iter().find(|gateway| gateway.peer == target.peer && gateway.cases.contains(&target.case))?;
        let path = if gateway.child.is_some() { case.path() } else { case.request.path.clone() };
        Some(ServedCase {
            port: gateway.port,
            path,
            gateway: gateway.child.as_ref(),
            store: gateway.stores.first(),
            reload: gateway.reload.as_ref(),
        })
    }
}

impl ServedCase<'_> {
    /// Another path of the case.
    pub(crate) fn path_of(&self, case: &Case, path: &str) -> String {
        if self.gateway.is_some() { case.path_below(path) } else { path.to_owned() }
    }

    pub(crate) fn can_reload(&self) -> bool {
        self.reload.is_some()
    }

    /// Tells the gateway to read its configuration again.
    pub(crate) fn reload(&self) -> Result<(), String> {
        match (self.reload, self.gateway) {
            (Some(Reload::Hangup), Some(gateway)) => {
                gateway.signal(Signal::HUP);
                Ok(())
            }
            (Some(Reload::Request { path, headers }), _) => match probe::send(self.port, "GET", path, headers, b"")?.status {
                200 => Ok(()),
                status => Err(format!("the reload was answered with {status}")),
            },
            _ => Ok(()),
        }
    }
}

/// Copies configuration files beside the results, without the run's secret and its directory.
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

fn free_port() -> Result<u16, String> {
    let failed = |error: std::io::Error| format!("no free port: {error}");
    Ok(TcpListener::bind(("127.0.0.1", 0)).map_err(failed)?.local_addr().map_err(failed)?.port())
}

/// For control APIs, of this run alone.
fn secret() -> Result<String, String> {
    let mut bytes = [0; 16];
    let mut random = fs::File::open("/dev/urandom").map_err(|error| format!("/dev/urandom: {error}"))?;
    random.read_exact(&mut bytes).map_err(|error| format!("/dev/urandom: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
