//! The analytics record that Tyk writes and tyk-pump reads: MessagePack with the names of Go fields, Protocol Buffers, and JSON
//! with the names of the pump's own outputs.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::calendar::{append_rfc3339_ms, date_time};

mod json;
mod msgpack;
mod protobuf;

/// The recorded version of requests without one.
pub const NOT_VERSIONED: &str = "Non Versioned";

const NS_PER_S: u64 = 1_000_000_000;

/// One request.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct AnalyticsRecord<'a> {
    /// As the client sent it.
    pub method: Cow<'a, str>,
    /// The upstream's.
    pub host: Cow<'a, str>,
    /// As the client sent it.
    pub user_agent: Cow<'a, str>,
    /// Of the month, from 1.
    pub day: i64,
    /// Of the year, from 1.
    pub month: i64,
    /// In full.
    pub year: i64,
    /// Of the day, UTC.
    pub hour: i64,
    /// The key, hashed if keys are hashed.
    pub api_key: Cow<'a, str>,
    /// Name of the version.
    pub api_version: Cow<'a, str>,
    /// Name of the API.
    pub api_name: Cow<'a, str>,
    /// Its id.
    pub api_id: Cow<'a, str>,
    /// Its organisation.
    pub org_id: Cow<'a, str>,
    /// The OAuth client that the key belongs to.
    pub oauth_id: Cow<'a, str>,
    /// The client's.
    pub ip_address: Cow<'a, str>,
    /// Its location.
    pub geo: Geo,
    /// Of key, policy, organisation, API and headers.
    pub tags: Vec<Cow<'a, str>>,
    /// Of the key.
    pub alias: Cow<'a, str>,
    /// A GraphQL schema; always empty.
    pub api_schema: Cow<'a, str>,
    /// Of the API.
    pub listen_path: Cow<'a, str>,
    /// For a document store; always empty.
    #[serde(skip)]
    pub collection_name: Cow<'a, str>,
    /// Without the listen path, possibly normalised; for a tracked endpoint, its pattern.
    pub path: Cow<'a, str>,
    /// The same without either.
    pub raw_path: Cow<'a, str>,
    /// As the client sent it.
    pub original_path: Cow<'a, str>,
    /// The declared length of the request's body; -1 if not declared.
    pub content_length: i64,
    /// Status code.
    pub response_code: i64,
    /// When the request ended.
    #[serde(serialize_with = "time_text")]
    pub timestamp: RecordTime,
    /// Milliseconds.
    pub request_time: i64,
    /// The request in Base64, for detailed recording.
    pub raw_request: Cow<'a, str>,
    /// The response in Base64, for detailed recording.
    pub raw_response: Cow<'a, str>,
    /// Bytes.
    pub network: Network,
    /// Milliseconds.
    pub latency: Latency,
    /// Whether the endpoint is tracked.
    pub track_path: bool,
    /// When the record expires.
    #[serde(rename = "expireAt", serialize_with = "time_text")]
    pub expire_at: RecordTime,
}

/// Seconds and nanoseconds since 1970, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecordTime {
    /// Whole seconds.
    pub unix_s: i64,
    /// The rest.
    pub ns: u32,
}

impl RecordTime {
    /// From nanoseconds since 1970.
    #[inline]
    pub fn from_unix_ns(ns: u64) -> Self {
        RecordTime { unix_s: (ns / NS_PER_S) as i64, ns: (ns % NS_PER_S) as u32 }
    }
}

/// The location of an address.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Geo {
    /// `iso_code`.
    pub country: Country,
    /// `geoname_id` and `names`.
    pub city: City,
    /// `latitude`, `longitude`, `time_zone`.
    pub location: Location,
}

/// A country.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Country {
    /// Two letters.
    pub iso_code: String,
}

/// A city.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct City {
    /// At geonames.org.
    pub geoname_id: u32,
    /// By language.
    pub names: BTreeMap<String, String>,
}

/// A location.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Location {
    /// Degrees.
    pub latitude: f64,
    /// Degrees.
    pub longitude: f64,
    /// Such as `Europe/Rome`.
    pub time_zone: String,
}

/// Bytes of one request.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Network {
    /// Always 0.
    pub open_connections: i64,
    /// Always 0.
    #[serde(rename = "closed_connections")]
    pub closed_connection: i64,
    /// Of the body, from the client.
    pub bytes_in: i64,
    /// To the client.
    pub bytes_out: i64,
}

/// Milliseconds of one request.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Latency {
    /// All.
    pub total: i64,
    /// The upstream's.
    pub upstream: i64,
    /// The rest.
    pub gateway: i64,
}

fn time_text<S: serde::Serializer>(time: &RecordTime, serializer: S) -> Result<S::Ok, S::Error> {
    let mut text = Vec::with_capacity(32);
    append_rfc3339_ms(&mut text, time.unix_s, time.ns);
    serializer.serialize_str(&String::from_utf8_lossy(&text))
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
