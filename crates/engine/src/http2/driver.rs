//! Reads and writes the bytes of one HTTP/2 connection. A connection that always finds something to do lets others have their turn after some
//! of it; one that waits holds no buffer.

use super::link::Http2Link;
use crate::stream::Stream;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};
use tollgate_http2::{Http2Error, Http2Event};

/// Bytes that a connection reads before other tasks have their turn.
const READ_TURN_BYTES: usize = 64 * 1024;
/// Bytes that a connection writes before other tasks have their turn: nobody waits for the whole of what hundreds of streams have to send.
const WRITE_TURN_BYTES: usize = 256 * 1024;

/// How a connection ended.
#[derive(Debug)]
pub(crate) enum ConnectionEnd {
    /// Everything is said; what the other side was told last is written.
    Over,
    /// The other side is gone.
    Gone(io::Error),
}

pub(crate) struct Driver {
    link: Rc<Http2Link>,
    stream: Stream,
    /// What was read before.
    ahead: Vec<u8>,
    written: usize,
    /// What the other side did, if the connection ends for it.
    error: Option<Http2Error>,
    /// Nothing was read because too much output waits.
    is_full: bool,
}

impl Driver {
    /// Of a connection whose first bytes, if they were read already, are `ahead`.
    pub(crate) fn new(link: Rc<Http2Link>, stream: Stream, ahead: Vec<u8>) -> Self {
        Driver { link, stream, ahead, written: 0, error: None, is_full: false }
    }

    pub(crate) fn link(&self) -> &Rc<Http2Link> {
        &self.link
    }

    /// What the other side did, if the connection ends for it.
    pub(crate) fn error(&self) -> Option<Http2Error> {
        self.error
    }

    /// Reads and writes what can be. `begin` gets the streams that the other side opens.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, begin: &mut dyn FnMut(&Http2Event<'_>)) -> Poll<ConnectionEnd> {
        self.link.drive(cx);
        let driven = self.read(cx, begin).and_then(|()| self.write(cx));
        let end = match driven {
            Err(error) => ConnectionEnd::Gone(error),
            Ok(true) if self.link.driven(|protocol| protocol.is_done()) => ConnectionEnd::Over,
            Ok(_) => return Poll::Pending,
        };
        self.link.end();
        Poll::Ready(end)
    }

    fn read(&mut self, cx: &mut Context<'_>, begin: &mut dyn FnMut(&Http2Event<'_>)) -> io::Result<()> {
        if !self.ahead.is_empty() {
            let ahead = std::mem::take(&mut self.ahead);
            self.feed(&ahead, begin);
        }
        let mut read = 0;
        let core = self.link.core.clone();
        let mut buffers = core.buffers.borrow_mut();
        loop {
            self.is_full = self.link.driven(|protocol| !protocol.wants_input());
            if self.is_full {
                break;
            }
            if read >= READ_TURN_BYTES {
                cx.waker().wake_by_ref();
                break;
            }
            match self.stream.poll_read(cx, &mut buffers.scratch) {
                Poll::Pending => break,
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Poll::Ready(Ok(taken)) => {
                    read += taken;
                    self.feed(buffers.scratch.get(..taken).unwrap_or_default(), begin);
                }
                Poll::Ready(Err(error)) => return Err(error),
            }
        }
        Ok(())
    }

    fn feed(&mut self, mut input: &[u8], begin: &mut dyn FnMut(&Http2Event<'_>)) {
        loop {
            match self.link.driven(|protocol| protocol.next(&mut input)) {
                Ok(Some(event)) => {
                    if let Http2Event::Request { .. } = event {
                        begin(&event);
                    }
                    self.link.deliver(event);
                }
                Ok(None) => return,
                Err(error) => {
                    self.error = Some(error);
                    return;
                }
            }
        }
    }

    /// Whether all is written.
    fn write(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        let is_written = loop {
            let has_output = self.link.driven(|protocol| !protocol.output().is_empty());
            if !has_output {
                break true;
            }
            if self.written >= WRITE_TURN_BYTES {
                self.written = 0;
                cx.waker().wake_by_ref();
                break false;
            }
            let stream = &mut self.stream;
            let poll = self.link.driven(|protocol| {
                let poll = stream.poll_write(cx, protocol.output(), &[]);
                if let Poll::Ready(Ok(bytes)) = poll {
                    protocol.wrote(bytes);
                }
                poll
            });
            match poll {
                Poll::Ready(bytes) => self.written += bytes?,
                Poll::Pending => {
                    self.written = 0;
                    break false;
                }
            }
        };
        let is_flushed = self.stream.poll_flush(cx)?.is_ready();
        self.link.after_writing();
        if self.is_full && self.link.driven(|protocol| protocol.wants_input()) {
            cx.waker().wake_by_ref();
        }
        Ok(is_written && is_flushed)
    }

    /// Tells the other side that nothing more comes.
    pub(crate) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.poll_shutdown(cx)
    }

    /// Reads what nobody wants; how much.
    pub(crate) fn poll_skip(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.stream.poll_read(cx, &mut self.link.core.buffers.borrow_mut().scratch)
    }
}
