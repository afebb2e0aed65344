//! What protects those who use the pages: headers of every answer, and what tells a call of an own page from one that a foreign page made a browser send.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue};

const HEADERS: [(HeaderName, &str); 5] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Adds the headers that protect pages: their own files alone, no frames, no text that becomes markup. Pages call their own origin, and `others`: an
/// origin, or empty. What says nothing else is not stored anywhere.
pub fn protect(headers: &mut HeaderMap, others: &str) {
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src {}; img-src 'self' data:; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        format!("'self' {others}").trim_end()
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// Whether a browser says that a page of this origin sent a request, or no browser did. Another port is another origin of the same site, so a cookie
/// alone proves nothing.
pub fn is_of_own_page(headers: &HeaderMap) -> bool {
    match headers.get("sec-fetch-site").map(HeaderValue::as_bytes) {
        Some(site) => site == b"same-origin",
        // An old browser, or no browser at all.
        None => has_own_origin(headers),
    }
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

/// What the cookies of a name say, in their order.
pub fn cookies<'h>(headers: &'h HeaderMap, name: &'h str) -> impl Iterator<Item = &'h str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(move |(own, _)| *own == name).map(|(_, value)| value)
}
