//! The portal's pages: their files, their theme, the headers that protect them, and how a call shows that one of them made it.

use super::cookies;
use crate::portal::Portal;
use crate::refusal::PortalRefusal;
use crate::sessions::SESSION_S_MAX;
use axum::extract::{Path, Request, State};
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HOST, IF_NONE_MATCH, ORIGIN,
    REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use tollgate_console::{Asset, portal_asset};

/// Header of every call: a foreign page can't send it without permission, which nobody gives.
const OWN_HEADER: &str = "x-tollgate-portal";
/// Names of the cookie: over TLS, browsers take it from no other host and no other path.
const COOKIE_NAME: &str = "tollgate_portal";
const SECURE_COOKIE_NAME: &str = "__Host-tollgate_portal";

const PROTECTION: [(HeaderName, &str); 5] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Adds the headers that protect pages. Of other servers, pages reach the gateway's APIs alone.
pub(super) async fn with_headers(State(portal): State<Arc<Portal>>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' {}; img-src 'self' data:; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        portal.settings.gateway_url
    );
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    for (name, value) in PROTECTION {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Refuses what a foreign page made a browser send.
pub(super) fn check_origin(headers: &HeaderMap) -> Result<(), PortalRefusal> {
    let is_own = headers.contains_key(OWN_HEADER)
        && match headers.get("sec-fetch-site").map(|value| value.as_bytes()) {
            Some(site) => site == b"same-origin",
            // An old browser, or no browser at all.
            None => has_own_origin(headers),
        };
    if is_own { Ok(()) } else { Err(PortalRefusal::new(403, "csrf", "Only the portal's own pages may call this")) }
}

/// Whether the page that a browser names is of this host. A proxy may have ended TLS, so the scheme says nothing.
fn has_own_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return true };
    let authority = |text: &str| text.parse::<Authority>().ok();
    let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    let host = headers.get(HOST).and_then(|host| authority(host.to_str().ok()?));
    let (Some((scheme, origin)), Some(host)) = (origin, host) else { return false };
    let Some(origin) = authority(origin) else { return false };
    let default = if scheme == "https" { 443 } else { 80 };
    let port = |authority: &Authority| authority.port_u16().unwrap_or(default);
    origin.host().eq_ignore_ascii_case(host.host()) && port(&origin) == port(&host)
}

/// The token in the cookie. Where both names are there, the one counts that no other host can set.
pub(super) fn session_token(headers: &HeaderMap) -> Option<String> {
    let found = cookies(headers, SECURE_COOKIE_NAME).next().or_else(|| cookies(headers, COOKIE_NAME).next());
    found.map(str::to_owned)
}

/// The line that sets the cookie, or removes it if there is no token.
pub(super) fn cookie(token: &str, portal: &Portal) -> String {
    let is_tls = portal.settings.url.starts_with("https://");
    let (name, secure) = if is_tls { (SECURE_COOKIE_NAME, "; Secure") } else { (COOKIE_NAME, "") };
    let age_s = if token.is_empty() { 0 } else { SESSION_S_MAX };
    format!("{name}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age={age_s}{secure}")
}

pub(super) async fn page(headers: HeaderMap) -> Response {
    portal_asset("").map_or_else(missing, |page| served(page, &headers, "no-store"))
}

pub(super) async fn file(Path(name): Path<String>, uri: Uri, headers: HeaderMap) -> Response {
    let Some(file) = portal_asset(&name) else { return missing() };
    let is_current = uri.query().and_then(|query| query.strip_prefix("v=")) == Some(file.hash);
    served(file, &headers, if is_current { "public, max-age=31536000, immutable" } else { "no-cache" })
}

/// The colours of the configuration.
pub(super) async fn theme(State(portal): State<Arc<Portal>>) -> Response {
    let colours = &portal.settings.colours;
    let rule = |selector: &str, accent: &str| {
        format!(
            "{selector} {{ --accent: {accent}; --accent-soft: color-mix(in srgb, {accent} 14%, var(--panel)); --on-accent: {}; }}\n",
            readable_on(accent)
        )
    };
    let text = rule(":root", &colours.accent) + &rule(":root[data-theme=\"dark\"]", &colours.accent_dark);
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], text).into_response()
}

/// Black or white, whichever can be read better on a colour (WCAG 2, relative luminance).
fn readable_on(colour: &str) -> &'static str {
    let channel = |at: usize| {
        let value = colour.get(at..at + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok()).unwrap_or_default();
        let share = f64::from(value) / 255.0;
        if share <= 0.03928 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    };
    let luminance = 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
    if 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.05 { "#ffffff" } else { "#000000" }
}

pub(super) async fn logo(State(portal): State<Arc<Portal>>) -> Response {
    match &portal.logo {
        Some((kind, bytes)) => ([(CONTENT_TYPE, *kind)], bytes.clone()).into_response(),
        None => missing(),
    }
}

fn served(file: &'static Asset, headers: &HeaderMap, caching: &'static str) -> Response {
    let etag = format!("\"{}\"", file.hash);
    let known = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let about = [(ETAG, etag.as_str()), (CACHE_CONTROL, caching), (VARY, "Accept-Encoding")];
    if known.split(',').any(|tag| tag.trim() == etag) {
        return (StatusCode::NOT_MODIFIED, about).into_response();
    }
    let takes_gzip = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).is_some_and(|value| value.contains("gzip"));
    if takes_gzip {
        (about, [(CONTENT_TYPE, file.content_type), (CONTENT_ENCODING, "gzip")], file.gzip).into_response()
    } else {
        (about, [(CONTENT_TYPE, file.content_type)], file.plain()).into_response()
    }
}

fn missing() -> Response {
    (StatusCode::NOT_FOUND, "404 page not found\n").into_response()
}
