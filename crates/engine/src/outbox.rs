//! Bytes that a socket has not accepted yet. Almost always empty and without memory.

use crate::stream::Stream;
use std::io;
use std::task::{Context, Poll, ready};

#[derive(Default)]
pub(crate) struct Outbox {
    bytes: Vec<u8>,
    sent: usize,
    /// The TLS layer still holds bytes.
    unflushed: bool,
}

impl Outbox {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty() && !self.unflushed
    }

    /// Number of unsent bytes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Drops the unsent bytes and frees the memory.
    pub(crate) fn clear(&mut self) {
        *self = Outbox::default();
    }

    /// Appends bytes to send later.
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Changes the unsent bytes.
    pub(crate) fn edit(&mut self, change: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.drain(..self.sent);
        self.sent = 0;
        change(&mut self.bytes);
    }

    /// Writes `first` and then `second` in one call and keeps what the socket does not accept. If bytes are already waiting,
    /// appends to them: the order is kept.
    #[inline]
    pub(crate) fn send(&mut self, cx: &mut Context<'_>, stream: &mut Stream, first: &[u8], second: &[u8]) -> io::Result<()> {
        if !self.is_empty() {
            self.put(first);
            self.put(second);
            return Ok(());
        }
        let sent = match stream.poll_write(cx, first, second) {
            Poll::Ready(result) => result?,
            Poll::Pending => 0,
        };
        if sent < first.len() + second.len() {
            self.put(first.get(sent..).unwrap_or_default());
            self.put(second.get(sent.saturating_sub(first.len())..).unwrap_or_default());
        }
        self.unflushed = stream.poll_flush(cx)?.is_pending();
        Ok(())
    }

    /// Sends the remaining bytes; ready when all are sent. Frees the memory.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>, stream: &mut Stream) -> Poll<io::Result<()>> {
        while let Some(rest) = self.bytes.get(self.sent..).filter(|rest| !rest.is_empty()) {
            self.sent += match ready!(stream.poll_write(cx, rest, &[]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                taken => taken,
            };
        }
        ready!(stream.poll_flush(cx))?;
        self.clear();
        Poll::Ready(Ok(()))
    }
}
