//! Reading a request's whole body before it is decided about. What was read stays in the connection's input, from which the request goes
//! on as if it had just come.

use super::{Begun, Connection, Stage};
use crate::core::Buffers;
use std::task::{Context, Poll, ready};
use tollgate_http::{Body, BodyReader, Request};

/// Bytes of a body beyond its content: sizes of chunks, trailers. A body in chunks of one byte has five such bytes for each.
const FRAMING_BYTES_MAX: usize = 64 * 1024;

/// A body on its way.
pub(super) struct Collected {
    reader: BodyReader,
    content: Vec<u8>,
    content_bytes_max: usize,
    /// Bytes of the connection's input that were looked at.
    seen: usize,
    input_bytes_max: usize,
    announces_too_much: bool,
}

/// What became of it.
enum Look {
    /// Something is missing.
    More,
    Whole(Vec<u8>),
    /// It is too large, or not framed as it must be.
    Unfit,
}

impl Collected {
    fn new(request: &Request<'_>, content_bytes_max: usize) -> Self {
        Collected {
            reader: BodyReader::new(request.body),
            content: Vec::new(),
            content_bytes_max,
            seen: request.head_len,
            input_bytes_max: request.head_len.saturating_add(content_bytes_max).saturating_add(FRAMING_BYTES_MAX),
            announces_too_much: matches!(request.body, Body::Length(bytes) if bytes > content_bytes_max as u64),
        }
    }

    fn look(&mut self, input: &[u8]) -> Look {
        let rest = input.get(self.seen..).unwrap_or_default();
        let Ok(used) = self.reader.decode(rest, &mut self.content) else { return Look::Unfit };
        self.seen += used;
        let is_too_large = self.announces_too_much || self.content.len() > self.content_bytes_max;
        if is_too_large {
            Look::Unfit
        } else if self.reader.is_done() {
            Look::Whole(std::mem::take(&mut self.content))
        } else if input.len() > self.input_bytes_max {
            Look::Unfit
        } else {
            Look::More
        }
    }
}

impl Connection {
    /// Begins to read the body.
    pub(super) fn collect(&mut self, cx: &mut Context<'_>, request: &Request<'_>, bytes_max: usize) -> Begun {
        self.enter(Stage::Collect(Box::new(Collected::new(request, bytes_max))));
        // Who waits to be told to go on would wait for ever.
        if request.expects_continue && self.to_client.send(cx, &mut self.client, b"HTTP/1.1 100 Continue\r\n\r\n", &[]).is_err() {
            self.enter(Stage::Closed);
        }
        Begun::Incomplete
    }

    pub(super) fn poll_collect(&mut self, cx: &mut Context<'_>, buffers: &mut Buffers) -> Poll<()> {
        if !self.to_client.is_empty() && ready!(self.to_client.poll_flush(cx, &mut self.client)).is_err() {
            self.enter(Stage::Closed);
            return Poll::Ready(());
        }
        let Stage::Collect(collected) = &mut self.stage else { return Poll::Ready(()) };
        let body = match collected.look(&self.input) {
            Look::Whole(body) => Some(body),
            Look::Unfit => None,
            Look::More => {
                match ready!(self.client.poll_read(cx, &mut buffers.scratch)) {
                    Ok(read) if read > 0 => self.input.extend_from_slice(buffers.scratch.get(..read).unwrap_or_default()),
                    _ => self.enter(Stage::Closed),
                }
                return Poll::Ready(());
            }
        };
        self.handler.on_body(body);
        self.enter(Stage::Head { unread: true });
        Poll::Ready(())
    }
}
