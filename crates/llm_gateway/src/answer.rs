//! What clients get.

use futures_util::stream::unfold;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame};
use std::convert::Infallible;
use std::io;
use tollgate_llm::{ClientApi, Fault, Usage};
use tollgate_outbound::LocalBody;

/// The body of a response, whole or event by event. An error breaks the connection.
pub(crate) type AnswerBody = LocalBody;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// What a body is made of, piece by piece.
pub(crate) trait Pieces: Sized + Send + 'static {
    /// The next piece, and what makes those behind it; `None` at the end. Nothing comes after an error.
    fn next(self: Box<Self>) -> impl Future<Output = io::Result<Option<(Bytes, Box<Self>)>>> + Send;

    /// The body. A piece is made when the client takes it.
    fn into_body(self) -> AnswerBody {
        let pieces = unfold(Some(Box::new(self)), |pieces| async move {
            match pieces?.next().await {
                Ok(Some((bytes, pieces))) => Some((Ok(Frame::data(bytes)), Some(pieces))),
                Ok(None) => None,
                Err(error) => Some((Err(error), None)),
            }
        });
        BodyExt::boxed_unsync(StreamBody::new(pieces))
    }
}

/// A whole answer.
pub(crate) fn whole(status: u16, body: Vec<u8>) -> Response<AnswerBody> {
    let mut response = Response::new(Full::new(Bytes::from(body)).map_err(|never: Infallible| match never {}).boxed_unsync());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

/// A stream of events.
pub(crate) fn stream(body: AnswerBody) -> Response<AnswerBody> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENTS));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// An error in the client's form. `wait_ms`: when it may ask again.
pub(crate) fn fault(form: ClientApi, fault: &Fault, wait_ms: Option<u64>) -> Response<AnswerBody> {
    let (status, body) = form.write_fault(fault);
    let mut response = whole(status, body);
    if let Some(wait_ms) = wait_ms {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait_ms.div_ceil(1_000)));
    }
    response
}

/// Who has answered.
pub(crate) fn tell_source(response: &mut Response<AnswerBody>, provider: &str, model: &str) {
    let lines = [("x-tollgate-llm-provider", provider), ("x-tollgate-llm-model", model)];
    for (name, value) in lines {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
}

/// What the answer took.
pub(crate) fn tell_usage(response: &mut Response<AnswerBody>, usage: &Usage) {
    let headers = response.headers_mut();
    headers.insert("x-tollgate-llm-tokens-in", HeaderValue::from(usage.input));
    headers.insert("x-tollgate-llm-tokens-out", HeaderValue::from(usage.output));
}
