//! Lower-case hexadecimal digits.

use data_encoding::HEXLOWER;

/// Bytes as digits, two for each.
pub fn hexadecimal(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// The lowest `N` digits of a number, at most 32.
pub fn hexadecimal_digits<const N: usize>(number: u128) -> [u8; N] {
    let mut digits = [b'0'; 32];
    HEXLOWER.encode_mut(&number.to_be_bytes(), &mut digits);
    digits.last_chunk().copied().unwrap_or([b'0'; N])
}

#[cfg(test)]
mod tests;
