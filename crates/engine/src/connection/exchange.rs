//! The facts of the exchange that a connection carries at the moment.

use super::keep::KeptResponse;
use crate::core::Core;
use crate::fault::FaultKind;
use crate::kept_bodies::Room;
use crate::limits::Limits;
use crate::moment::Moment;
use crate::outbox::Outbox;
use crate::pace::Pace;
use crate::pool::{PoolSlot, PooledConnection};
use crate::service::{Capture, Ended, Times};
use tollgate_http::{BodyReader, ClientBody, Request, Version};

pub(super) struct ExchangeState {
    pub upstream: Option<PooledConnection>,
    pub to_upstream: Outbox,
    pub request_body: BodyReader,
    /// The request's trailer lines, until they are complete.
    pub request_trailers: Vec<u8>,
    /// Body bytes that passed so far.
    pub body_bytes: u64,
    pub body_bytes_max: Option<u64>,
    /// How the client has kept pace with its request's body, and with the response.
    pub upload: Pace,
    pub download: Pace,
    /// Its body may be one side of a conversation.
    pub converses: bool,
    pub first_byte_ms: Option<u64>,
    /// The edited request, while it may have to be sent again.
    pub replay: Vec<u8>,
    /// The answer has taken long enough to look whether the client is still there.
    pub watches_client: bool,
    /// The upstream takes no more of the request; its answer may still come.
    pub upload_dead: bool,
    /// Bytes of a response head that is not complete.
    pub response_input: Vec<u8>,
    pub response_body: Option<BodyReader>,
    /// The response's head while it waits for a small body, to go out in one record with it.
    pub held_head: Vec<u8>,
    pub response_trailers: Vec<u8>,
    /// The response, while it is held for its body.
    pub kept: Option<Box<KeptResponse>>,
    /// The handler sees the response's body.
    pub is_watched: bool,
    /// What is kept of the exchange's bodies.
    pub room: Option<Room>,
    /// The upstream connection can be used again after this response.
    pub upstream_keep_alive: bool,
    /// Bytes of the final response were sent to the client.
    pub response_started: bool,
    /// Any byte came from the upstream.
    pub upstream_heard: bool,
    /// The client wants its connection kept; turned off when it can't be.
    pub keep_alive: bool,
    pub http10: bool,
    /// The client waits to be told to send the body.
    pub expects_continue: bool,
    /// The client asked with HEAD.
    pub client_head: bool,
    /// The upstream was asked with HEAD.
    pub upstream_head: bool,
    pub upgrade: bool,
    /// Its place among the core's tunnels, when it may become one.
    pub tunnel: Option<PoolSlot>,
    /// How the response's body goes to the client.
    pub client_body: ClientBody,
    /// The clock is read at turning points.
    pub timed: bool,
    pub sent_at: Option<Moment>,
    pub answered_at: Option<Moment>,
    /// The whole response came with its head.
    pub at_once: bool,
    /// Bytes sent to the client.
    pub response_bytes: u64,
    /// What passes is kept here.
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
            keep_alive: false,
            http10: false,
            expects_continue: false,
            client_head: false,
            upstream_head: false,
            upgrade: false,
            tunnel: None,
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
    /// Begins the next exchange; the last one has been ended.
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

    /// The time, for an exchange that is timed.
    #[inline]
    pub(super) fn clock(&self) -> Option<Moment> {
        self.timed.then(Moment::now)
    }

    /// What there is to say of the exchange at its end.
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

    /// Everything of the request was handed to the upstream's socket, or never will be.
    pub(super) fn is_sent(&self) -> bool {
        self.upload_dead || (self.request_body.is_done() && self.to_upstream.is_empty())
    }

    /// The line that tells the client what becomes of its connection.
    pub(super) fn connection_line(&self, close: bool) -> &'static [u8] {
        match (close, self.http10) {
            (true, _) => b"Connection: close\r\n",
            (false, true) => b"Connection: keep-alive\r\n",
            (false, false) => b"",
        }
    }

    /// The relay waits for nothing but the head of the answer.
    #[inline]
    pub(super) fn awaits_answer(&self) -> bool {
        self.response_body.is_none() && self.is_sent()
    }

    /// How long the relay may wait for what it waits for now.
    #[inline]
    pub(super) fn wait_ms(&self, limits: &Limits) -> u64 {
        if self.awaits_answer() { self.first_byte_ms.unwrap_or(limits.upstream_first_byte_ms) } else { limits.body_stall_ms }
    }

    /// Whose fault it is when that wait was in vain.
    pub(super) fn wait_fault(&self) -> FaultKind {
        let upstream_is_late = self.response_body.is_some() || self.is_sent() || !self.to_upstream.is_empty();
        if upstream_is_late { FaultKind::UpstreamTimeout } else { FaultKind::ClientTimeout }
    }

    /// Lets go of everything; buffers go back to the core.
    #[inline]
    pub(super) fn end(&mut self, core: &Core) {
        if self.replay.capacity() > 0 {
            core.give_back(std::mem::take(&mut self.replay));
        }
        self.upstream = None;
        self.tunnel = None;
        self.kept = None;
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
