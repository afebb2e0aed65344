//! Where a request carries its credentials.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::ApiDefinition;
use crate::number::whole;

/// `auth` or one entry of `auth_configs`. The places are tried in the order header, query parameter, cookie; a later
/// one that has a value wins.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AuthConfig {
    /// A name for people.
    pub name: String,
    /// The header; `Authorization` when empty.
    pub auth_header_name: String,
    /// Do not look at headers.
    pub disable_header: bool,
    /// Look at the query parameter `param_name`.
    pub use_param: bool,
    /// The query parameter; named like the header when empty.
    pub param_name: String,
    /// Look at the cookie `cookie_name`.
    pub use_cookie: bool,
    /// The cookie; named like the header when empty.
    pub cookie_name: String,
    /// Accept a client certificate in place of a key, and ask for it beside one.
    pub use_certificate: bool,
    /// For keys: a signature must come with the key.
    pub validate_signature: bool,
    /// That signature.
    pub signature: SignatureConfig,
}

/// `signature` of an authentication method.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SignatureConfig {
    /// How it is made: `MasheryMd5` or `MasherySha256`.
    pub algorithm: String,
    /// The header that has it.
    pub header: String,
    /// Look at a query parameter too: one with a value counts in place of the header. So does any `param_name`.
    pub use_param: bool,
    /// That parameter; the name of the header when empty.
    pub param_name: String,
    /// What it is made with besides key and time. May have variables.
    pub secret: String,
    /// Seconds by which the client's clock may differ.
    #[serde(deserialize_with = "whole")]
    pub allowed_clock_skew: i64,
    /// Status of a refusal; 401 when 0.
    #[serde(deserialize_with = "whole")]
    pub error_code: i64,
    /// Its message; `Request signature verification failed` when empty.
    pub error_message: String,
}

/// How signatures that come with keys are made: a hash over key, secret and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureAlgorithm {
    /// MD5.
    MasheryMd5,
    /// SHA-256.
    MasherySha256,
}

impl SignatureConfig {
    /// Most seconds by which clocks may differ: each of them is two hashes for a signature that is wrong.
    pub const SKEW_S_MAX: i64 = 300;

    /// How it is made, if that is known.
    pub fn algorithm(&self) -> Option<SignatureAlgorithm> {
        match self.algorithm.as_str() {
            "MasheryMd5" => Some(SignatureAlgorithm::MasheryMd5),
            "MasherySha256" => Some(SignatureAlgorithm::MasherySha256),
            _ => None,
        }
    }

    /// The query parameter, if one is looked at.
    pub fn param(&self) -> Option<&str> {
        let name = if self.param_name.is_empty() { &self.header } else { &self.param_name };
        let is_looked_at = self.use_param || !self.param_name.is_empty();
        Some(name.as_str()).filter(|name| is_looked_at && !name.is_empty())
    }

    /// Seconds by which clocks may differ; `None` when nothing is right, as for a negative number.
    pub fn skew_s(&self) -> Option<u64> {
        u64::try_from(self.allowed_clock_skew.min(Self::SKEW_S_MAX)).ok()
    }

    /// Status of a refusal.
    pub fn status(&self) -> u16 {
        u16::try_from(self.error_code).ok().filter(|code| (200..600).contains(code)).unwrap_or(401)
    }
}

/// `basic_auth`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BasicAuth {
    /// Check each password anew.
    pub disable_caching: bool,
    /// Seconds for which a right password is remembered; 60 when not more than 0.
    #[serde(deserialize_with = "whole")]
    pub cache_ttl: i64,
    /// Look into bodies when no header has user and password.
    pub extract_from_body: bool,
    /// For `extract_from_body`: the first group is the user.
    pub body_user_regexp: String,
    /// For `extract_from_body`: the first group is the password.
    pub body_password_regexp: String,
}

/// `external_oauth`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExternalOAuth {
    /// Whether it is asked for.
    pub enabled: bool,
    /// Servers, of which the first counts, as in Tyk.
    pub providers: Vec<ExternalProvider>,
}

/// One server of `external_oauth`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExternalProvider {
    /// The server is asked about each token.
    pub introspection: Introspection,
}

/// How a server is asked about a token.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Introspection {
    /// Whether it is asked for.
    pub enabled: bool,
    /// Where the server answers.
    pub url: String,
    /// Who asks.
    pub client_id: String,
    /// The asker's secret.
    pub client_secret: String,
    /// The member of the answer that says who it is, before `sub`.
    pub identity_base_field: String,
    /// Remembering answers.
    pub cache: IntrospectionCache,
}

/// `cache` of an introspection.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct IntrospectionCache {
    /// Remember good tokens.
    pub enabled: bool,
    /// Seconds; 60 when not more than 0.
    #[serde(deserialize_with = "whole")]
    pub timeout: i64,
}

/// `openid_options`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OpenIdOptions {
    /// Whose tokens are good.
    pub providers: Vec<OpenIdProvider>,
    /// A user of another client is another user.
    pub segregate_by_client: bool,
}

/// One provider of `openid_options`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OpenIdProvider {
    /// As in the tokens' `iss`; discovery begins there.
    pub issuer: String,
    /// Policies by client, whose name is in Base64.
    pub client_ids: BTreeMap<String, String>,
}

impl ApiDefinition {
    /// How the first server of `external_oauth` is asked about tokens, if it is.
    pub fn introspection(&self) -> Option<&Introspection> {
        let first = &self.external_oauth.providers.first()?.introspection;
        (self.external_oauth.enabled && first.enabled).then_some(first)
    }
}

impl AuthConfig {
    /// The header to look at, `Authorization` when none is named.
    pub fn header(&self) -> Option<&str> {
        (!self.disable_header).then(|| self.header_name())
    }

    /// The query parameter to look at, named like the header when it has no name of its own.
    pub fn param(&self) -> Option<&str> {
        self.use_param.then(|| or(&self.param_name, self.header_name()))
    }

    /// The cookie to look at, named like the header when it has no name of its own.
    pub fn cookie(&self) -> Option<&str> {
        self.use_cookie.then(|| or(&self.cookie_name, self.header_name()))
    }

    fn header_name(&self) -> &str {
        or(&self.auth_header_name, "Authorization")
    }
}

fn or<'a>(name: &'a str, default: &'a str) -> &'a str {
    if name.is_empty() { default } else { name }
}
