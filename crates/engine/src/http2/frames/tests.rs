use super::*;

fn frame(kind: u8, flags: u8, content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, 1], content].concat()
}

/// What is waited for after all of these bytes, which come in pieces of every size.
fn unfinished(bytes: &[u8]) -> Option<u64> {
    let after = |size: usize| {
        let mut frames = Frames::default();
        for piece in bytes.chunks(size) {
            frames.read(piece);
        }
        frames.unfinished()
    };
    let whole = after(bytes.len().max(1));
    for size in 1..bytes.len().min(40) {
        assert_eq!(after(size), whole, "in pieces of {size}");
    }
    whole
}

fn begun(frames: &[Vec<u8>]) -> Vec<u8> {
    [PREFACE.to_vec(), frame(4, 0, b""), frames.concat()].concat()
}

#[test]
fn the_preface_and_the_first_frame_are_waited_for() {
    assert!(unfinished(b"").is_some());
    assert!(unfinished(PREFACE).is_some());
    assert!(unfinished(&[PREFACE, &frame(4, 0, b"123456")[..14]].concat()).is_some());
    assert_eq!(unfinished(&begun(&[])), None);
}

#[test]
fn a_frame_is_waited_for_once_it_has_begun() {
    let whole = begun(&[frame(6, 0, b"12345678")]);
    assert_eq!(unfinished(&whole), None);
    for cut in begun(&[]).len() + 1..whole.len() {
        assert!(unfinished(&whole[..cut]).is_some(), "{cut}");
    }
}

#[test]
fn data_has_other_limits() {
    let whole = begun(&[frame(0, 0, &[b'x'; 1000])]);
    let header = begun(&[]).len() + FRAME_HEADER;
    assert!(unfinished(&whole[..header - 1]).is_some());
    for cut in [header, header + 1, whole.len() - 1, whole.len()] {
        assert_eq!(unfinished(&whole[..cut]), None, "{cut}");
    }
}

#[test]
fn a_header_block_is_one_thing_until_its_end() {
    let headers = |flags| frame(HEADERS, flags, b"abc");
    let more = |flags| frame(CONTINUATION, flags, b"def");
    assert_eq!(unfinished(&begun(&[headers(END_HEADERS)])), None);
    let waits = unfinished(&begun(&[headers(0)]));
    assert!(waits.is_some());
    for blocks in [vec![headers(0), more(0)], vec![headers(0), more(0), more(0)]] {
        assert_eq!(unfinished(&begun(&blocks)), waits, "more of it is no progress");
    }
    assert_eq!(unfinished(&begun(&[headers(0), more(0), more(END_HEADERS)])), None);
    // A second block is another thing, for which there is time anew.
    let second = unfinished(&begun(&[headers(END_HEADERS), headers(0)]));
    assert!(second.is_some() && second != waits);
}

#[test]
fn frames_are_counted_where_they_begin_and_by_what_they_carry() {
    let bytes = begun(&[
        frame(DATA, 0, b"content"),
        frame(DATA, 0, b""),
        frame(DATA, END_STREAM, b""),
        frame(HEADERS, 0, b"abc"),
        frame(CONTINUATION, END_HEADERS, b"def"),
        frame(HEADERS, END_HEADERS, &[b'x'; 3000]),
        frame(6, 0, b"12345678"),
        frame(0xbe, 0, b""),
    ]);
    // The settings of the beginning, the data without content, the continuation, the ping and the unknown one.
    let expected = FrameCounts { all: 9, data: 2, control: 5, large_heads: 3000 };
    for size in 1..bytes.len() {
        let mut frames = Frames::default();
        let sum = bytes.chunks(size).map(|piece| frames.read(piece)).fold(FrameCounts::default(), |sum, next| FrameCounts {
            all: sum.all + next.all,
            data: sum.data + next.data,
            control: sum.control + next.control,
            large_heads: sum.large_heads + next.large_heads,
        });
        assert_eq!(sum, expected, "in pieces of {size}");
    }
}
