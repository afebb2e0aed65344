//! The gateways that can be measured, one adapter each. An adapter turns cases into its gateway's configuration and says what
//! its gateway can't do; starting, measuring and ending are the runner's. A new one is a file and a line in [`ALL`].
#![expect(clippy::indexing_slicing, reason = "only JSON objects that were just made are indexed, which inserts")]

mod apisix;
mod caddy;
mod direct;
mod envoy;
mod floor;
mod haproxy;
mod kong;
mod krakend;
mod nginx;
mod rsa_key;
mod settings;
mod tollgate;
mod traefik;
mod tyk;
mod tyk_api;
mod tyk_credentials;
mod tyk_words;
mod varnish;

use crate::probe::HOST;
use crate::scenario::Case;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The one suite and the one group that clients offer and gateways take, so that all of them compute the same.
pub(crate) const TLS_SUITE: &str = "TLS_AES_128_GCM_SHA256";
pub(crate) const TLS_GROUP: &str = "X25519";

/// Every adapter, in the order of the tables.
pub(crate) const ALL: [&dyn PeerAdapter; 13] = [
    &tollgate::TollgateAdapter,
    &direct::DirectAdapter,
    &floor::FloorAdapter,
    &nginx::NginxAdapter,
    &haproxy::HaproxyAdapter,
    &varnish::VarnishAdapter,
    &tyk::TykAdapter,
    &krakend::KrakendAdapter,
    &traefik::TraefikAdapter,
    &caddy::CaddyAdapter,
    &envoy::EnvoyAdapter,
    &apisix::ApisixAdapter,
    &kong::KongAdapter,
];

/// A gateway that can be measured.
pub(crate) trait PeerAdapter: Sync {
    /// As it stands in `--peers` and in results.
    fn name(&self) -> &'static str;

    /// What is looked for when no path is given; `None` for what needs no program.
    fn program(&self) -> Option<&'static str>;

    /// Arguments that make the program print its version.
    fn version_arguments(&self) -> &'static [&'static str] {
        &["--version"]
    }

    /// Only scenarios that name it, and `--peers`, measure it.
    fn is_for_scenarios_that_name_it(&self) -> bool {
        false
    }

    /// Each case has a process of its own.
    fn serves_one_case(&self) -> bool {
        false
    }

    /// The upstream is asked for the path that the client sends; listen paths mean nothing.
    fn passes_paths_on(&self) -> bool {
        false
    }

    /// Why it can't do this case, if it can't.
    fn cannot(&self, case: &Case) -> Option<String>;

    /// Writes its configuration and says what is to be started.
    fn prepare(&self, setup: &Setup) -> Result<Launch, String>;

    /// Done when it answers: keys that are made through an API. The credentials are those of the cases that callers need one for, by
    /// the case's place in the setup.
    fn finish(&self, _setup: &Setup) -> Result<BTreeMap<usize, Credential>, String> {
        Ok(BTreeMap::new())
    }

    /// Whether `reload` knows how.
    fn can_reload(&self) -> bool {
        false
    }

    /// How it is told to read its configuration again; `None` if this adapter doesn't know.
    fn reload(&self, _setup: &Setup) -> Option<Reload> {
        None
    }
}

/// What an adapter configures.
pub(crate) struct Setup<'a> {
    /// The program found or given.
    pub program: PathBuf,
    /// A directory of its own.
    pub dir: PathBuf,
    /// Where it is to listen.
    pub port: u16,
    /// A port for what else it needs.
    pub second_port: u16,
    pub upstream_port: u16,
    /// How many threads or worker processes it may have.
    pub threads: usize,
    pub cases: Vec<&'a Case>,
    /// What it shows to clients that speak TLS, where a case says so.
    pub certificate: Option<&'a CertificateFiles>,
    /// Where it may send what it observes.
    pub sink_ports: SinkPorts,
    /// For its control API.
    pub secret: String,
}

impl Setup<'_> {
    /// Whether clients may speak HTTP/2 with it.
    pub(crate) fn speaks_http2(&self) -> bool {
        self.cases.iter().any(|case| case.api.http2)
    }

    /// Writes a file of its directory.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> Result<PathBuf, String> {
        let path = self.dir.join(name);
        let parent = path.parent().unwrap_or(&self.dir);
        std::fs::create_dir_all(parent).map_err(|error| format!("{}: cannot be made: {error}", parent.display()))?;
        std::fs::write(&path, text).map_err(|error| format!("{}: cannot be written: {error}", path.display()))?;
        Ok(path)
    }

    /// A directory of its directory.
    pub(crate) fn directory(&self, name: &str) -> Result<PathBuf, String> {
        let path = self.dir.join(name);
        std::fs::create_dir_all(&path).map_err(|error| format!("{}: cannot be made: {error}", path.display()))?;
        Ok(path)
    }
}

/// Ports that take in what gateways observe, and throw it away.
#[derive(Clone, Copy, Default)]
pub(crate) struct SinkPorts {
    pub statsd: u16,
    /// OTLP over HTTP.
    pub collector: u16,
}

/// A certificate that signs itself, and its key, in PEM.
pub(crate) struct CertificateFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
    /// One behind the other.
    pub both: PathBuf,
}

/// What callers of a case identify themselves with.
#[derive(Default)]
pub(crate) struct Credential {
    /// Sent with each request; `{token}` stands for the lines of `tokens` in turn.
    pub headers: Vec<(String, String)>,
    pub tokens: Option<TokenFile>,
}

/// Tokens that are sent once each in a measurement.
pub(crate) struct TokenFile {
    pub path: PathBuf,
    pub first: String,
    pub count: u64,
    /// Makes the gateway forget what it found good, before the tokens are sent again.
    pub forget: ControlRequest,
}

/// A request to a gateway's control API.
pub(crate) struct ControlRequest {
    pub method: &'static str,
    pub path: &'static str,
    pub headers: Vec<(String, String)>,
}

/// What is to be started.
#[derive(Default)]
pub(crate) struct Launch {
    /// Before the gateway: stores.
    pub before: Vec<Program>,
    /// Nothing for the upstream itself.
    pub gateway: Option<Program>,
    /// Files that say how it was configured, kept with the results.
    pub configuration: Vec<PathBuf>,
}

impl Launch {
    /// A gateway that needs nothing else.
    pub(crate) fn of(gateway: Program, configuration: Vec<PathBuf>) -> Launch {
        Launch { before: Vec::new(), gateway: Some(gateway), configuration }
    }
}

/// A program with its arguments.
pub(crate) struct Program {
    pub name: &'static str,
    pub path: PathBuf,
    pub arguments: Vec<OsString>,
    pub environment: Vec<(String, String)>,
    /// Where it listens, if that is to be awaited.
    pub port: Option<u16>,
}

impl Program {
    pub(crate) fn new(name: &'static str, path: &Path) -> Program {
        Program { name, path: path.to_owned(), arguments: Vec::new(), environment: Vec::new(), port: None }
    }

    pub(crate) fn args<T: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = T>) -> Program {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// A Redis that keeps nothing on disk.
    pub(crate) fn redis(setup: &Setup) -> Program {
        let port = setup.second_port.to_string();
        let program = Program::new("redis", Path::new("redis-server"))
            .args(["--bind", HOST, "--port", &port, "--save", "", "--appendonly", "no", "--dir"])
            .args([&setup.dir]);
        Program { port: Some(setup.second_port), ..program }
    }

    pub(crate) fn env(mut self, name: &str, value: impl ToString) -> Program {
        self.environment.push((name.to_owned(), value.to_string()));
        self
    }
}

/// How a gateway is told to read its configuration again.
pub(crate) enum Reload {
    /// SIGHUP to its first process.
    Hangup,
    /// A request to itself.
    Request(ControlRequest),
}

/// This very program, which is also the loader, the upstream and the relay.
pub(crate) fn own_program() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("this program's own path is unknown: {error}"))
}

/// The adapter of this name.
pub(crate) fn named(name: &str) -> Option<&'static dyn PeerAdapter> {
    ALL.into_iter().find(|peer| peer.name() == name)
}

/// All names, for messages.
pub(crate) fn names() -> String {
    ALL.map(PeerAdapter::name).join(", ")
}

/// Where a peer's program is: given, beside this program (our own), on the PATH, or in sbin, which a user's PATH may lack.
pub(crate) fn find(peer: &dyn PeerAdapter, given: Option<&Path>) -> Result<PathBuf, String> {
    let Some(program) = peer.program() else { return Ok(PathBuf::new()) };
    if let Some(path) = given {
        return if path.is_file() { Ok(path.to_owned()) } else { Err(format!("{}: there is no program", path.display())) };
    }
    let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.to_owned()));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let sbin = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    beside
        .filter(|_| program.starts_with("tollgate"))
        .into_iter()
        .chain(std::env::split_paths(&path))
        .chain(sbin)
        .map(|directory| directory.join(program))
        .find(|file| file.is_file())
        .ok_or_else(|| format!("no program `{program}` is installed; give its path with --peer {}=PATH", peer.name()))
}

#[cfg(test)]
mod tests;
