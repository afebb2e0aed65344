//! `tollgate`: settings that Tyk does not have. Each has a default that is fit for production.

use std::net::SocketAddr;
use std::path::PathBuf;

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::analytics::{AccessLog, Analytics, Statsd};
use crate::network::parse_network;
use crate::schema::may_be_empty;

/// `tollgate`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Tollgate {
    /// Directory for what must outlive the process: the secret made at start, keys, counters; `data`.
    pub data_dir: PathBuf,
    /// Address for `control_api_port`, such as `127.0.0.1`; empty for `listen_address`.
    pub control_listen_address: String,
    /// Threads that serve requests; 0 for one per core.
    pub threads: usize,
    /// Largest things accepted from the network.
    pub limits: Limits,
    /// Longest waits.
    pub timeouts: Timeouts,
    /// Addresses or CIDR ranges of proxies whose `X-Forwarded-For` and `X-Real-IP` are believed.
    pub trusted_proxies: Vec<String>,
    /// The one header in which trusted proxies name the client; empty for those that Tyk reads, `X-Real-IP` before `X-Forwarded-For`.
    pub client_ip_header: String,
    /// Addresses or CIDR ranges of load balancers whose connections begin with a PROXY header, version 1 or 2. Every connection from
    /// them must, and nobody else's may.
    pub proxy_protocol: Vec<String>,
    /// Connections to all upstreams together, for each thread, in use or idle. The default of 16384 is a safeguard below
    /// the usual limit of open files, not a tuning value.
    pub upstream_connections_max: u64,
    /// Finding the addresses of upstreams.
    pub dns: Dns,
    /// How requests use a Redis that several gateways share.
    pub shared_store: SharedStore,
    /// Which response headers tell clients about their limits.
    pub rate_limit_headers: RateLimitHeaders,
    /// Refusals have a body as RFC 9457 says, not Tyk's.
    pub problem_details: bool,
    /// Status code of requests over their quota; 403, which is Tyk's. 429 is what the standard has for it.
    pub quota_status: u16,
    /// Figures for Prometheus and the like.
    pub metrics: Metrics,
    /// Where analytics records go.
    pub analytics: Analytics,
    /// Where the lines of `access_logs` go.
    pub access_log: AccessLog,
    /// How a StatsD server is spoken to.
    pub statsd: Statsd,
    /// Give each request an `X-Request-Id`, towards upstream and client; one that the client sent is kept.
    pub request_id: bool,
    /// Tell clients in `Server-Timing` what gateway and upstream took.
    pub server_timing: bool,
    /// Fields of definitions that protect and have no effect, and without which every API is served all the same.
    // They are those of `crate::api::PROTECTIONS`.
    pub serve_without: Vec<String>,
}

/// Figures for Prometheus and the like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Metrics {
    /// Count and time requests; true.
    pub enabled: bool,
    /// `address:port` for `/metrics` alone, which needs no secret there; empty for none, port 0 for a free one.
    pub listen: String,
    /// APIs with figures of their own; what is beyond is counted together, as `_other`. 1000.
    pub apis_max: usize,
}

/// How requests use a Redis that several gateways share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SharedStore {
    /// Milliseconds that a request waits for an answer at most; 50.
    pub answer_ms_max: u64,
    /// Sessions that are kept in memory; 100000.
    pub sessions_max: usize,
    /// What holds for requests that the store should decide about and cannot; limits can say otherwise for themselves.
    pub on_failure: OnStoreFailure,
}

/// What holds for requests that the store should decide about and cannot.
///
/// The laxest comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = may_be_empty)]
pub enum OnStoreFailure {
    /// Sessions as they were last known; limits do not hold.
    Allow,
    /// Sessions as they were last known; limits count in this process alone.
    #[default]
    #[serde(alias = "")]
    Local,
    /// Such requests are refused.
    Deny,
}

/// Which response headers tell clients about their limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = may_be_empty)]
pub enum RateLimitHeaders {
    /// `X-RateLimit-Limit`, `-Remaining` and `-Reset`.
    #[default]
    #[serde(alias = "")]
    Tyk,
    /// `RateLimit` and `RateLimit-Policy`, as the IETF's draft says.
    Ietf,
    /// All of them.
    Both,
}

/// Largest things accepted from the network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Limits {
    /// Bytes of a request or response head; 32768.
    pub head_bytes_max: usize,
    /// Header lines of a request or response; 96.
    pub header_lines_max: usize,
    /// Streams that one HTTP/2 client may have open at once; 250.
    pub http2_streams_max: u32,
    /// Bytes that all HTTP/2 streams hold for clients and upstreams that have not taken them; 128 MiB. Above, each stream holds a small
    /// piece.
    pub http2_buffer_bytes_max: usize,
    /// Connections that one client address may have open, of IPv6 one /64 network; 0 for any number. Proxies are not counted.
    pub connections_per_ip_max: u32,
    /// How many requests one client address may send.
    pub requests_per_ip: RequestsPerIp,
    /// WebSockets and other tunnels at one time, for each thread; 8192.
    pub tunnels_max: usize,
    /// Bytes a second that a client must send of its request's body, 408 below; 500; 0 for any speed.
    pub upload_rate_min: u64,
    /// Bytes a second that a client must take of a response; 500; 0 for any speed.
    pub download_rate_min: u64,
}

/// How many requests one client address may send, of IPv6 one /64 network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RequestsPerIp {
    /// Requests; 0 for any number.
    pub rate: f64,
    /// In so many seconds; 1.
    pub per: f64,
    /// Addresses that are remembered at once, 32 bytes each; 65536. Of more than these the least busy ones are forgotten.
    pub addresses_max: usize,
}

/// Longest waits, in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Timeouts {
    /// For the whole head of a request, from its first byte; 10000.
    pub head_ms: u64,
    /// For a TLS handshake, with the PROXY header before it; 10000.
    pub handshake_ms: u64,
    /// For the next request on a connection; 120000.
    pub client_idle_ms: u64,
    /// For a client to take more of a response; 60000.
    pub client_write_ms: u64,
    /// How far a client may fall behind `limits.upload_rate_min` or `download_rate_min`; 20000.
    pub rate_grace_ms: u64,
    /// For a connection to an upstream, with TLS; 10000.
    pub upstream_connect_ms: u64,
    /// For which an unused connection to an upstream is kept; 90000.
    pub upstream_idle_ms: u64,
    /// For a byte on a WebSocket or another tunnel, in either direction; 3600000.
    pub tunnel_idle_ms: u64,
    /// For a process that is to take over at a restart, until it serves; 60000.
    pub restart_ms: u64,
    /// For requests in flight at shutdown; 0 for `graceful_shutdown_timeout_duration`.
    pub drain_ms: u64,
}

/// Finding the addresses of upstreams.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Dns {
    /// Name servers as `address:port`; empty for those of the system.
    pub servers: Vec<String>,
}

impl Default for Tollgate {
    fn default() -> Tollgate {
        Tollgate {
            data_dir: PathBuf::from("data"),
            control_listen_address: String::new(),
            threads: 0,
            limits: Limits::default(),
            timeouts: Timeouts::default(),
            trusted_proxies: Vec::new(),
            client_ip_header: String::new(),
            proxy_protocol: Vec::new(),
            upstream_connections_max: 16_384,
            dns: Dns::default(),
            shared_store: SharedStore::default(),
            rate_limit_headers: RateLimitHeaders::default(),
            problem_details: false,
            quota_status: 403,
            metrics: Metrics::default(),
            analytics: Analytics::default(),
            access_log: AccessLog::default(),
            statsd: Statsd::default(),
            request_id: false,
            server_timing: false,
            serve_without: Vec::new(),
        }
    }
}

impl Default for Metrics {
    fn default() -> Metrics {
        Metrics { enabled: true, listen: String::new(), apis_max: 1_000 }
    }
}

impl Default for SharedStore {
    fn default() -> SharedStore {
        SharedStore { answer_ms_max: 50, sessions_max: 100_000, on_failure: OnStoreFailure::default() }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            head_bytes_max: 32_768,
            header_lines_max: 96,
            http2_streams_max: 250,
            http2_buffer_bytes_max: 128 * 1024 * 1024,
            tunnels_max: 8_192,
            upload_rate_min: 500,
            download_rate_min: 500,
            connections_per_ip_max: 0,
            requests_per_ip: RequestsPerIp::default(),
        }
    }
}

impl Default for RequestsPerIp {
    fn default() -> RequestsPerIp {
        RequestsPerIp { rate: 0.0, per: 1.0, addresses_max: 65_536 }
    }
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            head_ms: 10_000,
            handshake_ms: 10_000,
            client_idle_ms: 120_000,
            client_write_ms: 60_000,
            rate_grace_ms: 20_000,
            upstream_connect_ms: 10_000,
            upstream_idle_ms: 90_000,
            tunnel_idle_ms: 3_600_000,
            restart_ms: 60_000,
            drain_ms: 0,
        }
    }
}

impl Tollgate {
    /// `trusted_proxies` as ranges.
    pub fn trusted_networks(&self) -> Vec<IpNet> {
        self.trusted_proxies.iter().filter_map(|text| parse_network(text)).collect()
    }

    /// `proxy_protocol` as ranges.
    pub fn announcing_networks(&self) -> Vec<IpNet> {
        self.proxy_protocol.iter().filter_map(|text| parse_network(text)).collect()
    }
}

impl Metrics {
    /// `listen` as an address.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listen.parse().ok()
    }
}

impl Dns {
    /// `servers` as addresses.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.servers.iter().filter_map(|text| text.parse().ok()).collect()
    }
}
