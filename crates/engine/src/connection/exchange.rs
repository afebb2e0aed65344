//! State of a connection's current exchange.

use super::coded::CodedBody;
use super::hedge::Hedge;
use super::keep::KeptResponse;
use super::resend::KeptRequest;
use crate::core::Core;
use crate::fault::FaultKind;
use crate::kept_bodies::Room;
use crate::limits::Limits;
use crate::outbox::Outbox;
use crate::pace::Pace;
use crate::pool::{PoolSlot, PooledConnection};
use crate::service::{Capture, Ended, Outgoing, ResponseVerdict, Times, TunnelInspector};
use std::rc::Rc;
use tollgate_clock::MonoTime;
use tollgate_http::{BodyReader, ClientBody, Request, Version};

/// An exchange, in its parts.
#[derive(Default)]
pub(super) struct ExchangeState {
    pub request: RequestProgress,
    pub upstream: UpstreamSide,
    pub response: ResponseProgress,
    pub tunnel: TunnelWish,
    pub times: ExchangeTimes,
    /// Recording of the bytes that pass, if requested.
    pub capture: Option<Box<Capture>>,
}

/// The request as the client sent it, and how far it has got.
pub(super) struct RequestProgress {
    pub body: BodyReader,
    /// Its trailer lines, until they are complete.
    pub trailers: Vec<u8>,
    /// Bytes of its body forwarded so far.
    pub body_bytes: u64,
    pub body_bytes_max: Option<u64>,
    /// How well the client keeps up the minimum speed with the body.
    pub pace: Pace,
    /// The body may be one side of a conversation (gRPC).
    pub converses: bool,
    /// The upstream accepts no more of it; its response may still arrive.
    pub is_unwanted: bool,
    /// As it was edited, kept while it may have to be sent again.
    pub replay: Vec<u8>,
    /// Kept if the handler may have it sent again.
    pub kept: Option<Box<KeptRequest>>,
    /// The client wants its connection kept open; cleared when it cannot be.
    pub keep_alive: bool,
    pub is_http10: bool,
    /// The client waits for `100 Continue` before it sends the body.
    pub expects_continue: bool,
    /// The client's method is HEAD.
    pub is_head: bool,
}

/// The upstream, and what is on its way there.
#[derive(Default)]
pub(super) struct UpstreamSide {
    pub connection: Option<PooledConnection>,
    pub outbox: Outbox,
    pub first_byte_ms: Option<u64>,
    /// The method sent there is HEAD.
    pub is_asked_for_head: bool,
    /// At least one byte has arrived from there.
    pub is_heard: bool,
    /// The connection can be reused after this response.
    pub keep_alive: bool,
    /// The request is also sent to another upstream, if this one is slow to answer.
    pub hedge: Option<Box<Hedge>>,
}

/// The response, from the upstream to the client.
pub(super) struct ResponseProgress {
    /// Bytes of an incomplete head.
    pub input: Vec<u8>,
    pub body: Option<BodyReader>,
    /// The head while it waits for a small body, so that one TLS record carries both.
    pub held_head: Vec<u8>,
    pub trailers: Vec<u8>,
    /// The response while it is held for its body.
    pub kept: Option<Box<KeptResponse>>,
    /// The body while it is coded on its way to the client.
    pub coded: Option<Box<CodedBody>>,
    /// The handler watches the body.
    pub is_watched: bool,
    /// The body is an event stream.
    pub is_event_stream: bool,
    /// Memory reserved for buffered bodies of this exchange.
    pub room: Option<Room>,
    /// At least one byte of the final response was sent to the client.
    pub is_started: bool,
    /// It is slow enough to check whether the client is still there.
    pub watches_client: bool,
    /// How well the client keeps up the minimum speed.
    pub pace: Pace,
    /// Framing of the body towards the client.
    pub framing: ClientBody,
    /// Bytes sent to the client.
    pub bytes: u64,
}

/// The protocol switch that the client asks for.
#[derive(Default)]
pub(super) struct TunnelWish {
    pub is_wanted: bool,
    /// The reserved slot, if the exchange may become a tunnel.
    pub slot: Option<PoolSlot>,
    /// What a tunnel passes through.
    pub inspector: Option<TunnelInspector>,
}

/// When what happened.
#[derive(Default)]
pub(super) struct ExchangeTimes {
    /// Whether timestamps are taken.
    pub is_timed: bool,
    pub sent_at: Option<MonoTime>,
    pub answered_at: Option<MonoTime>,
    /// The whole response arrived together with its head.
    pub at_once: bool,
}

impl Default for RequestProgress {
    fn default() -> Self {
        RequestProgress {
            body: BodyReader::Done,
            trailers: Vec::new(),
            body_bytes: 0,
            body_bytes_max: None,
            pace: Pace::default(),
            converses: false,
            is_unwanted: false,
            replay: Vec::new(),
            kept: None,
            keep_alive: false,
            is_http10: false,
            expects_continue: false,
            is_head: false,
        }
    }
}

impl Default for ResponseProgress {
    fn default() -> Self {
        ResponseProgress {
            input: Vec::new(),
            body: None,
            held_head: Vec::new(),
            trailers: Vec::new(),
            kept: None,
            coded: None,
            is_watched: false,
            is_event_stream: false,
            room: None,
            is_started: false,
            watches_client: false,
            pace: Pace::default(),
            framing: ClientBody::AsIs,
            bytes: 0,
        }
    }
}

impl ResponseProgress {
    /// Takes the coder for a body that passes or is rewritten. That of a reply is taken with it.
    #[inline]
    pub(super) fn take_coder(&mut self, verdict: ResponseVerdict, outgoing: &mut Outgoing) {
        if outgoing.coder.is_some() && matches!(verdict, ResponseVerdict::Pass | ResponseVerdict::Watch | ResponseVerdict::Rewrite)
        {
            self.coded = outgoing.coder.take().map(CodedBody::new);
        }
    }
}

impl ExchangeState {
    /// Starts the next exchange. The previous one has ended.
    #[inline]
    pub(super) fn begin(&mut self, request: &Request<'_>) {
        self.request.body = BodyReader::new(request.body);
        self.request.body_bytes = 0;
        self.request.body_bytes_max = None;
        self.request.converses = false;
        self.upstream.first_byte_ms = None;
        self.response.watches_client = false;
        self.request.is_unwanted = false;
        self.response.body = None;
        self.response.is_watched = false;
        self.response.is_event_stream = false;
        self.response.is_started = false;
        self.upstream.is_heard = false;
        self.request.keep_alive = request.keep_alive;
        self.request.is_http10 = request.version == Version::Http10;
        self.request.expects_continue = request.expects_continue;
        self.request.is_head = request.method == "HEAD";
        self.tunnel.is_wanted = false;
        self.response.framing = ClientBody::AsIs;
        self.times.is_timed = false;
        self.times.sent_at = None;
        self.times.answered_at = None;
        self.times.at_once = false;
        self.response.bytes = 0;
    }

    /// The current time, if the exchange is timed.
    #[inline]
    pub(super) fn clock(&self) -> Option<MonoTime> {
        self.times.is_timed.then(MonoTime::now)
    }

    /// Summary of the exchange at its end.
    #[inline]
    pub(super) fn ended(&mut self) -> Ended {
        let at = |end| Times { sent: self.times.sent_at, answered: self.times.answered_at, at_once: self.times.at_once, end };
        Ended {
            times: self.clock().map(at),
            request_body_bytes: self.request.body_bytes,
            response_bytes: self.response.bytes,
            capture: self.capture.take(),
        }
    }

    /// Counts bytes of the request's body against its limit.
    pub(super) fn count_body(&mut self, bytes: usize) -> Result<(), ()> {
        self.request.body_bytes += bytes as u64;
        match self.request.body_bytes_max {
            Some(most) if self.request.body_bytes > most => Err(()),
            _ => Ok(()),
        }
    }

    /// Whether the whole request was written to the upstream's socket, or the rest never will be.
    pub(super) fn is_sent(&self) -> bool {
        self.request.is_unwanted || (self.request.body.is_done() && self.upstream.outbox.is_empty())
    }

    /// The `Connection` header line of the response.
    pub(super) fn connection_line(&self, close: bool) -> &'static [u8] {
        match (close, self.request.is_http10) {
            (true, _) => b"Connection: close\r\n",
            (false, true) => b"Connection: keep-alive\r\n",
            (false, false) => b"",
        }
    }

    /// Whether the last byte of the response was read, and coded if it is.
    #[inline]
    pub(super) fn is_answered(&self) -> bool {
        self.response.body.is_some_and(|body| body.is_done()) && self.response.coded.as_ref().is_none_or(|coded| coded.is_ended())
    }

    /// Whether the relay only waits for the response head.
    #[inline]
    pub(super) fn awaits_answer(&self) -> bool {
        self.response.body.is_none() && self.is_sent()
    }

    /// How long the relay may wait for its next event.
    #[inline]
    pub(super) fn wait_ms(&self, limits: &Limits) -> u64 {
        if self.awaits_answer() {
            self.upstream.first_byte_ms.unwrap_or(limits.upstream_first_byte_ms)
        } else {
            limits.silence_ms(self.response.is_event_stream)
        }
    }

    /// The fault to report if that wait times out.
    pub(super) fn wait_fault(&self) -> FaultKind {
        let upstream_is_late = self.response.body.is_some() || self.is_sent() || !self.upstream.outbox.is_empty();
        if upstream_is_late { FaultKind::UpstreamTimeout } else { FaultKind::ClientTimeout }
    }

    /// Releases everything; buffers return to the core.
    #[inline]
    pub(super) fn end(&mut self, core: &Rc<Core>) {
        if self.request.replay.capacity() > 0 {
            core.give_back(std::mem::take(&mut self.request.replay));
        }
        self.upstream.connection = None;
        self.upstream.hedge = None;
        self.tunnel.slot = None;
        self.tunnel.inspector = None;
        self.response.kept = None;
        self.response.coded = None;
        if let Some(kept) = self.request.kept.take() {
            kept.end(core, self.request.body.is_done());
        }
        self.response.room = None;
        self.request.pace = Pace::default();
        self.response.pace = Pace::default();
        if !self.upstream.outbox.is_empty() {
            self.upstream.outbox.clear();
        }
        let buffers =
            [&mut self.response.input, &mut self.response.held_head, &mut self.request.trailers, &mut self.response.trailers];
        for buffer in buffers {
            if buffer.capacity() > 0 {
                *buffer = Vec::new();
            }
        }
    }
}
