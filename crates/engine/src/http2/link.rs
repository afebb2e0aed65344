//! Connects the streams of an HTTP/2 connection, each its own task, with the task that reads and writes the connection's bytes.
//! Buffers what arrives for each stream and wakes the tasks.

use super::head;
use crate::buffer_account::{BufferAccount, BufferCharge};
use crate::core::Core;
use std::cell::{RefCell, RefMut};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tollgate_http::Body;
use tollgate_http2::{HeaderBlock, Http2Connection, Http2ErrorCode, Http2Event, StreamGone, StreamKey};

/// Maximum heads of one response that wait for their stream's task: interim ones and the final one. More of them before the task
/// runs would be pointless work caused by the upstream.
const HEADS_MAX: usize = 16;
/// Larger empty buffers of a stream are freed.
const RECEIVED_BYTES_KEPT: usize = 4 * 1024;
/// Inbox slots that a connection without streams keeps allocated.
const INBOXES_KEPT: usize = 2;
/// Content that may wait to be written while the core buffers too much for slow readers.
const NARROW_OUTPUT_BYTES: usize = 16 * 1024;
/// Streams woken to send at once: together they fill the output.
const TURNS: usize = 4;

/// An HTTP/2 connection shared by its streams.
pub(crate) struct Http2Link {
    pub core: Rc<Core>,
    /// Account charged for bytes that wait to be written.
    account: Rc<BufferAccount>,
    state: RefCell<LinkState>,
}

struct LinkState {
    protocol: Http2Connection,
    /// Indexed by the index of the stream key.
    inboxes: Vec<Option<Inbox>>,
    /// Number of inboxes in use.
    held: usize,
    /// The task that reads and writes; taken when woken, until it runs again.
    driver: Option<Waker>,
    /// Tasks that wait until a stream can be opened.
    openers: Vec<Waker>,
    /// Bytes currently charged to the account.
    charged: usize,
}

/// Received data of one stream.
struct Inbox {
    /// Content not yet taken by the task. It keeps its part of the window closed, which bounds it.
    received: Vec<u8>,
    taken: usize,
    charge: BufferCharge,
    heads: VecDeque<ReceivedHead>,
    trailers: Vec<u8>,
    has_ended: bool,
    /// The request's method is HEAD.
    is_head_request: bool,
    /// The stream's task.
    waker: Option<Waker>,
}

/// A response head as HTTP/1.1.
pub(crate) struct ReceivedHead {
    pub text: Vec<u8>,
    pub body: Body,
    pub is_interim: bool,
}

/// One stream, held while something uses it.
pub(crate) struct LinkStream {
    link: Rc<Http2Link>,
    key: StreamKey,
}

impl Http2Link {
    pub(crate) fn new(core: &Rc<Core>, protocol: Http2Connection, account: &Rc<BufferAccount>) -> Rc<Self> {
        let state = LinkState { protocol, inboxes: Vec::new(), held: 0, driver: None, openers: Vec::new(), charged: 0 };
        Rc::new(Http2Link { core: core.clone(), account: account.clone(), state: RefCell::new(state) })
    }

    /// Calls `change` with the protocol's state, then schedules the resulting output to be written.
    pub(crate) fn with<R>(&self, change: impl FnOnce(&mut Http2Connection) -> R) -> R {
        let mut state = self.state.borrow_mut();
        let result = change(&mut state.protocol);
        self.settle(&mut state);
        result
    }

    /// Same as `with`, for the task that writes anyway.
    pub(crate) fn driven<R>(&self, change: impl FnOnce(&mut Http2Connection) -> R) -> R {
        change(&mut self.state.borrow_mut().protocol)
    }

    /// Charges new output to the account and wakes the driver to write it.
    fn settle(&self, state: &mut LinkState) {
        self.charge(state);
        if (!state.protocol.output().is_empty() || state.protocol.is_done())
            && let Some(driver) = state.driver.take()
        {
            driver.wake();
        }
    }

    fn charge(&self, state: &mut LinkState) {
        let waiting = state.protocol.output().len();
        if waiting > state.charged {
            self.account.add(waiting - state.charged);
        } else if waiting < state.charged {
            self.account.subtract(state.charged - waiting);
        }
        state.charged = waiting;
    }

    /// Registers the task of `cx` as the driver; called whenever it runs.
    pub(crate) fn drive(&self, cx: &Context<'_>) {
        let mut state = self.state.borrow_mut();
        if !state.driver.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
            state.driver = Some(cx.waker().clone());
        }
    }

    /// Called after output was written: updates the account and wakes tasks that wait for room.
    pub(crate) fn after_writing(&self) {
        let mut state = self.state.borrow_mut();
        let state = &mut *state;
        self.charge(state);
        state.protocol.set_output_data_max(if self.account.is_full() { NARROW_OUTPUT_BYTES } else { usize::MAX });
        for _ in 0..TURNS {
            let Some(key) = state.protocol.next_writable() else { break };
            state.wake(key);
        }
        if !state.openers.is_empty() && (state.protocol.can_open() || !state.protocol.can_ever_open()) {
            state.openers.drain(..).for_each(Waker::wake);
        }
        if let Some(buffer) = state.protocol.take_buffer() {
            self.core.http2_buffers.give_back(buffer);
        }
        state.protocol.rest();
    }

    /// Buffers an event of a stream until its task takes it.
    pub(crate) fn deliver(&self, event: Http2Event<'_>) {
        let mut state = self.state.borrow_mut();
        let LinkState { protocol, inboxes, .. } = &mut *state;
        let (Http2Event::Request { stream: key, .. }
        | Http2Event::Response { stream: key, .. }
        | Http2Event::Data { stream: key, .. }
        | Http2Event::Trailers { stream: key }
        | Http2Event::Reset { stream: key }) = event;
        let Some(Some(inbox)) = inboxes.get_mut(key.index()) else { return };
        match event {
            Http2Event::Request { ends, .. } => inbox.has_ended = ends,
            Http2Event::Response { ends, .. } => {
                if inbox.heads.len() >= HEADS_MAX {
                    protocol.reset(key, Http2ErrorCode::ENHANCE_YOUR_CALM);
                } else {
                    let mut text = self.core.spare();
                    let body = head::write_response(protocol.fields(), inbox.is_head_request, !ends, &mut text);
                    let is_interim = protocol.fields().status() < 200;
                    inbox.heads.push_back(ReceivedHead { text, body, is_interim });
                    inbox.has_ended = ends;
                }
            }
            Http2Event::Data { bytes, ends, .. } => {
                inbox.received.extend_from_slice(bytes);
                inbox.charge.grow(bytes.len());
                inbox.has_ended = ends;
            }
            Http2Event::Trailers { .. } => {
                head::write_trailers(protocol.fields(), &mut inbox.trailers);
                inbox.has_ended = true;
            }
            Http2Event::Reset { .. } => {}
        }
        state.wake(key);
    }

    /// Ends the connection: its streams fail.
    pub(crate) fn end(&self) {
        let mut state = self.state.borrow_mut();
        state.protocol.lose();
        let waiting: Vec<Waker> = state.inboxes.iter_mut().flatten().filter_map(|inbox| inbox.waker.take()).collect();
        waiting.into_iter().chain(state.openers.drain(..)).for_each(Waker::wake);
    }

    /// A stream that the other side opened. Data received for it is charged to `account`.
    pub(crate) fn accepted(self: &Rc<Self>, key: StreamKey, account: &Rc<BufferAccount>) -> LinkStream {
        self.state.borrow_mut().place(key, Inbox::new(account, false));
        LinkStream { link: self.clone(), key }
    }

    /// Opens a stream with this head when the stream limit allows it; an error if it never will.
    pub(crate) fn poll_open(
        self: &Rc<Self>,
        cx: &Context<'_>,
        block: &HeaderBlock,
        ends: bool,
        is_head_request: bool,
        account: &Rc<BufferAccount>,
    ) -> Poll<Result<LinkStream, StreamGone>> {
        let mut state = self.state.borrow_mut();
        if !state.protocol.can_ever_open() {
            return Poll::Ready(Err(StreamGone));
        }
        state.protocol.lend(|| self.core.http2_buffers.take());
        let Some(key) = state.protocol.open(block, ends, is_head_request) else {
            state.openers.push(cx.waker().clone());
            return Poll::Pending;
        };
        state.place(key, Inbox::new(account, is_head_request));
        self.settle(&mut state);
        Poll::Ready(Ok(LinkStream { link: self.clone(), key }))
    }
}

impl Drop for Http2Link {
    fn drop(&mut self) {
        self.account.subtract(self.state.get_mut().charged);
    }
}

impl LinkState {
    fn place(&mut self, key: StreamKey, inbox: Inbox) {
        if self.inboxes.len() <= key.index() {
            self.inboxes.resize_with(key.index() + 1, || None);
        }
        if let Some(place) = self.inboxes.get_mut(key.index()) {
            *place = Some(inbox);
            self.held += 1;
        }
    }

    /// Removes the inbox of a stream. Frees the slots when the last one is gone.
    fn remove(&mut self, key: StreamKey) -> Option<Inbox> {
        let inbox = self.inboxes.get_mut(key.index())?.take()?;
        self.held -= 1;
        if self.held == 0 && self.inboxes.len() > INBOXES_KEPT {
            self.inboxes = Vec::new();
        }
        Some(inbox)
    }

    fn wake(&mut self, key: StreamKey) {
        if let Some(Some(inbox)) = self.inboxes.get_mut(key.index())
            && let Some(waker) = inbox.waker.take()
        {
            waker.wake();
        }
    }
}

impl Inbox {
    fn new(account: &Rc<BufferAccount>, is_head_request: bool) -> Self {
        Inbox {
            received: Vec::new(),
            taken: 0,
            charge: account.charge(0),
            heads: VecDeque::new(),
            trailers: Vec::new(),
            has_ended: false,
            is_head_request,
            waker: None,
        }
    }

    fn wait<T>(&mut self, cx: &Context<'_>) -> Poll<T> {
        if !self.waker.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
            self.waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }
}

impl LinkStream {
    /// Inbox and reset code; `None` once the stream is gone.
    fn inbox(&self) -> Option<(RefMut<'_, Inbox>, Option<Http2ErrorCode>)> {
        let state = self.link.state.borrow_mut();
        let code = state.protocol.reset_code(self.key);
        let inbox = RefMut::filter_map(state, |state| state.inboxes.get_mut(self.key.index())?.as_mut());
        Some((inbox.ok()?, code))
    }

    /// The next head of the response.
    pub(crate) fn poll_head(&self, cx: &Context<'_>) -> Poll<Result<ReceivedHead, StreamGone>> {
        let Some((mut inbox, reset)) = self.inbox() else { return Poll::Ready(Err(StreamGone)) };
        match inbox.heads.pop_front() {
            Some(head) => Poll::Ready(Ok(head)),
            None if reset.is_some() || inbox.has_ended => Poll::Ready(Err(StreamGone)),
            None => inbox.wait(cx),
        }
    }

    /// Number of content bytes available; 0 at the end.
    pub(crate) fn poll_received(&self, cx: &Context<'_>) -> Poll<Result<usize, StreamGone>> {
        let Some((mut inbox, reset)) = self.inbox() else { return Poll::Ready(Err(StreamGone)) };
        match inbox.received.len() - inbox.taken {
            0 if inbox.has_ended => Poll::Ready(Ok(0)),
            _ if reset.is_some() && !inbox.has_ended => Poll::Ready(Err(StreamGone)),
            0 => inbox.wait(cx),
            waiting => Poll::Ready(Ok(waiting)),
        }
    }

    /// Passes up to this many bytes of content to `pass` and reopens the window by as much.
    pub(crate) fn take<E>(&self, bytes: usize, pass: impl FnOnce(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let taken = {
            let Some((mut inbox, _)) = self.inbox() else { return Ok(()) };
            let inbox = &mut *inbox;
            let waiting = inbox.received.get(inbox.taken..).unwrap_or_default();
            let now = waiting.get(..bytes).unwrap_or(waiting);
            pass(now)?;
            let taken = now.len();
            inbox.taken += taken;
            drop(inbox.charge.split(taken));
            if inbox.taken == inbox.received.len() {
                inbox.taken = 0;
                if inbox.received.capacity() > RECEIVED_BYTES_KEPT {
                    inbox.received = Vec::new();
                } else {
                    inbox.received.clear();
                }
            }
            taken
        };
        self.link.with(|protocol| protocol.take(self.key, taken));
        Ok(())
    }

    /// The received trailers, as lines of HTTP/1.1.
    pub(crate) fn trailers(&self) -> Vec<u8> {
        self.inbox().map(|(mut inbox, _)| std::mem::take(&mut inbox.trailers)).unwrap_or_default()
    }

    /// Ready when the stream is reset.
    pub(crate) fn poll_reset(&self, cx: &Context<'_>) -> Poll<()> {
        match self.inbox() {
            Some((mut inbox, None)) => inbox.wait(cx),
            _ => Poll::Ready(()),
        }
    }

    /// Sends a head or trailers.
    pub(crate) fn send_head(&self, block: &HeaderBlock, ends: bool) -> Result<(), StreamGone> {
        self.link.with(|protocol| {
            protocol.lend(|| self.link.core.http2_buffers.take());
            protocol.send_head(self.key, block, ends)
        })
    }

    /// Sends as much as there is room for; returns how many bytes.
    pub(crate) fn send_data(&self, data: &[u8], ends: bool) -> Result<usize, StreamGone> {
        self.link.with(|protocol| {
            protocol.lend(|| self.link.core.http2_buffers.take());
            protocol.send_data(self.key, data, ends)
        })
    }

    /// After a partial send: ready when more can be sent.
    pub(crate) fn poll_writable(&self, cx: &Context<'_>) -> Poll<Result<(), StreamGone>> {
        let waits = self.link.driven(|protocol| protocol.waits_to_send(self.key));
        match self.inbox() {
            Some((mut inbox, None)) if waits => inbox.wait(cx),
            Some((_, None)) => Poll::Ready(Ok(())),
            _ => Poll::Ready(Err(StreamGone)),
        }
    }

    /// Resets the stream.
    pub(crate) fn reset(&self, code: Http2ErrorCode) {
        self.link.with(|protocol| protocol.reset(self.key, code));
    }

    /// The core of this connection.
    pub(crate) fn core(&self) -> &Rc<Core> {
        &self.link.core
    }
}

impl Drop for LinkStream {
    fn drop(&mut self) {
        let inbox = {
            let mut state = self.link.state.borrow_mut();
            state.protocol.release(self.key);
            // A task that waits to open a stream may be able to now.
            if !state.openers.is_empty() {
                state.driver.take().into_iter().for_each(Waker::wake);
            }
            self.link.settle(&mut state);
            state.remove(self.key)
        };
        drop(inbox);
    }
}
