//! The body of a response of unknown length, between the task that reads it and the client that asked first. The cache has the body as long as it
//! can store it, so the client's pace holds nobody. If the cache gives it up, the rest passes here at the client's pace.

use bytes::Bytes;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tollgate_cache::{BodyRead, BodyWriter, CachedBody};
use tollgate_engine::{BodyCut, BodySink, BodySource};

/// From so many bytes on, the upstream waits for the client. As much as the gateway buffers for a client without a cache.
const OVERFLOW_BYTES_MAX: usize = 64 * 1024;

/// A sink that stores a body, and the source from which the client that asked first gets it.
pub(super) fn storing_with_overflow(writer: BodyWriter, body: CachedBody) -> (Box<dyn BodySink>, Box<dyn BodySource>) {
    let overflow = Rc::<RefCell<Overflow>>::default();
    (
        Box::new(OverflowSink { writer: Some(writer), overflow: overflow.clone() }),
        Box::new(OverflowSource { stored: Some(body), overflow }),
    )
}

/// What the cache did not take.
#[derive(Default)]
struct Overflow {
    pieces: VecDeque<Bytes>,
    bytes: usize,
    end: Option<Result<(), BodyCut>>,
    is_client_gone: bool,
    source_waker: Option<Waker>,
    sink_waker: Option<Waker>,
}

impl Overflow {
    fn end(&mut self, end: Result<(), BodyCut>) {
        self.end.get_or_insert(end);
        self.source_waker.take().into_iter().for_each(Waker::wake);
    }
}

struct OverflowSink {
    /// `None` when the cache has given the body up.
    writer: Option<BodyWriter>,
    overflow: Rc<RefCell<Overflow>>,
}

impl BodySink for OverflowSink {
    fn push(&mut self, bytes: &[u8]) {
        if self.writer.as_mut().is_some_and(|writer| writer.push(bytes)) || bytes.is_empty() {
            return;
        }
        self.writer = None;
        let mut overflow = self.overflow.borrow_mut();
        overflow.bytes += bytes.len();
        overflow.pieces.push_back(Bytes::copy_from_slice(bytes));
        overflow.source_waker.take().into_iter().for_each(Waker::wake);
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BodyCut>> {
        let mut overflow = self.overflow.borrow_mut();
        // The body may never end, so it is read only as long as somebody waits for it.
        if overflow.is_client_gone && self.writer.as_ref().is_none_or(|writer| writer.followers() == 0) {
            return Poll::Ready(Err(BodyCut));
        }
        if overflow.bytes >= OVERFLOW_BYTES_MAX {
            overflow.sink_waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn finish(mut self: Box<Self>) {
        self.overflow.borrow_mut().end(Ok(()));
        if let Some(writer) = self.writer.take() {
            writer.finish();
        }
    }
}

impl Drop for OverflowSink {
    fn drop(&mut self) {
        self.overflow.borrow_mut().end(Err(BodyCut));
    }
}

struct OverflowSource {
    /// `None` when its last byte has been read.
    stored: Option<CachedBody>,
    overflow: Rc<RefCell<Overflow>>,
}

impl BodySource for OverflowSource {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BodyCut>> {
        match self.stored.as_mut().map(|stored| stored.next(cx.waker())) {
            Some(BodyRead::Data(bytes)) => return Poll::Ready(Ok(Some(bytes))),
            Some(BodyRead::End) => return Poll::Ready(Ok(None)),
            Some(BodyRead::Pending) => return Poll::Pending,
            // The cache has given it up, or it is truncated.
            Some(BodyRead::Cut) | None => self.stored = None,
        }
        let mut overflow = self.overflow.borrow_mut();
        if let Some(piece) = overflow.pieces.pop_front() {
            overflow.bytes -= piece.len();
            overflow.sink_waker.take().into_iter().for_each(Waker::wake);
            return Poll::Ready(Ok(Some(piece)));
        }
        if let Some(end) = overflow.end {
            return Poll::Ready(end.map(|()| None));
        }
        overflow.source_waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for OverflowSource {
    fn drop(&mut self) {
        let mut overflow = self.overflow.borrow_mut();
        overflow.is_client_gone = true;
        overflow.pieces.clear();
        overflow.bytes = 0;
        overflow.sink_waker.take().into_iter().for_each(Waker::wake);
    }
}
