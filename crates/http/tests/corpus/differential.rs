//! Heads as another parser reads them, httparse: what we accept it accepts too, with the same parts; what it refuses we do not accept.

use tollgate_http::{HEADER_LINES_MAX, HeaderStorage, Headers, Malformed, Request, Response, Version};

type Lines<'a> = [httparse::Header<'a>];

pub(crate) fn request_head(bytes: &[u8]) {
    let mut storage = HeaderStorage::new();
    let mut lines = [httparse::EMPTY_HEADER; HEADER_LINES_MAX];
    let mut theirs = httparse::Request::new(&mut lines);
    match (Request::parse(bytes, &mut storage), theirs.parse(bytes)) {
        (Ok(Some(ours)), Ok(httparse::Status::Complete(head_len))) => {
            assert_eq!(ours.head_len, head_len);
            assert_eq!(Some(ours.method), theirs.method);
            assert!(theirs.path.is_some_and(|path| path.ends_with(ours.target) || ours.target == "/"));
            assert_eq!(ours.version == Version::Http11, theirs.version == Some(1));
            assert_same_lines(&ours.headers, theirs.headers);
        }
        (ours, theirs) => assert_verdicts(bytes, ours.map(|ours| ours.is_some()), theirs),
    }
}

pub(crate) fn response_head(bytes: &[u8]) {
    let mut storage = HeaderStorage::new();
    let mut lines = [httparse::EMPTY_HEADER; HEADER_LINES_MAX];
    let mut theirs = httparse::Response::new(&mut lines);
    match (Response::parse(bytes, false, &mut storage), theirs.parse(bytes)) {
        (Ok(Some(ours)), Ok(httparse::Status::Complete(head_len))) => {
            assert_eq!(ours.head_len, head_len);
            assert_eq!(Some(ours.status), theirs.code);
            assert_same_lines(&ours.headers, theirs.headers);
        }
        (ours, theirs) => assert_verdicts(bytes, ours.map(|ours| ours.is_some()), theirs),
    }
}

/// Two verdicts of which at least one is not to accept.
fn assert_verdicts(bytes: &[u8], ours: Result<bool, Malformed>, theirs: httparse::Result<usize>) {
    let bytes = String::from_utf8_lossy(bytes);
    match (ours, theirs) {
        // A later minor version is one more that we read as 1.1.
        (Ok(true), Err(httparse::Error::Version)) => {}
        (Ok(true), theirs) => panic!("only we accept, {theirs:?}: {bytes:?}"),
        (Ok(false), Ok(httparse::Status::Complete(_))) => panic!("only we wait for more: {bytes:?}"),
        (Err(Malformed::Syntax), Ok(httparse::Status::Complete(_))) => panic!("our syntax is another: {bytes:?}"),
        // What else we refuse is not its business, or we see it sooner or later than it does.
        _ => {}
    }
}

fn assert_same_lines(ours: &Headers<'_>, theirs: &Lines<'_>) {
    let theirs: Vec<_> = theirs.iter().map(|line| (line.name, line.value)).collect();
    assert_eq!(ours.iter().collect::<Vec<_>>(), theirs);
    for (name, _) in theirs {
        assert_eq!(ours.get(name), ours.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value));
    }
}
