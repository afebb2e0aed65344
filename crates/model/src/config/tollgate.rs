//! `tollgate`: settings that are not in Tyk. All defaults are suitable for production.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PluginSettings;
use super::acme::AcmeSettings;
use super::analytics::{AccessLogSettings, Analytics, Statsd};
use super::operators::OperatorSettings;
use super::portal::PortalSettings;
use super::tokenizers::TokenizerSettings;
use super::waf::WafSettings;
use crate::network::parse_network;
use crate::word_choice::may_be_empty;

/// `tollgate`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TollgateSettings {
    /// Directory for everything that outlives the process: the generated secret, keys, counters; default `data`.
    pub data_dir: PathBuf,
    /// Address for `control_api_port`, such as `127.0.0.1`; empty for `listen_address`.
    pub control_listen_address: String,
    /// The console.
    pub console: ConsoleSettings,
    /// Threads that serve requests; 0 for one per core.
    pub threads: usize,
    /// Maximum sizes and numbers accepted from the network.
    pub limits: SizeLimits,
    /// The response cache.
    pub cache: CacheLimits,
    /// Time limits.
    pub timeouts: Timeouts,
    /// Addresses or CIDR ranges of proxies whose `X-Forwarded-For` and `X-Real-IP` are trusted.
    pub trusted_proxies: Vec<String>,
    /// The only header in which trusted proxies name the client; empty for Tyk's two, `X-Real-IP` before `X-Forwarded-For`.
    pub client_ip_header: String,
    /// Addresses or CIDR ranges of load balancers whose connections start with a PROXY header, version 1 or 2. All of their
    /// connections must, and no others may.
    pub proxy_protocol: Vec<String>,
    /// Maximum connections to all upstreams per thread, active or idle. The default of 16384 is a safeguard below the usual limit
    /// of open files, not a tuning value.
    pub upstream_connections_max: u64,
    /// Name resolution of upstreams.
    pub dns: Dns,
    /// How requests use a shared Redis.
    pub shared_store: SharedStore,
    /// Whether definitions and policies that the control API saves are in the Redis of `storage`, and all gateways on it with this setting
    /// serve them.
    pub shared_definitions: bool,
    /// The response headers that report limits to clients.
    pub rate_limit_headers: RateLimitHeaders,
    /// Whether rejections have a body in the format of RFC 9457 instead of Tyk's.
    pub problem_details: bool,
    /// Status code of requests over their quota; 403 as in Tyk. The standard code is 429.
    pub quota_status: u16,
    /// Metrics for Prometheus and others.
    pub metrics: Metrics,
    /// Destinations of analytics records.
    pub analytics: Analytics,
    /// Destination of the lines of `access_logs`.
    pub access_log: AccessLogSettings,
    /// Settings of StatsD.
    pub statsd: Statsd,
    /// How events are sent.
    pub events: EventSettings,
    /// How secrets of other servers are read.
    pub secrets: SecretSettings,
    /// Send an `X-Request-Id` to upstream and client; a valid one from the client is kept.
    pub request_id: bool,
    /// Report the time of gateway and upstream to clients in `Server-Timing`.
    pub server_timing: bool,
    /// Fields of definitions that ask for a protection without effect here; APIs with these fields are served without it.
    // The names are those of `crate::protections::PROTECTIONS`.
    pub serve_without: Vec<String>,
    /// Where this gateway runs: targets of the same zone are preferred.
    pub zone: String,
    /// Plugins.
    pub plugins: PluginSettings,
    /// Commands that definitions may run as MCP servers, by name.
    pub mcp_commands: BTreeMap<String, McpCommand>,
    /// File with the listeners and backends that `tollgate.route` of definitions names; empty for none.
    pub routing_file: PathBuf,
    /// Certificates that the gateway gets and renews by itself.
    pub acme: AcmeSettings,
    /// Pages where developers find APIs, and get keys for them.
    pub portal: PortalSettings,
    /// Who operates the gateway besides local users, and the file in which all changes are.
    pub operators: OperatorSettings,
    /// Rules of web application firewalls.
    pub waf: WafSettings,
    /// Vocabularies by which prompts of language models are counted before they are sent.
    pub tokenizers: Vec<TokenizerSettings>,
}

/// `tollgate.mcp_commands` of the configuration: a command that definitions may name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct McpCommand {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Its whole environment, beside a `PATH`: it gets nothing of the gateway's.
    pub environment: BTreeMap<String, String>,
    /// Directory in which it runs; that of the gateway if empty.
    pub directory: String,
    /// Most memory of it and of all that it starts, in MiB; default 1024, 0 for no bound. Who uses more is ended.
    pub memory_mib: u64,
    /// Most processes that it and all that it starts are together; default 64, 0 for no bound.
    pub processes: u64,
    /// Most seconds that they are on processors within a minute; 0 for no bound.
    pub cpu_s: u64,
}

impl Default for McpCommand {
    fn default() -> Self {
        McpCommand {
            command: Vec::new(),
            environment: BTreeMap::new(),
            directory: String::new(),
            memory_mib: 1_024,
            processes: 64,
            cpu_s: 0,
        }
    }
}

/// How events are sent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EventSettings {
    /// Addresses or CIDR ranges to which receivers of webhooks may redirect although they are private. Other redirects to private
    /// addresses are not followed, so that a receiver cannot reach what only the gateway can reach.
    pub redirect_networks: Vec<String>,
}

/// How secrets of other servers are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SecretSettings {
    /// Seconds after which secrets of `kv` are read again; default 60, at least 1.
    pub renew_s: u64,
}

impl Default for SecretSettings {
    fn default() -> SecretSettings {
        SecretSettings { renew_s: 60 }
    }
}

/// The console: pages for operators at `/tyk/console/`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ConsoleSettings {
    /// Where the console is served; default `auto`.
    pub serve: ConsoleServe,
}

/// Where the console is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = may_be_empty)]
pub enum ConsoleServe {
    /// On `control_api_port`; without one, on the gateway's port if `listen_address` is a loopback address.
    #[default]
    #[serde(alias = "")]
    Auto,
    /// Wherever the control API is. On the gateway's own port, pages of upstreams share the console's origin.
    On,
    /// Nowhere.
    Off,
}

/// Metrics for Prometheus and others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Metrics {
    /// Whether to count and time requests; default true.
    pub enabled: bool,
    /// `address:port` of a listener for `/metrics` without a secret; empty for none, port 0 for a free one.
    pub listen: String,
    /// Maximum APIs with their own series; the others are counted as `_other`. Default 1000.
    pub apis_max: usize,
}

/// How requests use a shared Redis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SharedStore {
    /// Maximum milliseconds that a request waits for a response of the store; default 50.
    pub answer_ms_max: u64,
    /// Maximum sessions in memory; default 100000.
    pub sessions_max: usize,
    /// What applies to requests that need the store while it is unavailable; limits can override it.
    pub on_failure: OnStoreFailure,
    /// Whether to refuse keys whose hash other keys may have as well: those that `murmur32` hashes. Default false, as in Tyk.
    pub refuse_weak_hashes: bool,
}

/// What applies to requests that need the store while it is unavailable.
///
/// Ordered from lax to strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = may_be_empty)]
pub enum OnStoreFailure {
    /// Sessions as last known; no limits.
    Allow,
    /// Sessions as last known; this process enforces its share of the limits.
    #[default]
    #[serde(alias = "")]
    Local,
    /// Such requests are rejected.
    Deny,
}

/// The response headers that report limits to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = may_be_empty)]
pub enum RateLimitHeaders {
    /// `X-RateLimit-Limit`, `-Remaining` and `-Reset`.
    #[default]
    #[serde(alias = "")]
    Tyk,
    /// `RateLimit` and `RateLimit-Policy`, from the IETF's draft.
    Ietf,
    /// All of them.
    Both,
}

/// Maximum sizes and numbers accepted from the network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SizeLimits {
    /// Maximum bytes of a request or response head; default 32768.
    pub head_bytes_max: usize,
    /// Maximum header lines of a request or response; default 96.
    pub header_lines_max: usize,
    /// Maximum concurrent streams of one HTTP/2 client; default 250.
    pub http2_streams_max: u32,
    /// Maximum bytes that all HTTP/2 streams buffer for clients and upstreams that do not read; default 128 MiB. Above it, each
    /// stream is limited to a small size.
    pub http2_buffer_bytes_max: usize,
    /// Maximum bytes of a body that a middleware must see whole, compressed or decompressed; default 10 MiB.
    pub body_bytes_max: usize,
    /// Maximum bytes of all such bodies that are buffered at the same time; default 256 MiB. Above it, a body waits for room, and
    /// its request is rejected if there is none.
    pub bodies_bytes_max: usize,
    /// Requests in one batch (`enable_batch_request_support`); 100.
    pub batch_requests_max: usize,
    /// Maximum open connections of one client address (for IPv6, one /64 network); 0 for no limit. Proxies are not counted.
    pub connections_per_ip_max: u32,
    /// Rate of one client address.
    pub requests_per_ip: RequestsPerIp,
    /// Maximum WebSockets and other tunnels per thread; default 8192.
    pub tunnels_max: usize,
    /// Minimum bytes per second of a request body; slower clients get 408. Default 500; 0 for no minimum.
    pub upload_rate_min: u64,
    /// Minimum bytes per second at which a client reads a response. Default 500; 0 for no minimum.
    pub download_rate_min: u64,
}

/// The response cache of APIs with `cache_options`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CacheLimits {
    /// Memory in MiB for everything that is stored; default 256. It is allocated from the first use by an API, as the cache fills.
    pub memory_mib_max: u64,
    /// Maximum bytes of a body that is stored; default 1 MiB. A larger response passes without being stored.
    pub body_bytes_max: u64,
}

/// Rate of one client address (for IPv6, one /64 network).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RequestsPerIp {
    /// Requests; 0 for no limit.
    pub rate: f64,
    /// Period in seconds; default 1.
    pub per: f64,
    /// Maximum tracked addresses, 32 bytes each; default 65536. Beyond it, the least active ones are dropped.
    pub addresses_max: usize,
}

/// Time limits in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Timeouts {
    /// Time for the whole head of a request, from its first byte; default 10000.
    pub head_ms: u64,
    /// Time for a TLS handshake, including a PROXY header before it; default 10000.
    pub handshake_ms: u64,
    /// Idle time of a client connection until the next request; default 120000.
    pub client_idle_ms: u64,
    /// How long a client may read nothing of a response; default 60000.
    pub client_write_ms: u64,
    /// How far a client may fall behind `limits.upload_rate_min` or `download_rate_min`; default 20000.
    pub rate_grace_ms: u64,
    /// Time to connect to an upstream, including TLS; default 10000.
    pub upstream_connect_ms: u64,
    /// Idle time after which an upstream connection is closed; default 90000.
    pub upstream_idle_ms: u64,
    /// Idle time of a WebSocket or other tunnel, in both directions; default 3600000.
    pub tunnel_idle_ms: u64,
    /// Time until the new process serves at a restart; default 60000.
    pub restart_ms: u64,
    /// Time for requests in flight at shutdown; 0 means `graceful_shutdown_timeout_duration`.
    pub drain_ms: u64,
}

/// Name resolution of upstreams.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Dns {
    /// Name servers as `address:port`; empty for those of the system.
    pub servers: Vec<String>,
}

impl Default for TollgateSettings {
    fn default() -> TollgateSettings {
        TollgateSettings {
            data_dir: PathBuf::from("data"),
            control_listen_address: String::new(),
            console: ConsoleSettings::default(),
            threads: 0,
            limits: SizeLimits::default(),
            cache: CacheLimits::default(),
            timeouts: Timeouts::default(),
            trusted_proxies: Vec::new(),
            client_ip_header: String::new(),
            proxy_protocol: Vec::new(),
            upstream_connections_max: 16_384,
            dns: Dns::default(),
            shared_store: SharedStore::default(),
            shared_definitions: false,
            rate_limit_headers: RateLimitHeaders::default(),
            problem_details: false,
            quota_status: 403,
            metrics: Metrics::default(),
            analytics: Analytics::default(),
            access_log: AccessLogSettings::default(),
            statsd: Statsd::default(),
            events: EventSettings::default(),
            secrets: SecretSettings::default(),
            request_id: false,
            server_timing: false,
            serve_without: Vec::new(),
            zone: String::new(),
            plugins: PluginSettings::default(),
            mcp_commands: BTreeMap::new(),
            routing_file: PathBuf::new(),
            acme: AcmeSettings::default(),
            portal: PortalSettings::default(),
            operators: OperatorSettings::default(),
            waf: WafSettings::default(),
            tokenizers: Vec::new(),
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
        SharedStore { answer_ms_max: 50, sessions_max: 100_000, on_failure: OnStoreFailure::default(), refuse_weak_hashes: false }
    }
}

impl Default for SizeLimits {
    fn default() -> SizeLimits {
        SizeLimits {
            head_bytes_max: 32_768,
            header_lines_max: 96,
            http2_streams_max: 250,
            http2_buffer_bytes_max: 128 * 1024 * 1024,
            body_bytes_max: 10 * 1024 * 1024,
            bodies_bytes_max: 256 * 1024 * 1024,
            batch_requests_max: 100,
            tunnels_max: 8_192,
            upload_rate_min: 500,
            download_rate_min: 500,
            connections_per_ip_max: 0,
            requests_per_ip: RequestsPerIp::default(),
        }
    }
}

impl Default for CacheLimits {
    fn default() -> CacheLimits {
        CacheLimits { memory_mib_max: 256, body_bytes_max: 1024 * 1024 }
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

impl TollgateSettings {
    /// `trusted_proxies` as ranges.
    pub fn trusted_networks(&self) -> Vec<IpNet> {
        self.trusted_proxies.iter().filter_map(|text| parse_network(text)).collect()
    }

    /// `events.redirect_networks` as ranges.
    pub fn redirect_networks(&self) -> Vec<IpNet> {
        self.events.redirect_networks.iter().filter_map(|text| parse_network(text)).collect()
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
