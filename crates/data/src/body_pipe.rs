//! A response's body between the task that reads it from the upstream and the client that gets it, within a bound: the upstream waits for the
//! client. Both are tasks of one core.

use bytes::Bytes;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tollgate_engine::{BodyCut, BodySource};

/// From so many bytes on, the upstream waits. As much as the gateway buffers for a client that gets a body directly.
const WAITING_BYTES_MAX: usize = 64 * 1024;

/// Both ends of a pipe.
pub(crate) fn body_pipe() -> (BodyPipeEnd, BodyPipeStart) {
    let waiting = Rc::<RefCell<WaitingBytes>>::default();
    (BodyPipeEnd(waiting.clone()), BodyPipeStart(waiting))
}

#[derive(Default)]
struct WaitingBytes {
    pieces: VecDeque<Bytes>,
    bytes: usize,
    end: Option<Result<(), BodyCut>>,
    is_client_gone: bool,
    source_waker: Option<Waker>,
    sink_waker: Option<Waker>,
}

/// The end into which the upstream's bytes go. If it is dropped before [`BodyPipeEnd::end`], the body was cut.
pub(crate) struct BodyPipeEnd(Rc<RefCell<WaitingBytes>>);

/// The end from which the client's bytes come.
pub(crate) struct BodyPipeStart(Rc<RefCell<WaitingBytes>>);

impl BodyPipeEnd {
    /// Adds bytes, even beyond the bound.
    pub(crate) fn push(&self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let mut waiting = self.0.borrow_mut();
        waiting.bytes += bytes.len();
        waiting.pieces.push_back(Bytes::copy_from_slice(bytes));
        waiting.source_waker.take().into_iter().for_each(Waker::wake);
    }

    /// Whether nobody takes the bytes any more.
    pub(crate) fn is_client_gone(&self) -> bool {
        self.0.borrow().is_client_gone
    }

    /// Waits until nobody takes the bytes any more.
    pub(crate) fn poll_client_gone(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut waiting = self.0.borrow_mut();
        if waiting.is_client_gone {
            return Poll::Ready(());
        }
        waiting.sink_waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Waits for room. Also ready if the client has left.
    pub(crate) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut waiting = self.0.borrow_mut();
        if waiting.bytes >= WAITING_BYTES_MAX {
            waiting.sink_waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    /// The body is complete.
    pub(crate) fn end(&self) {
        self.end_with(Ok(()));
    }

    fn end_with(&self, end: Result<(), BodyCut>) {
        let mut waiting = self.0.borrow_mut();
        waiting.end.get_or_insert(end);
        waiting.source_waker.take().into_iter().for_each(Waker::wake);
    }
}

impl Drop for BodyPipeEnd {
    fn drop(&mut self) {
        self.end_with(Err(BodyCut));
    }
}

impl BodySource for BodyPipeStart {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BodyCut>> {
        let mut waiting = self.0.borrow_mut();
        if let Some(piece) = waiting.pieces.pop_front() {
            waiting.bytes -= piece.len();
            waiting.sink_waker.take().into_iter().for_each(Waker::wake);
            return Poll::Ready(Ok(Some(piece)));
        }
        if let Some(end) = waiting.end {
            return Poll::Ready(end.map(|()| None));
        }
        waiting.source_waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for BodyPipeStart {
    fn drop(&mut self) {
        let mut waiting = self.0.borrow_mut();
        waiting.is_client_gone = true;
        waiting.pieces.clear();
        waiting.bytes = 0;
        waiting.sink_waker.take().into_iter().for_each(Waker::wake);
    }
}
