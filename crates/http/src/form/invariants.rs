//! Invariants of queries and cookies, for any text. The function panics when one is violated. The fuzzer calls it, and so do the tests,
//! with the same corpus.

use crate::form::{cookie, decode_form, encode_form, parameter, without_parameter};

/// Name of the parameter that is looked up; the corpus uses it too.
const NAME: &str = "key";

/// Escaped text decodes to itself, a removed parameter is gone, and a cookie is part of its line and contains no other cookie.
pub(super) fn form(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    assert_eq!(decode_form(&encode_form(text)).as_deref(), Some(text));
    assert_eq!(parameter(&format!("{}={}", encode_form(text), encode_form(text)), text).as_deref(), Some(text));
    assert_eq!(decode_form(text), naive_decode(text));

    let rest = without_parameter(text, NAME);
    assert_eq!(parameter(&rest, NAME), None, "it is still in {rest:?}");
    assert_eq!(without_parameter(&rest, NAME), rest);
    assert!(text.split('&').count() >= rest.split('&').count());
    for other in ["k", "key2"] {
        assert_eq!(parameter(&rest, other), parameter(text, other), "{other:?}");
    }

    if let Some(value) = cookie(text, NAME) {
        assert!(!value.contains(';') && !value.starts_with('"') && !value.ends_with('"'), "{value:?}");
        assert!(text.split(';').any(|pair| pair.trim_start().starts_with(NAME) && pair.contains(value)), "{value:?}");
    }
}

/// A simple decoder for comparison: the bytes of a form's text, where they are valid.
fn naive_decode(text: &str) -> Option<String> {
    let mut pieces = text.split('%');
    let mut decoded = pieces.next()?.replace('+', " ").into_bytes();
    for piece in pieces {
        let digits = piece.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
        decoded.push(u8::from_str_radix(digits, 16).ok()?);
        decoded.extend(piece[2..].replace('+', " ").bytes());
    }
    let marked = |bytes: Vec<u8>| bytes.into_iter().map(|byte| if byte.is_ascii() { char::from(byte) } else { '?' }).collect();
    Some(String::from_utf8(decoded).unwrap_or_else(|error| marked(error.into_bytes())))
}
