//! Sink that records two spans per request: one for the request itself and one for the exchange with its upstream; between them one
//! for each middleware, if those are traced, and below them one for each provider of a language model that was asked. Attributes follow OpenTelemetry's conventions for HTTP, and Tyk's for APIs. They
//! contain no query and no key, and of the headers only the user agent.

use super::attribute::{number, resource, scope, text};
use super::collector::{Collector, Signal, deliver};
use super::llm_spans::llm_spans;
use super::span_parts::{PARENT_ELSEWHERE, PARENT_KNOWN, TAKEN, nanoseconds};
use crate::method_name;
use crate::record::{RequestRecord, StepTime, Text};
use crate::record_ref::RecordRef;
use crate::sink::{BatchSender, RecordWriter, SinkFigures, SinkRoom, SinkThread};
use crate::trace::RequestTrace;
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;
use tollgate_model::config::Traces;

/// Time limit for the last batches at shutdown; shorter than that of sinks.
const END_TIME_MAX: Duration = Duration::from_secs(3);
/// Maximum bytes of an attribute; a client controls the length of its path.
const ATTRIBUTE_BYTES_MAX: usize = 1_024;
#[derive(Clone)]
pub struct SpanSink {
    batch: Vec<Span>,
    spans_max: usize,
    time_max: Duration,
    sent: Instant,
    handoff: BatchSender<Vec<Span>>,
}

impl SpanSink {
    /// An error describes what is wrong with the settings.
    pub fn start(traces: &Traces, figures: Arc<SinkFigures>) -> Result<(Self, SinkThread), String> {
        let (end, ended) = watch::channel(None);
        let settings = traces.collector();
        let collector = Collector::new(&settings, Signal::Traces, ended).map_err(|error| format!("opentelemetry: {error}"))?;
        let (resource, batch) = (resource(&settings.resource_name), &traces.span_batch_config);
        let own = figures.clone();
        let write = move |spans: Vec<Span>| {
            let scope_spans = vec![ScopeSpans { scope: Some(scope()), spans, ..ScopeSpans::default() }];
            let of_resource = ResourceSpans { resource: Some(resource.clone()), scope_spans, ..ResourceSpans::default() };
            let request = ExportTraceServiceRequest { resource_spans: vec![of_resource] };
            own.failed.fetch_add(deliver::<ExportTraceServiceResponse>(&collector, &request)?, Ordering::Relaxed);
            Ok(())
        };
        let is_simple = traces.span_processor_type.eq_ignore_ascii_case("simple");
        let room = SinkRoom { batches: batch.batches(), records: u64::MAX };
        let (handoff, writer) = BatchSender::start(figures, room, write).map_err(|error| error.to_string())?;
        let sink = SpanSink {
            batch: Vec::new(),
            spans_max: batch.spans(),
            time_max: if is_simple { Duration::ZERO } else { batch.time_max() },
            sent: Instant::now(),
            handoff,
        };
        let writer = writer.at_end(move || {
            end.send_replace(Some(Instant::now() + END_TIME_MAX));
        });
        Ok((sink, writer))
    }

    fn pass_on(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        let count = batch.len() as u64;
        self.sent = Instant::now();
        if count > 0 {
            self.handoff.give(batch, count);
        }
    }
}

impl RecordWriter for SpanSink {
    fn take(&mut self, hit: &RecordRef<'_>) {
        let Some(trace) = hit.record.trace.filter(|trace| trace.taken) else { return };
        self.batch.push(server_span(hit, &trace));
        self.batch.extend(hit.record.steps.iter().enumerate().map(|(place, step)| middleware_span(hit, &trace, place, step)));
        self.batch.extend(client_span(hit, &trace));
        self.batch.extend(llm_spans(hit, &trace));
        if self.batch.len() >= self.spans_max {
            self.pass_on();
        }
    }

    fn flush(&mut self, last: bool) {
        if last || self.sent.elapsed() >= self.time_max {
            self.pass_on();
        }
    }
}

/// The request as its client saw it.
fn server_span(hit: &RecordRef<'_>, trace: &RequestTrace) -> Span {
    let (record, facts) = (hit.record, hit.facts);
    let tracked = record.text(Text::TrackedPath);
    let route = if tracked.is_empty() { facts.listen_path.as_str() } else { tracked.as_ref() };
    let mut attributes = method(record);
    let (host, port) = host_and_port(record.bytes(Text::Authority), if record.secure { 443 } else { 80 });
    attributes.extend([
        text("url.scheme", if record.secure { "https" } else { "http" }),
        short("url.path", record.bytes(Text::OriginalPath)),
        text("http.route", route),
        short("server.address", host),
        number("server.port", port),
        text("client.address", record.client_ip.to_string()),
        text("network.peer.address", record.peer.ip().to_string()),
        number("network.peer.port", record.peer.port()),
        text("network.protocol.version", protocol_version(record)),
    ]);
    if !record.bytes(Text::UserAgent).is_empty() {
        attributes.push(short("user_agent.original", record.bytes(Text::UserAgent)));
    }
    attributes.extend([
        text("tyk.api.id", facts.id.as_str()),
        text("tyk.api.name", facts.name.as_str()),
        text("tyk.api.orgid", facts.org_id.as_str()),
        text("tyk.api.path", facts.listen_path.as_str()),
    ]);
    if !record.bytes(Text::Version).is_empty() {
        attributes.push(short("tyk.api.version", record.bytes(Text::Version)));
    }
    if let Some(session) = record.key.as_ref().map(|key| &key.session) {
        let of_key = [("tyk.api.apikey.alias", &session.alias), ("tyk.api.oauthid", &session.oauth_client_id)];
        attributes
            .extend(of_key.into_iter().filter(|(_, value)| !value.is_empty()).map(|(key, value)| short(key, value.as_bytes())));
    }
    // A client error is not an error of the server.
    let status = outcome(record.status, record.status >= 500, record.cause, &mut attributes);
    let end = nanoseconds(hit);
    Span {
        trace_id: trace.id.0.to_be_bytes().to_vec(),
        span_id: trace.server_span.to_be_bytes().to_vec(),
        parent_span_id: if trace.parent == 0 { Vec::new() } else { trace.parent.to_be_bytes().to_vec() },
        flags: TAKEN | PARENT_KNOWN | if trace.parent == 0 { 0 } else { PARENT_ELSEWHERE },
        // Conventions require low-cardinality names: the listen path or endpoint instead of the path.
        name: format!("{} {route}", method_or_http(record)),
        kind: SpanKind::Server.into(),
        start_time_unix_nano: end.saturating_sub(record.total_ns),
        end_time_unix_nano: end,
        attributes,
        status,
        ..Span::default()
    }
}

/// The exchange with the upstream, if there was one.
fn client_span(hit: &RecordRef<'_>, trace: &RequestTrace) -> Option<Span> {
    let record = hit.record;
    let start = nanoseconds(hit).saturating_sub(record.total_ns) + record.sent_after_ns?;
    let mut attributes = method(record);
    // Without a written port, the scheme implies it, but is not known here.
    let (host, port) = host_and_port(record.bytes(Text::UpstreamHost), 0);
    attributes.push(short("server.address", host));
    if port != 0 {
        attributes.push(number("server.port", port));
    }
    let status = outcome(record.upstream_status, record.upstream_status >= 400, record.cause, &mut attributes);
    Some(Span {
        trace_id: trace.id.0.to_be_bytes().to_vec(),
        span_id: trace.client_span.to_be_bytes().to_vec(),
        parent_span_id: trace.server_span.to_be_bytes().to_vec(),
        flags: TAKEN | PARENT_KNOWN,
        name: method_or_http(record).to_owned(),
        kind: SpanKind::Client.into(),
        start_time_unix_nano: start,
        end_time_unix_nano: start + record.upstream_ns,
        attributes,
        status,
        ..Span::default()
    })
}

/// The time that one middleware took.
fn middleware_span(hit: &RecordRef<'_>, trace: &RequestTrace, place: usize, step: &StepTime) -> Span {
    let start = nanoseconds(hit).saturating_sub(hit.record.total_ns) + step.after_ns;
    Span {
        trace_id: trace.id.0.to_be_bytes().to_vec(),
        span_id: trace.middleware_span(place).to_be_bytes().to_vec(),
        parent_span_id: trace.server_span.to_be_bytes().to_vec(),
        flags: TAKEN | PARENT_KNOWN,
        name: step.middleware.to_owned(),
        kind: SpanKind::Internal.into(),
        start_time_unix_nano: start,
        end_time_unix_nano: start + step.took_ns,
        ..Span::default()
    }
}

/// The result as attributes and as a status.
fn outcome(status: u16, is_error: bool, cause: Option<&'static str>, attributes: &mut Vec<KeyValue>) -> Option<Status> {
    if status != 0 {
        attributes.push(number("http.response.status_code", status));
    }
    let error_type = cause.map(str::to_owned).or_else(|| is_error.then(|| status.to_string()));
    attributes.extend(error_type.map(|cause| text("error.type", cause)));
    let failed = is_error || (status == 0 && cause.is_some());
    let message = cause.unwrap_or_default().to_owned();
    failed.then(|| Status { code: StatusCode::Error.into(), message })
}

fn method(record: &RequestRecord) -> Vec<KeyValue> {
    let written = record.text(Text::Method);
    let known = method_name(&written);
    let mut attributes = Vec::with_capacity(20);
    if known == written {
        attributes.push(text("http.request.method", known));
    } else {
        attributes.push(text("http.request.method", "_OTHER"));
        attributes.push(short("http.request.method_original", written.as_bytes()));
    }
    attributes
}

fn method_or_http(record: &RequestRecord) -> &'static str {
    let written = record.text(Text::Method);
    let known = method_name(&written);
    if known == written { known } else { "HTTP" }
}

fn protocol_version(record: &RequestRecord) -> &'static str {
    match (record.http2, record.http10) {
        (true, _) => "2",
        (false, true) => "1.0",
        (false, false) => "1.1",
    }
}

/// Host and port of an authority that was parsed before; an IPv6 address keeps its brackets.
fn host_and_port(authority: &[u8], default_port: u16) -> (&[u8], u16) {
    let colon = authority.iter().rposition(|byte| *byte == b':');
    let split = colon.and_then(|colon| authority.split_at_checked(colon));
    let port = |tail: &[u8]| std::str::from_utf8(tail.strip_prefix(b":")?).ok()?.parse().ok();
    let (host, port) = match split {
        Some((host, tail)) if port(tail).is_some() => (host, port(tail).unwrap_or(default_port)),
        _ => (authority, default_port),
    };
    (host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]")).unwrap_or(host), port)
}

/// A text attribute that a client controls, cut to the maximum length.
fn short(key: &str, value: &[u8]) -> KeyValue {
    text(key, String::from_utf8_lossy(value.get(..ATTRIBUTE_BYTES_MAX).unwrap_or(value)))
}

#[cfg(test)]
mod tests;
