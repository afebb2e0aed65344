//! State of a connection's current exchange.

use super::hedge::Hedge;
use super::keep::KeptResponse;
use super::resend::KeptRequest;
use crate::core::Core;
use crate::fault::FaultKind;
use crate::kept_bodies::Room;
use crate::limits::Limits;
use crate::mono_time::MonoTime;
use crate::outbox::Outbox;
use crate::pace::Pace;
use crate::pool::{PoolSlot, PooledConnection};
use crate::service::{Capture, Ended, Times, TunnelInspector};
use std::rc::Rc;
use tollgate_http::{BodyReader, ClientBody, Request, Version};

pub(super) struct ExchangeState {
    pub upstream: Option<PooledConnection>,
    pub to_upstream: Outbox,
    pub request_body: BodyReader,
    /// The request's trailer lines, until they are complete.
    pub request_trailers: Vec<u8>,
    /// Bytes of the request's body forwarded so far.
    pub body_bytes: u64,
    pub body_bytes_max: Option<u64>,
    /// How well the client keeps up the minimum speed with the request's body, and with the response.
    pub upload: Pace,
    pub download: Pace,
    /// The body may be one side of a conversation (gRPC).
    pub converses: bool,
    pub first_byte_ms: Option<u64>,
    /// The edited request, kept while it may have to be sent again.
    pub replay: Vec<u8>,
    /// The request, if the handler may have it sent again.
    pub kept_request: Option<Box<KeptRequest>>,
    /// The response is slow enough to check whether the client is still there.
    pub watches_client: bool,
    /// The upstream accepts no more of the request; its response may still arrive.
    pub upload_dead: bool,
    /// Bytes of an incomplete response head.
    pub response_input: Vec<u8>,
    pub response_body: Option<BodyReader>,
    /// The response head while it waits for a small body, so that one TLS record carries both.
    pub held_head: Vec<u8>,
    pub response_trailers: Vec<u8>,
    /// The response while it is held for its body.
    pub kept: Option<Box<KeptResponse>>,
    /// The handler watches the response's body.
    pub is_watched: bool,
    /// Memory reserved for buffered bodies of this exchange.
    pub room: Option<Room>,
    /// The upstream connection can be reused after this response.
    pub upstream_keep_alive: bool,
    /// At least one byte of the final response was sent to the client.
    pub response_started: bool,
    /// At least one byte has arrived from the upstream.
    pub upstream_heard: bool,
    /// The request is also sent to another upstream, if this one is slow to answer.
    pub hedge: Option<Box<Hedge>>,
    /// The client wants its connection kept open; cleared when it cannot be.
    pub keep_alive: bool,
    pub http10: bool,
    /// The client waits for `100 Continue` before it sends the body.
    pub expects_continue: bool,
    /// The client's method is HEAD.
    pub client_head: bool,
    /// The method sent to the upstream is HEAD.
    pub upstream_head: bool,
    pub upgrade: bool,
    /// The reserved tunnel slot, if the exchange may become a tunnel.
    pub tunnel: Option<PoolSlot>,
    /// What a tunnel passes through.
    pub inspector: Option<TunnelInspector>,
    /// Framing of the response's body towards the client.
    pub client_body: ClientBody,
    /// Whether timestamps are taken during the exchange.
    pub timed: bool,
    pub sent_at: Option<MonoTime>,
    pub answered_at: Option<MonoTime>,
    /// The whole response arrived together with its head.
    pub at_once: bool,
    /// Bytes sent to the client.
    pub response_bytes: u64,
    /// Recording of the bytes that pass, if requested.
    pub capture: Option<Box<Capture>>,
}

impl Default for ExchangeState {
    fn default() -> Self {
        ExchangeState {
            upstream: None,
            to_upstream: Outbox::default(),
            request_body: BodyReader::Done,
            request_trailers: Vec::new(),
            body_bytes: 0,
            body_bytes_max: None,
            upload: Pace::default(),
            download: Pace::default(),
            converses: false,
            first_byte_ms: None,
            replay: Vec::new(),
            kept_request: None,
            watches_client: false,
            upload_dead: false,
            response_input: Vec::new(),
            response_body: None,
            held_head: Vec::new(),
            response_trailers: Vec::new(),
            kept: None,
            is_watched: false,
            room: None,
            upstream_keep_alive: false,
            response_started: false,
            upstream_heard: false,
            hedge: None,
            keep_alive: false,
            http10: false,
            expects_continue: false,
            client_head: false,
            upstream_head: false,
            upgrade: false,
            tunnel: None,
            inspector: None,
            client_body: ClientBody::AsIs,
            timed: false,
            sent_at: None,
            answered_at: None,
            at_once: false,
            response_bytes: 0,
            capture: None,
        }
    }
}

impl ExchangeState {
    /// Starts the next exchange. The previous one has ended.
    #[inline]
    pub(super) fn begin(&mut self, request: &Request<'_>) {
        self.request_body = BodyReader::new(request.body);
        self.body_bytes = 0;
        self.body_bytes_max = None;
        self.converses = false;
        self.first_byte_ms = None;
        self.watches_client = false;
        self.upload_dead = false;
        self.response_body = None;
        self.is_watched = false;
        self.response_started = false;
        self.upstream_heard = false;
        self.keep_alive = request.keep_alive;
        self.http10 = request.version == Version::Http10;
        self.expects_continue = request.expects_continue;
        self.client_head = request.method == "HEAD";
        self.upgrade = false;
        self.client_body = ClientBody::AsIs;
        self.timed = false;
        self.sent_at = None;
        self.answered_at = None;
        self.at_once = false;
        self.response_bytes = 0;
    }

    /// The current time, if the exchange is timed.
    #[inline]
    pub(super) fn clock(&self) -> Option<MonoTime> {
        self.timed.then(MonoTime::now)
    }

    /// Summary of the exchange at its end.
    #[inline]
    pub(super) fn ended(&mut self) -> Ended {
        let at = |end| Times { sent: self.sent_at, answered: self.answered_at, at_once: self.at_once, end };
        Ended {
            times: self.clock().map(at),
            request_body_bytes: self.body_bytes,
            response_bytes: self.response_bytes,
            capture: self.capture.take(),
        }
    }

    /// Counts bytes of the request's body against its limit.
    pub(super) fn count_body(&mut self, bytes: usize) -> Result<(), ()> {
        self.body_bytes += bytes as u64;
        match self.body_bytes_max {
            Some(most) if self.body_bytes > most => Err(()),
            _ => Ok(()),
        }
    }

    /// Whether the whole request was written to the upstream's socket, or the rest never will be.
    pub(super) fn is_sent(&self) -> bool {
        self.upload_dead || (self.request_body.is_done() && self.to_upstream.is_empty())
    }

    /// The `Connection` header line of the response.
    pub(super) fn connection_line(&self, close: bool) -> &'static [u8] {
        match (close, self.http10) {
            (true, _) => b"Connection: close\r\n",
            (false, true) => b"Connection: keep-alive\r\n",
            (false, false) => b"",
        }
    }

    /// Whether the relay only waits for the response head.
    #[inline]
    pub(super) fn awaits_answer(&self) -> bool {
        self.response_body.is_none() && self.is_sent()
    }

    /// How long the relay may wait for its next event.
    #[inline]
    pub(super) fn wait_ms(&self, limits: &Limits) -> u64 {
        if self.awaits_answer() { self.first_byte_ms.unwrap_or(limits.upstream_first_byte_ms) } else { limits.body_stall_ms }
    }

    /// The fault to report if that wait times out.
    pub(super) fn wait_fault(&self) -> FaultKind {
        let upstream_is_late = self.response_body.is_some() || self.is_sent() || !self.to_upstream.is_empty();
        if upstream_is_late { FaultKind::UpstreamTimeout } else { FaultKind::ClientTimeout }
    }

    /// Releases everything; buffers return to the core.
    #[inline]
    pub(super) fn end(&mut self, core: &Rc<Core>) {
        if self.replay.capacity() > 0 {
            core.give_back(std::mem::take(&mut self.replay));
        }
        self.upstream = None;
        self.hedge = None;
        self.tunnel = None;
        self.inspector = None;
        self.kept = None;
        if let Some(kept) = self.kept_request.take() {
            kept.end(core, self.request_body.is_done());
        }
        self.room = None;
        self.upload = Pace::default();
        self.download = Pace::default();
        if !self.to_upstream.is_empty() {
            self.to_upstream.clear();
        }
        let buffers = [&mut self.response_input, &mut self.held_head, &mut self.request_trailers, &mut self.response_trailers];
        for buffer in buffers {
            if buffer.capacity() > 0 {
                *buffer = Vec::new();
            }
        }
    }
}
