//! `tollgate-bench load` as a child process: its arguments for a load, and its result.

use super::child::Child;
use super::plan::Length;
use crate::interrupt::Interrupt;
use crate::load::result::LoadResult;
use crate::peers::Program;
use crate::probe::HOST;
use crate::scenario::RequestSpec;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Beyond its planned length: connections that hang are given up by the loader itself before this.
const OVERTIME: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(10);

/// What the loader is to do.
pub(crate) struct LoadJob<'a> {
    pub port: u16,
    pub path: String,
    pub request: &'a RequestSpec,
    pub connections: u32,
    pub length: Length,
    pub rate: Option<f64>,
    pub ramp: bool,
    pub threads: usize,
}

/// Runs the loader to its end; `meanwhile` is called every few milliseconds.
pub(crate) fn run(
    order: &LoadJob,
    cpus: &str,
    dir: &Path,
    interrupt: &Interrupt,
    mut meanwhile: impl FnMut(),
) -> Result<LoadResult, String> {
    let file = dir.join("load.json");
    // What an earlier one left must not be taken for this one's.
    let _ = std::fs::remove_file(&file);
    let mut child = Child::start(&program(order, &file, dir)?, cpus, dir)?;
    let planned = match order.length {
        Length::Seconds(seconds) => Duration::from_secs_f64(seconds),
        Length::Requests(_) => Duration::from_secs(600),
    };
    let deadline = Instant::now() + planned + OVERTIME;
    while child.ended().is_none() {
        interrupt.check()?;
        if Instant::now() > deadline {
            return Err(format!("the loader did not end in time; its last words:\n{}", child.tail()));
        }
        meanwhile();
        std::thread::sleep(POLL);
    }
    let text =
        std::fs::read(&file).map_err(|error| format!("the loader left no result ({error}); its last words:\n{}", child.tail()))?;
    serde_json::from_slice(&text).map_err(|error| format!("the loader's result cannot be read: {error}"))
}

fn program(order: &LoadJob, result: &Path, dir: &Path) -> Result<Program, String> {
    let request = order.request;
    let mut arguments: Vec<String> = vec!["load".into(), "-m".into(), request.method.clone()];
    let mut add = |words: &[&str]| arguments.extend(words.iter().map(|word| (*word).to_owned()));
    match order.length {
        Length::Requests(requests) => add(&["-n", &requests.to_string()]),
        Length::Seconds(seconds) => add(&["-z", &format!("{}ms", (seconds * 1000.0).round())]),
    }
    if let (true, Length::Seconds(seconds)) = (order.ramp, order.length) {
        add(&["--ramp", &format!("0:{}:{}ms", order.connections, (seconds * 1000.0).round())]);
    } else {
        add(&["-c", &order.connections.to_string()]);
    }
    if let Some(rate) = order.rate {
        add(&["--rate", &format!("{rate:.1}")]);
    }
    if let Some(host) = &request.host {
        add(&["--host", host]);
    }
    for (name, value) in &request.headers {
        add(&["-H", &format!("{name}: {value}")]);
    }
    if request.body_bytes > 0 {
        let body = dir.join("body");
        let bytes = vec![b'x'; usize::try_from(request.body_bytes).unwrap_or(usize::MAX)];
        std::fs::write(&body, bytes).map_err(|error| format!("{}: cannot be written: {error}", body.display()))?;
        add(&["-D", &body.display().to_string(), "-T", "application/octet-stream"]);
    }
    add(&["--threads", &order.threads.to_string(), "--disable-compression", "--disable-redirects", "--no-progress"]);
    add(&["--json", &result.display().to_string()]);
    add(&[&format!("http://{HOST}:{}{}", order.port, order.path)]);
    Ok(Program::new("load", &own_program()?).args(arguments))
}

/// This very program, which is also the loader and the upstream.
pub(crate) fn own_program() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("this program's own path is unknown: {error}"))
}
