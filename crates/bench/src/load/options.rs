//! Options of `load`: hey's and boom's flags with their meaning, and additional ones.

use super::objective::Objective;
use super::pace::ramp::Ramp;
use super::pace::schedule::Arrivals;
use crate::amount;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Options of `load`, as typed.
#[derive(Clone, Debug, Args)]
#[command(
    long_about = "Sends load to a server and reports latency, throughput, statuses and errors.\n\nTakes the flags of hey and boom; \
                  their single-dash spelling (-host, -disable-keepalive) works. Three things differ from hey: there is no cap on \
                  samples, -n sends exactly n requests, and with a rate (-q, --rate) the response time counts from the moment a \
                  request should have been sent, so that a stall of the server shows.",
    after_help = "Examples:\n  tollgate-bench load -n 100000 -c 100 http://127.0.0.1:8080/\n  tollgate-bench load -z 30s -q 95 \
                  https://127.0.0.1:8443/nginx/\n  tollgate-bench load -z 60s --rate 5000 --json run.json http://127.0.0.1:8080/\n  \
                  tollgate-bench load --ramp 0:2000:120s http://127.0.0.1:8080/\n  tollgate-bench load --find-max --slo 'p99<5ms' \
                  http://127.0.0.1:8080/\n\nExit code: 0 when every request was answered, whatever the status; 1 when requests failed \
                  or a file could not be written; 2 for wrong usage; 130 after Ctrl-C."
)]
pub(crate) struct LoadOptions {
    /// URL to request; http:// is assumed if it has no scheme
    #[arg(required_unless_present = "urls", conflicts_with = "urls")]
    pub url: Option<String>,

    /// Exact number of requests to send
    #[arg(short = 'n', value_name = "N", default_value_t = 200)]
    pub requests: u64,
    /// Concurrent workers, each with its own connection over HTTP/1.1
    #[arg(short = 'c', value_name = "N", default_value_t = 50)]
    pub concurrency: usize,
    /// Send for this long instead of -n requests: 30s, 5m
    #[arg(short = 'z', value_name = "DURATION", value_parser = amount::duration)]
    pub duration: Option<Duration>,
    /// Requests per second of each worker; 0 is no limit
    #[arg(short = 'q', value_name = "RATE", default_value_t = 0.0)]
    pub worker_rate: f64,

    /// Requests per second of all workers together, sent on schedule regardless of the server (open model)
    #[arg(long, value_name = "RATE", value_parser = amount::rate, conflicts_with = "worker_rate", help_heading = "Pacing")]
    pub rate: Option<f64>,
    /// Distribution of the requests of --rate over time
    #[arg(long, value_name = "KIND", default_value = "constant", help_heading = "Pacing")]
    pub arrivals: Arrivals,
    /// Change the number of workers linearly over a time, such as 0:2000:120s; overrides -c
    #[arg(long, value_name = "FROM:TO:DURATION", help_heading = "Pacing")]
    pub ramp: Option<Ramp>,
    /// Exclude from the figures what is sent in the first DURATION
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = amount::duration, help_heading = "Pacing")]
    pub warmup: Duration,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Pacing")]
    pub seed: u64,

    /// Find the highest --rate at which every --slo holds and no request fails; -z is the length of a step [default: 5s]
    #[arg(long, conflicts_with_all = ["worker_rate", "ramp", "csv", "rate"], help_heading = "Search")]
    pub find_max: bool,
    /// Objective of --find-max: p50, p99.9, mean or max of the response time below a duration [default: p99<10ms]
    #[arg(long, value_name = "OBJECTIVE", requires = "find_max", help_heading = "Search")]
    pub slo: Vec<Objective>,
    /// Precision of --find-max
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = amount::share, help_heading = "Search")]
    pub precision: f64,

    /// Request method
    #[arg(short = 'm', value_name = "METHOD", default_value = "GET", help_heading = "Request")]
    pub method: String,
    /// Header line `Name: value`, repeatable; without a colon it is the Host, as in boom
    #[arg(short = 'H', value_name = "LINE", allow_hyphen_values = true, help_heading = "Request")]
    pub header: Vec<String>,
    /// Request body
    #[arg(short = 'd', value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "body_file", help_heading = "Request")]
    pub body: Option<String>,
    /// Request body from a file
    #[arg(short = 'D', value_name = "FILE", help_heading = "Request")]
    pub body_file: Option<PathBuf>,
    /// Content-Type; sent if given or if there is a body [default: text/html]
    #[arg(short = 'T', value_name = "TYPE", help_heading = "Request")]
    pub content_type: Option<String>,
    /// Accept
    #[arg(short = 'A', value_name = "TYPES", help_heading = "Request")]
    pub accept: Option<String>,
    /// User-Agent
    #[arg(short = 'U', value_name = "NAME", help_heading = "Request")]
    pub user_agent: Option<String>,
    /// Basic authentication
    #[arg(short = 'a', value_name = "USER:PASSWORD", allow_hyphen_values = true, help_heading = "Request")]
    pub basic_auth: Option<String>,
    /// Host header, or :authority
    #[arg(long = "host", value_name = "HOST", help_heading = "Request")]
    pub host: Option<String>,
    /// Request these in turn: one `[METHOD] URL` per line
    #[arg(long, value_name = "FILE", help_heading = "Request")]
    pub urls: Option<PathBuf>,
    /// Replace {NAME} in URLs, headers and the body with the lines of FILE in turn, repeatable
    #[arg(long, value_name = "NAME=FILE", help_heading = "Request")]
    pub vars: Vec<String>,
    /// Do not request a compressed response (the load generator never decompresses)
    #[arg(long, help_heading = "Request")]
    pub disable_compression: bool,
    /// Report redirects instead of following them
    #[arg(long, help_heading = "Request")]
    pub disable_redirects: bool,

    /// Time limit of a request in seconds or as a duration; 0 for none
    #[arg(short = 't', value_name = "TIME", default_value = "20", value_parser = amount::seconds, help_heading = "Connection")]
    pub timeout: Duration,
    /// HTTP proxy, host:port
    #[arg(short = 'x', value_name = "HOST:PORT", help_heading = "Connection")]
    pub proxy: Option<String>,
    /// Use HTTP/2: by ALPN with https, with prior knowledge with http
    #[arg(long = "h2", help_heading = "Connection")]
    pub http2: bool,
    /// Workers that share one HTTP/2 connection
    #[arg(long, value_name = "N", default_value_t = 100, help_heading = "Connection")]
    pub streams: usize,
    /// Use WebSockets: each worker opens one, and each request is a message with the body that the server must echo
    #[arg(long = "ws", conflicts_with_all = ["http2", "disable_keepalive", "urls"], help_heading = "Connection")]
    pub websocket: bool,
    /// Report server-sent events too: how many came, the time to the first and between two
    #[arg(long, conflicts_with = "websocket", help_heading = "Output")]
    pub events: bool,
    /// Make a full TLS handshake on each connection instead of resuming a session
    #[arg(long, help_heading = "Connection")]
    pub disable_resumption: bool,
    /// Offer only this TLS cipher suite, such as TLS13_AES_128_GCM_SHA256
    #[arg(long, value_name = "NAME", help_heading = "Connection")]
    pub tls_suite: Option<String>,
    /// Offer only this group for the TLS key exchange, such as X25519
    #[arg(long, value_name = "NAME", help_heading = "Connection")]
    pub tls_group: Option<String>,
    /// Use each connection for one request
    #[arg(long, help_heading = "Connection")]
    pub disable_keepalive: bool,
    /// Do not verify the server's certificate, without a warning (not verifying is the default, as in hey)
    #[arg(long, short = 'k', visible_alias = "allow-insecure", conflicts_with_all = ["verify", "cacert"], help_heading = "Connection")]
    pub insecure: bool,
    /// Verify the server's certificate with the system's roots
    #[arg(long, help_heading = "Connection")]
    pub verify: bool,
    /// Verify the server's certificate with the certificates of this PEM file
    #[arg(long, value_name = "FILE", help_heading = "Connection")]
    pub cacert: Option<PathBuf>,

    /// Threads [default: the number of cores, at most one per worker]
    #[arg(long, visible_alias = "cpus", value_name = "N", help_heading = "Running")]
    pub threads: Option<usize>,
    /// End the run after every request has failed for this long; 0 for never
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = amount::duration, help_heading = "Running")]
    pub give_up: Duration,
    /// Print one line per second to standard error, even if it is no terminal
    #[arg(long, help_heading = "Running")]
    pub progress: bool,
    /// Do not print progress
    #[arg(long, conflicts_with = "progress", help_heading = "Running")]
    pub no_progress: bool,

    /// `csv` prints one line per request instead of the report
    #[arg(short = 'o', id = "csv", value_name = "FORMAT", help_heading = "Output")]
    pub output: Option<Output>,
    /// Write the complete result to this file as JSON
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
    /// Write the response-time distribution to this file in HdrHistogram's text format
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub hgrm: Option<PathBuf>,

    /// For compatibility with boom: the body is always read
    #[arg(long, hide = true)]
    pub readall: bool,
}

/// Content of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// One line per request.
    Csv,
}
