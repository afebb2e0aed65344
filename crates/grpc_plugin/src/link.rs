//! One HTTP/2 connection to the server of plugins. Calls are streams on it; one task, [`drive`], moves its bytes. Both run on the data thread
//! that owns the connection, so that nobody waits for the lock.

use crate::status::{PREFIX_BYTES, check_status, whole};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tollgate_http2::{HeaderBlock, Http2Connection, Http2ErrorCode, Http2Event, Http2Settings, Http2Side, StreamKey};
use tollgate_plugin::HookFault;

/// Flow control windows, so that bodies of some hundred KiB need no extra round trips.
const WINDOW_BYTES: u32 = 1 << 20;
/// Most bytes of an answer's head: a status and a message.
const HEAD_BYTES_MAX: u32 = 32 << 10;
/// After so many calls in a row without an answer a connection is replaced: its server may be gone without a trace.
const UNANSWERED_MAX: u32 = 8;
/// Bytes that are read at once.
const READ_BYTES: usize = 16 << 10;
/// Reads, and writes, after which the connection yields to other tasks.
const TURN_MAX: usize = 8;

/// The connection as its lane holds it: when it is dropped, calls in flight go on, and then it is closed.
pub(crate) struct GrpcConnection(pub(crate) Arc<GrpcLink>);

/// A connection that calls share.
pub(crate) struct GrpcLink(Mutex<PluginLinkState>);

struct PluginLinkState {
    protocol: Http2Connection,
    /// The calls in flight, by index of their streams.
    calls: Vec<Option<PendingCall>>,
    /// Calls that wait until the server allows another stream; no more than the data thread has requests.
    waiting: Vec<Waker>,
    driver: Option<Waker>,
    /// Why the connection has ended.
    end: Option<String>,
    /// Calls in a row that got no answer.
    unanswered: u32,
}

/// A call in flight.
struct PendingCall {
    waker: Waker,
    message: Vec<u8>,
    /// Bytes of the message that are sent.
    sent: usize,
    answer: Vec<u8>,
    answer_bytes_max: usize,
    outcome: Option<Result<Vec<u8>, HookFault>>,
}

impl GrpcConnection {
    /// A connection whose bytes nobody moves yet.
    pub(crate) fn new() -> Self {
        let settings = Http2Settings {
            stream_window: WINDOW_BYTES,
            connection_window: WINDOW_BYTES,
            streams_max: 0,
            header_list_bytes_max: HEAD_BYTES_MAX,
            connect_protocol: false,
        };
        GrpcConnection(Arc::new(GrpcLink(Mutex::new(PluginLinkState {
            protocol: Http2Connection::new(Http2Side::Client, &settings),
            calls: Vec::new(),
            waiting: Vec::new(),
            driver: None,
            end: None,
            unanswered: 0,
        }))))
    }
}

impl Drop for GrpcConnection {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.protocol.leave_now();
        state.wake_driver();
    }
}

impl GrpcLink {
    fn lock(&self) -> MutexGuard<'_, PluginLinkState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether new calls may use it.
    pub(crate) fn is_usable(&self) -> bool {
        let state = self.lock();
        state.end.is_none() && state.unanswered < UNANSWERED_MAX && state.protocol.can_ever_open()
    }

    /// Makes a call. `message` begins with its prefix, the answer does not.
    pub(crate) async fn call(
        self: Arc<Self>,
        head: HeaderBlock,
        mut message: Vec<u8>,
        answer_bytes_max: usize,
    ) -> Result<Vec<u8>, HookFault> {
        let mut guard = CallGuard { link: &self, stream: None };
        match std::future::poll_fn(|cx| self.lock().poll_open(cx, &head, &mut message, answer_bytes_max)).await {
            Err(fault) => guard.end(Err(fault)),
            Ok(stream) => {
                guard.stream = Some(stream);
                let outcome = std::future::poll_fn(|cx| self.lock().poll_outcome(cx, stream)).await;
                guard.end(outcome)
            }
        }
    }
}

/// Gives a call's stream back. A call that is dropped before its outcome is known counts as unanswered.
struct CallGuard<'l> {
    link: &'l GrpcLink,
    stream: Option<StreamKey>,
}

impl CallGuard<'_> {
    /// Whatever the outcome is, the server has answered or the connection has ended.
    fn end(self, outcome: Result<Vec<u8>, HookFault>) -> Result<Vec<u8>, HookFault> {
        let mut state = self.link.lock();
        state.release(self.stream);
        state.unanswered = 0;
        drop(state);
        std::mem::forget(self);
        outcome
    }
}

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        let mut state = self.link.lock();
        state.unanswered += 1;
        state.release(self.stream);
    }
}

impl PluginLinkState {
    fn wake_driver(&self) {
        if let Some(driver) = &self.driver {
            driver.wake_by_ref();
        }
    }

    fn poll_open(
        &mut self,
        cx: &Context<'_>,
        head: &HeaderBlock,
        message: &mut Vec<u8>,
        answer_bytes_max: usize,
    ) -> Poll<Result<StreamKey, HookFault>> {
        if self.end.is_some() || !self.protocol.can_ever_open() {
            let why = self.end.as_deref().unwrap_or("it closes the connection");
            return Poll::Ready(Err(HookFault::Unavailable(format!("the server of plugins: {why}"))));
        }
        let Some(stream) = self.protocol.open(head, false, false) else {
            if !self.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
                self.waiting.push(cx.waker().clone());
            }
            return Poll::Pending;
        };
        let index = stream.index();
        if self.calls.len() <= index {
            self.calls.resize_with(index + 1, || None);
        }
        if let Some(place) = self.calls.get_mut(index) {
            let message = std::mem::take(message);
            let waker = cx.waker().clone();
            *place = Some(PendingCall { waker, message, sent: 0, answer: Vec::new(), answer_bytes_max, outcome: None });
        }
        self.send(stream);
        self.wake_driver();
        Poll::Ready(Ok(stream))
    }

    fn poll_outcome(&mut self, cx: &Context<'_>, stream: StreamKey) -> Poll<Result<Vec<u8>, HookFault>> {
        let Some(call) = self.call(stream) else { return Poll::Ready(Err(HookFault::Timeout)) };
        match call.outcome.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                call.waker.clone_from(cx.waker());
                Poll::Pending
            }
        }
    }

    fn call(&mut self, stream: StreamKey) -> Option<&mut PendingCall> {
        self.calls.get_mut(stream.index())?.as_mut()
    }

    /// Sends as much of a call as the windows allow.
    fn send(&mut self, stream: StreamKey) {
        let Some(call) = self.calls.get_mut(stream.index()).and_then(Option::as_mut) else { return };
        let left = call.message.get(call.sent..).unwrap_or_default();
        // A stream that is gone has its outcome.
        call.sent += self.protocol.send_data(stream, left, true).unwrap_or_default();
        if call.sent == call.message.len() {
            call.message = Vec::new();
            call.sent = 0;
        }
    }

    /// The end of a call's stream, which is reset unless it is over. Others may be opened.
    fn release(&mut self, stream: Option<StreamKey>) {
        let Some(stream) = stream else { return };
        if let Some(place) = self.calls.get_mut(stream.index()) {
            *place = None;
        }
        self.protocol.release(stream);
        if !self.protocol.output().is_empty() {
            self.wake_driver();
        }
        self.waiting.drain(..).for_each(Waker::wake);
    }

    fn settle(&mut self, stream: StreamKey, outcome: Result<Vec<u8>, HookFault>) {
        if let Some(call) = self.call(stream).filter(|call| call.outcome.is_none()) {
            call.outcome = Some(outcome);
            call.waker.wake_by_ref();
        }
    }

    fn deliver(&mut self, event: &Http2Event<'_>) {
        match *event {
            Http2Event::Response { stream, ends } => self.on_head(stream, ends),
            Http2Event::Data { stream, bytes, ends } => {
                // The window is opened again at once: the message is read whole.
                self.protocol.take(stream, bytes.len());
                self.on_data(stream, bytes);
                if ends {
                    self.settle(stream, Err(HookFault::Failed("the answer has no status".to_owned())));
                }
            }
            Http2Event::Trailers { stream } => {
                let status = check_status(self.protocol.fields());
                let answer = self.call(stream).map(|call| std::mem::take(&mut call.answer)).unwrap_or_default();
                self.settle(stream, status.and_then(|()| whole(answer)));
            }
            Http2Event::Reset { stream } => {
                let outcome = match self.protocol.reset_code(stream) {
                    Some(Http2ErrorCode::CANCEL) => HookFault::Failed("the server has cancelled the call".to_owned()),
                    code => HookFault::Unavailable(format!(
                        "the server of plugins has reset the call: {:?}",
                        code.unwrap_or(Http2ErrorCode::NO_ERROR)
                    )),
                };
                self.settle(stream, Err(outcome));
            }
            // Servers send none.
            Http2Event::Request { .. } => {}
        }
    }

    fn on_head(&mut self, stream: StreamKey, ends: bool) {
        let fields = self.protocol.fields();
        let status = fields.status();
        if (100..200).contains(&status) {
            return;
        }
        if status != 200 {
            let fault = HookFault::Unavailable(format!("the server of plugins answers with status {status}"));
            return self.settle(stream, Err(fault));
        }
        // A call that fails at once has no body: its head is also its end.
        let has_status = fields.iter().any(|(name, _)| name == "grpc-status");
        let checked = if ends || has_status { check_status(fields) } else { Ok(()) };
        match checked {
            Err(fault) => self.settle(stream, Err(fault)),
            Ok(()) if ends => self.settle(stream, whole(Vec::new())),
            Ok(()) => {}
        }
    }

    fn on_data(&mut self, stream: StreamKey, bytes: &[u8]) {
        let Some(call) = self.call(stream).filter(|call| call.outcome.is_none()) else { return };
        call.answer.extend_from_slice(bytes);
        // The prefix tells at once of an answer that is too long: nobody reads it to its end.
        let announced = match call.answer.get(1..PREFIX_BYTES) {
            Some(&[a, b, c, d]) => u32::from_be_bytes([a, b, c, d]) as usize,
            _ => 0,
        };
        if announced.max(call.answer.len().saturating_sub(PREFIX_BYTES)) > call.answer_bytes_max {
            let fault = HookFault::Failed(format!("the answer has more than {} bytes", call.answer_bytes_max));
            call.answer = Vec::new();
            self.settle(stream, Err(fault));
        }
    }

    fn finish(&mut self, why: &str) {
        self.protocol.lose();
        self.end = Some(why.to_owned());
        self.driver = None;
        for call in self.calls.iter_mut().flatten().filter(|call| call.outcome.is_none()) {
            call.outcome = Some(Err(HookFault::Unavailable(format!("the server of plugins: {why}"))));
            call.waker.wake_by_ref();
        }
        self.waiting.drain(..).for_each(Waker::wake);
    }
}

/// Moves the bytes of a connection until it ends.
pub(crate) async fn drive<S: AsyncRead + AsyncWrite + Unpin>(link: Arc<GrpcLink>, mut stream: S) {
    let mut buffer = vec![0; READ_BYTES];
    let why = std::future::poll_fn(|cx| link.lock().poll(cx, &mut stream, &mut buffer)).await;
    tracing::debug!(why, "a connection to the server of plugins ended");
    link.lock().finish(&why);
}

impl PluginLinkState {
    /// Reads and writes as much as possible; ready with the reason when the connection is over.
    fn poll<S: AsyncRead + AsyncWrite + Unpin>(&mut self, cx: &mut Context<'_>, stream: &mut S, buffer: &mut [u8]) -> Poll<String> {
        self.driver = Some(cx.waker().clone());
        if let Err(why) = self.read(cx, stream, buffer).and_then(|()| self.write(cx, stream)) {
            return Poll::Ready(why);
        }
        if self.protocol.is_done() && self.protocol.output().is_empty() {
            return Poll::Ready("it has closed the connection".to_owned());
        }
        Poll::Pending
    }

    fn read<S: AsyncRead + Unpin>(&mut self, cx: &mut Context<'_>, stream: &mut S, buffer: &mut [u8]) -> Result<(), String> {
        for _ in 0..TURN_MAX {
            if !self.protocol.wants_input() {
                return Ok(());
            }
            let mut room = ReadBuf::new(buffer);
            match Pin::new(&mut *stream).poll_read(cx, &mut room) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Err(error)) => return Err(error.to_string()),
                Poll::Ready(Ok(())) if room.filled().is_empty() => return Err("it has closed the connection".to_owned()),
                Poll::Ready(Ok(())) => {
                    let mut input = room.filled();
                    while let Some(event) = self.protocol.next(&mut input).map_err(|error| error.to_string())? {
                        self.deliver(&event);
                    }
                }
            }
        }
        cx.waker().wake_by_ref();
        Ok(())
    }

    fn write<S: AsyncWrite + Unpin>(&mut self, cx: &mut Context<'_>, stream: &mut S) -> Result<(), String> {
        let was_full = !self.protocol.wants_input();
        for _ in 0..TURN_MAX {
            while let Some(writable) = self.protocol.next_writable() {
                self.send(writable);
            }
            if self.protocol.output().is_empty() {
                break;
            }
            match Pin::new(&mut *stream).poll_write(cx, self.protocol.output()) {
                Poll::Pending => break,
                Poll::Ready(Err(error)) => return Err(error.to_string()),
                Poll::Ready(Ok(0)) => return Err("it takes no more bytes".to_owned()),
                Poll::Ready(Ok(bytes)) => self.protocol.wrote(bytes),
            }
        }
        if was_full && self.protocol.wants_input() {
            cx.waker().wake_by_ref();
        }
        match Pin::new(stream).poll_flush(cx) {
            Poll::Ready(Err(error)) => Err(error.to_string()),
            _ => Ok(()),
        }
    }
}
