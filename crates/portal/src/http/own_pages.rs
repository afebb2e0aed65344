//! The portal's pages: their files, their theme, the headers that protect them, and how a call shows that one of them made it.

use crate::portal::Portal;
use crate::refusal::PortalRefusal;
use crate::sessions::SESSION_S_MAX;
use axum::extract::{Path, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use tollgate_console::{cookies, file_answer, is_of_own_page, no_file, page_answer, portal_asset, protect};

/// Header of every call: a foreign page can't send it without permission, which nobody gives.
const OWN_HEADER: &str = "x-tollgate-portal";
/// Names of the cookie: over TLS, browsers take it from no other host and no other path.
const COOKIE_NAME: &str = "tollgate_portal";
const SECURE_COOKIE_NAME: &str = "__Host-tollgate_portal";

/// Adds the headers that protect pages. Of other servers, pages reach the gateway's APIs alone.
pub(super) async fn with_headers(State(portal): State<Arc<Portal>>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    protect(response.headers_mut(), &portal.settings.gateway_url);
    response
}

/// Refuses what a foreign page made a browser send.
pub(super) fn check_origin(headers: &HeaderMap) -> Result<(), PortalRefusal> {
    let is_own = headers.contains_key(OWN_HEADER) && is_of_own_page(headers);
    if is_own { Ok(()) } else { Err(PortalRefusal::new(403, "csrf", "Only the portal's own pages may call this")) }
}

/// The token in the cookie.
pub(super) fn session_token(headers: &HeaderMap, portal: &Portal) -> Option<String> {
    let (name, _) = cookie_name(portal);
    cookies(headers, name).next().map(str::to_owned)
}

/// The cookie's name, and what it says about the connection. Where the portal's address is one of TLS, nothing else counts than what no page of
/// another host can set.
fn cookie_name(portal: &Portal) -> (&'static str, &'static str) {
    let is_tls = portal.settings.url.starts_with("https://");
    if is_tls { (SECURE_COOKIE_NAME, "; Secure") } else { (COOKIE_NAME, "") }
}

/// The line that sets the cookie, or removes it if there is no token.
pub(super) fn cookie(token: &str, portal: &Portal) -> String {
    let (name, secure) = cookie_name(portal);
    let age_s = if token.is_empty() { 0 } else { SESSION_S_MAX };
    format!("{name}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age={age_s}{secure}")
}

pub(super) async fn page(headers: HeaderMap) -> Response {
    page_answer(portal_asset(""), &headers)
}

pub(super) async fn file(Path(name): Path<String>, uri: Uri, headers: HeaderMap) -> Response {
    file_answer(portal_asset(&name), &uri, &headers)
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
        None => no_file(),
    }
}
