//! Lower-case hexadecimal digits, also on the path of requests: the formatter takes ten times as long.

/// Bytes as digits, two for each.
pub fn hexadecimal(bytes: &[u8]) -> String {
    let mut digits = vec![0; 2 * bytes.len()];
    for (own, byte) in digits.as_chunks_mut().0.iter_mut().zip(bytes) {
        *own = pair(*byte);
    }
    String::from_utf8(digits).unwrap_or_default()
}

/// The lowest `N` digits of a number; `N` is a multiple of 8.
#[inline]
pub fn hexadecimal_digits<const N: usize>(number: u128) -> [u8; N] {
    let mut digits = [b'0'; N];
    for (place, own) in digits.as_chunks_mut().0.iter_mut().rev().enumerate() {
        *own = eight((number >> (32 * place)) as u32);
    }
    digits
}

/// Eight digits at once: each half of a byte moves into a separate byte.
#[inline]
fn eight(number: u32) -> [u8; 8] {
    let apart = u64::from(number);
    let apart = (apart & 0xffff_0000) << 16 | apart & 0xffff;
    let apart = (apart & 0x0000_ff00_0000_ff00) << 8 | apart & 0x0000_00ff_0000_00ff;
    let values = (apart & 0x00f0_00f0_00f0_00f0) << 4 | apart & 0x000f_000f_000f_000f;
    // Adding 6 carries into the upper half for values of ten and more.
    let letters = (values + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    (values + 0x3030_3030_3030_3030 + letters * u64::from(b'a' - b'0' - 10)).to_be_bytes()
}

#[inline]
fn pair(byte: u8) -> [u8; 2] {
    [byte >> 4, byte & 0xf].map(|value| if value < 10 { b'0' + value } else { b'a' - 10 + value })
}

#[cfg(test)]
mod tests;
