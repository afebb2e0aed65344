//! `opentelemetry.metrics.api_metrics`: metrics of requests, as the operator defines them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json_path::JsonPath;
use crate::problem::Findings;

/// Maximum metrics, and maximum dimensions of one: every request pays for each.
const METRICS_MAX: usize = 64;
const DIMENSIONS_MAX: usize = 32;
/// Maximum bounds of a histogram.
const BUCKETS_MAX: usize = 64;
/// Bounds of a histogram that sets none, in seconds.
const BUCKETS: [f64; 12] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// A metric of requests.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ApiMetric {
    /// Its name.
    pub name: String,
    /// `counter` or `histogram`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it is, for people.
    pub description: String,
    /// The time that a histogram shows: `total`, `gateway` or `upstream`.
    pub histogram_source: String,
    /// Its attributes.
    pub dimensions: Vec<MetricDimension>,
    /// Upper bounds of a histogram's buckets, in seconds; empty for the usual ones.
    pub histogram_buckets: Vec<f64>,
    /// Which requests count; all by default.
    pub filters: MetricFilters,
}

/// An attribute of a metric.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MetricDimension {
    /// Where its value comes from: `metadata`, `session`, `header`, `response_header`, `context` or `config_data`.
    pub source: String,
    /// The name there.
    pub key: String,
    /// The attribute's name; `key` if empty.
    pub label: String,
    /// The value if there is none.
    #[serde(rename = "default")]
    pub fallback: String,
}

/// Which requests a metric counts. Empty lists exclude none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MetricFilters {
    /// Ids of APIs.
    pub api_ids: Vec<String>,
    /// Methods.
    pub methods: Vec<String>,
    /// Statuses, such as `404`, and classes, such as `5xx`.
    pub status_codes: Vec<String>,
}

/// The time that a histogram shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricTime {
    /// From the request's arrival to the end of its response.
    Total,
    /// The part that the gateway took.
    Gateway,
    /// The part that the upstream took.
    Upstream,
}

/// Where the value of an attribute comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DimensionSource {
    /// What is known of every request.
    Metadata(RequestFact),
    /// The caller's session.
    Session(SessionFact),
    /// A request header.
    Header(String),
    /// A response header.
    ResponseHeader(String),
    /// A context variable.
    Context(String),
    /// A member of the definition's `config_data`.
    ConfigData(String),
}

macro_rules! facts {
    ($(#[$about:meta])* $type:ident { $($fact:ident $name:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the names say it")]
        pub enum $type { $($fact),* }

        impl $type {
            const NAMES: &[&str] = &[$($name),*];

            fn named(name: &str) -> Option<$type> {
                match name {
                    $($name => Some($type::$fact),)*
                    _ => None,
                }
            }
        }
    };
}

facts! {
    /// What is known of every request; `mcp_*` of calls of MCP proxies.
    RequestFact {
        Method "method",
        Status "response_code",
        ListenPath "listen_path",
        Endpoint "endpoint",
        ApiId "api_id",
        ApiName "api_name",
        OrgId "org_id",
        ResponseFlag "response_flag",
        Address "ip_address",
        Version "api_version",
        Host "host",
        Scheme "scheme",
        McpMethod "mcp_method",
        McpPrimitiveType "mcp_primitive_type",
        McpPrimitiveName "mcp_primitive_name",
        McpErrorCode "mcp_error_code",
    }
}

facts! {
    /// What is known of a request with a session.
    SessionFact {
        ApiKey "api_key",
        OAuthClient "oauth_id",
        Alias "alias",
        PortalApp "portal_app",
        PortalOrg "portal_org",
    }
}

impl ApiMetric {
    /// Tyk's metrics, which there are if none are defined.
    pub fn standard() -> Vec<ApiMetric> {
        let dimension = |key: &str, label: &str| MetricDimension {
            source: "metadata".to_owned(),
            key: key.to_owned(),
            label: label.to_owned(),
            fallback: String::new(),
        };
        let (method, status) =
            (dimension("method", "http.request.method"), dimension("response_code", "http.response.status_code"));
        let (api, flag) = (dimension("api_id", "tyk.api.id"), dimension("response_flag", "tyk.response_flag"));
        let time = |name: &str, source: &str, description: &str, dimensions: Vec<MetricDimension>| ApiMetric {
            name: name.to_owned(),
            kind: "histogram".to_owned(),
            description: description.to_owned(),
            histogram_source: source.to_owned(),
            dimensions,
            ..ApiMetric::default()
        };
        let three = || vec![method.clone(), api.clone(), flag.clone()];
        vec![
            time(
                "http.server.request.duration",
                "total",
                "End-to-end request latency",
                vec![method.clone(), status.clone(), api.clone(), flag.clone()],
            ),
            time("tyk.gateway.request.duration", "gateway", "Gateway processing time", three()),
            time("tyk.upstream.request.duration", "upstream", "Upstream response time", three()),
            ApiMetric {
                name: "tyk.api.requests.total".to_owned(),
                kind: "counter".to_owned(),
                description: "Request count with identity dimensions".to_owned(),
                dimensions: vec![method, status, api],
                ..ApiMetric::default()
            },
        ]
    }

    /// The time of a histogram; `None` of a counter.
    pub fn time(&self) -> Option<MetricTime> {
        match (self.kind.as_str(), self.histogram_source.as_str()) {
            ("histogram", "gateway") => Some(MetricTime::Gateway),
            ("histogram", "upstream") => Some(MetricTime::Upstream),
            ("histogram", _) => Some(MetricTime::Total),
            _ => None,
        }
    }

    /// Upper bounds of the buckets, in seconds.
    pub fn buckets(&self) -> Vec<f64> {
        if self.histogram_buckets.is_empty() { BUCKETS.to_vec() } else { self.histogram_buckets.clone() }
    }

    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        if self.name.is_empty() {
            findings.error(&at.key("name"), "must not be empty");
        }
        match self.kind.as_str() {
            "histogram" if !matches!(self.histogram_source.as_str(), "total" | "gateway" | "upstream") => {
                findings.error(&at.key("histogram_source"), "must be total, gateway or upstream");
            }
            "counter" if !self.histogram_source.is_empty() => {
                findings.error(&at.key("histogram_source"), "must be empty for a counter");
            }
            "histogram" | "counter" => {}
            _ => findings.error(&at.key("type"), "must be counter or histogram"),
        }
        let ascend = self.histogram_buckets.windows(2).all(|pair| matches!(pair, [low, high] if low < high));
        if !ascend || self.histogram_buckets.iter().any(|bound| !bound.is_finite()) {
            findings.error(&at.key("histogram_buckets"), "must be numbers in ascending order");
        }
        if self.histogram_buckets.len() > BUCKETS_MAX {
            findings.error(&at.key("histogram_buckets"), format!("must have at most {BUCKETS_MAX} bounds"));
        }
        if self.dimensions.len() > DIMENSIONS_MAX {
            findings.error(&at.key("dimensions"), format!("must have at most {DIMENSIONS_MAX} items"));
        }
        for (index, dimension) in self.dimensions.iter().enumerate() {
            let at = at.key("dimensions").index(index);
            if let Err(message) = dimension.from() {
                findings.error(&at, message);
            }
        }
        for (index, status) in self.filters.status_codes.iter().enumerate() {
            if StatusFilter::read(status).is_none() {
                findings.error(
                    &at.key("filters").key("status_codes").index(index),
                    "must be a status such as 404, or a class such as 5xx",
                );
            }
        }
    }
}

impl MetricDimension {
    /// The attribute's name.
    pub fn name(&self) -> &str {
        if self.label.is_empty() { &self.key } else { &self.label }
    }

    /// Where its value comes from.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from(&self) -> Result<DimensionSource, String> {
        let key = self.key.as_str();
        if key.is_empty() {
            return Err("key must not be empty".to_owned());
        }
        let unknown = |names: &[&str]| format!("key {key:?} must be one of {}", names.join(", "));
        match self.source.as_str() {
            "metadata" => RequestFact::named(key).map(DimensionSource::Metadata).ok_or_else(|| unknown(RequestFact::NAMES)),
            "session" => SessionFact::named(key).map(DimensionSource::Session).ok_or_else(|| unknown(SessionFact::NAMES)),
            "header" => Ok(DimensionSource::Header(key.to_ascii_lowercase())),
            "response_header" => Ok(DimensionSource::ResponseHeader(key.to_ascii_lowercase())),
            "context" => Ok(DimensionSource::Context(key.to_owned())),
            "config_data" => Ok(DimensionSource::ConfigData(key.to_owned())),
            source => {
                Err(format!("source {source:?} must be one of metadata, session, header, response_header, context, config_data"))
            }
        }
    }
}

/// A status or a class of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusFilter {
    /// One status.
    One(u16),
    /// All from this hundred.
    Class(u16),
}

impl StatusFilter {
    /// Reads a status, such as `404`, or a class, such as `5xx`.
    pub fn read(text: &str) -> Option<StatusFilter> {
        let is_status = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_status {
            return text.parse().ok().map(StatusFilter::One);
        }
        let class = text.strip_suffix("xx").or_else(|| text.strip_suffix("XX"))?;
        class.parse().ok().filter(|class| (1..=5).contains(class)).map(StatusFilter::Class)
    }

    /// Whether a status is meant.
    pub fn has(self, status: u16) -> bool {
        match self {
            StatusFilter::One(one) => status == one,
            StatusFilter::Class(class) => status / 100 == class,
        }
    }
}

/// Adds the problems of the metrics.
pub(super) fn check(metrics: &[ApiMetric], at: &JsonPath, findings: &mut Findings) {
    if metrics.len() > METRICS_MAX {
        findings.error(at, format!("must have at most {METRICS_MAX} items"));
    }
    for (index, metric) in metrics.iter().enumerate() {
        let at = at.index(index);
        metric.check(&at, findings);
        if metrics.iter().take(index).any(|other| other.name == metric.name) {
            findings.error(&at.key("name"), format!("{:?} is defined twice", metric.name));
        }
    }
}

#[cfg(test)]
mod tests;
