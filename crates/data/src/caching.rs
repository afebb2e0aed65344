//! Shows requests and responses to the cache, and makes replies of cached responses.

use crate::exchange::{Exchange, Redirect};
use crate::response_chain::ResponseHead;
use crate::upstream::write_target;
use std::task::{Context, Poll};
use tollgate_cache::{BodyRead, CachedBody, CachedResponse, Fill, HeaderLines};
use tollgate_engine::{BodyCut, BodySource, Outgoing, SourcedBody};
use tollgate_http::{Body, HeaderEdits, Headers, Request, each_forwarded_line};

/// Replies with a cached response. Header lines of the version and of the request are added later.
pub fn serve(outgoing: &mut Outgoing, answer: &CachedResponse) {
    serve_from(outgoing, answer, Box::new(StoredBodySource(answer.body())));
}

/// Replies with a cached response whose body comes from this source.
pub fn serve_from(outgoing: &mut Outgoing, answer: &CachedResponse, source: Box<dyn BodySource>) {
    let mut is_dated = false;
    outgoing.edits.clear();
    outgoing.edits.add_line(|lines| {
        answer.write_lines(lines);
        is_dated =
            lines.split(|byte| *byte == b'\n').any(|line| line.get(..5).is_some_and(|name| name.eq_ignore_ascii_case(b"date:")));
    });
    outgoing.is_dated = is_dated;
    outgoing.status = answer.status();
    outgoing.body.clear();
    outgoing.close = false;
    outgoing.sourced = Some(SourcedBody { source, len: answer.body_len(), is_event_stream: false, detached: None });
}

/// Tells the cache if a rule for errors has replaced the response.
pub fn marked(fill: Fill, head: &ResponseHead<'_>) -> Fill {
    match head.overridden() {
        Some(last_headers) => fill.overridden(head.upstream.status, &last_headers),
        None => fill,
    }
}

struct StoredBodySource(CachedBody);

impl BodySource for StoredBodySource {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<hyper::body::Bytes>, BodyCut>> {
        match self.0.next(cx.waker()) {
            BodyRead::Data(bytes) => Poll::Ready(Ok(Some(bytes))),
            BodyRead::End => Poll::Ready(Ok(None)),
            BodyRead::Cut => Poll::Ready(Err(BodyCut)),
            BodyRead::Pending => Poll::Pending,
        }
    }
}

/// Path and query as sent upstream, without the base path of the upstream's URL, because all upstreams of an API serve the same resources. If
/// a rewrite names an upstream, its URL comes first. `None` if the request goes to another API.
pub fn target(exchange: &Exchange<'_>) -> Option<Vec<u8>> {
    let mut target = Vec::new();
    match &exchange.decisions.redirected {
        Some(Redirect::Loop(_)) => return None,
        Some(Redirect::Upstream(upstream)) => {
            let scheme = if upstream.target.tls.is_some() { "https://" } else { "http://" };
            target.extend_from_slice(scheme.as_bytes());
            target.extend_from_slice(upstream.host.as_bytes());
            let mut path = Vec::new();
            write_target(exchange.api, &exchange.url, &upstream.path, &upstream.query, &mut path);
            target.append(&mut path);
        }
        None => write_target(exchange.api, &exchange.url, "", "", &mut target),
    }
    Some(target)
}

/// Header lines of a response as the client receives them.
pub struct ResponseLines<'a> {
    pub headers: &'a Headers<'a>,
    pub edits: &'a HeaderEdits,
}

impl HeaderLines for ResponseLines<'_> {
    fn each(&self, visit: &mut dyn FnMut(&str, &[u8])) {
        self.edits.each_line(self.headers, visit);
    }
}

/// Header lines of a request as the upstream receives them. All that the caches decide about a request's identity, they read here.
pub struct RequestLines<'a> {
    request: &'a Request<'a>,
    edits: &'a HeaderEdits,
    /// The address that is added to `X-Forwarded-For`.
    client: Option<String>,
}

impl<'a> RequestLines<'a> {
    pub fn new(exchange: &'a Exchange<'_>) -> Self {
        let client = (!exchange.version.keeps_forwarded_for).then(|| exchange.arrival.peer.ip().to_string());
        RequestLines { request: exchange.request, edits: &exchange.outgoing.edits, client }
    }

    /// The value of the first line with this name.
    pub fn first(&self, wanted: &str) -> Option<Vec<u8>> {
        let mut found = None;
        self.each(&mut |name, value| {
            if found.is_none() && name.eq_ignore_ascii_case(wanted) {
                found = Some(value.to_vec());
            }
        });
        found
    }
}

impl HeaderLines for RequestLines<'_> {
    fn each(&self, visit: &mut dyn FnMut(&str, &[u8])) {
        each_forwarded_line(self.request, self.client.as_ref().map(String::as_bytes), self.edits, visit);
    }
}

/// The client's Host in lower case, if the upstream receives it instead of its own.
pub fn preserved_host(exchange: &Exchange<'_>) -> Option<Vec<u8>> {
    let authority = exchange.request.authority;
    (exchange.api.preserve_host && !authority.is_empty()).then(|| authority.to_ascii_lowercase())
}

/// Whether the upstream receives a body: the client's, or what the chain has made of it.
pub fn has_body(exchange: &Exchange<'_>) -> bool {
    exchange.body.new.as_ref().map_or(exchange.request.body != Body::None, |body| !body.is_empty())
}
