use super::{RangeRequest, Segment, multipart};
use RangeRequest::{Parts, Unsatisfiable, Whole};

#[test]
fn ranges_are_read_as_rfc_9110_says() {
    let parts = |parts: &[(u64, u64)]| Parts(parts.iter().map(|(start, end)| *start..*end).collect());
    let cases: &[(&str, RangeRequest)] = &[
        ("bytes=0-0", parts(&[(0, 1)])),
        ("bytes=0-499", parts(&[(0, 100)])),
        ("Bytes=10-19", parts(&[(10, 20)])),
        ("bytes=90-", parts(&[(90, 100)])),
        ("bytes=-10", parts(&[(90, 100)])),
        ("bytes=-1000", parts(&[(0, 100)])),
        ("bytes=0-0,-1", parts(&[(0, 1), (99, 100)])),
        ("bytes= 0-9 , 20-29 ,", parts(&[(0, 10), (20, 30)])),
        ("bytes=20-29,0-9", parts(&[(20, 30), (0, 10)])),
        ("bytes=0-9,100-", parts(&[(0, 10)])),
        ("bytes=100-", Unsatisfiable),
        ("bytes=100-200,300-", Unsatisfiable),
        ("bytes=-0", Unsatisfiable),
        ("bytes=99999999999999999999999-", Unsatisfiable),
        ("bytes=0-99999999999999999999999", parts(&[(0, 100)])),
        ("bytes=5-4", Whole),
        ("bytes=", Whole),
        ("bytes=,", Whole),
        ("bytes=-", Whole),
        ("bytes=a-b", Whole),
        ("bytes=0-9-", Whole),
        ("bytes=+0-9", Whole),
        ("bytes=0x0-9", Whole),
        ("bytes 0-9", Whole),
        ("items=0-9", Whole),
        ("", Whole),
        ("bytes=0-9,5-14", Whole),
        ("bytes=0-,0-,0-", Whole),
        ("bytes=0-9,nonsense", Whole),
    ];
    for (text, expect) in cases {
        assert_eq!(RangeRequest::parse(text.as_bytes(), 100), *expect, "{text}");
    }
    assert_eq!(RangeRequest::parse(b"bytes=-5", 0), Unsatisfiable);
    assert_eq!(RangeRequest::parse(b"bytes=0-", 0), Unsatisfiable);
}

#[test]
fn ranges_of_a_request_are_bounded() {
    let text = |count: u64| format!("bytes={}", (0..count).map(|at| format!("{0}-{0}", at * 2)).collect::<Vec<_>>().join(","));
    assert!(matches!(RangeRequest::parse(text(16).as_bytes(), 100), Parts(parts) if parts.len() == 16));
    assert_eq!(RangeRequest::parse(text(17).as_bytes(), 100), Whole);
}

#[test]
fn several_ranges_are_parts_of_one_body() {
    let segments = multipart(&[0..2, 98..100], 100, Some(b"text/plain"), "B");
    let text: Vec<u8> = segments
        .iter()
        .flat_map(|segment| match segment {
            Segment::Text(text) => text.to_vec(),
            Segment::Span(range) => format!("<{}..{}>", range.start, range.end).into_bytes(),
        })
        .collect();
    assert_eq!(
        String::from_utf8(text).unwrap(),
        "\r\n--B\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-1/100\r\n\r\n<0..2>\
         \r\n--B\r\nContent-Type: text/plain\r\nContent-Range: bytes 98-99/100\r\n\r\n<98..100>\r\n--B--\r\n"
    );
}
