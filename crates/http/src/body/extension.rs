//! The grammar of chunk extensions (RFC 9112 §7.1.1), byte by byte. They are parsed only to reject invalid ones, because other
//! servers may find the end of such a line elsewhere; nothing is stored.

use crate::is_token;

/// The state of parsing the extensions of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extension {
    /// After the size or a whole extension, with or without white space: a semicolon starts the next one.
    Between,
    /// After a semicolon: white space, or a name.
    NameStart,
    Name,
    /// White space after a name.
    NameEnd,
    /// After an equals sign: white space, or a value.
    ValueStart,
    Token,
    Quoted,
    /// After a backslash in a quoted value.
    Escaped,
    QuotedEnd,
}

impl Extension {
    /// Whether the line may end here.
    pub(super) fn may_end(self) -> bool {
        matches!(self, Extension::Name | Extension::Token | Extension::QuotedEnd)
    }

    /// The state after this byte; `None` if the byte is not allowed here.
    pub(super) fn next(self, byte: u8) -> Option<Extension> {
        use Extension::*;
        let is_space = matches!(byte, b' ' | b'\t');
        Some(match (self, byte) {
            (Between | Name | NameEnd | Token | QuotedEnd, b';') => NameStart,
            (Name | NameEnd, b'=') => ValueStart,
            (Between | Token | QuotedEnd, _) if is_space => Between,
            (Name | NameEnd, _) if is_space => NameEnd,
            (NameStart | ValueStart, _) if is_space => self,
            (NameStart | Name, _) if is_token(&[byte]) => Name,
            (ValueStart | Token, _) if is_token(&[byte]) => Token,
            (ValueStart, b'"') => Quoted,
            (Quoted, b'"') => QuotedEnd,
            (Quoted, b'\\') => Escaped,
            (Quoted | Escaped, b'\t' | 0x20..=0x7e | 0x80..) => Quoted,
            _ => return None,
        })
    }
}
