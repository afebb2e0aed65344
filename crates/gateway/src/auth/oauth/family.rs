//! The refresh tokens of one login of a public client, which has no secret that a thief would need too. Each is good once; who shows one
//! again ends what was made from it (RFC 9700, section 4.14.2). Of what is kept of a family the ledger knows more.

use super::client::new_opaque_text;
use std::io;

/// Between the family's own text and that of one token; neither has it.
const SEPARATOR: char = '.';

/// A family. Its text is the beginning of each of its tokens, so that one that is not kept any more still says where it belongs.
pub(super) struct TokenFamily(String);

impl TokenFamily {
    /// That of a new login.
    ///
    /// # Errors
    /// The system has no randomness.
    pub(super) fn new() -> io::Result<Self> {
        new_opaque_text().map(TokenFamily)
    }

    /// That of a refresh token; `None` when it has none: it is another client's, or was made by Tyk.
    pub(super) fn of(token: &str) -> Option<Self> {
        token.split_once(SEPARATOR).map(|(family, _)| TokenFamily(family.to_owned()))
    }

    /// A new refresh token.
    ///
    /// # Errors
    /// As for [`TokenFamily::new`].
    pub(super) fn new_token(&self) -> io::Result<String> {
        Ok(format!("{}{SEPARATOR}{}", self.0, new_opaque_text()?))
    }

    /// The beginning of all its tokens.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}
