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
    /// The policies of a JSON Web Token's scopes: `scopes.jwt`, otherwise the older fields.
    pub fn jwt_scopes(&self) -> ScopeClaim {
        let (new, old) = (&self.scopes.jwt, &self.jwt_scope_claim_name);
        let claim = if new.scope_claim_name.is_empty() { old } else { &new.scope_claim_name };
        let mapping = if new.scope_to_policy.is_empty() { &self.jwt_scope_to_policy_mapping } else { &new.scope_to_policy };
        ScopeClaim { scope_claim_name: claim.clone(), scope_to_policy: mapping.clone() }
    }
}
