//! The record as MessagePack: a map with the names of Go's fields.

use super::{AnalyticsRecord, Geo, GraphqlStats, McpStats, RecordTime, UptimeRecord};
use rmp::encode::{ValueWriteError, write_array_len, write_bool, write_f64, write_map_len, write_nil};
use std::sync::LazyLock;

/// The parts that nearly all records have in common, encoded once: most have no location, and most are neither GraphQL nor MCP.
static NO_LOCATION: LazyLock<Vec<u8>> = LazyLock::new(|| encoded(|out| Geo::default().write_msgpack(out)));
static NO_STATS: LazyLock<Vec<u8>> = LazyLock::new(|| encoded(|out| write_stats(out, None, None)));

fn encoded(write: impl FnOnce(&mut Vec<u8>) -> Result<(), ValueWriteError>) -> Vec<u8> {
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = write(&mut out);
    out
}

impl AnalyticsRecord<'_> {
    /// Adds the record as one MessagePack map.
    pub fn append_msgpack(&self, out: &mut Vec<u8>) {
        // Writing to memory cannot fail.
        let _ = self.write_msgpack(out);
    }

    fn write_msgpack(&self, out: &mut Vec<u8>) -> Result<(), ValueWriteError> {
        write_map_len(out, 35)?;
        text(out, "Method", &self.method)?;
        text(out, "Host", &self.host)?;
        text(out, "UserAgent", &self.user_agent)?;
        text(out, "APIKey", &self.api_key)?;
        text(out, "APIVersion", &self.api_version)?;
        text(out, "APIName", &self.api_name)?;
        text(out, "APIID", &self.api_id)?;
        text(out, "OrgID", &self.org_id)?;
        text(out, "OauthID", &self.oauth_id)?;
        text(out, "IPAddress", &self.ip_address)?;
        text(out, "Alias", &self.alias)?;
        text(out, "ApiSchema", &self.api_schema)?;
        text(out, "ListenPath", &self.listen_path)?;
        text(out, "CollectionName", &self.collection_name)?;
        number(out, "Day", self.day)?;
        number(out, "Month", self.month)?;
        number(out, "Year", self.year)?;
        number(out, "Hour", self.hour)?;
        write_str(out, "Geo")?;
        if self.geo == Geo::default() {
            out.extend_from_slice(&NO_LOCATION);
        } else {
            self.geo.write_msgpack(out)?;
        }
        write_str(out, "Tags")?;
        write_array_len(out, u32::try_from(self.tags.len()).unwrap_or(u32::MAX))?;
        for tag in &self.tags {
            write_str(out, tag)?;
        }
        match (&self.graphql, &self.mcp) {
            (None, None) => out.extend_from_slice(&NO_STATS),
            (graphql, mcp) => write_stats(out, graphql.as_deref(), mcp.as_ref())?,
        }
        text(out, "Path", &self.path)?;
        text(out, "RawPath", &self.raw_path)?;
        text(out, "OriginalPath", &self.original_path)?;
        text(out, "RawRequest", &self.raw_request)?;
        text(out, "RawResponse", &self.raw_response)?;
        number(out, "ContentLength", self.content_length)?;
        number(out, "ResponseCode", self.response_code)?;
        number(out, "RequestTime", self.request_time)?;
        time(out, "TimeStamp", self.timestamp)?;
        time(out, "ExpireAt", self.expire_at)?;
        write_str(out, "Network")?;
        write_map_len(out, 4)?;
        number(out, "OpenConnections", self.network.open_connections)?;
        number(out, "ClosedConnection", self.network.closed_connection)?;
        number(out, "BytesIn", self.network.bytes_in)?;
        number(out, "BytesOut", self.network.bytes_out)?;
        write_str(out, "Latency")?;
        write_map_len(out, 3)?;
        number(out, "Total", self.latency.total)?;
        number(out, "Upstream", self.latency.upstream)?;
        number(out, "Gateway", self.latency.gateway)?;
        flag(out, "TrackPath", self.track_path)
    }
}

impl UptimeRecord<'_> {
    /// Adds the record as one MessagePack map.
    pub fn append_msgpack(&self, out: &mut Vec<u8>) {
        // Writing to memory cannot fail.
        let _ = self.write_msgpack(out);
    }

    fn write_msgpack(&self, out: &mut Vec<u8>) -> Result<(), ValueWriteError> {
        let at = crate::calendar::date_time(self.timestamp.unix_s, self.timestamp.ns);
        write_map_len(out, 14)?;
        text(out, "URL", self.url)?;
        number(out, "RequestTime", self.request_ms)?;
        number(out, "ResponseCode", self.response_code)?;
        flag(out, "TCPError", self.is_tcp_error)?;
        flag(out, "ServerError", self.is_server_error)?;
        number(out, "Day", at.day().into())?;
        number(out, "Month", at.month().into())?;
        number(out, "Year", at.year().into())?;
        number(out, "Hour", at.hour().into())?;
        number(out, "Minute", at.minute().into())?;
        time(out, "TimeStamp", self.timestamp)?;
        time(out, "ExpireAt", self.expire_at)?;
        text(out, "APIID", self.api_id)?;
        text(out, "OrgID", self.org_id)
    }
}

impl Geo {
    fn write_msgpack(&self, out: &mut Vec<u8>) -> Result<(), ValueWriteError> {
        write_map_len(out, 3)?;
        write_str(out, "Country")?;
        write_map_len(out, 1)?;
        text(out, "ISOCode", &self.country.iso_code)?;
        write_str(out, "City")?;
        write_map_len(out, 2)?;
        number(out, "GeoNameID", i64::from(self.city.geoname_id))?;
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
        text(out, "TimeZone", &self.location.time_zone)
    }
}

/// Tyk's fields for GraphQL and for MCP.
fn write_stats(out: &mut Vec<u8>, graphql: Option<&GraphqlStats>, mcp: Option<&McpStats<'_>>) -> Result<(), ValueWriteError> {
    write_graphql(out, graphql)?;
    write_str(out, "MCPStats")?;
    write_map_len(out, 4)?;
    flag(out, "IsMCP", mcp.is_some_and(|mcp| mcp.is_mcp))?;
    text(out, "JSONRPCMethod", mcp.map_or("", |mcp| &mcp.jsonrpc_method))?;
    text(out, "PrimitiveType", mcp.map_or("", |mcp| &mcp.primitive_type))?;
    text(out, "PrimitiveName", mcp.map_or("", |mcp| &mcp.primitive_name))
}

fn write_graphql(out: &mut Vec<u8>, stats: Option<&GraphqlStats>) -> Result<(), ValueWriteError> {
    write_str(out, "GraphQLStats")?;
    write_map_len(out, 7)?;
    text(out, "Variables", stats.map_or("", |stats| &stats.variables))?;
    write_str(out, "RootFields")?;
    write_list(out, stats.map_or(&[], |stats| &stats.root_fields))?;
    write_str(out, "Types")?;
    match stats.filter(|stats| !stats.types.is_empty()) {
        None => nil(out)?,
        Some(stats) => {
            write_map_len(out, length(stats.types.len()))?;
            for (name, fields) in &stats.types {
                write_str(out, name)?;
                write_list(out, fields)?;
            }
        }
    }
    write_str(out, "Errors")?;
    match stats.filter(|stats| !stats.errors.is_empty()) {
        None => nil(out)?,
        Some(stats) => {
            write_array_len(out, length(stats.errors.len()))?;
            for message in &stats.errors {
                write_map_len(out, 2)?;
                text(out, "Message", message)?;
                write_str(out, "Path")?;
                nil(out)?;
            }
        }
    }
    number(out, "OperationType", stats.map_or(0, |stats| stats.operation.into()))?;
    flag(out, "HasErrors", stats.is_some_and(|stats| !stats.errors.is_empty()))?;
    flag(out, "IsGraphQL", stats.is_some())
}

fn write_list(out: &mut Vec<u8>, texts: &[String]) -> Result<(), ValueWriteError> {
    if texts.is_empty() {
        return nil(out);
    }
    write_array_len(out, length(texts.len()))?;
    texts.iter().try_for_each(|text| write_str(out, text))
}

fn nil(out: &mut Vec<u8>) -> Result<(), ValueWriteError> {
    write_nil(out).map_err(ValueWriteError::InvalidMarkerWrite)
}

fn length(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[inline(always)]
fn text(out: &mut Vec<u8>, name: &'static str, value: &str) -> Result<(), ValueWriteError> {
    write_str(out, name)?;
    write_str(out, value)
}

#[inline(always)]
fn number(out: &mut Vec<u8>, name: &'static str, value: i64) -> Result<(), ValueWriteError> {
    write_str(out, name)?;
    write_number(out, value)
}

/// Seconds and nanoseconds, as Tyk's encoder writes Go's times.
fn time(out: &mut Vec<u8>, name: &'static str, time: RecordTime) -> Result<(), ValueWriteError> {
    write_str(out, name)?;
    write_array_len(out, 2)?;
    write_number(out, time.unix_s)?;
    write_number(out, time.ns.into())
}

#[inline(always)]
fn flag(out: &mut Vec<u8>, name: &'static str, value: bool) -> Result<(), ValueWriteError> {
    write_str(out, name)?;
    write_bool(out, value).map_err(ValueWriteError::InvalidMarkerWrite)
}

/// Most numbers are below 128, and so one byte.
#[inline(always)]
fn write_number(out: &mut Vec<u8>, value: i64) -> Result<(), ValueWriteError> {
    match u8::try_from(value) {
        Ok(small @ 0..128) => {
            out.push(small);
            Ok(())
        }
        _ => rmp::encode::write_sint(out, value).map(|_| ()),
    }
}

/// Most strings are shorter than 32 bytes, and so need one byte for their length. Inlined, because names are constants: rmp's own
/// function costs 90 instructions for each of a record's 77 strings, 6 % of a request.
#[inline(always)]
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
