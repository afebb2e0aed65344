//! A line for each request, with Tyk's names of fields: as text in the form of its log, or as JSON.

use super::{Hit, LineWriter, Sink};
use crate::exchange::RequestId;
use crate::observe::alike::Alike;
use crate::observe::analytics::{Analyst, append_ip, milliseconds};
use crate::observe::record::Text;
use std::io::Write;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use tollgate_model::append_json_text;
use tollgate_model::calendar::rfc3339;

const TRACE_ID: &str = "trace_id";

/// Writes a field of a line.
type WriteField = fn(&mut Line<'_>, &Hit<'_>, &Analyst);

/// A field that a line can have.
#[derive(Clone, Copy)]
enum Field {
    /// The same for requests that are alike.
    Common(WriteField),
    Own(WriteField),
}

use Field::{Common, Own};

/// The fields that a line can have, in their order.
const FIELDS: [(&str, Field); 23] = [
    ("api_id", Common(|line, hit, _| line.text(hit.facts.id.as_bytes()))),
    ("api_key", Common(|line, hit, analyst| line.text(analyst.logged_key(hit.record).as_bytes()))),
    ("api_name", Common(|line, hit, _| line.text(hit.facts.name.as_bytes()))),
    ("api_version", Common(|line, hit, _| line.text(hit.record.bytes(Text::Version)))),
    ("cause", Own(|line, hit, _| line.text(hit.record.cause.unwrap_or_default().as_bytes()))),
    ("client_ip", Common(|line, hit, _| line.plain(|out| append_ip(out, hit.record.client_ip)))),
    ("host", Common(|line, hit, _| line.text(hit.record.bytes(Text::Authority)))),
    ("latency_gateway", Own(|line, hit, _| line.number(milliseconds(hit.record.total.saturating_sub(hit.record.upstream))))),
    ("latency_total", Own(|line, hit, _| line.number(milliseconds(hit.record.total)))),
    ("method", Common(|line, hit, _| line.text(hit.record.bytes(Text::Method)))),
    ("org_id", Common(|line, hit, _| line.text(hit.facts.org_id.as_bytes()))),
    ("path", Own(|line, hit, _| line.text(hit.record.bytes(Text::OriginalPath)))),
    ("prefix", Common(|line, _, _| line.text(b"access-log"))),
    ("protocol", Common(|line, hit, _| line.text(hit.record.protocol().as_bytes()))),
    ("remote_addr", Own(|line, hit, _| line.plain(|out| append_peer(out, hit.record.peer)))),
    ("request_bytes", Own(|line, hit, _| line.number(hit.record.request_bytes))),
    (
        "request_id",
        Own(|line, hit, _| match hit.record.bytes(Text::RequestId) {
            b"" => line.plain(|out| RequestId(hit.record.request_id).append_to(out)),
            id => line.text(id),
        }),
    ),
    ("response_bytes", Own(|line, hit, _| line.number(hit.record.response_bytes))),
    ("status", Own(|line, hit, _| line.number(hit.record.status))),
    (
        TRACE_ID,
        Own(|line, hit, _| match &hit.record.trace {
            Some(trace) => line.plain(|out| trace.id.append_to(out)),
            None => line.text(b""),
        }),
    ),
    ("upstream_addr", Common(|line, hit, _| line.text(hit.record.bytes(Text::UpstreamHost)))),
    ("upstream_latency", Own(|line, hit, _| line.number(milliseconds(hit.record.upstream)))),
    ("user_agent", Common(|line, hit, _| line.text(hit.record.bytes(Text::UserAgent)))),
];

/// One core's log.
#[derive(Clone)]
pub struct AccessLog {
    analyst: Arc<Analyst>,
    lines: LineWriter,
    json: bool,
    /// The fields that are written, each with what stands before its value.
    fields: Vec<(Box<str>, Field)>,
    /// What the lines of one second begin with, up to the milliseconds.
    start: (i64, String),
    forms: Alike<Form>,
}

/// Lines of requests that are alike, from the milliseconds on.
struct Form {
    bytes: Vec<u8>,
    /// Where values are missing, in their order.
    gaps: Vec<(Range<usize>, WriteField)>,
    /// What follows the last of them.
    end: Range<usize>,
}

impl AccessLog {
    /// A log with the fields that a template names; all for an empty one. `prefix` is always there, a trace's identifier only when requests
    /// are traced.
    pub fn new(analyst: Arc<Analyst>, lines: LineWriter, json: bool, template: &[String], traced: bool) -> Self {
        let before = |name: &str| if json { format!(",\"{name}\":") } else { format!(" {name}=") };
        let fields = wanted(template).filter(|(name, _)| traced || *name != TRACE_ID);
        let fields = fields.map(|(name, field)| (before(name).into(), field)).collect();
        AccessLog { analyst, lines, json, fields, start: (i64::MIN, String::new()), forms: Alike::default() }
    }
}

impl Form {
    fn new(fields: &[(Box<str>, Field)], json: bool, hit: &Hit<'_>, analyst: &Analyst) -> Self {
        let mut bytes = if json { b"Z\"".to_vec() } else { b"Z\" level=info".to_vec() };
        let mut gaps = Vec::new();
        let mut from = 0;
        for (before, field) in fields {
            bytes.extend_from_slice(before.as_bytes());
            match field {
                Common(write) => write(&mut Line { out: &mut bytes, json }, hit, analyst),
                Own(write) => {
                    gaps.push((from..bytes.len(), *write));
                    from = bytes.len();
                }
            }
        }
        bytes.extend_from_slice(if json { b"}\n" } else { b"\n" });
        let end = from..bytes.len();
        Form { bytes, gaps, end }
    }

    fn write(&self, line: &mut Line<'_>, hit: &Hit<'_>, analyst: &Analyst) {
        for (before, write) in &self.gaps {
            line.out.extend_from_slice(self.bytes.get(before.clone()).unwrap_or_default());
            write(line, hit, analyst);
        }
        line.out.extend_from_slice(self.bytes.get(self.end.clone()).unwrap_or_default());
    }
}

/// The fields that a template names.
fn wanted(template: &[String]) -> impl Iterator<Item = (&'static str, Field)> {
    // Tyk has had two names for it.
    let named = |field: &str| template.iter().any(|name| name == field || (name == "upstream_address" && field == "upstream_addr"));
    FIELDS.into_iter().filter(move |(field, _)| template.is_empty() || *field == "prefix" || named(field))
}

impl Sink for AccessLog {
    fn take(&mut self, hit: &Hit<'_>) {
        if !hit.record.logged {
            return;
        }
        let AccessLog { analyst, lines, json, fields, start: (second, start), forms } = self;
        if *second != hit.time.unix_s {
            let time = rfc3339(hit.time.unix_s, 0);
            let time = time.strip_suffix("000Z").unwrap_or(&time);
            let before = if *json { "{\"level\":\"info\",\"msg\":\"\",\"time\":\"" } else { "time=\"" };
            (*second, *start) = (hit.time.unix_s, [before, time].concat());
        }
        let form = forms.of(hit, || Form::new(fields, *json, hit, analyst));
        lines.line(|out| {
            out.extend_from_slice(start.as_bytes());
            let ms = hit.time.ns / 1_000_000;
            out.extend_from_slice(&[100, 10, 1].map(|power| b'0' + (ms / power % 10) as u8));
            form.write(&mut Line { out, json: *json }, hit, analyst);
        });
    }

    fn flush(&mut self, _: bool) {
        self.forms.forget();
        self.lines.flush();
    }
}

/// The characters of texts that need no quotes, a bit each.
const PLAIN: u128 = {
    let (mut set, mut byte) = (0, 0u8);
    while byte < 128 {
        let is_plain = matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'/' | b'@' | b'^' | b'+' | b':' | b'[' | b']');
        set |= (is_plain as u128) << byte;
        byte += 1;
    }
    set
};

fn is_plain(byte: &u8) -> bool {
    *byte < 128 && PLAIN >> byte & 1 == 1
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
}

impl Line<'_> {
    /// A text, in quotes if it is not plain.
    fn text(&mut self, text: &[u8]) {
        if text.is_empty() {
            self.out.extend_from_slice(b"\"\"");
        } else if !self.json && text.iter().all(is_plain) {
            self.out.extend_from_slice(text);
        } else {
            append_json_text(self.out, &String::from_utf8_lossy(text));
        }
    }

    /// A text that is known to be plain.
    fn plain(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if !self.json {
            return write(self.out);
        }
        self.out.push(b'"');
        write(self.out);
        self.out.push(b'"');
    }

    fn number(&mut self, number: impl itoa::Integer) {
        self.out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }
}

#[cfg(test)]
mod tests;
