//! The files of the pages, and the headers that protect them.

use axum::extract::{Path, Request};
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY,
    VARY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use tollgate_console::{Asset, asset};

/// Nothing but the console's own files, no frames, no text that becomes markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// For every answer below `/tyk/console`, of pages and of calls.
const PROTECTION: [(HeaderName, &str); 6] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Adds the headers that protect pages. What says nothing else is not stored anywhere.
pub(super) async fn with_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in PROTECTION {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

pub(super) async fn redirect() -> Redirect {
    Redirect::permanent(super::CONSOLE_PAGE)
}

pub(super) async fn page(headers: HeaderMap) -> Response {
    match asset("") {
        Some(page) => served(page, &headers, "no-store"),
        None => missing(),
    }
}

pub(super) async fn file(Path(name): Path<String>, uri: Uri, headers: HeaderMap) -> Response {
    let Some(file) = asset(&name).filter(|_| !name.is_empty()) else { return missing() };
    let is_current = uri.query().and_then(|query| query.strip_prefix("v=")) == Some(file.hash);
    served(file, &headers, if is_current { "public, max-age=31536000, immutable" } else { "no-cache" })
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
