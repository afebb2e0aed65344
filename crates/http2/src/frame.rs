//! Frames (RFC 9113 §4, §6): their headers, and simple payloads.

use crate::Http2ErrorCode;
use crate::error::Http2Error;
use tollgate_http::append_long;

/// Bytes of a frame header.
pub(crate) const FRAME_HEADER: usize = 9;
/// Maximum payload of a frame in both directions: the protocol's default, and never raised. Larger frames would only make streams
/// wait for each other.
pub(crate) const FRAME_BYTES_MAX: usize = 16_384;
/// The highest stream number, and the largest window.
pub(crate) const HIGHEST: u32 = (1 << 31) - 1;

/// Frame types (§6). Unknown ones are ignored (§4.1).
pub(crate) mod kind {
    pub(crate) const DATA: u8 = 0;
    pub(crate) const HEADERS: u8 = 1;
    pub(crate) const PRIORITY: u8 = 2;
    pub(crate) const RST_STREAM: u8 = 3;
    pub(crate) const SETTINGS: u8 = 4;
    pub(crate) const PUSH_PROMISE: u8 = 5;
    pub(crate) const PING: u8 = 6;
    pub(crate) const GOAWAY: u8 = 7;
    pub(crate) const WINDOW_UPDATE: u8 = 8;
    pub(crate) const CONTINUATION: u8 = 9;
}

pub(crate) mod flag {
    pub(crate) const ACK: u8 = 1;
    pub(crate) const END_STREAM: u8 = 1;
    pub(crate) const END_HEADERS: u8 = 4;
    pub(crate) const PADDED: u8 = 8;
    pub(crate) const PRIORITY: u8 = 0x20;
}

#[derive(Clone, Copy)]
pub(crate) struct FrameHeader {
    pub length: usize,
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
}

impl FrameHeader {
    /// Parses a header. The highest bit of the stream number is ignored (§4.1).
    #[inline]
    pub(crate) fn read(bytes: &[u8; FRAME_HEADER]) -> Self {
        let [high, middle, low, kind, flags, stream @ ..] = *bytes;
        let length = u32::from_be_bytes([0, high, middle, low]) as usize;
        FrameHeader { length, kind, flags, stream: u32::from_be_bytes(stream) & HIGHEST }
    }

    #[inline]
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let [_, high, middle, low] = (self.length as u32).to_be_bytes();
        let [a, b, c, d] = self.stream.to_be_bytes();
        out.extend_from_slice(&[high, middle, low, self.kind, self.flags, a, b, c, d]);
    }

    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Appends a frame.
pub(crate) fn write_frame(kind: u8, flags: u8, stream: u32, content: &[u8], out: &mut Vec<u8>) {
    FrameHeader { length: content.len(), kind, flags, stream }.write(out);
    append_long(content, out);
}

pub(crate) fn write_reset(stream: u32, code: Http2ErrorCode, out: &mut Vec<u8>) {
    write_frame(kind::RST_STREAM, 0, stream, &code.0.to_be_bytes(), out);
}

pub(crate) fn write_window_update(stream: u32, increment: u32, out: &mut Vec<u8>) {
    write_frame(kind::WINDOW_UPDATE, 0, stream, &increment.to_be_bytes(), out);
}

pub(crate) fn write_goaway(last: u32, code: Http2ErrorCode, out: &mut Vec<u8>) {
    let [last, code] = [last.to_be_bytes(), code.0.to_be_bytes()];
    write_frame(kind::GOAWAY, 0, 0, &[last, code].concat(), out);
}

/// The number in a payload of four bytes.
pub(crate) fn number(content: &[u8]) -> Result<u32, Http2Error> {
    let number = content.try_into().map(u32::from_be_bytes);
    number.map_err(|_| Http2Error::new(Http2ErrorCode::FRAME_SIZE_ERROR, "a frame that is not four bytes long"))
}

/// The header block fragment in the payload of HEADERS (§6.2), and the stream that it depends on.
pub(crate) fn block_fragment(header: FrameHeader, mut content: &[u8]) -> Result<(&[u8], Option<u32>), Http2Error> {
    let short = Http2Error::new(Http2ErrorCode::FRAME_SIZE_ERROR, "a HEADERS frame without its own fields");
    let mut padding = 0;
    if header.has(flag::PADDED) {
        let (length, rest) = content.split_first().ok_or(short)?;
        (padding, content) = (usize::from(*length), rest);
    }
    let mut depends_on = None;
    if header.has(flag::PRIORITY) {
        let (priority, rest) = content.split_first_chunk::<5>().ok_or(short)?;
        let [a, b, c, d, _] = *priority;
        depends_on = Some(u32::from_be_bytes([a, b, c, d]) & HIGHEST);
        content = rest;
    }
    let length = content.len().checked_sub(padding);
    let fragment = length.and_then(|length| content.get(..length));
    Ok((fragment.ok_or(Http2Error::new(Http2ErrorCode::PROTOCOL_ERROR, "more padding than content"))?, depends_on))
}

/// Settings (§6.5.2; RFC 8441 §3).
pub(crate) mod setting {
    pub(crate) const HEADER_TABLE_SIZE: u16 = 1;
    pub(crate) const ENABLE_PUSH: u16 = 2;
    pub(crate) const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub(crate) const INITIAL_WINDOW_SIZE: u16 = 4;
    pub(crate) const MAX_FRAME_SIZE: u16 = 5;
    pub(crate) const MAX_HEADER_LIST_SIZE: u16 = 6;
    pub(crate) const ENABLE_CONNECT_PROTOCOL: u16 = 8;
}

/// Appends a SETTINGS frame.
pub(crate) fn write_settings(settings: &[(u16, u32)], out: &mut Vec<u8>) {
    FrameHeader { length: settings.len() * 6, kind: kind::SETTINGS, flags: 0, stream: 0 }.write(out);
    for (name, value) in settings {
        out.extend_from_slice(&name.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// The settings in a payload.
pub(crate) fn read_settings(content: &[u8]) -> Result<impl Iterator<Item = (u16, u32)>, Http2Error> {
    let (settings, rest) = content.as_chunks::<6>();
    if !rest.is_empty() {
        return Err(Http2Error::new(Http2ErrorCode::FRAME_SIZE_ERROR, "settings that are not six bytes each"));
    }
    Ok(settings.iter().map(|[a, b, value @ ..]| (u16::from_be_bytes([*a, *b]), u32::from_be_bytes(*value))))
}
