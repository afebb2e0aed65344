//! Which refusals are events, and in which words, as in Tyk. Called only for APIs with handlers of events.

use crate::credentials::CredentialPlaces;
use crate::events::{ApiEvents, PreparedEvent};
use crate::exchange::Exchange;
use crate::refusal::{EventKey, KEY_RATE_LIMIT, Refusal, RefusalEvent, VERSION};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;
use std::net::IpAddr;
use tollgate_access::keys::Key;
use tollgate_admin::secret_name;
use tollgate_http::{HeadView, Request, Version};
use tollgate_limit::SmoothingChange;
use tollgate_model::api::AuthConfig;
use tollgate_model::events::EventKind;
use tollgate_observe::ApiMetadata;
use tollgate_observe::events::EventFacts;

/// Tells the handlers of its API of a request that a middleware refuses, if that is an event. `key` is the request's, if it has one.
#[cold]
pub fn tell_refusal(events: &ApiEvents, exchange: &Exchange<'_>, key: Option<&Key>, refusal: &Refusal) {
    if let Some(event) = prepare_refusal(events, exchange, key, refusal) {
        event.tell();
    }
}

/// The event of a refusal that may replace the response; `None` if nobody is told of it.
#[cold]
pub fn prepare_refusal(events: &ApiEvents, exchange: &Exchange<'_>, key: Option<&Key>, refusal: &Refusal) -> Option<PreparedEvent> {
    let RefusalEvent { kind, message, key: event_key } = refusal.facts.event?;
    let request = || encoded(exchange.request, exchange.received(), &exchange.api.facts);
    if kind == EventKind::UpstreamOAuthError {
        let facts = EventFacts::UpstreamToken { api: events.api.clone() };
        return events.prepare(kind, refusal.message.text().to_owned(), facts, request);
    }
    // A throttled request was reported before it waited.
    let was_told = *refusal == KEY_RATE_LIMIT && exchange.decisions.throttled > 0;
    if was_told || !events.handle(kind) {
        return None;
    }
    let (path, origin) = (exchange.url.path.decoded.clone().into_owned(), exchange.arrival.client_ip.to_string());
    let facts = match kind {
        EventKind::VersionFailure => EventFacts::Version { path, origin, reason: refusal.message.text().to_owned() },
        _ => EventFacts::Key { path, origin, key: key_text(events, exchange, key, event_key) },
    };
    events.prepare(kind, message, facts, request)
}

/// Tells of a request whose version is refused.
#[cold]
pub fn tell_refused_version(
    events: &ApiEvents,
    request: &Request<'_>,
    client: IpAddr,
    path: &str,
    metadata: &ApiMetadata,
    refusal: &Refusal,
) {
    let reason = refusal.message.text().to_owned();
    let facts = EventFacts::Version { path: path.to_owned(), origin: client.to_string(), reason };
    events.tell(EventKind::VersionFailure, VERSION, facts, || encoded(request, HeadView::new(&request.headers), metadata));
}

fn key_text(events: &ApiEvents, exchange: &Exchange<'_>, key: Option<&Key>, event_key: EventKey) -> String {
    match event_key {
        EventKey::Text(text) => text.to_owned(),
        EventKey::Address => exchange.arrival.client_ip.to_string(),
        EventKey::Organisation => events.org.clone(),
        EventKey::ApiLimit => format!("apilimiter-{}{}", events.org, events.api),
        EventKey::User => {
            let line = events.users.as_ref().and_then(|config| CredentialPlaces::new(config).find(exchange)).unwrap_or_default();
            user_of(&line).unwrap_or_default()
        }
        EventKey::Signer => signer_of(exchange).unwrap_or_default(),
        EventKey::OfRequest => sent_key(events.keys.as_deref(), &events.org, exchange, key),
    }
}

/// The key as it was sent, else as keys are listed.
pub fn sent_key(places: Option<&AuthConfig>, org: &str, exchange: &Exchange<'_>, key: Option<&Key>) -> String {
    let sent = places.and_then(|config| CredentialPlaces::new(config).find(exchange));
    let written = sent.map(|token| exchange.arrival.keys.written(&token, org));
    written.or_else(|| key.map(|key| key.shown.to_string())).unwrap_or_default()
}

/// Tells that the rate of a key has risen or fallen by a step.
#[cold]
pub fn tell_smoothing(events: &ApiEvents, exchange: &Exchange<'_>, key: &Key, change: SmoothingChange) {
    let (kind, message) = match change {
        SmoothingChange::Up => (EventKind::RateLimitSmoothingUp, "Rate limit increased with smoothing"),
        SmoothingChange::Down => (EventKind::RateLimitSmoothingDown, "Rate limit decreased with smoothing"),
    };
    if events.handle(kind) {
        let (path, origin) = (exchange.url.path.decoded.clone().into_owned(), exchange.arrival.client_ip.to_string());
        let facts = EventFacts::Key { path, origin, key: key_text(events, exchange, Some(key), EventKey::OfRequest) };
        events.tell(kind, message, facts, || encoded(exchange.request, exchange.received(), &exchange.api.facts));
    }
}

/// The `keyId` of the first header line with a signature.
fn signer_of(exchange: &Exchange<'_>) -> Option<String> {
    let lines = exchange.received();
    let line = lines.iter().find_map(|(_, value)| std::str::from_utf8(value).ok()?.strip_prefix("Signature "))?;
    let (_, rest) = line.split_once("keyId=\"")?;
    rest.split_once('"').map(|(id, _)| id.to_owned())
}

/// The name in a header line of basic authentication.
fn user_of(line: &str) -> Option<String> {
    let (scheme, encoded) = line.split_once(' ')?;
    let decoded = STANDARD.decode(encoded.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let text = String::from_utf8(decoded).ok()?;
    Some(text.split_once(':')?.0.to_owned())
}

/// A request's head in Base64, with its header lines sorted, as Go writes it; without secrets, which Tyk sends.
fn encoded(request: &Request<'_>, received: HeadView<'_>, metadata: &ApiMetadata) -> String {
    let secrets = &metadata.secrets;
    let target = secret_name::masked_target(request.path(), request.query(), &secrets.parameters);
    let mut head = format!("{} {target}", request.method);
    let version = if request.version == Version::Http10 { "1.0" } else { "1.1" };
    head.push_str(&format!(" HTTP/{version}\r\nHost: {}\r\n", String::from_utf8_lossy(request.authority)));
    let is_host = |name: &str| name.eq_ignore_ascii_case("host");
    let mut lines: Vec<(&str, Cow<'_, str>)> = received
        .iter()
        .filter(|(name, _)| !is_host(name))
        .map(|(name, value)| (name, String::from_utf8_lossy(secret_name::masked_value(name, value, &secrets.headers))))
        .collect();
    lines.sort();
    lines.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
    head.push_str("\r\n");
    STANDARD.encode(head)
}

#[cfg(test)]
mod tests;
