//! What is forwarded, as others read it: any bytes that we accept as a request, head and body, go on as bytes that httparse and a strict reader
//! of chunks read back as the same message, once, with nothing left over. Used by the tests and the fuzzer.

use tollgate_http::{
    Body, BodyReader, HEADER_LINES_MAX, HeaderEdits, HeaderStorage, Request, RequestHead, each_forwarded_line, may_be_trailer,
    write_request,
};

type Lines = Vec<(String, Vec<u8>)>;

/// A request as a receiver sees it. Names are in lower case.
#[derive(Debug, PartialEq)]
struct Message {
    method: String,
    target: String,
    headers: Lines,
    content: Vec<u8>,
    trailers: Lines,
}

pub(crate) fn forwarded_request(bytes: &[u8]) {
    let mut storage = HeaderStorage::new();
    let Ok(Some(request)) = Request::parse(bytes, &mut storage) else { return };
    // The gateway's own lines need room too.
    if request.headers.len() > HEADER_LINES_MAX - 4 {
        return;
    }
    let mut head = Vec::new();
    let parts = RequestHead {
        method: request.method.as_bytes(),
        target: request.target.as_bytes(),
        host: b"upstream.test",
        forwarded_for: Some(b"192.0.2.1"),
        upgrade: false,
        replaces_body: false,
    };
    write_request(&request, &parts, &HeaderEdits::default(), &mut head);
    assert_seen_as_sent(&request, &parts);
    let body = &bytes[request.head_len..];
    for size in [1, 5, body.len().max(1)] {
        let Some((content, trailers, sent)) = relay(request.body, body, size) else { continue };
        let whole = [head.as_slice(), &sent].concat();
        let (message, used) = read(&whole);
        assert_eq!(used, whole.len(), "something is left over: {:?}", String::from_utf8_lossy(&whole));
        assert_eq!((message.method.as_str(), message.target.as_str()), (request.method, request.target));
        assert_eq!(message.content, content);
        assert_trailers(&message.trailers, &trailers);
        assert_headers(&message.headers, &request);
    }
}

/// What decides about the request as it leaves sees exactly the lines that leave, also after edits. Framing and Host are no business of it.
fn assert_seen_as_sent(request: &Request<'_>, parts: &RequestHead<'_>) {
    let headers = &request.headers;
    let mut edits = HeaderEdits::default();
    for round in 0..3 {
        match round {
            0 => {}
            1 => edits.set(headers, "X-A", b"the gateway's"),
            _ => edits.remove(headers, "X-B"),
        }
        for forwarded_for in [parts.forwarded_for, None] {
            let parts = RequestHead { forwarded_for, upgrade: false, ..*parts };
            let (mut head, mut seen) = (Vec::new(), Lines::new());
            write_request(request, &parts, &edits, &mut head);
            each_forwarded_line(request, forwarded_for, &edits, &mut |name, value| {
                seen.push((name.to_ascii_lowercase(), value.to_vec()))
            });
            let mut lines = [httparse::EMPTY_HEADER; HEADER_LINES_MAX];
            let mut sent = httparse::Request::new(&mut lines);
            assert!(matches!(sent.parse(&head), Ok(httparse::Status::Complete(_))));
            let sent = sent.headers.iter().map(|line| (line.name.to_ascii_lowercase(), line.value.to_vec()));
            let sent: Lines =
                sent.filter(|(name, _)| !["host", "content-length", "transfer-encoding"].contains(&name.as_str())).collect();
            assert_eq!(seen, sent);
            for (name, value) in &sent {
                let first = sent.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_slice());
                let is_own = ["x-forwarded-for", "expect"].contains(&name.as_str());
                let current = edits.current(headers, name);
                assert!(is_own || current == first || current == Some(b"the gateway's"), "{name}: {value:?}, {current:?}");
            }
        }
    }
}

/// Content and trailer lines as the client sent them, and the body as it is sent on in pieces of this size; `None` when it is not whole.
fn relay(body: Body, bytes: &[u8], size: usize) -> Option<(Vec<u8>, Vec<u8>, Vec<u8>)> {
    let (mut reader, mut decoder) = (BodyReader::new(body), BodyReader::new(body));
    let (mut content, mut trailers, mut kept, mut sent) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for piece in bytes.chunks(size) {
        if reader.is_done() {
            break;
        }
        let mut out = Vec::new();
        let (used, rest) = reader.relay(piece, &mut kept, |_| true, &mut out).ok()?;
        sent.extend_from_slice(&out);
        sent.extend_from_slice(rest);
        let decoded = decoder.decode_with_trailers(piece, &mut content, &mut trailers);
        assert_eq!(decoded, Ok(used), "what is sent on ends elsewhere than what is decoded");
    }
    assert_eq!(reader.is_done(), decoder.is_done());
    reader.is_done().then_some((content, trailers, sent))
}

/// Nothing is there that the client did not send, and of what it sent only what has no place behind the content is missing.
fn assert_trailers(sent: &Lines, lines: &[u8]) {
    let is_line = |line: &&[u8]| !line.is_empty();
    let own: Lines = lines.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end).filter(is_line).map(line).collect();
    let expect: Lines = own.into_iter().filter(|(name, _)| may_be_trailer(name)).collect();
    assert_eq!(*sent, expect);
    for (name, _) in sent {
        assert!(!["host", "content-length", "transfer-encoding", "authorization", "x-forwarded-for"].contains(&name.as_str()));
    }
}

/// The framing is said once and plainly, and nothing is there that neither the client nor the gateway has said.
fn assert_headers(sent: &Lines, request: &Request<'_>) {
    let values = |name: &str| sent.iter().filter(|(own, _)| own == name).map(|(_, value)| value.as_slice()).collect::<Vec<_>>();
    assert_eq!(values("host"), [b"upstream.test"]);
    assert_eq!(values("x-forwarded-for").len(), 1);
    let (lengths, codings) = (values("content-length"), values("transfer-encoding"));
    match request.body {
        Body::Chunked => assert_eq!((lengths, codings), (vec![], vec![b"chunked".as_slice()])),
        Body::Length(length) => assert_eq!((lengths, codings), (vec![length.to_string().as_bytes()], vec![])),
        _ => assert!(codings.is_empty() && (lengths.is_empty() || lengths == [b"0"])),
    }
    let is_own = |name: &str| ["host", "x-forwarded-for", "content-length", "transfer-encoding"].contains(&name);
    for (name, value) in sent.iter().filter(|(name, _)| !is_own(name)) {
        let is_sent = request.headers.iter().any(|(own, line)| own.eq_ignore_ascii_case(name) && line == value);
        assert!(is_sent, "{name} comes from nowhere");
    }
}

/// The message at the start of some bytes, and how many of them are its own.
fn read(bytes: &[u8]) -> (Message, usize) {
    let mut lines = [httparse::EMPTY_HEADER; HEADER_LINES_MAX];
    let mut head = httparse::Request::new(&mut lines);
    let Ok(httparse::Status::Complete(head_len)) = head.parse(bytes) else {
        panic!("no head: {:?}", String::from_utf8_lossy(bytes))
    };
    assert_eq!(head.version, Some(1));
    let headers: Lines = head.headers.iter().map(|line| (line.name.to_ascii_lowercase(), line.value.to_vec())).collect();
    let value = |name: &str| headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_slice());
    let rest = &bytes[head_len..];
    let (content, trailers, used) = match (value("transfer-encoding"), value("content-length")) {
        (Some(b"chunked"), None) => chunks(rest),
        (None, Some(digits)) => {
            let length: usize = std::str::from_utf8(digits).unwrap().parse().unwrap();
            (rest[..length].to_vec(), Vec::new(), length)
        }
        (None, None) => (Vec::new(), Vec::new(), 0),
        other => panic!("unclear framing: {other:?}"),
    };
    let (method, target) = (head.method.unwrap().to_owned(), head.path.unwrap().to_owned());
    (Message { method, target, headers, content, trailers }, head_len + used)
}

/// Content, trailer lines and length of a chunked body. Knows no extensions, and sizes in one form only.
fn chunks(bytes: &[u8]) -> (Vec<u8>, Lines, usize) {
    let (mut content, mut trailers, mut at) = (Vec::new(), Vec::new(), 0);
    let next_line = |at: &mut usize| {
        let length = bytes[*at..].windows(2).position(|pair| pair == b"\r\n").expect("a line");
        let line = &bytes[*at..*at + length];
        *at += length + 2;
        line
    };
    loop {
        let digits = next_line(&mut at);
        assert!(digits.iter().all(u8::is_ascii_hexdigit) && !digits.is_empty(), "a size is {:?}", String::from_utf8_lossy(digits));
        assert!(digits[0] != b'0' || digits == b"0", "a zero stands before a size");
        let size = usize::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
        if size == 0 {
            break;
        }
        content.extend_from_slice(&bytes[at..at + size]);
        at += size;
        assert_eq!(&bytes[at..at + 2], b"\r\n", "a chunk ends otherwise");
        at += 2;
    }
    loop {
        match next_line(&mut at) {
            [] => return (content, trailers, at),
            own => trailers.push(line(own)),
        }
    }
}

fn line(line: &[u8]) -> (String, Vec<u8>) {
    let colon = line.iter().position(|byte| *byte == b':').expect("a colon");
    (String::from_utf8(line[..colon].to_ascii_lowercase()).expect("a name"), line[colon + 1..].trim_ascii().to_vec())
}
