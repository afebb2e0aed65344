//! Time limits that the h2 crate does not have: a client that begins a header block, or any frame but one of data, must finish it within
//! the time of a request's head, and its first frame must come within that time too.

use crate::core::Core;
use crate::deadlines::NEVER;
use std::rc::Rc;
use std::task::Context;

/// The time that one client has for what it began.
pub struct FrameDeadline {
    core: Rc<Core>,
    deadline: usize,
    /// What is waited for, by number; `None` when nothing is.
    waits_for: Option<u64>,
}

impl FrameDeadline {
    pub fn new(core: Rc<Core>) -> Self {
        let deadline = core.deadlines.register();
        FrameDeadline { core, deadline, waits_for: None }
    }

    /// The client had its time.
    pub fn is_over(&self) -> bool {
        self.core.deadlines.take_expired(self.deadline)
    }

    /// The client has begun this and not finished it; the task of `cx` is woken when the time for it is over.
    pub fn wait_for(&mut self, cx: &Context<'_>, unfinished: Option<u64>) {
        if unfinished == self.waits_for {
            return;
        }
        self.waits_for = unfinished;
        match unfinished {
            Some(_) => self.set(cx, self.core.limits.head_ms),
            None => self.core.deadlines.set(self.deadline, NEVER, cx.waker()),
        }
    }

    /// Wakes the task of `cx` after this time.
    pub fn set(&self, cx: &Context<'_>, time_ms: u64) {
        self.core.deadlines.set(self.deadline, self.core.deadlines.now_ms().saturating_add(time_ms), cx.waker());
    }
}

impl Drop for FrameDeadline {
    fn drop(&mut self) {
        self.core.deadlines.release(self.deadline);
    }
}
