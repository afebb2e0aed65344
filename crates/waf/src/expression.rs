//! Regular expressions of rules, which look for bytes and not for characters.

use regex::bytes::{Regex, RegexBuilder};

/// Most memory of one compiled expression, in bytes: the longest of the Core Rule Set need about 2 MB.
const EXPRESSION_BYTES_MAX: usize = 16 << 20;

/// An expression on bytes, in which a dot means any of them. A character beyond ASCII means its bytes in UTF-8, as in ModSecurity.
pub(crate) fn expression(written: &str, ignore_case: bool) -> Result<Regex, String> {
    let translated = with_bytes(&tollgate_re2::translate(&without_bytes(written))?);
    let built = RegexBuilder::new(&translated)
        .case_insensitive(ignore_case)
        .dot_matches_new_line(true)
        .unicode(false)
        .size_limit(EXPRESSION_BYTES_MAX)
        .build();
    built.map_err(|error| tollgate_re2::explained(written, &error))
}

/// Bytes beyond ASCII, written or escaped, as characters for private use: the translation would take them for characters.
fn without_bytes(written: &str) -> String {
    let private = |byte: u8| char::from_u32(PRIVATE + u32::from(byte)).unwrap_or_default();
    let mut out = String::with_capacity(written.len());
    let mut rest = written;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        if c == '\\' {
            if let Some((byte, behind)) = escaped_byte(after).filter(|(byte, _)| !byte.is_ascii()) {
                out.push(private(byte));
                rest = behind;
                continue;
            }
            out.push(c);
            let escaped = after.chars().next();
            out.extend(escaped);
            rest = escaped.and_then(|escaped| after.get(escaped.len_utf8()..)).unwrap_or_default();
            continue;
        }
        match c.is_ascii() {
            true => out.push(c),
            false => out.extend(c.encode_utf8(&mut [0; 4]).bytes().map(private)),
        }
        rest = after;
    }
    out
}

/// Where the characters for bytes begin.
const PRIVATE: u32 = 0xe000;

/// The byte of `xHH` or `x{HH}`, and what is behind it.
fn escaped_byte(text: &str) -> Option<(u8, &str)> {
    let digits = text.strip_prefix('x')?;
    let (digits, behind) = match digits.strip_prefix('{') {
        Some(braced) => braced.split_once('}')?,
        None => digits.split_at_checked(2)?,
    };
    Some((u8::from_str_radix(digits, 16).ok()?, behind))
}

fn with_bytes(translated: &str) -> String {
    translated.chars().fold(String::with_capacity(translated.len()), |mut out, c| {
        match u32::from(c).checked_sub(PRIVATE).and_then(|byte| u8::try_from(byte).ok()) {
            Some(byte) => out.push_str(&format!("\\x{byte:02X}")),
            None => out.push(c),
        }
        out
    })
}
