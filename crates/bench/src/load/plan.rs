//! Turns the options into a plan: prepared requests, resolved servers, pacing. All errors in the options are reported here, before
//! anything is sent.

use super::options::LoadOptions;
use super::pace::ramp::Ramp;
use super::pace::schedule::{Extent, Pacing};
use super::result::PartTimes;
use super::wire::connection::Noted;
use super::wire::message::{RequestTemplate, TemplateText, TemplateVariable, Wire};
use super::wire::target::{Connecting, ServerTarget};
use super::wire::url::RequestUrl;
use crate::exit::CommandError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// hey's default for `-T`.
const CONTENT_TYPE: &str = "text/html";
/// Maximum size of a file of variables or URLs, which is kept in memory.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// How long a run without a time limit waits for requests in flight at its end.
const DRAIN_WITHOUT_TIMEOUT: Duration = Duration::from_secs(20);
/// Number of ports of one address, and far more threads than any machine has cores.
const WORKERS_MAX: usize = 1_000_000;
const THREADS_MAX: usize = 1024;

/// Everything that the threads need; shared by them and immutable.
#[derive(Clone)]
pub(crate) struct LoadPlan {
    pub requests: Vec<PreparedRequest>,
    pub targets: Vec<ServerTarget>,
    /// How to connect to servers that only a redirect names.
    pub connecting: Arc<Connecting>,
    pub variables: Vec<TemplateVariable>,
    pub workers: usize,
    pub threads: usize,
    pub pacing: Pacing,
    pub extent: Extent,
    pub ramp: Option<Ramp>,
    pub warmup: Duration,
    pub seed: u64,
    pub timeout: Option<Duration>,
    /// How long the end of the run may take.
    pub drain: Duration,
    pub give_up: Option<Duration>,
    pub keep_alive: bool,
    pub follow_redirects: bool,
    pub http2: bool,
    pub websocket: bool,
    /// Whether responses are streams of events.
    pub events: bool,
    pub streams: usize,
}

impl LoadPlan {
    /// What is noted of each response.
    pub(crate) fn noted(&self) -> Noted {
        Noted { location: self.follow_redirects, events: self.events }
    }
}

/// A prepared request.
#[derive(Clone)]
pub(crate) struct PreparedRequest {
    pub message: RequestTemplate,
    pub wire: Wire,
    /// Index of its server.
    pub target: usize,
    pub to_head: bool,
    pub idempotent: bool,
}

/// Builds the plan; also returns the time for resolving names.
pub(crate) fn plan(options: &LoadOptions) -> Result<(LoadPlan, PartTimes), CommandError> {
    let connecting = Connecting::new(options)?;
    let variables = options.vars.iter().map(|typed| variable(typed)).collect::<Result<Vec<_>, _>>()?;
    let mut targets: Vec<(RequestUrl, ServerTarget)> = Vec::new();
    let mut requests = Vec::new();
    let mut lookup = PartTimes::default();
    let body = body(options)?;
    for (method, url) in urls(options)? {
        let message = message(options, &variables, method, url, body.as_deref())?;
        let url = &message.url;
        let target = match targets.iter().position(|(known, _)| known.same_server(url)) {
            Some(index) => index,
            None => {
                let (target, took) = connecting.target(url).map_err(CommandError::Failed)?;
                lookup.count(took.as_nanos() as u64);
                targets.push((url.clone(), target));
                targets.len() - 1
            }
        };
        let by_proxy = connecting.has_proxy() && !url.tls;
        let wire = Wire::new(&message, !options.disable_keepalive, by_proxy, &variables);
        let (to_head, idempotent) = (message.method == "HEAD", message.is_idempotent());
        requests.push(PreparedRequest { message, wire, target, to_head, idempotent });
    }
    let targets = targets.into_iter().map(|(_, target)| target).collect();

    let pacing = match (options.rate, options.worker_rate) {
        (Some(rate), _) => Pacing::Open { rate, arrivals: options.arrivals },
        (None, rate) if rate > 0.0 && rate.is_finite() => Pacing::Worker { rate },
        (None, 0.0) => Pacing::Closed,
        (None, rate) => return Err(format!("-q: {rate} is no rate").into()),
    };
    let duration = options.duration.or(options.ramp.map(|ramp| ramp.duration)).filter(|duration| !duration.is_zero());
    let extent = match duration {
        Some(duration) => Extent::Until((options.warmup + duration).as_nanos() as u64),
        None if options.requests == 0 => return Err("-n: there must be at least one request".to_owned().into()),
        None => Extent::Requests(options.requests),
    };
    let mut workers = options.ramp.map_or(options.concurrency, |ramp| ramp.workers_max());
    if let Extent::Requests(total) = extent {
        workers = workers.min(usize::try_from(total).unwrap_or(usize::MAX));
    }
    if workers == 0 || workers > WORKERS_MAX {
        return Err(format!("-c: {workers} workers; there can be 1 to {WORKERS_MAX}").into());
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = options.threads.unwrap_or(cores);
    if threads == 0 || threads > THREADS_MAX {
        return Err(format!("--threads: {threads}; there can be 1 to {THREADS_MAX}").into());
    }
    if options.streams == 0 {
        return Err("--streams: there must be at least one".to_owned().into());
    }
    let timeout = Some(options.timeout).filter(|timeout| !timeout.is_zero());
    let plan = LoadPlan {
        requests,
        targets,
        connecting: Arc::new(connecting),
        variables,
        workers,
        threads: threads.min(workers),
        pacing,
        extent,
        ramp: options.ramp,
        warmup: options.warmup,
        seed: options.seed,
        timeout,
        drain: timeout.unwrap_or(DRAIN_WITHOUT_TIMEOUT),
        give_up: Some(options.give_up).filter(|time| !time.is_zero()),
        keep_alive: !options.disable_keepalive,
        follow_redirects: !options.disable_redirects,
        http2: options.http2,
        websocket: options.websocket,
        events: options.events,
        streams: options.streams,
    };
    Ok((plan, lookup))
}

/// Methods and URLs in the order of requests.
fn urls(options: &LoadOptions) -> Result<Vec<(String, String)>, String> {
    let Some(file) = &options.urls else {
        return Ok(vec![(options.method.clone(), options.url.clone().unwrap_or_default())]);
    };
    let text = String::from_utf8(read(file, "--urls")?).map_err(|_| format!("--urls {}: not UTF-8", file.display()))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let urls: Vec<(String, String)> = lines
        .map(|line| match line.split_once(char::is_whitespace) {
            Some((method, url)) => (method.to_owned(), url.trim().to_owned()),
            None => (options.method.clone(), line.to_owned()),
        })
        .collect();
    if urls.is_empty() { Err(format!("--urls {}: there is no URL in it", file.display())) } else { Ok(urls) }
}

fn body(options: &LoadOptions) -> Result<Option<Vec<u8>>, String> {
    match (&options.body, &options.body_file) {
        (Some(text), _) => Ok(Some(text.clone().into_bytes())),
        (None, Some(file)) => read(file, "-D").map(Some),
        (None, None) => Ok(None),
    }
}

fn message(
    options: &LoadOptions,
    variables: &[TemplateVariable],
    method: String,
    url: String,
    body: Option<&[u8]>,
) -> Result<RequestTemplate, String> {
    let url = RequestUrl::parse(&url)?;
    if !tollgate_http::is_token(method.as_bytes()) {
        return Err(format!("`{method}` is not a request method"));
    }
    if TemplateText::parse(url.host.as_bytes(), variables).len(variables, 0) != url.host.len() {
        return Err(format!("`{}`: a variable cannot be part of the host; use --urls", url.absolute()));
    }
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut host = options.host.clone();
    for line in &options.header {
        match line.split_once(':') {
            // In boom, a -H without a colon is the host.
            None => host = Some(line.trim().to_owned()),
            Some((name, value)) if name.trim().eq_ignore_ascii_case("host") => host = Some(value.trim().to_owned()),
            Some((name, value)) => lines.push((name.trim().to_owned(), value.trim().to_owned())),
        }
    }
    let mut given = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|_| !lines.iter().any(|(line, _)| line.eq_ignore_ascii_case(name))) {
            lines.push((name.to_owned(), value));
        }
    };
    let credentials = options.basic_auth.as_ref().or(url.userinfo.as_ref());
    given("Authorization", credentials.map(|pair| format!("Basic {}", BASE64.encode(pair))));
    given("Accept", options.accept.clone());
    given("Content-Type", options.content_type.clone().or_else(|| body.map(|_| CONTENT_TYPE.to_owned())));
    given(
        "User-Agent",
        Some(options.user_agent.clone().unwrap_or_else(|| concat!("tollgate-bench/", env!("CARGO_PKG_VERSION")).into())),
    );
    given("Accept-Encoding", (!options.disable_compression).then(|| "gzip".to_owned()));
    let mut headers = Vec::new();
    for (name, value) in lines {
        if !tollgate_http::is_token(name.as_bytes()) || !tollgate_http::is_value(value.as_bytes()) {
            return Err(format!("-H: `{name}: {value}` is not a header line"));
        }
        if ["content-length", "transfer-encoding", "connection"].contains(&name.to_ascii_lowercase().as_str()) {
            return Err(format!("-H: {name} follows from the body and the options, and cannot be set"));
        }
        headers.push((name, TemplateText::parse(value.as_bytes(), variables)));
    }
    let path = TemplateText::parse(url.path.as_bytes(), variables);
    let authority = host.unwrap_or_else(|| url.authority.clone());
    if !tollgate_http::is_value(authority.as_bytes()) || authority.is_empty() {
        return Err(format!("`{authority}` cannot be a Host"));
    }
    let has_body = body.is_some() || matches!(method.as_str(), "POST" | "PUT" | "PATCH");
    let body = TemplateText::parse(body.unwrap_or_default(), variables);
    Ok(RequestTemplate {
        method,
        url,
        path,
        authority: TemplateText::parse(authority.as_bytes(), variables),
        headers,
        body,
        has_body,
    })
}

/// Reads the variable of `name=file`.
fn variable(typed: &str) -> Result<TemplateVariable, String> {
    let (name, file) =
        typed.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(|| format!("--vars: `{typed}` is not NAME=FILE"))?;
    let bytes = read(Path::new(file), "--vars")?;
    let lines: Vec<Vec<u8>> = bytes
        .split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec())
        .filter(|line| !line.is_empty())
        .collect();
    if lines.is_empty() {
        return Err(format!("--vars {file}: there is no line in it"));
    }
    if let Some(at) = lines.iter().position(|line| !tollgate_http::is_value(line)) {
        return Err(format!("--vars {file}: value {} has control characters", at + 1));
    }
    Ok(TemplateVariable { name: name.to_owned(), lines })
}

fn read(file: &Path, option: &str) -> Result<Vec<u8>, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{option} {}: {error}", file.display());
    let bytes = std::fs::metadata(file).map_err(|error| wrong(&error))?.len();
    if bytes > FILE_BYTES_MAX {
        return Err(wrong(&"larger than 1 GiB"));
    }
    std::fs::read(file).map_err(|error| wrong(&error))
}
