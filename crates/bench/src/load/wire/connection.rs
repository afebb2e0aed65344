//! One HTTP/1.1 connection. Request and response are handled in the same poll, so that an exchange with a small request takes one
//! write, one read and no allocation.

use super::events::EventTimes;
use super::fault::{Cause, WireFault};
use super::stream::ClientStream;
use crate::load::pace::clock::RunClock;
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tollgate_http::{BodyReader, HeaderStorage, Response};

/// Maximum response head; a longer one counts as endless.
const HEAD_BYTES_MAX: usize = 256 * 1024;

/// A response with its timestamps.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimedResponse {
    pub status: u16,
    /// Target of a redirect, if requested.
    pub location: Option<String>,
    pub sent_bytes: u64,
    pub received_bytes: u64,
    pub body_bytes: u64,
    /// When the request was fully written.
    pub written_ns: u64,
    /// When the first bytes of the response were read.
    pub first_ns: u64,
    /// When the response was complete.
    pub done_ns: u64,
    /// When its events came, if that is asked.
    pub events: Option<Box<EventTimes>>,
}

/// What is noted of a response beside its times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noted {
    /// The target of a redirect.
    pub location: bool,
    /// Events of its body.
    pub events: bool,
}

/// A failed exchange.
pub(crate) struct ExchangeFailure {
    pub fault: WireFault,
    /// Whether no byte of a response arrived.
    pub unanswered: bool,
}

/// An open connection between exchanges.
pub(crate) struct Http1Connection {
    stream: ClientStream,
    /// The start of an incomplete head.
    partial: Vec<u8>,
    /// Whether it can carry another exchange.
    pub reusable: bool,
    /// Number of exchanges so far.
    pub exchanges: u64,
    /// The thread's counter of open connections.
    open: Rc<Cell<u64>>,
}

/// One exchange in progress.
struct PendingExchange<'a> {
    request: &'a [u8],
    to_head: bool,
    notes_location: bool,
    clock: RunClock,
    /// The body without its framing, if somebody looks at it.
    content: Vec<u8>,
    written: usize,
    flushed: bool,
    write_error: Option<io::Error>,
    body: Option<BodyReader>,
    keep_alive: bool,
    answer: TimedResponse,
}

impl Http1Connection {
    pub(crate) fn new(stream: ClientStream, open: Rc<Cell<u64>>) -> Self {
        open.set(open.get() + 1);
        Http1Connection { stream, partial: Vec::new(), reusable: true, exchanges: 0, open }
    }

    /// Sends `request` and reads the response. Uses the thread's `scratch` buffer while bytes are available.
    pub(crate) async fn exchange(
        &mut self,
        request: &[u8],
        to_head: bool,
        noted: Noted,
        clock: RunClock,
        scratch: &RefCell<Box<[u8]>>,
    ) -> Result<TimedResponse, ExchangeFailure> {
        let mut exchange = PendingExchange {
            request,
            to_head,
            notes_location: noted.location,
            clock,
            content: Vec::new(),
            written: 0,
            flushed: false,
            write_error: None,
            body: None,
            keep_alive: false,
            answer: TimedResponse { events: noted.events.then(Box::default), ..TimedResponse::default() },
        };
        self.partial.clear();
        // Whatever happens below, a connection with an aborted exchange is not reused.
        self.reusable = false;
        let result = poll_fn(|cx| self.poll(cx, &mut exchange, &mut scratch.borrow_mut())).await;
        self.exchanges += 1;
        match result {
            Ok(()) => {
                self.reusable = exchange.keep_alive && exchange.flushed && exchange.write_error.is_none();
                exchange.answer.sent_bytes = exchange.written as u64;
                Ok(exchange.answer)
            }
            Err(fault) => Err(ExchangeFailure { fault, unanswered: exchange.answer.received_bytes == 0 }),
        }
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        exchange: &mut PendingExchange<'_>,
        scratch: &mut [u8],
    ) -> Poll<Result<(), WireFault>> {
        if !exchange.flushed && exchange.write_error.is_none() {
            self.poll_write(cx, exchange);
        }
        loop {
            let mut buffer = ReadBuf::new(scratch);
            let read = match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(read) => read,
            };
            let bytes = buffer.filled();
            let ended = match read {
                Ok(()) if bytes.is_empty() => exchange.ended(),
                // A response that arrived before the write failed counts; without one, the first error is the cause.
                Err(error) => Err(WireFault::broken(exchange.write_error.as_ref().unwrap_or(&error))),
                Ok(()) => match exchange.take(bytes, &mut self.partial) {
                    Ok(false) => continue,
                    Ok(true) => Ok(()),
                    Err(fault) => Err(fault),
                },
            };
            return Poll::Ready(ended);
        }
    }

    /// Writes as much as possible. An error is only recorded: the server may have responded before it closed.
    fn poll_write(&mut self, cx: &mut Context<'_>, exchange: &mut PendingExchange<'_>) {
        while let Some(rest) = exchange.request.get(exchange.written..).filter(|rest| !rest.is_empty()) {
            match Pin::new(&mut self.stream).poll_write(cx, rest) {
                Poll::Ready(Ok(0)) => exchange.write_error = Some(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(written)) => {
                    exchange.written += written;
                    continue;
                }
                Poll::Ready(Err(error)) => exchange.write_error = Some(error),
                Poll::Pending => {}
            }
            return;
        }
        match Pin::new(&mut self.stream).poll_flush(cx) {
            Poll::Ready(Ok(())) => {
                exchange.flushed = true;
                exchange.answer.written_ns = exchange.clock.now_ns();
            }
            Poll::Ready(Err(error)) => exchange.write_error = Some(error),
            Poll::Pending => {}
        }
    }
}

impl Drop for Http1Connection {
    fn drop(&mut self) {
        self.open.set(self.open.get() - 1);
    }
}

impl PendingExchange<'_> {
    /// Processes bytes of the response; true when it is complete.
    fn take(&mut self, mut bytes: &[u8], partial: &mut Vec<u8>) -> Result<bool, WireFault> {
        let now = self.clock.now_ns();
        self.answer.done_ns = now;
        if self.answer.received_bytes == 0 {
            self.answer.first_ns = now;
        }
        self.answer.received_bytes += bytes.len() as u64;
        if self.body.is_none() {
            let taken = if partial.is_empty() {
                let taken = self.heads(bytes)?;
                if self.body.is_none() {
                    partial.extend_from_slice(bytes.get(taken..).unwrap_or_default());
                }
                taken
            } else {
                let before = partial.len();
                partial.extend_from_slice(bytes);
                let taken = self.heads(partial)?;
                if self.body.is_none() {
                    partial.drain(..taken);
                    0
                } else {
                    partial.clear();
                    taken.saturating_sub(before)
                }
            };
            if self.body.is_none() {
                if partial.len() > HEAD_BYTES_MAX {
                    return Err(WireFault::new(Cause::Protocol, "protocol: the response's head has no end"));
                }
                return Ok(false);
            }
            bytes = bytes.get(taken..).unwrap_or_default();
        }
        let Some(body) = &mut self.body else { return Ok(false) };
        let fed = match &mut self.answer.events {
            None => body.feed(bytes),
            Some(events) => {
                self.content.clear();
                let fed = body.decode(bytes, &mut self.content);
                events.push(&self.content, now);
                fed
            }
        };
        let taken = fed.map_err(|malformed| WireFault::new(Cause::Protocol, format!("protocol: the body: {malformed}")))?;
        self.answer.body_bytes += taken as u64;
        if !body.is_done() {
            return Ok(false);
        }
        // Unexpected bytes: the connection is out of sync.
        self.keep_alive &= taken == bytes.len();
        Ok(true)
    }

    /// Parses the heads at the start of `bytes` up to the final one; returns the bytes consumed.
    fn heads(&mut self, bytes: &[u8]) -> Result<usize, WireFault> {
        let mut taken = 0;
        loop {
            let rest = bytes.get(taken..).unwrap_or_default();
            let mut storage = HeaderStorage::new();
            let parsed = Response::parse(rest, self.to_head, &mut storage);
            let response = match parsed {
                Ok(Some(response)) => response,
                Ok(None) => return Ok(taken),
                Err(malformed) => {
                    return Err(WireFault::new(Cause::Protocol, format!("protocol: the response's head: {malformed}")));
                }
            };
            taken += response.head_len;
            if response.status < 200 && response.status != 101 {
                continue;
            }
            self.answer.status = response.status;
            self.keep_alive = response.keep_alive && response.status != 101;
            if self.notes_location && (300..400).contains(&response.status) {
                let location = response.headers.get("location");
                self.answer.location = location.map(|value| String::from_utf8_lossy(value).into_owned());
            }
            self.body = Some(BodyReader::new(response.body));
            return Ok(taken);
        }
    }

    /// Handles the close of the connection by the server.
    fn ended(&mut self) -> Result<(), WireFault> {
        if let Some(BodyReader::UntilClose) = self.body {
            self.answer.done_ns = self.clock.now_ns();
            return Ok(());
        }
        if let Some(error) = &self.write_error {
            return Err(WireFault::broken(error));
        }
        let when = if self.answer.received_bytes == 0 { "before the response" } else { "in the middle of the response" };
        Err(WireFault::new(Cause::Reset, format!("connection: closed by the server {when}")))
    }
}
