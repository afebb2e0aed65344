//! Finds the end of a message body. A `BodyReader` follows the bytes of a body as they pass and validates the chunked coding. A
//! chunked body is relayed in its simplest form, or decoded for a receiver without chunks (HTTP/1.0); other bodies are relayed
//! unchanged.

mod extension;

use crate::{Malformed, is_token, is_value, trailer};
use extension::Extension;

/// How a body is framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// No body follows the head.
    None,
    /// Exactly this many bytes, at least one.
    Length(u64),
    /// The chunked coding.
    Chunked,
    /// Everything until the sender closes the connection (responses only).
    UntilClose,
}

/// Maximum digits of a chunk size, leading zeros included.
const SIZE_DIGITS_MAX: u8 = 15;
/// Maximum bytes of one chunk. Servers that count in 32 bits, such as the JDK's, take a larger chunk for a small one, and the data
/// behind that for another request.
const CHUNK_BYTES_MAX: u64 = i32::MAX as u64;
/// Maximum bytes of all chunk extensions of one body: nobody uses them, and endless ones cost CPU.
const EXTENSION_BYTES_MAX: u32 = 16 * 1024;
/// Maximum bytes of all trailer lines of one body.
const TRAILER_BYTES_MAX: u32 = 32 * 1024;

/// Follows one body to its end.
#[derive(Clone, Copy, Debug)]
pub enum BodyReader {
    /// The body is complete.
    Done,
    /// This many bytes are left.
    Length(u64),
    /// Inside a chunked body.
    Chunked(Chunks),
    /// Ends with the connection.
    UntilClose,
}

/// The state inside a chunked body.
#[derive(Clone, Copy, Debug)]
pub struct Chunks {
    place: BodyState,
    digits: u8,
    /// The size is 0 so far, and none of its digits was forwarded.
    zero_withheld: bool,
    extension_bytes: u32,
    trailer_bytes: u32,
    left: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyState {
    Size,
    Extension(Extension),
    SizeLf,
    Data,
    DataCr,
    DataLf,
    TrailerStart,
    TrailerName,
    TrailerValue,
    TrailerLf,
    EndLf,
}

impl BodyReader {
    /// A reader at the first byte of a body with this framing.
    #[inline]
    pub fn new(body: Body) -> Self {
        match body {
            Body::None => BodyReader::Done,
            Body::Length(bytes) => BodyReader::Length(bytes),
            Body::Chunked => {
                let place = BodyState::Size;
                BodyReader::Chunked(Chunks {
                    place,
                    digits: 0,
                    zero_withheld: false,
                    extension_bytes: 0,
                    trailer_bytes: 0,
                    left: 0,
                })
            }
            Body::UntilClose => BodyReader::UntilClose,
        }
    }

    /// Whether the last byte of the body has been seen.
    #[inline]
    pub fn is_done(&self) -> bool {
        matches!(self, BodyReader::Done)
    }

    /// The number of bytes at the start of `bytes` that belong to this body.
    #[inline]
    pub fn feed(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        self.advance(bytes, &mut Ignore)
    }

    /// Like `feed`, and appends the content without its framing to `content`.
    pub fn decode(&mut self, bytes: &[u8], content: &mut Vec<u8>) -> Result<usize, Malformed> {
        self.advance(bytes, &mut Decode { content, trailers: None })
    }

    /// Like `decode`, and appends the lines of the trailer section to `trailers`, each with its line end.
    pub fn decode_with_trailers(
        &mut self,
        bytes: &[u8],
        content: &mut Vec<u8>,
        trailers: &mut Vec<u8>,
    ) -> Result<usize, Malformed> {
        self.advance(bytes, &mut Decode { content, trailers: Some(trailers) })
    }

    /// Like `feed`, and returns the bytes to forward: first those appended to `out`, then those returned. A chunked body loses its
    /// extensions, zeros before its sizes, and the trailer lines that `passes` rejects. If there is nothing to remove, nothing is
    /// copied. `trailers` collects the trailer section until it is complete: at most 32 KiB.
    pub fn relay<'b>(
        &mut self,
        bytes: &'b [u8],
        trailers: &mut Vec<u8>,
        passes: impl FnMut(&str) -> bool,
        out: &mut Vec<u8>,
    ) -> Result<(usize, &'b [u8]), Malformed> {
        if !matches!(self, BodyReader::Chunked(_)) {
            let used = self.feed(bytes)?;
            return Ok((used, bytes.get(..used).unwrap_or_default()));
        }
        let mut relay = Relay { bytes, start: 0, out, trailers, passes };
        let used = self.advance(bytes, &mut relay)?;
        Ok((used, bytes.get(relay.start..used).unwrap_or_default()))
    }

    #[inline]
    fn advance(&mut self, bytes: &[u8], sink: &mut impl BodyObserver) -> Result<usize, Malformed> {
        match self {
            BodyReader::Done => Ok(0),
            BodyReader::UntilClose => {
                sink.data(bytes);
                Ok(bytes.len())
            }
            BodyReader::Length(left) => {
                let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                sink.data(bytes.get(..taken).unwrap_or_default());
                *left -= taken as u64;
                if *left == 0 {
                    *self = BodyReader::Done;
                }
                Ok(taken)
            }
            BodyReader::Chunked(chunks) => {
                let (taken, finished) = chunks.advance(bytes, sink)?;
                if finished {
                    *self = BodyReader::Done;
                }
                Ok(taken)
            }
        }
    }
}

/// Receives the events of a body as it passes. Positions refer to the current bytes.
trait BodyObserver {
    fn data(&mut self, _: &[u8]) {}
    /// The byte at this position is not needed.
    fn skip(&mut self, _: usize) {}
    /// A zero is missing before this position.
    fn zero(&mut self, _: usize) {}
    /// Bytes of a trailer line, with the position of the first.
    fn trailer(&mut self, _: usize, _: &[u8]) {}
    /// The empty line after the trailer section starts here.
    fn end(&mut self, _: usize) {}
}

struct Ignore;

impl BodyObserver for Ignore {}

struct Decode<'o> {
    content: &'o mut Vec<u8>,
    trailers: Option<&'o mut Vec<u8>>,
}

impl BodyObserver for Decode<'_> {
    fn data(&mut self, data: &[u8]) {
        self.content.extend_from_slice(data);
    }

    fn trailer(&mut self, _: usize, bytes: &[u8]) {
        if let Some(trailers) = &mut self.trailers {
            trailers.extend_from_slice(bytes);
        }
    }
}

/// Forwards what is not skipped.
struct Relay<'b, 'o, P> {
    bytes: &'b [u8],
    /// Everything before this position was copied or skipped.
    start: usize,
    out: &'o mut Vec<u8>,
    trailers: &'o mut Vec<u8>,
    passes: P,
}

impl<P> Relay<'_, '_, P> {
    fn copy_until(&mut self, at: usize) {
        self.out.extend_from_slice(self.bytes.get(self.start..at).unwrap_or_default());
        self.start = at;
    }
}

impl<P: FnMut(&str) -> bool> BodyObserver for Relay<'_, '_, P> {
    fn skip(&mut self, at: usize) {
        self.copy_until(at);
        self.start = at + 1;
    }

    fn zero(&mut self, at: usize) {
        self.copy_until(at);
        self.out.push(b'0');
    }

    fn trailer(&mut self, at: usize, bytes: &[u8]) {
        self.copy_until(at);
        self.start = at + bytes.len();
        self.trailers.extend_from_slice(bytes);
    }

    fn end(&mut self, at: usize) {
        if !self.trailers.is_empty() {
            self.copy_until(at);
            trailer::append_trailers(self.trailers, &mut self.passes, self.out);
            *self.trailers = Vec::new();
        }
    }
}

impl Chunks {
    #[inline]
    fn advance(&mut self, bytes: &[u8], sink: &mut impl BodyObserver) -> Result<(usize, bool), Malformed> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match self.place {
                BodyState::Size => self.size_byte(byte, at, bytes, sink)?,
                BodyState::Extension(extension) => self.extension_byte(extension, byte, at, sink)?,
                BodyState::SizeLf => {
                    expect(byte, b'\n')?;
                    self.digits = 0;
                    self.place = if self.left == 0 { BodyState::TrailerStart } else { BodyState::Data };
                }
                BodyState::Data => {
                    let here = bytes.get(at..).unwrap_or_default();
                    let taken = usize::try_from(self.left).unwrap_or(usize::MAX).min(here.len());
                    sink.data(here.get(..taken).unwrap_or_default());
                    self.left -= taken as u64;
                    at += taken;
                    if self.left == 0 {
                        self.place = BodyState::DataCr;
                    }
                    continue;
                }
                BodyState::DataCr => {
                    expect(byte, b'\r')?;
                    self.place = BodyState::DataLf;
                }
                BodyState::DataLf => {
                    expect(byte, b'\n')?;
                    self.place = BodyState::Size;
                }
                BodyState::TrailerStart if byte == b'\r' => {
                    sink.end(at);
                    self.place = BodyState::EndLf;
                }
                BodyState::TrailerStart | BodyState::TrailerName => {
                    self.trailer_name_byte(byte)?;
                    sink.trailer(at, &[byte]);
                }
                BodyState::TrailerValue => {
                    let value = self.trailer_value(bytes.get(at..).unwrap_or_default())?;
                    sink.trailer(at, value);
                    at += value.len();
                    continue;
                }
                BodyState::TrailerLf => {
                    expect(byte, b'\n')?;
                    sink.trailer(at, &[byte]);
                    self.place = BodyState::TrailerStart;
                }
                BodyState::EndLf => {
                    expect(byte, b'\n')?;
                    return Ok((at + 1, true));
                }
            }
            at += 1;
        }
        Ok((at, false))
    }

    #[inline]
    fn size_byte(&mut self, byte: u8, at: usize, bytes: &[u8], sink: &mut impl BodyObserver) -> Result<(), Malformed> {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            b'\r' if self.digits > 0 => {
                self.end_size(at, sink);
                self.place = BodyState::SizeLf;
                return Ok(());
            }
            b';' | b' ' | b'\t' if self.digits > 0 => {
                self.end_size(at, sink);
                return self.extension_byte(Extension::Between, byte, at, sink);
            }
            _ => return Err(Malformed::Chunk),
        };
        if self.digits == SIZE_DIGITS_MAX {
            return Err(Malformed::Chunk);
        }
        // `left` is 0 here: the data of a chunk is consumed before the next size is parsed.
        self.left = self.left << 4 | u64::from(digit);
        if self.left > CHUNK_BYTES_MAX {
            return Err(Malformed::Chunk);
        }
        self.digits += 1;
        if self.left != 0 {
            self.zero_withheld = false;
            return Ok(());
        }
        // A size of 0 needs only its last zero.
        self.zero_withheld = !matches!(bytes.get(at + 1), Some(b'\r' | b';' | b' ' | b'\t'));
        if self.zero_withheld {
            sink.skip(at);
        }
        Ok(())
    }

    #[inline]
    fn end_size(&mut self, at: usize, sink: &mut impl BodyObserver) {
        if std::mem::take(&mut self.zero_withheld) {
            sink.zero(at);
        }
    }

    fn extension_byte(&mut self, extension: Extension, byte: u8, at: usize, sink: &mut impl BodyObserver) -> Result<(), Malformed> {
        self.extension_bytes += 1;
        if self.extension_bytes > EXTENSION_BYTES_MAX {
            return Err(Malformed::Chunk);
        }
        if byte == b'\r' && extension.may_end() {
            self.place = BodyState::SizeLf;
            return Ok(());
        }
        self.place = BodyState::Extension(extension.next(byte).ok_or(Malformed::Chunk)?);
        sink.skip(at);
        Ok(())
    }

    /// A trailer line starts with a name and a colon, like a header line.
    fn trailer_name_byte(&mut self, byte: u8) -> Result<(), Malformed> {
        self.count_trailer_bytes(1)?;
        self.place = match byte {
            b':' if self.place == BodyState::TrailerName => BodyState::TrailerValue,
            _ if is_token(&[byte]) => BodyState::TrailerName,
            _ => return Err(Malformed::Chunk),
        };
        Ok(())
    }

    /// The part of a trailer's value at the start of `bytes`, with the CR that ends it.
    fn trailer_value<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], Malformed> {
        let end = bytes.iter().position(|byte| *byte == b'\r');
        let taken = bytes.get(..end.map_or(bytes.len(), |end| end + 1)).unwrap_or_default();
        if !is_value(taken.strip_suffix(b"\r").unwrap_or(taken)) {
            return Err(Malformed::Chunk);
        }
        self.count_trailer_bytes(taken.len())?;
        if end.is_some() {
            self.place = BodyState::TrailerLf;
        }
        Ok(taken)
    }

    fn count_trailer_bytes(&mut self, bytes: usize) -> Result<(), Malformed> {
        self.trailer_bytes = self.trailer_bytes.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
        if self.trailer_bytes > TRAILER_BYTES_MAX { Err(Malformed::Chunk) } else { Ok(()) }
    }
}

fn expect(byte: u8, wanted: u8) -> Result<(), Malformed> {
    if byte == wanted { Ok(()) } else { Err(Malformed::Chunk) }
}

#[cfg(test)]
mod tests;
