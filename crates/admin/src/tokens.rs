//! Tokens for automation: a name, a role, a scope and an end each. Of a token only the digest is kept.

use crate::role::Role;
use crate::scope::OperatorScope;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Tokens in the document. One that has ended makes room for a new one.
pub const TOKENS_MAX: usize = 500;
/// The longest life of a token: a year and a day.
pub const LIFE_S_MAX: u64 = 366 * 86_400;
/// The life of a token, if nobody says.
pub const LIFE_S: u64 = 90 * 86_400;
/// What a token begins with, so that scanners of leaked secrets know it.
pub const PREFIX: &str = "tollgate_";

/// A token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiToken {
    /// What it is called in the API. It is in the token's text, and no secret.
    pub id: String,
    /// A name for people, of one token only.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// What it reaches.
    #[serde(default)]
    pub scope: OperatorScope,
    /// SHA-256 of its text, in hexadecimal.
    pub digest: String,
    /// Who made it.
    pub made_by: String,
    /// When it was made, in seconds since 1970.
    pub created_unix_s: u64,
    /// When it ends, in seconds since 1970.
    pub expires_unix_s: u64,
}

/// All tokens, sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ApiTokens {
    /// The tokens.
    pub tokens: Vec<ApiToken>,
}

impl ApiTokens {
    /// Adds a token.
    ///
    /// # Errors
    /// Why not: the name is taken, or there are too many.
    pub fn add(&mut self, token: ApiToken, now_unix_s: u64) -> Result<(), String> {
        if self.tokens.iter().any(|other| other.name == token.name && other.expires_unix_s > now_unix_s) {
            return Err(format!("there is a token {:?} already", token.name));
        }
        self.tokens.retain(|other| other.name != token.name);
        if self.tokens.len() >= TOKENS_MAX {
            self.tokens.retain(|other| other.expires_unix_s > now_unix_s);
        }
        if self.tokens.len() >= TOKENS_MAX {
            return Err(format!("there are {TOKENS_MAX} tokens, which is the maximum"));
        }
        self.tokens.push(token);
        self.tokens.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(())
    }

    /// Removes the token with this id or name, and returns it.
    pub fn remove(&mut self, id: &str) -> Option<ApiToken> {
        let place = self.tokens.iter().position(|token| token.id == id || token.name == id)?;
        Some(self.tokens.remove(place))
    }

    /// The token with this text, unless it has ended.
    pub fn verified(&self, text: &str, now_unix_s: u64) -> Option<&ApiToken> {
        let digest = digest(text);
        self.tokens.iter().find(|token| token.digest == digest && token.expires_unix_s > now_unix_s)
    }
}

/// The text of a token. `secret` is random.
pub fn text(secret: &str) -> String {
    format!("{PREFIX}{secret}")
}

/// Whether a text has the form of a token.
pub fn is_token(text: &str) -> bool {
    text.strip_prefix(PREFIX)
        .is_some_and(|rest| (32..=128).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// What is kept of a token's text. The digests are compared, so that the time of a search tells nothing of a token.
pub fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
