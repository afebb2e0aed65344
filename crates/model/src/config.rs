//! The gateway's own configuration: Tyk's `tyk.conf`, as JSON or YAML, with environment variables on top.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error_override::ErrorOverrides;
use crate::events::EventHandlers;
use crate::key::KeyFunction;
use crate::reference::RemoteSecrets;
use crate::span;

mod acme;
mod analytics;
mod api_metrics;
mod environment;
mod external_services;
pub(crate) mod known;
mod kv;
mod load;
mod monitor;
mod oas;
mod opentelemetry;
mod operators;
mod plugins;
mod portal;
mod security;
mod server;
mod sign_in;
mod storage;
mod tokenizers;
mod tollgate;
mod validate;
mod waf;

pub use acme::{AcmeCertificate, AcmeChallenge, AcmeDns, AcmeExternalAccount, AcmeIssuer, AcmeKey, AcmeOnDemand, AcmeSettings};
pub use analytics::{AccessLogSettings, AccessLogs, Analytics, AnalyticsConfig, NormaliseUrls, Statsd};
pub use api_metrics::{
    ApiMetric, DimensionSource, MetricDimension, MetricFilters, MetricTime, RequestFact, SessionFact, StatusFilter,
};
pub use environment::variable_of;
pub use external_services::{ExternalProxy, ExternalService, ExternalServices, ExternalTls};
pub use kv::{ConsulAuth, ConsulSettings, ConsulTls, KvSettings, KvStore, RemoteStore, VaultSettings};
pub use load::SecretConnector;
pub use monitor::MonitorSettings;
pub use oas::OasConfig;
pub use opentelemetry::{CollectorSettings, CollectorTls, OpenTelemetry, OtlpMetrics, Sampling, SpanBatch, Traces};
pub use operators::{
    AuditSyslog, AuditTransport, ControlSecretUse, OperatorProvider, OperatorRole, OperatorRule, OperatorSettings, audit_end,
};
pub use plugins::{CoprocessOptions, GrpcTls, OnPluginFailure, PluginSettings};
pub use portal::{PortalColours, PortalMail, PortalMailTls, PortalProvider, PortalSettings, PortalSignUp, PortalSignUpRule};
pub use security::{CertificateMonitor, Security, SecurityCertificates};
pub use server::{AllowedPorts, CertificatePaths, HttpServerOptions, PortRange};
pub use storage::Storage;
pub use tokenizers::{SplitRule, TokenizerSettings};
pub use tollgate::{
    CacheLimits, ConsoleServe, ConsoleSettings, Dns, EventSettings, McpCommand, Metrics, OnStoreFailure, RateLimitHeaders,
    RequestsPerIp, SecretSettings, SharedStore, SizeLimits, Timeouts, TollgateSettings,
};
pub use waf::WafSettings;

/// Tyk's built-in secret, which everyone knows.
const WELL_KNOWN_SECRET: &str = "352d20ee67be67f6340b4c0605b044b7";

/// The default of `min_token_length`.
const TOKEN_BYTES_MIN: usize = 3;

/// The configuration of one gateway. Field names are Tyk's. Defaults are those of a file that leaves the fields out.
// There are two sets of defaults, because Tyk has two. `GatewayConfig::default` applies without a configuration file. It is Tyk's
// shipped example: strict routes, endpoint patterns that match whole paths, WebSockets, hashed keys. In addition, keys can be
// listed and policies have a directory, so that the whole control API works. `GatewayConfig::of_empty_file` applies to the missing
// fields of a file: the zero values of Tyk's own code, so that an existing `tyk.conf` keeps its meaning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default = "GatewayConfig::of_empty_file")]
pub struct GatewayConfig {
    /// Address to listen on; empty for all.
    pub listen_address: String,
    /// Port to listen on; default 8080.
    pub listen_port: u16,
    /// The host of the control API and of APIs without a domain; empty for any.
    pub hostname: String,
    /// The host of the control API on its separate port; empty for any.
    pub control_api_hostname: String,
    /// A separate port for the control API; 0 to share `listen_port`.
    pub control_api_port: u16,
    /// Whether the control API shows this configuration, without its secrets, at `/config` and `/env`.
    pub enable_config_inspection: bool,
    /// The value that `X-Tyk-Authorization` must have; generated at start if empty. Unlike Tyk, there is no built-in one.
    pub secret: String,
    /// The secret of this node towards a dashboard.
    pub node_secret: String,
    /// Name of the response header with the selected version; empty for none.
    pub version_header: String,
    /// Accept configurations that are known to be unsafe.
    pub allow_insecure_configs: bool,
    /// Let APIs open any port with `listen_port`.
    pub disable_ports_whitelist: bool,
    /// The ports that APIs may open with `listen_port`, by their `protocol`.
    pub ports_whitelist: BTreeMap<String, AllowedPorts>,

    /// Directory of the API definitions; default `apps`.
    pub app_path: PathBuf,
    /// Directory of templates; default `templates`.
    pub template_path: PathBuf,
    /// Whether the JavaScript of definitions runs: plugins, virtual endpoints, handlers of events.
    pub enable_jsvm: bool,
    /// Maximum seconds of one call of a script; 0 for 5.
    pub jsvm_timeout: u64,
    /// Accept scripts of virtual endpoints only from files.
    pub disable_virtual_path_blobs: bool,
    /// A script that is loaded before all others; empty for none.
    pub tyk_js_path: PathBuf,
    /// Which definitions this gateway serves.
    pub db_app_conf_options: DbAppConfOptions,
    /// Where policies come from.
    pub policies: PolicySettings,
    /// Values for `secrets://name` references.
    pub secrets: BTreeMap<String, String>,
    /// Base directory of `file://` references.
    pub file: FileReferences,
    /// Stores of secrets on other servers.
    pub kv: KvSettings,
    /// The stores of `kv`, if the configuration was read by a process that asks them.
    #[serde(skip)]
    pub remote_secrets: ConnectedSecrets,
    /// What stands in this document in place of references to secrets.
    #[serde(skip)]
    pub referred: ReferredTexts,

    /// Whether the control API and analytics see only hashes of keys.
    pub hash_keys: bool,
    /// The format of new keys, and how keys are hashed.
    pub hash_key_function: KeyFunction,
    /// Earlier functions of this gateway, so that custom keys from that time are found.
    pub hash_key_function_fallback: Vec<KeyFunction>,
    /// Minimum bytes of a key; 0 means 3.
    pub min_token_length: usize,
    /// Allow keys without access rights, which may call every API.
    pub allow_master_keys: bool,
    /// Allow the control API to list keys by their hashes.
    pub enable_hashed_keys_listing: bool,
    /// Whether the control API and requests find custom keys by their whole text, not by the part after the organisation.
    pub disable_key_actions_by_username: bool,
    /// Seconds that every session is kept; see `force_global_session_lifetime`.
    pub global_session_lifetime: i64,
    /// Whether `global_session_lifetime` overrides APIs and sessions.
    pub force_global_session_lifetime: bool,
    /// Whether no session ends before its key expires.
    pub session_lifetime_respects_key_expiration: bool,
    /// Enforce the quotas in organisations' sessions.
    pub enforce_org_quotas: bool,
    /// Whether organisations' sessions define the expiry of analytics records.
    pub enforce_org_data_age: bool,
    /// Disables sessions for organisations.
    pub suppress_default_org_store: bool,
    /// Count requests in windows that start with their first request.
    pub enable_fixed_window_rate_limiter: bool,
    /// Count requests in a sliding window.
    pub enable_redis_rolling_limiter: bool,
    /// Same as `enable_redis_rolling_limiter`.
    pub enable_sentinel_rate_limiter: bool,
    /// Let the rates of sessions with `smoothing` rise and fall in steps; needs one of the two settings above.
    pub enable_rate_limit_smoothing: bool,
    /// No effect: the threshold of Tyk's single-node limiter; default 5.
    pub drl_threshold: f64,

    /// Allow APIs to have their own hosts.
    pub enable_custom_domains: bool,
    /// Endpoint paths ignore letter case.
    pub ignore_endpoint_case: bool,
    /// Settings towards clients.
    pub http_server_options: HttpServerOptions,
    /// Disables keep-alive towards clients.
    pub close_connections: bool,
    /// Omits the `X-Generator` header.
    pub hide_generator_header: bool,
    /// Status and text of rejections, by identifier.
    pub override_messages: BTreeMap<String, MessageOverride>,
    /// Other responses in place of errors, for all APIs; those of an API come first.
    pub error_overrides: ErrorOverrides,
    /// The content of the `X-RateLimit-*` response headers: `quotas` (also if empty) or `rate_limits`.
    pub rate_limit_response_headers: String,

    /// Seconds for an upstream to connect and to start its response; default 30.
    pub proxy_default_timeout: f64,
    /// Accept any certificate of an upstream.
    pub proxy_ssl_insecure_skip_verify: bool,
    /// Accept any certificate when fetching key sets for JSON Web Tokens.
    pub jwt_ssl_insecure_skip_verify: bool,
    /// Key sets for JSON Web Tokens.
    pub jwks: Jwks,
    /// Lowest TLS version to upstreams by number (771 is TLS 1.2), 0 for the default.
    pub proxy_ssl_min_version: u16,
    /// Highest TLS version to upstreams by number (772 is TLS 1.3), 0 for the default.
    pub proxy_ssl_max_version: u16,
    /// Cipher suites for TLS 1.2 to upstreams, by name; empty for the default.
    pub proxy_ssl_ciphers: Vec<String>,
    /// Whether the common name of an upstream's certificate must be the host; alternative names do not count.
    pub ssl_force_common_name_check: bool,
    /// HTTP/2 to `https` upstreams that support it.
    pub proxy_enable_http2: bool,
    /// Client certificates, and certificates for upstreams.
    pub security: Security,
    /// Disables keep-alive towards upstreams.
    pub proxy_close_connections: bool,
    /// Maximum idle connections to all upstreams together; 0 for no limit.
    pub max_idle_connections: u64,
    /// Maximum idle connections to one upstream; 0 for no limit. Tyk's default of 2 is the usual cause of its slow benchmarks.
    pub max_idle_connections_per_host: u64,
    /// Seconds after which a connection to an upstream is replaced; 0 for never.
    pub max_conn_time: u64,
    /// Cache of upstream addresses.
    pub dns_cache: DnsCache,
    /// Checks of targets.
    pub uptime_tests: UptimeTestSettings,
    /// Proxies and certificates for calls of the gateway itself.
    pub external_services: ExternalServices,
    /// Questions to discovery services.
    pub service_discovery: DiscoverySettings,
    /// What happens after events of the gateway: changes of keys, and its own certificates that end.
    pub event_handlers: EventHandlers,
    /// Tells somebody when quotas are used to a share.
    pub monitor: MonitorSettings,
    /// How strictly OpenAPI documents are checked.
    pub oas_config: OasConfig,

    /// Request rates of single APIs for the control API's `health`.
    pub health_check: HealthCheck,
    /// Name of the health endpoint; default `hello`.
    pub health_check_endpoint_name: String,
    /// Name of the readiness endpoint; default `ready`.
    pub readiness_check_endpoint_name: String,
    /// Seconds for requests in flight at shutdown; default 30.
    pub graceful_shutdown_timeout_duration: u64,
    /// Seconds between the signal to stop and the end of accepting, so that load balancers notice; 0 for none.
    pub graceful_shutdown_delay_seconds: u64,
    /// File with the process ID; empty for none.
    pub pid_file_location: PathBuf,
    /// Minimum seconds between two reloads for which no caller waits; at least 1.
    pub reload_interval: f64,
    /// Do not reload when another node asks for it.
    pub suppress_redis_signal_reload: bool,
    /// `debug`, `info` (also if empty), `warn` or `error`.
    pub log_level: String,
    /// `default` (also if empty) or `json`.
    pub log_format: String,
    /// Send the log to a syslog server too.
    pub use_syslog: bool,
    /// `tcp`, `udp` or `unixgram`; empty for the socket of this machine.
    pub syslog_transport: String,
    /// `host:port` of the syslog server, or the path of its socket.
    pub syslog_network_addr: String,

    /// The Redis that several gateways share; without it the embedded store is used.
    pub storage: Storage,
    /// Whether analytics records go to a separate Redis.
    pub enable_separate_analytics_store: bool,
    /// Redis for analytics records.
    pub analytics_storage: Storage,
    /// Whether cached responses go to a separate Redis.
    pub enable_separate_cache_store: bool,
    /// Redis for cached responses.
    pub cache_storage: Storage,
    /// Lifetime in seconds of access tokens of the OAuth 2.0 server; 0 means an hour.
    pub oauth_token_expire: u64,
    /// Lifetime in seconds of its refresh tokens; 0 means 14 days.
    pub oauth_refresh_token_expire: u64,
    /// Seconds that expired tokens stay in the lists of a shared store; 0 means a day.
    pub oauth_token_expired_retain_period: u64,
    /// Separator between several redirect URIs of one client; empty if a client has one.
    pub oauth_redirect_uri_separator: String,
    /// Status of rejected token requests; 0 means 403.
    pub oauth_error_status_code: u16,
    /// Record requests for analytics.
    pub enable_analytics: bool,
    /// Settings of analytics.
    pub analytics_config: AnalyticsConfig,
    /// A log line for each request.
    pub access_logs: AccessLogs,
    /// Log requests that match no API.
    pub track_404_logs: bool,
    /// `host:port` of a StatsD server; empty for none.
    pub statsd_connection_string: String,
    /// Prefix of the metric names.
    pub statsd_prefix: String,
    /// Traces and metrics for a collector.
    pub opentelemetry: OpenTelemetry,

    /// Directory of plugins; default `middleware`.
    pub middleware_path: PathBuf,
    /// The server of gRPC plugins.
    pub coprocess_options: CoprocessOptions,
    /// Whether bundles of plugins are fetched.
    pub enable_bundle_downloader: bool,
    /// URL of the directory of bundles: `http`, `https` or `file`.
    pub bundle_base_url: String,
    /// Accept any certificate of the server of bundles.
    pub bundle_insecure_skip_verify: bool,
    /// Do not check the files of bundles that were fetched before.
    pub skip_verify_existing_plugin_bundle: bool,
    /// File with the public key, in PEM, that verifies the signatures of bundles; empty to accept unsigned ones.
    pub public_key_path: PathBuf,

    /// Settings that are not in Tyk.
    pub tollgate: TollgateSettings,
}

/// `policies`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PolicySettings {
    /// `file` or empty; Tyk also has `service` and `rpc`.
    pub policy_source: String,
    /// The policies file.
    pub policy_record_name: PathBuf,
    /// A directory with one policy per file; the control API writes to it.
    pub policy_path: PathBuf,
    /// The address of a dashboard.
    pub policy_connection_string: String,
    /// Allow policies to choose their own identifiers.
    pub allow_explicit_policy_id: bool,
}

/// `db_app_conf_options`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DbAppConfOptions {
    /// Serve only the APIs that share a tag with `tags`.
    pub node_is_segmented: bool,
    /// The tags of this gateway.
    pub tags: Vec<String>,
}

/// `file`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FileReferences {
    /// `file://` references read below this directory. If empty, only those of the gateway configuration itself are read.
    pub base_path: PathBuf,
}

/// Stores of secrets that are connected. Not a part of the document: all are equal.
#[derive(Debug, Clone, Default)]
pub struct ConnectedSecrets(pub Option<Arc<dyn RemoteSecrets>>);

impl PartialEq for ConnectedSecrets {
    fn eq(&self, _: &ConnectedSecrets) -> bool {
        true
    }
}

/// The texts that references to secrets were replaced by. Not a part of the document: all are equal.
#[derive(Clone, Default)]
pub struct ReferredTexts(pub BTreeSet<String>);

impl PartialEq for ReferredTexts {
    fn eq(&self, _: &ReferredTexts) -> bool {
        true
    }
}

impl fmt::Debug for ReferredTexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // They must not reach a log.
        f.write_str("ReferredTexts")
    }
}

/// `jwks`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Jwks {
    /// Cache of key sets.
    pub cache: JwksCache,
}

/// `jwks.cache`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct JwksCache {
    /// Seconds after which a key set is fetched again; 0 means 240.
    pub timeout: u64,
}

/// `health_check`: request rates of single APIs for the control API's `health`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HealthCheck {
    /// Whether to collect them.
    pub enable_health_checks: bool,
    /// Their period in seconds; 0 means 60.
    pub health_check_value_timeouts: i64,
}

/// One entry of `override_messages`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MessageOverride {
    /// Text; empty means unchanged.
    pub message: String,
    /// Status code; 0 means unchanged.
    pub code: u16,
}

/// `dns_cache`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DnsCache {
    /// Whether addresses are kept longer than their TTL.
    pub enabled: bool,
    /// Seconds to keep an address; -1 means its TTL.
    pub ttl: i64,
    /// Seconds between removals of old addresses.
    pub check_interval: i64,
    /// `no_cache`, `pick_first` or `random`: the choice among several addresses of a name.
    pub multiple_ips_handle_strategy: String,
}

/// `uptime_tests`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UptimeTestSettings {
    /// Run no checks.
    pub disable: bool,
    /// How checks are run.
    pub config: UptimeTestRounds,
}

/// `uptime_tests.config`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UptimeTestRounds {
    /// Failed checks in a row after which a target is down, and successful ones after which it is up; 0 for 3.
    pub failure_trigger_sample_size: u32,
    /// Seconds between two checks; 0 for 10.
    pub time_wait: u64,
    /// Write a record of each check to the Redis for analytics, where tyk-pump takes it.
    pub enable_uptime_analytics: bool,
}

/// `service_discovery`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DiscoverySettings {
    /// Seconds between two questions; 0 for 120.
    pub default_cache_timeout: u64,
}

impl Default for DnsCache {
    fn default() -> DnsCache {
        DnsCache { enabled: false, ttl: -1, check_interval: 60, multiple_ips_handle_strategy: "no_cache".to_owned() }
    }
}

impl Default for GatewayConfig {
    fn default() -> GatewayConfig {
        GatewayConfig {
            http_server_options: HttpServerOptions {
                enable_strict_routes: true,
                enable_path_prefix_matching: true,
                enable_path_suffix_matching: true,
                enable_websockets: true,
                ..HttpServerOptions::default()
            },
            hash_keys: true,
            hash_key_function: KeyFunction::Murmur64,
            enable_hashed_keys_listing: true,
            policies: PolicySettings { policy_path: PathBuf::from("policies"), ..PolicySettings::default() },
            ..GatewayConfig::of_empty_file()
        }
    }
}

impl GatewayConfig {
    /// The configuration of an empty file.
    pub fn of_empty_file() -> GatewayConfig {
        GatewayConfig {
            listen_address: String::new(),
            listen_port: 8080,
            hostname: String::new(),
            control_api_hostname: String::new(),
            control_api_port: 0,
            enable_config_inspection: false,
            secret: String::new(),
            node_secret: String::new(),
            version_header: String::new(),
            allow_insecure_configs: false,
            disable_ports_whitelist: false,
            ports_whitelist: BTreeMap::new(),
            app_path: PathBuf::from("apps"),
            template_path: PathBuf::from("templates"),
            enable_jsvm: false,
            jsvm_timeout: 0,
            disable_virtual_path_blobs: false,
            tyk_js_path: PathBuf::new(),
            db_app_conf_options: DbAppConfOptions::default(),
            policies: PolicySettings::default(),
            secrets: BTreeMap::new(),
            file: FileReferences::default(),
            kv: KvSettings::default(),
            remote_secrets: ConnectedSecrets::default(),
            referred: ReferredTexts::default(),
            hash_keys: false,
            hash_key_function: KeyFunction::Plain,
            hash_key_function_fallback: Vec::new(),
            min_token_length: TOKEN_BYTES_MIN,
            allow_master_keys: false,
            enable_hashed_keys_listing: false,
            disable_key_actions_by_username: false,
            global_session_lifetime: 0,
            force_global_session_lifetime: false,
            session_lifetime_respects_key_expiration: false,
            enforce_org_quotas: false,
            enforce_org_data_age: false,
            suppress_default_org_store: false,
            enable_fixed_window_rate_limiter: false,
            enable_redis_rolling_limiter: false,
            enable_sentinel_rate_limiter: false,
            enable_rate_limit_smoothing: false,
            drl_threshold: 5.0,
            oauth_token_expire: 0,
            oauth_refresh_token_expire: 0,
            oauth_token_expired_retain_period: 0,
            oauth_redirect_uri_separator: String::new(),
            oauth_error_status_code: 0,
            enable_custom_domains: false,
            ignore_endpoint_case: false,
            http_server_options: HttpServerOptions::default(),
            close_connections: false,
            hide_generator_header: false,
            override_messages: BTreeMap::new(),
            error_overrides: ErrorOverrides::new(),
            rate_limit_response_headers: String::new(),
            proxy_default_timeout: 30.0,
            proxy_ssl_insecure_skip_verify: false,
            jwt_ssl_insecure_skip_verify: false,
            jwks: Jwks::default(),
            proxy_ssl_min_version: 0,
            proxy_ssl_max_version: 0,
            proxy_ssl_ciphers: Vec::new(),
            ssl_force_common_name_check: false,
            proxy_enable_http2: false,
            security: Security::default(),
            proxy_close_connections: false,
            max_idle_connections: 0,
            max_idle_connections_per_host: 0,
            max_conn_time: 0,
            dns_cache: DnsCache::default(),
            uptime_tests: UptimeTestSettings::default(),
            external_services: ExternalServices::default(),
            service_discovery: DiscoverySettings::default(),
            event_handlers: EventHandlers::default(),
            monitor: MonitorSettings::default(),
            oas_config: OasConfig::default(),
            health_check: HealthCheck::default(),
            health_check_endpoint_name: "hello".to_owned(),
            readiness_check_endpoint_name: "ready".to_owned(),
            graceful_shutdown_timeout_duration: 30,
            graceful_shutdown_delay_seconds: 0,
            pid_file_location: PathBuf::new(),
            reload_interval: 1.0,
            suppress_redis_signal_reload: false,
            log_level: String::new(),
            log_format: String::new(),
            use_syslog: false,
            syslog_transport: String::new(),
            syslog_network_addr: String::new(),
            storage: Storage::default(),
            enable_separate_analytics_store: false,
            analytics_storage: Storage::default(),
            enable_separate_cache_store: false,
            cache_storage: Storage::default(),
            enable_analytics: false,
            analytics_config: AnalyticsConfig::default(),
            access_logs: AccessLogs::default(),
            track_404_logs: false,
            statsd_connection_string: String::new(),
            statsd_prefix: String::new(),
            opentelemetry: OpenTelemetry::default(),
            middleware_path: PathBuf::from("middleware"),
            coprocess_options: CoprocessOptions::default(),
            enable_bundle_downloader: false,
            bundle_base_url: String::new(),
            bundle_insecure_skip_verify: false,
            skip_verify_existing_plugin_bundle: false,
            public_key_path: PathBuf::new(),
            tollgate: TollgateSettings::default(),
        }
    }

    /// The Redis for analytics records; `None` with the embedded store.
    pub fn analytics_redis(&self) -> Option<&Storage> {
        let own = Some(&self.analytics_storage).filter(|_| self.enable_separate_analytics_store);
        own.into_iter().chain([&self.storage]).find(|storage| storage.is_redis())
    }

    /// The minimum bytes of a key: `min_token_length`; 0 means 3.
    pub fn token_bytes_min(&self) -> usize {
        if self.min_token_length == 0 { TOKEN_BYTES_MIN } else { self.min_token_length }
    }

    /// `hash_key_function`, followed by the earlier functions, as [`crate::key::candidates`] expects them.
    pub fn key_functions(&self) -> Vec<KeyFunction> {
        std::iter::once(self.hash_key_function).chain(self.hash_key_function_fallback.iter().copied()).collect()
    }

    /// The time for an upstream to connect and to start its response.
    pub fn proxy_timeout(&self) -> Duration {
        span::seconds(self.proxy_default_timeout).filter(|timeout| !timeout.is_zero()).unwrap_or(Duration::from_secs(30))
    }

    /// The minimum time between two reloads for which no caller waits.
    pub fn reload_interval(&self) -> Duration {
        span::seconds(self.reload_interval).unwrap_or_default().max(Duration::from_secs(1))
    }

    /// The time for requests in flight at shutdown.
    pub fn drain_timeout(&self) -> Duration {
        match self.tollgate.timeouts.drain_ms {
            0 => Duration::from_secs(self.graceful_shutdown_timeout_duration),
            ms => Duration::from_millis(ms),
        }
    }
}
