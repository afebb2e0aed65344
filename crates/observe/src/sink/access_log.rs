//! The access log: one line per request with Tyk's field names, as text in the format of Tyk's log, or as JSON.

use super::{FileLineWriter, RecordWriter};
use crate::analytics::{Analyst, milliseconds};
use crate::error_class::ErrorClass;
use crate::logs::{LogFormat, shape};
use crate::record::Text;
use crate::record_ref::RecordRef;
use std::io::Write;
use std::sync::Arc;
use tollgate_model::analytics::LlmStats;
use tollgate_model::request_id::RequestId;
use tollgate_outbound::append_ip;

/// Writes the value of a field.
type FieldValue = fn(&mut AccessLogLine<'_>, &RecordRef<'_>, &Analyst);

/// All fields that a line can contain, in order. One that writes nothing is left out of the line.
const FIELDS: [(&str, FieldValue); 54] = [
    ("api_id", |line, hit, _| line.text(hit.facts.id.as_bytes())),
    ("api_key", |line, hit, analyst| line.text(analyst.logged_key(hit.record).as_bytes())),
    ("api_name", |line, hit, _| line.text(hit.facts.name.as_bytes())),
    ("api_type", |line, hit, _| line.text(hit.facts.kind.as_bytes())),
    ("api_version", |line, hit, _| line.text(hit.record.bytes(Text::Version))),
    ("cause", |line, hit, _| line.text(hit.record.cause.unwrap_or_default().as_bytes())),
    ("circuit_breaker_state", |line, hit, _| {
        if hit.record.class.is_some_and(|class| class.flag == "CBO") {
            line.text(b"OPEN");
        }
    }),
    ("client_ip", |line, hit, _| line.plain(|out| append_ip(out, hit.record.client_ip))),
    ("error_source", |line, hit, _| line.class(hit, |class| class.source)),
    ("error_target", |line, hit, _| {
        if hit.record.class.is_some_and(ErrorClass::is_of_upstream) {
            // Of an upstream's own response, only who it was.
            let path = if hit.record.upstream_status == 0 { hit.record.bytes(Text::Path) } else { b"" };
            line.text(&[hit.upstream_host(), path].concat());
        }
    }),
    ("host", |line, hit, _| line.text(hit.record.bytes(Text::Authority))),
    ("latency_gateway", |line, hit, _| line.number(milliseconds(hit.record.total_ns.saturating_sub(hit.record.upstream_ns)))),
    ("latency_total", |line, hit, _| line.number(milliseconds(hit.record.total_ns))),
    ("llm_attempts", |line, hit, _| line.of_llm(hit, |line, llm| line.number(llm.attempts.len() as u64))),
    ("llm_budget", |line, hit, _| line.of_llm(hit, |line, llm| line.some(llm.budget.as_bytes()))),
    ("llm_cached_tokens", |line, hit, _| line.of_llm(hit, |line, llm| line.number(llm.usage.cached_tokens))),
    ("llm_cost_usd", |line, hit, _| line.of_llm(hit, |line, llm| line.decimal(llm.usage.cost_usd))),
    ("llm_estimated", |line, hit, _| {
        line.of_llm(hit, |line, llm| line.out.extend_from_slice(if llm.usage.estimated { b"true" } else { b"false" }));
    }),
    ("llm_first_token_ms", |line, hit, _| line.of_llm(hit, |line, llm| llm.first_token_ms.iter().for_each(|ms| line.decimal(*ms)))),
    ("llm_input_tokens", |line, hit, _| line.of_llm(hit, |line, llm| line.number(llm.usage.input_tokens))),
    ("llm_model", |line, hit, _| line.of_llm(hit, |line, llm| line.some(llm.model.as_bytes()))),
    ("llm_outcome", |line, hit, _| line.of_llm(hit, |line, llm| line.some(llm.outcome.as_bytes()))),
    ("llm_output_tokens", |line, hit, _| line.of_llm(hit, |line, llm| line.number(llm.usage.output_tokens))),
    ("llm_provider", |line, hit, _| line.of_llm(hit, |line, llm| line.some(llm.provider.as_bytes()))),
    ("llm_provider_model", |line, hit, _| line.of_llm(hit, |line, llm| line.some(llm.provider_model.as_bytes()))),
    ("llm_reason", |line, hit, _| line.of_llm(hit, |line, llm| line.some(llm.reason.as_bytes()))),
    ("llm_reasoning_tokens", |line, hit, _| line.of_llm(hit, |line, llm| line.number(llm.usage.reasoning_tokens))),
    ("llm_team", |line, hit, _| line.of_llm(hit, |line, llm| line.some(llm.team.as_bytes()))),
    ("llm_tokens_per_s", |line, hit, _| line.of_llm(hit, |line, llm| llm.tokens_per_s.iter().for_each(|rate| line.decimal(*rate)))),
    ("mcp_error_code", |line, hit, _| {
        if hit.record.mcp_error != 0 {
            line.signed(hit.record.mcp_error.into());
        }
    }),
    ("mcp_method", |line, hit, _| line.some(hit.record.bytes(Text::McpMethod))),
    ("mcp_primitive_name", |line, hit, _| line.some(hit.record.bytes(hit.record.mcp_name()))),
    ("mcp_primitive_type", |line, hit, _| line.some(hit.record.mcp_kind().as_bytes())),
    ("method", |line, hit, _| line.text(hit.record.bytes(Text::Method))),
    ("org_id", |line, hit, _| line.text(hit.facts.org_id.as_bytes())),
    ("original_path", |line, hit, _| line.text(hit.record.bytes(Text::OriginalPath))),
    ("path", |line, hit, _| line.text(hit.record.bytes(Text::Path))),
    ("prefix", |line, _, _| line.text(b"access-log")),
    ("protocol", |line, hit, _| line.text(hit.record.protocol().as_bytes())),
    ("remote_addr", |line, hit, _| line.plain(|out| out.extend_from_slice(hit.peer.as_bytes()))),
    ("request_bytes", |line, hit, _| line.number(hit.record.request_bytes)),
    ("request_id", |line, hit, _| match hit.record.bytes(Text::RequestId) {
        b"" => line.plain(|out| RequestId(hit.record.request_id).append_to(out)),
        id => line.text(id),
    }),
    ("response_bytes", |line, hit, _| line.number(hit.record.response_bytes)),
    ("response_code_details", |line, hit, _| line.class(hit, |class| class.details)),
    ("response_flag", |line, hit, _| line.class(hit, |class| class.flag)),
    ("status", |line, hit, _| line.number(hit.record.status.into())),
    ("trace_id", |line, hit, _| match &hit.record.trace {
        Some(trace) => line.plain(|out| trace.id.append_to(out)),
        None => line.text(b""),
    }),
    ("upstream_addr", |line, hit, _| {
        let (host, path) = (hit.record.bytes(Text::UpstreamHost), hit.record.bytes(Text::Path));
        let scheme: &[u8] = match (host.is_empty(), hit.record.upstream_secure) {
            (true, _) => b"",
            (false, false) => b"http://",
            (false, true) => b"https://",
        };
        line.text(&[scheme, host, path].concat());
    }),
    ("upstream_latency", |line, hit, _| line.number(milliseconds(hit.record.upstream_ns))),
    ("upstream_status", |line, hit, _| {
        if hit.record.class.is_some() && hit.record.upstream_status != 0 {
            line.number(hit.record.upstream_status.into());
        }
    }),
    ("user_agent", |line, hit, _| line.text(hit.record.bytes(Text::UserAgent))),
    ("waf_response_score", |line, hit, _| hit.record.waf.iter().for_each(|waf| line.signed(waf.response_score))),
    ("waf_rules", |line, hit, _| hit.record.waf.iter().for_each(|waf| line.text(waf.rules().as_bytes()))),
    ("waf_score", |line, hit, _| hit.record.waf.iter().for_each(|waf| line.signed(waf.score))),
];

/// The access log of one core.
#[derive(Clone)]
pub struct AccessLogSink {
    analyst: Arc<Analyst>,
    lines: FileLineWriter,
    format: LogFormat,
    /// The selected fields, each with the text before its value.
    fields: Vec<(Box<str>, FieldValue)>,
}

/// Which request identifiers exist outside the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identifiers {
    /// Whether requests are traced.
    pub traces: bool,
    /// Whether clients and upstreams receive request ids.
    pub requests: bool,
}

impl AccessLogSink {
    /// A log with the fields that a template names; an empty template selects all except identifiers that no one else knows.
    /// `prefix` is always included, the trace id only if requests are traced.
    pub fn new(analyst: Arc<Analyst>, lines: FileLineWriter, format: LogFormat, template: &[String], known: Identifiers) -> Self {
        let before = |name: &str| if format == LogFormat::Json { format!(",\"{name}\":") } else { format!(" {name}=") };
        let fields = wanted(template, known);
        let fields = fields.map(|(name, field)| (before(name).into(), field)).collect();
        AccessLogSink { analyst, lines, format, fields }
    }
}

/// The fields that a template names.
fn wanted(template: &[String], known: Identifiers) -> impl Iterator<Item = (&'static str, FieldValue)> {
    // Tyk has used two names for this field.
    let is_named =
        |field: &str| template.iter().any(|name| name == field || (name == "upstream_address" && field == "upstream_addr"));
    FIELDS.into_iter().filter(move |(name, _)| match *name {
        "prefix" => true,
        "trace_id" => known.traces && (template.is_empty() || is_named(name)),
        "request_id" => (known.requests && template.is_empty()) || is_named(name),
        _ => template.is_empty() || is_named(name),
    })
}

impl RecordWriter for AccessLogSink {
    fn take(&mut self, hit: &RecordRef<'_>) {
        if !hit.record.logged {
            return;
        }
        let AccessLogSink { analyst, lines, format, fields } = self;
        lines.line(|out| {
            shape::begin(out, *format, Some((hit.time.unix_s, hit.time.ns)), "info", "");
            let mut line = AccessLogLine { out, json: *format == LogFormat::Json };
            for (before, write) in fields {
                let start = line.out.len();
                line.out.extend_from_slice(before.as_bytes());
                let value = line.out.len();
                write(&mut line, hit, analyst);
                if line.out.len() == value {
                    line.out.truncate(start);
                }
            }
            line.out.extend_from_slice(shape::end(*format));
        });
    }

    fn flush(&mut self, _: bool) {
        self.lines.flush();
    }
}

/// A line being written.
struct AccessLogLine<'o> {
    out: &'o mut Vec<u8>,
    json: bool,
}

impl AccessLogLine<'_> {
    /// Writes a text, quoted if necessary.
    fn text(&mut self, text: &[u8]) {
        if text.is_empty() {
            self.out.extend_from_slice(b"\"\"");
        } else if !self.json && shape::is_plain(text) {
            self.out.extend_from_slice(text);
        } else {
            // Writing to memory cannot fail.
            let _ = serde_json::to_writer(&mut *self.out, &String::from_utf8_lossy(text));
        }
    }

    /// Writes a text if it is not empty.
    fn some(&mut self, text: &[u8]) {
        if !text.is_empty() {
            self.text(text);
        }
    }

    /// Writes a word of the error's class, if it has one.
    fn class(&mut self, hit: &RecordRef<'_>, word: fn(&ErrorClass) -> &'static str) {
        if let Some(class) = hit.record.class {
            self.text(word(class).as_bytes());
        }
    }

    /// Writes a text that is known to need no quotes in text format.
    fn plain(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let quote: &[u8] = if self.json { b"\"" } else { b"" };
        self.out.extend_from_slice(quote);
        write(self.out);
        self.out.extend_from_slice(quote);
    }

    /// Writes something of a request to a language model.
    fn of_llm(&mut self, hit: &RecordRef<'_>, write: impl FnOnce(&mut Self, &LlmStats)) {
        if let Some(llm) = &hit.record.llm {
            write(self, llm);
        }
    }

    /// Writes a number with six places at most.
    fn decimal(&mut self, number: f64) {
        // Writing to memory cannot fail.
        let _ = write!(self.out, "{}", (number * 1e6).round() / 1e6);
    }

    fn signed(&mut self, number: i64) {
        self.out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }

    fn number(&mut self, number: u64) {
        self.out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }
}

#[cfg(test)]
mod tests;
