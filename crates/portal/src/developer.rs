//! Developers, who have accounts at the portal, and teams, to which applications belong.

use crate::documents::PortalDocuments;
use crate::refusal::PortalRefusal;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use tollgate_model::hexadecimal;
use tollgate_model::hidden_character::is_hidden;
use tollgate_store::StoreFault;

/// Teams of a developer.
pub(crate) const TEAMS_MAX: usize = 20;
/// Members of a team.
pub(crate) const MEMBERS_MAX: usize = 100;
/// Characters of a name that people choose.
const NAME_CHARS_MAX: usize = 100;
/// Bytes of a mail address (RFC 5321, section 4.5.3.1.3).
const MAIL_BYTES_MAX: usize = 254;

/// Somebody with an account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Developer {
    /// Mail address in lower case.
    pub mail: String,
    /// What they call themselves.
    pub name: String,
    /// Hash of their password; empty if they sign in at a provider alone.
    pub password_hash: String,
    /// Who they are at providers: ids of documents.
    #[serde(default)]
    pub identities: BTreeSet<String>,
    /// Their teams, with what they may do there.
    pub teams: BTreeMap<String, TeamRole>,
    /// Whether an operator has suspended them.
    pub is_suspended: bool,
    /// Grows when all their sessions end.
    pub session_epoch: u64,
    /// When the account was made, in seconds since 1970.
    pub created_unix_s: u64,
}

/// What somebody may do in a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TeamRole {
    /// Everything, and say who else is in it.
    Owner,
    /// Everything with its applications.
    Member,
}

/// People who have applications together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeveloperTeam {
    /// What it is called.
    pub name: String,
    /// Ids of developers who may be in it; what counts is what they themselves say.
    pub members: BTreeSet<String>,
}

impl Developer {
    /// The id of the developer with a mail address: the same for every spelling in upper and lower case.
    pub fn id_of(mail: &str) -> String {
        let digest = Sha256::digest(mail.to_lowercase().as_bytes());
        hexadecimal(&digest).chars().take(32).collect()
    }

    /// Their id.
    pub fn id(&self) -> String {
        Developer::id_of(&self.mail)
    }

    pub(crate) async fn read(documents: &PortalDocuments, id: &str) -> Result<Option<Developer>, StoreFault> {
        if !is_id(id) {
            return Ok(None);
        }
        documents.read(&Developer::document(id)).await
    }

    pub(crate) fn document(id: &str) -> String {
        format!("developer-{id}")
    }
}

impl DeveloperTeam {
    pub(crate) fn document(id: &str) -> String {
        format!("team-{id}")
    }
}

/// Whether a text has the form of an id that the portal makes.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// The address in the one form in which it is stored.
///
/// # Errors
/// It is none.
pub(crate) fn mail_address(text: &str) -> Result<String, PortalRefusal> {
    let text = text.trim();
    let is_plain =
        text.len() <= MAIL_BYTES_MAX && text.is_ascii() && !text.bytes().any(|byte| byte.is_ascii_control() || byte == b' ');
    match text.parse::<lettre::Address>() {
        Ok(address) if is_plain && address.domain().contains(|c: char| c.is_ascii_alphanumeric()) => Ok(text.to_ascii_lowercase()),
        _ => Err(PortalRefusal::invalid("mail: must be a mail address")),
    }
}

/// A name that people choose, in one line.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn plain_name(member: &str, text: &str) -> Result<String, PortalRefusal> {
    let text = text.trim();
    // Characters that change the direction of text could make a name look like another one.
    if text.is_empty() || text.chars().count() > NAME_CHARS_MAX || text.contains(is_hidden) {
        return Err(PortalRefusal::invalid(format!("{member}: must be a text of 1 to {NAME_CHARS_MAX} characters in one line")));
    }
    Ok(text.to_owned())
}
