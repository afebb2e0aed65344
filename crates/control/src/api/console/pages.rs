//! The files of the pages, and the headers that protect them.

use axum::extract::{Path, Request};
use axum::http::{HeaderMap, Uri};
use axum::middleware::Next;
use axum::response::{Redirect, Response};
use tollgate_console::{asset, file_answer, page_answer, protect};

/// Adds the headers that protect pages, to every answer below `/tyk/console`. The console's pages call the console alone.
pub(super) async fn with_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    protect(response.headers_mut(), "");
    response
}

pub(super) async fn redirect() -> Redirect {
    Redirect::permanent(super::CONSOLE_PAGE)
}

pub(super) async fn page(headers: HeaderMap) -> Response {
    page_answer(asset(""), &headers)
}

pub(super) async fn file(Path(name): Path<String>, uri: Uri, headers: HeaderMap) -> Response {
    file_answer(asset(&name).filter(|_| !name.is_empty()), &uri, &headers)
}
