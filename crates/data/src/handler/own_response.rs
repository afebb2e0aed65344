//! A response that the gateway makes in the upstream's place, of a virtual endpoint for instance: its response steps process it like an
//! upstream's. While one of them waits, the request is held.

use crate::exchange::{Exchange, SubstituteResponse};
use crate::plugins::show_request;
use crate::refusal::{self, Refusal};
use crate::response_chain::ResponseChain;
use hyper::body::Bytes;
use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tollgate_engine::{BodyCut, BodySource, KeptBody, Outgoing, ResponseVerdict, Work};
use tollgate_http::{HeaderEdits, HeaderStorage, Response};
use tollgate_model::is_framing_header;

/// A response, and the steps that are to process it.
pub(super) struct HeldResponse {
    chain: ResponseChain,
    head: Vec<u8>,
    body: Vec<u8>,
    /// Whether it tells the caller about limits.
    pub tells_limits: bool,
}

/// What has become of a response.
pub(super) enum Processed {
    /// It is in `outgoing`.
    Done,
    /// A step waits for this work, at most this long.
    Waits(Work, Duration, Box<HeldResponse>),
}

/// Processes a response, and fills `outgoing` with what becomes of it.
pub(super) fn process(exchange: &mut Exchange<'_>, response: SubstituteResponse) -> Result<Processed, Refusal> {
    if exchange.response.chain.is_empty() {
        fill(exchange.outgoing, response);
        return Ok(Processed::Done);
    }
    show_request(exchange, None);
    let (chain, head) = (std::mem::take(&mut exchange.response.chain), head_of(&response));
    let held = HeldResponse { chain, head, body: response.body, tells_limits: response.tells_limits };
    held.decide(exchange, |chain, parsed, body, outgoing| chain.on_whole(parsed, body, outgoing))
}

/// Goes on with a response of which a step has waited.
pub(super) fn go_on(exchange: &mut Exchange<'_>, held: HeldResponse) -> Result<Processed, Refusal> {
    held.decide(exchange, |chain, parsed, body, outgoing| chain.on_body(parsed, KeptBody::Whole(body), outgoing))
}

impl HeldResponse {
    fn decide(
        mut self,
        exchange: &mut Exchange<'_>,
        ask: impl FnOnce(&mut ResponseChain, &Response<'_>, &[u8], &mut Outgoing) -> ResponseVerdict,
    ) -> Result<Processed, Refusal> {
        let mut storage = HeaderStorage::new();
        let Ok(Some(parsed)) = Response::parse(&self.head, exchange.method == "HEAD", &mut storage) else {
            return Err(refusal::PLUGIN_FAILED);
        };
        let outgoing = &mut *exchange.outgoing;
        outgoing.edits.clear();
        match ask(&mut self.chain, &parsed, &self.body, outgoing) {
            ResponseVerdict::Await => {
                let (work, time_max) = outgoing.work.take().ok_or(refusal::PLUGIN_FAILED)?;
                return Ok(Processed::Waits(work, time_max, Box::new(self)));
            }
            // A step has filled `outgoing`.
            ResponseVerdict::Reply | ResponseVerdict::Detach => {
                outgoing.sink = None;
                return self.chain.take_refusal().map_or(Ok(Processed::Done), Err);
            }
            ResponseVerdict::Rewrite => {}
            ResponseVerdict::Pass | ResponseVerdict::Watch | ResponseVerdict::Keep(_) | ResponseVerdict::Again => {
                self.chain.on_bytes(&self.body, true);
                outgoing.body.clone_from(&self.body);
            }
        }
        if outgoing.status == 0 {
            outgoing.status = parsed.status;
        }
        let mut lines = HeaderEdits::default();
        outgoing.edits.each_line(&parsed.headers, &mut |name, value| {
            if !is_framing_header(name) {
                lines.add(name, value);
            }
        });
        outgoing.edits = lines;
        Ok(Processed::Done)
    }
}

fn fill(outgoing: &mut Outgoing, response: SubstituteResponse) {
    outgoing.edits.clear();
    outgoing.status = response.status;
    response.headers.iter().for_each(|(name, value)| outgoing.edits.add(name, value));
    outgoing.body = response.body;
}

/// The head as an upstream would send it.
fn head_of(response: &SubstituteResponse) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {} \r\n", response.status).into_bytes();
    for (name, value) in &response.headers {
        [name.as_bytes(), b": ", value, b"\r\n"].iter().for_each(|part| head.extend_from_slice(part));
    }
    if !matches!(response.status, 100..=199 | 204 | 304) {
        head.extend_from_slice(format!("Content-Length: {}\r\n", response.body.len()).as_bytes());
    }
    head.extend_from_slice(b"\r\n");
    head
}

/// A reply as records show it, of at most `bytes_max` bytes. The body of a stored response is read as far as it is in memory; the pieces
/// remain for the client.
#[cold]
pub(super) fn recorded(outgoing: &mut Outgoing, bytes_max: usize, is_head: bool) -> Vec<u8> {
    let mut written = format!("HTTP/1.1 {} {}\r\n", outgoing.status, tollgate_http::reason(outgoing.status)).into_bytes();
    let mut storage = HeaderStorage::new();
    if let Ok(Some(empty)) = Response::parse(b"HTTP/1.1 200 OK\r\n\r\n", is_head, &mut storage) {
        outgoing.edits.write_lines(&empty.headers, &mut written);
    }
    written.extend_from_slice(b"\r\n");
    match outgoing.sourced.as_mut().filter(|_| !is_head) {
        Some(sourced) => {
            let rest = std::mem::replace(&mut sourced.source, Box::new(ReadBody::default()));
            sourced.source = Box::new(ReadBody::read(rest, bytes_max, &mut written));
        }
        None if is_head => {}
        None => written.extend_from_slice(&outgoing.body),
    }
    written.truncate(bytes_max);
    written
}

/// A body whose beginning has been read.
#[derive(Default)]
struct ReadBody {
    pieces: VecDeque<Result<Option<Bytes>, BodyCut>>,
    rest: Option<Box<dyn BodySource>>,
}

impl ReadBody {
    /// Reads what is there, until `written` has `bytes_max` bytes.
    fn read(mut source: Box<dyn BodySource>, bytes_max: usize, written: &mut Vec<u8>) -> Self {
        let mut pieces = VecDeque::new();
        let mut cx = Context::from_waker(Waker::noop());
        while written.len() < bytes_max {
            let Poll::Ready(piece) = source.poll_next(&mut cx) else { break };
            let is_last = !matches!(piece, Ok(Some(_)));
            if let Ok(Some(bytes)) = &piece {
                written.extend_from_slice(bytes);
            }
            pieces.push_back(piece);
            if is_last {
                break;
            }
        }
        ReadBody { pieces, rest: Some(source) }
    }
}

impl BodySource for ReadBody {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BodyCut>> {
        match (self.pieces.pop_front(), &mut self.rest) {
            (Some(piece), _) => Poll::Ready(piece),
            (None, Some(rest)) => rest.poll_next(cx),
            (None, None) => Poll::Ready(Ok(None)),
        }
    }
}
