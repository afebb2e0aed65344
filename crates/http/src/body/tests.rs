use crate::{Body, BodyReader, Malformed};

/// The result of a body reader for `bytes`, however they are cut: bytes taken and content.
fn check(body: Body, bytes: &[u8], expect: Result<(usize, &[u8]), Malformed>) {
    for piece in [1, 2, 3, 7, bytes.len().max(1)] {
        let mut reader = BodyReader::new(body);
        let mut content = Vec::new();
        let mut taken = 0;
        let mut failure = None;
        for part in bytes.chunks(piece) {
            match reader.decode(part, &mut content) {
                Ok(n) => taken += n,
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
            if reader.is_done() {
                break;
            }
        }
        match expect {
            Ok((bytes, wanted)) => {
                assert_eq!((taken, content.as_slice(), failure), (bytes, wanted, None), "cut by {piece}");
                assert!(reader.is_done(), "cut by {piece}");
            }
            Err(error) => assert_eq!(failure, Some(error), "cut by {piece}"),
        }
    }
}

#[test]
fn a_body_ends_where_its_framing_says() {
    check(Body::Length(5), b"helloNEXT", Ok((5, b"hello")));
    check(Body::Chunked, b"5\r\nhello\r\n0\r\n\r\nNEXT", Ok((15, b"hello")));
    check(Body::Chunked, b"1;a=b\r\nx\r\nA\r\n0123456789\r\n000\r\nT: x\r\nU: y\r\n\r\n", Ok((44, b"x0123456789")));
    check(Body::Chunked, b"0\r\n\r\n", Ok((5, b"")));
    assert_eq!(BodyReader::new(Body::Chunked).feed(b"7fffffff\r\nx"), Ok(11));
}

#[test]
fn a_broken_chunked_coding_is_refused() {
    let cases: &[&[u8]] = &[
        b"\r\n",
        b"g\r\n",
        b"-1\r\n",
        b"+1\r\n",
        b" 1\r\n",
        b"0x1\r\n",
        b"1 \r\n",
        b";a\r\n",
        // More than a server can take that counts in 32 bits.
        b"80000000\r\n",
        b"100000005\r\n",
        b"1\nx\r\n",
        b"1\r\nxy\r\n",
        b"1\r\nx\n",
        b"1\r\nx\r\r",
        b"1;a\nx\r\n",
        // Invalid extensions (RFC 9112 §7.1.1).
        b"1;\r\n",
        b"1; \r\n",
        b"1 ;\r\n",
        b"1;a;\r\n",
        b"1;a;;b\r\n",
        b"1;=b\r\n",
        b"1;a=\r\n",
        b"1;a=b c\r\n",
        b"1;a b\r\n",
        b"1;a \r\n",
        b"1;a=b \r\n",
        b"1;[\r\n",
        b"1;a=[\r\n",
        b"1;a=\"b\r\n",
        b"1;a=\"b\"c\r\n",
        b"1;a=\"\\\r\n",
        b"1;a=\"\x7f\"\r\n",
        b"1;a\0\r\n",
        b"1;\xe9\r\n",
        b"0\r\nT: x\n\r\n",
        b"0\r\n\n",
        b"0\r\nno colon\r\n\r\n",
        b"0\r\n: x\r\n\r\n",
        b"0\r\nA : x\r\n\r\n",
        b"0\r\nA: \0\r\n\r\n",
        b"0\r\n\rX",
        b"1111111111111111\r\n",
    ];
    for case in cases {
        check(Body::Chunked, case, Err(Malformed::Chunk));
    }
}

#[test]
fn endless_extensions_and_trailers_are_refused() {
    let mut extension = b"1;".to_vec();
    extension.resize(20_000, b'a');
    check(Body::Chunked, &extension, Err(Malformed::Chunk));
    let mut trailer = b"0\r\nA: ".to_vec();
    trailer.resize(40_000, b'a');
    check(Body::Chunked, &trailer, Err(Malformed::Chunk));
}

#[test]
fn trailer_lines_come_out_whole_wherever_the_bytes_are_cut() {
    let body = b"3\r\nabc\r\n0\r\nX-One: 1\r\nX-Two:2\r\n\r\nnext";
    for cut in 0..body.len() {
        let mut reader = BodyReader::new(Body::Chunked);
        let (mut content, mut trailers) = (Vec::new(), Vec::new());
        let mut used = 0;
        for part in [&body[..cut], &body[cut..]] {
            used += reader.decode_with_trailers(part, &mut content, &mut trailers).unwrap();
        }
        assert_eq!((content.as_slice(), trailers.as_slice()), (b"abc".as_slice(), b"X-One: 1\r\nX-Two:2\r\n".as_slice()), "{cut}");
        assert_eq!((reader.is_done(), used), (true, body.len() - 4));
    }
}

/// The forwarded form of `bytes`, in pieces of this size.
fn relayed(body: Body, bytes: &[u8], piece: usize) -> (usize, Vec<u8>) {
    let mut reader = BodyReader::new(body);
    let (mut sent, mut trailers, mut taken) = (Vec::new(), Vec::new(), 0);
    for part in bytes.chunks(piece) {
        let mut out = Vec::new();
        let (used, rest) = reader.relay(part, &mut trailers, |name| name != "X-Refused", &mut out).unwrap();
        taken += used;
        sent.extend_from_slice(&out);
        sent.extend_from_slice(rest);
        if reader.is_done() {
            break;
        }
    }
    assert!(reader.is_done() && trailers.is_empty(), "in pieces of {piece}");
    (taken, sent)
}

#[test]
fn a_chunked_body_is_sent_on_in_its_plainest_form() {
    let cases: &[(&[u8], &[u8])] = &[
        (b"5\r\nhello\r\n0\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n"),
        (b"5;a=b\r\nhello\r\n0;c\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n"),
        (b"5;a;b = \"x;\\\"\xff\" ;c\r\nhello\r\n0\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n"),
        (b"5 \t; a\r\nhello\r\n0\t;a\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n"),
        (b"0005\r\nhello\r\n0000\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n"),
        (b"00A;a\r\n0123456789\r\n00;a\r\n\r\n", b"A\r\n0123456789\r\n0\r\n\r\n"),
        (b"10\r\n0;0;0;0;0;0;0;0;\r\n0\r\n\r\n", b"10\r\n0;0;0;0;0;0;0;0;\r\n0\r\n\r\n"),
        (b"0\r\nX-Sum: 1\r\n\r\n", b"0\r\nX-Sum: 1\r\n\r\n"),
        (b"0\r\nHost: x\r\n\r\n", b"0\r\n\r\n"),
        (
            b"1\r\nx\r\n00\r\nX-Sum: 1\r\nX-Refused: 1\r\nContent-Length: 9\r\nX-Two:2\r\n\r\n",
            b"1\r\nx\r\n0\r\nX-Sum: 1\r\nX-Two:2\r\n\r\n",
        ),
    ];
    for (bytes, expect) in cases {
        let with_next = [bytes, b"GET / HTTP/1.1\r\n".as_slice()].concat();
        for piece in (1..=with_next.len()).chain([1000]) {
            let shown = String::from_utf8_lossy(bytes);
            assert_eq!(relayed(Body::Chunked, &with_next, piece), (bytes.len(), expect.to_vec()), "{shown:?} in pieces of {piece}");
        }
    }
    assert_eq!(relayed(Body::Length(5), b"hello more", 3), (5, b"hello".to_vec()));
}

#[test]
fn nothing_is_copied_of_a_chunked_body_in_its_plainest_form() {
    let bytes = b"5\r\nhello\r\nb\r\n0123456789a\r\n0\r\n\r\n";
    let (mut out, mut trailers) = (Vec::new(), Vec::new());
    let (used, rest) = BodyReader::new(Body::Chunked).relay(bytes, &mut trailers, |_| true, &mut out).unwrap();
    assert_eq!((used, rest.as_ptr(), rest.len(), out.capacity()), (bytes.len(), bytes.as_ptr(), bytes.len(), 0));
}
