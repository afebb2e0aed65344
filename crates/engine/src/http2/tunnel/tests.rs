use super::*;
use http::Request;

fn written(protocol: Option<&'static str>) -> Option<Result<String, u16>> {
    let mut request = Request::connect("https://chat.test/room?id=1").header("sec-websocket-version", "13");
    request = request.header("sec-websocket-key", "of-the-client").header("cookie", "a=1");
    let mut request = request.body(()).unwrap();
    if let Some(protocol) = protocol {
        request.extensions_mut().insert(Protocol::from_static(protocol));
    }
    let (head, ()) = request.into_parts();
    let mut out = Vec::new();
    asked(&head, &mut out).map(|asked| asked.map(|()| String::from_utf8(out).unwrap()))
}

#[test]
fn a_websocket_is_asked_for_as_http_1_1_does() {
    let head = written(Some("websocket")).unwrap().unwrap();
    let (beginning, key) = head.split_once("Sec-WebSocket-Key: ").unwrap();
    let expected = "GET /room?id=1 HTTP/1.1\r\nHost: chat.test\r\nsec-websocket-version: 13\r\ncookie: a=1\r\n\
                    Connection: Upgrade\r\nUpgrade: websocket\r\n";
    assert_eq!(beginning, expected);
    assert_eq!(key.len(), 24 + 4);
}

#[test]
fn other_protocols_are_not_there_and_a_plain_connect_is_none_of_them() {
    assert_eq!(written(Some("connect-udp")), Some(Err(501)));
    assert_eq!(written(None), None);
}

#[test]
fn it_has_no_content() {
    let mut request = Request::connect("https://chat.test/").header("content-length", "5").body(()).unwrap();
    request.extensions_mut().insert(Protocol::from_static("websocket"));
    assert_eq!(asked(&request.into_parts().0, &mut Vec::new()), Some(Err(400)));
}

#[test]
fn keys_are_sixteen_bytes_and_differ() {
    let (one, other) = (key(), key());
    assert_ne!(one, other);
    assert!(one.len() == 24 && one.ends_with("=="), "{one}");
}
