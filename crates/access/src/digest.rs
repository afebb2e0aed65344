//! The digest that a key is stored under: 256 bits of a hash, binary in memory and hexadecimal in the store.

use data_encoding::HEXLOWER_PERMISSIVE;
use std::hash::Hasher;

/// A key's digest.
pub type Digest = [u8; 32];

/// Hasher for digests, which are hashes already: it takes their first eight bytes.
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

/// Writes a digest in hexadecimal.
pub fn hex(digest: &Digest) -> String {
    tollgate_model::hexadecimal(digest)
}

/// Parses the output of [`hex`].
pub fn parse_digest(text: &str) -> Option<Digest> {
    let mut digest = Digest::default();
    if text.len() != 2 * digest.len() {
        return None;
    }
    HEXLOWER_PERMISSIVE.decode_mut(text.as_bytes(), &mut digest).ok().map(|_| digest)
}

/// Digits of a digest that is shown: nobody compares more with the eye.
const SHOWN_DIGITS: usize = 16;

/// A digest as people compare it.
pub fn shortened(digest: &blake3::Hash) -> String {
    digest.to_hex().chars().take(SHOWN_DIGITS).collect()
}
