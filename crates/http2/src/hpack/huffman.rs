//! The Huffman code of HPACK (RFC 7541 §5.2, appendix B). It is canonical: codes are assigned in order of length, and within a
//! length in order of symbols. The lengths alone define it, and the compiler computes the tables from them.

/// Code length of each symbol in bits; the last symbol marks the end and must not occur.
const LENGTHS: [u8; SYMBOLS] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28,
    28, //
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, //
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, //
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, //
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23,
    24, //
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22,
    23, //
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27,
    27, //
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27,
    26, //
    30,
];

const SYMBOLS: usize = 257;
const END: u16 = 256;
const LENGTH_MAX: usize = 30;
/// Bits per table lookup. The codes of all letters, digits and most punctuation fit; a table for more bits would displace other
/// data from the CPU cache.
const PEEK: u32 = 10;

/// The symbol at the start of some bits.
#[derive(Clone, Copy)]
struct DecodedSymbol {
    symbol: u8,
    /// Length of its code in bits; 0 if it is longer than the lookup.
    length: u8,
}

/// The codes of one length.
#[derive(Clone, Copy)]
struct Codes {
    first: u32,
    count: u32,
    /// Index of their first symbol in `SORTED`.
    start: u32,
}

const CODES: [Codes; LENGTH_MAX + 1] = codes();
const SORTED: [u16; SYMBOLS] = sorted();
static FOUND: [DecodedSymbol; 1 << PEEK] = found();

#[allow(clippy::indexing_slicing)] // evaluated by the compiler, which checks it
const fn codes() -> [Codes; LENGTH_MAX + 1] {
    let mut codes = [Codes { first: 0, count: 0, start: 0 }; LENGTH_MAX + 1];
    let mut symbol = 0;
    while symbol < SYMBOLS {
        codes[LENGTHS[symbol] as usize].count += 1;
        symbol += 1;
    }
    let mut length = 1;
    while length <= LENGTH_MAX {
        let shorter = codes[length - 1];
        codes[length].first = (shorter.first + shorter.count) << 1;
        codes[length].start = shorter.start + shorter.count;
        length += 1;
    }
    codes
}

#[allow(clippy::indexing_slicing)] // evaluated by the compiler, which checks it
const fn sorted() -> [u16; SYMBOLS] {
    let mut sorted = [0; SYMBOLS];
    let (mut length, mut place) = (1, 0);
    while length <= LENGTH_MAX {
        let mut symbol = 0;
        while symbol < SYMBOLS {
            if LENGTHS[symbol] as usize == length {
                sorted[place] = symbol as u16;
                place += 1;
            }
            symbol += 1;
        }
        length += 1;
    }
    sorted
}

#[allow(clippy::indexing_slicing)] // evaluated by the compiler, which checks it
const fn found() -> [DecodedSymbol; 1 << PEEK] {
    let mut found = [DecodedSymbol { symbol: 0, length: 0 }; 1 << PEEK];
    let mut length = 1;
    while length <= PEEK as usize {
        let Codes { first, count, start } = CODES[length];
        let mut number = 0;
        while number < count {
            // All bit patterns that start with the code.
            let spare = PEEK - length as u32;
            let begin = (first + number) << spare;
            let mut behind = 0;
            while behind < 1 << spare {
                found[(begin + behind) as usize] =
                    DecodedSymbol { symbol: SORTED[(start + number) as usize] as u8, length: length as u8 };
                behind += 1;
            }
            number += 1;
        }
        length += 1;
    }
    found
}

/// A string is not valid Huffman code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotHuffman;

/// Appends the decoded text.
pub(super) fn decode(coded: &[u8], out: &mut Vec<u8>) -> Result<(), NotHuffman> {
    let before = out.len();
    // The shortest codes have five bits.
    out.resize(before + coded.len() * 8 / 5, 0);
    let mut room = out.get_mut(before..).unwrap_or_default().iter_mut();
    // The lowest `have` bits come next.
    let (mut bits, mut have) = (0u64, 0u32);
    let mut rest = coded;
    loop {
        if have <= u32::BITS {
            if let Some((four, behind)) = rest.split_first_chunk() {
                bits = bits << u32::BITS | u64::from(u32::from_be_bytes(*four));
                (have, rest) = (have + u32::BITS, behind);
            } else {
                for byte in rest {
                    bits = bits << 8 | u64::from(*byte);
                    have += 8;
                }
                rest = &[];
            }
        }
        if have < 8 && is_padding(bits, have) {
            break;
        }
        let (symbol, length) = match FOUND.get(peek(bits, have, PEEK)) {
            Some(found) if found.length > 0 => (found.symbol, u32::from(found.length)),
            _ => long(bits, have).unwrap_or((0, u32::MAX)),
        };
        if length > have {
            break;
        }
        have -= length;
        if let Some(place) = room.next() {
            *place = symbol;
        }
    }
    let unused = room.len();
    out.truncate(out.len() - unused);
    if have < 8 && is_padding(bits, have) { Ok(()) } else { Err(NotHuffman) }
}

/// Whether the remaining bits are valid padding: the highest bits of the end-of-string code, which are ones, and less than a byte
/// (§5.2). No symbol has such a code.
#[inline(always)]
fn is_padding(bits: u64, have: u32) -> bool {
    let ones = (1u64 << have) - 1;
    bits & ones == ones
}

/// The next `count` bits, padded with ones at the end of the input.
#[inline(always)]
fn peek(bits: u64, have: u32, count: u32) -> usize {
    let mask = (1u64 << count) - 1;
    let next = match have.checked_sub(count) {
        Some(more) => bits >> more,
        None => bits << (count - have) | ((1 << (count - have)) - 1),
    };
    (next & mask) as usize
}

/// The symbol of a code longer than the lookup, and its length; `None` for the end-of-string symbol, which must not occur.
#[cold]
fn long(bits: u64, have: u32) -> Option<(u8, u32)> {
    for (length, codes) in (0u32..).zip(&CODES).skip(PEEK as usize + 1) {
        let code = peek(bits, have, length) as u32;
        if let Some(number) = code.checked_sub(codes.first).filter(|number| *number < codes.count) {
            let symbol = SORTED.get((codes.start + number) as usize).copied().filter(|symbol| *symbol != END)?;
            return Some((symbol as u8, length));
        }
    }
    None
}

/// The code of a symbol, and its length in bits.
#[cfg(test)]
pub(super) fn code(symbol: u8) -> (u32, u32) {
    let length = LENGTHS[usize::from(symbol)];
    let Codes { first, start, .. } = CODES[usize::from(length)];
    let place = SORTED.iter().position(|other| *other == u16::from(symbol)).expect("all symbols are there");
    (first + place as u32 - start, u32::from(length))
}
