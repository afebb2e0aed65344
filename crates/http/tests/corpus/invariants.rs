//! What must hold for any bytes at all. Each function panics when it does not.
//!
//! What is accepted is read again by a few naive lines of code that share nothing with the parser: if the two can disagree about a message, so
//! can two servers.

use tollgate_http::{
    Body, BodyReader, ClientBody, HeaderEdits, HeaderStorage, Malformed, Request, RequestHead, Response, Version, write_request,
    write_response,
};

/// Above this many bytes only some of the cuts are tried.
const EVERY_CUT_MAX: usize = 400;

/// A request head is read alike however it arrives, is unambiguous when accepted, and stays the same message when it is forwarded.
pub(crate) fn request_head(bytes: &[u8]) {
    let summary = |bytes: &[u8]| {
        let mut storage = HeaderStorage::new();
        Request::parse(bytes, &mut storage).map(|parsed| parsed.map(|request| (request.head_len, request.body, request.keep_alive)))
    };
    assert_same_however_cut(bytes, |bytes| summary(bytes).map(|parsed| parsed.map(|(length, ..)| length)));

    let mut storage = HeaderStorage::new();
    let Ok(Some(request)) = Request::parse(bytes, &mut storage) else { return };
    let lines = naive_lines(&bytes[..request.head_len]);
    let first: Vec<&[u8]> = lines[0].split(|byte| *byte == b' ').collect();
    assert_eq!(first.len(), 3, "the request line has other than three words");
    assert_eq!(first[0], request.method.as_bytes());
    assert!(first[2].starts_with(b"HTTP/1.") && first[2].len() == 8 && first[2][7].is_ascii_digit());
    assert_eq!(request.version == Version::Http10, first[2] == b"HTTP/1.0");
    assert!(request.target.bytes().all(|byte| byte > b' ' && byte < 0x7f && byte != b'#'));
    assert!(request.target.starts_with('/') || request.target == "*");

    let headers = naive_headers(&lines[1..]);
    let hosts = called(&headers, "host").count();
    assert!(hosts == 1 || (hosts == 0 && request.version == Version::Http10), "{hosts} Host lines");
    assert_eq!(naive_body(&headers), request.body);
    assert!(request.version == Version::Http11 || request.body != Body::Chunked);
    assert_eq!(request.headers.len(), headers.len());

    if headers.len() < 100 {
        forwarded(&request, &headers);
    }
}

fn forwarded(request: &Request<'_>, headers: &[(String, Vec<u8>)]) {
    let head = RequestHead {
        method: request.method.as_bytes(),
        target: request.target.as_bytes(),
        host: b"upstream.test",
        forwarded_for: Some(b"192.0.2.1"),
        upgrade: true,
        replaces_body: false,
    };
    let mut out = Vec::new();
    write_request(request, &head, &HeaderEdits::default(), &mut out);
    let mut storage = HeaderStorage::new();
    let again = Request::parse(&out, &mut storage).expect("a well-formed head").expect("a whole head");
    assert_eq!((again.head_len, again.method, again.target, again.body), (out.len(), request.method, request.target, request.body));
    let lines = naive_lines(&out);
    let sent = naive_headers(&lines[1..]);
    assert_eq!(called(&sent, "host").collect::<Vec<_>>(), [b"upstream.test"]);
    let forwarded_for: Vec<&[u8]> = called(&sent, "x-forwarded-for").collect();
    assert!(forwarded_for.len() == 1 && forwarded_for[0].ends_with(b"192.0.2.1"));
    for value in called(&sent, "content-length") {
        assert_eq!(value.first() == Some(&b'0'), value == b"0", "a zero stands before a length");
    }
    assert!(called(&sent, "transfer-encoding").all(|value| value == b"chunked"));
    let odd = ["content_length", "transfer_encoding"];
    for name in ["keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization"].into_iter().chain(odd) {
        assert_eq!(called(&sent, name).count(), 0, "{name} was forwarded");
    }
    let named: Vec<String> = called(headers, "connection")
        .flat_map(|value| value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii))
        .map(|token| String::from_utf8_lossy(token).to_lowercase())
        .collect();
    for (name, _) in &sent {
        let framing = ["host", "content-length", "transfer-encoding", "x-forwarded-for", "x-real-ip", "connection", "upgrade"];
        assert!(
            framing.contains(&name.as_str()) || !named.contains(name),
            "{name} was forwarded though it was named for this hop only"
        );
    }
}

/// A response head is read alike however it arrives, is unambiguous when accepted, and stays the same message when it is passed on.
pub(crate) fn response_head(bytes: &[u8]) {
    for to_head in [false, true] {
        assert_same_however_cut(bytes, |bytes| {
            let mut storage = HeaderStorage::new();
            Response::parse(bytes, to_head, &mut storage).map(|parsed| parsed.map(|response| response.head_len))
        });
        let mut storage = HeaderStorage::new();
        let Ok(Some(response)) = Response::parse(bytes, to_head, &mut storage) else { return };
        let lines = naive_lines(&bytes[..response.head_len]);
        assert!(lines[0].starts_with(b"HTTP/1.") && lines[0][7].is_ascii_digit() && lines[0][8] == b' ');
        assert_eq!(lines[0][9..12], *format!("{:03}", response.status).as_bytes());
        assert!((100..1000).contains(&response.status));
        let headers = naive_headers(&lines[1..]);
        let bodiless = to_head || response.status < 200 || response.status == 204 || response.status == 304;
        let framed = called(&headers, "content-length").count() + called(&headers, "transfer-encoding").count() > 0;
        let expect = match (bodiless, framed) {
            (true, _) => Body::None,
            (false, true) => naive_body(&headers),
            (false, false) => Body::UntilClose,
        };
        assert_eq!(response.body, expect);
        assert!(!(response.body == Body::UntilClose && response.keep_alive));

        if headers.len() < 100 {
            let unchunked = if response.body == Body::Chunked { Body::UntilClose } else { response.body };
            assert_passed_on(&response, ClientBody::AsIs, to_head, response.body);
            assert_passed_on(&response, ClientBody::Unchunked, to_head, unchunked);
            assert_passed_on(&response, ClientBody::Empty, false, Body::None);
        }
    }
}

fn assert_passed_on(response: &Response<'_>, how: ClientBody, to_head: bool, expect: Body) {
    let mut out = Vec::new();
    write_response(response, &HeaderEdits::default(), b"", b"", how, &mut out);
    let mut storage = HeaderStorage::new();
    let again = Response::parse(&out, to_head, &mut storage).expect("a well-formed head").expect("a whole head");
    assert_eq!((again.head_len, again.status, again.body), (out.len(), response.status, expect), "{how:?}");
}

/// A chunked body ends at the same byte with the same content however it arrives, and as a naive reader would end it.
pub(crate) fn chunked_body(bytes: &[u8]) {
    let whole = decode_in_pieces(bytes, bytes.len().max(1));
    for size in [1, 2, 3, 7] {
        assert_eq!(decode_in_pieces(bytes, size), whole, "in pieces of {size}");
    }
    let mut reader = BodyReader::new(Body::Chunked);
    let fed = reader.feed(bytes);
    match &whole {
        Ok((taken, content, is_done)) => {
            assert_eq!((fed, reader.is_done()), (Ok(*taken), *is_done));
            assert!(*is_done || *taken == bytes.len(), "bytes were left though the body goes on");
            if *is_done {
                assert_eq!(Some((*taken, content.clone())), naive_chunks(bytes), "a naive reader reads otherwise");
            }
        }
        Err(malformed) => assert_eq!(fed, Err(*malformed)),
    }
    for size in [1, 2, 3, 7, bytes.len().max(1)] {
        match (&whole, relay_in_pieces(bytes, size)) {
            (Ok((_, content, true)), Ok(sent)) => {
                assert_eq!(
                    Some((sent.len(), content.clone())),
                    naive_chunks(&sent),
                    "a naive reader reads what is sent on otherwise"
                );
                assert!(plain_sizes(&sent), "a size is not in its plainest form: {:?}", String::from_utf8_lossy(&sent));
            }
            (Ok((.., is_done)), sent) => assert!(!is_done && sent.is_ok(), "in pieces of {size}"),
            (Err(malformed), sent) => assert_eq!(sent, Err(*malformed), "in pieces of {size}"),
        }
    }
}

fn relay_in_pieces(bytes: &[u8], size: usize) -> Result<Vec<u8>, Malformed> {
    let mut reader = BodyReader::new(Body::Chunked);
    let (mut sent, mut trailers) = (Vec::new(), Vec::new());
    for piece in bytes.chunks(size) {
        if reader.is_done() {
            break;
        }
        let mut out = Vec::new();
        let (_, rest) = reader.relay(piece, &mut trailers, |_| true, &mut out)?;
        sent.extend_from_slice(&out);
        sent.extend_from_slice(rest);
    }
    Ok(sent)
}

/// The sizes of a whole chunked body are numbers without zeros before them, and nothing stands behind them.
fn plain_sizes(bytes: &[u8]) -> bool {
    let mut at = 0;
    loop {
        let Some(length) = bytes[at..].windows(2).position(|pair| pair == b"\r\n") else { return false };
        let line = &bytes[at..at + length];
        let size = std::str::from_utf8(line).ok().and_then(|line| usize::from_str_radix(line, 16).ok());
        match size {
            Some(0) => return line == b"0",
            Some(size) if line[0] != b'0' && line[0] != b'+' => at += length + 2 + size + 2,
            _ => return false,
        }
    }
}

type Decoded = Result<(usize, Vec<u8>, bool), Malformed>;

fn decode_in_pieces(bytes: &[u8], size: usize) -> Decoded {
    let mut reader = BodyReader::new(Body::Chunked);
    let mut content = Vec::new();
    let mut taken = 0;
    for piece in bytes.chunks(size) {
        if reader.is_done() {
            break;
        }
        taken += reader.decode(piece, &mut content)?;
    }
    Ok((taken, content, reader.is_done()))
}

/// Where a chunked body ends, and its content, by the grammar and nothing else.
fn naive_chunks(bytes: &[u8]) -> Option<(usize, Vec<u8>)> {
    let line_end = |from: usize| bytes[from..].windows(2).position(|pair| pair == b"\r\n").map(|at| from + at);
    let (mut at, mut content) = (0, Vec::new());
    loop {
        let end = line_end(at)?;
        let mut parts = bytes[at..end].splitn(2, |byte| *byte == b';');
        let (size, extension) = (parts.next()?, parts.next());
        let size = if extension.is_some() { size.trim_ascii_end() } else { size };
        let line = std::str::from_utf8(size).ok()?;
        let size = usize::from_str_radix(line, 16).ok().filter(|_| line.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        at = end + 2;
        if size == 0 {
            break;
        }
        content.extend_from_slice(bytes.get(at..at.checked_add(size)?)?);
        at += size;
        if bytes.get(at..at + 2)? != b"\r\n" {
            return None;
        }
        at += 2;
    }
    loop {
        let end = line_end(at)?;
        let line = &bytes[at..end];
        at = end + 2;
        if line.is_empty() {
            return Some((at, content));
        }
        naive_header(line);
    }
}

/// Cuts at every byte (of a long input, at some) must not turn one answer into another.
fn assert_same_however_cut(bytes: &[u8], parse: impl Fn(&[u8]) -> Result<Option<usize>, Malformed>) {
    let whole = parse(bytes);
    let step = 1 + bytes.len() / EVERY_CUT_MAX;
    for cut in (0..bytes.len()).step_by(step) {
        let part = parse(&bytes[..cut]);
        match whole {
            Ok(Some(length)) if cut >= length => assert_eq!(part, whole, "cut at {cut}"),
            Ok(_) => assert_eq!(part, Ok(None), "cut at {cut}"),
            Err(_) => assert!(!matches!(part, Ok(Some(_))), "accepted when cut at {cut}, refused with more"),
        }
    }
    if let Ok(Some(length)) = whole {
        assert!(length <= bytes.len());
        assert_eq!(parse(&bytes[..length]), whole, "cut at its own end");
    }
}

/// The lines of an accepted head, first line first, without the empty ones before and after it.
fn naive_lines(head: &[u8]) -> Vec<&[u8]> {
    let start = head.iter().position(|byte| !b"\r\n".contains(byte)).expect("a first line");
    let head = head[start..].strip_suffix(b"\r\n\r\n").expect("an empty line at the end");
    assert!(!head.contains(&0), "a NUL was accepted");
    let mut lines = Vec::new();
    let mut rest = head;
    while let Some(at) = rest.iter().position(|byte| b"\r\n".contains(byte)) {
        assert_eq!(&rest[at..at + 2], b"\r\n", "a line ends otherwise than in CRLF");
        lines.push(&rest[..at]);
        rest = &rest[at + 2..];
    }
    lines.push(rest);
    assert!(lines.iter().all(|line| !line.is_empty()), "an empty line inside a head");
    lines
}

fn naive_headers(lines: &[&[u8]]) -> Vec<(String, Vec<u8>)> {
    lines.iter().map(|line| naive_header(line)).collect()
}

/// Name in lower case, and value.
fn naive_header(line: &[u8]) -> (String, Vec<u8>) {
    let colon = line.iter().position(|byte| *byte == b':').expect("a colon");
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    assert!(!name.is_empty() && name.iter().all(is_token), "a name that is no token: {:?}", String::from_utf8_lossy(name));
    assert!(value.iter().all(|byte| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f)), "a control byte in a value");
    (String::from_utf8_lossy(name).to_lowercase(), value.trim_ascii().to_vec())
}

fn called<'h>(headers: &'h [(String, Vec<u8>)], name: &'h str) -> impl Iterator<Item = &'h [u8]> {
    headers.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_slice())
}

/// The framing that the lines of an accepted head give to its body.
fn naive_body(headers: &[(String, Vec<u8>)]) -> Body {
    let lengths: Vec<&[u8]> = called(headers, "content-length").collect();
    let codings: Vec<&[u8]> = called(headers, "transfer-encoding").collect();
    assert!(lengths.len() <= 1 && codings.len() <= 1, "more than one framing line was accepted");
    assert!(lengths.is_empty() || codings.is_empty(), "a length beside a coding was accepted");
    if let [coding] = codings.as_slice() {
        assert!(coding.eq_ignore_ascii_case(b"chunked"), "an unknown coding was accepted");
        return Body::Chunked;
    }
    let Some(digits) = lengths.first() else { return Body::None };
    assert!(!digits.is_empty() && digits.iter().all(u8::is_ascii_digit), "a length that is no number was accepted");
    match std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).expect("a length in range") {
        0 => Body::None,
        length => Body::Length(length),
    }
}
