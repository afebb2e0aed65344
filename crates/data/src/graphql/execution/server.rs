//! The server of a data graph: the upstream, within this process, of an API whose queries the gateway executes. The data path has checked
//! each request, and treats the server like any other upstream: responses stream, change and are recorded as usual. A core connects to it over
//! a socket pair.

use super::run::{GraphAnswer, GraphRun};
use super::sockets;
use super::terms::GraphTerms;
use futures_util::future::join_all;
use futures_util::stream::{StreamExt, once, unfold};
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tollgate_engine::LocalConnector;
use tollgate_graphql::{GraphqlError, GraphqlRequest, errors_body, parse_body, parse_pairs, response_type};
use tollgate_http::form::pairs;

/// Largest body of a request. The data path has kept it in memory, within its own limit.
const BODY_BYTES_MAX: usize = 256 << 20;
/// Most requests in a batch: the data path has the API's own limit.
const BATCH_MAX: usize = 1_000;
/// The content type of events over HTTP.
const EVENTS: &str = "text/event-stream";
/// After this long without an event, a comment is sent: that a client has left is seen when something is sent to it. The time is that of the
/// `graphql-sse` protocol.
const SILENCE_MAX: Duration = Duration::from_secs(12);

/// Executes the queries of one API.
pub struct GraphServer(pub Arc<GraphTerms>);

/// The body of a response, whole or event by event.
type GraphResponseBody = BoxBody<Bytes, Infallible>;

impl GraphServer {
    /// Opens connections to the server.
    pub fn connector(self: Arc<Self>) -> LocalConnector {
        Arc::new(move || self.0.client.connect_within("data graph", &self, Self::respond))
    }

    async fn respond(self: Arc<Self>, request: Request<Incoming>) -> Response<GraphResponseBody> {
        let Some(run) = GraphRun::new(self.0.clone(), request.headers()).map(Arc::new) else {
            let errors = errors_body(&[GraphqlError::new("the request's rights are not known")]);
            let mut response = Response::new(whole(errors));
            *response.status_mut() = StatusCode::FORBIDDEN;
            return response;
        };
        if sockets::is_handshake(request.headers()) {
            return sockets::accept(run, request).map(whole);
        }
        let accept = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let wants_events = accept.contains(EVENTS);
        let content_type = HeaderValue::from_static(response_type(accept));
        let (status, body) = match answer(&run, request, wants_events).await {
            GraphAnswer::Events(events) => return event_response(events, SILENCE_MAX),
            GraphAnswer::Whole(status, body) => (status, body),
        };
        let mut response = Response::new(whole(body));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, content_type);
        response
    }
}

fn whole(body: Vec<u8>) -> GraphResponseBody {
    Full::new(Bytes::from(body)).boxed()
}

async fn answer(run: &Arc<GraphRun>, request: Request<Incoming>, wants_events: bool) -> GraphAnswer {
    let (head, body) = request.into_parts();
    if matches!(head.method, Method::GET | Method::HEAD) {
        let pairs = head.uri.query().into_iter().flat_map(pairs).map(|(name, value)| (name.into(), value.into()));
        return match parse_pairs(pairs) {
            Ok(request) => one(run, &request, wants_events).await,
            Err(_) => refused("the request cannot be read"),
        };
    }
    let Ok(body) = Limited::new(body, BODY_BYTES_MAX).collect().await else { return refused("the body cannot be read") };
    let body = body.to_bytes();
    match parse_body(&body, BATCH_MAX) {
        Ok((requests, true)) => {
            let responses = join_all(requests.iter().map(|request| run.response(request))).await;
            let mut all = b"[".to_vec();
            all.extend(responses.join(&b','));
            all.push(b']');
            GraphAnswer::Whole(StatusCode::OK, all)
        }
        Ok((requests, false)) => match requests.first() {
            Some(request) => one(run, request, wants_events).await,
            None => refused("the request is empty"),
        },
        Err(_) => refused("the request cannot be read"),
    }
}

async fn one(run: &Arc<GraphRun>, request: &GraphqlRequest<'_>, wants_events: bool) -> GraphAnswer {
    if wants_events { run.events(request) } else { GraphAnswer::Whole(StatusCode::OK, run.response(request).await) }
}

fn refused(why: &str) -> GraphAnswer {
    GraphAnswer::Whole(StatusCode::BAD_REQUEST, errors_body(&[GraphqlError::new(why)]))
}

/// Responses as events of HTTP, in the form of the `graphql-sse` protocol, with comments in times of silence.
fn event_response(responses: mpsc::Receiver<Vec<u8>>, silence_max: Duration) -> Response<GraphResponseBody> {
    let next = unfold(responses, move |mut responses| async move {
        let text = match timeout(silence_max, responses.recv()).await {
            Ok(Some(body)) => [b"event: next\ndata: ", body.as_slice(), b"\n\n"].concat(),
            Ok(None) => return None,
            Err(_) => b":\n\n".to_vec(),
        };
        Some((text, responses))
    });
    let end = once(async { b"event: complete\ndata:\n\n".to_vec() });
    let frames = next.chain(end).map(|bytes| Ok::<_, Infallible>(Frame::data(Bytes::from(bytes))));
    let mut response = Response::new(BodyExt::boxed(StreamBody::new(frames)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(EVENTS));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

#[cfg(test)]
mod tests;
