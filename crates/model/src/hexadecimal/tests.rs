use super::*;

#[test]
fn digits_are_those_of_formatting() {
    let bytes: Vec<u8> = (0..=255).collect();
    let formatted: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hexadecimal(&bytes), formatted);
    let number = 0x0123_4567_89ab_cdef_0011_2233_4455_6677_u128;
    assert_eq!(hexadecimal_digits::<32>(number), *b"0123456789abcdef0011223344556677");
    assert_eq!(hexadecimal_digits::<16>(number), *b"0011223344556677");
    assert_eq!(hexadecimal_digits::<8>(0xa), *b"0000000a");
    for byte in 0..=255u32 {
        assert_eq!(hexadecimal_digits::<8>((byte * 0x0101_0101).into()), *format!("{byte:02x}").repeat(4).as_bytes());
    }
}
