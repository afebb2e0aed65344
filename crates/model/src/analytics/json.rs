//! The record as JSON, equal to its `Serialize`, but written without checking each byte for escapes.

use super::{Common, Own, Time};
use crate::append_json_text;
use crate::calendar::TimeWriter;

/// Caches the text of the last record's times.
#[derive(Clone, Debug, Default)]
pub struct JsonTimes {
    timestamp: TimeWriter,
    expire_at: TimeWriter,
}

impl Common<'_> {
    /// Starts a record: a JSON object, which [`Own::append_json`] completes.
    pub fn append_json(&self, out: &mut Vec<u8>) {
        text(out, "{\"method\":", &self.method);
        text(out, ",\"host\":", &self.host);
        text(out, ",\"user_agent\":", &self.user_agent);
        number(out, ",\"day\":", self.day);
        number(out, ",\"month\":", self.month);
        number(out, ",\"year\":", self.year);
        number(out, ",\"hour\":", self.hour);
        text(out, ",\"api_key\":", &self.api_key);
        text(out, ",\"api_version\":", &self.api_version);
        text(out, ",\"api_name\":", &self.api_name);
        text(out, ",\"api_id\":", &self.api_id);
        text(out, ",\"org_id\":", &self.org_id);
        text(out, ",\"oauth_id\":", &self.oauth_id);
        text(out, ",\"ip_address\":", &self.ip_address);
        out.extend_from_slice(b",\"geo\":");
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(&mut *out, &self.geo);
        out.extend_from_slice(b",\"tags\":[");
        for (place, tag) in self.tags.iter().enumerate() {
            text(out, if place == 0 { "" } else { "," }, tag);
        }
        text(out, "],\"alias\":", &self.alias);
        text(out, ",\"api_schema\":", &self.api_schema);
        text(out, ",\"listen_path\":", &self.listen_path);
    }
}

impl Own<'_> {
    /// Completes a record that [`Common::append_json`] started.
    pub fn append_json(&self, out: &mut Vec<u8>, times: &mut JsonTimes) {
        text(out, ",\"path\":", &self.path);
        text(out, ",\"raw_path\":", &self.raw_path);
        text(out, ",\"original_path\":", &self.original_path);
        number(out, ",\"content_length\":", self.content_length);
        number(out, ",\"response_code\":", self.response_code);
        time(out, ",\"timestamp\":", &mut times.timestamp, self.timestamp);
        number(out, ",\"request_time\":", self.request_time);
        text(out, ",\"raw_request\":", &self.raw_request);
        text(out, ",\"raw_response\":", &self.raw_response);
        number(out, ",\"network\":{\"open_connections\":", self.network.open_connections);
        number(out, ",\"closed_connections\":", self.network.closed_connection);
        number(out, ",\"bytes_in\":", self.network.bytes_in);
        number(out, ",\"bytes_out\":", self.network.bytes_out);
        number(out, "},\"latency\":{\"total\":", self.latency.total);
        number(out, ",\"upstream\":", self.latency.upstream);
        number(out, ",\"gateway\":", self.latency.gateway);
        out.extend_from_slice(if self.track_path { b"},\"track_path\":true" } else { b"},\"track_path\":false" });
        time(out, ",\"expireAt\":", &mut times.expire_at, self.expire_at);
        out.push(b'}');
    }
}

#[inline(always)]
fn text(out: &mut Vec<u8>, before: &'static str, text: &str) {
    out.extend_from_slice(before.as_bytes());
    append_json_text(out, text);
}

#[inline(always)]
fn number(out: &mut Vec<u8>, before: &'static str, number: i64) {
    out.extend_from_slice(before.as_bytes());
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

#[inline(always)]
fn time(out: &mut Vec<u8>, before: &'static str, writer: &mut TimeWriter, time: Time) {
    out.extend_from_slice(before.as_bytes());
    out.push(b'"');
    writer.append(out, time.unix_s, time.ns);
    out.push(b'"');
}
