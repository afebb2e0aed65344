//! Reading a request's whole body before it is decided about. What was read stays in the connection's input, from which the request goes
//! on as if it had just come.

use super::{Begun, Connection, Stage};
use crate::core::Buffers;
use crate::kept_bodies::{ROOM_WAIT_MS, Room};
use crate::service::NotKept;
use std::task::{Context, Poll, ready};
use tollgate_http::{Body, BodyReader, Request};

/// Bytes of a body beyond its content: sizes of chunks, trailers. A body in chunks of one byte has five such bytes for each.
const FRAMING_BYTES_MAX: usize = 64 * 1024;

/// Each piece of this size has as long as a head. A byte now and then does not make a body wait longer.
const PIECE_BYTES: usize = 16 * 1024;

/// A body on its way.
pub(super) struct Collected {
    reader: BodyReader,
    content: Vec<u8>,
    content_bytes_max: usize,
    /// Bytes of the connection's input that were looked at.
    seen: usize,
    input_bytes_max: usize,
    /// Bytes that it will have, as far as that is known.
    announced_bytes: usize,
    announces_too_much: bool,
    room: Room,
    /// Since when it waits for room, in coarse time.
    waits_since_ms: Option<u64>,
}

/// What became of it.
enum Look {
    /// Something is missing.
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

    /// Whether it may be read on: there is room for it twice, as it came and without its framing. A body of known length then has the memory.
    fn has_room(&mut self, input: &mut Vec<u8>) -> bool {
        // Who has room for the whole must not wait for more.
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

    /// It is not read until others are gone.
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
    /// Begins to read the body.
    pub(super) fn collect(&mut self, cx: &mut Context<'_>, request: &Request<'_>, bytes_max: usize) -> Begun {
        let room = Room::none(&self.core.kept_bodies);
        self.enter(Stage::Collect(Box::new(Collected::new(request, bytes_max, room))));
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
                    self.exchange.upload.wait(now_ms);
                    return Poll::Pending;
                };
                match read {
                    Ok(read) if read > 0 => {
                        self.exchange.upload.go_on(now_ms);
                        self.exchange.upload.moved(read as u64, &self.core.limits.upload_min);
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

    /// Hands the body over, and the request is decided about once more.
    fn collected(&mut self, body: Result<Vec<u8>, NotKept>) -> Poll<()> {
        self.handler.on_body(body);
        self.exchange.upload = Default::default();
        if let Stage::Collect(collected) = std::mem::replace(&mut self.stage, Stage::Closed) {
            self.exchange.room = Some(collected.room);
        }
        self.enter(Stage::Head { unread: true });
        Poll::Ready(())
    }
}
