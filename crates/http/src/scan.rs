//! Finds delimiters, eight bytes at a time in a machine word. Only the lowest mark of a word is valid: a borrow can set higher
//! ones.

/// One in each byte of a word.
pub(crate) const ONES: u64 = u64::MAX / 0xff;
/// The highest bit of each byte.
pub(crate) const HIGHEST: u64 = ONES << 7;

/// The position of the first `byte` at or after `from`.
#[inline(always)]
pub(crate) fn find(bytes: &[u8], from: usize, byte: u8) -> Option<usize> {
    first(bytes, from, |word| equal(word, byte))
}

/// The position of the first byte at or after `from` that is below `least`, or DEL. `least` is at most 128.
#[inline(always)]
pub(crate) fn find_control(bytes: &[u8], from: usize, least: u8) -> Option<usize> {
    first(bytes, from, |word| controls(word, least))
}

/// The first marked position in a word.
#[inline(always)]
fn first(bytes: &[u8], from: usize, marks: impl Fn(u64) -> u64) -> Option<usize> {
    let mut at = from;
    loop {
        if let Some(place) = first_place(marks(padded_word(bytes, at)?)) {
            return Some(at + place);
        }
        at += size_of::<u64>();
    }
}

/// The eight bytes at `at`, the first one lowest.
#[inline(always)]
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|chunk| u64::from_le_bytes(*chunk))
}

/// Same near the end of the input: missing bytes are filled with bytes that are neither text nor marks.
#[inline(always)]
pub(crate) fn padded_word(bytes: &[u8], at: usize) -> Option<u64> {
    word(bytes, at).or_else(|| padded(bytes.get(at..)?))
}

#[cold]
fn padded(rest: &[u8]) -> Option<u64> {
    let mut chunk = [0xff; size_of::<u64>()];
    chunk.get_mut(..rest.len())?.copy_from_slice(rest);
    (!rest.is_empty()).then_some(u64::from_le_bytes(chunk))
}

/// Marks the bytes of a word that equal `byte`.
#[inline(always)]
pub(crate) fn equal(word: u64, byte: u8) -> u64 {
    let difference = word ^ (ONES * u64::from(byte));
    difference.wrapping_sub(ONES) & !difference & HIGHEST
}

/// Marks the bytes of a word that are below `least`, or DEL.
#[inline(always)]
pub(crate) fn controls(word: u64, least: u8) -> u64 {
    (word.wrapping_sub(ONES * u64::from(least)) & !word & HIGHEST) | equal(word, 0x7f)
}

/// The position of the first mark in a word.
#[inline(always)]
pub(crate) fn first_place(marks: u64) -> Option<usize> {
    (marks != 0).then(|| marks.trailing_zeros() as usize / 8)
}

/// All bits of the bytes before the first mark.
#[inline(always)]
pub(crate) fn before_first(marks: u64) -> u64 {
    let lowest = marks & marks.wrapping_neg();
    (lowest >> 7).wrapping_sub(1)
}

/// Whether `name` equals `lower`, which is in lower case, in any letter case. For all lengths from 2 to 24.
#[inline(always)]
pub(crate) fn is<const N: usize>(name: &[u8], lower: &[u8; N]) -> bool {
    let Ok(name): Result<&[u8; N], _> = name.try_into() else { return false };
    // Compares overlapping words: the compiler would compare byte by byte.
    match N {
        0..4 => name.eq_ignore_ascii_case(lower),
        4..8 => (differences_4(name, lower, 0) | differences_4(name, lower, N - 4)) == 0,
        8..16 => (differences_8(name, lower, 0) | differences_8(name, lower, N - 8)) == 0,
        _ => (differences_8(name, lower, 0) | differences_8(name, lower, 8) | differences_8(name, lower, N - 8)) == 0,
    }
}

/// The bits in which eight bytes differ, ignoring the case of letters.
#[inline(always)]
fn differences_8(name: &[u8], lower: &[u8], at: usize) -> u64 {
    match (word(name, at), word(lower, at)) {
        (Some(name), Some(lower)) => (name | cases(lower)) ^ lower,
        _ => u64::MAX,
    }
}

/// Same for four bytes.
#[inline(always)]
fn differences_4(name: &[u8], lower: &[u8], at: usize) -> u64 {
    let half = |bytes: &[u8]| Some(u64::from(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?)));
    match (half(name), half(lower)) {
        (Some(name), Some(lower)) => (name | cases(lower)) ^ lower,
        _ => u64::MAX,
    }
}

/// The case bit of each letter of a word in lower case. A constant if the word is.
#[inline(always)]
fn cases(lower: u64) -> u64 {
    u64::from_le_bytes(lower.to_le_bytes().map(|byte| if byte.is_ascii_lowercase() { 0x20 } else { 0 }))
}

#[cfg(test)]
mod tests;
