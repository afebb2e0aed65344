use super::*;

fn through(line: &CallerLine<'_>) -> (String, HeaderMap) {
    let mut out = Vec::new();
    line.write(&mut out);
    let text = String::from_utf8(out).unwrap();
    let (name, value) = text.trim_end().split_once(": ").unwrap();
    assert_eq!(name, CALLER_LINE);
    let mut headers = HeaderMap::new();
    headers.insert(CALLER_LINE, value.parse().unwrap());
    (text, headers)
}

#[test]
fn what_is_written_is_read() {
    let full = CallerLine {
        key_digest: "af12",
        address: "2001:db8::7".parse().ok(),
        loops: 3,
        host: Some("api.example:8080"),
        call: Some(u64::MAX),
        rest: Some("tools/call a b"),
    };
    let without_key = CallerLine { key_digest: "", host: None, ..full.clone() };
    let without_rest = CallerLine { rest: None, call: None, ..full.clone() };
    for line in [full, without_key, without_rest, CallerLine::default()] {
        let (text, headers) = through(&line);
        assert_eq!(CallerLine::read(&headers), line, "{text}");
    }
}

#[test]
fn a_request_without_the_line_tells_nothing() {
    assert_eq!(CallerLine::read(&HeaderMap::new()), CallerLine::default());
}

#[test]
fn addresses_are_written_as_formatted() {
    for address in ["0.0.0.0", "1.20.255.99", "255.255.255.255", "127.0.0.1", "10.100.9.10", "::1", "2001:db8::7"] {
        let mut out = Vec::new();
        append_ip(&mut out, address.parse().unwrap());
        assert_eq!(String::from_utf8(out).unwrap(), address);
    }
}
