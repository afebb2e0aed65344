//! Counts streams of an upstream connection and tracks whether that connection still responds.

use crate::buffer_account::BufferAccount;
use crate::core::Core;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// If a stream gives up after this long and the connection got no response meanwhile, the connection gets no new streams: the
/// upstream may have disappeared silently. A ping would tell, but gRPC servers disconnect clients that ping.
const SILENCE_MS: u64 = 1_000;

/// State of an upstream connection, updated by its streams.
pub(super) struct UpstreamState {
    pub streams: Cell<usize>,
    /// Whether the connection gets no new streams.
    pub closed: Cell<bool>,
    /// Coarse time of the last response.
    pub heard_ms: Cell<u64>,
    /// Coarse time of the last stream's end.
    pub idle_since_ms: Cell<u64>,
}

/// One stream in the count of its connection.
pub(super) struct StreamCount {
    pub core: Rc<Core>,
    pub state: Rc<UpstreamState>,
    pub since_ms: u64,
    /// Account charged for bytes of the request that wait for the upstream, and of the response that wait for the client.
    pub account: Rc<BufferAccount>,
}

impl StreamCount {
    /// How long the upstream may accept nothing of a request's body.
    pub(super) fn patience(&self) -> Duration {
        Duration::from_millis(self.core.limits.body_stall_ms)
    }

    /// Account charged for the stream's bytes.
    pub(super) fn account(&self) -> &Rc<BufferAccount> {
        &self.account
    }

    /// Records that a response began.
    pub(super) fn heard(&self) {
        self.state.heard_ms.set(self.core.deadlines.now_ms());
    }

    /// Called when the stream stops waiting for its response.
    pub(super) fn give_up(&self) {
        let waited_ms = self.core.deadlines.now_ms().saturating_sub(self.since_ms);
        if waited_ms >= SILENCE_MS && self.state.heard_ms.get() <= self.since_ms {
            self.state.closed.set(true);
        }
    }
}

impl Drop for StreamCount {
    fn drop(&mut self) {
        self.state.streams.set(self.state.streams.get().saturating_sub(1));
        self.state.idle_since_ms.set(self.core.deadlines.now_ms());
    }
}
