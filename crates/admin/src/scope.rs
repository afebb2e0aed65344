//! What an operator reaches: everything, or the APIs with one of some tags or of one of some organisations, and what belongs to them.

use serde::{Deserialize, Serialize};

/// Tags and organisations of a scope at most.
pub const NAMES_MAX: usize = 100;
/// Bytes of a tag's or organisation's name at most.
const NAME_BYTES_MAX: usize = 200;

/// The tags and organisations that an operator reaches. Without any, the operator reaches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OperatorScope {
    /// APIs with one of these tags are reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// APIs of one of these organisations are reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub orgs: Vec<String>,
}

impl OperatorScope {
    /// Whether everything is reached.
    pub fn is_whole(&self) -> bool {
        self.tags.is_empty() && self.orgs.is_empty()
    }

    /// Whether an API with these tags, of this organisation, is reached.
    pub fn has_api<'t>(&self, mut tags: impl Iterator<Item = &'t str>, org: &str) -> bool {
        self.is_whole() || self.has_org(org) || tags.any(|tag| self.tags.iter().any(|own| own == tag))
    }

    /// Whether an organisation is reached as a whole.
    pub fn has_org(&self, org: &str) -> bool {
        self.is_whole() || self.orgs.iter().any(|own| own == org)
    }

    /// Checks a scope that someone is to get.
    ///
    /// # Errors
    /// What is wrong with it. An empty scope would be everything, which nobody should get by a slip.
    pub fn check(&self) -> Result<(), String> {
        if self.is_whole() {
            return Err("scope: names no tag and no organisation; leave it out for everything".to_owned());
        }
        if self.tags.len() + self.orgs.len() > NAMES_MAX {
            return Err(format!("scope: may have {NAMES_MAX} tags and organisations"));
        }
        let is_bad = |name: &String| name.is_empty() || name.len() > NAME_BYTES_MAX || name.chars().any(char::is_control);
        match self.tags.iter().chain(&self.orgs).find(|name| is_bad(name)) {
            Some(name) => Err(format!("scope: {name:?} is no name of a tag or organisation")),
            None => Ok(()),
        }
    }

    /// The tags and organisations, for people.
    pub fn described(&self) -> String {
        let tags = self.tags.iter().map(|tag| format!("tag {tag}"));
        tags.chain(self.orgs.iter().map(|org| format!("organisation {org}"))).collect::<Vec<_>>().join(", ")
    }
}

/// Checks what someone is to get. An admin has no scope: users, tokens and the configuration as a whole belong to no team.
///
/// # Errors
/// What is wrong.
pub fn check_grant(role: crate::Role, scope: Option<&OperatorScope>) -> Result<(), String> {
    match scope {
        Some(_) if role == crate::Role::Admin => Err("scope: an admin reaches everything".to_owned()),
        Some(scope) => scope.check(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
