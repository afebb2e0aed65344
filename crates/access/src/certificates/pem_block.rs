//! Writes a block of PEM (RFC 7468).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write as _;

/// Appends a block to a text. `headers` are lines before its content, with an empty one at the end.
pub(super) fn write_block(label: &str, headers: &str, bytes: &[u8], text: &mut String) {
    let _ = write!(text, "-----BEGIN {label}-----\n{headers}");
    for line in STANDARD.encode(bytes).as_bytes().chunks(64) {
        let _ = writeln!(text, "{}", String::from_utf8_lossy(line));
    }
    let _ = writeln!(text, "-----END {label}-----");
}
