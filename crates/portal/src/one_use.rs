//! Tokens in mails that work once: to choose a password, and with it to make an account, to get back into one, or to join a team.

use crate::developer::TeamRole;
use crate::documents::PortalDocuments;
use crate::refusal::PortalRefusal;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tollgate_access::secret::random_text;
use tollgate_model::hexadecimal;

/// How long a link to choose a password works.
pub(crate) const PASSWORD_LINK_S: u64 = 3600;
/// How long a link to a new account works.
pub(crate) const SIGN_UP_LINK_S: u64 = 24 * 3600;
/// How long an invitation works.
pub(crate) const INVITATION_S: u64 = 7 * 24 * 3600;

/// What a token is for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OneUse {
    /// Whose mail address it shows to be their own.
    pub mail: String,
    /// What a new account is called; whoever uses the token may say otherwise.
    pub name: String,
    /// Whether it may make an account.
    pub makes_account: bool,
    /// Whether it may change the password of an account.
    pub changes_password: bool,
    /// Team that it leads into.
    pub team: Option<(String, TeamRole)>,
}

impl OneUse {
    /// Makes a token.
    pub(crate) async fn store(&self, documents: &PortalDocuments, expires_unix_s: u64) -> Result<String, PortalRefusal> {
        let token = long_random()?;
        documents.write(&document(&token), self, Some(expires_unix_s)).await?;
        Ok(token)
    }

    /// What a token is for, without using it.
    pub(crate) async fn look(documents: &PortalDocuments, token: &str) -> Result<OneUse, PortalRefusal> {
        let found = if is_token(token) { documents.read(&document(token)).await? } else { None };
        found.ok_or_else(gone)
    }

    /// Uses a token. Of those who use it at the same time, one gets it.
    pub(crate) async fn take(documents: &PortalDocuments, token: &str) -> Result<OneUse, PortalRefusal> {
        let found = OneUse::look(documents, token).await?;
        if documents.remove(&document(token)).await? { Ok(found) } else { Err(gone()) }
    }
}

/// 256 bits of the system's randomness as text.
pub(crate) fn long_random() -> Result<String, PortalRefusal> {
    let halves = [random_text(), random_text()];
    let [Ok(one), Ok(other)] = halves else { return Err(PortalRefusal::failed("no random bytes")) };
    Ok(one + &other)
}

/// What the store knows of a secret text.
pub(crate) fn digest(token: &str) -> String {
    hexadecimal(&Sha256::digest(token.as_bytes()))
}

/// Whether a text has the form of a token, so that it is worth a question to the store.
pub(crate) fn is_token(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn document(token: &str) -> String {
    format!("token-{}", digest(token))
}

fn gone() -> PortalRefusal {
    PortalRefusal::new(410, "token_gone", "This link has been used, or is too old")
}
