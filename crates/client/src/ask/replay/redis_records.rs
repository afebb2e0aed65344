//! Analytics records in Redis, where tyk-pump fetches them: lists of MessagePack or Protocol Buffers. They are read and stay there.

use crate::ask::CommandFailure;
use redis::{Commands, Connection};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;
use tollgate_model::{analytics, calendar};

/// Name of the list in Tyk and tyk-pump, and the suffix of lists of Protocol Buffers.
const LIST: &str = "analytics-tyk-system-analytics";
const PROTOBUF_SUFFIX: &str = "_protobuf";
/// Lists when records are distributed.
const LISTS: u32 = 10;
/// Records that are read at once: some hundred KiB.
const RECORDS_AT_ONCE: isize = 1_000;
/// Time to connect, and for an answer.
const TIME_MAX: Duration = Duration::from_secs(30);

/// The records of all lists.
pub(super) struct RedisRecords {
    connection: Connection,
    lists: VecDeque<String>,
    /// Records of the first list that were read.
    offset: isize,
    read: VecDeque<Vec<u8>>,
}

/// Whether records are in a Redis, not in a file.
pub(super) fn is_redis(source: &Path) -> bool {
    source.to_str().is_some_and(|text| text.starts_with("redis://") || text.starts_with("rediss://"))
}

/// The address without what authenticates.
pub(super) fn shown_address(address: &str) -> String {
    match address.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?.1))) {
        Some((scheme, place)) => format!("{scheme}://{place}"),
        None => address.to_owned(),
    }
}

/// A record with the names of its JSON form, or why it is none.
pub(super) type ReadRecord = Result<Map<String, Value>, String>;

impl RedisRecords {
    pub(super) fn open(address: &str) -> Result<Self, CommandFailure> {
        // Fails if the process already has one, which is fine.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let failed = |error: redis::RedisError| CommandFailure::Unreachable(format!("{}: {error}", shown_address(address)));
        let client = redis::Client::open(address).map_err(failed)?;
        let connection = client.get_connection_with_timeout(TIME_MAX).map_err(failed)?;
        connection.set_read_timeout(Some(TIME_MAX)).map_err(failed)?;
        let names = std::iter::once(LIST.to_owned()).chain((0..=LISTS).map(|number| format!("{LIST}_{number}")));
        let lists = names.flat_map(|name| [format!("{name}{PROTOBUF_SUFFIX}"), name]).collect();
        Ok(RedisRecords { connection, lists, offset: 0, read: VecDeque::new() })
    }

    /// The next record; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<ReadRecord>, CommandFailure> {
        while self.read.is_empty() {
            let Some(list) = self.lists.front() else { return Ok(None) };
            let read: redis::RedisResult<Vec<Vec<u8>>> =
                self.connection.lrange(list.as_str(), self.offset, self.offset + RECORDS_AT_ONCE - 1);
            let read = read.map_err(|error| CommandFailure::Unreachable(format!("{list} can't be read: {error}")))?;
            self.read = read.into();
            self.offset += RECORDS_AT_ONCE;
            if self.read.is_empty() {
                self.lists.pop_front();
                self.offset = 0;
            }
        }
        let is_protobuf = self.lists.front().is_some_and(|list| list.ends_with(PROTOBUF_SUFFIX));
        let record = self.read.pop_front().unwrap_or_default();
        Ok(Some(if is_protobuf { analytics::protobuf_members(&record) } else { msgpack_members(&record) }))
    }
}

/// The members of a record as JSON names them. Unknown ones are left out.
fn msgpack_members(mut record: &[u8]) -> Result<Map<String, Value>, String> {
    let read = rmpv::decode::read_value(&mut record).map_err(|error| format!("is no MessagePack: {error}"))?;
    let members = read.as_map().ok_or("is no map")?;
    let mut made = Map::new();
    for (name, value) in members.iter().filter_map(|(name, value)| Some((name.as_str()?, value))) {
        let json_name = match name {
            "Method" => "method",
            "APIKey" => "api_key",
            "APIID" => "api_id",
            "IPAddress" => "ip_address",
            "ListenPath" => "listen_path",
            "RawPath" => "raw_path",
            "OriginalPath" => "original_path",
            "RawRequest" => "raw_request",
            "ContentLength" => "content_length",
            "ResponseCode" => "response_code",
            "TimeStamp" => "timestamp",
            _ => continue,
        };
        made.insert(json_name.to_owned(), if name == "TimeStamp" { json!(time(value)) } else { plain(value) });
    }
    Ok(made)
}

fn plain(value: &rmpv::Value) -> Value {
    match (value.as_str(), value.as_i64()) {
        (Some(text), _) => json!(text),
        (None, Some(number)) => json!(number),
        (None, None) => Value::Null,
    }
}

/// Go's times are two numbers, seconds and nanoseconds.
fn time(value: &rmpv::Value) -> String {
    let numbers = value.as_array().map(|numbers| numbers.iter().filter_map(rmpv::Value::as_u64).collect::<Vec<_>>());
    let [seconds, nanoseconds] = numbers.as_deref().unwrap_or_default() else { return String::new() };
    let mut text = Vec::new();
    calendar::append_rfc3339_ms(
        &mut text,
        i64::try_from(*seconds).unwrap_or_default(),
        u32::try_from(*nanoseconds).unwrap_or_default(),
    );
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests;
