//! Claims as values of variables, `$tyk_context.jwt_claims_NAME`. Which of them a definition uses is found out when it is compiled; the
//! others are not kept.

use super::{Claims, Token};
use crate::template::value_text;
use std::sync::Arc;
use tollgate_model::api::ApiDefinition;

/// What the names of such variables begin with.
pub const CLAIM: &str = "jwt_claims_";

/// The names of the claims that a definition uses.
pub struct ClaimNames(Vec<String>);

/// Their values in one token.
#[derive(Debug, PartialEq, Eq)]
pub struct ClaimTexts(Vec<(String, String)>);

impl ClaimNames {
    /// The claims that stand anywhere in a definition; none without context variables.
    pub fn used_in(definition: &ApiDefinition) -> Self {
        let text = if definition.enable_context_vars { definition.raw.to_string() } else { String::new() };
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let behind = text.split(CLAIM).skip(1);
        let mut names: Vec<String> =
            behind.map(|rest| rest.find(|c| !is_name(c)).and_then(|end| rest.get(..end)).unwrap_or(rest).to_owned()).collect();
        names.sort();
        names.dedup();
        ClaimNames(names)
    }

    /// Their names.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Their values in a token; `None` when none is used. Of header and claims, the claims count.
    pub fn texts(&self, token: &Token<'_>, claims: &Claims) -> Option<Arc<ClaimTexts>> {
        if self.0.is_empty() {
            return None;
        }
        let found = |name: &String| Some((name.clone(), value_text(claims.called(name).next().or_else(|| token.header(name))?)));
        Some(Arc::new(ClaimTexts(self.0.iter().filter_map(found).collect())))
    }
}

impl ClaimTexts {
    /// The value of a claim.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str())
    }
}

#[cfg(test)]
mod tests;
