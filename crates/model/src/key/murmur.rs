//! MurmurHash3 with seed 0, in the variants that hash keys. It is not a cryptographic hash: whoever chooses keys can make them collide.
//! Tyk's 32 bits are not those of the algorithm: `Sum` of its library returns the state after the last whole block of four bytes.

const C1_32: u32 = 0xcc9e_2d51;
const C2_32: u32 = 0x1b87_3593;
const C1_64: u64 = 0x87c3_7b91_1142_53d5;
const C2_64: u64 = 0x4cf5_ad43_2745_937f;

/// The variant `x86_32` as Tyk computes it: without the bytes after the last whole block, the length and the final mixing.
pub(super) fn murmur3_32_unfinished(data: &[u8]) -> u32 {
    blocks_32(data.as_chunks::<4>().0)
}

/// The variant `x86_32`.
pub(super) fn murmur3_32(data: &[u8]) -> u32 {
    let (blocks, tail) = data.as_chunks::<4>();
    let mut hash = blocks_32(blocks);
    if !tail.is_empty() {
        hash ^= scramble_32(little_endian(tail) as u32);
    }
    finish_32(hash ^ data.len() as u32)
}

fn blocks_32(blocks: &[[u8; 4]]) -> u32 {
    let mut hash = 0_u32;
    for block in blocks {
        hash ^= scramble_32(u32::from_le_bytes(*block));
        hash = hash.rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    hash
}

/// The variant `x64_128`, as its first and its second half.
pub(super) fn murmur3_128(data: &[u8]) -> (u64, u64) {
    let (blocks, tail) = data.as_chunks::<16>();
    let (mut first, mut second) = (0_u64, 0_u64);
    for block in blocks {
        let (low, high) = halves(block);
        first ^= scramble_low(low);
        first = first.rotate_left(27).wrapping_add(second).wrapping_mul(5).wrapping_add(0x52dc_e729);
        second ^= scramble_high(high);
        second = second.rotate_left(31).wrapping_add(first).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    // An empty half mixes to 0 and changes nothing.
    let (low, high) = halves(tail);
    first ^= scramble_low(low);
    second ^= scramble_high(high);
    let length = data.len() as u64;
    (first, second) = add_each_other(first ^ length, second ^ length);
    add_each_other(finish_64(first), finish_64(second))
}

fn halves(bytes: &[u8]) -> (u64, u64) {
    let (low, high) = bytes.split_at_checked(8).unwrap_or((bytes, &[]));
    (little_endian(low), little_endian(high))
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn scramble_32(block: u32) -> u32 {
    block.wrapping_mul(C1_32).rotate_left(15).wrapping_mul(C2_32)
}

fn scramble_low(block: u64) -> u64 {
    block.wrapping_mul(C1_64).rotate_left(31).wrapping_mul(C2_64)
}

fn scramble_high(block: u64) -> u64 {
    block.wrapping_mul(C2_64).rotate_left(33).wrapping_mul(C1_64)
}

fn finish_32(mut hash: u32) -> u32 {
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

fn finish_64(mut hash: u64) -> u64 {
    hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}

fn add_each_other(first: u64, second: u64) -> (u64, u64) {
    let first = first.wrapping_add(second);
    (first, second.wrapping_add(first))
}

#[cfg(test)]
mod tests;
