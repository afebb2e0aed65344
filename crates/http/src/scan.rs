//! Finds where things end, eight bytes at a time in a machine word. Only the lowest mark of a word counts: a borrow can set higher ones.

/// One in each byte of a word.
const ONES: u64 = u64::MAX / 0xff;
/// The highest bit of each byte.
const HIGHEST: u64 = ONES << 7;

/// The place of the first `byte` at or behind `from`.
#[inline(always)]
pub fn find(bytes: &[u8], from: usize, byte: u8) -> Option<usize> {
    let pattern = ONES * u64::from(byte);
    first(bytes, from, |word| zeros(word ^ pattern), |candidate| candidate == byte)
}

/// The place of the first byte at or behind `from` that is below `least` or DEL. `least` is at most 128.
#[inline(always)]
pub fn find_control(bytes: &[u8], from: usize, least: u8) -> Option<usize> {
    let (low, delete) = (ONES * u64::from(least), ONES * 0x7f);
    let marks = |word: u64| (word.wrapping_sub(low) & !word & HIGHEST) | zeros(word ^ delete);
    first(bytes, from, marks, |byte| byte < least || byte == 0x7f)
}

/// The first place that is marked in a word, or that is meant in what is no whole word any more.
#[inline(always)]
fn first(bytes: &[u8], from: usize, marks: impl Fn(u64) -> u64, is_meant: impl Fn(u8) -> bool) -> Option<usize> {
    let mut at = from;
    while let Some(word) = word(bytes, at) {
        let marked = marks(word);
        if marked != 0 {
            return Some(at + marked.trailing_zeros() as usize / 8);
        }
        at += size_of::<u64>();
    }
    bytes.get(at..)?.iter().position(|byte| is_meant(*byte)).map(|rest| at + rest)
}

/// The eight bytes at `at`, the first one lowest.
#[inline(always)]
pub fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|chunk| u64::from_le_bytes(*chunk))
}

#[inline(always)]
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHEST
}

/// `name` is `lower`, which is in lower case, in any letter case. All lengths from 2 to 24.
#[inline(always)]
pub fn is<const N: usize>(name: &[u8], lower: &[u8; N]) -> bool {
    let Ok(name): Result<&[u8; N], _> = name.try_into() else { return false };
    // Bit 5 is the case of a letter, and of nothing else.
    let mut difference = 0u8;
    for (byte, wanted) in name.iter().zip(lower) {
        let case = if wanted.is_ascii_lowercase() { 0x20 } else { 0 };
        difference |= (byte | case) ^ wanted;
    }
    difference == 0
}

#[cfg(test)]
mod tests;
