//! Regular expressions of definitions, in the syntax that they are written for: Go's RE2, where `\w`, `\d`, `\s` and `\b` mean ASCII. The
//! engine reads them as Unicode, which would let more through an allow list.

use regex::{Regex, bytes};
use std::borrow::Cow;

/// Compiles an expression.
pub(crate) fn compile(expression: &str) -> Result<Regex, regex::Error> {
    Regex::new(&ascii(expression))
}

/// Compiles an expression that matches arbitrary bytes.
pub(crate) fn compile_for_bytes(expression: &str) -> Result<bytes::Regex, regex::Error> {
    bytes::Regex::new(&ascii(expression))
}

/// The expression with its Perl classes written out. POSIX classes are ASCII already.
pub(crate) fn ascii(expression: &str) -> Cow<'_, str> {
    if !expression.contains('\\') {
        return Cow::Borrowed(expression);
    }
    let mut written = String::with_capacity(expression.len() + 16);
    let mut chars = expression.chars();
    while let Some(c) = chars.next() {
        let Some(escaped) = (c == '\\').then(|| chars.next()).flatten() else {
            written.push(c);
            continue;
        };
        match class(escaped) {
            Some(class) => written.push_str(class),
            None => written.extend(['\\', escaped]),
        }
    }
    Cow::Owned(written)
}

/// The class of a letter after a backslash. Classes can be nested, so this works within brackets as well.
fn class(letter: char) -> Option<&'static str> {
    Some(match letter {
        'd' => "[0-9]",
        'D' => "[^0-9]",
        'w' => "[0-9A-Za-z_]",
        'W' => "[^0-9A-Za-z_]",
        // Excludes the vertical tab, which `[[:space:]]` includes.
        's' => r"[\t\n\x0C\r\x20]",
        'S' => r"[^\t\n\x0C\r\x20]",
        'b' => r"(?-u:\b)",
        'B' => r"(?-u:\B)",
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
