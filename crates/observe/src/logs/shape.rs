//! Lines for machines, in the shapes of Tyk's log: JSON objects, or `time="..." level=info msg="..."`. Lines of the access log have the same
//! shape. Members are in the order in which they were logged.

use super::LogFormat;
use serde_json::Value;
use std::fmt::{self, Debug};
use std::time::{SystemTime, UNIX_EPOCH};
use tollgate_model::calendar::{append_rfc3339_ms, date_time};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Writes lines of one format.
pub(super) struct LineShape {
    pub format: LogFormat,
    /// Whether lines begin with their time.
    pub has_time: bool,
}

impl<S, N> FormatEvent<S, N> for LineShape
where
    S: Subscriber + for<'l> LookupSpan<'l>,
    N: for<'w> FormatFields<'w> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut members = LineMembers::default();
        event.record(&mut members);
        let level = match *event.metadata().level() {
            Level::ERROR => "error",
            Level::WARN => "warning",
            Level::INFO => "info",
            Level::DEBUG => "debug",
            Level::TRACE => "trace",
        };
        let mut line = Vec::new();
        let time = self.has_time.then(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
        let time = time.map(|time| (i64::try_from(time.as_secs()).unwrap_or(i64::MAX), time.subsec_nanos()));
        begin(&mut line, self.format, time, level, &members.message);
        for (name, value) in &members.others {
            append(&mut line, self.format, name, value);
        }
        line.extend_from_slice(end(self.format));
        writer.write_str(&String::from_utf8_lossy(&line))
    }
}

/// Begins a line: time, level and message.
pub fn begin(out: &mut Vec<u8>, format: LogFormat, time: Option<(i64, u32)>, level: &str, message: &str) {
    if format == LogFormat::Json {
        out.extend_from_slice(b"{\"level\":\"");
        out.extend_from_slice(level.as_bytes());
        out.extend_from_slice(b"\",\"message\":");
        append_json(out, message);
        if let Some((unix_s, ns)) = time {
            out.extend_from_slice(b",\"time\":\"");
            append_rfc3339_ms(out, unix_s, ns);
            out.push(b'"');
        }
        return;
    }
    if let Some((unix_s, ns)) = time {
        out.extend_from_slice(b"time=\"");
        match format {
            LogFormat::Legacy => out.extend_from_slice(date_time(unix_s, ns).strftime("%b %d %H:%M:%S").to_string().as_bytes()),
            _ => append_rfc3339_ms(out, unix_s, ns),
        }
        out.extend_from_slice(b"\" ");
    }
    out.extend_from_slice(b"level=");
    out.extend_from_slice(level.as_bytes());
    if !message.is_empty() {
        append(out, format, "msg", &Value::from(message));
    }
}

/// What a line ends with.
pub fn end(format: LogFormat) -> &'static [u8] {
    if format == LogFormat::Json { b"}\n" } else { b"\n" }
}

fn append(out: &mut Vec<u8>, format: LogFormat, name: &str, value: &Value) {
    if format == LogFormat::Json {
        out.push(b',');
        append_json(out, name);
        out.push(b':');
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(out, value);
        return;
    }
    out.push(b' ');
    out.extend_from_slice(name.as_bytes());
    out.push(b'=');
    match value {
        Value::String(text) if !is_plain(text.as_bytes()) || text.is_empty() => append_json(out, text),
        Value::String(text) => out.extend_from_slice(text.as_bytes()),
        value => out.extend_from_slice(value.to_string().as_bytes()),
    }
}

/// Appends a text in quotes. Writing to memory cannot fail.
fn append_json(out: &mut Vec<u8>, text: &str) {
    let _ = serde_json::to_writer(out, text);
}

/// Whether a text needs no quotes in lines of text.
pub fn is_plain(text: &[u8]) -> bool {
    let is_plain = |byte: &u8| matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'-'..=b':' | b'_' | b'@' | b'^' | b'+' | b'[' | b']');
    text.iter().all(is_plain)
}

/// The fields of an event.
#[derive(Default)]
struct LineMembers {
    message: String,
    others: Vec<(&'static str, Value)>,
}

impl LineMembers {
    fn put(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            (name, value) => self.others.push((name, value)),
        }
    }
}

impl Visit for LineMembers {
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.put(field, format!("{value:?}").into());
    }
}

#[cfg(test)]
mod tests;
