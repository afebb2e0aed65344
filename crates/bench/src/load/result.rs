//! The result of a run as written by `--json`, for scripts and for the runner that starts `load` as a child process. Durations are
//! in microseconds, and their names end in `_us`. Within a `version`, fields may be added, but none changes its meaning.

pub(crate) mod compare;
pub(crate) mod file;
pub(crate) mod hgrm;
pub(crate) mod merge;
mod sums;
pub(crate) mod text;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Value of `format`.
pub(crate) const FORMAT: &str = "tollgate-bench/load";
/// Value of `version`.
pub(crate) const VERSION: u32 = 1;

/// One run, or several that were merged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LoadResult {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// Whether the run reached its planned end, without an interrupt or giving up.
    pub complete: bool,
    /// Why it stopped early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// The requested load.
    pub load: LoadSettings,
    /// Start of the run, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// From the end of the warm-up to the last response.
    pub elapsed_seconds: f64,
    /// Responses per second of `elapsed_seconds`.
    pub requests_per_second: f64,
    /// In a merged result: sum of the runs' `requests_per_second`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_second_summed: Option<f64>,
    /// Requests by result.
    pub requests: Requests,
    /// Responses by status.
    pub status: BTreeMap<u16, u64>,
    /// Failed requests by cause.
    pub errors: Errors,
    /// Failed requests by message; messages beyond the first 64 count as `other`.
    pub error_messages: BTreeMap<String, u64>,
    /// Bytes on the wire above TLS.
    pub bytes: Bytes,
    /// Opened connections, and requests sent again because a kept-alive connection had died.
    pub connections: ConnectionCounts,
    /// From the intended send time to the end of the response. Without a rate it equals `service_time`.
    pub response_time: TimeSummary,
    /// From the actual send time to the end of the response.
    pub service_time: TimeSummary,
    /// hey's details.
    pub details: Details,
    /// Events of the responses, with `--events`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<EventSummary>,
    /// Resource usage of the load generator itself.
    pub loader: LoaderUsage,
    /// Whether the load generator was the bottleneck, which makes the figures unreliable.
    pub loader_saturated: bool,
    /// Indications of that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loader_saturated_because: Vec<String>,
    /// One entry per second of the run, by the time of completion.
    pub series: Vec<LoadSecond>,
    /// Steps of `--find-max`; the rest of the result belongs to the best step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<RateSearch>,
}

/// Server-sent events of all responses.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EventSummary {
    /// Complete events.
    pub count: u64,
    /// From the actual send time of a request to its first event.
    pub first: TimeSummary,
    /// From one event of a response to the next.
    pub gap: TimeSummary,
}

/// The requested load.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LoadSettings {
    /// The first 16 URLs.
    pub urls: Vec<String>,
    /// `http/1.1` or `h2`.
    pub protocol: String,
    /// `closed`, `worker-rate` (`-q`) or `open` (`--rate`).
    pub model: String,
    /// Maximum number of workers.
    pub concurrency: usize,
    /// Threads of all processes.
    pub threads: usize,
    /// `-n`, if there is no duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// `-z`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_seconds: Option<f64>,
    /// Requested requests per second of all workers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// `--ramp` as typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp: Option<String>,
    /// `--warmup`.
    pub warmup_seconds: f64,
}

/// Requests by result.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Requests {
    /// Answered completely, with any status.
    pub completed: u64,
    /// Failed; the sum of `errors`.
    pub failed: u64,
    /// Sent but not answered when the run was aborted.
    pub unfinished: u64,
    /// Due by the schedule but never sent: the server did not keep up, or the run was aborted.
    pub unsent: u64,
    /// Completed or failed in the warm-up; not included in other figures.
    pub warmup: u64,
}

/// Failed requests by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Errors {
    /// No connection could be opened.
    pub connect: u64,
    /// The TLS handshake failed.
    pub tls: u64,
    /// Not answered within `-t`.
    pub timeout: u64,
    /// The connection ended before the response was complete.
    pub reset: u64,
    /// The response is not valid HTTP.
    pub protocol: u64,
    /// Errors of the load generator itself: out of ports or files.
    pub local: u64,
}

/// Bytes on the wire above TLS.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Bytes {
    /// Requests with heads (HTTP/2: bodies only).
    pub sent: u64,
    /// Responses with heads (HTTP/2: bodies only).
    pub received: u64,
    /// Response bodies as sent, possibly compressed.
    pub body: u64,
}

/// Connections.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ConnectionCounts {
    /// Opened during the whole run, including the warm-up.
    pub opened: u64,
    /// Requests sent again because a kept-alive connection turned out to be dead before the first byte of a response.
    pub resent: u64,
}

/// Summary of a distribution of durations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TimeSummary {
    /// Number of recorded durations.
    pub count: u64,
    /// Mean.
    pub mean_us: f64,
    /// Standard deviation.
    pub deviation_us: f64,
    /// Shortest.
    pub min_us: f64,
    /// Percentiles.
    pub p10_us: f64,
    pub p25_us: f64,
    pub p50_us: f64,
    pub p75_us: f64,
    pub p90_us: f64,
    pub p95_us: f64,
    pub p99_us: f64,
    pub p99_9_us: f64,
    pub p99_99_us: f64,
    /// Longest.
    pub max_us: f64,
    /// The complete distribution: HdrHistogram V2, compressed, base64, in nanoseconds.
    pub histogram: String,
}

/// hey's details: mean and extremes of the phases of a request.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Details {
    /// Connecting, including TLS; only of requests that opened a connection.
    pub connect: PartTimes,
    /// Resolving the name, once before the run.
    pub lookup: PartTimes,
    /// Writing the request.
    pub write: PartTimes,
    /// From the end of writing to the first byte of the response.
    pub wait: PartTimes,
    /// From the first byte to the end of the response.
    pub read: PartTimes,
}

/// Durations of one phase of a request.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PartTimes {
    /// Number of recorded durations.
    pub count: u64,
    /// Sum.
    pub sum_us: f64,
    /// Shortest.
    pub min_us: f64,
    /// Longest.
    pub max_us: f64,
}

/// Resource usage of the load generator itself, from the start to the end of the run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct LoaderUsage {
    /// CPU time of the process.
    pub cpu_seconds: f64,
    /// CPU time in user mode.
    pub user_seconds: f64,
    /// CPU time in the kernel.
    pub system_seconds: f64,
    /// CPU time per completed or failed request.
    pub cpu_us_per_request: f64,
    /// Fraction of the time for which the busiest thread was on a CPU.
    pub busiest_thread_share: f64,
    /// Time for which its threads were ready but waited for a CPU, summed.
    pub run_queue_seconds: f64,
    /// 99th percentile of the send delay caused by the load generator: a request was due and its worker ready, but it was not sent
    /// yet.
    pub send_lag_p99_us: f64,
    /// The longest such delay.
    pub send_lag_max_us: f64,
}

/// One second of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LoadSecond {
    /// Seconds since the start.
    pub second: u64,
    /// Responses.
    pub requests: u64,
    /// Failed requests.
    pub errors: u64,
    /// Median of the response time.
    pub p50_us: f64,
    /// 99th percentile of the response time.
    pub p99_us: f64,
    /// Connections open at the end of the second.
    pub connections_open: u64,
    /// Distribution of the response time, encoded as in `TimeSummary`.
    pub histogram: String,
}

/// Result of `--find-max`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RateSearch {
    /// The objectives.
    pub objectives: Vec<String>,
    /// Highest rate at which they held; 0 if there is none.
    pub rate_max: f64,
    /// The steps in order.
    pub steps: Vec<SearchStep>,
}

/// One step of a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SearchStep {
    /// Scheduled requests per second; `None` for the first step, which runs at full speed.
    pub rate: Option<f64>,
    /// Responses per second.
    pub requests_per_second: f64,
    /// Median of the response time.
    pub p50_us: f64,
    pub p99_us: f64,
    /// Failed, unfinished and unsent requests.
    pub lost: u64,
    /// Whether every objective held, no request was lost and the rate was reached.
    pub held: bool,
    /// Why the step did not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
}
