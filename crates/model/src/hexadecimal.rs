//! Lower-case hexadecimal digits, for what is written for each request too: formatting costs ten times as much.

/// Bytes as digits, two for each.
pub fn hexadecimal(bytes: &[u8]) -> String {
    let mut digits = vec![0; 2 * bytes.len()];
    for (own, byte) in digits.as_chunks_mut().0.iter_mut().zip(bytes) {
        *own = pair(*byte);
    }
    String::from_utf8(digits).unwrap_or_default()
}

/// The lowest `N` digits of a number; `N` is even.
#[inline]
pub fn hexadecimal_digits<const N: usize>(number: u128) -> [u8; N] {
    let mut digits = [b'0'; N];
    for (own, byte) in digits.as_chunks_mut().0.iter_mut().rev().zip(number.to_le_bytes()) {
        *own = pair(byte);
    }
    digits
}

#[inline]
fn pair(byte: u8) -> [u8; 2] {
    [byte >> 4, byte & 0xf].map(|value| if value < 10 { b'0' + value } else { b'a' - 10 + value })
}

#[cfg(test)]
mod tests;
