//! A line for each request, with Tyk's names of fields: as text in the form of its log, or as JSON.

use super::{Hit, LineWriter, Sink};
use crate::exchange::RequestId;
use crate::observe::analytics::{Analyst, append_ip, milliseconds};
use crate::observe::record::Text;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use tollgate_model::append_json_text;
use tollgate_model::calendar::rfc3339;

/// Writes a field of a line.
type WriteField = fn(&mut Line<'_>, &Hit<'_>, &Analyst);

/// The fields that a line can have, in their order.
const FIELDS: [(&str, WriteField); 23] = [
    ("api_id", |line, hit, _| line.text(hit.facts.id.as_bytes())),
    ("api_key", |line, hit, analyst| line.text(analyst.logged_key(hit.record).as_bytes())),
    ("api_name", |line, hit, _| line.text(hit.facts.name.as_bytes())),
    ("api_version", |line, hit, _| line.text(hit.record.bytes(Text::Version))),
    ("cause", |line, hit, _| line.text(hit.record.cause.unwrap_or_default().as_bytes())),
    ("client_ip", |line, hit, _| line.plain(|out| append_ip(out, hit.record.client_ip))),
    ("host", |line, hit, _| line.text(hit.record.bytes(Text::Authority))),
    ("latency_gateway", |line, hit, _| {
        line.number(milliseconds(hit.record.total.saturating_sub(hit.record.upstream)));
    }),
    ("latency_total", |line, hit, _| line.number(milliseconds(hit.record.total))),
    ("method", |line, hit, _| line.text(hit.record.bytes(Text::Method))),
    ("org_id", |line, hit, _| line.text(hit.facts.org_id.as_bytes())),
    ("path", |line, hit, _| line.text(hit.record.bytes(Text::OriginalPath))),
    ("prefix", |line, _, _| line.text(b"access-log")),
    ("protocol", |line, hit, _| line.text(hit.record.protocol().as_bytes())),
    ("remote_addr", |line, hit, _| line.plain(|out| append_peer(out, hit.record.peer))),
    ("request_bytes", |line, hit, _| line.number(hit.record.request_bytes)),
    ("request_id", |line, hit, _| match hit.record.bytes(Text::RequestId) {
        b"" => line.plain(|out| RequestId(hit.record.request_id).append_to(out)),
        id => line.text(id),
    }),
    ("response_bytes", |line, hit, _| line.number(hit.record.response_bytes)),
    ("status", |line, hit, _| line.number(hit.record.status)),
    // Without tracing there is none.
    ("trace_id", |line, hit, _| hit.record.trace.iter().for_each(|trace| line.plain(|out| trace.id.append_to(out)))),
    ("upstream_addr", |line, hit, _| line.text(hit.record.bytes(Text::UpstreamHost))),
    ("upstream_latency", |line, hit, _| line.number(milliseconds(hit.record.upstream))),
    ("user_agent", |line, hit, _| line.text(hit.record.bytes(Text::UserAgent))),
];

/// One core's log.
#[derive(Clone)]
pub struct AccessLog {
    analyst: Arc<Analyst>,
    lines: LineWriter,
    json: bool,
    /// The fields that are written, each with what stands before its value.
    fields: Vec<(Box<str>, WriteField)>,
    /// What the lines of one second begin with, up to the milliseconds.
    start: (i64, String),
}

impl AccessLog {
    /// A log with the fields that a template names; all for an empty one. `prefix` is always there.
    pub fn new(analyst: Arc<Analyst>, lines: LineWriter, json: bool, template: &[String]) -> Self {
        let before = |name: &str| if json { format!(",\"{name}\":") } else { format!(" {name}=") };
        let fields = wanted(template).map(|(name, write)| (before(name).into(), write)).collect();
        AccessLog { analyst, lines, json, fields, start: (i64::MIN, String::new()) }
    }
}

/// The fields that a template names.
fn wanted(template: &[String]) -> impl Iterator<Item = (&'static str, WriteField)> {
    // Tyk has had two names for it.
    let named = |field: &str| template.iter().any(|name| name == field || (name == "upstream_address" && field == "upstream_addr"));
    FIELDS.into_iter().filter(move |(field, _)| template.is_empty() || *field == "prefix" || named(field))
}

impl Sink for AccessLog {
    fn take(&mut self, hit: &Hit<'_>) {
        if !hit.record.logged {
            return;
        }
        let AccessLog { analyst, lines, json, fields, start: (second, start) } = self;
        if *second != hit.time.unix_s {
            let time = rfc3339(hit.time.unix_s, 0);
            let time = time.strip_suffix("000Z").unwrap_or(&time);
            let before = if *json { "{\"level\":\"info\",\"msg\":\"\",\"time\":\"" } else { "time=\"" };
            (*second, *start) = (hit.time.unix_s, [before, time].concat());
        }
        lines.line(|out| {
            out.extend_from_slice(start.as_bytes());
            let ms = hit.time.ns / 1_000_000;
            out.extend([100, 10, 1].map(|power| b'0' + (ms / power % 10) as u8));
            out.extend_from_slice(if *json { b"Z\"" } else { b"Z\" level=info" });
            let mut line = Line { out, json: *json, before: "" };
            for (before, write) in fields {
                line.before = before;
                write(&mut line, hit, analyst);
            }
            out.extend_from_slice(if *json { b"}\n" } else { b"\n" });
        });
    }

    fn flush(&mut self, _: bool) {
        self.lines.flush();
    }
}

/// Whether a text with this byte needs no quotes.
fn is_plain(byte: &u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'/' | b'@' | b'^' | b'+' | b':' | b'[' | b']')
}

fn append_peer(out: &mut Vec<u8>, peer: SocketAddr) {
    if peer.is_ipv6() {
        // Writing to memory does not fail.
        let _ = write!(out, "{peer}");
        return;
    }
    append_ip(out, peer.ip());
    out.push(b':');
    out.extend_from_slice(itoa::Buffer::new().format(peer.port()).as_bytes());
}

/// A line that is being written.
struct Line<'o> {
    out: &'o mut Vec<u8>,
    json: bool,
    /// What stands before the value that comes next.
    before: &'o str,
}

impl Line<'_> {
    /// A text, in quotes if it is not plain.
    fn text(&mut self, text: &[u8]) {
        self.out.extend_from_slice(self.before.as_bytes());
        if !self.json && !text.is_empty() && text.iter().all(is_plain) {
            return self.out.extend_from_slice(text);
        }
        append_json_text(self.out, &String::from_utf8_lossy(text));
    }

    /// A text that is known to be plain.
    fn plain(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.out.extend_from_slice(self.before.as_bytes());
        if !self.json {
            return write(self.out);
        }
        self.out.push(b'"');
        write(self.out);
        self.out.push(b'"');
    }

    fn number(&mut self, number: impl itoa::Integer) {
        self.out.extend_from_slice(self.before.as_bytes());
        self.out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }
}

#[cfg(test)]
mod tests;
