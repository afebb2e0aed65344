use super::*;

#[test]
fn texts_come_back_as_they_were_written() {
    let mut record = RequestRecord::default();
    record.write(Text::Method, b"GET");
    record.write(Text::UserAgent, b"me\xff");
    record.append(b"!");
    record.write(Text::Path, b"/a");
    record.append(b"/b");
    assert_eq!(record.text(Text::Method), "GET");
    assert_eq!(record.text(Text::OriginalPath), "");
    assert_eq!(record.text(Text::Path), "/a/b");
    assert_eq!(record.text(Text::Authority), "");
    assert_eq!(record.text(Text::UserAgent), "me\u{fffd}!");
    assert_eq!(record.text(Text::RawHead), "");
    record.clear();
    assert_eq!(record.text(Text::Path), "");
    record.write(Text::RawHead, b"x");
    assert_eq!(record.text(Text::RawHead), "x");
    assert_eq!(record.text(Text::Tags), "");
}

#[test]
fn a_piece_of_text_has_a_bound() {
    let mut record = RequestRecord::default();
    let long = vec![b'a'; 3 * TEXT_BYTES_MAX];
    record.write(Text::UserAgent, &long);
    record.write(Text::Version, b"v1");
    assert_eq!(record.bytes(Text::UserAgent).len(), TEXT_BYTES_MAX);
    assert_eq!(record.text(Text::Version), "v1");
}

#[test]
fn names_of_calls_are_cut_between_characters() {
    let mut record = RequestRecord::default();
    record.write_call("ping", None);
    assert_eq!((record.mcp_kind(), record.text(record.mcp_name())), ("", "ping".into()));
    record.clear();
    record.write_call("tools/call", Some((PrimitiveKind::Tool, &format!("x{}", "é".repeat(200)))));
    assert_eq!((record.mcp_kind(), record.text(Text::McpMethod)), ("tool", "tools/call".into()));
    assert_eq!(record.text(record.mcp_name()), format!("x{}", "é".repeat(127)));
    record.clear();
    assert_eq!((record.mcp_kind(), record.text(record.mcp_name())), ("", "".into()));
}
