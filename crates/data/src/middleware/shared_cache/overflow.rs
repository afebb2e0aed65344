//! The body of a response of unknown length, between the task that reads it and the client that asked first. The cache has the body as long as it
//! can store it, so the client's pace holds nobody. If the cache gives it up, the rest passes here at the client's pace.

use crate::body_pipe::{BodyPipeEnd, BodyPipeStart, body_pipe};
use bytes::Bytes;
use std::task::{Context, Poll};
use tollgate_cache::{BodyRead, BodyWriter, CachedBody};
use tollgate_engine::{BodyCut, BodySink, BodySource};

/// A sink that stores a body, and the source from which the client that asked first gets it.
pub(super) fn storing_with_overflow(writer: BodyWriter, body: CachedBody) -> (Box<dyn BodySink>, Box<dyn BodySource>) {
    let (end, start) = body_pipe();
    (
        Box::new(OverflowSink { writer: Some(writer), overflow: end }),
        Box::new(OverflowSource { stored: Some(body), overflow: start }),
    )
}

struct OverflowSink {
    /// `None` when the cache has given the body up.
    writer: Option<BodyWriter>,
    overflow: BodyPipeEnd,
}

impl BodySink for OverflowSink {
    fn push(&mut self, bytes: &[u8]) {
        if self.writer.as_mut().is_some_and(|writer| writer.push(bytes)) {
            return;
        }
        self.writer = None;
        self.overflow.push(bytes);
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BodyCut>> {
        // The body may never end, so it is read only as long as somebody waits for it.
        if self.overflow.is_client_gone() && self.writer.as_ref().is_none_or(|writer| writer.followers() == 0) {
            return Poll::Ready(Err(BodyCut));
        }
        self.overflow.poll_room(cx).map(Ok)
    }

    fn finish(mut self: Box<Self>) {
        self.overflow.end();
        if let Some(writer) = self.writer.take() {
            writer.finish();
        }
    }
}

struct OverflowSource {
    /// `None` when its last byte has been read.
    stored: Option<CachedBody>,
    overflow: BodyPipeStart,
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
        self.overflow.poll_next(cx)
    }
}
