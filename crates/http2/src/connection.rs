//! One HTTP/2 connection: its state, and operations on the connection as a whole. Submodules implement receiving and sending.

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

/// Initial window of streams and connections (RFC 9113 §6.9.2).
const WINDOW: u32 = 65_535;
/// Maximum buffered bytes of heads and of responses to the peer's frames. Beyond this, no more of its frames are read: a peer that
/// sends requests but does not read gets no more answers.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;
/// Content that may wait to be written. Beyond it, streams wait for room.
const OUTPUT_DATA_MAX: usize = 64 * 1024;
/// Payload of the ping after the first GOAWAY. Its acknowledgement means that the peer has received the GOAWAY and opened its last
/// stream.
const LEAVING: &[u8; 8] = b"farewell";

/// The role of this side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Http2Side {
    /// The peer, a client, opens streams.
    Server,
    /// This side opens streams.
    Client,
}

/// The initial settings sent to the peer, which must obey them.
#[derive(Clone, Copy, Debug)]
pub struct Http2Settings {
    /// Window of a stream: bytes of content that the peer may send in advance.
    pub stream_window: u32,
    /// Window of the connection, for all streams together.
    pub connection_window: u32,
    /// Maximum streams that the peer may have open. Irrelevant for a client: servers open none.
    pub streams_max: u32,
    /// Maximum size of a head: its fields plus 32 bytes each (RFC 9113 §6.5.2). Further fields are dropped.
    pub header_list_bytes_max: u32,
    /// Whether clients may request tunnels (RFC 8441).
    pub connect_protocol: bool,
}

/// Something received from the peer.
#[derive(Debug, PartialEq, Eq)]
pub enum Http2Event<'a> {
    /// A request starts. Its head is in [`Http2Connection::fields`] until the next event; a head that is too large is incomplete
    /// and unchecked.
    Request {
        /// Its stream.
        stream: StreamKey,
        /// Whether it has no content.
        ends: bool,
    },
    /// The head of a final or interim response, available in the same way.
    Response {
        /// Its stream.
        stream: StreamKey,
        /// Whether it has no content.
        ends: bool,
    },
    /// A part of the content, to be acknowledged with [`Http2Connection::take`].
    Data {
        /// Its stream.
        stream: StreamKey,
        /// The content.
        bytes: &'a [u8],
        /// Whether this is the last part and no trailers follow.
        ends: bool,
    },
    /// The trailers, which are in [`Http2Connection::fields`] until the next event.
    Trailers {
        /// Their stream.
        stream: StreamKey,
    },
    /// A stream has failed: one of the sides has reset it.
    Reset {
        /// The stream.
        stream: StreamKey,
    },
}

/// Counts of received frames, so that the caller can limit abuse.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrameCounts {
    /// All frames.
    pub all: u32,
    /// Frames that carry content or end a stream.
    pub data: u32,
    /// Frames that carry no part of a message: settings, pings, window updates, priorities, resets, unknown types, and data without
    /// content.
    pub control: u32,
    /// Bytes of frames with unusually large heads.
    pub large_heads: usize,
    /// Streams that the peer opened and then wasted: reset before their end, or rejected because of its error.
    pub spoilt_streams: u32,
}

/// Progress of a shutdown with GOAWAY (RFC 9113 §6.8).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaving {
    No,
    /// The first GOAWAY was sent; streams that the peer opens meanwhile are served.
    Announced,
    /// Further streams are refused.
    Final,
}

/// State of one side of a connection.
pub struct Http2Connection {
    side: Http2Side,
    streams: Streams,
    is_failed: bool,

    // Receiving.
    /// Bytes of the preface that have not arrived.
    preface_left: usize,
    /// The header of a frame, of which `header_len` bytes have arrived; then its payload, as far as it has arrived.
    header: [u8; FRAME_HEADER],
    header_len: usize,
    frame: Option<FrameHeader>,
    content: Vec<u8>,
    /// The DATA frame whose content is arriving.
    data: Option<DataFrame>,
    /// The header block that is incomplete.
    block: Option<Box<Block>>,
    decoder: HpackDecoder,
    fields: FieldList,
    has_settings: bool,
    /// Number of completed frames and header blocks, including the preface.
    finished: u64,
    counts: FrameCounts,
    /// Failed streams that the caller was not told of.
    failed: Vec<StreamKey>,
    header_list_bytes_max: usize,
    /// The highest stream number that the peer has opened.
    highest: u32,
    streams_max: usize,
    /// The remaining receive window of the connection, its intended size, and bytes taken but not returned to the peer.
    receive_window: i64,
    receive_window_size: u32,
    taken: u32,
    /// Initial window of streams.
    stream_window: u32,
    /// Settings that the peer has not acknowledged: the stream window that each sets, if it does.
    unacknowledged: VecDeque<Option<u32>>,

    // Sending.
    out: Vec<u8>,
    /// Bytes of `out` that are written.
    written: usize,
    /// A head or trailers were sent since bytes were last written.
    has_new_head: bool,
    output_data_max: usize,
    /// The number of the next stream that this side opens.
    next: u32,
    send_window: i64,
    peer_stream_window: u32,
    peer_streams_max: u32,
    /// The next block announces that no dynamic table is used.
    renounces_table: bool,
    /// Streams that have content to send and an open stream window.
    turns: VecDeque<StreamKey>,
    leaving: Leaving,
    /// The peer has sent GOAWAY.
    peer_leaves: bool,
}

impl Http2Connection {
    /// A new connection.
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
            has_new_head: false,
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

    /// The head or trailers of the last event.
    pub fn fields(&self) -> &FieldList {
        &self.fields
    }

    /// Why a stream was reset, if it was.
    pub fn reset_code(&self, stream: StreamKey) -> Option<Http2ErrorCode> {
        self.streams.get(stream).and_then(|stream| stream.reset)
    }

    /// Number of streams that neither side has ended.
    pub fn open_streams(&self) -> usize {
        self.streams.open()
    }

    /// Counts of received frames since the last call.
    pub fn take_counts(&mut self) -> FrameCounts {
        std::mem::take(&mut self.counts)
    }

    /// The number of an item that the peer has begun but not finished: the preface with its first frame, a frame or a header block.
    /// Content is excluded: its time limits are a separate matter.
    pub fn unfinished(&self) -> Option<u64> {
        let has_begun = self.header_len > 0 || self.frame.is_some() || self.block.is_some() || !self.has_settings;
        has_begun.then_some(self.finished)
    }

    /// Whether to read more input: not while the peer takes no output.
    pub fn wants_input(&self) -> bool {
        !self.is_failed && self.output().len() < OUTPUT_BYTES_MAX + self.output_data_max
    }

    /// Whether the connection ended because of an error.
    pub fn has_failed(&self) -> bool {
        self.is_failed
    }

    /// Whether nothing more can happen: close it once its output is written.
    pub fn is_done(&self) -> bool {
        let is_leaving = self.leaving == Leaving::Final || self.peer_leaves;
        self.is_failed || is_leaving && self.streams.open() == 0
    }

    /// Sends GOAWAY: open streams continue, and streams that the peer opens before it receives the GOAWAY are served.
    pub fn leave(&mut self) {
        if self.leaving == Leaving::No && !self.is_failed {
            self.leaving = Leaving::Announced;
            frame::write_goaway(HIGHEST, Http2ErrorCode::NO_ERROR, &mut self.out);
            frame::write_frame(kind::PING, 0, 0, LEAVING, &mut self.out);
        }
    }

    /// Sends the final GOAWAY to a peer without open streams, without waiting for streams in transit.
    pub fn leave_now(&mut self) {
        if self.leaving != Leaving::Final && !self.is_failed {
            self.leaving = Leaving::Final;
            frame::write_goaway(self.highest, Http2ErrorCode::NO_ERROR, &mut self.out);
        }
    }

    /// Ends the connection and all its streams, and tells the peer why.
    pub fn fail(&mut self, code: Http2ErrorCode) {
        if !self.is_failed {
            self.is_failed = true;
            frame::write_goaway(self.highest, code, &mut self.out);
            self.end_streams(code);
        }
    }

    /// The peer has disconnected.
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

    /// Frees empty buffers.
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

    /// Sets a stream's state to closed.
    fn close(&mut self, key: StreamKey, how: Closed, reset: Option<Http2ErrorCode>) {
        let Some(stream) = self.streams.get_mut(key) else { return };
        (stream.receives, stream.sends) = (false, false);
        stream.reset = stream.reset.or(reset);
        if stream.wait == SendWait::Turn {
            self.turns.retain(|turn| *turn != key);
        }
        // No one receives the rest of its content.
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

    /// Resets a stream because of the peer's error, and reports it to the caller.
    fn spoil(&mut self, key: StreamKey, code: Http2ErrorCode) {
        self.counts.spoilt_streams += 1;
        self.failed.push(key);
        self.reset(key, code);
    }

    /// The state of a new stream.
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
