//! The mark that editors and libraries of some systems put before a text in UTF-8. It is no part of the text: RFC 8259 section 8.1 lets whoever
//! reads JSON ignore it, and so do YAML and XML. Whatever the gateway reads itself is read without it; what it passes on keeps it.

/// The mark in UTF-8.
pub const MARK: &[u8] = b"\xef\xbb\xbf";

/// A text without the mark at its start.
pub fn without(text: &[u8]) -> &[u8] {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// A text without the mark at its start.
pub fn without_in(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
