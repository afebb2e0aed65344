use super::{FORBIDDEN, FORBIDDEN_FAMILIES, LONGEST, append_trailers, may_be_trailer};

#[test]
fn the_list_can_be_searched() {
    assert!(FORBIDDEN.is_sorted());
    assert!(FORBIDDEN.iter().chain(&FORBIDDEN_FAMILIES).all(|name| name.len() <= LONGEST && !name.contains('_')));
    assert!(FORBIDDEN.iter().chain(&FORBIDDEN_FAMILIES).all(|name| *name == name.to_ascii_lowercase()));
}

#[test]
fn what_frames_routes_or_authenticates_is_no_trailer() {
    for name in [
        "Content-Length",
        "content_length",
        "TRANSFER-ENCODING",
        "Host",
        "Authorization",
        "Proxy-Authorization",
        "Cookie",
        "X-Forwarded-For",
        "X_Forwarded_For",
        "X-Forwarded-Client-Cert-And-A-Long-Name-Behind-It",
        "X-Real-IP",
        "Forwarded",
        "If-None-Match",
        "Range",
        "Content-Type",
        "Set-Cookie",
        "Trailer",
        "Connection",
        "TraceParent",
        "x-envoy-external-address",
    ] {
        assert!(!may_be_trailer(name), "{name}");
    }
    for name in [
        "grpc-status",
        "grpc-message",
        "Grpc-Status-Details-Bin",
        "X-Checksum",
        "ETag",
        "Server-Timing",
        "Content-Digest",
        "x-amz-checksum-sha256",
        "x-envoy-external-addressed",
        "hosts",
        "hos",
        "t",
    ] {
        assert!(may_be_trailer(name), "{name}");
    }
}

#[test]
fn lines_that_do_not_pass_are_left_out_whole() {
    let lines = b"X-One: 1\r\nHost: h\r\nX-Two:2\r\nX-Three: 3\r\n";
    let mut out = Vec::new();
    append_trailers(lines, |name| name != "X-Two", &mut out);
    assert_eq!(out, b"X-One: 1\r\nX-Three: 3\r\n");
}
