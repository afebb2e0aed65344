//! The gateway as an OAuth 2.0 server: what an API lets its clients ask for.

use schemars::JsonSchema;
use serde::Deserialize;

/// `oauth_meta`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OAuthMeta {
    /// Values of `grant_type` that are allowed: `authorization_code`, `refresh_token`, `password`, `client_credentials`.
    pub allowed_access_types: Vec<String>,
    /// Values of `response_type` that are allowed: `code`, `token`.
    pub allowed_authorize_types: Vec<String>,
    /// The page where users log in and consent.
    pub auth_login_redirect: String,
}

/// `notifications`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Notifications {
    /// What the receiver knows the gateway by.
    pub shared_secret: String,
    /// Where new tokens are told; empty for nowhere.
    pub oauth_on_keychange_url: String,
}

/// `tollgate.oauth`: what Tyk's provider does not have.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OAuthRules {
    /// Codes are given only to requests with a challenge (RFC 7636).
    pub pkce_required: bool,
    /// How challenges may be made; both ways when empty.
    pub pkce_methods: Vec<PkceMethod>,
    /// Redirect URIs must be the registered one, character by character; otherwise they may also lie below it.
    pub exact_redirect_uris: bool,
}

/// How a challenge is made from its verifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum PkceMethod {
    /// It is the verifier's SHA-256.
    S256,
    /// It is the verifier.
    #[serde(rename = "plain")]
    Plain,
}

impl PkceMethod {
    /// Its name in `code_challenge_method`.
    pub fn name(self) -> &'static str {
        match self {
            PkceMethod::S256 => "S256",
            PkceMethod::Plain => "plain",
        }
    }

    /// The method of a name.
    pub fn from_name(name: &str) -> Option<PkceMethod> {
        [PkceMethod::S256, PkceMethod::Plain].into_iter().find(|method| method.name() == name)
    }
}

impl OAuthRules {
    /// Whether challenges may be made so.
    pub fn allows(&self, method: PkceMethod) -> bool {
        self.pkce_methods.is_empty() || self.pkce_methods.contains(&method)
    }
}
