//! Reads and writes the bytes of one HTTP/2 connection. A busy connection yields to other tasks after a bounded amount of work; a
//! waiting one holds no buffer.

use super::link::Http2Link;
use crate::stream::Stream;
use crate::turn::give_way;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};
use tollgate_http2::{Http2Error, Http2Event};

/// Bytes that a connection reads before it yields to other tasks.
const READ_TURN_BYTES: usize = 64 * 1024;
/// Bytes that a connection writes before it yields to other tasks, so that the output of hundreds of streams does not delay them.
const WRITE_TURN_BYTES: usize = 128 * 1024;
/// Bytes written first over TLS if at least twice as many wait and a message begins in them: one record, which the other side decrypts
/// while the rest is encrypted.
const FIRST_WRITE_BYTES: usize = 16 * 1024;

/// How a connection ended.
#[derive(Debug)]
pub(crate) enum ConnectionEnd {
    /// Regular end: the last message to the other side is written.
    Over,
    /// The other side disconnected.
    Gone(io::Error),
}

pub(crate) struct Driver {
    link: Rc<Http2Link>,
    stream: Stream,
    /// Bytes that were already read.
    ahead: Vec<u8>,
    written: usize,
    /// The protocol error of the other side, if that ends the connection.
    error: Option<Http2Error>,
    /// Reading paused because too much output is waiting.
    is_full: bool,
}

impl Driver {
    /// A driver whose first bytes, if already read, are in `ahead`.
    pub(crate) fn new(link: Rc<Http2Link>, stream: Stream, ahead: Vec<u8>) -> Self {
        Driver { link, stream, ahead, written: 0, error: None, is_full: false }
    }

    pub(crate) fn link(&self) -> &Rc<Http2Link> {
        &self.link
    }

    /// The protocol error of the other side, if that ends the connection.
    pub(crate) fn error(&self) -> Option<Http2Error> {
        self.error
    }

    /// Reads and writes as much as possible. `begin` is called for each stream that the other side opens.
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
                let _ = give_way(cx);
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

    /// Writes the output; returns whether all of it is written.
    fn write(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        let is_written = loop {
            let has_output = self.link.driven(|protocol| !protocol.output().is_empty());
            if !has_output {
                break true;
            }
            if self.written >= WRITE_TURN_BYTES {
                self.written = 0;
                let _ = give_way(cx);
                break false;
            }
            let stream = &mut self.stream;
            let poll = self.link.driven(|protocol| {
                let output = protocol.output();
                let is_split = stream.is_tls() && protocol.has_new_head() && output.len() >= 2 * FIRST_WRITE_BYTES;
                let now = output.get(..FIRST_WRITE_BYTES).filter(|_| is_split).unwrap_or(output);
                let poll = stream.poll_write(cx, now, &[]);
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

    /// Tells the other side that no more bytes follow.
    pub(crate) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.poll_shutdown(cx)
    }

    /// Reads and discards bytes; returns how many.
    pub(crate) fn poll_skip(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.stream.poll_read(cx, &mut self.link.core.buffers.borrow_mut().scratch)
    }
}
