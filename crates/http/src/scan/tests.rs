use super::*;

/// Every byte at every position of a word, after bytes of every kind.
#[test]
fn the_first_place_is_found_wherever_it_is() {
    for filler in [b'a', b' ', 0x80, 0xff, b'~'] {
        for length in 0..20 {
            for place in 0..length {
                for byte in 0..=255u8 {
                    let mut bytes = vec![filler; length];
                    bytes[place] = byte;
                    for from in 0..=place {
                        let naive = |is_meant: &dyn Fn(u8) -> bool| (from..length).find(|at| is_meant(bytes[*at]));
                        assert_eq!(find(&bytes, from, b':'), naive(&|byte| byte == b':'), "{bytes:?} from {from}");
                        for least in [0x20, 0x21] {
                            let expect = naive(&|byte| byte < least || byte == 0x7f);
                            assert_eq!(find_control(&bytes, from, least), expect, "{bytes:?} from {from}");
                        }
                    }
                }
            }
        }
    }
    assert_eq!(find(b"ab", 3, b':'), None);
}

#[test]
fn only_letters_have_a_case() {
    assert!(is(b"X-Real-IP", b"x-real-ip"));
    assert!(!is(b"X\rReal\rIP", b"x-real-ip"));
    assert!(!is(b"x-real-i", b"x-real-ip"));
    for byte in 0..=255u8 {
        assert_eq!(is(&[b't', byte], b"te"), byte == b'e' || byte == b'E', "{byte}");
        assert_eq!(is(&[b't', byte], b"t-"), byte == b'-', "{byte}");
    }
}

/// Words overlap, so each length covers a name in its own way.
#[test]
fn a_byte_that_differs_is_seen_at_each_place_of_each_length() {
    fn check<const N: usize>() {
        let all = *b"x-header-with-24-letters";
        let lower: &[u8; N] = all.first_chunk().unwrap();
        assert!(is(&lower.to_ascii_uppercase(), lower));
        assert!(!is(&all[..N - 1], lower));
        for place in 0..N {
            for byte in 0..=255u8 {
                let mut name = *lower;
                name[place] = byte;
                assert_eq!(is(&name, lower), name.eq_ignore_ascii_case(lower), "{name:?}");
            }
        }
    }
    macro_rules! check_all {
        ($($length:literal)*) => { $(check::<$length>();)* };
    }
    check_all!(2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24);
}
