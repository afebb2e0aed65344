//! The grammar of chunk extensions (RFC 9112 §7.1.1), byte by byte. Nothing is kept of them: they are read only to be refused when they are
//! none, since other servers may find the end of such a line elsewhere.

use crate::is_token;

/// Where in the extensions of a chunk the next byte stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extension {
    /// Behind the size or a whole extension, with or without white space: a semicolon begins the next one.
    Between,
    /// Behind a semicolon: white space, or a name.
    NameStart,
    Name,
    /// White space behind a name.
    NameEnd,
    /// Behind an equals sign: white space, or a value.
    ValueStart,
    Token,
    Quoted,
    /// Behind a backslash in a quoted value.
    Escaped,
    QuotedEnd,
}

impl Extension {
    /// The line may end here.
    pub fn may_end(self) -> bool {
        matches!(self, Extension::Name | Extension::Token | Extension::QuotedEnd)
    }

    /// The place behind this byte; `None` when it may not stand here.
    pub fn next(self, byte: u8) -> Option<Extension> {
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
