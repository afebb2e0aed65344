//! The parts of a record that are known before the request ends; they are written while the request is available.

use super::CoreService;
use super::context::RequestContext;
use crate::api::Api;
use crate::exchange::{ChainLink, Exchange, Track};
use crate::middleware::tyk_context;
use crate::refusal::Refusal;
use crate::upstream::Upstream;
use crate::url::Url;
use serde_json::Value;
use std::borrow::Cow;
use std::net::IpAddr;
use tollgate_access::keys::HeldKey;
use tollgate_admin::secret_name;
use tollgate_http::{Body, KnownHeader, Request, Version};
use tollgate_mcp::RpcCode;
use tollgate_model::config::DimensionSource;
use tollgate_observe::{ApiMetadata, Recorder, Recording, RefusalNote, RequestRecord, Text};

/// Largest head that a replay of live requests takes.
const LIVE_HEAD_BYTES_MAX: usize = 32 * 1024;

/// What a record needs to know of a request that a chain has not seen, because it has no version or no target.
pub(super) struct UnwalkedRequest<'r> {
    pub api: &'r Api,
    pub url: &'r Url<'r>,
    /// The version that it names.
    pub version: Option<&'r str>,
}

/// What a record is built from.
struct RecordSource<'s, 'e> {
    api: &'s Api,
    url: &'s Url<'s>,
    version: Option<&'s str>,
    exchange: Option<&'s Exchange<'e>>,
}

impl<'s, 'e> From<&'s Exchange<'e>> for RecordSource<'s, 'e> {
    fn from(exchange: &'s Exchange<'e>) -> Self {
        RecordSource { api: exchange.api, url: &exchange.url, version: exchange.version_name(), exchange: Some(exchange) }
    }
}

/// Starts the record of a request that is refused outside of any chain.
#[cold]
pub(super) fn build_unwalked_record(context: &RequestContext<'_>, request: &UnwalkedRequest<'_>) -> Option<Box<RequestRecord>> {
    let is_watched = context.core.tap.is_watched();
    if context.core.recorder.is_none() && !is_watched {
        return None;
    }
    let UnwalkedRequest { api, url, version } = *request;
    fill_record(context, &RecordSource { api, url, version, exchange: None }, "", is_watched)
}

/// Starts the record of a request; `None` when it is not recorded. `host` is the upstream's.
#[inline]
pub(super) fn build_record(context: &RequestContext<'_>, exchange: &Exchange<'_>, host: &str) -> Option<Box<RequestRecord>> {
    let is_watched = context.core.tap.is_watched();
    if context.core.recorder.is_none() && !is_watched {
        return None;
    }
    fill_record(context, &exchange.into(), host, is_watched)
}

/// The same for a request that a middleware rejects: some are recorded for people who look, even if no others are.
pub(super) fn build_refusal_record(
    context: &RequestContext<'_>,
    exchange: &Exchange<'_>,
    link: &ChainLink,
    refusal: &Refusal,
) -> Option<Box<RequestRecord>> {
    let tracked = !exchange.api.facts.do_not_track && exchange.decisions.track != Track::Never;
    if !tracked || !context.core.tap.keeps_refusal(exchange.arrival.unix_s) {
        let mut record = build_record(context, exchange, "")?;
        note_refusal(&mut record, exchange, refusal);
        return Some(record);
    }
    let mut record = fill_record(context, &exchange.into(), "", true)?;
    note_refusal(&mut record, exchange, refusal);
    record.tapped = context.core.tap.is_watched();
    let (name, message) = (link.about.name, refusal.message.text().to_owned());
    record.refusal = Some(Box::new(RefusalNote { middleware: name, message, limit: link.middleware.limit_of(exchange, refusal) }));
    Some(record)
}

/// Notes that a request is refused.
fn note_refusal(record: &mut RequestRecord, exchange: &Exchange<'_>, refusal: &Refusal) {
    record.class = refusal.facts.class;
    record.mcp_error = rpc_error(exchange, refusal);
}

/// The code of the JSON-RPC error that tells a caller of a refusal; 0 for none.
fn rpc_error(exchange: &Exchange<'_>, refusal: &Refusal) -> i32 {
    let decisions = &exchange.decisions;
    let of_call = || decisions.call.as_ref().map(|_| RpcCode::of_status(refusal.status));
    decisions.rpc_error.or_else(of_call).map_or(0, |code| code.0)
}

/// Builds the record if somebody wants it. `is_wanted`: because somebody looks.
fn fill_record(
    context: &RequestContext<'_>,
    source: &RecordSource<'_, '_>,
    host: &str,
    is_wanted: bool,
) -> Option<Box<RequestRecord>> {
    let recorder = context.core.recorder.as_ref();
    let recording = context.core.shared.observer.recording.as_ref().filter(|_| recorder.is_some());
    let facts = &source.api.facts;
    let key = source.exchange.and_then(|exchange| exchange.caller.key.as_ref());
    let track = source.exchange.map_or(&Track::Default, |exchange| &exchange.decisions.track);
    let tracked = !facts.do_not_track && *track != Track::Never;
    let is_ignored =
        |recording: &Recording| !recording.ignored.is_empty() && recording.ignored.contains(&context.arrival.client_ip);
    let analytics = tracked && recording.is_some_and(|recording| recording.analytics && !is_ignored(recording));
    let logged = tracked && recording.is_some_and(|recording| recording.access_log);
    let request_metrics = recording.and_then(|recording| recording.request_metrics.as_ref()).filter(|_| tracked);
    let tapped = is_wanted && tracked;
    if !analytics
        && !logged
        && !tapped
        && request_metrics.is_none()
        && !context.arrival.trace.is_some_and(|trace| trace.taken && recording.is_some())
    {
        return None;
    }
    let only_sums = !tapped && facts.record_hook.is_none() && recording.is_some_and(|recording| recording.only_sums);
    let request = context.request;
    let mut record = recorder.map_or_else(|| context.core.tap.blank(), Recorder::blank);
    record.tapped = tapped;
    record.key = key.map(HeldKey::to_arc);
    record.client_ip = context.arrival.client_ip;
    record.from_cache = source.exchange.is_some_and(|exchange| exchange.decisions.from_cache);
    record.peer = context.arrival.peer;
    record.request_id = context.arrival.request_id.0;
    record.http10 = request.version == Version::Http10;
    record.http2 = context.arrival.http2;
    record.secure = context.arrival.tls.is_some();
    record.trace = context.arrival.trace;
    record.analytics = analytics;
    record.logged = logged;
    record.metered = request_metrics.is_some();
    record.content_length = match request.body {
        Body::None => 0,
        Body::Length(bytes) => i64::try_from(bytes).unwrap_or(i64::MAX),
        _ => -1,
    };
    record.write(Text::Method, request.method.as_bytes());
    if !only_sums {
        record.write(Text::Authority, request.authority);
        record.write(Text::UpstreamHost, host.as_bytes());
        record.write(Text::UserAgent, request.headers.known(KnownHeader::UserAgent).unwrap_or_default());
    }
    if tapped && context.core.tap.is_sampled() {
        write_live_head(&mut record, request);
    }
    if let Some(name) = source.version {
        record.write(Text::Version, name.as_bytes());
    }
    if !facts.tag_headers.is_empty() {
        record.write(Text::Tags, b"");
        for name in &facts.tag_headers {
            if let Some(value) = request.headers.get(name) {
                [name.as_bytes(), b"-", value, b"\n"].iter().for_each(|piece| record.append(piece));
            }
        }
    }
    if !only_sums {
        record.write(Text::OriginalPath, request.path().as_bytes());
    }
    if analytics {
        record.graphql = source.exchange.and_then(|exchange| exchange.notes.graphql.take());
    }
    record.waf = source.exchange.and_then(|exchange| exchange.notes.waf.take());
    if let Some(call) = source.exchange.and_then(|exchange| exchange.notes.llm_call.take()) {
        record.llm_call = Some(call);
        record.is_spend = analytics;
    }
    if analytics || logged {
        record.write_path(source.api.stripped(source.url));
    }
    if let Some(call) = source.exchange.and_then(|exchange| exchange.decisions.call.as_deref()) {
        record.write_call(&call.method, call.primitive());
    }
    if let Track::As(pattern) = track {
        record.write(Text::TrackedPath, pattern.as_bytes());
    }
    if let Some(metrics) = request_metrics.filter(|metrics| !metrics.captured.is_empty()) {
        write_dimensions(&mut record, request, source, &metrics.captured);
    }
    let session = key.map(|key| &key.session);
    let of_key = session.is_some_and(|session| session.enable_detailed_recording || session.enable_detail_recording);
    let of_others = !facts.is_llm && (of_key || recording.is_some_and(|recording| recording.detailed));
    if analytics && (facts.detailed || of_others) {
        write_head(&mut record, request, facts);
    }
    Some(record)
}

/// Notes where a request is sent. `target` is its path and query for the upstream.
#[inline]
pub(super) fn note_upstream(record: &mut RequestRecord, upstream: &Upstream, target: &[u8]) {
    record.upstream_secure = upstream.target.tls.is_some();
    if (record.analytics || record.logged) && !matches!(upstream.path.as_str(), "" | "/") {
        let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
        record.write_path(&String::from_utf8_lossy(path));
    }
}

/// Starts a record for traces and for people who look, of a request that the gateway answers itself.
pub(super) fn build_trace_record(context: &RequestContext<'_>, exchange: &Exchange<'_>) -> Option<Box<RequestRecord>> {
    if !context.arrival.trace.is_some_and(|trace| trace.taken) && !context.core.tap.is_watched() {
        return None;
    }
    let mut record = build_record(context, exchange, "")?;
    (record.analytics, record.logged, record.metered) = (false, false, false);
    Some(record)
}

/// Writes what metrics need of a request, one value per line.
fn write_dimensions(
    record: &mut RequestRecord,
    request: &Request<'_>,
    source: &RecordSource<'_, '_>,
    captured: &[DimensionSource],
) {
    let exchange = source.exchange.filter(|_| source.api.raw.get("enable_context_vars") == Some(&Value::Bool(true)));
    let wants_context = captured.iter().any(|wanted| matches!(wanted, DimensionSource::Context(_)));
    let context = exchange.filter(|_| wants_context).map(tyk_context);
    let config_data = match source.api.raw.get("config_data_disabled") {
        Some(Value::Bool(true)) => None,
        _ => source.api.raw.get("config_data"),
    };
    record.write(Text::Dimensions, b"");
    for wanted in captured {
        match wanted {
            DimensionSource::Header(name) => append_line(record, request.headers.get(name).unwrap_or_default()),
            DimensionSource::Context(name) => {
                append_line(record, value_text(context.as_ref().and_then(|all| all.get(name))).as_bytes())
            }
            DimensionSource::ConfigData(name) => {
                append_line(record, value_text(config_data.and_then(|all| all.get(name))).as_bytes())
            }
            _ => append_line(record, b""),
        }
    }
}

/// The same of a response's headers, by their names.
pub(super) fn write_response_dimensions<'h>(
    record: &mut RequestRecord,
    captured: &[String],
    header: impl Fn(&str) -> Option<&'h [u8]>,
) {
    record.write(Text::ResponseDimensions, b"");
    captured.iter().for_each(|name| append_line(record, header(name).unwrap_or_default()));
}

/// Appends a value to the text that was written last. Only its first line: the next one would be another value.
fn append_line(record: &mut RequestRecord, value: &[u8]) {
    record.append(value.split(|byte| *byte == b'\n').next().unwrap_or_default());
    record.append(b"\n");
}

fn value_text(value: Option<&Value>) -> Cow<'_, str> {
    match value {
        None | Some(Value::Null) => Cow::Borrowed(""),
        Some(Value::String(text)) => Cow::Borrowed(text),
        // As Go prints lists and maps.
        Some(Value::Array(items)) => {
            let items: Vec<_> = items.iter().map(|item| value_text(Some(item))).collect();
            Cow::Owned(format!("[{}]", items.join(" ")))
        }
        Some(Value::Object(members)) => {
            let mut members: Vec<_> = members.iter().map(|(name, value)| format!("{name}:{}", value_text(Some(value)))).collect();
            members.sort();
            Cow::Owned(format!("map[{}]", members.join(" ")))
        }
        Some(other) => Cow::Owned(other.to_string()),
    }
}

/// Writes the request's head without its secrets, because everyone who reads analytics sees it.
fn write_head(record: &mut RequestRecord, request: &Request<'_>, facts: &ApiMetadata) {
    record.write(Text::RawHead, request.method.as_bytes());
    record.append(b" ");
    record.append(secret_name::masked_target(request.path(), request.query(), &facts.secrets.parameters).as_bytes());
    record.append(if request.version == Version::Http10 { b" HTTP/1.0\r\n" } else { b" HTTP/1.1\r\n" });
    for (name, value) in request.headers.iter() {
        let value = secret_name::masked_value(name, value, &facts.secrets.headers);
        [name.as_bytes(), b": ", value, b"\r\n"].iter().for_each(|piece| record.append(piece));
    }
    record.append(b"\r\n");
}

/// Writes the complete head for replays of live requests. One that is too long to be complete is left out.
#[cold]
fn write_live_head(record: &mut RequestRecord, request: &Request<'_>) {
    if request.head_len > LIVE_HEAD_BYTES_MAX {
        return;
    }
    record.write(Text::LiveHead, request.target.as_bytes());
    record.append(b"\n");
    for (name, value) in request.headers.iter() {
        [name.as_bytes(), b":", value, b"\n"].iter().for_each(|piece| record.append(piece));
    }
}

/// The record of a request that no API is for, for replays of live requests.
#[cold]
pub(super) fn build_unrouted(core: &CoreService, request: &Request<'_>, client_ip: IpAddr, status: u16) -> Box<RequestRecord> {
    let mut record = core.tap.blank();
    record.client_ip = client_ip;
    record.status = status;
    record.content_length = if request.body == Body::None { 0 } else { -1 };
    record.write(Text::Method, request.method.as_bytes());
    record.write(Text::Authority, request.authority);
    write_live_head(&mut record, request);
    record
}

/// The request id: the client's own if it is valid, else a new one.
pub(super) fn request_id(context: &RequestContext<'_>) -> Box<str> {
    let given = context.request.headers.get("x-request-id").and_then(|value| std::str::from_utf8(value).ok());
    let is_fit = |id: &&str| (1..=128).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
    match given.filter(is_fit) {
        Some(id) => id.into(),
        None => context.arrival.request_id.to_string().into(),
    }
}
