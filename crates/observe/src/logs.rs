//! The log: lines for people or machines on standard error, and for a syslog server if one is configured. A separate thread writes it, so that no one waits for a slow reader. Lines that clients
//! can cause are limited by kind, with a count of the suppressed ones.

mod limiter;
mod lines;
mod problems;
pub mod shape;
mod syslog;

pub use problems::problems;

use crate::syslog_link::SyslogServer;
use clap::ValueEnum;
use limiter::{LineKind, LineLimiter, SuppressedLines};
use lines::LogLines;
use shape::LineShape;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use syslog::{SyslogWriter, WithPriority};
use tollgate_clock::MonoTime;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, fmt, registry};

/// Target of lines that are never suppressed: their number is bounded by the problems in documents or by an operator's requests.
pub const EVERY: &str = "tollgate_gateway::every";
/// Target of lines about suppressed and lost lines.
const ABOUT: &str = "tollgate_gateway::log";
/// How long start and end of the process wait until standard error has taken all lines.
const FLUSH_TIME: Duration = Duration::from_secs(2);
/// Libraries that only log errors unless `level` names them: rustls warns about every handshake that a client spoils and h2 about
/// single frames, so clients control the number of lines. The engine logs the same at level debug, with the client's address. kube logs each
/// request that fails, and returns the error, which the controller logs once.
const QUIET: &str = "h2=error,rustls=error,kube_client=off";

impl LogFormat {
    /// The format that the configuration names; for people if it names none.
    pub fn named(name: &str) -> Self {
        match name {
            "json" => LogFormat::Json,
            "text" => LogFormat::Text,
            "legacy" => LogFormat::Legacy,
            _ => LogFormat::Plain,
        }
    }
}

/// Format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for people, in colour on a terminal
    Plain,
    /// Lines of `name=value`, as Tyk's
    Text,
    /// The same with Tyk's earlier form of times
    Legacy,
    /// One JSON object per line, as Tyk's
    Json,
}

/// The running log. Dropping it writes the remaining lines.
pub struct Log {
    pub figures: Arc<LogFigures>,
    syslog: Option<LogLines>,
}

/// Counts of written, suppressed and lost lines.
pub struct LogFigures {
    lines: LogLines,
    limiter: Mutex<LineLimiter>,
    start: MonoTime,
}

impl LogFigures {
    /// Figures where there is no log.
    #[cfg(any(test, feature = "testing"))]
    pub fn of_no_log() -> Arc<Self> {
        Arc::new(LogFigures { lines: LogLines::new().0, limiter: Mutex::default(), start: MonoTime::now() })
    }

    /// Lines passed to the writer thread.
    pub fn lines(&self) -> u64 {
        self.lines.taken()
    }

    /// Lines that were counted but not written, because there were too many of their kind.
    pub fn left_out(&self) -> u64 {
        self.limiter().left_out()
    }

    /// Lines lost because standard error did not take the lines before them.
    pub fn dropped(&self) -> u64 {
        self.lines.dropped()
    }

    fn limiter(&self) -> MutexGuard<'_, LineLimiter> {
        self.limiter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Logs summaries of suppressed lines, for windows that have ended or for `all`.
    fn say_left_out(&self, all: bool) {
        let summaries = self.limiter().take_left_out(self.now_ms(), all);
        summaries.into_iter().for_each(say);
    }
}

/// Starts logging. `level` may contain directives like `RUST_LOG`; an unknown level means `info`.
pub fn start(format: LogFormat, level: &str, syslog: Option<SyslogServer>) -> Log {
    let level = if level.is_empty() { "info" } else { level };
    let filter = EnvFilter::try_new(format!("{QUIET},{level}")).unwrap_or_else(|_| EnvFilter::new(format!("{QUIET},info")));
    let (lines, writer) = LogLines::new();
    let figures = Arc::new(LogFigures { lines, limiter: Mutex::default(), start: MonoTime::now() });
    let layer = fmt::layer().with_writer(figures.lines.clone()).with_target(false);
    let layer: Box<dyn Layer<_> + Send + Sync> = match format {
        LogFormat::Json | LogFormat::Text | LogFormat::Legacy => Box::new(layer.event_format(LineShape { format, has_time: true })),
        LogFormat::Plain => {
            let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            Box::new(layer.with_ansi(colours))
        }
    };
    let ticking = figures.clone();
    let written =
        std::thread::Builder::new().name("log".to_owned()).spawn(move || writer.run(std::io::stderr(), || tick(&ticking)));
    if let Err(error) = written.map(drop) {
        eprintln!("tollgate: no thread for the log, which stays empty: {error}");
    }
    let (syslog, syslog_layer) = syslog.map(|server| start_syslog(format, server)).unzip();
    if let Err(error) = registry().with(layer).with(syslog_layer).with(filter).with(Limited(figures.clone())).try_init() {
        eprintln!("tollgate: cannot start the log: {error}");
    }
    Log { figures, syslog }
}

/// Starts the thread that sends the log to a syslog server, which adds the time itself.
fn start_syslog<S>(format: LogFormat, server: SyslogServer) -> (LogLines, Box<dyn Layer<S> + Send + Sync>)
where
    S: Subscriber + for<'l> registry::LookupSpan<'l>,
{
    let (lines, writer) = LogLines::new();
    let sent = std::thread::Builder::new().name("syslog".to_owned()).spawn(move || writer.run(SyslogWriter::new(server), || ()));
    if let Err(error) = sent.map(drop) {
        eprintln!("tollgate: no thread for syslog, which gets no lines: {error}");
    }
    let layer = fmt::layer().with_writer(lines.clone()).with_target(false).without_time().with_ansi(false);
    let layer: Box<dyn Layer<S> + Send + Sync> = match format {
        LogFormat::Plain => Box::new(layer.map_event_format(WithPriority)),
        format => Box::new(layer.event_format(WithPriority(LineShape { format, has_time: false }))),
    };
    (lines, layer)
}

/// Runs about once a second, unless standard error blocks.
fn tick(figures: &LogFigures) {
    figures.say_left_out(false);
    let lost = figures.lines.take_dropped();
    if lost > 0 {
        tracing::error!(target: ABOUT, lines = lost, "lines of the log are lost: standard error did not take them");
    }
}

impl Log {
    /// Waits until all logged lines are written, for at most `FLUSH_TIME`.
    pub fn flush(&self) {
        self.figures.lines.flush(FLUSH_TIME);
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.figures.say_left_out(true);
        self.flush();
        if let Some(lines) = &self.syslog {
            lines.flush(FLUSH_TIME);
        }
    }
}

fn say(summary: SuppressedLines) {
    let SuppressedLines { kind, level, message, lines, seconds } = summary;
    let LineKind { api, cause, .. } = &kind;
    let (api, cause) = (api.as_deref(), cause.as_deref());
    let text = format_args!("{message}: and {lines} more in the last {seconds} s");
    match level {
        Level::ERROR => tracing::error!(target: ABOUT, api, cause, "{text}"),
        Level::WARN => tracing::warn!(target: ABOUT, api, cause, "{text}"),
        _ => tracing::info!(target: ABOUT, api, cause, "{text}"),
    }
}

/// Passes lines that the limiter admits. Lines of level `debug` and `trace` always pass: whoever enables them wants every line.
struct Limited(Arc<LogFigures>);

impl<S: Subscriber> Layer<S> for Limited {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let about = event.metadata();
        if *about.level() > Level::INFO || matches!(about.target(), EVERY | ABOUT) {
            return true;
        }
        let mut seen = Seen::default();
        event.record(&mut seen);
        let kind = LineKind { callsite: about.callsite(), api: seen.api, cause: seen.cause };
        self.0.limiter().admit(kind, *about.level(), seen.message, self.0.now_ms())
    }
}

/// The fields of a line that determine its kind.
#[derive(Default)]
struct Seen {
    api: Option<String>,
    cause: Option<String>,
    message: String,
}

impl Visit for Seen {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "api" => self.api = Some(value.to_owned()),
            "cause" => self.cause = Some(value.to_owned()),
            "message" => value.clone_into(&mut self.message),
            _ => {}
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if matches!(field.name(), "api" | "cause" | "message") {
            self.record_str(field, &format!("{value:?}"));
        }
    }
}
