//! The streams of one connection: their states (RFC 9113 §5.1), lookup by number or key, and a short memory of closed streams.

use crate::Http2ErrorCode;
use std::collections::VecDeque;

/// Key of a stream within its connection; valid until [`Http2Connection::release`](crate::Http2Connection::release).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamKey(u32);

impl StreamKey {
    /// The key as an index: small, and reused after the stream is released.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Streams remembered after a reset: frames from the peer may still be in transit to them until it receives the reset. A frame for a
/// forgotten stream is answered with another reset, which costs more.
const RESET_MAX: usize = 64;
/// Streams remembered after their end, after which nothing may arrive: enough to report the right error.
const ENDED_MAX: usize = 8;
/// Slots that a connection without streams keeps allocated.
const SPARE_MAX: usize = 2;

/// How a stream was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closed {
    /// Both sides ended it.
    Ended,
    /// The peer reset it.
    ByPeer,
    /// This side reset or refused it.
    Here,
}

/// What a stream that cannot send more waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendWait {
    /// Nothing.
    None,
    /// Its own window.
    Window,
    /// Its turn among streams with open windows.
    Turn,
}

/// One stream.
pub(crate) struct StreamState {
    pub id: u32,
    /// Whether the peer may still send, and whether this side may.
    pub receives: bool,
    pub sends: bool,
    pub reset: Option<Http2ErrorCode>,
    /// Whether the caller holds its key.
    pub is_held: bool,
    /// Send window. Negative if the peer has reduced its windows.
    pub send_window: i64,
    /// Receive window.
    pub receive_window: i64,
    /// Bytes received but not taken.
    pub waiting: u32,
    /// Bytes taken but not yet returned to the peer's window.
    pub taken: u32,
    /// Remaining bytes of content, if the length was announced.
    pub content_left: Option<u64>,
    /// Whether the final head of the response has arrived.
    pub has_head: bool,
    /// Whether the request is HEAD: its response announces the length of content that never arrives.
    pub is_head_request: bool,
    pub wait: SendWait,
}

/// All streams of a connection.
#[derive(Default)]
pub(crate) struct Streams {
    /// Numbers and keys of streams that are not closed, by number.
    open: Vec<(u32, StreamKey)>,
    places: Vec<Option<StreamState>>,
    free: Vec<StreamKey>,
    was_reset: VecDeque<(u32, Closed)>,
    ended: VecDeque<u32>,
}

impl Streams {
    /// Adds a stream; its number must be the highest.
    pub(crate) fn add(&mut self, stream: StreamState) -> StreamKey {
        let id = stream.id;
        let key = match self.free.pop() {
            Some(key) => {
                if let Some(place) = self.places.get_mut(key.index()) {
                    *place = Some(stream);
                }
                key
            }
            None => {
                self.places.push(Some(stream));
                StreamKey(self.places.len() as u32 - 1)
            }
        };
        self.open.push((id, key));
        key
    }

    /// Number of streams that are not closed.
    pub(crate) fn open(&self) -> usize {
        self.open.len()
    }

    #[inline]
    pub(crate) fn get(&self, key: StreamKey) -> Option<&StreamState> {
        self.places.get(key.index())?.as_ref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, key: StreamKey) -> Option<&mut StreamState> {
        self.places.get_mut(key.index())?.as_mut()
    }

    /// The key of a stream that is not closed.
    #[inline]
    pub(crate) fn find(&self, id: u32) -> Option<StreamKey> {
        let at = self.open.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.open.get(at).map(|(_, key)| *key)
    }

    /// Visits all streams that are not closed.
    pub(crate) fn each_open(&mut self, mut visit: impl FnMut(StreamKey, &mut StreamState)) {
        for (_, key) in &self.open {
            if let Some(Some(stream)) = self.places.get_mut(key.index()) {
                visit(*key, stream);
            }
        }
    }

    /// How a stream was closed, if remembered.
    pub(crate) fn closed(&self, id: u32) -> Option<Closed> {
        let was_reset = self.was_reset.iter().rev().find(|(closed, _)| *closed == id).map(|(_, how)| *how);
        was_reset.or_else(|| self.ended.contains(&id).then_some(Closed::Ended))
    }

    /// Remembers how a stream was closed.
    pub(crate) fn remember(&mut self, id: u32, how: Closed) {
        if how == Closed::Ended {
            if self.ended.len() >= ENDED_MAX {
                self.ended.pop_front();
            }
            self.ended.push_back(id);
        } else {
            if self.was_reset.len() >= RESET_MAX {
                self.was_reset.pop_front();
            }
            self.was_reset.push_back((id, how));
        }
    }

    /// Closes a stream, and frees its slot unless the caller holds its key.
    pub(crate) fn close(&mut self, key: StreamKey, how: Closed) {
        let Some(stream) = self.get(key) else { return };
        let (id, is_held) = (stream.id, stream.is_held);
        if let Ok(at) = self.open.binary_search_by_key(&id, |(id, _)| *id) {
            self.open.remove(at);
            self.remember(id, how);
        }
        if !is_held {
            self.vacate(key);
        }
    }

    /// Frees the slot of a closed stream that its caller has released.
    pub(crate) fn vacate(&mut self, key: StreamKey) {
        if let Some(place) = self.places.get_mut(key.index())
            && place.take().is_some()
        {
            self.free.push(key);
        }
    }

    /// Frees the memory of many streams once there are none.
    pub(crate) fn rest(&mut self) {
        if self.open.is_empty() && self.free.len() == self.places.len() && self.places.len() > SPARE_MAX {
            (self.open, self.places, self.free) = (Vec::new(), Vec::new(), Vec::new());
        }
    }
}
