use super::*;
use tollgate_http2::{HeaderBlock, HpackDecoder};

fn fields(protocol: Option<&str>, more: &[(&str, &str)]) -> FieldList {
    let mut block = HeaderBlock::default();
    block.field(b":method", b"CONNECT");
    block.field(b":authority", b"chat.test");
    if let Some(protocol) = protocol {
        block.field(b":protocol", protocol.as_bytes());
        block.field(b":scheme", b"https");
        block.field(b":path", b"/room?id=1");
    }
    more.iter().for_each(|(name, value)| block.field(name.as_bytes(), value.as_bytes()));
    let mut fields = FieldList::new(4096);
    HpackDecoder::new().decode(block.bytes(), &mut fields).unwrap();
    fields.check_request().unwrap();
    fields
}

fn written(protocol: Option<&str>) -> Option<Result<String, u16>> {
    let fields = fields(protocol, &[("sec-websocket-version", "13"), ("sec-websocket-key", "of-the-client"), ("cookie", "a=1")]);
    let mut out = Vec::new();
    asked(&fields, &mut out).map(|asked| asked.map(|()| String::from_utf8(out).unwrap()))
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
    assert_eq!(asked(&fields(Some("websocket"), &[("content-length", "5")]), &mut Vec::new()), Some(Err(400)));
}

#[test]
fn keys_are_sixteen_bytes_and_differ() {
    let (one, other) = (key(), key());
    assert_ne!(one, other);
    assert!(one.len() == 24 && one.ends_with("=="), "{one}");
}
