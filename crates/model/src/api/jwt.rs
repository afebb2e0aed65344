//! Nested settings of a definition about JSON Web Tokens.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::ApiDefinition;
use crate::span;

/// One entry of `jwt_jwks_uris`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct JwksUri {
    /// URL of the key set.
    pub url: String,
    /// Time after which it is fetched again, such as `5m`; the gateway's setting if empty or 0.
    pub cache_timeout: String,
    /// Same time, by its name in OpenAPI documents.
    #[serde(rename = "cacheTimeout")]
    pub cache_timeout_camel: String,
}

/// `tollgate.jwt`: what claims of tokens must say. Tyk has these rules in OpenAPI documents only.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct JwtClaims {
    /// Values that `iss` may have; empty for any.
    pub allowed_issuers: Vec<String>,
    /// A token that has no policy may call this API and no other, without limits of its own. Also for OpenID Connect, where a client's policy
    /// is then an empty text.
    pub policies_optional: bool,
    /// `aud` must have one of them; empty for any.
    pub allowed_audiences: Vec<String>,
    /// Values that the token's subject may have; empty for any.
    pub allowed_subjects: Vec<String>,
    /// Tokens must have a `jti`. It is not remembered: a token may be used again.
    pub jti_required: bool,
    /// Rules for other claims, by the claim's name. Dots lead into objects and lists; a backslash before a dot keeps it in the name.
    pub custom_claims: BTreeMap<String, ClaimRule>,
    /// Claims with the identity, the first one that a token has; in place of `jwt_identity_base_field`.
    pub subject_claims: Vec<String>,
    /// Claims with the id of a policy, the first one that a token has; in place of `jwt_policy_field_name`.
    pub base_policy_claims: Vec<String>,
    /// Claims with scopes, the first one that a token has; in place of `scopes.jwt.scope_claim_name`.
    pub scope_claims: Vec<String>,
}

/// What a claim must be.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ClaimRule {
    /// How the claim is compared.
    #[serde(rename = "type")]
    pub kind: ClaimRuleKind,
    /// Values to compare with.
    pub allowed_values: Vec<serde_json::Value>,
    /// A claim that does not fit is logged, and the token is accepted.
    pub non_blocking: bool,
}

/// How a claim is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimRuleKind {
    /// It must be there, and not null.
    #[default]
    Required,
    /// It must equal one of the values.
    ExactMatch,
    /// A text must contain one of the values, a list must have one as its item, anything else must equal one.
    Contains,
}

/// `scopes`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Scopes {
    /// For JSON Web Tokens.
    pub jwt: ScopeClaim,
    /// For OpenID Connect.
    pub oidc: ScopeClaim,
}

/// The policies of a token's scopes.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ScopeClaim {
    /// The claim with the scopes; `scope` if empty. Dots address nested objects.
    pub scope_claim_name: String,
    /// Scope to policy.
    pub scope_to_policy: BTreeMap<String, String>,
}

impl JwksUri {
    /// Time after which the set is fetched again, if it has its own.
    pub fn age_max(&self) -> Option<Duration> {
        let written = if self.cache_timeout.is_empty() { &self.cache_timeout_camel } else { &self.cache_timeout };
        span::parse_span(written).filter(|age| !age.is_zero())
    }
}

impl ScopeClaim {
    /// The claim with the scopes.
    pub fn claim(&self) -> &str {
        if self.scope_claim_name.is_empty() { "scope" } else { &self.scope_claim_name }
    }
}

impl ApiDefinition {
    /// Claims with the identity of a JSON Web Token, in the order in which they are read.
    pub fn jwt_subject_claims(&self) -> Vec<String> {
        several(&self.tollgate.jwt.subject_claims, &self.jwt_identity_base_field)
    }

    /// Claims with the policy of a JSON Web Token, in the order in which they are read.
    pub fn jwt_policy_claims(&self) -> Vec<String> {
        several(&self.tollgate.jwt.base_policy_claims, &self.jwt_policy_field_name)
    }

    /// Claims with the scopes of a JSON Web Token, in the order in which they are read.
    pub fn jwt_scope_claims(&self) -> Vec<String> {
        several(&self.tollgate.jwt.scope_claims, self.jwt_scopes().claim())
    }

    /// The policies of a JSON Web Token's scopes: `scopes.jwt`, otherwise the older fields.
    pub fn jwt_scopes(&self) -> ScopeClaim {
        let (new, old) = (&self.scopes.jwt, &self.jwt_scope_claim_name);
        let claim = if new.scope_claim_name.is_empty() { old } else { &new.scope_claim_name };
        let mapping = if new.scope_to_policy.is_empty() { &self.jwt_scope_to_policy_mapping } else { &new.scope_to_policy };
        ScopeClaim { scope_claim_name: claim.clone(), scope_to_policy: mapping.clone() }
    }
}

/// The steps to a claim: names of members and positions in lists, between dots. A backslash keeps the next character in the name. `None` for
/// the wildcards and functions that Tyk's paths have as well.
pub fn claim_path(text: &str) -> Option<Vec<String>> {
    let mut steps = vec![String::new()];
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        let step = steps.last_mut()?;
        match c {
            '\\' => step.push(characters.next()?),
            '.' => steps.push(String::new()),
            '*' | '?' | '#' | '|' => return None,
            '@' | '!' | '{' | '[' if step.is_empty() => return None,
            c => step.push(c),
        }
    }
    steps.iter().all(|step| !step.is_empty()).then_some(steps)
}

/// The names of a list, or of the older field.
fn several(list: &[String], older: &str) -> Vec<String> {
    if list.is_empty() {
        Some(older).filter(|name| !name.is_empty()).map(str::to_owned).into_iter().collect()
    } else {
        list.to_vec()
    }
}
