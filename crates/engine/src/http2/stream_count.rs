//! Streams in the count of their connection to an upstream, and what they find out about it.

use crate::buffer_account::BufferAccount;
use crate::core::Core;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// A connection that no answer came on for this long while one was waited for in vain gets no new streams: its other side may be gone
/// without a word. A ping would tell, but gRPC servers hang up on clients that ping.
const SILENCE_MS: u64 = 1_000;

/// What the streams of one connection tell it.
pub(super) struct UpstreamState {
    pub streams: Cell<usize>,
    /// Gets no new streams.
    pub closed: Cell<bool>,
    /// Coarse time of the last answer.
    pub heard_ms: Cell<u64>,
    /// Coarse time of the last stream's end.
    pub idle_since_ms: Cell<u64>,
}

/// A stream in its connection's count.
pub(super) struct StreamCount {
    pub core: Rc<Core>,
    pub state: Rc<UpstreamState>,
    pub since_ms: u64,
    /// Bytes of the request that wait for the upstream, and of the answer that wait for the client.
    pub account: Rc<BufferAccount>,
}

impl StreamCount {
    /// How long the upstream may take nothing of a request's body.
    pub(super) fn patience(&self) -> Duration {
        Duration::from_millis(self.core.limits.body_stall_ms)
    }

    /// Where the stream's bytes count.
    pub(super) fn account(&self) -> &Rc<BufferAccount> {
        &self.account
    }

    /// An answer began.
    pub(super) fn heard(&self) {
        self.state.heard_ms.set(self.core.deadlines.now_ms());
    }

    /// The answer is no longer waited for.
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
