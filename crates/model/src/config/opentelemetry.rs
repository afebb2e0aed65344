//! `opentelemetry`: traces and metrics for a collector, with Tyk's names. Older versions of Tyk have the settings of traces
//! directly in it, newer ones in `traces`; both are read.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api_metrics::{self, ApiMetric};
use crate::json_path::JsonPath;
use crate::problem::Findings;
use crate::token::{is_header_value, is_token};

/// Where a collector listens for gRPC, and for HTTP.
const GRPC_ENDPOINT: &str = "localhost:4317";
const HTTP_ENDPOINT: &str = "localhost:4318";
/// The default `service.name`.
const RESOURCE_NAME: &str = "tyk";
/// The same for metrics, if there are no traces.
const METRICS_RESOURCE_NAME: &str = "tyk-gateway";
/// The default rate of `TraceIDRatioBased`.
const RATE: f64 = 0.5;

/// Maximum waiting batches of spans.
const BATCHES_MAX: usize = 4_096;

/// Attribute sets of one metric of requests: the default, and the maximum, each of some 200 bytes.
const CARDINALITY: usize = 2_000;
const CARDINALITY_MAX: usize = 100_000;

/// `opentelemetry`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OpenTelemetry {
    /// As `traces.enabled`.
    pub enabled: bool,
    /// As `traces.exporter`.
    pub exporter: String,
    /// As `traces.endpoint`.
    pub endpoint: String,
    /// As `traces.headers`.
    pub headers: BTreeMap<String, String>,
    /// As `traces.connection_timeout`.
    pub connection_timeout: u64,
    /// As `traces.resource_name`.
    pub resource_name: String,
    /// As `traces.tls`.
    pub tls: CollectorTls,
    /// As `traces.span_processor_type`.
    pub span_processor_type: String,
    /// As `traces.span_batch_config`.
    pub span_batch_config: SpanBatch,
    /// As `traces.context_propagation`.
    pub context_propagation: String,
    /// As `traces.custom_trace_header`.
    pub custom_trace_header: String,
    /// As `traces.sampling`.
    pub sampling: Sampling,
    /// Settings of traces. If enabled, the fields next to it are ignored.
    pub traces: Traces,
    /// Push of the metrics of `/tyk/metrics`.
    pub metrics: OtlpMetrics,
}

/// `opentelemetry.traces`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Traces {
    /// Trace requests.
    pub enabled: bool,
    /// Protocol of the collector: `grpc` (also if empty) or `http`.
    pub exporter: String,
    /// Collector as `host:port` or as a URL; default `localhost:4317`, or `localhost:4318` with `http`.
    pub endpoint: String,
    /// Headers for the collector.
    pub headers: BTreeMap<String, String>,
    /// Seconds to connect to the collector; 0 means 1.
    pub connection_timeout: u64,
    /// The `service.name` of all spans; default `tyk`.
    pub resource_name: String,
    /// TLS to the collector.
    pub tls: CollectorTls,
    /// `batch` (also if empty), or `simple`, which is a batch every second.
    pub span_processor_type: String,
    /// Settings of batches.
    pub span_batch_config: SpanBatch,
    /// The headers that carry the trace: `tracecontext` (also if empty), `b3`, `custom` or `composite`.
    pub context_propagation: String,
    /// A header with the trace ID.
    pub custom_trace_header: String,
    /// Which requests are traced.
    pub sampling: Sampling,
}

/// `sampling`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Sampling {
    /// `AlwaysOn` (also if empty), `AlwaysOff` or `TraceIDRatioBased`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The ratio of `TraceIDRatioBased`, 0 to 1; 0 means 0.5.
    pub rate: f64,
    /// Follow the caller's decision for its trace.
    pub parent_based: bool,
}

/// `span_batch_config`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SpanBatch {
    /// Maximum spans that wait for the collector; 0 means 8192.
    pub max_queue_size: usize,
    /// Spans per batch; 0 means 512.
    pub max_export_batch_size: usize,
    /// Seconds after which a smaller batch is sent; 0 means 5.
    pub batch_timeout: u64,
}

/// `tls` of a collector.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CollectorTls {
    /// Use TLS; `https://` in the endpoint enables it too.
    pub enable: bool,
    /// Accept any certificate.
    pub insecure_skip_verify: bool,
    /// Authorities for the collector's certificate, PEM; the system's if empty.
    pub ca_file: PathBuf,
    /// The client certificate, PEM.
    pub cert_file: PathBuf,
    /// Private key of the client certificate, PEM.
    pub key_file: PathBuf,
    /// Highest version: `1.2` or `1.3` (also if empty).
    pub max_version: String,
    /// Lowest version: `1.2` (also if empty) or `1.3`.
    pub min_version: String,
}

/// `opentelemetry.metrics`. Empty settings of the collector default to those of traces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OtlpMetrics {
    /// Push metrics.
    pub enabled: bool,
    /// As `traces.exporter`.
    pub exporter: String,
    /// As `traces.endpoint`.
    pub endpoint: String,
    /// As `traces.headers`.
    pub headers: BTreeMap<String, String>,
    /// As `traces.connection_timeout`.
    pub connection_timeout: u64,
    /// As `traces.resource_name`.
    pub resource_name: String,
    /// As `traces.tls`.
    pub tls: CollectorTls,
    /// Seconds between two pushes; 0 means 60.
    pub export_interval: u64,
    /// `cumulative` (also if empty); Tyk also has `delta`.
    pub temporality: String,
    /// Metrics of requests; Tyk's usual ones if missing, and none if empty.
    pub api_metrics: Vec<ApiMetric>,
    /// Attribute sets of one metric of requests that are told apart; 0 for 2000.
    pub cardinality_limit: usize,
}

impl Default for OtlpMetrics {
    fn default() -> OtlpMetrics {
        OtlpMetrics {
            enabled: false,
            exporter: String::new(),
            endpoint: String::new(),
            headers: BTreeMap::new(),
            connection_timeout: 0,
            resource_name: String::new(),
            tls: CollectorTls::default(),
            export_interval: 0,
            temporality: String::new(),
            api_metrics: ApiMetric::standard(),
            cardinality_limit: 0,
        }
    }
}

impl OtlpMetrics {
    /// Attribute sets of one metric of requests that are told apart.
    pub fn cardinality_limit(&self) -> usize {
        if self.cardinality_limit == 0 { CARDINALITY } else { self.cardinality_limit.min(CARDINALITY_MAX) }
    }
}

/// A collector and how to connect to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectorSettings {
    /// Whether to use HTTP instead of gRPC.
    pub over_http: bool,
    /// The collector as `host:port` or as a URL.
    pub endpoint: String,
    /// Headers for the collector.
    pub headers: BTreeMap<String, String>,
    /// Time limit for connecting.
    pub connect_time_max: Duration,
    /// The `service.name`.
    pub resource_name: String,
    /// TLS settings.
    pub tls: CollectorTls,
}

impl OpenTelemetry {
    /// The settings of traces, if tracing is enabled.
    pub fn traces(&self) -> Option<Traces> {
        if self.traces.enabled {
            return Some(self.traces.clone());
        }
        self.enabled.then(|| Traces {
            enabled: true,
            exporter: self.exporter.clone(),
            endpoint: self.endpoint.clone(),
            headers: self.headers.clone(),
            connection_timeout: self.connection_timeout,
            resource_name: self.resource_name.clone(),
            tls: self.tls.clone(),
            span_processor_type: self.span_processor_type.clone(),
            span_batch_config: self.span_batch_config.clone(),
            context_propagation: self.context_propagation.clone(),
            custom_trace_header: self.custom_trace_header.clone(),
            sampling: self.sampling.clone(),
        })
    }

    /// Where metrics are pushed to, and how often, if enabled.
    pub fn metrics(&self) -> Option<(CollectorSettings, Duration)> {
        let own = &self.metrics;
        if !own.enabled {
            return None;
        }
        let or = |own: &String, other: String| if own.is_empty() { other } else { own.clone() };
        // Without traces, Tyk's metrics have another default.
        let alone =
            || Traces { resource_name: or(&self.traces.resource_name, METRICS_RESOURCE_NAME.to_owned()), ..self.traces.clone() };
        let traces = self.traces().unwrap_or_else(alone);
        let same_place = own.endpoint.is_empty() && own.exporter.is_empty();
        let merged = Traces {
            exporter: if same_place { traces.exporter } else { own.exporter.clone() },
            endpoint: if same_place { traces.endpoint } else { own.endpoint.clone() },
            headers: if own.headers.is_empty() { traces.headers } else { own.headers.clone() },
            connection_timeout: if own.connection_timeout == 0 { traces.connection_timeout } else { own.connection_timeout },
            resource_name: or(&own.resource_name, traces.resource_name),
            tls: if own.tls == CollectorTls::default() { traces.tls } else { own.tls.clone() },
            ..Traces::default()
        };
        let interval_s = if own.export_interval == 0 { 60 } else { own.export_interval };
        Some((merged.collector(), Duration::from_secs(interval_s)))
    }

    /// Adds the problems of these settings.
    pub(super) fn check(&self, findings: &mut Findings) {
        let root = JsonPath::of("opentelemetry");
        let at = if self.traces.enabled { root.key("traces") } else { root.clone() };
        if let Some(traces) = self.traces() {
            traces.check(&at, findings);
        }
        let metrics = &self.metrics;
        if metrics.enabled {
            let at = root.key("metrics");
            check_word(&at.key("exporter"), &metrics.exporter, &["grpc", "http"], findings);
            check_headers(&at.key("headers"), &metrics.headers, findings);
            metrics.tls.check(&at.key("tls"), findings);
            api_metrics::check(&metrics.api_metrics, &at.key("api_metrics"), findings);
            if !matches!(metrics.temporality.as_str(), "" | "cumulative") {
                findings.ignored(&at.key("temporality"), "only cumulative is supported, which is what is sent");
            }
        }
    }
}

impl Traces {
    /// The collector for spans.
    pub fn collector(&self) -> CollectorSettings {
        let over_http = self.exporter.eq_ignore_ascii_case("http");
        let default = if over_http { HTTP_ENDPOINT } else { GRPC_ENDPOINT };
        let or = |text: &str, default: &str| if text.is_empty() { default.to_owned() } else { text.to_owned() };
        CollectorSettings {
            over_http,
            endpoint: or(&self.endpoint, default),
            headers: self.headers.clone(),
            connect_time_max: Duration::from_secs(self.connection_timeout.max(1)),
            resource_name: or(&self.resource_name, RESOURCE_NAME),
            tls: self.tls.clone(),
        }
    }

    /// The ratio of new traces that are sampled.
    pub fn rate(&self) -> f64 {
        match self.sampling.kind.to_ascii_lowercase().as_str() {
            "alwaysoff" => 0.0,
            "traceidratiobased" if self.sampling.rate == 0.0 => RATE,
            "traceidratiobased" => self.sampling.rate,
            _ => 1.0,
        }
    }

    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        check_word(&at.key("exporter"), &self.exporter, &["grpc", "http"], findings);
        check_word(&at.key("span_processor_type"), &self.span_processor_type, &["batch", "simple"], findings);
        let propagations = ["tracecontext", "b3", "custom", "composite"];
        check_word(&at.key("context_propagation"), &self.context_propagation, &propagations, findings);
        let kinds = ["AlwaysOn", "AlwaysOff", "TraceIDRatioBased"];
        check_word(&at.key("sampling").key("type"), &self.sampling.kind, &kinds, findings);
        if !(0.0..=1.0).contains(&self.sampling.rate) {
            findings.error(&at.key("sampling").key("rate"), "must be a number from 0 to 1");
        }
        let header = &self.custom_trace_header;
        if !header.is_empty() && !is_token(header) {
            findings.error(&at.key("custom_trace_header"), "is not a header name");
        }
        if header.is_empty() && matches!(self.context_propagation.as_str(), "custom" | "composite") {
            findings.error(&at.key("custom_trace_header"), "must not be empty: context_propagation needs it");
        }
        check_headers(&at.key("headers"), &self.headers, findings);
        self.tls.check(&at.key("tls"), findings);
    }
}

impl SpanBatch {
    /// Spans per batch.
    pub fn spans(&self) -> usize {
        if self.max_export_batch_size == 0 { 512 } else { self.max_export_batch_size }
    }

    /// Maximum waiting batches; their memory is allocated at start.
    pub fn batches(&self) -> usize {
        let queue = if self.max_queue_size == 0 { 8_192 } else { self.max_queue_size };
        (queue / self.spans()).clamp(1, BATCHES_MAX)
    }

    /// Time after which a smaller batch is sent.
    pub fn time_max(&self) -> Duration {
        Duration::from_secs(if self.batch_timeout == 0 { 5 } else { self.batch_timeout })
    }
}

impl CollectorTls {
    /// Lowest and highest version by number; 0 for the default.
    pub fn versions(&self) -> (u16, u16) {
        let number = |text: &str| match text {
            "1.0" => 769,
            "1.1" => 770,
            "1.2" => 771,
            "1.3" => 772,
            _ => 0,
        };
        (number(&self.min_version), number(&self.max_version))
    }

    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        for (field, text) in [("min_version", &self.min_version), ("max_version", &self.max_version)] {
            check_word(&at.key(field), text, &["1.0", "1.1", "1.2", "1.3"], findings);
        }
        if self.cert_file.as_os_str().is_empty() != self.key_file.as_os_str().is_empty() {
            findings.error(&at.key("cert_file"), "needs key_file, and key_file needs it");
        }
    }
}

fn check_word(at: &JsonPath, text: &str, words: &[&str], findings: &mut Findings) {
    if !text.is_empty() && !words.iter().any(|word| word.eq_ignore_ascii_case(text)) {
        findings.error(at, format!("must be one of {}", words.join(", ")));
    }
}

fn check_headers(at: &JsonPath, headers: &BTreeMap<String, String>, findings: &mut Findings) {
    for (name, value) in headers {
        if !is_token(name) || !is_header_value(value) {
            findings.error(&at.key(name), "is no header");
        }
    }
}

#[cfg(test)]
mod tests;
