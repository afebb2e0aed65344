//! Invariants of paths, for any text. The function panics when one is violated. The fuzzer calls it, and so do the tests, with the same
//! corpus.

use crate::path::{Path, clean, encode, raw_offset};

/// Both forms of a path correspond at each position, and a clean path contains no dot segments.
pub(super) fn path(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let text = format!("/{text}");
    if let Some(path) = Path::new(text.as_str().into()) {
        assert_eq!(path.raw, text);
        assert_eq!(raw_offset(&text, path.decoded.len()), text.len(), "{:?}", path.decoded);
        corresponds(&path);
        let again = Path::new(encode(&path.decoded).into()).expect("escaped here");
        assert_eq!(again.decoded, path.decoded);
        is_clean(&clean(&path.decoded).unwrap_or_else(|| path.decoded.clone().into_owned()));
    }
    is_clean(&clean(&text).unwrap_or(text));
}

/// The text after a position of the decoded path corresponds to the text after its raw offset.
fn corresponds(path: &Path<'_>) {
    // A `?` may stand for an invalid byte in the middle of a character.
    for (position, _) in path.decoded.char_indices().take_while(|(_, letter)| *letter != '?').take(64) {
        let offset = raw_offset(&path.raw, position);
        let Some(rest) = path.raw.get(offset..) else { panic!("byte {offset} of {:?} is within a letter", path.raw) };
        let decoded = Path::new(rest.into()).expect("a part of what was decoded").decoded;
        assert_eq!(decoded.len(), path.decoded.len() - position, "{:?} at {position}", path.raw);
    }
}

fn is_clean(path: &str) {
    assert!(path.starts_with('/'), "{path:?}");
    assert_eq!(clean(path), None, "{path:?} is not clean");
    let last = path.split('/').count() - 1;
    for (place, segment) in path.split('/').enumerate().skip(1) {
        assert!(!matches!(segment, "." | ".."), "{path:?}");
        assert!(!segment.is_empty() || place == last, "{path:?}");
    }
}
