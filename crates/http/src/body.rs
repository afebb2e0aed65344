//! Where a message body ends. A `BodyReader` follows the bytes of a body as they pass and validates the chunked coding;
//! the bytes themselves are relayed as they are, or decoded for a receiver that knows no chunks (HTTP/1.0).

use crate::{Malformed, is_token, is_value};

/// How a body is framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// No body follows the head.
    None,
    /// Exactly this many bytes, more than 0.
    Length(u64),
    /// The chunked coding.
    Chunked,
    /// Everything until the sender closes (responses only).
    UntilClose,
}

/// Digits of a chunk size; 15 hex digits stay far below 2^63.
const SIZE_DIGITS_MAX: u8 = 15;
/// Bytes of all chunk extensions of one body: nobody uses them, and endless ones cost the receiver CPU.
const EXTENSION_BYTES_MAX: u32 = 16 * 1024;
/// Bytes of all trailer lines of one body.
const TRAILER_BYTES_MAX: u32 = 32 * 1024;

/// Follows one body to its end.
#[derive(Clone, Copy, Debug)]
pub enum BodyReader {
    /// The body is complete.
    Done,
    /// This many bytes are still to come.
    Length(u64),
    /// Inside a chunked body.
    Chunked(Chunks),
    /// Ends with the connection.
    UntilClose,
}

/// Place inside a chunked body.
#[derive(Clone, Copy, Debug)]
pub struct Chunks {
    place: Place,
    digits: u8,
    extension_bytes: u32,
    trailer_bytes: u32,
    left: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Size,
    Extension,
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
                BodyReader::Chunked(Chunks { place: Place::Size, digits: 0, extension_bytes: 0, trailer_bytes: 0, left: 0 })
            }
            Body::UntilClose => BodyReader::UntilClose,
        }
    }

    /// The last byte of the body has been seen.
    #[inline]
    pub fn is_done(&self) -> bool {
        matches!(self, BodyReader::Done)
    }

    /// How many bytes at the start of `bytes` belong to this body.
    #[inline]
    pub fn feed(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        self.advance(bytes, |_| {}, |_| {})
    }

    /// As `feed`, and appends the content without its framing to `content`.
    pub fn decode(&mut self, bytes: &[u8], content: &mut Vec<u8>) -> Result<usize, Malformed> {
        self.advance(bytes, |data| content.extend_from_slice(data), |_| {})
    }

    /// As `decode`, and appends the lines of the trailer section to `trailers`, each with its line end.
    pub fn decode_with_trailers(
        &mut self,
        bytes: &[u8],
        content: &mut Vec<u8>,
        trailers: &mut Vec<u8>,
    ) -> Result<usize, Malformed> {
        self.advance(bytes, |data| content.extend_from_slice(data), |byte| trailers.push(byte))
    }

    #[inline]
    fn advance(&mut self, bytes: &[u8], mut on_data: impl FnMut(&[u8]), on_trailer: impl FnMut(u8)) -> Result<usize, Malformed> {
        match self {
            BodyReader::Done => Ok(0),
            BodyReader::UntilClose => {
                on_data(bytes);
                Ok(bytes.len())
            }
            BodyReader::Length(left) => {
                let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                on_data(bytes.get(..taken).unwrap_or_default());
                *left -= taken as u64;
                if *left == 0 {
                    *self = BodyReader::Done;
                }
                Ok(taken)
            }
            BodyReader::Chunked(chunks) => {
                let (taken, finished) = chunks.advance(bytes, on_data, on_trailer)?;
                if finished {
                    *self = BodyReader::Done;
                }
                Ok(taken)
            }
        }
    }
}

impl Chunks {
    fn advance(
        &mut self,
        bytes: &[u8],
        mut on_data: impl FnMut(&[u8]),
        mut on_trailer: impl FnMut(u8),
    ) -> Result<(usize, bool), Malformed> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match self.place {
                Place::Size => self.size_byte(byte)?,
                Place::Extension => self.extension_byte(byte)?,
                Place::SizeLf => {
                    expect(byte, b'\n')?;
                    self.digits = 0;
                    self.place = if self.left == 0 { Place::TrailerStart } else { Place::Data };
                }
                Place::Data => {
                    let here = bytes.get(at..).unwrap_or_default();
                    let taken = usize::try_from(self.left).unwrap_or(usize::MAX).min(here.len());
                    on_data(here.get(..taken).unwrap_or_default());
                    self.left -= taken as u64;
                    at += taken;
                    if self.left == 0 {
                        self.place = Place::DataCr;
                    }
                    continue;
                }
                Place::DataCr => {
                    expect(byte, b'\r')?;
                    self.place = Place::DataLf;
                }
                Place::DataLf => {
                    expect(byte, b'\n')?;
                    self.place = Place::Size;
                }
                Place::TrailerStart if byte == b'\r' => self.place = Place::EndLf,
                Place::TrailerStart | Place::TrailerName => {
                    self.trailer_name_byte(byte)?;
                    on_trailer(byte);
                }
                Place::TrailerValue => {
                    self.trailer_value_byte(byte)?;
                    on_trailer(byte);
                }
                Place::TrailerLf => {
                    expect(byte, b'\n')?;
                    on_trailer(byte);
                    self.place = Place::TrailerStart;
                }
                Place::EndLf => {
                    expect(byte, b'\n')?;
                    return Ok((at + 1, true));
                }
            }
            at += 1;
        }
        Ok((at, false))
    }

    fn size_byte(&mut self, byte: u8) -> Result<(), Malformed> {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            b';' if self.digits > 0 => {
                self.place = Place::Extension;
                return Ok(());
            }
            b'\r' if self.digits > 0 => {
                self.place = Place::SizeLf;
                return Ok(());
            }
            _ => return Err(Malformed::Chunk),
        };
        if self.digits == SIZE_DIGITS_MAX {
            return Err(Malformed::Chunk);
        }
        // `left` is 0 here: a chunk's data is used up before the next size is read.
        self.left = self.left << 4 | u64::from(digit);
        self.digits += 1;
        Ok(())
    }

    fn extension_byte(&mut self, byte: u8) -> Result<(), Malformed> {
        self.extension_bytes += 1;
        if self.extension_bytes > EXTENSION_BYTES_MAX || matches!(byte, b'\n' | 0) {
            return Err(Malformed::Chunk);
        }
        if byte == b'\r' {
            self.place = Place::SizeLf;
        }
        Ok(())
    }

    /// A trailer line begins with a name and a colon, as a header line does.
    fn trailer_name_byte(&mut self, byte: u8) -> Result<(), Malformed> {
        self.count_trailer_byte()?;
        self.place = match byte {
            b':' if self.place == Place::TrailerName => Place::TrailerValue,
            _ if is_token(&[byte]) => Place::TrailerName,
            _ => return Err(Malformed::Chunk),
        };
        Ok(())
    }

    fn trailer_value_byte(&mut self, byte: u8) -> Result<(), Malformed> {
        self.count_trailer_byte()?;
        match byte {
            b'\r' => self.place = Place::TrailerLf,
            byte if is_value(&[byte]) => {}
            _ => return Err(Malformed::Chunk),
        }
        Ok(())
    }

    fn count_trailer_byte(&mut self) -> Result<(), Malformed> {
        self.trailer_bytes += 1;
        if self.trailer_bytes > TRAILER_BYTES_MAX { Err(Malformed::Chunk) } else { Ok(()) }
    }
}

fn expect(byte: u8, wanted: u8) -> Result<(), Malformed> {
    if byte == wanted { Ok(()) } else { Err(Malformed::Chunk) }
}

#[cfg(test)]
mod tests;
