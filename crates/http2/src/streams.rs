//! The streams of one connection: their states (RFC 9113 §5.1), found by number or by place, and what is remembered of those that are closed.

use crate::Http2ErrorCode;
use std::collections::VecDeque;

/// A stream's place in its connection; its caller's until [`Http2Connection::release`](crate::Http2Connection::release).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamKey(u32);

impl StreamKey {
    /// The place as an index: small, and used again once the stream is released.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Streams that are remembered after a reset: frames of the other side may still be on their way to them, for as long as the reset is. What
/// comes for one that is forgotten is answered with another reset, which costs more.
const RESET_MAX: usize = 64;
/// Streams that are remembered after their end, behind which nothing may come: enough to name the right error.
const ENDED_MAX: usize = 8;
/// Places that a connection without streams keeps for its next ones.
const SPARE_MAX: usize = 2;

/// How a stream was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closed {
    /// Both sides ended it.
    Ended,
    /// The other side reset it.
    ByPeer,
    /// This side reset it, or never took it.
    Here,
}

/// What a stream that can't send more waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendWait {
    /// Nothing.
    None,
    /// Its own window.
    Window,
    /// Its turn, among those whose windows are open.
    Turn,
}

/// One stream.
pub(crate) struct StreamState {
    pub id: u32,
    /// The other side may still send, and this side may.
    pub receives: bool,
    pub sends: bool,
    pub reset: Option<Http2ErrorCode>,
    /// Its caller knows it.
    pub is_held: bool,
    /// What this side may send. Below 0 when the other side has made its windows smaller.
    pub send_window: i64,
    /// What the other side may send.
    pub receive_window: i64,
    /// Bytes that were received and not taken.
    pub waiting: u32,
    /// Bytes that were taken and that the other side has not been told of.
    pub taken: u32,
    /// Bytes of content that are still to come, where that was said.
    pub content_left: Option<u64>,
    /// The final head of a response has come.
    pub has_head: bool,
    /// The request was HEAD: its response says the length of what does not come.
    pub is_head_request: bool,
    pub wait: SendWait,
}

/// All streams of a connection.
#[derive(Default)]
pub(crate) struct Streams {
    /// Numbers and places of streams that are not closed, by number.
    open: Vec<(u32, StreamKey)>,
    places: Vec<Option<StreamState>>,
    free: Vec<StreamKey>,
    was_reset: VecDeque<(u32, Closed)>,
    ended: VecDeque<u32>,
}

impl Streams {
    /// Adds a stream, whose number is the highest.
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

    /// Streams that are not closed.
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

    /// The place of a stream that is not closed.
    #[inline]
    pub(crate) fn find(&self, id: u32) -> Option<StreamKey> {
        let at = self.open.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.open.get(at).map(|(_, key)| *key)
    }

    /// Visits all that are not closed.
    pub(crate) fn each_open(&mut self, mut visit: impl FnMut(StreamKey, &mut StreamState)) {
        for (_, key) in &self.open {
            if let Some(Some(stream)) = self.places.get_mut(key.index()) {
                visit(*key, stream);
            }
        }
    }

    /// How a stream was closed, if that is remembered.
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

    /// Takes a stream that is closed from the open ones; its place too when nobody holds it.
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

    /// Its caller knows it no longer, and it is closed.
    pub(crate) fn vacate(&mut self, key: StreamKey) {
        if let Some(place) = self.places.get_mut(key.index())
            && place.take().is_some()
        {
            self.free.push(key);
        }
    }

    /// Lets go of the memory of many streams, when there are none.
    pub(crate) fn rest(&mut self) {
        if self.open.is_empty() && self.free.len() == self.places.len() && self.places.len() > SPARE_MAX {
            (self.open, self.places, self.free) = (Vec::new(), Vec::new(), Vec::new());
        }
    }
}
