//! The parts of a record that are known before the request ends; they are written while the request is available.

use super::arrival::RequestContext;
use crate::auth::keys::HeldKey;
use crate::data::exchange::{Exchange, Track};
use crate::observe::{ApiMetadata, RequestRecord, Text};
use tollgate_http::{Body, KnownHeader, Request, Version};

/// Starts the record of a request; `None` when it is not recorded. `host` is the upstream's.
#[inline]
pub(super) fn build_record(arrival: &RequestContext<'_>, exchange: &Exchange<'_>, host: &str) -> Option<Box<RequestRecord>> {
    let recorder = arrival.core.recorder.as_ref()?;
    let recording = arrival.core.shared.observer.recording.as_ref()?;
    let facts = &exchange.api.facts;
    let tracked = !facts.do_not_track && exchange.track != Track::Never;
    let ignored = !recording.ignored.is_empty() && recording.ignored.contains(&exchange.client_ip);
    let analytics = recording.analytics && tracked && !ignored;
    let logged = recording.access_log && tracked;
    if !analytics && !logged && !arrival.trace.is_some_and(|trace| trace.taken) {
        return None;
    }
    let request = arrival.request;
    let mut record = recorder.blank();
    record.key = exchange.key.as_ref().map(HeldKey::to_arc);
    record.client_ip = exchange.client_ip;
    record.peer = arrival.peer;
    record.request_id = arrival.request_id.0;
    record.http10 = request.version == Version::Http10;
    record.http2 = arrival.http2;
    record.secure = arrival.tls.is_some();
    record.trace = arrival.trace;
    record.analytics = analytics;
    record.logged = logged;
    record.content_length = match request.body {
        Body::None => 0,
        Body::Length(bytes) => i64::try_from(bytes).unwrap_or(i64::MAX),
        _ => -1,
    };
    record.write(Text::Method, request.method.as_bytes());
    if !recording.only_sums {
        record.write(Text::Authority, request.authority);
        record.write(Text::UpstreamHost, host.as_bytes());
        record.write(Text::UserAgent, request.headers.known(KnownHeader::UserAgent).unwrap_or_default());
    }
    if let Some(name) = exchange.version {
        record.write(Text::Version, name.as_bytes());
    }
    if !facts.tag_headers.is_empty() || exchange.from_cache {
        record.write(Text::Tags, if exchange.from_cache { b"cached-response\n" } else { b"" });
        for name in &facts.tag_headers {
            if let Some(value) = request.headers.get(name) {
                [name.as_bytes(), b"-", value, b"\n"].iter().for_each(|piece| record.append(piece));
            }
        }
    }
    if !recording.only_sums {
        record.write(Text::OriginalPath, request.path().as_bytes());
    }
    if analytics {
        record.write_path(exchange.api.stripped(&exchange.url));
    }
    if let Track::As(pattern) = &exchange.track {
        record.write(Text::TrackedPath, pattern.as_bytes());
    }
    let session = exchange.key.as_ref().map(|key| &key.session);
    let of_key = session.is_some_and(|session| session.enable_detailed_recording || session.enable_detail_recording);
    if analytics && (recording.detailed || facts.detailed || of_key) {
        write_head(&mut record, request, facts);
    }
    Some(record)
}

/// Starts a record for traces only, of a request that the gateway answers itself.
pub(super) fn build_trace_record(arrival: &RequestContext<'_>, exchange: &Exchange<'_>) -> Option<Box<RequestRecord>> {
    arrival.trace.filter(|trace| trace.taken)?;
    let mut record = build_record(arrival, exchange, "")?;
    (record.analytics, record.logged) = (false, false);
    Some(record)
}

/// Writes the request's head without its secrets, because everyone who reads analytics sees it.
fn write_head(record: &mut RequestRecord, request: &Request<'_>, facts: &ApiMetadata) {
    record.write(Text::RawHead, request.method.as_bytes());
    record.append(b" ");
    record.append(request.path().as_bytes());
    for (index, pair) in request.query().into_iter().flat_map(|query| query.split('&')).enumerate() {
        let name = pair.split('=').next().unwrap_or_default();
        let is_secret = facts.secrets.parameters.iter().any(|secret| secret.eq_ignore_ascii_case(name));
        record.append(if index == 0 { b"?" } else { b"&" });
        record.append(if is_secret { name.as_bytes() } else { pair.as_bytes() });
        record.append(if is_secret { b"=***" } else { b"" });
    }
    record.append(if request.version == Version::Http10 { b" HTTP/1.0\r\n" } else { b" HTTP/1.1\r\n" });
    for (name, value) in request.headers.iter() {
        let is_secret = facts.secrets.headers.iter().any(|secret| secret.eq_ignore_ascii_case(name));
        [name.as_bytes(), b": ", if is_secret { b"***" } else { value }, b"\r\n"].iter().for_each(|piece| record.append(piece));
    }
    record.append(b"\r\n");
}

/// The request id: the client's own if it is valid, else a new one.
pub(super) fn request_id(arrival: &RequestContext<'_>) -> Box<str> {
    let given = arrival.request.headers.get("x-request-id").and_then(|value| std::str::from_utf8(value).ok());
    let is_fit = |id: &&str| (1..=128).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
    match given.filter(is_fit) {
        Some(id) => id.into(),
        None => arrival.request_id.to_string().into(),
    }
}
