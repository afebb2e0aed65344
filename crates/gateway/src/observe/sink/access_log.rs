//! A line for each request, with Tyk's names of fields: as text in the form of its log, or as JSON.

use super::{Hit, LineWriter, Sink};
use crate::data::exchange::RequestId;
use crate::observe::alike::Alike;
use crate::observe::analytics::{Analyst, append_ip, milliseconds};
use crate::observe::record::Text;
use std::sync::Arc;
use tollgate_model::append_json_text;
use tollgate_model::calendar::TimeWriter;

/// A field that a line can have.
#[derive(Clone, Copy)]
enum Field {
    /// The same for requests that are alike.
    Common(fn(&mut Line<'_>, &Hit<'_>, &Analyst)),
    Own(Own),
}

/// A field of each request's own. These are written for each, so not through a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Own {
    LatencyGateway,
    LatencyTotal,
    Path,
    RemoteAddr,
    RequestBytes,
    RequestId,
    ResponseBytes,
    TraceId,
    UpstreamLatency,
}

use Field::Common;

/// The fields that a line can have, in their order.
const FIELDS: [(&str, Field); 23] = [
    ("api_id", Common(|line, hit, _| line.text(hit.facts.id.as_bytes()))),
    ("api_key", Common(|line, hit, analyst| line.text(analyst.logged_key(hit.record).as_bytes()))),
    ("api_name", Common(|line, hit, _| line.text(hit.facts.name.as_bytes()))),
    ("api_version", Common(|line, hit, _| line.text(hit.record.bytes(Text::Version)))),
    ("cause", Common(|line, hit, _| line.text(hit.record.cause.unwrap_or_default().as_bytes()))),
    ("client_ip", Common(|line, hit, _| line.plain(|out| append_ip(out, hit.record.client_ip)))),
    ("host", Common(|line, hit, _| line.text(hit.record.bytes(Text::Authority)))),
    ("latency_gateway", Field::Own(Own::LatencyGateway)),
    ("latency_total", Field::Own(Own::LatencyTotal)),
    ("method", Common(|line, hit, _| line.text(hit.record.bytes(Text::Method)))),
    ("org_id", Common(|line, hit, _| line.text(hit.facts.org_id.as_bytes()))),
    ("path", Field::Own(Own::Path)),
    ("prefix", Common(|line, _, _| line.text(b"access-log"))),
    ("protocol", Common(|line, hit, _| line.text(hit.record.protocol().as_bytes()))),
    ("remote_addr", Field::Own(Own::RemoteAddr)),
    ("request_bytes", Field::Own(Own::RequestBytes)),
    ("request_id", Field::Own(Own::RequestId)),
    ("response_bytes", Field::Own(Own::ResponseBytes)),
    ("status", Common(|line, hit, _| line.number(hit.record.status.into()))),
    ("trace_id", Field::Own(Own::TraceId)),
    ("upstream_addr", Common(|line, hit, _| line.text(hit.record.bytes(Text::UpstreamHost)))),
    ("upstream_latency", Field::Own(Own::UpstreamLatency)),
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
    /// The values that are missing, in their order, each with what stands before it.
    gaps: Vec<(Box<[u8]>, Own)>,
    /// What follows the last of them.
    end: Box<[u8]>,
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
        for (before, field) in fields {
            bytes.extend_from_slice(before.as_bytes());
            match field {
                Common(write) => write(&mut Line { out: &mut bytes, json }, hit, analyst),
                Field::Own(own) => {
                    gaps.push((std::mem::take(&mut bytes).into(), *own));
                }
            }
        }
        bytes.extend_from_slice(if json { b"}\n" } else { b"\n" });
        Form { gaps, end: bytes.into() }
    }

    fn write(&self, line: &mut Line<'_>, hit: &Hit<'_>) {
        for (before, own) in &self.gaps {
            line.out.extend_from_slice(before);
            own.write(line, hit);
        }
        line.out.extend_from_slice(&self.end);
    }
}

impl Own {
    #[inline]
    fn write(self, line: &mut Line<'_>, Hit { record, peer, .. }: &Hit<'_>) {
        match self {
            Own::LatencyGateway => line.number(milliseconds(record.total_ns.saturating_sub(record.upstream_ns))),
            Own::LatencyTotal => line.number(milliseconds(record.total_ns)),
            Own::Path => line.text(record.bytes(Text::OriginalPath)),
            Own::RemoteAddr => line.plain(|out| out.extend_from_slice(peer.as_bytes())),
            Own::RequestBytes => line.number(record.request_bytes),
            Own::RequestId => match record.bytes(Text::RequestId) {
                b"" => line.plain(|out| RequestId(record.request_id).append_to(out)),
                id => line.text(id),
            },
            Own::ResponseBytes => line.number(record.response_bytes),
            Own::TraceId => match &record.trace {
                Some(trace) => line.plain(|out| trace.id.append_to(out)),
                None => line.text(b""),
            },
            Own::UpstreamLatency => line.number(milliseconds(record.upstream_ns)),
        }
    }
}

/// The fields that a template names.
fn wanted(template: &[String], known: Identifiers) -> impl Iterator<Item = (&'static str, Field)> {
    // Tyk has had two names for it.
    let is_named =
        |field: &str| template.iter().any(|name| name == field || (name == "upstream_address" && field == "upstream_addr"));
    FIELDS.into_iter().filter(move |(name, field)| match field {
        _ if *name == "prefix" => true,
        Field::Own(Own::TraceId) => known.traces && (template.is_empty() || is_named(name)),
        Field::Own(Own::RequestId) => (known.requests && template.is_empty()) || is_named(name),
        _ => template.is_empty() || is_named(name),
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
            form.write(&mut Line { out, json: *json }, hit);
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

fn is_plain(text: &[u8]) -> bool {
    // Most are short and plain: a look at each byte takes less than a decision after each.
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

    #[inline]
    fn number(&mut self, number: u64) {
        match number {
            0..10 => self.out.push(b'0' + number as u8),
            _ => self.out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests;
