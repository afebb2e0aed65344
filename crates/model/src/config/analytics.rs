//! Settings of analytics: Tyk's, and Tollgate's own for the destinations of records.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `analytics_config`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AnalyticsConfig {
    /// Clients that are not recorded.
    pub ignored_ips: Vec<String>,
    /// Record whole requests and responses.
    pub enable_detailed_recording: bool,
    /// Look up the location of clients.
    pub enable_geo_ip: bool,
    /// MaxMind database of locations.
    pub geo_ip_db_path: PathBuf,
    /// Normalise paths.
    pub normalise_urls: NormaliseUrls,
    /// Maximum records that wait to be written, over all threads; 0 means 65536.
    pub records_buffer_size: usize,
    /// Seconds after which an idle list in Redis expires; 0 means 60.
    pub storage_expiration_time: u64,
    /// Distribute records over ten lists in Redis instead of one.
    pub enable_multiple_analytics_keys: bool,
    /// Format of records in Redis: `protobuf` or `msgpack` (also if empty).
    pub serializer_type: String,
}

/// `analytics_config.normalise_urls`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NormaliseUrls {
    /// Whether to normalise paths.
    pub enabled: bool,
    /// UUIDs become `{uuid}`.
    pub normalise_uuids: bool,
    /// ULIDs become `{ulid}`.
    pub normalise_ulids: bool,
    /// Numeric segments become `{id}`.
    pub normalise_numbers: bool,
    /// Text that matches one of these becomes `{var}`.
    pub custom_patterns: Vec<String>,
}

/// `access_logs`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AccessLogs {
    /// Log a line for each request.
    pub enabled: bool,
    /// The fields to log; empty means all.
    pub template: Vec<String>,
}

/// `tollgate.analytics`: destinations of records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Analytics {
    /// Whether to keep sums per minute in the data directory, for `/tyk/usage`; default true.
    pub usage: bool,
    /// Days to keep these sums; default 30.
    pub usage_days: u32,
    /// Whether to push records to a Redis list for tyk-pump, if `storage` or `analytics_storage` names a Redis; default true.
    pub redis: bool,
    /// Maximum records in such a list, in case nothing drains it; default 1 million; 0 for no maximum.
    pub redis_records_max: u64,
    /// File for records as JSON lines; empty for none.
    pub file: PathBuf,
    /// Size in bytes at which a file is rotated; default 100 MB.
    pub file_bytes_max: u64,
    /// Number of rotated files to keep; default 5.
    pub files_max: u32,
    /// Maximum bytes of a body that `enable_detailed_recording` records; default 65536.
    pub body_bytes_max: usize,
}

/// `tollgate.access_log`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AccessLogSettings {
    /// Log file; empty for standard error.
    pub file: PathBuf,
    /// Size in bytes at which a file is rotated; default 100 MB.
    pub file_bytes_max: u64,
    /// Number of rotated files to keep; default 5.
    pub files_max: u32,
}

/// `tollgate.statsd`, in addition to Tyk's `statsd_connection_string` and `statsd_prefix`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Statsd {
    /// Send DogStatsD tags instead of names with dots.
    pub tags: bool,
    /// Milliseconds between two packets; default 1000.
    pub interval_ms: u64,
}

/// Maximum bytes of one log file.
const FILE_BYTES: u64 = 100_000_000;

impl Default for AnalyticsConfig {
    fn default() -> AnalyticsConfig {
        AnalyticsConfig {
            ignored_ips: Vec::new(),
            enable_detailed_recording: false,
            enable_geo_ip: false,
            geo_ip_db_path: PathBuf::new(),
            normalise_urls: NormaliseUrls::default(),
            records_buffer_size: 0,
            storage_expiration_time: 60,
            enable_multiple_analytics_keys: false,
            serializer_type: String::new(),
        }
    }
}

impl Default for Analytics {
    fn default() -> Analytics {
        Analytics {
            usage: true,
            usage_days: 30,
            redis: true,
            redis_records_max: 1_000_000,
            file: PathBuf::new(),
            file_bytes_max: FILE_BYTES,
            files_max: 5,
            body_bytes_max: 65_536,
        }
    }
}

impl Default for AccessLogSettings {
    fn default() -> AccessLogSettings {
        AccessLogSettings { file: PathBuf::new(), file_bytes_max: FILE_BYTES, files_max: 5 }
    }
}

impl Default for Statsd {
    fn default() -> Statsd {
        Statsd { tags: false, interval_ms: 1_000 }
    }
}

impl AnalyticsConfig {
    /// Maximum records that wait for a sink.
    pub fn records_max(&self) -> u64 {
        if self.records_buffer_size == 0 { 65_536 } else { (self.records_buffer_size as u64).clamp(1_000, 1 << 24) }
    }
}
