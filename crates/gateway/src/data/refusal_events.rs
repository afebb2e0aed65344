//! Which refusals are events, and in which words, as in Tyk. Called only for APIs with handlers of events.

use crate::auth::keys::Key;
use crate::base::secret_name;
use crate::data::credentials::CredentialPlaces;
use crate::data::events::ApiEvents;
use crate::data::exchange::Exchange;
use crate::data::refusal::Refusal;
use crate::observe::ApiMetadata;
use crate::observe::events::EventFacts;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;
use std::net::IpAddr;
use tollgate_http::{Request, Version};
use tollgate_limit::SmoothingChange;
use tollgate_model::api::AuthConfig;
use tollgate_model::events::EventKind;

/// What an event has as its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventKey {
    /// The key as it was sent, else as keys are listed.
    OfRequest,
    /// The name of the user. Tyk sends the whole header line, with the password.
    User,
    Address,
    Organisation,
    /// The name of the API's own limit.
    ApiLimit,
    Text(&'static str),
}

/// The event of a refusal.
fn event_of(middleware: &str, refusal: &Refusal) -> Option<(EventKind, &'static str, EventKey)> {
    use EventKind::{
        AuthFailure, KeyExpired, OrgQuotaExceeded, OrgRateLimitExceeded, QuotaExceeded, RateLimitExceeded, VersionFailure,
    };
    const AUTH: &str = "Auth Failure";
    Some(match refusal.cause {
        "endpoint_forbidden" => (VersionFailure, VERSION, EventKey::Text("")),
        "ip_disallowed" => (AuthFailure, AUTH, EventKey::Address),
        "key_unknown" | "key_certificate_unknown" | "key_certificate_mismatch" | "oauth_key_unknown" => {
            (AuthFailure, AUTH, EventKey::OfRequest)
        }
        "plugin_refused" | "plugin_forbidden" if middleware == "PluginAuth" => (AuthFailure, AUTH, EventKey::OfRequest),
        "basic_refused" => (AuthFailure, AUTH, EventKey::User),
        "signature_refused" => (AuthFailure, AUTH, EventKey::Text("")),
        // Tyk tells nobody of claims that a definition does not allow.
        "jwt_claims" => return None,
        "jwt_no_identity" => (AuthFailure, AUTH, EventKey::Text("[NOT FOUND]")),
        "openid_refused" => (AuthFailure, AUTH, EventKey::Text("[JWT]")),
        // Of the methods with this refusal, Tyk has an event for these two.
        "auth_missing" if middleware == "OpenIdAuth" => (AuthFailure, AUTH, EventKey::Text("[JWT]")),
        "auth_missing" if middleware == "JwtAuth" => (AuthFailure, AUTH, EventKey::Text("")),
        cause if cause.starts_with("jwt_") => (AuthFailure, AUTH, EventKey::Text("")),
        "key_inactive" => (KeyExpired, "Attempted access from inactive key.", EventKey::OfRequest),
        "key_expired" => (KeyExpired, "Attempted access from expired key.", EventKey::OfRequest),
        "key_rate_limit" => (RateLimitExceeded, "Rate Limit Exceeded", EventKey::OfRequest),
        "api_rate_limit" => (RateLimitExceeded, "API Rate Limit Exceeded", EventKey::ApiLimit),
        "quota_exceeded" => (QuotaExceeded, "Key Quota Limit Exceeded", EventKey::OfRequest),
        "org_quota" => (OrgQuotaExceeded, "Organisation quota has been exceeded", EventKey::Organisation),
        "org_rate_limit" => (OrgRateLimitExceeded, "Organisation rate limit has been exceeded", EventKey::Organisation),
        _ => return None,
    })
}

const VERSION: &str = "Attempted access to disallowed version / path.";

/// Tells the handlers of its API of a request that a middleware refuses, if that is an event. `key` is the request's, if it has one.
#[cold]
pub(crate) fn tell_refusal(events: &ApiEvents, exchange: &Exchange<'_>, key: Option<&Key>, middleware: &str, refusal: &Refusal) {
    if refusal.cause == "upstream_credentials" {
        let facts = EventFacts::UpstreamToken { api: events.api.clone() };
        return events.tell(EventKind::UpstreamOAuthError, refusal.message.text().to_owned(), facts, || {
            encoded(exchange.request, &exchange.api.facts)
        });
    }
    let Some((kind, message, event_key)) = event_of(middleware, refusal) else { return };
    // A throttled request was reported before it waited.
    let was_told = refusal.cause == "key_rate_limit" && exchange.tries > 0;
    if was_told || !events.handle(kind) {
        return;
    }
    let (path, origin) = (exchange.url.path.decoded.clone().into_owned(), exchange.client_ip.to_string());
    let facts = match kind {
        EventKind::VersionFailure => EventFacts::Version { path, origin, reason: refusal.message.text().to_owned() },
        _ => EventFacts::Key { path, origin, key: key_text(events, exchange, key, event_key) },
    };
    events.tell(kind, message, facts, || encoded(exchange.request, &exchange.api.facts));
}

/// Tells of a request whose version is refused.
#[cold]
pub(crate) fn tell_refused_version(
    events: &ApiEvents,
    request: &Request<'_>,
    client: IpAddr,
    path: &str,
    metadata: &ApiMetadata,
    refusal: &Refusal,
) {
    let reason = refusal.message.text().to_owned();
    let facts = EventFacts::Version { path: path.to_owned(), origin: client.to_string(), reason };
    events.tell(EventKind::VersionFailure, VERSION, facts, || encoded(request, metadata));
}

fn key_text(events: &ApiEvents, exchange: &Exchange<'_>, key: Option<&Key>, event_key: EventKey) -> String {
    match event_key {
        EventKey::Text(text) => text.to_owned(),
        EventKey::Address => exchange.client_ip.to_string(),
        EventKey::Organisation => events.org.clone(),
        EventKey::ApiLimit => format!("apilimiter-{}{}", events.org, events.api),
        EventKey::User => {
            let line = events.users.as_ref().and_then(|config| CredentialPlaces::new(config).find(exchange)).unwrap_or_default();
            user_of(&line).unwrap_or_default()
        }
        EventKey::OfRequest => sent_key(events.keys.as_deref(), &events.org, exchange, key),
    }
}

/// The key as it was sent, else as keys are listed.
pub(crate) fn sent_key(places: Option<&AuthConfig>, org: &str, exchange: &Exchange<'_>, key: Option<&Key>) -> String {
    let sent = places.and_then(|config| CredentialPlaces::new(config).find(exchange));
    let written = sent.map(|token| exchange.keys.written(&token, org));
    written.or_else(|| key.map(|key| key.shown.to_string())).unwrap_or_default()
}

/// Tells that the rate of a key has risen or fallen by a step.
#[cold]
pub(crate) fn tell_smoothing(events: &ApiEvents, exchange: &Exchange<'_>, key: &Key, change: SmoothingChange) {
    let (kind, message) = match change {
        SmoothingChange::Up => (EventKind::RateLimitSmoothingUp, "Rate limit increased with smoothing"),
        SmoothingChange::Down => (EventKind::RateLimitSmoothingDown, "Rate limit decreased with smoothing"),
    };
    if events.handle(kind) {
        let (path, origin) = (exchange.url.path.decoded.clone().into_owned(), exchange.client_ip.to_string());
        let facts = EventFacts::Key { path, origin, key: key_text(events, exchange, Some(key), EventKey::OfRequest) };
        events.tell(kind, message, facts, || encoded(exchange.request, &exchange.api.facts));
    }
}

/// The name in a header line of basic authentication.
fn user_of(line: &str) -> Option<String> {
    let (scheme, encoded) = line.split_once(' ')?;
    let decoded = STANDARD.decode(encoded.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let text = String::from_utf8(decoded).ok()?;
    Some(text.split_once(':')?.0.to_owned())
}

/// A request's head in Base64, with its header lines sorted, as Go writes it; without secrets, which Tyk sends.
fn encoded(request: &Request<'_>, metadata: &ApiMetadata) -> String {
    let secrets = &metadata.secrets;
    let target = secret_name::masked_target(request.path(), request.query(), &secrets.parameters);
    let mut head = format!("{} {target}", request.method);
    let version = if request.version == Version::Http10 { "1.0" } else { "1.1" };
    head.push_str(&format!(" HTTP/{version}\r\nHost: {}\r\n", String::from_utf8_lossy(request.authority)));
    let is_host = |name: &str| name.eq_ignore_ascii_case("host");
    let mut lines: Vec<(&str, Cow<'_, str>)> = request
        .headers
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
