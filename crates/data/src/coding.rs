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
            coding => read(coding.decoder(body)?, bytes_max),
        }
    }

    fn decoder(self, body: &[u8]) -> Result<Box<dyn Read + '_>, OpenError> {
        Ok(match self {
            Coding::Gzip => Box::new(MultiGzDecoder::new(body)),
            // The coding has a zlib frame, which some senders omit.
            Coding::Deflate if has_zlib_frame(body) => Box::new(ZlibDecoder::new(body)),
            Coding::Deflate => Box::new(DeflateDecoder::new(body)),
            Coding::Brotli => Box::new(brotli_decompressor::Decompressor::new(body, 4096)),
            Coding::Zstd => Box::new(ruzstd::decoding::StreamingDecoder::new(body).map_err(|_| OpenError::Malformed)?),
        })
    }
}

/// Decodes a body from the codings in a `Content-Encoding`.
///
/// # Errors
/// Why it can't be decoded; at most `bytes_max` are produced before that is known.
pub(crate) fn open(codings: &[u8], body: &[u8], bytes_max: usize) -> Result<Vec<u8>, OpenError> {
    let mut opened = None;
    for coding in layers(codings)? {
        opened = Some(coding.open(opened.as_deref().unwrap_or(body), bytes_max)?);
    }
    Ok(opened.unwrap_or_else(|| body.to_vec()))
}

/// Decodes the beginning of a body as far as possible, up to `bytes_max` bytes. `body` may end anywhere.
pub(crate) fn open_beginning(codings: &[u8], body: &[u8], bytes_max: usize) -> Vec<u8> {
    let bound = u64::try_from(bytes_max).unwrap_or(u64::MAX);
    let mut opened = body.to_vec();
    for coding in layers(codings).unwrap_or_default() {
        let mut beginning = Vec::new();
        if let Ok(decoder) = coding.decoder(&opened) {
            // The rest of a cut body cannot be decoded.
            let _ = decoder.take(bound).read_to_end(&mut beginning);
        }
        opened = beginning;
    }
    opened.truncate(bytes_max);
    opened
}

/// The codings in a `Content-Encoding`, in decoding order: the coding that was applied last comes first.
fn layers(codings: &[u8]) -> Result<Vec<Coding>, OpenError> {
    let named = codings.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    let named = named.filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(b"identity"));
    let layers: Option<Vec<_>> = named.rev().map(Coding::named).collect();
    layers.filter(|layers| layers.len() <= LAYERS_MAX).ok_or(OpenError::Unknown)
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
