use super::{HeaderLines, LineBlock};

#[test]
fn a_block_gives_back_its_lines() {
    let block = LineBlock::copy(&[("Content-Type", "text/plain"), ("ETag", "\"a:b\""), ("X-Empty", "")]);
    assert_eq!(block.as_bytes(), b"Content-Type: text/plain\r\nETag: \"a:b\"\r\nX-Empty: \r\n");
    assert_eq!(block.get("etag"), Some(&b"\"a:b\""[..]));
    assert_eq!(block.get("x-empty"), Some(&b""[..]));
    assert_eq!(block.get("x-none"), None);
    let mut names = Vec::new();
    block.each(&mut |name, _| names.push(name.to_owned()));
    assert_eq!(names, ["Content-Type", "ETag", "X-Empty"]);
}

#[test]
fn a_value_with_a_line_break_stays_one_line() {
    let mut block = LineBlock::default();
    block.push("X-A", b"1\r\nSet-Cookie: a=b");
    assert_eq!(block.iter().count(), 1);
    assert_eq!(block.get("set-cookie"), None);
}
