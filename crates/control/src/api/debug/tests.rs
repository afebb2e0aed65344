use super::{TriedRequest, shown_body};

fn request(json: &str) -> TriedRequest {
    serde_json::from_str(json).unwrap()
}

#[test]
fn a_request_is_written_as_a_client_sends_it() {
    for (json, written) in [
        (r#"{"path": "/a"}"#, "GET /a HTTP/1.1\r\nHost: own\r\nConnection: close\r\n\r\n"),
        (
            r#"{"method": "POST", "path": "/a?b=c", "host": "x.test:80", "headers": {"A": "1", "B": ["2", " 3 "]}, "body": "hi"}"#,
            "POST /a?b=c HTTP/1.1\r\nHost: x.test:80\r\nConnection: close\r\nA: 1\r\nB: 2\r\nB: 3\r\nContent-Length: 2\r\n\r\nhi",
        ),
    ] {
        assert_eq!(String::from_utf8(request(json).bytes(b"own").unwrap()).unwrap(), written);
    }
}

#[test]
fn what_is_no_request_is_refused_by_name() {
    for (json, place) in [
        (r#"{"path": "a"}"#, "$.path"),
        (r#"{"path": "/a b"}"#, "$.path"),
        (r#"{"path": "/a\r\nX: y"}"#, "$.path"),
        (r#"{"path": "/ä"}"#, "$.path"),
        (r#"{"path": "/", "method": "G T"}"#, "$.method"),
        (r#"{"path": "/", "method": "CONNECT"}"#, "$.method"),
        (r#"{"path": "/", "host": "a\r\nb"}"#, "$.host"),
        (r#"{"path": "/", "headers": {"A": "b\r\nC: d"}}"#, "$.headers.A"),
        (r#"{"path": "/", "headers": {"A": 1}}"#, "$.headers.A"),
        (r#"{"path": "/", "headers": {"A": []}}"#, "$.headers.A"),
        (r#"{"path": "/", "headers": {"A:": "b"}}"#, "$.headers"),
        (r#"{"path": "/", "headers": {"Content-Length": "7"}}"#, "$.headers.Content-Length"),
        (r#"{"path": "/", "headers": {"transfer-encoding": "chunked"}}"#, "$.headers.transfer-encoding"),
        (r#"{"path": "/", "headers": {"Host": "x"}}"#, "$.headers.Host"),
    ] {
        let message = request(json).bytes(b"own").unwrap_err();
        assert!(message.starts_with(&format!("{place}: ")), "{json}: {message}");
    }
    assert!(serde_json::from_str::<TriedRequest>(r#"{"path": "/", "verb": "GET"}"#).is_err());
}

#[test]
fn bodies_are_text_or_base64() {
    assert_eq!(shown_body("grün".into(), false), ("grün".to_owned(), false));
    assert_eq!(shown_body(vec![b'a', 0xc3], true), ("a".to_owned(), false), "cut within a character");
    assert_eq!(shown_body(vec![0xff, 0xfe], false), ("//4=".to_owned(), true));
}
