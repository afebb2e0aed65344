//! Sending: heads, content within the windows, resets, and the bytes to write.

use super::{Http2Connection, Http2Side, OUTPUT_DATA_MAX};
use crate::error::{Http2ErrorCode, StreamGone};
use crate::frame::{self, FRAME_BYTES_MAX, FrameHeader, HIGHEST, flag, kind};
use crate::hpack::{HeaderBlock, TABLE_SIZE_ZERO};
use crate::streams::{Closed, SendWait, StreamKey};

/// Content is not split into smaller pieces than this for lack of room.
const PIECE_BYTES_MIN: usize = 2048;

impl Http2Connection {
    /// Bytes to write.
    pub fn output(&self) -> &[u8] {
        self.out.get(self.written..).unwrap_or_default()
    }

    /// Whether a head or trailers were sent since bytes were last written.
    pub fn has_new_head(&self) -> bool {
        self.has_new_head
    }

    /// Marks this many bytes as written.
    pub fn wrote(&mut self, bytes: usize) {
        self.written += bytes;
        self.has_new_head = false;
        if self.written >= self.out.len() {
            self.out.clear();
            self.written = 0;
        }
    }

    /// Lends a buffer for the output, if there is none.
    pub fn lend(&mut self, buffer: impl FnOnce() -> Vec<u8>) {
        if self.out.capacity() == 0 {
            self.out = buffer();
        }
    }

    /// Returns the output buffer, if it is empty.
    pub fn take_buffer(&mut self) -> Option<Vec<u8>> {
        let is_spare = self.output().is_empty() && self.out.capacity() > 0;
        is_spare.then(|| {
            self.written = 0;
            let mut buffer = std::mem::take(&mut self.out);
            buffer.clear();
            buffer
        })
    }

    /// Limits the content that may wait to be written, at most to the default limit.
    pub fn set_output_data_max(&mut self, bytes: usize) {
        self.output_data_max = bytes.min(OUTPUT_DATA_MAX);
    }

    /// Whether a stream can be opened now.
    pub fn can_open(&self) -> bool {
        self.can_ever_open() && self.streams.open() < self.peer_streams_max as usize
    }

    /// Whether a stream can be opened now or later.
    pub fn can_ever_open(&self) -> bool {
        self.side == Http2Side::Client && !self.is_failed && !self.peer_leaves && self.next <= HIGHEST
    }

    /// Maximum concurrent streams that the peer allows.
    pub fn peer_streams_max(&self) -> u32 {
        self.peer_streams_max
    }

    /// Sends a request head on a new stream. Set `is_head` for HEAD, whose response has no content, whatever its head says.
    pub fn open(&mut self, block: &HeaderBlock, ends: bool, is_head: bool) -> Option<StreamKey> {
        if !self.can_open() {
            return None;
        }
        let mut stream = self.new_stream(self.next);
        stream.is_head_request = is_head;
        self.next += 2;
        let key = self.streams.add(stream);
        self.send_head(key, block, ends).ok()?;
        Some(key)
    }

    /// Sends a head or trailers.
    pub fn send_head(&mut self, key: StreamKey, block: &HeaderBlock, ends: bool) -> Result<(), StreamGone> {
        let stream = self.streams.get_mut(key).filter(|stream| stream.sends).ok_or(StreamGone)?;
        let id = stream.id;
        stream.sends = !ends;
        let ends = if ends { flag::END_STREAM } else { 0 };
        self.has_new_head = true;
        let renounces = std::mem::take(&mut self.renounces_table);
        if block.bytes().len() < FRAME_BYTES_MAX {
            let length = block.bytes().len() + usize::from(renounces);
            FrameHeader { length, kind: kind::HEADERS, flags: flag::END_HEADERS | ends, stream: id }.write(&mut self.out);
            if renounces {
                self.out.push(TABLE_SIZE_ZERO);
            }
            self.out.extend_from_slice(block.bytes());
        } else {
            let prefix: &[u8] = if renounces { &[TABLE_SIZE_ZERO] } else { &[] };
            self.send_long(id, &[prefix, block.bytes()].concat(), ends);
        }
        self.close_if_ended(key);
        Ok(())
    }

    /// Sends a block that does not fit in one frame.
    fn send_long(&mut self, id: u32, block: &[u8], ends: u8) {
        let (mut kind, mut flags) = (kind::HEADERS, ends);
        let mut pieces = block.chunks(FRAME_BYTES_MAX).peekable();
        while let Some(piece) = pieces.next() {
            if pieces.peek().is_none() {
                flags |= flag::END_HEADERS;
            }
            frame::write_frame(kind, flags, id, piece, &mut self.out);
            (kind, flags) = (kind::CONTINUATION, 0);
        }
    }

    /// Sends as much content as the windows and the output allow; returns the number of bytes. If some remains,
    /// [`Http2Connection::next_writable`] returns the stream once there is room.
    pub fn send_data(&mut self, key: StreamKey, data: &[u8], ends: bool) -> Result<usize, StreamGone> {
        let room = self.output_data_max.saturating_sub(self.out.len() - self.written);
        let room = if room < data.len().min(PIECE_BYTES_MIN) { 0 } else { room };
        // While other streams wait, each may send one frame per turn.
        let turn = if self.turns.is_empty() { usize::MAX } else { FRAME_BYTES_MAX };
        let stream = self.streams.get_mut(key).filter(|stream| stream.sends).ok_or(StreamGone)?;
        let window = usize::try_from(stream.send_window.min(self.send_window)).unwrap_or(0);
        let (now, later) = data.split_at(data.len().min(window).min(room).min(turn));
        if !later.is_empty() && stream.wait == SendWait::None {
            if stream.send_window <= now.len() as i64 {
                stream.wait = SendWait::Window;
            } else {
                stream.wait = SendWait::Turn;
                self.turns.push_back(key);
            }
        }
        let ends = ends && later.is_empty();
        stream.send_window -= now.len() as i64;
        self.send_window -= now.len() as i64;
        stream.sends = !ends;
        let id = stream.id;
        let mut pieces = now.chunks(FRAME_BYTES_MAX).peekable();
        while let Some(piece) = pieces.next() {
            let flags = if ends && pieces.peek().is_none() { flag::END_STREAM } else { 0 };
            frame::write_frame(kind::DATA, flags, id, piece, &mut self.out);
        }
        if ends {
            if now.is_empty() {
                frame::write_frame(kind::DATA, flag::END_STREAM, id, &[], &mut self.out);
            }
            self.close_if_ended(key);
        }
        Ok(now.len())
    }

    /// Whether a stream that could not send everything must still wait.
    pub fn waits_to_send(&self, key: StreamKey) -> bool {
        self.streams.get(key).is_some_and(|stream| stream.wait != SendWait::None)
    }

    /// A stream that could not send everything before and may send more now.
    pub fn next_writable(&mut self) -> Option<StreamKey> {
        let has_room = self.output_data_max.saturating_sub(self.output().len()) >= FRAME_BYTES_MAX.min(self.output_data_max);
        if self.send_window <= 0 || !has_room {
            return None;
        }
        while let Some(key) = self.turns.pop_front() {
            if let Some(stream) = self.streams.get_mut(key).filter(|stream| stream.wait == SendWait::Turn) {
                // Its window may have been reduced.
                if stream.send_window > 0 {
                    stream.wait = SendWait::None;
                    return Some(key);
                }
                stream.wait = SendWait::Window;
            }
        }
        None
    }

    /// Resets a stream, unless it has ended.
    pub fn reset(&mut self, key: StreamKey, code: Http2ErrorCode) {
        let Some(stream) = self.streams.get(key).filter(|stream| stream.receives || stream.sends) else { return };
        frame::write_reset(stream.id, code, &mut self.out);
        self.close(key, Closed::Here, Some(code));
    }

    /// The caller is done with a stream; its key becomes invalid. Unfinished parts are reset: a server that has sent its whole
    /// response does not need the rest of the request (RFC 9113 §8.1); in other cases the exchange is cancelled.
    pub fn release(&mut self, key: StreamKey) {
        let Some(stream) = self.streams.get(key) else { return };
        let has_answered = self.side == Http2Side::Server && !stream.sends;
        let waiting = stream.waiting;
        self.reset(key, if has_answered { Http2ErrorCode::NO_ERROR } else { Http2ErrorCode::CANCEL });
        self.take_for_connection(waiting);
        self.streams.vacate(key);
    }
}
