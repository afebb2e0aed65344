//! Runs `tollgate-bench load` as a child process: its arguments for a load, and its result.

use super::keys;
use super::machines::MachineRole;
use super::plan::{Length, RunPlan};
use crate::interrupt::Interrupt;
use crate::load::result::LoadResult;
use crate::load::result::merge::merge;
use crate::machine::{Child, Machine};
use crate::peers::{Credential, Program, TLS_GROUP, TLS_SUITE, own_program};
use crate::scenario::RequestSpec;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

/// Extra time beyond the planned length: the load generator itself gives up hanging connections before this.
const OVERTIME: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(10);

/// A job for the load generator.
pub(crate) struct LoadJob<'a> {
    /// One for each gateway; each gets this load.
    pub places: &'a [SocketAddr],
    pub path: String,
    pub request: &'a RequestSpec,
    pub credential: Option<&'a Credential>,
    pub tls: bool,
    pub connections: u32,
    /// HTTP/2, with this many concurrent requests per connection.
    pub streams: Option<u32>,
    /// Whether each request uses a new connection.
    pub new_connections: bool,
    pub length: Length,
    /// Requests per second, of all gateways together.
    pub rate: Option<f64>,
    pub ramp: bool,
    pub threads: usize,
}

/// Runs a load generator for each gateway to its end; calls `meanwhile` every few milliseconds.
pub(crate) fn run(
    job: &LoadJob,
    plan: &RunPlan,
    dir: &Path,
    interrupt: &Interrupt,
    mut meanwhile: impl FnMut(),
) -> Result<LoadResult, String> {
    let (machine, cpus) = (&plan.machines.loader, plan.cpus(MachineRole::Loader));
    let mut loaders = Vec::new();
    for (number, place) in job.places.iter().enumerate() {
        let dir = dir.join(format!("load-{number}"));
        fs::create_dir_all(&dir).map_err(|error| format!("{}: cannot be made: {error}", dir.display()))?;
        let file = dir.join("load.json");
        // A result of an earlier run must not be mistaken for this one's.
        let _ = fs::remove_file(&file);
        let program = program(job, *place, &file, &dir)?;
        machine.send(&dir)?;
        if let Some(tokens) = job.credential.and_then(|credential| credential.tokens.as_ref()) {
            tokens.path.parent().map_or(Ok(()), |directory| machine.make(directory))?;
            machine.send_file(&tokens.path)?;
        }
        loaders.push((Child::start(machine, &program, &cpus, &dir)?, file));
    }
    let planned = match job.length {
        Length::Seconds(seconds) => Duration::from_secs_f64(seconds),
        Length::Requests(_) => Duration::from_secs(600),
    };
    let deadline = Instant::now() + planned + OVERTIME;
    for (loader, _) in &loaders {
        while loader.ended()?.is_none() {
            interrupt.check()?;
            if Instant::now() > deadline {
                return Err(format!("the loader did not end in time; its last words:\n{}", loader.tail()));
            }
            meanwhile();
            std::thread::sleep(POLL);
        }
    }
    merge(loaders.iter().map(|(loader, file)| result(machine, loader, file)).collect::<Result<_, _>>()?)
}

fn result(machine: &Machine, loader: &Child, file: &Path) -> Result<LoadResult, String> {
    let text =
        machine.read(file).map_err(|error| format!("the loader left no result ({error}); its last words:\n{}", loader.tail()))?;
    serde_json::from_slice(&text).map_err(|error| format!("the loader's result cannot be read: {error}"))
}

/// In this time of a load with a rate, connections are opened. In a short round, their first requests would be most of the slowest hundredth.
const WARM_UP: &str = "250ms";

fn program(job: &LoadJob, place: SocketAddr, result: &Path, dir: &Path) -> Result<Program, String> {
    let request = job.request;
    let mut arguments: Vec<String> = vec!["load".into(), "-m".into(), request.method.clone()];
    let mut add = |words: &[&str]| arguments.extend(words.iter().map(|word| (*word).to_owned()));
    match job.length {
        Length::Requests(requests) => add(&["-n", &requests.to_string()]),
        Length::Seconds(seconds) => add(&["-z", &format!("{}ms", (seconds * 1000.0).round())]),
    }
    if let (true, Length::Seconds(seconds)) = (job.ramp, job.length) {
        add(&["--ramp", &format!("0:{}:{}ms", job.connections, (seconds * 1000.0).round())]);
    } else {
        add(&["-c", &(job.connections * job.streams.unwrap_or(1)).to_string()]);
    }
    if let Some(streams) = job.streams {
        add(&["--h2", "--streams", &streams.to_string()]);
    }
    if request.websocket {
        add(&["--ws"]);
    }
    if job.new_connections {
        add(&["--disable-keepalive", "--disable-resumption"]);
    }
    if job.tls {
        add(&["-k", "--tls-suite", &TLS_SUITE.replacen("TLS", "TLS13", 1), "--tls-group", TLS_GROUP]);
    }
    if let Some(rate) = job.rate {
        add(&["--rate", &format!("{:.1}", rate / job.places.len() as f64)]);
        // Files have as many values as requests that count.
        if request.keys.is_none() && job.credential.is_none_or(|credential| credential.tokens.is_none()) {
            add(&["--warmup", WARM_UP]);
        }
    }
    if let Some(host) = &request.host {
        add(&["--host", host]);
    }
    for (name, value) in &request.headers {
        add(&["-H", &format!("{name}: {value}")]);
    }
    if let Some(credential) = job.credential {
        for (name, value) in &credential.headers {
            add(&["-H", &format!("{name}: {value}")]);
        }
        if let Some(tokens) = &credential.tokens {
            add(&["--vars", &format!("token={}", tokens.path.display())]);
        }
    }
    if let Some(space) = request.keys {
        let file = keys::write(space, job.length, dir)?;
        add(&["--vars", &format!("key={}", file.display())]);
    }
    if !request.json.is_empty() {
        let body = dir.join("body.json");
        fs::write(&body, &request.json).map_err(|error| format!("{}: cannot be written: {error}", body.display()))?;
        add(&["-D", &body.display().to_string(), "-T", "application/json"]);
    } else if request.body_bytes > 0 {
        let body = dir.join("body");
        let bytes = vec![b'x'; usize::try_from(request.body_bytes).unwrap_or(usize::MAX)];
        fs::write(&body, bytes).map_err(|error| format!("{}: cannot be written: {error}", body.display()))?;
        add(&["-D", &body.display().to_string(), "-T", "application/octet-stream"]);
    }
    add(&["--threads", &job.threads.to_string(), "--disable-compression", "--disable-redirects", "--no-progress"]);
    add(&["--json", &result.display().to_string()]);
    let scheme = if job.tls { "https" } else { "http" };
    add(&[&format!("{scheme}://{place}{}", job.path)]);
    Ok(Program::new("load", &own_program()?).args(arguments))
}
