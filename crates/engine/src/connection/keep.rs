//! Holds a response until its body is complete. It is kept as received, so that an unchanged response is sent as if it had just
//! arrived; a changed one is sent with a `Content-Length`.

use super::relay::HeadStep;
use super::{Connection, WATCH_AFTER_MS};
use crate::core::Buffers;
use crate::fault::{Fault, FaultKind};
use crate::kept_bodies::{ROOM_WAIT_MS, Room};
use crate::service::{KeptBody, Outgoing, ResponseVerdict, Work};
use std::task::Context;
use tollgate_http::{Body, BodyReader, ClientBody, HeaderStorage, Response, write_rewritten};

/// A held response.
pub(super) struct KeptResponse {
    /// Head and body as received.
    input: Vec<u8>,
    head_len: usize,
    /// Finds the end of the body.
    reader: BodyReader,
    /// The decoded body, if the body is chunked.
    content: Vec<u8>,
    content_bytes_max: usize,
    /// Expected length of the body; 0 if unknown.
    announced_bytes: usize,
    /// Unexpected bytes followed the response.
    has_more: bool,
    /// Coarse time since which the response has waited for memory.
    waits_since_ms: Option<u64>,
    /// What the complete response waits for, and the coarse time at which the wait ends.
    work: Option<(Work, u64)>,
}

impl KeptResponse {
    fn new(response: &Response<'_>, head: &[u8], content_bytes_max: usize) -> Self {
        let length = if let Body::Length(bytes) = response.body { bytes } else { 0 };
        KeptResponse {
            input: head.to_vec(),
            head_len: head.len(),
            reader: BodyReader::new(response.body),
            content: Vec::new(),
            content_bytes_max,
            announced_bytes: usize::try_from(length).unwrap_or(usize::MAX),
            has_more: false,
            waits_since_ms: None,
            work: None,
        }
    }

    fn add(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let used = match self.reader {
            BodyReader::Chunked(_) => self.reader.decode(bytes, &mut self.content),
            _ => self.reader.feed(bytes),
        };
        let used = used.map_err(|malformed| Fault::new(FaultKind::UpstreamMalformed(malformed)))?;
        self.has_more |= used < bytes.len();
        self.input.extend_from_slice(bytes.get(..used).unwrap_or_default());
        Ok(())
    }

    fn content(&self) -> &[u8] {
        // For a chunked body, `content` is filled from the first byte on.
        if self.content.is_empty() { self.input.get(self.head_len..).unwrap_or_default() } else { &self.content }
    }

    fn is_too_large(&self) -> bool {
        self.announced_bytes > self.content_bytes_max || self.content().len() > self.content_bytes_max
    }

    /// Whether reading may continue. Allocates the memory if the length is known.
    fn has_room(&mut self, room: &mut Room) -> bool {
        if self.announced_bytes == 0 || self.is_too_large() {
            return room.reserve(self.input.capacity() + self.content.capacity());
        }
        let whole = self.head_len + self.announced_bytes;
        // A response whose memory is allocated must not wait again.
        let is_there = self.input.capacity() >= whole || room.reserve(whole);
        if is_there {
            self.input.reserve_exact(whole.saturating_sub(self.input.len()));
        }
        is_there
    }
}

impl Connection {
    /// Holds a response for which the handler did not return `Pass`. `out` may contain interim responses.
    #[cold]
    pub(super) fn hold_response(
        &mut self,
        verdict: ResponseVerdict,
        response: &Response<'_>,
        head: &[u8],
        outgoing: &mut Outgoing,
        out: &mut Vec<u8>,
    ) -> HeadStep {
        self.exchange.upstream.keep_alive = response.keep_alive;
        match verdict {
            ResponseVerdict::Keep(bytes_max) => {
                self.exchange.response.body = Some(BodyReader::new(response.body));
                self.exchange.response.kept = Some(Box::new(KeptResponse::new(response, head, bytes_max)));
                HeadStep::Used(response.head_len)
            }
            ResponseVerdict::Reply => HeadStep::Replaced(response.body == Body::None),
            ResponseVerdict::Again => HeadStep::Again(response.body == Body::None),
            ResponseVerdict::Detach => {
                self.exchange.response.body = Some(BodyReader::new(response.body));
                HeadStep::Detached(response.head_len)
            }
            _ => {
                self.rewrite_response(response, response.body == Body::None, outgoing, out);
                if self.exchange.response.coded.is_none() {
                    out.extend_from_slice(self.rewritten_body(outgoing));
                }
                HeadStep::Used(response.head_len)
            }
        }
    }

    /// Keeps those of `bytes` that belong to the body.
    pub(super) fn keep_body(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
        out: &mut Vec<u8>,
        outgoing: &mut Outgoing,
        lines: &mut HeaderStorage,
    ) -> Result<(), Fault> {
        let Some(mut kept) = self.exchange.response.kept.take() else { return Ok(()) };
        kept.add(bytes)?;
        self.exchange.response.body = Some(kept.reader);
        self.look_at_kept(cx, kept, out, outgoing, lines)
    }

    /// The upstream closed the connection, which ends a body without a length.
    pub(super) fn end_kept(&mut self, cx: &mut Context<'_>, buffers: &mut Buffers) -> Result<(), Fault> {
        let Some(mut kept) = self.exchange.response.kept.take() else { return Ok(()) };
        kept.reader = BodyReader::Done;
        self.exchange.upstream.keep_alive = false;
        let Buffers { out, outgoing, lines, .. } = buffers;
        out.clear();
        self.look_at_kept(cx, kept, out, outgoing, lines)
    }

    /// Whether the held response may be read on. `buffers` are used when its wait for memory times out.
    pub(super) fn has_room_to_keep(&mut self, cx: &mut Context<'_>, buffers: &mut Buffers) -> Result<bool, Fault> {
        let Some(kept) = &mut self.exchange.response.kept else { return Ok(true) };
        let room = self.exchange.response.room.get_or_insert_with(|| Room::none(&self.core.kept_bodies));
        let now_ms = self.core.deadlines.now_ms();
        if kept.has_room(room) {
            if kept.waits_since_ms.take().is_some() {
                self.since_ms = now_ms;
            }
            return Ok(true);
        }
        let since_ms = *kept.waits_since_ms.get_or_insert(now_ms);
        if now_ms.saturating_sub(since_ms) >= ROOM_WAIT_MS {
            self.core.stats.kept_bodies_refused.add(1);
            let Some(kept) = self.exchange.response.kept.take() else { return Ok(false) };
            let Buffers { out, outgoing, lines, .. } = buffers;
            out.clear();
            self.hand_over_kept(cx, kept, KeptExtent::NoRoom, out, outgoing, lines)?;
        }
        Ok(false)
    }

    /// Whether the held response waits until other bodies free their memory.
    pub(super) fn kept_waits(&self) -> bool {
        self.exchange.response.kept.as_ref().is_some_and(|kept| kept.waits_since_ms.is_some())
    }

    /// Whether the held response waits for work.
    pub(super) fn kept_works(&self) -> bool {
        self.exchange.response.kept.as_ref().is_some_and(|kept| kept.work.is_some())
    }

    /// When to look at a response that waits for work, in coarse time: at the end of its time, and once before for the client.
    pub(super) fn kept_work_due_ms(&self) -> u64 {
        let end_ms = self.exchange.response.kept.as_ref().and_then(|kept| kept.work.as_ref()).map_or(0, |(_, end_ms)| *end_ms);
        if self.exchange.response.watches_client { end_ms } else { end_ms.min(self.since_ms.saturating_add(WATCH_AFTER_MS)) }
    }

    /// Continues with a response whose work is done or out of time. Returns `false` if it still waits.
    pub(super) fn end_kept_work(&mut self, cx: &mut Context<'_>, buffers: &mut Buffers) -> Result<bool, Fault> {
        let now_ms = self.core.deadlines.now_ms();
        let Some(kept) = &mut self.exchange.response.kept else { return Ok(true) };
        if let Some((work, end_ms)) = &mut kept.work
            && now_ms < *end_ms
            && work.as_mut().poll(cx).is_pending()
        {
            return Ok(false);
        }
        kept.work = None;
        let Some(kept) = self.exchange.response.kept.take() else { return Ok(true) };
        let Buffers { out, outgoing, lines, .. } = buffers;
        out.clear();
        self.hand_over_kept(cx, kept, KeptExtent::Whole, out, outgoing, lines)?;
        Ok(true)
    }

    fn look_at_kept(
        &mut self,
        cx: &mut Context<'_>,
        kept: Box<KeptResponse>,
        out: &mut Vec<u8>,
        outgoing: &mut Outgoing,
        lines: &mut HeaderStorage,
    ) -> Result<(), Fault> {
        // A body that is too large is not read to its end, even if that has arrived.
        let state = if kept.is_too_large() { KeptExtent::Part } else { KeptExtent::Whole };
        if kept.reader.is_done() || matches!(state, KeptExtent::Part) {
            return self.hand_over_kept(cx, kept, state, out, outgoing, lines);
        }
        self.exchange.response.kept = Some(kept);
        Ok(())
    }

    /// Lets the handler decide about the held response.
    fn hand_over_kept(
        &mut self,
        cx: &mut Context<'_>,
        mut kept: Box<KeptResponse>,
        state: KeptExtent,
        out: &mut Vec<u8>,
        outgoing: &mut Outgoing,
        lines: &mut HeaderStorage,
    ) -> Result<(), Fault> {
        let (head, body) = kept.input.split_at_checked(kept.head_len).unwrap_or_default();
        // The same bytes were parsed before, so this cannot fail.
        let Ok(Some(response)) = Response::parse(head, self.exchange.upstream.is_asked_for_head, lines) else {
            return Err(Fault::new(FaultKind::UpstreamClosed));
        };
        let content = kept.content();
        let part = content.get(..kept.content_bytes_max).unwrap_or(content);
        let shown = match state {
            KeptExtent::Whole => KeptBody::Whole(content),
            KeptExtent::Part => KeptBody::Part(part),
            KeptExtent::NoRoom => KeptBody::NoRoom,
        };
        outgoing.edits.clear();
        let is_read = kept.reader.is_done();
        let verdict = self.handler.on_response_body(&response, shown, outgoing);
        self.exchange.response.take_coder(verdict, outgoing);
        match verdict {
            ResponseVerdict::Keep(bytes_max) if !is_read && matches!(state, KeptExtent::Part) => {
                kept.content_bytes_max = bytes_max;
                self.look_at_kept(cx, kept, out, outgoing, lines)
            }
            ResponseVerdict::Await => {
                let (work, time_max) =
                    outgoing.work.take().filter(|_| is_read).ok_or_else(|| Fault::new(FaultKind::UpstreamClosed))?;
                self.since_ms = self.core.deadlines.now_ms();
                kept.work = Some((work, self.since_ms.saturating_add(time_max.as_millis() as u64)));
                self.exchange.response.kept = Some(kept);
                Ok(())
            }
            ResponseVerdict::Rewrite => {
                self.exchange.upstream.keep_alive &= !kept.has_more;
                self.rewrite_response(&response, is_read, outgoing, out);
                if self.exchange.response.coded.is_some() {
                    return self.send_coded(cx, true, out);
                }
                let body = self.rewritten_body(outgoing);
                self.send_to_client(cx, out, body)
            }
            ResponseVerdict::Reply => {
                self.exchange.upstream.keep_alive &= !kept.has_more;
                self.reply_instead(cx, is_read, outgoing, out);
                Ok(())
            }
            verdict => {
                let ended_by_closing = is_read && response.body == Body::UntilClose;
                self.exchange.response.is_watched = verdict == ResponseVerdict::Watch;
                let status = if outgoing.status == 0 { response.status } else { outgoing.status };
                let response = if status == response.status { response } else { response.with_status(status) };
                self.start_response(&response, &outgoing.edits, out);
                self.exchange.upstream.keep_alive &= !kept.has_more;
                self.relay_body(cx, body, out)?;
                if ended_by_closing { self.end_until_close(cx) } else { Ok(()) }
            }
        }
    }

    /// Writes the response head for a body that the handler replaced. `is_read`: the upstream's own body was read completely.
    fn rewrite_response(&mut self, response: &Response<'_>, is_read: bool, outgoing: &mut Outgoing, out: &mut Vec<u8>) {
        let exchange = &mut self.exchange;
        exchange.upstream.keep_alive &= is_read;
        exchange.response.is_started = true;
        exchange.response.body = Some(BodyReader::Done);
        exchange.response.framing = ClientBody::AsIs;
        exchange.request.keep_alive &= !exchange.request.is_unwanted
            && (exchange.request.body.is_done() || exchange.request.body_bytes > 0)
            && !self.core.draining.get();
        let connection = exchange.connection_line(!exchange.request.keep_alive);
        let status = if outgoing.status == 0 { response.status } else { outgoing.status };
        let room = outgoing.body.len();
        let is_coded = exchange.response.coded.is_some();
        if let Some(coded) = &mut exchange.response.coded {
            outgoing.edits.add_lines(b"Transfer-Encoding: chunked\r\n");
            coded.take_content(&mut outgoing.body);
        }
        let body_bytes = if is_coded || matches!(status, 204 | 304) { None } else { Some(outgoing.body.len()) };
        let edits = &outgoing.edits;
        self.core.with_date_line_of(response, edits, |date| {
            write_rewritten(response, status, edits, date, connection, body_bytes, out);
        });
        // The body stays in memory until the client has taken it.
        exchange.response.room.get_or_insert_with(|| Room::none(&self.core.kept_bodies)).set(room);
    }

    /// The bytes of the replacement body to send: none if the response cannot have a body.
    fn rewritten_body<'o>(&self, outgoing: &'o Outgoing) -> &'o [u8] {
        if self.exchange.request.is_head || matches!(outgoing.status, 204 | 304) { b"" } else { &outgoing.body }
    }

    /// Sends the handler's own response instead of the upstream's.
    pub(super) fn reply_instead(&mut self, cx: &mut Context<'_>, is_read: bool, outgoing: &mut Outgoing, out: &mut Vec<u8>) {
        self.give_back_upstream(is_read);
        self.exchange.response.body = None;
        self.reply(cx, outgoing, out);
    }

    /// Sends the request again, as it was kept for that, because the response is of no use.
    pub(super) fn ask_again(&mut self, is_read: bool) -> Result<(), Fault> {
        let replay = std::mem::take(&mut self.exchange.request.replay);
        if replay.is_empty() {
            return Err(Fault::with(FaultKind::UpstreamClosed, "it confirmed another version than it was asked about"));
        }
        self.give_back_upstream(is_read);
        self.exchange.response.body = None;
        self.exchange.upstream.is_heard = false;
        self.exchange.upstream.outbox.put(&replay);
        self.core.give_back(replay);
        self.start_dial();
        Ok(())
    }

    /// Releases the upstream connection. `is_read`: the response is complete, so the connection can be used again.
    pub(super) fn give_back_upstream(&mut self, is_read: bool) {
        let upstream = self.exchange.upstream.connection.take();
        let can_stay = is_read && self.exchange.upstream.keep_alive && self.exchange.request.body.is_done();
        if let Some(upstream) = upstream.filter(|_| can_stay && self.exchange.upstream.outbox.is_empty()) {
            self.core.pool.borrow_mut().put(upstream, self.core.deadlines.now_ms(), &self.core.limits);
        }
    }
}

/// How much of a held body is passed to the handler.
enum KeptExtent {
    Whole,
    Part,
    NoRoom,
}
