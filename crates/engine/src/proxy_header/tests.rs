use super::*;

#[path = "invariants.rs"]
mod invariants;

fn v2(version: u8, family: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = V2_START.to_vec();
    bytes.extend([version, family]);
    bytes.extend((body.len() as u16).to_be_bytes());
    bytes.extend(body);
    bytes
}

fn tcp4(tail: &[u8]) -> Vec<u8> {
    let mut body = vec![203, 0, 113, 7, 192, 0, 2, 1, 0x30, 0x39, 0x01, 0xbb];
    body.extend(tail);
    v2(0x21, 0x11, &body)
}

fn tcp6() -> Vec<u8> {
    let mut body = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 7).octets().to_vec();
    body.extend(Ipv6Addr::LOCALHOST.octets());
    body.extend([0x30, 0x39, 0x01, 0xbb]);
    v2(0x21, 0x21, &body)
}

fn well_formed() -> Vec<(Vec<u8>, Option<&'static str>)> {
    vec![
        (b"PROXY TCP4 203.0.113.7 192.0.2.1 12345 443\r\n".to_vec(), Some("203.0.113.7:12345")),
        (b"PROXY TCP4 0.0.0.0 255.255.255.255 0 65535\r\n".to_vec(), Some("0.0.0.0:0")),
        (b"PROXY TCP6 2001:db8::7 ::1 12345 443\r\n".to_vec(), Some("[2001:db8::7]:12345")),
        (
            b"PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n".to_vec(),
            Some("[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535"),
        ),
        (b"PROXY UNKNOWN\r\n".to_vec(), None),
        (b"PROXY UNKNOWN ffff:f::f and whatever 1 2\r\n".to_vec(), None),
        (tcp4(b""), Some("203.0.113.7:12345")),
        (tcp4(b"\x04\x00\x03abc"), Some("203.0.113.7:12345")),
        (tcp6(), Some("[2001:db8::7]:12345")),
        (v2(0x20, 0x00, b""), None),
        (v2(0x20, 0x11, &[0; 12]), None),
        (v2(0x21, 0x00, b""), None),
        (v2(0x21, 0x31, &[0; 216]), None),
    ]
}

/// Reads as from a socket: never more than the parser asks for.
fn read(bytes: &[u8]) -> Result<(Option<SocketAddr>, usize), &'static str> {
    let mut have = 0;
    loop {
        match parse(&bytes[..have])? {
            Progress::Complete(client) => return Ok((client, have)),
            Progress::Wants(more) => {
                assert!(more > 0);
                have += more;
                if have > bytes.len() {
                    return Err("cut");
                }
            }
        }
    }
}

#[test]
fn both_versions_tell_the_client() {
    for (bytes, client) in well_formed() {
        let mut followed = bytes.clone();
        followed.extend(b"GET / HTTP/1.1\r\n\r\n");
        let client = client.map(|text| text.parse().unwrap());
        assert_eq!(read(&followed), Ok((client, bytes.len())), "{:?}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn a_header_cut_at_any_byte_is_waited_for_and_never_taken() {
    for (bytes, _) in well_formed() {
        for cut in 0..bytes.len() {
            let progress = parse(&bytes[..cut]);
            assert!(matches!(progress, Ok(Progress::Wants(more)) if cut + more <= bytes.len()), "{cut} of {bytes:?}: {progress:?}");
        }
    }
}

#[test]
fn what_is_not_exactly_a_header_is_refused() {
    let long = format!("PROXY UNKNOWN {}\r\n", "x".repeat(100));
    let cases: Vec<Vec<u8>> = vec![
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        b"proxy TCP4 203.0.113.7 192.0.2.1 1 2\r\n".to_vec(),
        b"PROXY TCP4 203.0.113.7 192.0.2.1 1 2\n".to_vec(),
        b"PROXY TCP4 203.0.113.7 192.0.2.1 1\r\n".to_vec(),
        b"PROXY TCP4 203.0.113.7 192.0.2.1 1 2 3\r\n".to_vec(),
        b"PROXY TCP4  203.0.113.7 192.0.2.1 1 2\r\n".to_vec(),
        b"PROXY TCP4 203.0.113.7 192.0.2.1 1 65536\r\n".to_vec(),
        b"PROXY TCP4 203.0.113.7 192.0.2.1 01 2\r\n".to_vec(),
        b"PROXY TCP4 203.0.113.7 192.0.2.1 +1 2\r\n".to_vec(),
        b"PROXY TCP4 2001:db8::7 ::1 1 2\r\n".to_vec(),
        b"PROXY TCP6 203.0.113.7 192.0.2.1 1 2\r\n".to_vec(),
        b"PROXY TCP4 203.0.113.256 192.0.2.1 1 2\r\n".to_vec(),
        b"PROXY UDP4 203.0.113.7 192.0.2.1 1 2\r\n".to_vec(),
        b"PROXY TCP4 203.0.113.7\0 192.0.2.1 1 2\r\n".to_vec(),
        long.into_bytes(),
        v2(0x11, 0x11, &[0; 12]),
        v2(0x22, 0x11, &[0; 12]),
        v2(0x21, 0x12, &[0; 12]),
        v2(0x21, 0x41, &[0; 12]),
        v2(0x21, 0x11, &[0; 11]),
        v2(0x21, 0x21, &[0; 35]),
        v2(0x21, 0x11, &[0; V2_BYTES_MAX + 1]),
    ];
    for bytes in cases {
        let result = read(&bytes);
        assert!(result.is_err() && result != Err("cut"), "{:?}: {result:?}", String::from_utf8_lossy(&bytes));
    }
}

/// Runs the fuzzer's corpus without a fuzzer.
#[test]
fn nothing_that_a_proxy_can_send_is_read_in_two_ways() {
    crate::mutation::Corpus::read("proxy_header").each_and_mutated(20_000, invariants::proxy_header);
}
