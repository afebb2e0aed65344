//! A line for each request, with Tyk's names of fields: as text in the form of its log, or as JSON.

use super::{Hit, LineWriter, Sink};
use crate::exchange::RequestId;
use crate::observe::analytics::{Analyst, ip_text, milliseconds};
use crate::observe::record::Text;
use std::net::SocketAddr;
use std::sync::Arc;
use tollgate_model::calendar::rfc3339;

/// The fields that a line can have, in their order.
pub const FIELDS: [&str; 23] = [
    "api_id",
    "api_key",
    "api_name",
    "api_version",
    "cause",
    "client_ip",
    "host",
    "latency_gateway",
    "latency_total",
    "method",
    "org_id",
    "path",
    "prefix",
    "protocol",
    "remote_addr",
    "request_bytes",
    "request_id",
    "response_bytes",
    "status",
    "trace_id",
    "upstream_addr",
    "upstream_latency",
    "user_agent",
];

pub struct AccessLog {
    pub analyst: Arc<Analyst>,
    pub lines: LineWriter,
    pub json: bool,
    /// Which of `FIELDS` are written.
    pub wanted: [bool; FIELDS.len()],
}

/// Which fields a template names; all for an empty one. `prefix` is always there.
pub fn wanted(template: &[String]) -> [bool; FIELDS.len()] {
    // Tyk has had two names for it.
    let named = |field: &str| template.iter().any(|name| name == field || (name == "upstream_address" && field == "upstream_addr"));
    FIELDS.map(|field| template.is_empty() || field == "prefix" || named(field))
}

impl Sink for AccessLog {
    fn take(&mut self, hit: &Hit<'_>) {
        if !hit.record.logged {
            return;
        }
        let AccessLog { analyst, lines, json, wanted } = self;
        lines.line(|out| {
            let time = rfc3339(hit.time.unix_s, hit.time.ns);
            let start = if *json {
                ["{\"level\":\"info\",\"msg\":\"\",\"time\":\"", &time, "\""]
            } else {
                ["time=\"", &time, "\" level=info"]
            };
            start.iter().for_each(|piece| out.extend_from_slice(piece.as_bytes()));
            let mut line = Line { out, json: *json };
            for (name, _) in FIELDS.iter().zip(wanted.iter()).filter(|(_, wanted)| **wanted) {
                write_field(&mut line, name, hit, analyst);
            }
            out.extend_from_slice(if *json { b"}\n" } else { b"\n" });
        });
    }

    fn flush(&mut self, _: bool) {
        self.lines.flush();
    }
}

fn write_field(line: &mut Line<'_>, name: &str, hit: &Hit<'_>, analyst: &Analyst) {
    let (record, facts) = (hit.record, hit.facts);
    match name {
        "api_id" => line.text(name, &facts.id),
        "api_key" => line.text(name, &analyst.logged_key(record)),
        "api_name" => line.text(name, &facts.name),
        "api_version" => line.text(name, &record.text(Text::Version)),
        "cause" => line.text(name, record.cause.unwrap_or_default()),
        "client_ip" => line.text(name, &ip_text(record.client_ip)),
        "host" => line.text(name, &record.text(Text::Authority)),
        "latency_gateway" => line.number(name, milliseconds(record.total.saturating_sub(record.upstream))),
        "latency_total" => line.number(name, milliseconds(record.total)),
        "method" => line.text(name, &record.text(Text::Method)),
        "org_id" => line.text(name, &facts.org_id),
        "path" => line.text(name, &record.text(Text::OriginalPath)),
        "prefix" => line.text(name, "access-log"),
        "protocol" => line.text(name, record.protocol()),
        "remote_addr" => line.text(name, &peer_text(record.peer)),
        "request_bytes" => line.number(name, record.request_bytes),
        "request_id" => match record.text(Text::RequestId) {
            id if id.is_empty() => line.text(name, &RequestId(record.request_id).to_string()),
            id => line.text(name, &id),
        },
        "response_bytes" => line.number(name, record.response_bytes),
        "status" => line.number(name, record.status),
        // Without tracing there is none.
        "trace_id" => record.trace.iter().for_each(|trace| line.text(name, &trace.id.to_string())),
        "upstream_addr" => line.text(name, &record.text(Text::UpstreamHost)),
        "upstream_latency" => line.number(name, milliseconds(record.upstream)),
        "user_agent" => line.text(name, &record.text(Text::UserAgent)),
        _ => {}
    }
}

fn peer_text(peer: SocketAddr) -> String {
    if peer.is_ipv6() {
        return peer.to_string();
    }
    let mut text = ip_text(peer.ip());
    text.push(':');
    text.push_str(itoa::Buffer::new().format(peer.port()));
    text
}

/// A line that is being written: `,"name":value` or ` name=value` for each field.
struct Line<'o> {
    out: &'o mut Vec<u8>,
    json: bool,
}

impl Line<'_> {
    fn name(&mut self, name: &str) {
        let (before, after) = if self.json { (",\"", "\":") } else { (" ", "=") };
        [before, name, after].iter().for_each(|piece| self.out.extend_from_slice(piece.as_bytes()));
    }

    /// A text, in quotes if it is not plain.
    fn text(&mut self, name: &str, text: &str) {
        self.name(name);
        let is_plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._/@^+:[]".contains(&b));
        match (is_plain, self.json) {
            (true, false) => self.out.extend_from_slice(text.as_bytes()),
            (true, true) => ["\"", text, "\""].iter().for_each(|piece| self.out.extend_from_slice(piece.as_bytes())),
            // Writing to memory does not fail.
            (false, _) => drop(serde_json::to_writer(&mut *self.out, text)),
        }
    }

    fn number(&mut self, name: &str, number: impl itoa::Integer) {
        self.name(name);
        self.out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }
}

#[cfg(test)]
mod tests;
