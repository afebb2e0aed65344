//! Receiving: bytes become frames, frames become events. Content is passed on in place; other frames are read completely first.

use super::{Http2Connection, Http2Event, Http2Side, LEAVING, Leaving, WINDOW, fault};
use crate::PREFACE;
use crate::error::{Http2Error, Http2ErrorCode};
use crate::frame::{self, FRAME_BYTES_MAX, FrameHeader, HIGHEST, flag, kind, setting};
use crate::hpack::TABLE_BYTES_MAX;
use crate::streams::{Closed, SendWait, StreamKey, StreamState};

/// A head frame above this size is unusually large.
const LARGE_HEAD_BYTES: usize = 1024;
/// Maximum bytes of a header block, and of one of its fields, as a multiple of the head limit. A head that is too large is still
/// decoded, so that it can be answered and the compression tables stay in sync, but only up to this limit.
const BLOCK_BYTES_PER_HEAD: usize = 4;
const FIELD_BYTES_PER_HEAD: usize = 2;

/// A DATA frame whose content is arriving.
pub(super) struct DataFrame {
    /// Its stream; `None` if the stream is gone.
    pub stream: Option<StreamKey>,
    /// The length of the padding has not arrived.
    is_padded: bool,
    left: usize,
    padding: usize,
    ends: bool,
}

impl DataFrame {
    fn is_over(&self) -> bool {
        self.left == 0 && self.padding == 0 && !self.is_padded
    }
}

/// A header block whose frames are arriving.
pub(super) struct Block {
    stream: u32,
    ends: bool,
    depends_on_itself: bool,
    /// Bytes received.
    bytes: usize,
    /// The start of an incomplete field.
    rest: Vec<u8>,
}

impl Http2Connection {
    /// Returns the next event in `input` and consumes what it read; `None` when nothing is left. On an error, the peer is notified,
    /// and nothing more is read.
    pub fn next<'i>(&mut self, input: &mut &'i [u8]) -> Result<Option<Http2Event<'i>>, Http2Error> {
        let read = self.read(input);
        if let Err(error) = &read {
            self.fail(error.code);
        }
        read
    }

    fn read<'i>(&mut self, input: &mut &'i [u8]) -> Result<Option<Http2Event<'i>>, Http2Error> {
        loop {
            if let Some(stream) = self.failed.pop() {
                return Ok(Some(Http2Event::Reset { stream }));
            }
            if self.is_failed {
                *input = &[];
            }
            // A frame without content may end a message.
            let is_over = self.data.as_ref().is_some_and(DataFrame::is_over);
            if input.is_empty() && !is_over {
                return Ok(None);
            }
            let event = if self.preface_left > 0 {
                self.read_preface(input)?;
                None
            } else if self.data.is_some() {
                self.read_data(input)?
            } else if let Some((header, content)) = self.frame_in(input)? {
                // Usually the whole frame is there and is read in place.
                self.on_frame(header, content)?
            } else if let Some(header) = self.frame {
                self.collect(header, input)?
            } else {
                None
            };
            if event.is_some() {
                return Ok(event);
            }
        }
    }

    fn read_preface(&mut self, input: &mut &[u8]) -> Result<(), Http2Error> {
        let wanted = PREFACE.get(PREFACE.len() - self.preface_left..).unwrap_or_default();
        let (now, later) = input.split_at(wanted.len().min(input.len()));
        if !wanted.starts_with(now) {
            return fault(Http2ErrorCode::PROTOCOL_ERROR, "the preface is wrong");
        }
        self.preface_left -= now.len();
        *input = later;
        if self.preface_left == 0 {
            self.finished += 1;
        }
        Ok(())
    }

    /// The frame at the start of `input`. An incomplete frame is buffered, except a DATA frame, whose content is passed on as it
    /// arrives.
    fn frame_in<'i>(&mut self, input: &mut &'i [u8]) -> Result<Option<(FrameHeader, &'i [u8])>, Http2Error> {
        if self.frame.is_some() {
            return Ok(None);
        }
        let (now, later) = input.split_at((self.header.len() - self.header_len).min(input.len()));
        if let Some(room) = self.header.get_mut(self.header_len..self.header_len + now.len()) {
            room.copy_from_slice(now);
        }
        self.header_len += now.len();
        *input = later;
        if self.header_len < self.header.len() {
            return Ok(None);
        }
        self.header_len = 0;
        let header = FrameHeader::read(&self.header);
        self.check(header)?;
        if header.kind == kind::DATA {
            self.begin_data(header)?;
            return Ok(None);
        }
        match later.split_at_checked(header.length) {
            Some((content, later)) => {
                *input = later;
                Ok(Some((header, content)))
            }
            None => {
                self.frame = Some(header);
                Ok(None)
            }
        }
    }

    /// Collects the payload of a frame that arrives in pieces.
    fn collect(&mut self, header: FrameHeader, input: &mut &[u8]) -> Result<Option<Http2Event<'static>>, Http2Error> {
        let (now, later) = input.split_at((header.length - self.content.len()).min(input.len()));
        self.content.extend_from_slice(now);
        *input = later;
        if self.content.len() < header.length {
            return Ok(None);
        }
        self.frame = None;
        let content = std::mem::take(&mut self.content);
        self.on_frame(header, &content)
    }

    /// Counts a frame and checks whether it is allowed now.
    fn check(&mut self, header: FrameHeader) -> Result<(), Http2Error> {
        let FrameHeader { length, kind, .. } = header;
        self.counts.all += 1;
        if matches!(kind, kind::HEADERS | kind::CONTINUATION) && length > LARGE_HEAD_BYTES {
            self.counts.large_heads += length;
        }
        match kind {
            kind::DATA if length > 0 || header.has(flag::END_STREAM) => self.counts.data += 1,
            kind::HEADERS => {}
            _ => self.counts.control += 1,
        }
        if length > FRAME_BYTES_MAX {
            return fault(Http2ErrorCode::FRAME_SIZE_ERROR, "a frame is larger than was allowed");
        }
        if !self.has_settings && (kind != kind::SETTINGS || header.has(flag::ACK)) {
            return fault(Http2ErrorCode::PROTOCOL_ERROR, "the first frame is not SETTINGS");
        }
        let is_fitting = match &self.block {
            Some(block) => kind == kind::CONTINUATION && block.stream == header.stream,
            None => kind != kind::CONTINUATION,
        };
        if is_fitting { Ok(()) } else { fault(Http2ErrorCode::PROTOCOL_ERROR, "a header block and other frames are mixed") }
    }

    fn on_frame(&mut self, header: FrameHeader, content: &[u8]) -> Result<Option<Http2Event<'static>>, Http2Error> {
        let event = match header.kind {
            kind::HEADERS => self.on_headers(header, content)?,
            kind::CONTINUATION => self.on_fragment(content, header.has(flag::END_HEADERS))?,
            kind::PRIORITY => self.on_priority(header, content).map(|()| None)?,
            kind::RST_STREAM => self.on_reset(header, content).map(|()| None)?,
            kind::SETTINGS => self.on_settings(header, content).map(|()| None)?,
            kind::PUSH_PROMISE => return fault(Http2ErrorCode::PROTOCOL_ERROR, "a promise that nobody may make"),
            kind::PING => self.on_ping(header, content).map(|()| None)?,
            kind::GOAWAY => self.on_goaway(header, content).map(|()| None)?,
            kind::WINDOW_UPDATE => self.on_window_update(header, content).map(|()| None)?,
            _ => None,
        };
        // A block counts as one item, however many frames it has.
        if self.block.is_none() {
            self.finished += 1;
        }
        Ok(event)
    }

    /// Whether no stream of this number was ever opened (RFC 9113 §5.1.1).
    fn is_idle(&self, id: u32) -> bool {
        match self.side {
            Http2Side::Server => id.is_multiple_of(2) || id > self.highest,
            Http2Side::Client => id.is_multiple_of(2) || id >= self.next,
        }
    }

    /// Handles a frame for a closed stream (§5.1).
    fn on_closed(&mut self, id: u32) {
        if self.streams.closed(id) != Some(Closed::Here) {
            self.counts.spoilt_streams += 1;
            frame::write_reset(id, Http2ErrorCode::STREAM_CLOSED, &mut self.out);
        }
    }

    // --- Content (§6.1) ---

    fn begin_data(&mut self, header: FrameHeader) -> Result<(), Http2Error> {
        let FrameHeader { length, stream: id, .. } = header;
        let is_padded = header.has(flag::PADDED);
        if id == 0 || self.is_idle(id) {
            return fault(Http2ErrorCode::PROTOCOL_ERROR, "DATA on a stream that was never opened");
        }
        if is_padded && length == 0 {
            return fault(Http2ErrorCode::FRAME_SIZE_ERROR, "a DATA frame without its own field");
        }
        self.receive_window -= length as i64;
        if self.receive_window < 0 {
            return fault(Http2ErrorCode::FLOW_CONTROL_ERROR, "more content than the connection's window allows");
        }
        let stream = self.streams.find(id);
        match stream.and_then(|key| self.streams.get_mut(key).map(|stream| (key, stream))) {
            None => self.on_closed(id),
            Some((key, stream)) if !stream.receives => self.spoil(key, Http2ErrorCode::STREAM_CLOSED),
            Some((key, stream)) if stream.receive_window < length as i64 => self.spoil(key, Http2ErrorCode::FLOW_CONTROL_ERROR),
            // A response starts with its head (§8.1).
            Some((key, stream)) if !stream.has_head => self.spoil(key, Http2ErrorCode::PROTOCOL_ERROR),
            Some((_, stream)) => stream.receive_window -= length as i64,
        }
        // The stream may be closed by now.
        let stream = self.streams.find(id);
        let data = DataFrame { stream, is_padded, left: length, padding: 0, ends: header.has(flag::END_STREAM) };
        self.data = Some(data);
        Ok(())
    }

    fn read_data<'i>(&mut self, input: &mut &'i [u8]) -> Result<Option<Http2Event<'i>>, Http2Error> {
        let Some(data) = &mut self.data else { return Ok(None) };
        if std::mem::take(&mut data.is_padded)
            && let Some((padding, rest)) = input.split_first()
        {
            *input = rest;
            data.left -= 1;
            data.padding = usize::from(*padding);
            let Some(left) = data.left.checked_sub(data.padding) else {
                return fault(Http2ErrorCode::PROTOCOL_ERROR, "more padding than content");
            };
            data.left = left;
            let stream = data.stream;
            self.pass_over(stream, 1);
            return Ok(None);
        }
        if data.left > 0 {
            let (bytes, rest) = input.split_at(data.left.min(input.len()));
            *input = rest;
            data.left -= bytes.len();
            let (stream, ends) = (data.stream, data.ends && data.left == 0 && data.padding == 0);
            let Some(stream) = stream else {
                self.pass_over(None, bytes.len());
                self.end_data_if_over();
                return Ok(None);
            };
            let is_counted = self.count_content(stream, bytes.len());
            self.end_data_if_over();
            // The last part only ends the message if the content has the announced length.
            let is_whole = !ends || self.streams.get(stream).is_some_and(|stream| stream.reset.is_none());
            return Ok((is_counted && is_whole).then_some(Http2Event::Data { stream, bytes, ends }));
        }
        let (padding, rest) = input.split_at(data.padding.min(input.len()));
        *input = rest;
        data.padding -= padding.len();
        let (stream, ends) = (data.stream, data.ends && data.padding == 0);
        self.pass_over(stream, padding.len());
        self.end_data_if_over();
        let ended = stream.filter(|_| ends);
        let ended = ended.filter(|key| self.streams.get(*key).is_some_and(|stream| stream.reset.is_none()));
        Ok(ended.map(|stream| Http2Event::Data { stream, bytes: &[], ends: true }))
    }

    /// Counts content for the caller. Returns whether it may be delivered.
    fn count_content(&mut self, key: StreamKey, bytes: usize) -> bool {
        let Some(stream) = self.streams.get_mut(key) else { return false };
        stream.waiting += bytes as u32;
        if let Some(left) = &mut stream.content_left {
            match left.checked_sub(bytes as u64) {
                Some(less) => *left = less,
                None => {
                    self.spoil(key, Http2ErrorCode::PROTOCOL_ERROR);
                    return false;
                }
            }
        }
        true
    }

    /// Returns window for bytes that no one takes: padding, and content of closed streams.
    fn pass_over(&mut self, stream: Option<StreamKey>, bytes: usize) {
        match stream.and_then(|key| self.streams.get_mut(key).map(|stream| (key, stream))) {
            Some((key, stream)) => {
                stream.waiting += bytes as u32;
                self.take(key, bytes);
            }
            None => self.take_for_connection(bytes as u32),
        }
    }

    fn end_data_if_over(&mut self) {
        if !self.data.as_ref().is_some_and(DataFrame::is_over) {
            return;
        }
        self.finished += 1;
        if let Some(DataFrame { stream: Some(key), ends: true, .. }) = self.data.take() {
            self.end_receiving(key);
        }
    }

    /// The peer has ended its message. Returns whether the message is complete.
    fn end_receiving(&mut self, key: StreamKey) -> bool {
        let Some(stream) = self.streams.get_mut(key) else { return false };
        if stream.content_left.is_some_and(|left| left > 0) {
            self.spoil(key, Http2ErrorCode::PROTOCOL_ERROR);
            return false;
        }
        stream.receives = false;
        self.close_if_ended(key);
        true
    }

    // --- Heads and trailers (§6.2, §8) ---

    fn on_headers(&mut self, header: FrameHeader, content: &[u8]) -> Result<Option<Http2Event<'static>>, Http2Error> {
        let id = header.stream;
        let is_openable = match self.side {
            Http2Side::Server => !id.is_multiple_of(2),
            Http2Side::Client => !self.is_idle(id),
        };
        if !is_openable {
            return fault(Http2ErrorCode::PROTOCOL_ERROR, "HEADERS on a stream that can't be opened");
        }
        if self.side == Http2Side::Server && id <= self.highest && self.streams.find(id).is_none() {
            match self.streams.closed(id) {
                Some(Closed::Ended) => return fault(Http2ErrorCode::STREAM_CLOSED, "HEADERS on a stream that has ended"),
                None => return fault(Http2ErrorCode::PROTOCOL_ERROR, "HEADERS on a stream that was left out"),
                Some(Closed::ByPeer | Closed::Here) => {}
            }
        }
        let (fragment, depends_on) = frame::block_fragment(header, content)?;
        self.decoder.begin();
        self.fields.clear();
        self.block = Some(Box::new(Block {
            stream: id,
            ends: header.has(flag::END_STREAM),
            depends_on_itself: depends_on == Some(id),
            bytes: 0,
            rest: Vec::new(),
        }));
        self.on_fragment(fragment, header.has(flag::END_HEADERS))
    }

    /// Handles a part of a header block.
    fn on_fragment(&mut self, fragment: &[u8], is_last: bool) -> Result<Option<Http2Event<'static>>, Http2Error> {
        let Some(block) = &mut self.block else { return Ok(None) };
        let is_compressed = |error: crate::hpack::HpackError| Http2Error::new(Http2ErrorCode::COMPRESSION_ERROR, error.0);
        block.bytes += fragment.len();
        if block.rest.is_empty() {
            let used = self.decoder.decode(fragment, &mut self.fields).map_err(is_compressed)?;
            block.rest.extend_from_slice(fragment.get(used..).unwrap_or_default());
        } else {
            block.rest.extend_from_slice(fragment);
            let used = self.decoder.decode(&block.rest, &mut self.fields).map_err(is_compressed)?;
            block.rest.drain(..used);
        }
        let head_max = self.header_list_bytes_max;
        if block.bytes > BLOCK_BYTES_PER_HEAD * head_max || block.rest.len() > FIELD_BYTES_PER_HEAD * head_max {
            return fault(Http2ErrorCode::ENHANCE_YOUR_CALM, "a header block without end");
        }
        if !is_last {
            return Ok(None);
        }
        if !block.rest.is_empty() {
            return fault(Http2ErrorCode::COMPRESSION_ERROR, "a header block is cut");
        }
        let Some(block) = self.block.take() else { return Ok(None) };
        match (self.streams.find(block.stream), self.side) {
            (None, Http2Side::Server) if block.stream > self.highest => Ok(self.on_request(&block)),
            (None, _) => {
                self.on_closed(block.stream);
                Ok(None)
            }
            (Some(key), Http2Side::Client) => Ok(self.on_response(key, &block)),
            (Some(key), Http2Side::Server) => Ok(self.on_trailers(key, &block)),
        }
    }

    fn on_request(&mut self, block: &Block) -> Option<Http2Event<'static>> {
        let id = block.stream;
        self.highest = id;
        let refusal = if self.leaving == Leaving::Final || self.streams.open() >= self.streams_max {
            Some(Http2ErrorCode::REFUSED_STREAM)
        } else if block.depends_on_itself {
            Some(Http2ErrorCode::PROTOCOL_ERROR)
        } else if self.fields.is_too_large() {
            None
        } else {
            let has_content = self.fields.check_request().map(|()| self.fields.content_length().unwrap_or(0) > 0);
            (has_content.is_err() || block.ends && has_content == Ok(true)).then_some(Http2ErrorCode::PROTOCOL_ERROR)
        };
        if let Some(code) = refusal {
            self.counts.spoilt_streams += 1;
            frame::write_reset(id, code, &mut self.out);
            self.streams.remember(id, Closed::Here);
            return None;
        }
        let mut stream = self.new_stream(id);
        stream.has_head = true;
        stream.receives = !block.ends;
        stream.content_left = self.fields.content_length();
        let stream = self.streams.add(stream);
        Some(Http2Event::Request { stream, ends: block.ends })
    }

    fn on_response(&mut self, key: StreamKey, block: &Block) -> Option<Http2Event<'static>> {
        let stream = self.streams.get_mut(key)?;
        if stream.has_head {
            return self.on_trailers(key, block);
        }
        if !stream.receives {
            self.spoil(key, Http2ErrorCode::STREAM_CLOSED);
            return None;
        }
        if block.depends_on_itself || self.fields.is_too_large() || self.fields.check_response().is_err() {
            self.spoil(key, Http2ErrorCode::PROTOCOL_ERROR);
            return None;
        }
        let status = self.fields.status();
        let is_interim = (100..200).contains(&status);
        let has_content = !stream.is_head_request && !matches!(status, 204 | 304);
        let content_length = self.fields.content_length().filter(|_| has_content);
        if block.ends && (is_interim || content_length.is_some_and(|length| length > 0)) {
            self.spoil(key, Http2ErrorCode::PROTOCOL_ERROR);
            return None;
        }
        if !is_interim {
            stream.has_head = true;
            stream.content_left = if has_content { content_length } else { Some(0) };
        }
        if block.ends {
            self.end_receiving(key);
        }
        Some(Http2Event::Response { stream: key, ends: block.ends })
    }

    fn on_trailers(&mut self, key: StreamKey, block: &Block) -> Option<Http2Event<'static>> {
        let receives = self.streams.get(key).is_some_and(|stream| stream.receives);
        let is_well_formed =
            block.ends && !block.depends_on_itself && !self.fields.is_too_large() && self.fields.check_trailers().is_ok();
        if !receives || !is_well_formed {
            self.spoil(key, if receives { Http2ErrorCode::PROTOCOL_ERROR } else { Http2ErrorCode::STREAM_CLOSED });
            return None;
        }
        self.end_receiving(key).then_some(Http2Event::Trailers { stream: key })
    }

    // --- Other frames ---

    /// Priorities have no effect any more (§5.3.2), but their format is checked.
    fn on_priority(&mut self, header: FrameHeader, content: &[u8]) -> Result<(), Http2Error> {
        let FrameHeader { stream: id, .. } = header;
        if id == 0 {
            return fault(Http2ErrorCode::PROTOCOL_ERROR, "a priority of no stream");
        }
        let code = match content {
            [a, b, c, d, _] if u32::from_be_bytes([*a, *b, *c, *d]) & HIGHEST == id => Http2ErrorCode::PROTOCOL_ERROR,
            [_, _, _, _, _] => return Ok(()),
            _ => Http2ErrorCode::FRAME_SIZE_ERROR,
        };
        match self.streams.find(id) {
            Some(key) => self.spoil(key, code),
            // A stream that is not open cannot be reset. The error is an error of the connection then (RFC 9113 §5.4.1 allows that).
            None => return fault(code, "a priority that is none"),
        }
        Ok(())
    }

    fn on_reset(&mut self, header: FrameHeader, content: &[u8]) -> Result<(), Http2Error> {
        let code = Http2ErrorCode(frame::number(content)?);
        if header.stream == 0 || self.is_idle(header.stream) {
            return fault(Http2ErrorCode::PROTOCOL_ERROR, "a reset of a stream that was never opened");
        }
        if let Some(key) = self.streams.find(header.stream) {
            self.counts.spoilt_streams += 1;
            self.close(key, Closed::ByPeer, Some(code));
            self.failed.push(key);
        }
        Ok(())
    }

    fn on_settings(&mut self, header: FrameHeader, content: &[u8]) -> Result<(), Http2Error> {
        if header.stream != 0 {
            return fault(Http2ErrorCode::PROTOCOL_ERROR, "settings of a stream");
        }
        if header.has(flag::ACK) {
            if !content.is_empty() {
                return fault(Http2ErrorCode::FRAME_SIZE_ERROR, "an acknowledgement with content");
            }
            if let Some(Some(window)) = self.unacknowledged.pop_front() {
                self.apply_stream_window(window);
            }
            return Ok(());
        }
        for (name, value) in frame::read_settings(content)? {
            self.on_setting(name, value)?;
        }
        self.has_settings = true;
        frame::write_frame(kind::SETTINGS, flag::ACK, 0, &[], &mut self.out);
        Ok(())
    }

    fn on_setting(&mut self, name: u16, value: u32) -> Result<(), Http2Error> {
        let invalid = |reason| fault(Http2ErrorCode::PROTOCOL_ERROR, reason);
        match name {
            setting::HEADER_TABLE_SIZE => self.renounces_table |= (value as usize) < TABLE_BYTES_MAX,
            setting::ENABLE_PUSH if value > 1 || value == 1 && self.side == Http2Side::Client => {
                return invalid("pushes are not for servers to allow");
            }
            setting::MAX_CONCURRENT_STREAMS => self.peer_streams_max = value,
            setting::INITIAL_WINDOW_SIZE if value > HIGHEST => {
                return fault(Http2ErrorCode::FLOW_CONTROL_ERROR, "a window beyond all bounds");
            }
            setting::INITIAL_WINDOW_SIZE => return self.on_stream_window(value),
            setting::MAX_FRAME_SIZE if !(FRAME_BYTES_MAX..1 << 24).contains(&(value as usize)) => {
                return invalid("a frame size that can't be");
            }
            setting::ENABLE_CONNECT_PROTOCOL if value > 1 => return invalid("a setting that is neither on nor off"),
            // Larger frames than the guaranteed minimum are never sent.
            _ => {}
        }
        Ok(())
    }

    /// Adjusts the windows of all streams to a new initial window (§6.9.2).
    fn on_stream_window(&mut self, window: u32) -> Result<(), Http2Error> {
        let difference = i64::from(window) - i64::from(self.peer_stream_window);
        self.peer_stream_window = window;
        let (mut is_too_large, turns) = (false, &mut self.turns);
        self.streams.each_open(|key, stream| {
            stream.send_window += difference;
            is_too_large |= stream.send_window > i64::from(HIGHEST);
            if stream.wait == SendWait::Window && stream.send_window > 0 {
                stream.wait = SendWait::Turn;
                turns.push_back(key);
            }
        });
        if is_too_large { fault(Http2ErrorCode::FLOW_CONTROL_ERROR, "a stream's window beyond all bounds") } else { Ok(()) }
    }

    fn on_ping(&mut self, header: FrameHeader, content: &[u8]) -> Result<(), Http2Error> {
        if header.stream != 0 {
            return fault(Http2ErrorCode::PROTOCOL_ERROR, "a ping of a stream");
        }
        if content.len() != LEAVING.len() {
            return fault(Http2ErrorCode::FRAME_SIZE_ERROR, "a ping that is not eight bytes long");
        }
        if !header.has(flag::ACK) {
            frame::write_frame(kind::PING, flag::ACK, 0, content, &mut self.out);
        } else if content == LEAVING && self.leaving == Leaving::Announced {
            self.leave_now();
        }
        Ok(())
    }

    fn on_goaway(&mut self, header: FrameHeader, content: &[u8]) -> Result<(), Http2Error> {
        if header.stream != 0 {
            return fault(Http2ErrorCode::PROTOCOL_ERROR, "a goodbye to a stream");
        }
        let Some(([a, b, c, d], [_, _, _, _, ..])) = content.split_first_chunk() else {
            return fault(Http2ErrorCode::FRAME_SIZE_ERROR, "a goodbye that is too short");
        };
        self.peer_leaves = true;
        if self.side == Http2Side::Client {
            // Streams that it has not started it never will (§6.8).
            let last = u32::from_be_bytes([*a, *b, *c, *d]) & HIGHEST;
            let mut refused = Vec::new();
            self.streams.each_open(|key, stream| {
                if stream.id > last {
                    refused.push(key);
                }
            });
            for key in refused {
                self.close(key, Closed::Here, Some(Http2ErrorCode::REFUSED_STREAM));
                self.failed.push(key);
            }
        }
        Ok(())
    }

    fn on_window_update(&mut self, header: FrameHeader, content: &[u8]) -> Result<(), Http2Error> {
        let increment = i64::from(frame::number(content)? & HIGHEST);
        let id = header.stream;
        if id == 0 {
            self.send_window += increment;
            return match increment {
                0 => fault(Http2ErrorCode::PROTOCOL_ERROR, "a window that does not grow"),
                _ if self.send_window > i64::from(HIGHEST) => {
                    fault(Http2ErrorCode::FLOW_CONTROL_ERROR, "the connection's window beyond all bounds")
                }
                _ => Ok(()),
            };
        }
        if self.is_idle(id) {
            return fault(Http2ErrorCode::PROTOCOL_ERROR, "a window for a stream that was never opened");
        }
        let Some(key) = self.streams.find(id) else { return Ok(()) };
        let Some(stream) = self.streams.get_mut(key) else { return Ok(()) };
        stream.send_window += increment;
        if increment == 0 {
            self.spoil(key, Http2ErrorCode::PROTOCOL_ERROR);
        } else if stream.send_window > i64::from(HIGHEST) {
            self.spoil(key, Http2ErrorCode::FLOW_CONTROL_ERROR);
        } else if stream.wait == SendWait::Window && stream.send_window > 0 {
            stream.wait = SendWait::Turn;
            self.turns.push_back(key);
        }
        Ok(())
    }

    // --- Windows for received content ---

    /// The caller has taken bytes of a stream's content: the window reopens by as much.
    pub fn take(&mut self, key: StreamKey, bytes: usize) {
        let Some(stream) = self.streams.get_mut(key) else { return };
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX).min(stream.waiting);
        stream.waiting -= bytes;
        stream.taken += bytes;
        reopen(stream, self.stream_window, &mut self.out);
        self.take_for_connection(bytes);
    }

    pub(super) fn take_for_connection(&mut self, bytes: u32) {
        self.taken += bytes;
        if self.taken >= (self.receive_window_size / 2).max(1) && !self.is_failed {
            let taken = std::mem::take(&mut self.taken);
            self.receive_window += i64::from(taken);
            frame::write_window_update(0, taken, &mut self.out);
        }
    }

    /// Enlarges the window of the connection, if `window` is larger than the current one.
    pub fn widen(&mut self, window: u32) {
        let window = window.clamp(WINDOW, HIGHEST);
        if let Some(more) = window.checked_sub(self.receive_window_size).filter(|more| *more > 0) {
            self.receive_window_size = window;
            self.receive_window += i64::from(more);
            frame::write_window_update(0, more, &mut self.out);
        }
    }

    /// Changes the window of each stream. False if the peer has not acknowledged earlier settings.
    pub fn set_stream_window(&mut self, window: u32) -> bool {
        if !self.unacknowledged.is_empty() || self.is_failed {
            return false;
        }
        self.unacknowledged.push_back(Some(window));
        if window > self.stream_window {
            self.apply_stream_window(window);
        }
        frame::write_settings(&[(setting::INITIAL_WINDOW_SIZE, window)], &mut self.out);
        true
    }

    /// A larger window applies at once, a smaller one when the peer has acknowledged it.
    fn apply_stream_window(&mut self, window: u32) {
        let difference = i64::from(window) - i64::from(self.stream_window);
        self.stream_window = window;
        self.streams.each_open(|_, stream| {
            stream.receive_window += difference;
            // What was too little for the larger window may be all that the peer can send in the smaller one.
            reopen(stream, window, &mut self.out);
        });
    }
}

/// Reopens the window of a stream once half of it was taken.
fn reopen(stream: &mut StreamState, window: u32, out: &mut Vec<u8>) {
    if stream.receives && stream.taken >= (window / 2).max(1) {
        let taken = std::mem::take(&mut stream.taken);
        stream.receive_window += i64::from(taken);
        frame::write_window_update(stream.id, taken, out);
    }
}
