//! Replies whose body comes from a source. Pieces of shared bytes are written without copying them, each when the client has taken the one
//! before. A small body is written together with its head. A body of unknown length is copied into chunks.

use super::coded::{CodedChunks, SMALL_BYTES};
use super::{Connection, Stage, detached_exchange};
use crate::core::Buffers;
use crate::service::{BodyCut, BodySource, Outgoing, SourcedBody};
use bytes::{Buf, Bytes};
use std::task::{Context, Poll, ready};
use tollgate_http::{LAST_CHUNK, write_chunk, write_reply_head};

/// Up to this size, pieces are copied behind the head. Larger ones are written from where they are.
const COPY_BYTES_MAX: usize = 4 * 1024;

/// Room for the size of a chunk and two line ends.
const CHUNK_FRAME_BYTES: usize = 20;

/// The unsent rest of a reply.
pub(super) struct SourcedReply {
    source: Box<dyn BodySource>,
    /// The unsent rest of the current piece.
    piece: Bytes,
    /// Whether the reply waits for the client.
    is_client_late: bool,
    /// Whether the connection ends with the reply.
    close: bool,
    is_event_stream: bool,
    /// Whether the source codes a slice with each poll.
    is_coded: bool,
}

impl SourcedReply {
    /// Whether the client does not read.
    #[inline]
    pub(super) fn is_client_late(&self) -> bool {
        self.is_client_late
    }

    /// Whether it may say nothing for long.
    #[inline]
    pub(super) fn is_event_stream(&self) -> bool {
        self.is_event_stream
    }
}

impl Connection {
    /// Starts a reply, and completes it if its body is small and available.
    pub(super) fn reply_from_source(
        &mut self,
        cx: &mut Context<'_>,
        mut sourced: SourcedBody,
        outgoing: &mut Outgoing,
        close: bool,
        out: &mut Vec<u8>,
    ) {
        let mut close = close || self.core.draining.get();
        let mut is_small = true;
        let is_coded = outgoing.coder.is_some();
        if let Some(coder) = outgoing.coder.take() {
            is_small = sourced.len.is_some_and(|len| len <= coder.slice_bytes().min(SMALL_BYTES) as u64);
            outgoing.edits.add_lines(b"Transfer-Encoding: chunked\r\n");
            sourced.source = Box::new(CodedChunks::new(sourced.source, coder, self.core.clone()));
        } else if sourced.len.is_none() && !self.exchange.request.is_head {
            match self.exchange.request.is_http10 {
                true => close = true,
                false => {
                    outgoing.edits.add_lines(b"Transfer-Encoding: chunked\r\n");
                    sourced.source = Box::new(SourcedChunks { source: sourced.source, is_over: false });
                }
            }
        }
        if let Some(detached) = sourced.detached {
            detached_exchange::start(&self.core, self.client_address, detached);
        }
        out.clear();
        let connection = self.exchange.connection_line(close);
        self.core.with_date_line(|date| {
            let date = if outgoing.is_dated { b"" } else { date };
            write_reply_head(outgoing.status, &outgoing.edits, date, connection, out);
        });
        let is_event_stream = sourced.is_event_stream;
        let mut reply =
            SourcedReply { source: sourced.source, piece: Bytes::new(), is_client_late: false, close, is_event_stream, is_coded };
        let head_bytes = out.len();
        let mut is_whole = self.exchange.request.is_head;
        while !is_whole && (is_small || self.core.coding_turns.take()) {
            match reply.source.poll_next(cx) {
                Poll::Ready(Ok(Some(piece))) if out.len() - head_bytes + piece.len() <= COPY_BYTES_MAX => {
                    out.extend_from_slice(&piece)
                }
                Poll::Ready(Ok(Some(piece))) => {
                    reply.piece = piece;
                    break;
                }
                Poll::Ready(Ok(None)) => is_whole = true,
                // The source repeats its answer at the next poll.
                Poll::Ready(Err(_)) | Poll::Pending => break,
            }
        }
        self.exchange.response.is_started = true;
        if self.send_beginning(cx, &mut reply, out).is_err() {
            self.enter(Stage::Closed);
        } else if is_whole {
            self.end_sourced(close);
        } else {
            self.enter(Stage::Sourced(Box::new(reply)));
        }
    }

    /// Sends the head and the first part of the piece behind it.
    fn send_beginning(&mut self, cx: &mut Context<'_>, reply: &mut SourcedReply, head: &[u8]) -> Result<(), ()> {
        if reply.piece.is_empty() || !self.to_client.is_empty() {
            return self.send_to_client(cx, head, &[]).map_err(|_| ());
        }
        let sent = match self.client.poll_write(cx, head, &reply.piece) {
            Poll::Ready(sent) => sent.map_err(|_| ())?,
            Poll::Pending => 0,
        };
        self.to_client.put(head.get(sent..).unwrap_or_default());
        let of_piece = sent.saturating_sub(head.len());
        self.count_sent(head);
        self.count_sent(reply.piece.get(..of_piece).unwrap_or_default());
        reply.piece.advance(of_piece);
        Ok(())
    }

    /// Continues a reply.
    pub(super) fn poll_sourced(&mut self, cx: &mut Context<'_>, buffers: &mut Buffers) -> Poll<()> {
        let Stage::Sourced(mut reply) = std::mem::replace(&mut self.stage, Stage::Closed) else { return Poll::Ready(()) };
        let polled = self.poll_piece(cx, &mut reply);
        let now_ms = self.core.deadlines.now_ms();
        match polled {
            Poll::Pending => {
                let waits_for_source = !reply.is_client_late;
                if reply.is_client_late {
                    self.exchange.response.pace.wait(now_ms);
                }
                self.stage = Stage::Sourced(reply);
                if waits_for_source
                    && self.exchange.request.body.is_done()
                    && let Err(fault) = self.watch_client(cx, buffers)
                {
                    self.fail(cx, fault, &mut buffers.out, &mut buffers.outgoing);
                    return Poll::Ready(());
                }
                return Poll::Pending;
            }
            // The body is truncated, and closing the connection shows that.
            Poll::Ready(Err(())) => self.enter(Stage::Closed),
            Poll::Ready(Ok(is_over)) => {
                self.exchange.response.pace.go_on(now_ms);
                match is_over {
                    true => self.end_sourced(reply.close),
                    false => self.enter(Stage::Sourced(reply)),
                }
            }
        }
        Poll::Ready(())
    }

    /// Sends one piece or a part of it; ready with `true` when the reply is complete.
    fn poll_piece(&mut self, cx: &mut Context<'_>, reply: &mut SourcedReply) -> Poll<Result<bool, ()>> {
        reply.is_client_late = true;
        if !self.to_client.is_empty() {
            return self.to_client.poll_flush(cx, &mut self.client).map(|flushed| flushed.map(|()| false).map_err(|_| ()));
        }
        if !reply.piece.is_empty() {
            let taken = match ready!(self.client.poll_write(cx, &reply.piece, &[])) {
                Ok(taken) if taken > 0 => taken,
                _ => return Poll::Ready(Err(())),
            };
            self.turn.moved(taken);
            self.count_sent(reply.piece.get(..taken).unwrap_or_default());
            reply.piece.advance(taken);
            return Poll::Ready(Ok(false));
        }
        reply.is_client_late = false;
        if reply.is_coded {
            ready!(self.turn.poll_slice(cx, &self.core.coding_turns));
        }
        let polled = reply.source.poll_next(cx);
        if let Poll::Ready(Ok(Some(piece))) = polled {
            reply.piece = piece;
            return Poll::Ready(Ok(false));
        }
        // The TLS layer must not hold bytes while the source is waited for.
        reply.is_client_late = true;
        match ready!(self.client.poll_flush(cx)) {
            Ok(()) => reply.is_client_late = false,
            Err(_) => return Poll::Ready(Err(())),
        }
        polled.map(|end| end.map(|_| true).map_err(|_| ()))
    }

    fn count_sent(&mut self, bytes: &[u8]) {
        self.exchange.response.bytes += bytes.len() as u64;
        if let Some(capture) = &mut self.exchange.capture {
            capture.add_response(bytes);
        }
    }

    /// Ends the exchange after the reply.
    fn end_sourced(&mut self, close: bool) {
        self.handler.on_end(self.exchange.ended());
        let is_read = self.exchange.request.body.is_done();
        self.exchange.end(&self.core);
        match close {
            true => self.enter(Stage::Linger(0)),
            false if !is_read => self.enter(Stage::Drain(0)),
            false => self.enter(Stage::Head { unread: true }),
        }
    }
}

/// Frames a body whose length is not known. Small pieces that are there together are sent together, the last one with the end.
struct SourcedChunks {
    source: Box<dyn BodySource>,
    is_over: bool,
}

impl BodySource for SourcedChunks {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BodyCut>> {
        let mut chunks = Vec::new();
        while !self.is_over && chunks.len() < COPY_BYTES_MAX {
            match self.source.poll_next(cx) {
                Poll::Ready(Ok(Some(piece))) => {
                    chunks.reserve(piece.len() + CHUNK_FRAME_BYTES);
                    write_chunk(&piece, &mut chunks);
                }
                Poll::Ready(Ok(None)) => {
                    self.is_over = true;
                    chunks.extend_from_slice(LAST_CHUNK);
                }
                // The source repeats its answer at the next poll.
                Poll::Ready(Err(_)) | Poll::Pending if !chunks.is_empty() => break,
                Poll::Ready(Err(cut)) => return Poll::Ready(Err(cut)),
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(Ok(Some(chunks.into()).filter(|chunks: &Bytes| !chunks.is_empty())))
    }
}
