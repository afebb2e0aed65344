//! What must hold for any head and any trailer section on their way between HTTP/1.1 and HTTP/2. The function panics when it does not. The
//! fuzzer calls it, and the tests do with the same corpus.

use crate::http2::head::{Framing, read_request, read_response, read_trailers, write_request, write_response, write_trailers};
use http::HeaderMap;
use tollgate_http::{Body, HeaderStorage, Request, Response};

/// A head that goes over to HTTP/2 and comes back is one head with the same lines, and frames the same body: nothing in it can become a
/// line, a second head or another length.
pub fn http2_head(bytes: &[u8]) {
    request(bytes);
    response(bytes);
    trailers(bytes);
}

fn request(bytes: &[u8]) {
    let mut storage = HeaderStorage::new();
    let Ok(Some(parsed)) = Request::parse(bytes, &mut storage) else { return };
    let Some(request) = read_request(&parsed, "https") else { return };
    let (head, ()) = request.into_parts();
    nothing_of_the_connection(&head.headers);
    let mut out = Vec::new();
    let Ok(framing) = write_request(&head, parsed.body != Body::None, &mut out) else { return };
    let mut storage = HeaderStorage::new();
    let again = match Request::parse(&out, &mut storage) {
        Ok(again) => again.expect("a whole head"),
        // HTTP/2 knows no body without a length that HTTP/1.1 would not allow for this method.
        Err(fault) => panic!("{fault:?}: {:?}", String::from_utf8_lossy(&out)),
    };
    assert_eq!(again.head_len, out.len(), "something is behind the head");
    assert_eq!((again.method, again.target), (parsed.method, parsed.target));
    assert!(again.authority.eq_ignore_ascii_case(parsed.authority));
    let expected = match (framing, parsed.body) {
        (Framing::None, _) => again.body,
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
    let Some(response) = read_response(&parsed) else { return };
    let (head, ()) = response.into_parts();
    nothing_of_the_connection(&head.headers);
    let mut out = Vec::new();
    let body = write_response(&head, false, parsed.body != Body::None, &mut out);
    let mut storage = HeaderStorage::new();
    let again = Response::parse(&out, false, &mut storage).expect("a well-formed head").expect("a whole head");
    assert_eq!((again.head_len, again.status), (out.len(), parsed.status));
    assert!(again.body == body || matches!(again.status, 100..=199), "{:?} is sent as {body:?}", again.body);
}

fn trailers(bytes: &[u8]) {
    let trailers = read_trailers(bytes);
    nothing_of_the_connection(&trailers);
    let mut out = Vec::new();
    write_trailers(&trailers, &mut out);
    assert_eq!(read_trailers(&out), trailers, "{:?}", String::from_utf8_lossy(&out));
}

fn nothing_of_the_connection(headers: &HeaderMap) {
    for name in ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "host"] {
        assert!(!headers.contains_key(name), "{name}");
    }
}
