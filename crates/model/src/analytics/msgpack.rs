//! The record as MessagePack: a map with the names of Go's fields.

use super::{Common, Geo, Latency, Network, Own};
use rmp::encode::{ValueWriteError, write_array_len, write_bool, write_f64, write_map_len, write_nil, write_sint};

/// What stands before each of a record's numbers: names with their lengths, and the beginnings of arrays and maps.
const BEFORE_NUMBERS: [&[u8]; 14] = [
    b"\xadContentLength",
    b"\xacResponseCode",
    b"\xabRequestTime",
    b"\xa9TimeStamp\x92",
    b"",
    b"\xa8ExpireAt\x92",
    b"",
    b"\xa7Network\x84\xafOpenConnections",
    b"\xb0ClosedConnection",
    b"\xa7BytesIn",
    b"\xa8BytesOut",
    b"\xa7Latency\x83\xa5Total",
    b"\xa8Upstream",
    b"\xa7Gateway",
];
/// A number of 64 bits.
const INT64: u8 = 0xd3;
const NUMBER_BYTES: usize = 1 + size_of::<i64>();
/// A template of a record's numbers, all 0. Each number takes the same bytes, so all have fixed positions.
const NUMBERS: [u8; numbers_end(BEFORE_NUMBERS.len())] = numbers();
/// Where they end.
const NUMBER_ENDS: [usize; BEFORE_NUMBERS.len()] = number_ends();

const fn numbers_end(count: usize) -> usize {
    let (mut end, mut before, mut left) = (0, BEFORE_NUMBERS.as_slice(), count);
    while let ([name, rest @ ..], 1..) = (before, left) {
        end += name.len() + NUMBER_BYTES;
        (before, left) = (rest, left - 1);
    }
    end
}

const fn number_ends() -> [usize; BEFORE_NUMBERS.len()] {
    let mut ends = [0; BEFORE_NUMBERS.len()];
    let (mut left, mut count) = (ends.as_mut_slice(), 1);
    while let [end, rest @ ..] = left {
        *end = numbers_end(count);
        (left, count) = (rest, count + 1);
    }
    ends
}

const fn numbers() -> [u8; numbers_end(BEFORE_NUMBERS.len())] {
    let mut numbers = [0; numbers_end(BEFORE_NUMBERS.len())];
    let (mut left, mut before) = (numbers.as_mut_slice(), BEFORE_NUMBERS.as_slice());
    while let [name, rest @ ..] = before {
        let (place, after) = left.split_at_mut(name.len());
        place.copy_from_slice(name);
        let (number, after) = after.split_at_mut(NUMBER_BYTES);
        if let Some(kind) = number.first_mut() {
            *kind = INT64;
        }
        (left, before) = (after, rest);
    }
    numbers
}

impl Common<'_> {
    /// Starts a record: one MessagePack map, which [`Own::append_msgpack`] completes.
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
        self.geo.write_msgpack(out)?;
        write_str(out, "Tags")?;
        write_array_len(out, u32::try_from(self.tags.len()).unwrap_or(u32::MAX))?;
        for tag in &self.tags {
            write_str(out, tag)?;
        }
        write_no_stats(out)
    }
}

impl Own<'_> {
    /// Completes a record that [`Common::append_msgpack`] started.
    pub fn append_msgpack(&self, out: &mut Vec<u8>) {
        // Writing to memory cannot fail.
        let _ = self.write_msgpack(out);
    }

    fn write_msgpack(&self, out: &mut Vec<u8>) -> Result<(), ValueWriteError> {
        text(out, "Path", &self.path)?;
        text(out, "RawPath", &self.raw_path)?;
        text(out, "OriginalPath", &self.original_path)?;
        text(out, "RawRequest", &self.raw_request)?;
        text(out, "RawResponse", &self.raw_response)?;
        let Network { open_connections, closed_connection, bytes_in, bytes_out } = self.network;
        let Latency { total, upstream, gateway } = self.latency;
        let mut numbers = NUMBERS;
        let values = [
            self.content_length,
            self.response_code,
            self.request_time,
            self.timestamp.unix_s,
            i64::from(self.timestamp.ns),
            self.expire_at.unix_s,
            i64::from(self.expire_at.ns),
            open_connections,
            closed_connection,
            bytes_in,
            bytes_out,
            total,
            upstream,
            gateway,
        ];
        for (end, value) in NUMBER_ENDS.into_iter().zip(values) {
            if let Some(place) = numbers.get_mut(end - size_of::<i64>()..end) {
                place.copy_from_slice(&value.to_be_bytes());
            }
        }
        out.extend_from_slice(&numbers);
        flag(out, "TrackPath", self.track_path)
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

/// Tyk's fields for GraphQL and MCP, which Tollgate forwards without parsing: always empty.
fn write_no_stats(out: &mut Vec<u8>) -> Result<(), ValueWriteError> {
    write_str(out, "GraphQLStats")?;
    write_map_len(out, 7)?;
    text(out, "Variables", "")?;
    for list in ["RootFields", "Types", "Errors"] {
        write_str(out, list)?;
        write_nil(out).map_err(ValueWriteError::InvalidMarkerWrite)?;
    }
    number(out, "OperationType", 0)?;
    flag(out, "HasErrors", false)?;
    flag(out, "IsGraphQL", false)?;
    write_str(out, "MCPStats")?;
    write_map_len(out, 4)?;
    flag(out, "IsMCP", false)?;
    text(out, "JSONRPCMethod", "")?;
    text(out, "PrimitiveType", "")?;
    text(out, "PrimitiveName", "")
}

#[inline(always)]
fn text(out: &mut Vec<u8>, name: &'static str, value: &str) -> Result<(), ValueWriteError> {
    write_str(out, name)?;
    write_str(out, value)
}

#[inline(always)]
fn number(out: &mut Vec<u8>, name: &'static str, value: i64) -> Result<(), ValueWriteError> {
    write_str(out, name)?;
    write_sint(out, value).map(|_| ())
}

#[inline(always)]
fn flag(out: &mut Vec<u8>, name: &'static str, value: bool) -> Result<(), ValueWriteError> {
    write_str(out, name)?;
    write_bool(out, value).map_err(ValueWriteError::InvalidMarkerWrite)
}

/// Texts of less than 32 bytes, which most are, need no more than their length in front. Inlined, so that names are copied in one piece.
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
