//! A line for each request, with Tyk's names of fields: as text in the form of its log, or as JSON.

use super::{Hit, LineWriter, Sink};
use crate::exchange::RequestId;
use crate::observe::analytics::{Analyst, milliseconds};
use crate::observe::record::Text;
use serde_json::Value;
use std::io::Write;
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
            let _ = if *json {
                write!(out, "{{\"level\":\"info\",\"msg\":\"\",\"time\":\"{time}\"")
            } else {
                write!(out, "time=\"{time}\" level=info")
            };
            for (name, _) in FIELDS.iter().zip(wanted.iter()).filter(|(_, wanted)| **wanted) {
                let value = field(name, hit, analyst);
                if value.is_null() {
                    continue;
                }
                if *json {
                    let _ = write!(out, ",\"{name}\":{value}");
                } else {
                    write_text(out, name, &value);
                }
            }
            out.extend_from_slice(if *json { b"}\n" } else { b"\n" });
        });
    }

    fn flush(&mut self, _: bool) {
        self.lines.flush();
    }
}

fn field(name: &str, hit: &Hit<'_>, analyst: &Analyst) -> Value {
    let (record, facts) = (hit.record, hit.facts);
    match name {
        "api_id" => facts.id.as_str().into(),
        "api_key" => analyst.logged_key(record).into(),
        "api_name" => facts.name.as_str().into(),
        "api_version" => record.text(Text::Version).into(),
        "cause" => record.cause.unwrap_or_default().into(),
        "client_ip" => record.client_ip.to_string().into(),
        "host" => record.text(Text::Authority).into(),
        "latency_gateway" => milliseconds(record.total.saturating_sub(record.upstream)).into(),
        "latency_total" => milliseconds(record.total).into(),
        "method" => record.text(Text::Method).into(),
        "org_id" => facts.org_id.as_str().into(),
        "path" => record.text(Text::OriginalPath).into(),
        "prefix" => "access-log".into(),
        "protocol" => record.protocol().into(),
        "remote_addr" => record.peer.to_string().into(),
        "request_bytes" => record.request_bytes.into(),
        "request_id" => match record.text(Text::RequestId) {
            id if id.is_empty() => RequestId(record.request_id).to_string().into(),
            id => id.into(),
        },
        "response_bytes" => record.response_bytes.into(),
        "status" => record.status.into(),
        // Without tracing there is none.
        "trace_id" => record.trace.map(|trace| trace.id.to_string()).into(),
        "upstream_addr" => record.text(Text::UpstreamHost).into(),
        "upstream_latency" => milliseconds(record.upstream).into(),
        "user_agent" => record.text(Text::UserAgent).into(),
        _ => Value::Null,
    }
}

/// `name=value`, in quotes if it is not plain.
fn write_text(out: &mut Vec<u8>, name: &str, value: &Value) {
    let is_plain = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._/@^+:[]".contains(&b));
    let _ = match value {
        Value::String(text) if is_plain(text) => write!(out, " {name}={text}"),
        other => write!(out, " {name}={other}"),
    };
}

#[cfg(test)]
mod tests;
