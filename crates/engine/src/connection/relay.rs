//! The middle of an exchange: the request's body goes up while the response comes down, each at the speed of its receiver.

use super::{AHEAD_BYTES_MAX, Connection, Stage};
use crate::core::Buffers;
use crate::deadlines::NEVER;
use crate::fault::{Fault, FaultKind};
use crate::outbox::Outbox;
use crate::service::{Outgoing, Resend, ResponseVerdict, Retarget, TryEnd};
use crate::stream::Stream;
use crate::tunnel::{Tunnel, TunnelInspection};
use std::io;
use std::task::{Context, Poll, ready};
use tollgate_http::{
    Body, BodyReader, ClientBody, HeaderEdits, HeaderStorage, KnownHeader, LAST_CHUNK, Malformed, RepairedHead, Response,
    repair_head, write_chunk, write_response,
};

/// A response body that arrived with its head is copied after the head up to this size; a larger one is sent with a vectored write.
const COPY_BYTES_MAX: usize = 4 * 1024;

/// Minimum bytes to read from a response at once. If an HTTP/2 stream has no room for them, they are buffered and reading stops.
const READ_BYTES_MIN: usize = 1024;

/// Heads in one read that are repaired: interim ones and the final one. Each repair copies what follows it.
const REPAIRS_MAX: usize = 4;

/// The head that a fault is about in a form that can be read, if the RFC allows to mend it.
#[cold]
fn repair(fault: &Fault, bytes: &[u8]) -> RepairedHead {
    match fault.kind {
        FaultKind::UpstreamMalformed(Malformed::Syntax | Malformed::BareLf) => repair_head(bytes),
        _ => RepairedHead::Unrepaired,
    }
}

/// Result of one attempt to move bytes.
pub(super) enum RelayStep {
    Nothing,
    Something,
}

/// Result of processing a response head.
pub(super) enum HeadStep {
    Incomplete,
    /// Consumed this many bytes; the relay continues.
    Used(usize),
    /// The protocol switches; consumed this many bytes.
    Switch(usize),
    /// The handler's own response replaces it. True if the upstream's response was read completely.
    Replaced(bool),
    /// As `Replaced`, and the body is read without the client; bytes used.
    Detached(usize),
    /// The request is sent again. `true`: the response is complete.
    Again(bool),
    /// The request is sent again, perhaps to another upstream. `true`: the response is complete.
    Resend(bool, Resend, Retarget),
}

impl Connection {
    pub(super) fn poll_relay(&mut self, cx: &mut Context<'_>, buffers: &mut Buffers) -> Poll<()> {
        loop {
            ready!(self.turn.poll_step(cx));
            let up = self.move_request(cx, buffers);
            let down = up.and_then(|up| {
                if !matches!(self.stage, Stage::Relay) {
                    return Ok((up, RelayStep::Nothing));
                }
                if self.exchange.upstream.hedge.is_some() && self.poll_hedge(cx, buffers)? {
                    return Ok((up, RelayStep::Something));
                }
                self.move_response(cx, buffers).map(|down| (up, down))
            });
            match down {
                Err(fault) => self.fail(cx, fault, &mut buffers.out, &mut buffers.outgoing),
                Ok((RelayStep::Nothing, RelayStep::Nothing)) if matches!(self.stage, Stage::Relay) => return Poll::Pending,
                // Parts of a head and interim responses do not count as progress: the final head is awaited.
                Ok((RelayStep::Nothing, RelayStep::Something)) if self.exchange.response.body.is_none() => {}
                Ok(_) => self.since_ms = self.core.deadlines.now_ms(),
            }
            if !matches!(self.stage, Stage::Relay) {
                return Poll::Ready(());
            }
        }
    }

    /// Moves bytes of the request towards the upstream, or watches for a client disconnect.
    fn move_request(&mut self, cx: &mut Context<'_>, buffers: &mut Buffers) -> Result<RelayStep, Fault> {
        let exchange = &mut self.exchange;
        if !exchange.upstream.outbox.is_empty()
            && let Some(upstream) = &mut exchange.upstream.connection
        {
            match exchange.upstream.outbox.poll_flush(cx, &mut upstream.stream) {
                Poll::Pending => return Ok(RelayStep::Nothing),
                Poll::Ready(Ok(())) => {
                    self.free_sent_body();
                    return Ok(RelayStep::Something);
                }
                Poll::Ready(Err(_)) => {
                    // The upstream may have responded before it closed: the response side will find out.
                    exchange.upstream.outbox.clear();
                    exchange.request.is_unwanted = true;
                }
            }
        }
        if exchange.is_sent() {
            return self.watch_client(cx, buffers);
        }
        let ahead = std::mem::take(&mut self.input);
        let (read, from_input) = if ahead.is_empty() {
            match self.client.poll_read(cx, &mut buffers.scratch) {
                Poll::Pending => {
                    exchange.request.pace.wait(self.core.deadlines.now_ms());
                    return Ok(RelayStep::Nothing);
                }
                Poll::Ready(Ok(read)) if read > 0 => {
                    exchange.request.pace.go_on(self.core.deadlines.now_ms());
                    exchange.request.pace.moved(read as u64, &self.core.limits.upload_min);
                    (read, false)
                }
                Poll::Ready(Ok(_)) => return Err(Fault::new(FaultKind::ClientGone)),
                Poll::Ready(Err(error)) => return Err(Fault::with(FaultKind::ClientGone, error)),
            }
        } else {
            (ahead.len(), true)
        };
        self.turn.moved(read);
        let bytes = if from_input { ahead.as_slice() } else { buffers.scratch.get(..read).unwrap_or_default() };
        let (out, handler) = (&mut buffers.out, &self.handler);
        out.clear();
        let passes = |name: &str| handler.passes_request_trailer(name);
        let relayed = exchange.request.body.relay(bytes, &mut exchange.request.trailers, passes, out);
        let (used, body) = relayed.map_err(|malformed| Fault::new(FaultKind::BodyMalformed(malformed)))?;
        exchange.count_body(used).map_err(|()| Fault::new(FaultKind::BodyTooLarge))?;
        let (came, next) = bytes.split_at_checked(used).unwrap_or_default();
        if let Some(capture) = &mut exchange.capture {
            capture.add_request(came);
        }
        if let Some(kept) = &mut exchange.request.kept {
            kept.add(out);
            kept.add(body);
        }
        if let Some(upstream) = &mut exchange.upstream.connection
            && !(out.is_empty() && body.is_empty())
            && exchange.upstream.outbox.send(cx, &mut upstream.stream, out, body).is_err()
        {
            exchange.upstream.outbox.clear();
            exchange.request.is_unwanted = true;
        }
        if !next.is_empty() {
            self.input.extend_from_slice(next);
        }
        Ok(RelayStep::Something)
    }

    /// When the client falls below the minimum speed for sending its body or taking the response, in coarse time. Once the response
    /// has begun, the rest of the request's body may be a conversation and has no minimum speed.
    #[inline]
    pub(super) fn pace_end_ms(&self) -> u64 {
        let (exchange, limits) = (&self.exchange, &self.core.limits);
        let is_upload = exchange.response.body.is_none() && !exchange.request.converses;
        let upload = exchange.request.pace.due_ms(&limits.upload_min).filter(|_| is_upload);
        let download = exchange.response.pace.due_ms(&limits.download_min);
        upload.unwrap_or(NEVER).min(download.unwrap_or(NEVER))
    }

    /// Checks how much of the written data the client has acknowledged, rather than what the kernel buffers for it.
    #[cold]
    pub(super) fn look_at_client(&mut self) {
        let now_ms = self.core.deadlines.now_ms();
        let left = self.client.unacknowledged().unwrap_or(0).saturating_add(self.to_client.len() as u64);
        self.looks.look(now_ms, self.since_ms, left);
        let taken = self.exchange.response.bytes.saturating_sub(left);
        self.exchange.response.pace.moved_to(taken, &self.core.limits.download_min, now_ms);
    }

    /// While the upstream or a source works: notices a client disconnect and buffers pipelined bytes.
    pub(super) fn watch_client(&mut self, cx: &mut Context<'_>, buffers: &mut Buffers) -> Result<RelayStep, Fault> {
        if !self.exchange.response.watches_client || self.exchange.request.is_unwanted || self.input.len() >= AHEAD_BYTES_MAX {
            return Ok(RelayStep::Nothing);
        }
        match self.client.poll_read(cx, &mut buffers.scratch) {
            Poll::Pending => Ok(RelayStep::Nothing),
            Poll::Ready(Ok(read)) if read > 0 => {
                self.input.extend_from_slice(buffers.scratch.get(..read).unwrap_or_default());
                // Pipelined bytes are no progress of this exchange: its time limit is unchanged.
                self.watch_client(cx, buffers)
            }
            Poll::Ready(Ok(_)) => Err(Fault::new(FaultKind::ClientGone)),
            Poll::Ready(Err(error)) => Err(Fault::with(FaultKind::ClientGone, error)),
        }
    }

    /// Moves bytes of the response towards the client.
    fn move_response(&mut self, cx: &mut Context<'_>, buffers: &mut Buffers) -> Result<RelayStep, Fault> {
        if !self.to_client.is_empty() {
            match self.to_client.poll_flush(cx, &mut self.client) {
                Poll::Pending => {
                    self.exchange.response.pace.wait(self.core.deadlines.now_ms());
                    return Ok(RelayStep::Nothing);
                }
                Poll::Ready(Ok(())) => {
                    let now_ms = self.core.deadlines.now_ms();
                    self.exchange.response.pace.go_on(now_ms);
                    // The body was not read meanwhile: the upstream's time for it starts anew.
                    if self.exchange.response.body.is_some() {
                        self.since_ms = now_ms;
                    }
                }
                Poll::Ready(Err(error)) => return Err(Fault::with(FaultKind::ClientGone, error)),
            }
        }
        if self.exchange.response.kept.is_some() && self.kept_works() {
            let goes_on = self.end_kept_work(cx, buffers)?;
            return Ok(if goes_on { RelayStep::Something } else { RelayStep::Nothing });
        }
        if self.exchange.response.coded.is_some()
            && let Some(step) = self.poll_coded(cx, buffers)?
        {
            return Ok(step);
        }
        if self.exchange.response.body.is_some_and(|body| body.is_done()) {
            self.finish();
            return Ok(RelayStep::Something);
        }
        if self.exchange.response.kept.is_some() && !self.has_room_to_keep(cx, buffers)? {
            let is_over = self.exchange.response.kept.is_none();
            return Ok(if is_over { RelayStep::Something } else { RelayStep::Nothing });
        }
        let coded_max = self.coded_read_max();
        let Some(upstream) = &mut self.exchange.upstream.connection else { return Ok(RelayStep::Nothing) };
        // Bytes that the client's side does not accept would have to be buffered here.
        let read_max = self.client.wanted().clamp(READ_BYTES_MIN, buffers.scratch.len()).min(coded_max);
        let read = match upstream.stream.poll_read(cx, buffers.scratch.get_mut(..read_max).unwrap_or_default()) {
            Poll::Pending if self.exchange.response.coded.is_some() && self.flush_coded(cx, false, &mut buffers.out)? => {
                return Ok(RelayStep::Something);
            }
            Poll::Pending => return Ok(RelayStep::Nothing),
            Poll::Ready(Ok(read)) if read > 0 => read,
            Poll::Ready(end) => return self.upstream_ended(cx, end.map(|_| ()), buffers).map(|()| RelayStep::Something),
        };
        self.turn.moved(read);
        self.exchange.upstream.is_heard = true;
        let Buffers { scratch, out, outgoing, lines } = buffers;
        let bytes = scratch.get(..read).unwrap_or_default();
        out.clear();
        if self.exchange.response.kept.is_some() {
            self.keep_body(cx, bytes, out, outgoing, lines)?;
        } else if self.exchange.response.body.is_some() {
            out.append(&mut self.exchange.response.held_head);
            self.relay_body(cx, bytes, out)?;
        } else if self.exchange.response.input.is_empty() {
            self.relay_head(cx, bytes, out, outgoing, lines)?;
        } else {
            let mut input = std::mem::take(&mut self.exchange.response.input);
            input.extend_from_slice(bytes);
            self.relay_head(cx, &input, out, outgoing, lines)?;
        }
        self.finish_if_done();
        Ok(RelayStep::Something)
    }

    /// Ends the exchange if its response is complete and sent.
    pub(super) fn finish_if_done(&mut self) {
        let is_read = self.exchange.response.kept.is_none() && self.exchange.is_answered();
        if self.to_client.is_empty() && is_read {
            self.finish();
        }
    }

    /// Processes `bytes`, which start with one or more response heads: interim ones (1xx) come first.
    pub(super) fn relay_head(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
        out: &mut Vec<u8>,
        outgoing: &mut Outgoing,
        lines: &mut HeaderStorage,
    ) -> Result<(), Fault> {
        let mut repaired;
        let mut repairs = 0;
        let mut rest = bytes;
        loop {
            let step = match self.response_head(rest, out, outgoing, lines) {
                Err(fault) if repairs < REPAIRS_MAX => match repair(&fault, rest) {
                    RepairedHead::Unrepaired => return Err(fault),
                    RepairedHead::Incomplete if rest.len() < self.core.limits.head_bytes_max => HeadStep::Incomplete,
                    RepairedHead::Incomplete => return Err(Fault::new(FaultKind::UpstreamHeadTooLarge)),
                    RepairedHead::Head(mut head, used) => {
                        head.extend_from_slice(rest.get(used..).unwrap_or_default());
                        repairs += 1;
                        repaired = head;
                        rest = &repaired;
                        continue;
                    }
                },
                step => step?,
            };
            match step {
                HeadStep::Incomplete => {
                    self.exchange.response.input = rest.to_vec();
                    return self.send_to_client(cx, out, &[]);
                }
                HeadStep::Used(used) => rest = rest.get(used..).unwrap_or_default(),
                HeadStep::Switch(used) => {
                    return self.switch(cx, out, rest.get(used..).unwrap_or_default());
                }
                HeadStep::Replaced(is_read) => {
                    // Sends the interim responses first.
                    self.send_to_client(cx, out, &[])?;
                    self.reply_instead(cx, is_read, outgoing, out);
                    return Ok(());
                }
                HeadStep::Detached(used) => {
                    self.send_to_client(cx, out, &[])?;
                    return self.detach_response(cx, rest.get(used..).unwrap_or_default(), outgoing, out);
                }
                HeadStep::Again(is_read) => {
                    self.send_to_client(cx, out, &[])?;
                    return self.ask_again(is_read);
                }
                HeadStep::Resend(is_read, resend, retarget) => {
                    self.give_back_upstream(is_read);
                    self.resend(resend, &retarget);
                    return Ok(());
                }
            }
            if self.exchange.response.kept.is_some() {
                self.send_to_client(cx, out, &[])?;
                out.clear();
                return self.keep_body(cx, rest, out, outgoing, lines);
            }
            if self.exchange.response.body.is_some() {
                if rest.is_empty() && self.holds_head() {
                    self.exchange.response.held_head.extend_from_slice(out);
                    return Ok(());
                }
                self.relay_body(cx, rest, out)?;
                self.exchange.times.at_once = self.exchange.response.body.is_some_and(|body| body.is_done());
                return Ok(());
            }
        }
    }

    /// Whether the head waits for a small body, because some servers send the two separately. Sending them at once saves a TLS
    /// record.
    fn holds_head(&self) -> bool {
        let is_small = matches!(self.exchange.response.body, Some(BodyReader::Length(left)) if left <= COPY_BYTES_MAX as u64);
        is_small
            && matches!(self.client, Stream::Tls(_) | Stream::Pipe(_))
            && !self.exchange.request.is_head
            && !self.exchange.request.is_http10
    }

    /// Sends the held head, if there is one.
    pub(super) fn send_held_head(&mut self, cx: &mut Context<'_>) -> Result<(), Fault> {
        let head = std::mem::take(&mut self.exchange.response.held_head);
        self.send_to_client(cx, &head, &[])
    }

    fn response_head(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        outgoing: &mut Outgoing,
        lines: &mut HeaderStorage,
    ) -> Result<HeadStep, Fault> {
        let head_bytes_max = self.core.limits.head_bytes_max;
        let exchange = &mut self.exchange;
        let response = match Response::parse(bytes, exchange.upstream.is_asked_for_head, lines) {
            Ok(Some(response)) if response.head_len <= head_bytes_max => response,
            Ok(None) if bytes.len() < head_bytes_max => return Ok(HeadStep::Incomplete),
            Ok(_) => return Err(Fault::new(FaultKind::UpstreamHeadTooLarge)),
            Err(malformed) => return Err(Fault::new(FaultKind::UpstreamMalformed(malformed))),
        };
        outgoing.edits.clear();
        if response.status < 200 && response.status != 101 {
            if !exchange.request.is_http10 {
                write_response(&response, &outgoing.edits, b"", b"", ClientBody::AsIs, out);
            }
            return Ok(HeadStep::Used(response.head_len));
        }
        if response.status == 101 && !(exchange.tunnel.is_wanted && response.upgrade.is_some()) {
            return Err(Fault::with(FaultKind::UpstreamClosed, "it switched protocols without being asked"));
        }
        if exchange.request.kept.is_some() && response.status != 101 && out.is_empty() && self.can_resend() {
            let mut retarget = Retarget::default();
            if let Some(resend) = self.handler.on_try_ended(&TryEnd::Response(&response), &mut retarget) {
                self.exchange.upstream.keep_alive = response.keep_alive && response.head_len == bytes.len();
                return Ok(HeadStep::Resend(response.body == Body::None, resend, retarget));
            }
        }
        let exchange = &mut self.exchange;
        exchange.times.answered_at = exchange.clock();
        let verdict = self.handler.on_response(&response, outgoing);
        exchange.response.take_coder(verdict, outgoing);
        if verdict != ResponseVerdict::Pass && response.status != 101 {
            if verdict != ResponseVerdict::Watch {
                let head = bytes.get(..response.head_len).unwrap_or_default();
                return Ok(self.hold_response(verdict, &response, head, outgoing, out));
            }
            exchange.response.is_watched = true;
            if outgoing.status != 0 {
                return Ok(self.start_response(&response.with_status(outgoing.status), &outgoing.edits, out));
            }
        }
        Ok(self.start_response(&response, &outgoing.edits, out))
    }

    /// Writes the head of a response that passes.
    #[inline]
    pub(super) fn start_response(&mut self, response: &Response<'_>, edits: &HeaderEdits, out: &mut Vec<u8>) -> HeadStep {
        let exchange = &mut self.exchange;
        exchange.response.is_started = true;
        exchange.response.framing = match response.body {
            _ if exchange.response.coded.is_some() => ClientBody::Chunked,
            Body::Chunked if exchange.request.is_http10 => ClientBody::Unchunked,
            Body::UntilClose if !exchange.request.is_http10 && !exchange.request.is_head => ClientBody::Chunked,
            _ if exchange.upstream.is_asked_for_head && !exchange.request.is_head => ClientBody::Empty,
            _ => ClientBody::AsIs,
        };
        let has_no_end = matches!(response.body, Body::Chunked | Body::UntilClose);
        exchange.response.is_event_stream = has_no_end
            && response.headers.known(KnownHeader::ContentType).is_some_and(|kind| kind.starts_with(b"text/event-stream"));
        let ends_connection = match exchange.response.framing {
            ClientBody::Unchunked => true,
            ClientBody::AsIs => response.body == Body::UntilClose,
            ClientBody::Chunked | ClientBody::Empty => false,
        };
        exchange.upstream.keep_alive = response.keep_alive;
        // Unless the request is complete, it is not certain that another one can follow on this connection.
        exchange.request.keep_alive &= !ends_connection
            && !exchange.request.is_unwanted
            && (exchange.request.body.is_done() || exchange.request.body_bytes > 0)
            && !self.core.draining.get();
        let connection = exchange.connection_line(!exchange.request.keep_alive);
        let client_body = exchange.response.framing;
        self.core.with_date_line_of(response, edits, |date| write_response(response, edits, date, connection, client_body, out));
        if response.status == 101 {
            return HeadStep::Switch(response.head_len);
        }
        exchange.response.body = Some(BodyReader::new(response.body));
        HeadStep::Used(response.head_len)
    }

    /// Sends `out`, which may contain a head, and the part of `bytes` that belongs to the response's body.
    pub(super) fn relay_body(&mut self, cx: &mut Context<'_>, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        if self.exchange.response.is_watched {
            self.show_body(bytes)?;
        }
        if self.exchange.response.coded.is_some() {
            return self.relay_coded(cx, bytes, out);
        }
        let malformed = |malformed| Fault::new(FaultKind::UpstreamMalformed(malformed));
        let Some(reader) = &mut self.exchange.response.body else { return Ok(()) };
        if self.exchange.response.framing == ClientBody::Unchunked {
            let used = reader.decode(bytes, out).map_err(malformed)?;
            self.exchange.upstream.keep_alive &= used == bytes.len();
            return self.send_to_client(cx, out, &[]);
        }
        // The client sent HEAD and the upstream got another method: the body is not for the client.
        if self.exchange.request.is_head {
            let used = reader.feed(bytes).map_err(malformed)?;
            self.exchange.upstream.keep_alive &= used == bytes.len();
            return self.send_to_client(cx, out, &[]);
        }
        let handler = &self.handler;
        let passes = |name: &str| handler.passes_response_trailer(name);
        let (used, body) = reader.relay(bytes, &mut self.exchange.response.trailers, passes, out).map_err(malformed)?;
        // Unexpected bytes after a response: the upstream connection is not reused.
        self.exchange.upstream.keep_alive &= used == bytes.len();
        if self.exchange.response.framing == ClientBody::Chunked {
            write_chunk(body, out);
            return self.send_to_client(cx, out, &[]);
        }
        if out.is_empty() {
            self.send_to_client(cx, body, &[])
        } else if body.len() <= COPY_BYTES_MAX {
            out.extend_from_slice(body);
            self.send_to_client(cx, out, &[])
        } else {
            self.send_to_client(cx, out, body)
        }
    }

    /// Passes the part of `bytes` that belongs to the response's body to the handler.
    #[cold]
    fn show_body(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        // Works on a copy: the relay advances its own reader.
        let Some(mut reader) = self.exchange.response.body else { return Ok(()) };
        let mut content = Vec::new();
        let shown = match reader {
            BodyReader::Chunked(_) => reader.decode(bytes, &mut content).map(|_| content.as_slice()),
            _ => reader.feed(bytes).map(|used| bytes.get(..used).unwrap_or_default()),
        };
        let shown = shown.map_err(|malformed| Fault::new(FaultKind::UpstreamMalformed(malformed)))?;
        self.handler.on_response_bytes(shown, reader.is_done());
        Ok(())
    }

    pub(super) fn send_to_client(&mut self, cx: &mut Context<'_>, first: &[u8], second: &[u8]) -> Result<(), Fault> {
        if first.is_empty() && second.is_empty() {
            return Ok(());
        }
        self.exchange.response.bytes += (first.len() + second.len()) as u64;
        if let Some(capture) = &mut self.exchange.capture {
            capture.add_response(first);
            capture.add_response(second);
        }
        let sent = self.to_client.send(cx, &mut self.client, first, second);
        sent.map_err(|error| Fault::with(FaultKind::ClientGone, error))
    }

    /// Handles the end of the upstream's stream, or a broken connection.
    fn upstream_ended(&mut self, cx: &mut Context<'_>, end: io::Result<()>, buffers: &mut Buffers) -> Result<(), Fault> {
        let exchange = &mut self.exchange;
        if let (Some(BodyReader::UntilClose), Ok(())) = (exchange.response.body, &end) {
            return if exchange.response.kept.is_some() { self.end_kept(cx, buffers) } else { self.end_until_close(cx) };
        }
        let reused = exchange.upstream.connection.as_ref().is_some_and(|upstream| upstream.reused);
        if reused && !exchange.upstream.is_heard && !exchange.request.replay.is_empty() {
            exchange.upstream.connection = None;
            exchange.request.is_unwanted = false;
            exchange.upstream.outbox = Outbox::default();
            let replay = std::mem::take(&mut exchange.request.replay);
            exchange.upstream.outbox.put(&replay);
            self.core.give_back(replay);
            self.start_dial();
            return Ok(());
        }
        Err(match end {
            Ok(()) => Fault::new(FaultKind::UpstreamClosed),
            Err(error) => Fault::with(FaultKind::UpstreamClosed, &error).because(&error),
        })
    }

    /// Ends a response body that is delimited by the close of the upstream connection.
    pub(super) fn end_until_close(&mut self, cx: &mut Context<'_>) -> Result<(), Fault> {
        self.exchange.response.body = Some(BodyReader::Done);
        if self.exchange.response.is_watched {
            self.handler.on_response_bytes(&[], true);
        }
        if self.exchange.response.coded.is_some() {
            return Ok(());
        }
        let last: &[u8] = if self.exchange.response.framing == ClientBody::Chunked { LAST_CHUNK } else { b"" };
        self.send_to_client(cx, last, &[])
    }

    /// Ends the exchange: the response is complete and sent.
    fn finish(&mut self) {
        let exchange = &mut self.exchange;
        let request_done = exchange.request.body.is_done() && exchange.upstream.outbox.is_empty() && !exchange.request.is_unwanted;
        if let Some(upstream) = exchange.upstream.connection.take()
            && request_done
            && exchange.upstream.keep_alive
        {
            self.core.pool.borrow_mut().put(upstream, self.core.deadlines.now_ms(), &self.core.limits);
        }
        self.handler.on_end(exchange.ended());
        let stay = exchange.request.keep_alive && request_done;
        exchange.end(&self.core);
        if stay {
            self.enter(Stage::Head { unread: !self.input.is_empty() });
            self.move_if_crowded();
        } else {
            self.enter(Stage::Linger(0));
        }
    }

    /// Switches protocols after the upstream agreed: bytes are now copied unchanged, or through an inspector. `head` is the response's, `ahead`
    /// what came behind it.
    fn switch(&mut self, cx: &mut Context<'_>, head: &[u8], ahead: &[u8]) -> Result<(), Fault> {
        let inspection = match self.exchange.tunnel.inspector.take() {
            Some(open) => Some(TunnelInspection::open(open, ahead).map_err(|error| Fault::with(FaultKind::Connect, error))?),
            None => None,
        };
        self.send_to_client(cx, head, if inspection.is_some() { &[] } else { ahead })?;
        let exchange = &mut self.exchange;
        let (Some(upstream), Some(slot)) = (exchange.upstream.connection.take(), exchange.tunnel.slot.take()) else {
            return Ok(());
        };
        let mut to_upstream = std::mem::take(&mut exchange.upstream.outbox);
        to_upstream.put(&std::mem::take(&mut self.input));
        let to_client = std::mem::take(&mut self.to_client);
        let mut tunnel = Tunnel::new(upstream, slot, to_upstream, to_client);
        tunnel.inspection = inspection.map(Box::new);
        self.enter(Stage::Tunnel(Box::new(tunnel)));
        Ok(())
    }
}
