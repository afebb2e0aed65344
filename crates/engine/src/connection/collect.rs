//! Reads the whole body of a request before the handler decides about it. The bytes stay in the connection's input, so that the
//! request is then forwarded as if it had just arrived.

use super::{Begun, Connection, Stage};
use crate::core::Buffers;
use crate::kept_bodies::{ROOM_WAIT_MS, Room};
use crate::service::NotKept;
use std::task::{Context, Poll, ready};
use tollgate_http::{Body, BodyReader, Request};

/// Maximum bytes of a body beyond its content: chunk sizes and trailers. A body with one-byte chunks has five such bytes per chunk.
const FRAMING_BYTES_MAX: usize = 64 * 1024;

/// Each piece of this size gets as much time as a head. A client that sends a byte now and then does not extend the wait.
const PIECE_BYTES: usize = 16 * 1024;

/// A request body being read.
pub(super) struct Collected {
    reader: BodyReader,
    content: Vec<u8>,
    content_bytes_max: usize,
    /// Bytes of the connection's input that are parsed.
    seen: usize,
    input_bytes_max: usize,
    /// Expected length of the body; 0 if unknown.
    announced_bytes: usize,
    announces_too_much: bool,
    room: Room,
    /// Coarse time since which the body has waited for memory.
    waits_since_ms: Option<u64>,
}

/// Result of parsing the input.
enum Look {
    /// The body is incomplete.
    More,
    Whole(Vec<u8>),
    TooLarge,
    Malformed,
}

impl Collected {
    fn new(request: &Request<'_>, content_bytes_max: usize, room: Room) -> Self {
        let length = if let Body::Length(bytes) = request.body { bytes } else { 0 };
        Collected {
            reader: BodyReader::new(request.body),
            content: Vec::new(),
            content_bytes_max,
            seen: request.head_len,
            input_bytes_max: request.head_len.saturating_add(content_bytes_max).saturating_add(FRAMING_BYTES_MAX),
            announced_bytes: usize::try_from(length).unwrap_or(usize::MAX),
            announces_too_much: length > content_bytes_max as u64,
            room,
            waits_since_ms: None,
        }
    }

    /// Whether reading may continue: there is memory for the body twice, as received and decoded. Allocates it if the length is
    /// known.
    fn has_room(&mut self, input: &mut Vec<u8>) -> bool {
        // A body whose memory is allocated must not wait again.
        if self.announces_too_much || (self.announced_bytes > 0 && self.content.capacity() >= self.announced_bytes) {
            return true;
        }
        if self.announced_bytes == 0 {
            return self.room.reserve(input.capacity() + self.content.capacity());
        }
        let is_there = self.room.reserve(self.announced_bytes.saturating_mul(2));
        if is_there {
            self.content.reserve_exact(self.announced_bytes);
            input.reserve_exact((self.seen + self.announced_bytes).saturating_sub(input.len()));
        }
        is_there
    }

    /// Whether the body waits until other bodies free their memory.
    pub(super) fn waits(&self) -> bool {
        self.waits_since_ms.is_some()
    }

    fn look(&mut self, input: &[u8]) -> Look {
        let rest = input.get(self.seen..).unwrap_or_default();
        let Ok(used) = self.reader.decode(rest, &mut self.content) else { return Look::Malformed };
        self.seen += used;
        if self.announces_too_much || self.content.len() > self.content_bytes_max {
            Look::TooLarge
        } else if self.reader.is_done() {
            Look::Whole(std::mem::take(&mut self.content))
        } else if input.len() > self.input_bytes_max {
            Look::TooLarge
        } else {
            Look::More
        }
    }
}

impl Connection {
    /// Starts to read the body.
    pub(super) fn collect(&mut self, cx: &mut Context<'_>, request: &Request<'_>, bytes_max: usize) -> Begun {
        let room = Room::none(&self.core.kept_bodies);
        self.enter(Stage::Collect(Box::new(Collected::new(request, bytes_max, room))));
        // A client that expects `100 Continue` would wait forever.
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
        let now_ms = self.core.deadlines.now_ms();
        let Stage::Collect(collected) = &mut self.stage else { return Poll::Ready(()) };
        if !collected.has_room(&mut self.input) {
            let since_ms = *collected.waits_since_ms.get_or_insert(now_ms);
            if now_ms.saturating_sub(since_ms) < ROOM_WAIT_MS {
                return Poll::Pending;
            }
            self.core.stats.kept_bodies_refused.add(1);
            return self.collected(Err(NotKept::NoRoom));
        }
        if collected.waits_since_ms.take().is_some() {
            self.since_ms = now_ms;
        }
        match collected.look(&self.input) {
            Look::Whole(body) => self.collected(Ok(body)),
            Look::TooLarge => self.collected(Err(NotKept::TooLarge)),
            Look::Malformed => {
                self.handler.on_end(self.exchange.ended());
                self.input = Vec::new();
                self.refuse_head(cx, &[], 400, &mut buffers.out);
                Poll::Ready(())
            }
            Look::More => {
                let Poll::Ready(read) = self.client.poll_read(cx, &mut buffers.scratch) else {
                    self.exchange.request.pace.wait(now_ms);
                    return Poll::Pending;
                };
                match read {
                    Ok(read) if read > 0 => {
                        self.exchange.request.pace.go_on(now_ms);
                        self.exchange.request.pace.moved(read as u64, &self.core.limits.upload_min);
                        let pieces = self.input.len() / PIECE_BYTES;
                        self.input.extend_from_slice(buffers.scratch.get(..read).unwrap_or_default());
                        if self.input.len() / PIECE_BYTES > pieces {
                            self.since_ms = now_ms;
                        }
                    }
                    _ => self.enter(Stage::Closed),
                }
                Poll::Ready(())
            }
        }
    }

    /// The request goes on with its body, or without it.
    fn collected(&mut self, body: Result<Vec<u8>, NotKept>) -> Poll<()> {
        self.exchange.request.pace = Default::default();
        if let Stage::Collect(collected) = std::mem::replace(&mut self.stage, Stage::Closed) {
            self.exchange.response.room = Some(collected.room);
        }
        self.enter(Stage::Resume(Some(body)));
        Poll::Ready(())
    }
}
