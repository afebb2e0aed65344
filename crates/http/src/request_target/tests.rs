use super::*;

/// Targets of all lengths around one and two words, with the bytes that have a meaning at every position.
#[test]
fn one_pass_sees_what_many_see() {
    let alphabet = *b"aa//..%?#-\xc3\xbe\"\x21\x40";
    let mut state = 1u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..200_000 {
        let start = next(9);
        let mut bytes = vec![b'/'; start];
        bytes.extend((0..next(24)).map(|_| alphabet[next(alphabet.len())]));
        let end = bytes.len();
        bytes.push(*b" \r\n\t\0\x7f".get(next(6)).unwrap());
        bytes.extend_from_slice(&b"?#/%//..  \r\n"[..next(13)]);
        let target = &bytes[start..end];
        let path = target.split(|byte| *byte == b'?').next().unwrap();
        let is_plain = !path.contains(&b'%') && !path.windows(2).any(|two| matches!(two, b"//" | b"/."));
        let read = RequestTarget::read(&bytes, start).unwrap();
        assert_eq!(read.end, end, "{target:?}");
        assert_eq!(read.path_end, start + path.len(), "{target:?}");
        assert_eq!(read.path_is_plain, is_plain, "{target:?}");
        assert_eq!(read.has_fragment, target.contains(&b'#'), "{target:?}");
        assert_eq!(read.is_ascii, target.is_ascii(), "{target:?}");
        assert!(RequestTarget::read(&bytes[..end], start).is_none(), "{target:?}");
    }
}
