use super::{FrameReader, crc32};

fn frame(headers: &[u8], data: &[u8]) -> Vec<u8> {
    let mut made = ((16 + headers.len() + data.len()) as u32).to_be_bytes().to_vec();
    made.extend((headers.len() as u32).to_be_bytes());
    made.extend(crc32(&made).to_be_bytes());
    made.extend(headers);
    made.extend(data);
    made.extend(crc32(&made).to_be_bytes());
    made
}

#[test]
fn the_checksum_is_the_usual_one() {
    assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
}

#[test]
fn frames_that_lie_are_refused() {
    let good = frame(b"\x0d:message-type\x07\x00\x05event\x0b:event-type\x07\x00\x01x", b"{}");
    let read = |bytes: &[u8]| FrameReader::new(100).next(&mut &bytes[..]);
    assert!(matches!(read(&good), Ok(Some(frame)) if frame.is_event && frame.kind == "x" && frame.data == b"{}"));
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        assert!(read(&bad).is_err(), "byte {at}");
        assert_eq!(read(&good[..at]), Ok(None), "cut at {at}");
    }
    assert!(read(&frame(b"", &[0; 200])).is_err());
    assert!(read(&frame(b"\x05abc", b"")).is_err());
    assert!(read(&frame(b"\x01a\x63", b"")).is_err());
}
