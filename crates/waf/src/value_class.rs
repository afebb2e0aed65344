//! Kinds of harmless values. Most rules look for characters that a number or a word does not have: which rules can never match such a value is found
//! when they are compiled, and they never look at one. That bounds the work for large JSON, whose values are mostly numbers and words.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// What a value is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueClass {
    /// A decimal number, as JSON has it without an exponent.
    Number,
    /// Letters, digits and underscores, or nothing.
    Word,
    /// The same with dots and dashes.
    Plain,
    Other,
}

/// Those that have an alphabet.
pub(crate) const CLASSES: [ValueClass; 3] = [ValueClass::Number, ValueClass::Word, ValueClass::Plain];

/// For which classes something holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ClassSet(u8);

impl ClassSet {
    pub(crate) fn of(holds: impl Fn(ValueClass) -> bool) -> Self {
        ClassSet(CLASSES.into_iter().filter(|class| holds(*class)).fold(0, |set, class| set | 1 << class as u8))
    }

    pub(crate) fn has(self, class: ValueClass) -> bool {
        self.0 & 1 << class as u8 != 0
    }
}

impl ValueClass {
    pub(crate) fn of(value: &[u8]) -> Self {
        let is_all = |class: ValueClass| value.iter().all(|byte| class.has(*byte));
        match () {
            () if is_number(value) => ValueClass::Number,
            () if is_all(ValueClass::Word) => ValueClass::Word,
            () if is_all(ValueClass::Plain) => ValueClass::Plain,
            () => ValueClass::Other,
        }
    }

    /// Whether its values may have this byte.
    pub(crate) fn has(self, byte: u8) -> bool {
        match self {
            ValueClass::Number => matches!(byte, b'0'..=b'9' | b'-' | b'.'),
            ValueClass::Word => matches!(byte, b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_'),
            ValueClass::Plain => ValueClass::Word.has(byte) || matches!(byte, b'-' | b'.'),
            ValueClass::Other => true,
        }
    }

    /// Whether the expression needs a byte that no value of the class has. It may be wrong only in saying that it does not.
    pub(crate) fn is_beyond(self, expression: &str) -> bool {
        let parsed = ParserBuilder::new().unicode(false).utf8(false).dot_matches_new_line(true).build().parse(expression);
        parsed.is_ok_and(|parsed| !self.may_match(&parsed))
    }

    fn may_match(self, part: &Hir) -> bool {
        match part.kind() {
            HirKind::Empty | HirKind::Look(_) => true,
            HirKind::Literal(literal) => literal.0.iter().all(|byte| self.has(*byte)),
            HirKind::Class(Class::Bytes(class)) => {
                class.ranges().iter().any(|range| (range.start()..=range.end()).any(|byte| self.has(byte)))
            }
            HirKind::Class(Class::Unicode(class)) => class
                .ranges()
                .iter()
                .any(|range| (range.start()..=range.end()).take_while(char::is_ascii).any(|c| self.has(c as u8))),
            HirKind::Repetition(repetition) => repetition.min == 0 || self.may_match(&repetition.sub),
            HirKind::Capture(capture) => self.may_match(&capture.sub),
            HirKind::Concat(parts) => parts.iter().all(|part| self.may_match(part)),
            HirKind::Alternation(parts) => parts.iter().any(|part| self.may_match(part)),
        }
    }
}

/// Digits, with a sign before and a fraction behind them.
fn is_number(value: &[u8]) -> bool {
    let value = value.strip_prefix(b"-").unwrap_or(value);
    let mut parts = value.splitn(2, |byte| *byte == b'.');
    parts.all(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests;
