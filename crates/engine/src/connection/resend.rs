//! Keeps a request while it may have to be sent again, and sends it again when the handler asks for that. Once a byte of a response has
//! reached the client, even of an interim one, the request is never sent again.

use super::hedge::Hedge;
use super::retarget::retarget_head;
use super::{Connection, Stage, detached_exchange};
use crate::core::Core;
use crate::dial::redial;
use crate::fault::{Fault, FaultKind};
use crate::kept_bodies::Room;
use crate::outbox::Outbox;
use crate::service::{DetachedExchange, Handler, HedgeEnd, KeepForResend, Resend, Retarget, TryEnd};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

/// A request as it was sent so far.
pub(super) struct KeptRequest {
    /// Head and body. Empty if the body was too large.
    bytes: Vec<u8>,
    bytes_max: usize,
    connect_ms: Option<u64>,
    /// A connection that was open before may turn out to be closed: the engine itself may then send the request once more.
    is_idempotent: bool,
    room: Room,
    /// The handlers of exchanges that get a copy.
    copies: Vec<Box<dyn Handler>>,
    client: SocketAddr,
}

impl KeptRequest {
    /// Head and body; empty if the body was too large.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Time to connect, if it is not the engine's default.
    pub(super) fn connect_time(&self) -> Option<Duration> {
        self.connect_ms.map(Duration::from_millis)
    }

    /// Starts the exchanges that get a copy, if the request is complete.
    pub(super) fn end(self, core: &Rc<Core>, is_complete: bool) {
        if self.copies.is_empty() || !is_complete || self.bytes.is_empty() {
            return;
        }
        let mut head = self.bytes;
        // Behind the request line.
        let Some(line) = head.iter().position(|byte| *byte == b'\n') else { return };
        head.splice(line + 1..line + 1, *b"Connection: close\r\n");
        for handler in self.copies {
            detached_exchange::start(core, self.client, DetachedExchange { head: head.clone(), handler });
        }
    }

    /// Keeps the next bytes, or forgets all of them if they are too many.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        if self.bytes.is_empty() {
            return;
        }
        let whole = self.bytes.len() + bytes.len();
        if whole > self.bytes_max || !self.room.reserve(whole) {
            self.bytes = Vec::new();
            self.room.set(0);
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }
}

impl Connection {
    /// Keeps a request whose first bytes are `sent`.
    #[cold]
    pub(super) fn keep_request(&mut self, sent: &[u8], keep: KeepForResend, body_bytes: usize, is_idempotent: bool) {
        let bytes_max = (sent.len() - body_bytes).saturating_add(keep.body_bytes_max);
        let mut room = Room::none(&self.core.kept_bodies);
        let fits = sent.len() <= bytes_max && room.reserve(sent.len());
        let bytes = if fits { sent.to_vec() } else { Vec::new() };
        self.exchange.upstream.hedge = keep.hedge_after.filter(|_| is_idempotent && fits).map(Hedge::after);
        self.exchange.request.kept = Some(Box::new(KeptRequest {
            bytes,
            bytes_max,
            connect_ms: keep.connect_ms,
            is_idempotent,
            room,
            copies: Vec::new(),
            client: self.client_address,
        }));
    }

    /// Sends copies of the kept request when its exchange has ended.
    pub(super) fn copy_request(&mut self, handlers: Vec<Box<dyn Handler>>) {
        if let Some(kept) = &mut self.exchange.request.kept {
            kept.copies = handlers;
        }
    }

    /// Asks the handler whether to send the request again after a fault. True if it is.
    #[cold]
    pub(super) fn resend_after_fault(&mut self, fault: &Fault) -> bool {
        let is_upstreams = match fault.kind {
            FaultKind::Lookup
            | FaultKind::Connect
            | FaultKind::Tls
            | FaultKind::UpstreamClosed
            | FaultKind::UpstreamMalformed(_)
            | FaultKind::UpstreamHeadTooLarge
            | FaultKind::UpstreamTimeout
            | FaultKind::ConnectTimeout => true,
            FaultKind::BodyTooLarge
            | FaultKind::BodyMalformed(_)
            | FaultKind::ClientTimeout
            | FaultKind::ClientGone
            | FaultKind::TooManyTunnels => false,
        };
        if !is_upstreams || !self.can_resend() {
            return false;
        }
        let mut retarget = Retarget::default();
        let Some(resend) = self.handler.on_try_ended(&TryEnd::Fault(fault), &mut retarget) else { return false };
        self.resend(resend, &retarget);
        true
    }

    /// Whether nothing of the request was sent: its first bytes wait for a connection, and the rest of its body was not read.
    pub(super) fn is_unsent(&self) -> bool {
        matches!(self.stage, Stage::Dial(_))
    }

    /// Whether the request can be sent again.
    pub(super) fn can_resend(&self) -> bool {
        let exchange = &self.exchange;
        let is_kept = exchange.request.kept.as_ref().is_some_and(|kept| !kept.bytes.is_empty());
        (is_kept || self.is_unsent())
            && exchange.response.bytes == 0
            && !exchange.response.is_started
            && exchange.response.body.is_none()
    }

    /// Sends the request again. The connection of the last try was released, or is closed here.
    pub(super) fn resend(&mut self, resend: Resend, retarget: &Retarget) {
        self.end_hedge(HedgeEnd::Lost);
        let Some(target) = self.handler.target() else { return self.enter(Stage::Closed) };
        let is_unsent = self.is_unsent();
        let exchange = &mut self.exchange;
        exchange.times.sent_at = exchange.times.sent_at.or_else(|| exchange.clock());
        if let Some(kept) = &mut exchange.request.kept {
            retarget_head(&mut kept.bytes, retarget);
        }
        exchange.upstream.connection = None;
        exchange.request.is_unwanted = false;
        exchange.upstream.is_heard = false;
        exchange.response.input = Vec::new();
        exchange.upstream.first_byte_ms = resend.first_byte_ms;
        if is_unsent {
            exchange.upstream.outbox.edit(|bytes| retarget_head(bytes, retarget));
        } else if let Some(kept) = &exchange.request.kept {
            exchange.upstream.outbox = Outbox::default();
            exchange.upstream.outbox.put(&kept.bytes);
        }
        // If it is not idempotent, a replay that is there is for a verdict of `Again`.
        retarget_head(&mut exchange.request.replay, retarget);
        if let Some(kept) = exchange.request.kept.as_ref().filter(|kept| kept.is_idempotent) {
            exchange.request.replay.clear();
            if exchange.request.body.is_done() {
                exchange.request.replay.extend_from_slice(&kept.bytes);
            }
        }
        let connect = exchange.request.kept.as_ref().and_then(|kept| kept.connect_time());
        let dial = redial(self.core.clone(), target, resend.after, connect, exchange.tunnel.is_wanted);
        self.enter(Stage::Dial(dial));
        // The time to connect begins after the wait.
        self.since_ms = self.since_ms.saturating_add(resend.after.as_millis() as u64);
    }
}
