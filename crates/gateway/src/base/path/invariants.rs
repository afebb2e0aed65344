//! What must hold for any text in the place of a path. The function panics when it does not. The fuzzer calls it, and the tests do with the
//! same corpus.

use crate::base::path::{Path, clean, encode, raw_offset};

/// Both forms of a path correspond at each position, and a path that is clean climbs nowhere.
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

/// What is behind a position of the decoded path is what is behind its place in the raw one.
fn corresponds(path: &Path<'_>) {
    // A `?` may stand for a byte that is no text, in the middle of a letter.
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
