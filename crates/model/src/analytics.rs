//! The analytics record that Tyk writes and tyk-pump reads: MessagePack with the names of Go fields, Protocol Buffers, and JSON
//! with the names of the pump's own outputs.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::calendar::{append_rfc3339_ms, date_time};

mod json;
mod llm;
mod msgpack;
mod protobuf;

pub use llm::{LlmAttempt, LlmStats, LlmUsage};
pub use protobuf::protobuf_members;

/// The recorded version of requests without one.
pub const NOT_VERSIONED: &str = "Non Versioned";

const NS_PER_S: u64 = 1_000_000_000;

/// The analytics record of one request.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AnalyticsRecord<'a> {
    /// The request's method, as the client sent it.
    pub method: Cow<'a, str>,
    /// The upstream's host.
    pub host: Cow<'a, str>,
    /// The `User-Agent` header, as the client sent it.
    pub user_agent: Cow<'a, str>,
    /// Day of the month, from 1.
    pub day: i64,
    /// Month of the year, from 1.
    pub month: i64,
    /// Year, in four digits.
    pub year: i64,
    /// Hour of the day, UTC.
    pub hour: i64,
    /// The key, hashed if keys are hashed.
    pub api_key: Cow<'a, str>,
    /// Name of the version.
    pub api_version: Cow<'a, str>,
    /// Name of the API.
    pub api_name: Cow<'a, str>,
    /// Id of the API.
    pub api_id: Cow<'a, str>,
    /// The API's organisation.
    pub org_id: Cow<'a, str>,
    /// The OAuth client that the key belongs to.
    pub oauth_id: Cow<'a, str>,
    /// The client's address.
    pub ip_address: Cow<'a, str>,
    /// Location of the client's address.
    pub geo: Geo,
    /// Tags of key, policy, organisation, API and headers.
    pub tags: Vec<Cow<'a, str>>,
    /// The key's alias.
    pub alias: Cow<'a, str>,
    /// The schema of a GraphQL API in Base64; empty for all others.
    pub api_schema: Cow<'a, str>,
    /// The API's listen path.
    pub listen_path: Cow<'a, str>,
    /// For a document store; always empty.
    #[serde(skip)]
    pub collection_name: Cow<'a, str>,
    /// The path without the listen path, possibly normalised; for a tracked endpoint, its pattern.
    pub path: Cow<'a, str>,
    /// The path without the listen path, neither normalised nor replaced by a pattern.
    pub raw_path: Cow<'a, str>,
    /// The path as the client sent it.
    pub original_path: Cow<'a, str>,
    /// The declared length of the request's body; -1 if not declared.
    pub content_length: i64,
    /// Status code.
    pub response_code: i64,
    /// When the request ended.
    #[serde(serialize_with = "time_text", deserialize_with = "time_of")]
    pub timestamp: RecordTime,
    /// Duration of the request in milliseconds.
    pub request_time: i64,
    /// The request in Base64, for detailed recording.
    pub raw_request: Cow<'a, str>,
    /// The response in Base64, for detailed recording.
    pub raw_response: Cow<'a, str>,
    /// Bytes of the request.
    pub network: Network,
    /// Parts of the duration, in milliseconds.
    pub latency: Latency,
    /// Whether the endpoint is tracked.
    pub track_path: bool,
    /// What the request asked for, if it was GraphQL. Not in JSON.
    #[serde(skip)]
    pub graphql: Option<Box<GraphqlStats>>,
    /// What the request called, if the API is an MCP proxy.
    #[serde(rename = "mcp_stats", skip_serializing_if = "Option::is_none")]
    pub mcp: Option<McpStats<'a>>,
    /// What the request took, if the API is one in front of language models. Only in JSON.
    #[serde(rename = "llm_stats", skip_serializing_if = "Option::is_none")]
    pub llm: Option<Box<LlmStats>>,
    /// When the record expires.
    #[serde(rename = "expireAt", serialize_with = "time_text", deserialize_with = "time_of")]
    pub expire_at: RecordTime,
}

/// What a GraphQL request asked for: the pump's `GraphQLStats`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GraphqlStats {
    /// Values of variables as JSON; empty without any.
    pub variables: String,
    /// Fields of the root types.
    pub root_fields: Vec<String>,
    /// Fields of all other types.
    pub types: BTreeMap<String, Vec<String>>,
    /// Messages of the errors in the response.
    pub errors: Vec<String>,
    /// 1 for a query, 2 for a mutation, 3 for a subscription, 0 if unknown.
    pub operation: u8,
}

/// What a request to an MCP proxy called: the pump's `MCPStats`. All is empty if it was no call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct McpStats<'a> {
    /// Always true.
    pub is_mcp: bool,
    /// The method, such as `tools/call`.
    pub jsonrpc_method: Cow<'a, str>,
    /// `tool`, `resource` or `prompt`; empty if the call uses none.
    pub primitive_type: Cow<'a, str>,
    /// The tool's or prompt's name, or the resource's URI; the method if the call uses none.
    pub primitive_name: Cow<'a, str>,
}

/// Seconds and nanoseconds since 1970, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecordTime {
    /// Whole seconds.
    pub unix_s: i64,
    /// Nanoseconds of the current second.
    pub ns: u32,
}

impl RecordTime {
    /// From nanoseconds since 1970.
    #[inline]
    pub fn from_unix_ns(ns: u64) -> Self {
        RecordTime { unix_s: (ns / NS_PER_S) as i64, ns: (ns % NS_PER_S) as u32 }
    }
}

/// The result of one uptime test, as tyk-pump reads it. The fields are those of `UptimeReportData` in Tyk v5.14.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UptimeRecord<'r> {
    /// URL of the check.
    pub url: &'r str,
    /// Milliseconds that it took.
    pub request_ms: i64,
    /// Status of the answer; 521 if there was none.
    pub response_code: i64,
    /// There was no connection or no answer.
    pub is_tcp_error: bool,
    /// The status is above 200.
    pub is_server_error: bool,
    /// When the check ended.
    pub timestamp: RecordTime,
    /// When the record expires.
    pub expire_at: RecordTime,
    /// Id of the API.
    pub api_id: &'r str,
    /// Its organisation.
    pub org_id: &'r str,
}

/// The location of an address, as the MaxMind database stores it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Geo {
    /// The country, with its `iso_code`.
    pub country: Country,
    /// The city, with `geoname_id` and `names`.
    pub city: City,
    /// The coordinates, with `latitude`, `longitude` and `time_zone`.
    pub location: Location,
}

/// A country.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Country {
    /// Code of two letters.
    pub iso_code: String,
}

/// A city.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct City {
    /// Id at geonames.org.
    pub geoname_id: u32,
    /// Names by language.
    pub names: BTreeMap<String, String>,
}

/// A location.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Location {
    /// Degrees of latitude.
    pub latitude: f64,
    /// Degrees of longitude.
    pub longitude: f64,
    /// Time zone, such as `Europe/Rome`.
    pub time_zone: String,
}

/// Bytes of one request.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Network {
    /// Always 0.
    pub open_connections: i64,
    /// Always 0.
    #[serde(rename = "closed_connections")]
    pub closed_connection: i64,
    /// Bytes of the body, from the client.
    pub bytes_in: i64,
    /// Bytes sent to the client.
    pub bytes_out: i64,
}

/// Latency of one request in milliseconds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Latency {
    /// Total time.
    pub total: i64,
    /// Time of the upstream.
    pub upstream: i64,
    /// Time of the gateway.
    pub gateway: i64,
}

fn time_text<S: serde::Serializer>(time: &RecordTime, serializer: S) -> Result<S::Ok, S::Error> {
    let mut text = Vec::with_capacity(32);
    append_rfc3339_ms(&mut text, time.unix_s, time.ns);
    serializer.serialize_str(&String::from_utf8_lossy(&text))
}

fn time_of<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<RecordTime, D::Error> {
    let text = Cow::<str>::deserialize(deserializer)?;
    let time: jiff::Timestamp = text.parse().map_err(serde::de::Error::custom)?;
    Ok(RecordTime { unix_s: time.as_second(), ns: u32::try_from(time.subsec_nanosecond()).unwrap_or_default() })
}

impl AnalyticsRecord<'_> {
    /// Sets the time of the request, and when its record expires: after this many seconds, or after a hundred years if 0.
    pub fn set_time(&mut self, time: RecordTime, expire_after_s: i64) {
        const HUNDRED_YEARS_S: i64 = 100 * 365 * 24 * 3600;
        let at = date_time(time.unix_s, 0);
        (self.year, self.month, self.day, self.hour) = (at.year().into(), at.month().into(), at.day().into(), at.hour().into());
        self.timestamp = time;
        let after_s = if expire_after_s == 0 { HUNDRED_YEARS_S } else { expire_after_s };
        self.expire_at = RecordTime { unix_s: time.unix_s.saturating_add(after_s), ns: time.ns };
    }
}

#[cfg(test)]
mod tests;
