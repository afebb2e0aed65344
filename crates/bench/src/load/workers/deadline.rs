//! Time limits of requests without a timer per request: a worker writes its deadline to its slot, and the thread's sweep checks all
//! slots periodically.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Poll, Waker};

/// No deadline.
const NEVER: u64 = u64::MAX;

/// Deadline of one worker.
pub(crate) struct DeadlineSlot {
    deadline_ns: Cell<u64>,
    expired: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl DeadlineSlot {
    pub(crate) fn new() -> Self {
        DeadlineSlot { deadline_ns: Cell::new(NEVER), expired: Cell::new(false), waker: RefCell::new(None) }
    }

    /// Runs `work` until it completes; `None` if the deadline passes first.
    #[inline]
    pub(crate) async fn limited<T>(&self, deadline_ns: Option<u64>, work: impl Future<Output = T>) -> Option<T> {
        self.deadline_ns.set(deadline_ns.unwrap_or(NEVER));
        self.expired.set(false);
        let mut work = pin!(work);
        let done = poll_fn(|cx| {
            if self.expired.get() {
                return Poll::Ready(None);
            }
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(Some(done));
            }
            let mut waker = self.waker.borrow_mut();
            if !waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
                *waker = Some(cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
        self.deadline_ns.set(NEVER);
        done
    }

    /// Ends the worker's request if its deadline has passed.
    pub(crate) fn sweep(&self, now_ns: u64) {
        if self.deadline_ns.get() <= now_ns {
            self.expired.set(true);
            if let Some(waker) = self.waker.borrow().as_ref() {
                waker.wake_by_ref();
            }
        }
    }
}
