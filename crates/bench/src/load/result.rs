//! The result of a run as `--json` writes it, for people's scripts and for the runner that starts `load` as a child process.
//! Times are in microseconds, their names end in `_us`; fields may be added, none changes its meaning within a `version`.

pub(crate) mod compare;
pub(crate) mod file;
pub(crate) mod hgrm;
pub(crate) mod merge;
mod sums;
pub(crate) mod text;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What stands in `format`.
pub(crate) const FORMAT: &str = "tollgate-bench/load";
/// What stands in `version`.
pub(crate) const VERSION: u32 = 1;

/// One run, or several that were merged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LoadResult {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The run came to its planned end: not interrupted, not given up.
    pub complete: bool,
    /// Why it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// What was asked for.
    pub load: LoadSettings,
    /// When the run began, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// From the end of the warm-up to the last response.
    pub elapsed_seconds: f64,
    /// Responses per second of `elapsed_seconds`.
    pub requests_per_second: f64,
    /// Of a merged result: the sum of the runs' own `requests_per_second`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_second_summed: Option<f64>,
    /// How many requests went how.
    pub requests: Requests,
    /// Responses by status.
    pub status: BTreeMap<u16, u64>,
    /// Failed requests by cause.
    pub errors: Errors,
    /// Failed requests by message; what is beyond the first 64 messages counts as `other`.
    pub error_messages: BTreeMap<String, u64>,
    /// Bytes on the wire above TLS.
    pub bytes: Bytes,
    /// Connections that were opened, and requests sent again because a kept-alive connection had died.
    pub connections: ConnectionCounts,
    /// From the intended send time to the end of the response. Without a rate it equals `service_time`.
    pub response_time: TimeSummary,
    /// From the actual send time to the end of the response.
    pub service_time: TimeSummary,
    /// hey's details.
    pub details: Details,
    /// What the load generator itself used.
    pub loader: LoaderUsage,
    /// The load generator was the bottleneck: do not trust the figures.
    pub loader_saturated: bool,
    /// Why it is thought so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loader_saturated_because: Vec<String>,
    /// One entry for each second of the run, by the time of completion.
    pub series: Vec<LoadSecond>,
    /// The steps of `--find-max`; the rest of the result is that of the best step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
}

/// What was asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LoadSettings {
    /// The first 16 URLs.
    pub urls: Vec<String>,
    /// `http/1.1` or `h2`.
    pub protocol: String,
    /// `closed`, `worker-rate` (`-q`) or `open` (`--rate`).
    pub model: String,
    /// Workers, the most there are.
    pub concurrency: usize,
    /// Threads, of all processes.
    pub threads: usize,
    /// `-n`, if there is no duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// `-z`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_seconds: Option<f64>,
    /// Requests per second of all workers that were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// `--ramp` as typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp: Option<String>,
    /// `--warmup`.
    pub warmup_seconds: f64,
}

/// How many requests went how.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Requests {
    /// Answered completely, whatever the status.
    pub completed: u64,
    /// Failed; the sum of `errors`.
    pub failed: u64,
    /// Sent and not answered when the run was cut off.
    pub unfinished: u64,
    /// Due by the schedule and never sent: the server did not keep up, or the run was cut off.
    pub unsent: u64,
    /// Completed or failed in the warm-up; part of no other figure.
    pub warmup: u64,
}

/// Failed requests by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Errors {
    /// No connection.
    pub connect: u64,
    /// No TLS session.
    pub tls: u64,
    /// Not answered within `-t`.
    pub timeout: u64,
    /// The connection ended before the response was complete.
    pub reset: u64,
    /// What came is no HTTP.
    pub protocol: u64,
    /// The load generator's own: no more ports or files.
    pub local: u64,
}

/// Bytes on the wire above TLS.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Bytes {
    /// Requests, with heads (HTTP/2: bodies only).
    pub sent: u64,
    /// Responses, with heads (HTTP/2: bodies only).
    pub received: u64,
    /// Content of the responses, as sent (compressed if it was).
    pub body: u64,
}

/// Connections.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ConnectionCounts {
    /// Opened in the whole run, warm-up included.
    pub opened: u64,
    /// Requests sent again because a kept-alive connection was found dead before the first byte of a response.
    pub resent: u64,
}

/// A distribution of times.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TimeSummary {
    /// Times recorded.
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
    /// All of it: HdrHistogram V2, compressed, base64, in nanoseconds.
    pub histogram: String,
}

/// hey's details: mean and extremes of the parts of a request.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Details {
    /// Connecting, TLS included; only of requests that had to.
    pub connect: PartTimes,
    /// Looking the name up, once before the run.
    pub lookup: PartTimes,
    /// Writing the request.
    pub write: PartTimes,
    /// From there to the first byte of the response.
    pub wait: PartTimes,
    /// From there to the end of the response.
    pub read: PartTimes,
}

/// One part of a request.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PartTimes {
    /// Times recorded.
    pub count: u64,
    /// Sum.
    pub sum_us: f64,
    /// Shortest.
    pub min_us: f64,
    /// Longest.
    pub max_us: f64,
}

/// What the load generator itself used, from the start to the end of the run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct LoaderUsage {
    /// Processor time of the process.
    pub cpu_seconds: f64,
    /// Of it in user mode.
    pub user_seconds: f64,
    /// Of it in the kernel.
    pub system_seconds: f64,
    /// Processor time for each completed or failed request.
    pub cpu_us_per_request: f64,
    /// Share of the time that the busiest thread was on a processor.
    pub busiest_thread_share: f64,
    /// Time that its threads were ready and waited for a processor, summed.
    pub run_queue_seconds: f64,
    /// How late requests left for reasons of the loader's own: due, a worker ready, and not sent yet. 99th percentile.
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
    /// Connections open at its end.
    pub connections_open: u64,
    /// The response times, as in `TimeSummary`.
    pub histogram: String,
}

/// What `--find-max` found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Search {
    /// The objectives.
    pub objectives: Vec<String>,
    /// The highest rate at which they held; 0 if there was none.
    pub rate_max: f64,
    /// Each step in order.
    pub steps: Vec<SearchStep>,
}

/// One step of a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SearchStep {
    /// Requests per second that were due; `None` for the first step, which sends as fast as it can.
    pub rate: Option<f64>,
    /// Responses per second.
    pub requests_per_second: f64,
    /// Of the response time.
    pub p50_us: f64,
    pub p99_us: f64,
    /// Failed, unfinished and unsent requests.
    pub lost: u64,
    /// Every objective held, nothing was lost, the rate was reached.
    pub held: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
}
