//! The gateway as an OAuth 2.0 server: what an API's clients may request.

use schemars::JsonSchema;
use serde::Deserialize;

/// `oauth_meta`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OAuthMeta {
    /// Allowed values of `grant_type`: `authorization_code`, `refresh_token`, `password`, `client_credentials`.
    pub allowed_access_types: Vec<String>,
    /// Allowed values of `response_type`: `code`, `token`.
    pub allowed_authorize_types: Vec<String>,
    /// The page where users log in and consent.
    pub auth_login_redirect: String,
}

/// `notifications`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Notifications {
    /// The secret by which the receiver recognises the gateway.
    pub shared_secret: String,
    /// URL to notify of new tokens; empty for none.
    pub oauth_on_keychange_url: String,
}

/// `tollgate.oauth`: settings that are not in Tyk.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OAuthRules {
    /// Only requests with a challenge (RFC 7636) get a code.
    pub pkce_required: bool,
    /// Allowed challenge methods; empty means both.
    pub pkce_methods: Vec<PkceMethod>,
    /// A redirect URI must equal the registered one; otherwise it may also lie below it.
    pub exact_redirect_uris: bool,
}

/// How a challenge is derived from its verifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum PkceMethod {
    /// The verifier's SHA-256.
    S256,
    /// The verifier itself.
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

    /// The method with this name.
    pub fn from_name(name: &str) -> Option<PkceMethod> {
        [PkceMethod::S256, PkceMethod::Plain].into_iter().find(|method| method.name() == name)
    }
}

impl OAuthRules {
    /// Whether this method is allowed.
    pub fn allows(&self, method: PkceMethod) -> bool {
        self.pkce_methods.is_empty() || self.pkce_methods.contains(&method)
    }
}
