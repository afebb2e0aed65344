//! A line for each request, with Tyk's names of fields: as text in the form of its log, or as JSON.

use super::{Hit, LineWriter, Sink};
use crate::exchange::RequestId;
use crate::observe::alike::Alike;
use crate::observe::analytics::{Analyst, append_ip, milliseconds};
use crate::observe::record::Text;
use std::ops::Range;
use std::sync::Arc;
use tollgate_model::append_json_text;
use tollgate_model::calendar::TimeWriter;

const TRACE_ID: &str = "trace_id";
const REQUEST_ID: &str = "request_id";

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
    ("remote_addr", Own(|line, hit, _| line.plain(|out| out.extend_from_slice(hit.record.bytes(Text::Peer))))),
    ("request_bytes", Own(|line, hit, _| line.number(hit.record.request_bytes))),
    (
        REQUEST_ID,
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
    time: TimeWriter,
    forms: Alike<Form>,
}

/// Lines of requests that are alike, from the time on.
struct Form {
    bytes: Vec<u8>,
    /// Where values are missing, in their order.
    gaps: Vec<(Range<usize>, WriteField)>,
    /// What follows the last of them.
    end: Range<usize>,
}

/// The identifiers that others know requests by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identifiers {
    /// Requests are traced.
    pub traces: bool,
    /// Clients and upstreams are told identifiers of requests.
    pub requests: bool,
}

impl AccessLog {
    /// A log with the fields that a template names; for an empty one with all, but for identifiers that nobody else knows. `prefix` is always
    /// there, a trace's identifier only when requests are traced.
    pub fn new(analyst: Arc<Analyst>, lines: LineWriter, json: bool, template: &[String], known: Identifiers) -> Self {
        let before = |name: &str| if json { format!(",\"{name}\":") } else { format!(" {name}=") };
        let fields = wanted(template, known);
        let fields = fields.map(|(name, field)| (before(name).into(), field)).collect();
        AccessLog { analyst, lines, json, fields, time: TimeWriter::default(), forms: Alike::default() }
    }
}

impl Form {
    fn new(fields: &[(Box<str>, Field)], json: bool, hit: &Hit<'_>, analyst: &Analyst) -> Self {
        let mut bytes = if json { b"\"".to_vec() } else { b"\" level=info".to_vec() };
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
fn wanted(template: &[String], known: Identifiers) -> impl Iterator<Item = (&'static str, Field)> {
    // Tyk has had two names for it.
    let is_named =
        |field: &str| template.iter().any(|name| name == field || (name == "upstream_address" && field == "upstream_addr"));
    FIELDS.into_iter().filter(move |(field, _)| match *field {
        "prefix" => true,
        TRACE_ID => known.traces && (template.is_empty() || is_named(field)),
        REQUEST_ID => (known.requests && template.is_empty()) || is_named(field),
        field => template.is_empty() || is_named(field),
    })
}

impl Sink for AccessLog {
    fn take(&mut self, hit: &Hit<'_>) {
        if !hit.record.logged {
            return;
        }
        let AccessLog { analyst, lines, json, fields, time, forms } = self;
        let form = forms.of(hit, || Form::new(fields, *json, hit, analyst));
        lines.line(|out| {
            out.extend_from_slice(if *json { b"{\"level\":\"info\",\"msg\":\"\",\"time\":\"" } else { b"time=\"" });
            time.append(out, hit.time.unix_s, hit.time.ns);
            form.write(&mut Line { out, json: *json }, hit, analyst);
        });
    }

    fn flush(&mut self, _: bool) {
        self.forms.forget();
        self.lines.flush();
    }
}

/// Whether texts with a character need no quotes for it.
static PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let (mut left, mut byte) = (plain.as_mut_slice(), 0u8);
    while let [is_plain, rest @ ..] = left {
        *is_plain = matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'/' | b'@' | b'^' | b'+' | b':' | b'[' | b']');
        (left, byte) = (rest, byte.wrapping_add(1));
    }
    plain
};

/// Looks at each byte whatever the ones before it are: most texts are plain.
fn is_plain(text: &[u8]) -> bool {
    text.iter().fold(true, |plain, byte| plain & PLAIN.get(usize::from(*byte)).copied().unwrap_or_default())
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
        } else if !self.json && is_plain(text) {
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
