//! Requests and responses as the cache sees them, and stored responses as replies.

use crate::data::exchange::{Exchange, Redirect};
use crate::data::upstream::write_target;
use std::task::{Context, Poll};
use tollgate_cache::{BodyRead, CachedBody, CachedResponse, HeaderLines};
use tollgate_engine::{BodyCut, BodySource, Outgoing, SourcedBody};
use tollgate_http::{HeaderEdits, Headers};

/// Makes a stored response the reply. What belongs to the version and to one request is put in behind it.
pub(crate) fn serve(outgoing: &mut Outgoing, answer: &CachedResponse) {
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
    // Nothing else would tell where it ends.
    outgoing.close = answer.body_len().is_none();
    let source = Box::new(StoredBody(answer.body()));
    outgoing.sourced = Some(SourcedBody { source, len: answer.body_len().unwrap_or(0), detached: None });
}

struct StoredBody(CachedBody);

impl BodySource for StoredBody {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<hyper::body::Bytes>, BodyCut>> {
        match self.0.next(cx.waker()) {
            BodyRead::Data(bytes) => Poll::Ready(Ok(Some(bytes))),
            BodyRead::End => Poll::Ready(Ok(None)),
            BodyRead::Cut => Poll::Ready(Err(BodyCut)),
            BodyRead::Pending => Poll::Pending,
        }
    }
}

/// Path and query as they go upstream, without what the upstream's own URL puts before them: all upstreams of an API serve one thing. An
/// upstream that a rewrite names stands in front. `None` when another API gets the request.
pub(crate) fn target(exchange: &Exchange<'_>) -> Option<Vec<u8>> {
    let mut target = Vec::new();
    match &exchange.redirected {
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

/// The lines of a response as clients get them.
pub(crate) struct ResponseLines<'a> {
    pub headers: &'a Headers<'a>,
    pub edits: &'a HeaderEdits,
}

impl HeaderLines for ResponseLines<'_> {
    fn each(&self, visit: &mut dyn FnMut(&str, &[u8])) {
        self.edits.each_line(self.headers, visit);
    }
}

/// The lines of a request as its upstream gets them.
pub(crate) struct RequestLines<'a> {
    pub headers: &'a Headers<'a>,
    pub edits: &'a HeaderEdits,
    pub client_ip: &'a str,
}

impl HeaderLines for RequestLines<'_> {
    fn each(&self, visit: &mut dyn FnMut(&str, &[u8])) {
        self.edits.each_line(self.headers, visit);
        // The address is added to the line when the request is sent.
        visit("X-Forwarded-For", self.client_ip.as_bytes());
    }
}
