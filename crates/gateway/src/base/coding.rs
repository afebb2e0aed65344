//! Content codings (RFC 9110 §8.4): decompresses bodies within a size limit, and compresses them again when the client must get the coding
//! that the upstream chose.

use flate2::Compression;
use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use flate2::write::{GzEncoder, ZlibEncoder};
use std::io::{Read, Write};

/// Most codings on top of each other that are decoded; nobody needs more than one.
const LAYERS_MAX: usize = 2;

/// A coding that bodies can be decoded from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// Why a body could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenError {
    /// The coding is unknown.
    Unknown,
    /// The bytes are not in this coding, or end too early.
    Malformed,
    /// The decoded body exceeds the size limit.
    TooLarge,
}

impl Coding {
    fn named(name: &[u8]) -> Option<Self> {
        let known: [(&[u8], Coding); 6] = [
            (b"gzip", Coding::Gzip),
            (b"x-gzip", Coding::Gzip),
            (b"deflate", Coding::Deflate),
            (b"br", Coding::Brotli),
            (b"zstd", Coding::Zstd),
            (b"x-deflate", Coding::Deflate),
        ];
        known.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, coding)| *coding)
    }

    /// The coding for a response with a replaced body; `Some` only for a single coding that is cheap to write.
    pub(crate) fn to_close(codings: &[u8]) -> Option<Self> {
        Coding::named(codings.trim_ascii()).filter(|coding| matches!(coding, Coding::Gzip | Coding::Deflate))
    }

    /// Encodes a body; `None` for a coding that is only decoded.
    pub(crate) fn close(self, body: &[u8]) -> Option<Vec<u8>> {
        let out = Vec::with_capacity(body.len() / 2 + 32);
        match self {
            Coding::Gzip => {
                let mut encoder = GzEncoder::new(out, Compression::fast());
                encoder.write_all(body).and_then(|()| encoder.finish()).ok()
            }
            Coding::Deflate => {
                let mut encoder = ZlibEncoder::new(out, Compression::fast());
                encoder.write_all(body).and_then(|()| encoder.finish()).ok()
            }
            Coding::Brotli | Coding::Zstd => None,
        }
    }

    fn open(self, body: &[u8], bytes_max: usize) -> Result<Vec<u8>, OpenError> {
        match self {
            // An empty body is empty in every coding: senders omit the frame.
            _ if body.is_empty() => Ok(Vec::new()),
            Coding::Gzip => read(MultiGzDecoder::new(body), bytes_max),
            // The coding has a zlib frame, which some senders omit.
            Coding::Deflate if has_zlib_frame(body) => read(ZlibDecoder::new(body), bytes_max),
            Coding::Deflate => read(DeflateDecoder::new(body), bytes_max),
            Coding::Brotli => read(brotli_decompressor::Decompressor::new(body, 4096), bytes_max),
            Coding::Zstd => {
                let decoder = ruzstd::decoding::StreamingDecoder::new(body).map_err(|_| OpenError::Malformed)?;
                read(decoder, bytes_max)
            }
        }
    }
}

/// Decodes a body from the codings in a `Content-Encoding`.
///
/// # Errors
/// Why it can't be decoded; at most `bytes_max` are produced before that is known.
pub(crate) fn open(codings: &[u8], body: &[u8], bytes_max: usize) -> Result<Vec<u8>, OpenError> {
    let mut opened = None;
    let named = codings.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    let named = named.filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(b"identity"));
    let layers: Vec<_> = named.collect();
    if layers.len() > LAYERS_MAX {
        return Err(OpenError::Unknown);
    }
    // The last coding was applied last.
    for name in layers.iter().rev() {
        let coding = Coding::named(name).ok_or(OpenError::Unknown)?;
        opened = Some(coding.open(opened.as_deref().unwrap_or(body), bytes_max)?);
    }
    Ok(opened.unwrap_or_else(|| body.to_vec()))
}

fn read(decoder: impl Read, bytes_max: usize) -> Result<Vec<u8>, OpenError> {
    let mut opened = Vec::new();
    let bound = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    decoder.take(bound).read_to_end(&mut opened).map_err(|_| OpenError::Malformed)?;
    if opened.len() > bytes_max { Err(OpenError::TooLarge) } else { Ok(opened) }
}

/// Whether a body starts with a zlib frame: method 8 and a valid check of both bytes (RFC 1950 §2.2).
fn has_zlib_frame(body: &[u8]) -> bool {
    matches!(body, [method, flags, ..] if method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0)
}

#[cfg(test)]
mod tests;
