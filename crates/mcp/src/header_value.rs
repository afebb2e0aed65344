//! Texts as values of header lines: as they are, or in Base64 between marks where they would not fit.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const START: &str = "=?base64?";
const END: &str = "?=";

/// The value that stands for a text.
pub fn encoded_header(text: String) -> String {
    let is_plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && text.trim() == text && !text.is_empty();
    let is_marked = text.starts_with(START) && text.ends_with(END);
    if is_plain && !is_marked { text } else { format!("{START}{}{END}", STANDARD.encode(text)) }
}

/// The text that a value stands for; `None` if it is marked and cannot be decoded.
pub fn decoded_header(value: &str) -> Option<String> {
    match value.strip_prefix(START).and_then(|value| value.strip_suffix(END)) {
        None => Some(value.to_owned()),
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::{decoded_header, encoded_header};

    /// The examples of the specification of 2026-07-28.
    #[test]
    fn what_does_not_fit_is_encoded() {
        let cases = [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ];
        for (text, value) in cases {
            assert_eq!((encoded_header(text.to_owned()).as_str(), decoded_header(value).as_deref()), (value, Some(text)));
        }
        assert_eq!(decoded_header("=?base64?!?="), None);
    }
}
