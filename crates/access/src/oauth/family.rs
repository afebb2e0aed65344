//! The refresh tokens of one login of a public client, which has no secret to stop a thief. Each token is valid once; reuse ends every
//! token made from it (RFC 9700, section 4.14.2). `ledger` stores the families.

use super::client::new_opaque_text;
use std::io;

/// Separates the family's text from the rest of a token; neither part contains it.
const SEPARATOR: char = '.';

/// A token family. Its text is the prefix of each of its tokens, so that a token that is no longer stored still names its family.
pub(super) struct TokenFamily(String);

impl TokenFamily {
    /// Makes the family of a new login.
    ///
    /// # Errors
    /// The system has no randomness.
    pub(super) fn new() -> io::Result<Self> {
        new_opaque_text().map(TokenFamily)
    }

    /// The family of a refresh token; `None` for a token of a confidential client or of Tyk.
    pub(super) fn of(token: &str) -> Option<Self> {
        token.split_once(SEPARATOR).map(|(family, _)| TokenFamily(family.to_owned()))
    }

    /// Makes a new refresh token.
    ///
    /// # Errors
    /// As for [`TokenFamily::new`].
    pub(super) fn new_token(&self) -> io::Result<String> {
        Ok(format!("{}{SEPARATOR}{}", self.0, new_opaque_text()?))
    }

    /// The prefix of all its tokens.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}
