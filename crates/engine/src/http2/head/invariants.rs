//! Invariants of any head and trailer section that is translated between HTTP/1.1 and HTTP/2. The function panics if one is
//! violated. The fuzzer calls it, and so do the tests, with the same corpus.

use crate::http2::head::{
    RequestFraming, read_request, read_response, read_trailers, write_request, write_response, write_trailers,
};
use tollgate_http::{Body, HeaderStorage, Request, Response};
use tollgate_http2::{FieldList, HeaderBlock, HpackDecoder};

/// A head that is translated to HTTP/2 and back is a single head with the same lines and the same body framing: nothing in it can
/// become another line, a second head or another length.
pub(super) fn http2_head(bytes: &[u8]) {
    request(bytes);
    response(bytes);
    trailers(bytes);
}

/// The fields that the other side decodes.
fn sent(block: &HeaderBlock) -> FieldList {
    let mut fields = FieldList::new(usize::MAX);
    let used = HpackDecoder::new().decode(block.bytes(), &mut fields).expect("a block");
    assert_eq!(used, block.bytes().len());
    fields
}

fn request(bytes: &[u8]) {
    let mut storage = HeaderStorage::new();
    let Ok(Some(parsed)) = Request::parse(bytes, &mut storage) else { return };
    let mut block = HeaderBlock::default();
    read_request(&parsed, "https", &mut block);
    let mut fields = sent(&block);
    nothing_of_the_connection(&fields);
    // HTTP/1.1 allows some methods and targets that HTTP/2 forbids.
    if fields.check_request().is_err() {
        return;
    }
    let mut out = Vec::new();
    let Ok(framing) = write_request(&fields, parsed.body != Body::None, &mut out) else { return };
    let mut storage = HeaderStorage::new();
    let again = match Request::parse(&out, &mut storage) {
        Ok(again) => again.expect("a whole head"),
        // HTTP/2 has no body without a length that HTTP/1.1 would forbid for this method.
        Err(fault) => panic!("{fault:?}: {:?}", String::from_utf8_lossy(&out)),
    };
    assert_eq!(again.head_len, out.len(), "something is behind the head");
    assert_eq!((again.method, again.target), (parsed.method, parsed.target));
    assert!(again.authority.eq_ignore_ascii_case(parsed.authority));
    let expected = match (framing, parsed.body) {
        (RequestFraming::None, _) => again.body,
        (_, body) => body,
    };
    assert_eq!(again.body, expected);
    let own = |name: &str| ["content-length", "transfer-encoding", "host"].iter().any(|known| name.eq_ignore_ascii_case(known));
    let sent = again.headers.iter().filter(|(name, _)| !own(name)).count();
    assert!(sent <= parsed.headers.len(), "{sent} lines of {}", parsed.headers.len());
}

fn response(bytes: &[u8]) {
    let mut storage = HeaderStorage::new();
    let Ok(Some(parsed)) = Response::parse(bytes, false, &mut storage) else { return };
    let mut block = HeaderBlock::default();
    read_response(&parsed, parsed.status, &mut block);
    let mut fields = sent(&block);
    nothing_of_the_connection(&fields);
    if fields.check_response().is_err() {
        return;
    }
    let mut out = Vec::new();
    let body = write_response(&fields, false, parsed.body != Body::None, &mut out);
    let mut storage = HeaderStorage::new();
    let again = Response::parse(&out, false, &mut storage).expect("a well-formed head").expect("a whole head");
    assert_eq!((again.head_len, again.status), (out.len(), parsed.status));
    assert!(again.body == body || matches!(again.status, 100..=199), "{:?} is sent as {body:?}", again.body);
}

fn trailers(bytes: &[u8]) {
    let fields = sent(&read_trailers(bytes));
    nothing_of_the_connection(&fields);
    let mut out = Vec::new();
    write_trailers(&fields, &mut out);
    assert!(sent(&read_trailers(&out)).all().eq(fields.all()), "{:?}", String::from_utf8_lossy(&out));
}

fn nothing_of_the_connection(fields: &FieldList) {
    for name in ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "host"] {
        assert!(fields.iter().all(|(own, _)| own != name), "{name}");
    }
}
