//! The analytics record as Protocol Buffers: tyk-pump's `analytics.proto`, whose numbers and types these are.

use std::borrow::Cow;
use std::collections::BTreeMap;

use prost::Message;
use serde_json::{Map, Value};

use super::{AnalyticsRecord, Geo, GraphqlStats, McpStats, RecordTime};
use crate::calendar::append_rfc3339_ms;

/// The time zone for readers; they must know its name.
const TIME_ZONE: &str = "UTC";

impl AnalyticsRecord<'_> {
    /// Appends the record as one message.
    pub fn append_protobuf(self, out: &mut Vec<u8>) {
        // Writing to memory cannot fail.
        let _ = RecordMessage::from(self).encode(out);
    }
}

/// The members of a message that say what was requested, as JSON names them. `Err` says why it is no record.
pub fn protobuf_members(message: &[u8]) -> Result<Map<String, Value>, String> {
    let record = RecordMessage::decode(message).map_err(|error| format!("is no record: {error}"))?;
    let mut time = Vec::new();
    if let Some(at) = &record.timestamp {
        append_rfc3339_ms(&mut time, at.seconds, u32::try_from(at.nanos).unwrap_or_default());
    }
    let texts = [
        ("method", record.method),
        ("api_key", record.api_key),
        ("api_id", record.api_id),
        ("ip_address", record.ip_address),
        ("listen_path", record.listen_path),
        ("raw_path", record.raw_path),
        ("original_path", record.original_path),
        ("raw_request", record.raw_request),
        ("timestamp", String::from_utf8_lossy(&time).into_owned()),
    ];
    let mut members: Map<String, Value> = texts.into_iter().map(|(name, text)| (name.to_owned(), text.into())).collect();
    members.insert("content_length".to_owned(), record.content_length.into());
    members.insert("response_code".to_owned(), record.response_code.into());
    Ok(members)
}

/// `AnalyticsRecord`. The pump requires most nested messages, so they are always present, but not those for GraphQL and MCP.
#[derive(Clone, PartialEq, Message)]
struct RecordMessage {
    #[prost(string, tag = "1")]
    host: String,
    #[prost(string, tag = "2")]
    method: String,
    #[prost(string, tag = "3")]
    path: String,
    #[prost(string, tag = "4")]
    raw_path: String,
    #[prost(int64, tag = "5")]
    content_length: i64,
    #[prost(string, tag = "6")]
    user_agent: String,
    #[prost(int32, tag = "7")]
    day: i32,
    #[prost(int32, tag = "8")]
    month: i32,
    #[prost(int32, tag = "9")]
    year: i32,
    #[prost(int32, tag = "10")]
    hour: i32,
    #[prost(int32, tag = "11")]
    response_code: i32,
    #[prost(string, tag = "12")]
    api_key: String,
    #[prost(message, optional, tag = "13")]
    timestamp: Option<Timestamp>,
    #[prost(string, tag = "14")]
    api_version: String,
    #[prost(string, tag = "15")]
    api_name: String,
    #[prost(string, tag = "16")]
    api_id: String,
    #[prost(string, tag = "17")]
    org_id: String,
    #[prost(int64, tag = "18")]
    request_time: i64,
    #[prost(message, optional, tag = "19")]
    latency: Option<LatencyMessage>,
    #[prost(string, tag = "20")]
    raw_request: String,
    #[prost(string, tag = "21")]
    raw_response: String,
    #[prost(string, tag = "22")]
    ip_address: String,
    #[prost(message, optional, tag = "23")]
    geo: Option<GeoData>,
    #[prost(message, optional, tag = "24")]
    network: Option<NetworkStats>,
    #[prost(string, repeated, tag = "25")]
    tags: Vec<String>,
    #[prost(string, tag = "26")]
    alias: String,
    #[prost(bool, tag = "27")]
    track_path: bool,
    #[prost(message, optional, tag = "28")]
    expire_at: Option<Timestamp>,
    #[prost(string, tag = "29")]
    oauth_id: String,
    #[prost(string, tag = "30")]
    time_zone: String,
    #[prost(string, tag = "31")]
    api_schema: String,
    #[prost(message, optional, tag = "32")]
    graphql: Option<GraphqlMessage>,
    #[prost(message, optional, tag = "33")]
    mcp: Option<McpMessage>,
    #[prost(string, tag = "34")]
    original_path: String,
    #[prost(string, tag = "35")]
    listen_path: String,
}

/// `GraphQLStats`.
#[derive(Clone, PartialEq, Message)]
struct GraphqlMessage {
    #[prost(bool, tag = "1")]
    is_graphql: bool,
    #[prost(btree_map = "string, message", tag = "2")]
    types: BTreeMap<String, FieldListMessage>,
    #[prost(int32, tag = "3")]
    operation: i32,
    #[prost(string, tag = "4")]
    variables: String,
    #[prost(string, repeated, tag = "5")]
    root_fields: Vec<String>,
    #[prost(bool, tag = "6")]
    has_error: bool,
    #[prost(string, repeated, tag = "7")]
    errors: Vec<String>,
}

/// `RepeatedFields`.
#[derive(Clone, PartialEq, Message)]
struct FieldListMessage {
    #[prost(string, repeated, tag = "1")]
    fields: Vec<String>,
}

impl From<GraphqlStats> for GraphqlMessage {
    fn from(stats: GraphqlStats) -> Self {
        GraphqlMessage {
            is_graphql: true,
            types: stats.types.into_iter().map(|(name, fields)| (name, FieldListMessage { fields })).collect(),
            operation: stats.operation.into(),
            variables: stats.variables,
            root_fields: stats.root_fields,
            has_error: !stats.errors.is_empty(),
            errors: stats.errors,
        }
    }
}

/// `MCPStats`.
#[derive(Clone, PartialEq, Message)]
struct McpMessage {
    #[prost(bool, tag = "1")]
    is_mcp: bool,
    #[prost(string, tag = "2")]
    jsonrpc_method: String,
    #[prost(string, tag = "3")]
    primitive_type: String,
    #[prost(string, tag = "4")]
    primitive_name: String,
}

impl From<McpStats<'_>> for McpMessage {
    fn from(stats: McpStats<'_>) -> Self {
        McpMessage {
            is_mcp: stats.is_mcp,
            jsonrpc_method: stats.jsonrpc_method.into_owned(),
            primitive_type: stats.primitive_type.into_owned(),
            primitive_name: stats.primitive_name.into_owned(),
        }
    }
}

/// `google.protobuf.Timestamp`.
#[derive(Clone, PartialEq, Message)]
struct Timestamp {
    #[prost(int64, tag = "1")]
    seconds: i64,
    #[prost(int32, tag = "2")]
    nanos: i32,
}

#[derive(Clone, PartialEq, Message)]
struct LatencyMessage {
    #[prost(int64, tag = "1")]
    total: i64,
    #[prost(int64, tag = "2")]
    upstream: i64,
}

#[derive(Clone, PartialEq, Message)]
struct GeoData {
    #[prost(message, optional, tag = "1")]
    country: Option<CountryMessage>,
    #[prost(message, optional, tag = "2")]
    city: Option<CityMessage>,
    #[prost(message, optional, tag = "3")]
    location: Option<LocationMessage>,
}

#[derive(Clone, PartialEq, Message)]
struct CountryMessage {
    #[prost(string, tag = "1")]
    iso_code: String,
}

#[derive(Clone, PartialEq, Message)]
struct CityMessage {
    #[prost(btree_map = "string, string", tag = "1")]
    names: BTreeMap<String, String>,
    #[prost(uint32, tag = "2")]
    geoname_id: u32,
}

#[derive(Clone, PartialEq, Message)]
struct LocationMessage {
    #[prost(double, tag = "1")]
    latitude: f64,
    #[prost(double, tag = "2")]
    longitude: f64,
    #[prost(string, tag = "3")]
    time_zone: String,
}

#[derive(Clone, PartialEq, Message)]
struct NetworkStats {
    #[prost(int64, tag = "1")]
    open_connections: i64,
    #[prost(int64, tag = "2")]
    closed_connections: i64,
    #[prost(int64, tag = "3")]
    bytes_in: i64,
    #[prost(int64, tag = "4")]
    bytes_out: i64,
}

impl From<AnalyticsRecord<'_>> for RecordMessage {
    fn from(record: AnalyticsRecord<'_>) -> RecordMessage {
        let short = |number: i64| i32::try_from(number).unwrap_or_default();
        let network = record.network;
        RecordMessage {
            host: record.host.into_owned(),
            method: record.method.into_owned(),
            path: record.path.into_owned(),
            raw_path: record.raw_path.into_owned(),
            content_length: record.content_length,
            user_agent: record.user_agent.into_owned(),
            day: short(record.day),
            month: short(record.month),
            year: short(record.year),
            hour: short(record.hour),
            response_code: short(record.response_code),
            api_key: record.api_key.into_owned(),
            timestamp: Some(record.timestamp.into()),
            api_version: record.api_version.into_owned(),
            api_name: record.api_name.into_owned(),
            api_id: record.api_id.into_owned(),
            org_id: record.org_id.into_owned(),
            request_time: record.request_time,
            latency: Some(LatencyMessage { total: record.latency.total, upstream: record.latency.upstream }),
            raw_request: record.raw_request.into_owned(),
            raw_response: record.raw_response.into_owned(),
            ip_address: record.ip_address.into_owned(),
            geo: Some(record.geo.into()),
            network: Some(NetworkStats {
                open_connections: network.open_connections,
                closed_connections: network.closed_connection,
                bytes_in: network.bytes_in,
                bytes_out: network.bytes_out,
            }),
            tags: record.tags.into_iter().map(Cow::into_owned).collect(),
            alias: record.alias.into_owned(),
            track_path: record.track_path,
            expire_at: Some(record.expire_at.into()),
            oauth_id: record.oauth_id.into_owned(),
            time_zone: TIME_ZONE.to_owned(),
            api_schema: record.api_schema.into_owned(),
            graphql: record.graphql.map(|stats| GraphqlMessage::from(*stats)),
            mcp: record.mcp.map(McpMessage::from),
            original_path: record.original_path.into_owned(),
            listen_path: record.listen_path.into_owned(),
        }
    }
}

impl From<RecordTime> for Timestamp {
    fn from(time: RecordTime) -> Timestamp {
        Timestamp { seconds: time.unix_s, nanos: i32::try_from(time.ns).unwrap_or_default() }
    }
}

impl From<Geo> for GeoData {
    fn from(geo: Geo) -> GeoData {
        let place = geo.location;
        GeoData {
            country: Some(CountryMessage { iso_code: geo.country.iso_code }),
            city: Some(CityMessage { names: geo.city.names, geoname_id: geo.city.geoname_id }),
            location: Some(LocationMessage { latitude: place.latitude, longitude: place.longitude, time_zone: place.time_zone }),
        }
    }
}
