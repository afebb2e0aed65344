//! The gateways that can be measured, one adapter each. An adapter turns cases into its gateway's configuration and reports what
//! its gateway cannot do; the runner starts, measures and stops it. A new gateway is a file and a line in [`ALL`].
#![expect(clippy::indexing_slicing, reason = "only JSON objects that were just made are indexed, which inserts")]

mod caddy;
mod direct;
mod floor;
mod haproxy;
mod nginx;
mod rsa_key;
mod settings;
mod tollgate;
mod tyk;
mod tyk_api;
mod tyk_credentials;
mod tyk_words;
mod varnish;

use crate::machine::Machine;
pub(crate) use crate::machine::{Program, SinkPorts, own_program};
use crate::probe::{Endpoint, HOST};
use crate::scenario::Case;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

/// The only cipher suite that clients offer and gateways accept, and the only group, so that all compute the same.
pub(crate) const TLS_SUITE: &str = "TLS_AES_128_GCM_SHA256";
pub(crate) const TLS_GROUP: &str = "X25519";

/// All adapters, in the order of the tables.
pub(crate) const ALL: [&dyn PeerAdapter; 8] = [
    &tollgate::TollgateAdapter,
    &direct::DirectAdapter,
    &floor::FloorAdapter,
    &nginx::NginxAdapter,
    &haproxy::HaproxyAdapter,
    &varnish::VarnishAdapter,
    &tyk::TykAdapter,
    &caddy::CaddyAdapter,
];

/// A gateway that can be measured.
pub(crate) trait PeerAdapter: Sync {
    /// Name in `--peers` and in results.
    fn name(&self) -> &'static str;

    /// Program to search for if no path is given; `None` if there is no program.
    fn program(&self) -> Option<&'static str>;

    /// Arguments that make the program print its version.
    fn version_arguments(&self) -> &'static [&'static str] {
        &["--version"]
    }

    /// Whether it is measured only in scenarios that name it, or with `--peers`.
    fn is_for_scenarios_that_name_it(&self) -> bool {
        false
    }

    /// Whether each case needs its own process.
    fn serves_one_case(&self) -> bool {
        false
    }

    /// Whether the upstream receives the path that the client sends; listen paths are ignored.
    fn passes_paths_on(&self) -> bool {
        false
    }

    /// Whether several processes of it can share one store.
    fn shares_a_store(&self) -> bool {
        false
    }

    /// Why it cannot do this case; `None` if it can.
    fn cannot(&self, case: &Case) -> Option<String>;

    /// Writes its configuration and returns the programs to start.
    fn prepare(&self, setup: &Setup) -> Result<Launch, String>;

    /// Called once it responds, to create keys through an API. Returns the credentials of the cases whose callers need some, by the
    /// case's index in the setup.
    fn finish(&self, _setup: &Setup) -> Result<BTreeMap<usize, Credential>, String> {
        Ok(BTreeMap::new())
    }

    /// Whether `reload` is supported.
    fn can_reload(&self) -> bool {
        false
    }

    /// How to make it reload its configuration; `None` if this adapter does not support it.
    fn reload(&self, _setup: &Setup) -> Option<Reload> {
        None
    }
}

/// Input of an adapter.
pub(crate) struct Setup<'a> {
    /// Path of the program, found or given.
    pub program: PathBuf,
    /// Working directory.
    pub dir: PathBuf,
    /// Address to listen on.
    pub listen_address: IpAddr,
    /// Where it answers.
    pub address: SocketAddr,
    /// Port for an additional program.
    pub second_port: u16,
    pub upstream: SocketAddr,
    /// Maximum number of threads or worker processes.
    pub threads: usize,
    pub cases: Vec<&'a Case>,
    /// Certificate for clients that use TLS, if a case needs one.
    pub certificate: Option<&'a CertificateFiles>,
    /// Ports for telemetry.
    pub sink_ports: SinkPorts,
    /// Secret of its control API.
    pub secret: String,
}

impl Setup<'_> {
    /// Where it answers, also for its control API.
    pub(crate) fn listener(&self) -> Endpoint {
        Endpoint { address: self.address, is_tls: self.cases.iter().any(|case| case.api.tls.is_some()) }
    }

    /// What it listens on.
    pub(crate) fn listen(&self) -> SocketAddr {
        SocketAddr::new(self.listen_address, self.address.port())
    }

    /// Whether clients may use HTTP/2.
    pub(crate) fn speaks_http2(&self) -> bool {
        self.cases.iter().any(|case| case.api.http2)
    }

    /// Writes a file in its directory.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> Result<PathBuf, String> {
        let path = self.dir.join(name);
        let parent = path.parent().unwrap_or(&self.dir);
        std::fs::create_dir_all(parent).map_err(|error| format!("{}: cannot be made: {error}", parent.display()))?;
        std::fs::write(&path, text).map_err(|error| format!("{}: cannot be written: {error}", path.display()))?;
        Ok(path)
    }

    /// Creates a directory in its directory.
    pub(crate) fn directory(&self, name: &str) -> Result<PathBuf, String> {
        let path = self.dir.join(name);
        std::fs::create_dir_all(&path).map_err(|error| format!("{}: cannot be made: {error}", path.display()))?;
        Ok(path)
    }
}

/// A self-signed certificate and its key, in PEM.
pub(crate) struct CertificateFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
    /// File with certificate and key.
    pub both: PathBuf,
}

/// The credential that callers of a case send.
#[derive(Default)]
pub(crate) struct Credential {
    /// Header lines of each request; `{token}` is replaced with the lines of `tokens` in turn.
    pub headers: Vec<(String, String)>,
    pub tokens: Option<TokenFile>,
}

/// Tokens that are each sent once per measurement.
pub(crate) struct TokenFile {
    pub path: PathBuf,
    pub first: String,
    pub count: u64,
    /// Clears the gateway's token cache, before the tokens are sent again.
    pub forget: ControlRequest,
}

/// A request to a gateway's control API.
pub(crate) struct ControlRequest {
    pub method: &'static str,
    pub path: &'static str,
    pub headers: Vec<(String, String)>,
}

/// The programs to start.
#[derive(Default)]
pub(crate) struct Launch {
    /// Programs to start before the gateway: stores.
    pub before: Vec<Program>,
    /// The gateway; `None` for the upstream itself.
    pub gateway: Option<Program>,
    /// Configuration files, which are kept with the results.
    pub configuration: Vec<PathBuf>,
}

impl Launch {
    /// A gateway without other programs.
    pub(crate) fn of(gateway: Program, configuration: Vec<PathBuf>) -> Launch {
        Launch { before: Vec::new(), gateway: Some(gateway), configuration }
    }
}

impl Program {
    /// A Redis without persistence.
    pub(crate) fn redis(setup: &Setup) -> Program {
        let port = setup.second_port.to_string();
        let program = Program::new("redis", Path::new("redis-server"))
            .args(["--bind", HOST, "--port", &port, "--save", "", "--appendonly", "no", "--dir"])
            .args([&setup.dir]);
        Program { port: Some(setup.second_port), ..program }
    }
}

/// How to make a gateway reload its configuration.
pub(crate) enum Reload {
    /// SIGHUP to its first process.
    Hangup,
    /// A control API request.
    Request(ControlRequest),
}

/// The adapter with this name.
pub(crate) fn named(name: &str) -> Option<&'static dyn PeerAdapter> {
    ALL.into_iter().find(|peer| peer.name() == name)
}

/// All names, for messages.
pub(crate) fn names() -> String {
    ALL.map(PeerAdapter::name).join(", ")
}

/// Path of a peer's program on its machine: as given, next to this program (our own), on the PATH, or in sbin, which a user's PATH may lack.
pub(crate) fn find(peer: &dyn PeerAdapter, given: Option<&Path>, machine: &Machine) -> Result<PathBuf, String> {
    let Some(program) = peer.program() else { return Ok(PathBuf::new()) };
    if let Some(path) = given {
        let there = machine.find_path(path)?;
        return there.ok_or_else(|| format!("{}: there is no program", path.display()));
    }
    let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join(program)));
    match beside.filter(|file| program.starts_with("tollgate") && file.is_file()) {
        Some(own) => machine.copied(&own),
        None => machine.find(program).map_err(|reason| format!("{reason}; give its path with --peer {}=PATH", peer.name())),
    }
}

#[cfg(test)]
mod tests;
