//! One connection: what is known of it, and what its caller may ask of it as a whole. Its two directions are in files of their own.

mod receive;
mod send;

use crate::PREFACE;
use crate::error::{Http2Error, Http2ErrorCode};
use crate::field_list::FieldList;
use crate::frame::{self, FRAME_HEADER, FrameHeader, HIGHEST, kind, setting};
use crate::hpack::HpackDecoder;
use crate::streams::{Closed, SendWait, StreamKey, StreamState, Streams};
use receive::{Block, DataFrame};
use std::collections::VecDeque;

/// Windows of streams and connections, unless somebody says otherwise (RFC 9113 §6.9.2).
const WINDOW: u32 = 65_535;
/// Bytes of answers to the other side's own frames, and of heads, that wait before no more of its frames are read: one that asks and does not
/// read gets no more answers.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;
/// Content that waits to be written. Streams wait for room beyond it.
const OUTPUT_DATA_MAX: usize = 64 * 1024;
/// The content of the ping behind the first goodbye: when it comes back, the other side knows of that, and has opened its last stream.
const LEAVING: &[u8; 8] = b"farewell";

/// Which side of a connection this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Http2Side {
    /// Clients open streams.
    Server,
    /// This side opens streams.
    Client,
}

/// What the other side is told at the beginning, and held to.
#[derive(Clone, Copy, Debug)]
pub struct Http2Settings {
    /// Bytes of one stream's content that the other side may send ahead.
    pub stream_window: u32,
    /// The same of all streams together.
    pub connection_window: u32,
    /// Streams that the other side may have open at once. Of no meaning for a client: servers open none.
    pub streams_max: u32,
    /// Bytes of a head's fields, each counted with 32 more (RFC 9113 §6.5.2). The fields beyond are not kept.
    pub header_list_bytes_max: u32,
    /// Clients may ask for tunnels (RFC 8441).
    pub connect_protocol: bool,
}

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub enum Http2Event<'a> {
    /// A request begins. Its head is in [`Http2Connection::fields`] until the next event; one that is too large is not whole and not checked.
    Request {
        /// Its stream.
        stream: StreamKey,
        /// It has no content.
        ends: bool,
    },
    /// The head of a response, or of an interim one, which is there in the same way.
    Response {
        /// Its stream.
        stream: StreamKey,
        /// It has no content.
        ends: bool,
    },
    /// A part of the content, to be taken with [`Http2Connection::take`].
    Data {
        /// Its stream.
        stream: StreamKey,
        /// The content.
        bytes: &'a [u8],
        /// It was the last part, and there are no trailers.
        ends: bool,
    },
    /// The trailers, which are in [`Http2Connection::fields`] until the next event.
    Trailers {
        /// Their stream.
        stream: StreamKey,
    },
    /// A stream has failed: either side has reset it.
    Reset {
        /// The stream.
        stream: StreamKey,
    },
}

/// Frames of the other side, for whoever judges how much it may ask for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrameCounts {
    /// All that have begun.
    pub all: u32,
    /// Those that carry content or end a stream.
    pub data: u32,
    /// Those that carry no part of a message: settings, pings, windows, priorities, resets, what nobody knows, and data without content.
    pub control: u32,
    /// Bytes of heads, where a frame has more than usual.
    pub large_heads: usize,
    /// Streams that it opened and that came to nothing because of it: they were reset before their end, or refused.
    pub spoilt_streams: u32,
}

/// How far a goodbye has come (RFC 9113 §6.8).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaving {
    No,
    /// It was said, and streams that the other side opens meanwhile are served.
    Announced,
    /// Further streams are refused.
    Final,
}

/// One side of a connection.
pub struct Http2Connection {
    side: Http2Side,
    streams: Streams,
    is_failed: bool,

    // What comes.
    /// Bytes of the preface that are still to come.
    preface_left: usize,
    /// A frame's header, of which `header_len` bytes have come; then its content, as far as that has come.
    header: [u8; FRAME_HEADER],
    header_len: usize,
    frame: Option<FrameHeader>,
    content: Vec<u8>,
    /// The DATA frame whose content is coming.
    data: Option<DataFrame>,
    /// The header block whose end has not come.
    block: Option<Box<Block>>,
    decoder: HpackDecoder,
    fields: FieldList,
    has_settings: bool,
    /// Frames and header blocks that were finished, the preface among them.
    finished: u64,
    counts: FrameCounts,
    /// Streams that have failed and whose caller was not told.
    failed: Vec<StreamKey>,
    header_list_bytes_max: usize,
    /// The highest stream that the other side has opened.
    highest: u32,
    streams_max: usize,
    /// What the other side may send on all streams, what it is meant to be able to send, and bytes taken that it was not told of.
    receive_window: i64,
    receive_window_size: u32,
    taken: u32,
    /// The window that streams begin with.
    stream_window: u32,
    /// Settings that the other side has not acknowledged: the windows of streams that they bring, if they do.
    unacknowledged: VecDeque<Option<u32>>,

    // What goes.
    out: Vec<u8>,
    /// Bytes of `out` that are written.
    written: usize,
    output_data_max: usize,
    /// The number of the next stream that this side opens.
    next: u32,
    send_window: i64,
    peer_stream_window: u32,
    peer_streams_max: u32,
    /// The next block says that no table is used.
    renounces_table: bool,
    /// Streams that have content to send and an open window of their own.
    turns: VecDeque<StreamKey>,
    leaving: Leaving,
    /// The other side said goodbye.
    peer_leaves: bool,
}

impl Http2Connection {
    /// A connection that begins.
    pub fn new(side: Http2Side, settings: &Http2Settings) -> Self {
        let mut connection = Http2Connection {
            side,
            streams: Streams::default(),
            is_failed: false,
            preface_left: if side == Http2Side::Server { PREFACE.len() } else { 0 },
            header: [0; FRAME_HEADER],
            header_len: 0,
            frame: None,
            content: Vec::new(),
            data: None,
            block: None,
            decoder: HpackDecoder::new(),
            fields: FieldList::new(settings.header_list_bytes_max as usize),
            has_settings: false,
            finished: 0,
            counts: FrameCounts::default(),
            failed: Vec::new(),
            header_list_bytes_max: settings.header_list_bytes_max as usize,
            highest: 0,
            streams_max: settings.streams_max as usize,
            receive_window: i64::from(WINDOW),
            receive_window_size: WINDOW,
            taken: 0,
            stream_window: settings.stream_window.min(HIGHEST),
            unacknowledged: VecDeque::from([None]),
            out: Vec::new(),
            written: 0,
            output_data_max: OUTPUT_DATA_MAX,
            next: 1,
            send_window: i64::from(WINDOW),
            peer_stream_window: WINDOW,
            peer_streams_max: u32::MAX,
            renounces_table: false,
            turns: VecDeque::new(),
            leaving: Leaving::No,
            peer_leaves: false,
        };
        connection.begin(settings);
        connection
    }

    fn begin(&mut self, settings: &Http2Settings) {
        let common =
            [(setting::INITIAL_WINDOW_SIZE, self.stream_window), (setting::MAX_HEADER_LIST_SIZE, settings.header_list_bytes_max)];
        let own = match (self.side, settings.connect_protocol) {
            (Http2Side::Client, _) => vec![(setting::ENABLE_PUSH, 0)],
            (Http2Side::Server, false) => vec![(setting::MAX_CONCURRENT_STREAMS, settings.streams_max)],
            (Http2Side::Server, true) => {
                vec![(setting::MAX_CONCURRENT_STREAMS, settings.streams_max), (setting::ENABLE_CONNECT_PROTOCOL, 1)]
            }
        };
        if self.side == Http2Side::Client {
            self.out.extend_from_slice(PREFACE);
        }
        frame::write_settings(&[common.as_slice(), &own].concat(), &mut self.out);
        self.widen(settings.connection_window);
    }

    /// The head or the trailers of the last event.
    pub fn fields(&self) -> &FieldList {
        &self.fields
    }

    /// Why a stream has failed, if it has.
    pub fn reset_code(&self, stream: StreamKey) -> Option<Http2ErrorCode> {
        self.streams.get(stream).and_then(|stream| stream.reset)
    }

    /// Streams that neither side has ended.
    pub fn open_streams(&self) -> usize {
        self.streams.open()
    }

    /// Frames of the other side since the last call.
    pub fn take_counts(&mut self) -> FrameCounts {
        std::mem::take(&mut self.counts)
    }

    /// The number of what the other side has begun to say and not ended: the preface with its first frame, a frame or a header block. How
    /// long content takes is another matter.
    pub fn unfinished(&self) -> Option<u64> {
        let has_begun = self.header_len > 0 || self.frame.is_some() || self.block.is_some() || !self.has_settings;
        has_begun.then_some(self.finished)
    }

    /// Whether more of what the other side sends should be read: not while it takes no answers.
    pub fn wants_input(&self) -> bool {
        !self.is_failed && self.output().len() < OUTPUT_BYTES_MAX + self.output_data_max
    }

    /// It has ended because of an error.
    pub fn has_failed(&self) -> bool {
        self.is_failed
    }

    /// Nothing more will come of it: it is to be closed once its output is written.
    pub fn is_done(&self) -> bool {
        let is_leaving = self.leaving == Leaving::Final || self.peer_leaves;
        self.is_failed || is_leaving && self.streams.open() == 0
    }

    /// Says goodbye: streams that are open go on, and those that the other side opens before it knows are served.
    pub fn leave(&mut self) {
        if self.leaving == Leaving::No && !self.is_failed {
            self.leaving = Leaving::Announced;
            frame::write_goaway(HIGHEST, Http2ErrorCode::NO_ERROR, &mut self.out);
            frame::write_frame(kind::PING, 0, 0, LEAVING, &mut self.out);
        }
    }

    /// Says goodbye to whoever has no stream open, without waiting for streams that may be on their way.
    pub fn leave_now(&mut self) {
        if self.leaving != Leaving::Final && !self.is_failed {
            self.leaving = Leaving::Final;
            frame::write_goaway(self.highest, Http2ErrorCode::NO_ERROR, &mut self.out);
        }
    }

    /// Ends the connection with all its streams; the other side is told why.
    pub fn fail(&mut self, code: Http2ErrorCode) {
        if !self.is_failed {
            self.is_failed = true;
            frame::write_goaway(self.highest, code, &mut self.out);
            self.end_streams(code);
        }
    }

    /// The other side is gone.
    pub fn lose(&mut self) {
        self.is_failed = true;
        self.end_streams(Http2ErrorCode::CANCEL);
    }

    fn end_streams(&mut self, code: Http2ErrorCode) {
        let mut open = Vec::new();
        self.streams.each_open(|key, _| open.push(key));
        for key in open {
            self.close(key, Closed::Here, Some(code));
        }
    }

    /// Lets go of buffers that are empty.
    pub fn rest(&mut self) {
        if self.output().is_empty() && self.out.capacity() > 0 {
            self.out = Vec::new();
            self.written = 0;
        }
        if self.block.is_none() && self.fields.capacity() > 0 {
            self.fields.release();
        }
        self.streams.rest();
        if self.turns.is_empty() {
            self.turns = VecDeque::new();
        }
    }

    /// Changes a stream's state to closed.
    fn close(&mut self, key: StreamKey, how: Closed, reset: Option<Http2ErrorCode>) {
        let Some(stream) = self.streams.get_mut(key) else { return };
        (stream.receives, stream.sends) = (false, false);
        stream.reset = stream.reset.or(reset);
        if stream.wait == SendWait::Turn {
            self.turns.retain(|turn| *turn != key);
        }
        // What still comes of its content is nobody's.
        if let Some(data) = self.data.as_mut().filter(|data| data.stream == Some(key)) {
            data.stream = None;
        }
        self.streams.close(key, how);
    }

    /// Closes a stream that both sides have ended.
    fn close_if_ended(&mut self, key: StreamKey) {
        if self.streams.get(key).is_some_and(|stream| !stream.receives && !stream.sends && stream.reset.is_none()) {
            self.close(key, Closed::Ended, None);
        }
    }

    /// Resets a stream because of what the other side did, and has its caller told.
    fn spoil(&mut self, key: StreamKey, code: Http2ErrorCode) {
        self.counts.spoilt_streams += 1;
        self.failed.push(key);
        self.reset(key, code);
    }

    /// A stream begins.
    fn new_stream(&self, id: u32) -> StreamState {
        StreamState {
            id,
            receives: true,
            sends: true,
            reset: None,
            is_held: true,
            send_window: i64::from(self.peer_stream_window),
            receive_window: i64::from(self.stream_window),
            waiting: 0,
            taken: 0,
            content_left: None,
            has_head: false,
            is_head_request: false,
            wait: SendWait::None,
        }
    }
}

impl std::fmt::Debug for Http2Connection {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Http2Connection").field("side", &self.side).field("open", &self.streams.open()).finish_non_exhaustive()
    }
}

/// An error that ends the connection.
fn fault<T>(code: Http2ErrorCode, reason: &'static str) -> Result<T, Http2Error> {
    Err(Http2Error::new(code, reason))
}

#[cfg(test)]
mod tests;
