//! Text from elsewhere for an operator's terminal: names and aliases that others chose must not move the cursor, change what was written before,
//! or reverse the direction of what follows.

use std::borrow::Cow;

/// Text of several lines.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    escaped(text, |c| acts(c) && !matches!(c, '\n' | '\t'))
}

/// Text that stays on its line.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    escaped(text, acts)
}

/// Escapes are those of JSON, so that documents stay what they are.
fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match is_escaped(c) {
            true => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Whether a terminal acts on a character: controls of ASCII and of ISO 6429, and those that set the direction of text (Unicode, UAX #9).
fn acts(c: char) -> bool {
    c.is_control() || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests;
