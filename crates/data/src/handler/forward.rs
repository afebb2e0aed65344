//! The last step: builds the request to the upstream.

use crate::discovery::is_at_root;
use crate::exchange::Exchange;
use crate::middleware::client_scheme;
use crate::snapshot::{ApiVersion, ProviderEndpoints};
use crate::upstream::{Upstream, write_target};
use crate::url::Url;
use std::borrow::Cow;
use std::sync::Arc;
use tollgate_engine::{Forward, Outgoing};
use tollgate_http::Request;
use tollgate_http::form::encode_form;
use tollgate_http::path::Path;

/// Largest request body to the control plane, in bytes: a session that a login page requests has some KiB.
const PROVIDER_BODY_BYTES_MAX: u64 = 1 << 20;

/// Fills `outgoing` with method, URL and Host for the upstream.
#[inline]
pub(super) fn fill(exchange: &mut Exchange<'_>, version: &ApiVersion, upstream: &Upstream) -> Forward {
    let api = exchange.api;
    let outgoing = &mut *exchange.outgoing;
    if exchange.method != exchange.request.method {
        outgoing.method = Some(exchange.method.as_bytes().to_vec());
    }
    let path = if api.has_root_documents && is_at_root(api.stripped(&exchange.url)) { "" } else { &*upstream.path };
    write_target(api, &exchange.url, path, &upstream.query, &mut outgoing.target);
    // A rule may have set another.
    let host = if !outgoing.host.is_empty() {
        b""
    } else if api.preserve_host && !exchange.request.authority.is_empty() {
        exchange.request.authority
    } else {
        upstream.host.as_bytes()
    };
    outgoing.host.extend_from_slice(host);
    outgoing.keep_forwarded_for = version.terms.keeps_forwarded_for;
    if let Some(body) = exchange.body.new.take() {
        replace_body(exchange.request, Arc::unwrap_or_clone(body), outgoing);
    }
    Forward {
        target_serial: upstream.target.serial,
        first_byte_ms: exchange.decisions.first_byte_ms,
        body_bytes_max: exchange.arrival.settings.sizes.request_body_bytes_max,
        // Nobody reads the calls in a tunnel.
        upgrade: exchange.arrival.settings.upstreams.websockets && !exchange.decisions.rules_calls,
        timed: exchange.arrival.counting_core.is_some(),
        capture_bytes_max: 0,
        is_conditional: exchange.decisions.is_conditional,
        resend: None,
        copies: Vec::new(),
    }
}

/// Replaces the request's body, which may have been compressed.
#[cold]
fn replace_body(request: &Request<'_>, body: Vec<u8>, outgoing: &mut Outgoing) {
    outgoing.edits.remove(&request.headers, "Content-Encoding");
    outgoing.body = body;
    outgoing.replaces_body = true;
}

/// Fills `outgoing` for an endpoint that the control plane answers.
pub(super) fn fill_for_control(exchange: &mut Exchange<'_>, target_serial: u64) -> Forward {
    let api = encode_form(&exchange.api.id).replace('+', "%20");
    let mirrored = exchange.api.discovery.as_ref();
    let target = match mirrored.and_then(|paths| paths.endpoint(exchange.request.method, exchange.arrival.full_path)) {
        Some(endpoint) => format!("/discovery/{}/{api}/{endpoint}", client_scheme(exchange)),
        None => format!("/oauth/{api}/{}", ProviderEndpoints::endpoint(&exchange.url).unwrap_or_default()),
    };
    let outgoing = &mut *exchange.outgoing;
    outgoing.target.extend_from_slice(target.as_bytes());
    if let Some(query) = exchange.url.query.as_deref() {
        outgoing.target.push(b'?');
        outgoing.target.extend_from_slice(query.as_bytes());
    }
    let host = exchange.request.authority;
    outgoing.host.extend_from_slice(if host.is_empty() { b"localhost" } else { host });
    Forward {
        target_serial,
        first_byte_ms: None,
        body_bytes_max: Some(PROVIDER_BODY_BYTES_MAX),
        upgrade: false,
        timed: exchange.arrival.counting_core.is_some(),
        capture_bytes_max: 0,
        is_conditional: false,
        resend: None,
        copies: Vec::new(),
    }
}

/// The URL for the next API in a loop: without this API's listen path, if that is stripped.
pub(super) fn loop_url(exchange: &Exchange<'_>) -> Url<'static> {
    let stripped = exchange.api.stripped(&exchange.url);
    let rooted = if stripped.starts_with('/') { stripped.to_owned() } else { format!("/{stripped}") };
    // The path was validated when it was parsed.
    let path = Path::new(Cow::Owned(rooted)).unwrap_or(Path::plain("/"));
    Url { path, listen_bytes: 0, query: exchange.query().map(|query| Cow::Owned(query.to_owned())) }
}
