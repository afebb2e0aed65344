//! Integers with a prefix (RFC 7541 §5.1).

/// Maximum bytes after the prefix: 28 bits exceed any valid value here, and more zeros would only cost work.
const MORE_BYTES_MAX: usize = 4;

/// The integer is too large for this decoder, or endless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// The integer at the start of `input`, in the lowest `bits` of its first byte, and its length in bytes; `None` if it is
/// incomplete.
#[inline]
pub(super) fn read_integer(input: &[u8], bits: u32) -> Result<Option<(usize, usize)>, TooLarge> {
    let prefix = (1usize << bits) - 1;
    let Some((first, more)) = input.split_first() else { return Ok(None) };
    let value = usize::from(*first) & prefix;
    if value < prefix { Ok(Some((value, 1))) } else { read_more(value, more) }
}

fn read_more(mut value: usize, more: &[u8]) -> Result<Option<(usize, usize)>, TooLarge> {
    for (place, byte) in more.iter().take(MORE_BYTES_MAX).enumerate() {
        value += usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Ok(Some((value, place + 2)));
        }
    }
    if more.len() >= MORE_BYTES_MAX { Err(TooLarge) } else { Ok(None) }
}

/// Appends an integer whose first byte has `pattern` in its upper bits.
#[inline]
pub(super) fn write_integer(value: usize, bits: u32, pattern: u8, out: &mut Vec<u8>) {
    let prefix = (1usize << bits) - 1;
    if value < prefix {
        out.push(pattern | value as u8);
        return;
    }
    out.push(pattern | prefix as u8);
    let mut rest = value - prefix;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}
