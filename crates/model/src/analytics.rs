//! The analytics record as Tyk writes it and tyk-pump reads it: MessagePack with the names of Go fields, Protocol Buffers, and JSON with the
//! names that the pump's own outputs have.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rmp::encode::{ValueWriteError, write_array_len, write_bool, write_f64, write_map_len, write_nil, write_sint};
use serde::{Deserialize, Serialize};

use crate::calendar::{Moment, rfc3339};

mod protobuf;

/// What a request without a version is recorded under.
pub const NOT_VERSIONED: &str = "Non Versioned";

/// One request.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct AnalyticsRecord<'a> {
    /// As the client sent it.
    pub method: Cow<'a, str>,
    /// The upstream's.
    pub host: Cow<'a, str>,
    /// Without the listen path, perhaps made uniform; the pattern of a tracked endpoint.
    pub path: Cow<'a, str>,
    /// The same without either.
    pub raw_path: Cow<'a, str>,
    /// Bytes that the request's body says it has; -1 when it does not.
    pub content_length: i64,
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
    /// Status code.
    pub response_code: i64,
    /// The key, hashed if keys are.
    pub api_key: Cow<'a, str>,
    /// When the request ended.
    #[serde(serialize_with = "time_text")]
    pub timestamp: Time,
    /// Name of the version.
    pub api_version: Cow<'a, str>,
    /// Name of the API.
    pub api_name: Cow<'a, str>,
    /// Its id.
    pub api_id: Cow<'a, str>,
    /// Its organisation.
    pub org_id: Cow<'a, str>,
    /// The OAuth client that the key was made for.
    pub oauth_id: Cow<'a, str>,
    /// Milliseconds.
    pub request_time: i64,
    /// Base64 of the request, when it is recorded in full.
    pub raw_request: Cow<'a, str>,
    /// Base64 of the response, when it is recorded in full.
    pub raw_response: Cow<'a, str>,
    /// The client's.
    pub ip_address: Cow<'a, str>,
    /// Where that is.
    pub geo: Geo,
    /// Bytes.
    pub network: Network,
    /// Milliseconds.
    pub latency: Latency,
    /// Of key, policy, organisation, API and headers.
    pub tags: Vec<Cow<'a, str>>,
    /// Of the key.
    pub alias: Cow<'a, str>,
    /// The endpoint is a tracked one.
    pub track_path: bool,
    /// When the record may be forgotten.
    #[serde(rename = "expireAt", serialize_with = "time_text")]
    pub expire_at: Time,
    /// A GraphQL schema; always empty.
    pub api_schema: Cow<'a, str>,
    /// As the client sent it.
    pub original_path: Cow<'a, str>,
    /// Of the API.
    pub listen_path: Cow<'a, str>,
    /// Of a document store; always empty.
    #[serde(skip)]
    pub collection_name: Cow<'a, str>,
}

/// Seconds and nanoseconds since 1970, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Time {
    /// Whole seconds.
    pub unix_s: i64,
    /// The rest.
    pub ns: u32,
}

/// Where an address is.
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

/// A place.
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

fn time_text<S: serde::Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&rfc3339(time.unix_s, time.ns))
}

impl AnalyticsRecord<'_> {
    /// Sets the moment of the request, and when its record expires: after that many seconds, or a hundred years when 0.
    pub fn set_time(&mut self, time: Time, expire_after_s: i64) {
        const HUNDRED_YEARS_S: i64 = 100 * 365 * 24 * 3600;
        let Moment { year, month, day, hour, .. } = Moment::of(time.unix_s);
        (self.year, self.month, self.day, self.hour) = (year, i64::from(month), i64::from(day), i64::from(hour));
        self.timestamp = time;
        let after_s = if expire_after_s == 0 { HUNDRED_YEARS_S } else { expire_after_s };
        self.expire_at = Time { unix_s: time.unix_s.saturating_add(after_s), ns: time.ns };
    }

    /// Adds the record as one MessagePack map.
    pub fn append_msgpack(&self, out: &mut Vec<u8>) {
        // Writing to memory does not fail.
        let _ = self.write_msgpack(out);
    }

    fn write_msgpack(&self, out: &mut Vec<u8>) -> Result<(), ValueWriteError> {
        write_map_len(out, 35)?;
        let texts = [
            ("Method", &self.method),
            ("Host", &self.host),
            ("Path", &self.path),
            ("RawPath", &self.raw_path),
            ("UserAgent", &self.user_agent),
            ("APIKey", &self.api_key),
            ("APIVersion", &self.api_version),
            ("APIName", &self.api_name),
            ("APIID", &self.api_id),
            ("OrgID", &self.org_id),
            ("OauthID", &self.oauth_id),
            ("RawRequest", &self.raw_request),
            ("RawResponse", &self.raw_response),
            ("IPAddress", &self.ip_address),
            ("Alias", &self.alias),
            ("ApiSchema", &self.api_schema),
            ("OriginalPath", &self.original_path),
            ("ListenPath", &self.listen_path),
            ("CollectionName", &self.collection_name),
        ];
        for (name, value) in texts {
            write_str(out, name)?;
            write_str(out, value)?;
        }
        let numbers = [
            ("ContentLength", self.content_length),
            ("Day", self.day),
            ("Month", self.month),
            ("Year", self.year),
            ("Hour", self.hour),
            ("ResponseCode", self.response_code),
            ("RequestTime", self.request_time),
        ];
        write_numbers(out, &numbers)?;
        for (name, time) in [("TimeStamp", self.timestamp), ("ExpireAt", self.expire_at)] {
            write_str(out, name)?;
            write_array_len(out, 2)?;
            write_sint(out, time.unix_s)?;
            write_sint(out, i64::from(time.ns))?;
        }
        write_str(out, "Geo")?;
        self.geo.write_msgpack(out)?;
        let Network { open_connections, closed_connection, bytes_in, bytes_out } = self.network;
        write_str(out, "Network")?;
        write_map_len(out, 4)?;
        let network = [
            ("OpenConnections", open_connections),
            ("ClosedConnection", closed_connection),
            ("BytesIn", bytes_in),
            ("BytesOut", bytes_out),
        ];
        write_numbers(out, &network)?;
        let Latency { total, upstream, gateway } = self.latency;
        write_str(out, "Latency")?;
        write_map_len(out, 3)?;
        write_numbers(out, &[("Total", total), ("Upstream", upstream), ("Gateway", gateway)])?;
        write_str(out, "Tags")?;
        write_array_len(out, u32::try_from(self.tags.len()).unwrap_or(u32::MAX))?;
        for tag in &self.tags {
            write_str(out, tag)?;
        }
        write_flags(out, &[("TrackPath", self.track_path)])?;
        write_no_stats(out)
    }
}

impl Geo {
    fn write_msgpack(&self, out: &mut Vec<u8>) -> Result<(), ValueWriteError> {
        write_map_len(out, 3)?;
        write_str(out, "Country")?;
        write_map_len(out, 1)?;
        write_str(out, "ISOCode")?;
        write_str(out, &self.country.iso_code)?;
        write_str(out, "City")?;
        write_map_len(out, 2)?;
        write_numbers(out, &[("GeoNameID", i64::from(self.city.geoname_id))])?;
        write_str(out, "Names")?;
        if self.city.names.is_empty() {
            write_nil(out).map_err(ValueWriteError::InvalidMarkerWrite)?;
        } else {
            write_map_len(out, u32::try_from(self.city.names.len()).unwrap_or(u32::MAX))?;
            for (language, name) in &self.city.names {
                write_str(out, language)?;
                write_str(out, name)?;
            }
        }
        write_str(out, "Location")?;
        write_map_len(out, 3)?;
        for (name, degrees) in [("Latitude", self.location.latitude), ("Longitude", self.location.longitude)] {
            write_str(out, name)?;
            write_f64(out, degrees)?;
        }
        write_str(out, "TimeZone")?;
        write_str(out, &self.location.time_zone)?;
        Ok(())
    }
}

/// What Tyk records of GraphQL and MCP, which are passed on unread: always empty.
fn write_no_stats(out: &mut Vec<u8>) -> Result<(), ValueWriteError> {
    write_str(out, "GraphQLStats")?;
    write_map_len(out, 7)?;
    write_str(out, "Variables")?;
    write_str(out, "")?;
    for list in ["RootFields", "Types", "Errors"] {
        write_str(out, list)?;
        write_nil(out).map_err(ValueWriteError::InvalidMarkerWrite)?;
    }
    write_numbers(out, &[("OperationType", 0)])?;
    write_flags(out, &[("HasErrors", false), ("IsGraphQL", false)])?;
    write_str(out, "MCPStats")?;
    write_map_len(out, 4)?;
    write_flags(out, &[("IsMCP", false)])?;
    for text in ["JSONRPCMethod", "PrimitiveType", "PrimitiveName"] {
        write_str(out, text)?;
        write_str(out, "")?;
    }
    Ok(())
}

/// Texts of less than 32 bytes, which most are, need no more than their length in front.
fn write_str(out: &mut Vec<u8>, text: &str) -> Result<(), ValueWriteError> {
    match u8::try_from(text.len()) {
        Ok(length @ 0..32) => {
            out.push(0xa0 | length);
            out.extend_from_slice(text.as_bytes());
            Ok(())
        }
        _ => rmp::encode::write_str(out, text),
    }
}

fn write_flags(out: &mut Vec<u8>, flags: &[(&str, bool)]) -> Result<(), ValueWriteError> {
    for (name, flag) in flags {
        write_str(out, name)?;
        write_bool(out, *flag).map_err(ValueWriteError::InvalidMarkerWrite)?;
    }
    Ok(())
}

fn write_numbers(out: &mut Vec<u8>, numbers: &[(&str, i64)]) -> Result<(), ValueWriteError> {
    for (name, number) in numbers {
        write_str(out, name)?;
        write_sint(out, *number)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
