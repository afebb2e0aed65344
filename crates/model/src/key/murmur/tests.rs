use super::{murmur3_32, murmur3_32_unfinished, murmur3_128};

#[test]
fn the_32_bit_variant_gives_the_published_values() {
    for (text, expect) in [
        ("", 0),
        ("hello", 0x248b_fa47),
        ("hello, world", 0x149b_bb7f),
        ("The quick brown fox jumps over the lazy dog.", 0xd5c4_8bfc),
    ] {
        assert_eq!(murmur3_32(text.as_bytes()), expect, "{text}");
    }
}

/// Values of Tyk's library, `New32` and `Sum`; the last bytes do not count.
#[test]
fn the_unfinished_32_bit_variant_gives_tyks_values() {
    for (text, expect) in [
        ("", 0),
        ("abc", 0),
        ("default1f753e0e69154aae827b1afd6c80a8e6", 0x49cb_96ec),
        ("default1f753e0e69154aae827b1afd6c80a8e7", 0x49cb_96ec),
        ("default1f753e0e69154aae827b1afd6c80a", 0x49cb_96ec),
    ] {
        assert_eq!(murmur3_32_unfinished(text.as_bytes()), expect, "{text}");
    }
}

#[test]
fn the_128_bit_variant_gives_the_published_values() {
    for (text, expect) in [
        ("", (0, 0)),
        ("hello", (0xcbd8_a7b3_41bd_9b02, 0x5b1e_906a_48ae_1d19)),
        ("hello, world", (0x342f_ac62_3a5e_bc8e, 0x4cdc_bc07_9642_414d)),
        ("The quick brown fox jumps over the lazy dog.", (0xcd99_481f_9ee9_02c9, 0x695d_a1a3_8987_b6e7)),
    ] {
        assert_eq!(murmur3_128(text.as_bytes()), expect, "{text}");
    }
}
