//! Request ids and their text form.

use crate::hexadecimal_digits;

/// 128 random bits, written as a version 4 UUID.
#[derive(Clone, Copy, Debug)]
pub struct RequestId(pub u128);

impl RequestId {
    /// Appends the id as a version 4 UUID.
    pub fn append_to(self, out: &mut Vec<u8>) {
        let bits = self.0 & !(0xf << 76) & !(0x3 << 62) | (4 << 76) | (2 << 62);
        let digits = hexadecimal_digits::<32>(bits);
        let mut text = [b'-'; 36];
        text[..8].copy_from_slice(&digits[..8]);
        text[9..13].copy_from_slice(&digits[8..12]);
        text[14..18].copy_from_slice(&digits[12..16]);
        text[19..23].copy_from_slice(&digits[16..20]);
        text[24..].copy_from_slice(&digits[20..]);
        out.extend_from_slice(&text);
    }
}

impl std::fmt::Display for RequestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = Vec::with_capacity(36);
        self.append_to(&mut text);
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}
