//! Forms that are equal to servers, shells and databases become the same bytes.

use super::is_space;

pub(super) fn compress_whitespace(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    let mut is_in_space = false;
    for b in value {
        match is_space(*b) {
            true if is_in_space => {}
            true => out.push(b' '),
            false => out.push(*b),
        }
        is_in_space = is_space(*b);
    }
    out
}

/// Commands of shells: without quotes, carets and backslashes, with single spaces, in lower case.
pub(super) fn cmd_line(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    let mut has_space = false;
    for b in value {
        match b {
            b'"' | b'\'' | b'\\' | b'^' => {}
            b' ' | b',' | b';' | b'\t' | b'\r' | b'\n' => {
                if !has_space {
                    out.push(b' ');
                    has_space = true;
                }
            }
            b'/' | b'(' => {
                if has_space {
                    out.pop();
                }
                has_space = false;
                out.push(*b);
            }
            other => {
                has_space = false;
                out.push(other.to_ascii_lowercase());
            }
        }
    }
    out
}

/// `/* ... */` becomes `with`, also where its end is missing.
pub(super) fn comments(value: &[u8], with: Option<u8>) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some(start) = memchr::memmem::find(rest, b"/*") {
        out.extend(rest.get(..start).unwrap_or_default());
        out.extend(with);
        let inner = rest.get(start + 2..).unwrap_or_default();
        rest = memchr::memmem::find(inner, b"*/").and_then(|end| inner.get(end + 2..)).unwrap_or_default();
    }
    out.extend(rest);
    out
}

/// Marks of comments in HTML, C, SQL and shells are left out.
pub(super) fn remove_comment_characters(value: &[u8]) -> Vec<u8> {
    const MARKS: [&[u8]; 6] = [b"<!--", b"-->", b"/*", b"*/", b"--", b"#"];
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((first, behind)) = rest.split_first() {
        match MARKS.iter().find_map(|mark| rest.strip_prefix(*mark)) {
            Some(after) => rest = after,
            None => {
                out.push(*first);
                rest = behind;
            }
        }
    }
    out
}

/// Without empty and `.` segments; `..` takes the segment before it away, except at the start of a path that has no root.
pub(super) fn path(value: &[u8]) -> Vec<u8> {
    let is_rooted = value.first() == Some(&b'/');
    let mut kept: Vec<&[u8]> = Vec::new();
    let mut segments = value.split(|b| *b == b'/').peekable();
    let mut ends_open = false;
    while let Some(segment) = segments.next() {
        ends_open = segments.peek().is_none() && matches!(segment, b"" | b"." | b"..");
        match segment {
            b"" | b"." => {}
            b".." => match kept.last() {
                Some(last) if *last != b".." => {
                    kept.pop();
                }
                _ if is_rooted => {}
                _ => kept.push(segment),
            },
            _ => kept.push(segment),
        }
    }
    let mut out = Vec::with_capacity(value.len());
    if is_rooted {
        out.push(b'/');
    }
    out.extend(kept.join(&b'/'));
    let ends_with_segment = !matches!(out.last(), None | Some(b'/'));
    if ends_open && ends_with_segment && kept.last() != Some(&&b".."[..]) {
        out.push(b'/');
    }
    out
}
