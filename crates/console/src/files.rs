//! Answers with the files of pages: compressed where browsers take it, kept for good under the name with their hash, `304` for a file that is known.

use crate::Asset;
use axum::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};

/// The answer with a page, which is asked for anew each time.
pub fn page_answer(page: Option<&'static Asset>, headers: &HeaderMap) -> Response {
    page.map_or_else(no_file, |page| answer(page, headers, "no-store"))
}

/// The answer with a file that a page names: under the hash that it has now, it never changes.
pub fn file_answer(file: Option<&'static Asset>, uri: &Uri, headers: &HeaderMap) -> Response {
    let Some(file) = file else { return no_file() };
    let is_current = uri.query().and_then(|query| query.strip_prefix("v=")) == Some(file.hash);
    answer(file, headers, if is_current { "public, max-age=31536000, immutable" } else { "no-cache" })
}

/// The answer where there is no such file.
pub fn no_file() -> Response {
    (StatusCode::NOT_FOUND, "404 page not found\n").into_response()
}

fn answer(file: &'static Asset, headers: &HeaderMap, caching: &'static str) -> Response {
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
