//! What a key is filed under: 256 bits of a hash, in memory as they are and in the store as hexadecimal digits.

use std::hash::Hasher;

/// A key's digest.
pub type Digest = [u8; 32];

/// A digest is its own hash.
#[derive(Default)]
pub struct DigestHasher(u64);

impl Hasher for DigestHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk::<8>() {
            self.0 = u64::from_le_bytes(*first);
        }
    }
    fn write_usize(&mut self, _: usize) {}
}

/// As hexadecimal digits.
pub fn hex(digest: &Digest) -> String {
    tollgate_model::hexadecimal(digest)
}

/// What [`hex`] wrote.
pub fn parse_digest(text: &str) -> Option<Digest> {
    let mut digest = [0; 32];
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != digest.len() || !rest.is_empty() {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(pairs) {
        let [high, low] = pair.map(|digit| char::from(digit).to_digit(16));
        *byte = (high? << 4 | low?) as u8;
    }
    Some(digest)
}
