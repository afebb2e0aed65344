//! Whom a provider's tokens are about.

use serde_json::Value;
use tollgate_access::jwt::Claims;
use tollgate_model::hidden_character::is_hidden;

/// Characters of a name for people.
const NAME_CHARS_MAX: usize = 100;

/// Whom an identity token is about.
#[derive(Clone, Debug)]
pub struct SignedIdentity {
    /// `sub`: the person at the provider, for ever. Two providers may have the same one.
    pub subject: String,
    /// `sid`: the session at the provider, if it names it.
    pub sid: Option<String>,
    /// When the token was issued, in seconds since 1970.
    pub issued_unix_s: u64,
    /// All claims of the token, and those that userinfo adds.
    pub claims: Claims,
    /// Why claims may be missing that are wanted: the userinfo endpoint did not answer.
    pub incomplete: Option<String>,
    /// The token itself.
    pub token: String,
}

impl SignedIdentity {
    /// Whether a claim is this text, or a list that has it. Dots in the claim's name lead into objects.
    pub fn has(&self, claim: &str, wanted: &str) -> bool {
        self.claims.called(claim).any(|value| match value {
            Value::String(text) => text == wanted,
            Value::Array(values) => values.iter().any(|value| value.as_str() == Some(wanted)),
            _ => false,
        })
    }

    /// A claim that is a text, as people see it: without characters that are not seen or turn others around, at most 100 characters. The subject if there is none.
    pub fn name(&self, claim: &str) -> String {
        let name = self.claims.text(claim).unwrap_or(&self.subject);
        name.chars().filter(|character| !is_hidden(*character)).take(NAME_CHARS_MAX).collect()
    }

    /// The address of the person's mail, in lower case, if the provider says that it is theirs (`email_verified`).
    pub fn verified_email(&self) -> Option<String> {
        let is_verified =
            self.claims.0.get("email_verified").is_some_and(|value| matches!(value, Value::Bool(true)) || value == "true");
        self.claims.text("email").filter(|_| is_verified).map(str::to_lowercase)
    }
}

/// Whose sessions a provider ends (Back-Channel Logout 1.0, 2.4).
#[derive(Debug, PartialEq, Eq)]
pub struct EndedSessions {
    /// `sub`: all sessions of this person, if there is no `sid`.
    pub subject: Option<String>,
    /// `sid`: this session alone.
    pub sid: Option<String>,
    /// `jti`: a token counts once.
    pub token_id: String,
    /// Until when the token would be taken again, in seconds since 1970.
    pub until_unix_s: u64,
}

#[cfg(test)]
mod tests;
