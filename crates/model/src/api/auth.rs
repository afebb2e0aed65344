//! Where a request has its credentials.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::ApiDefinition;
use crate::number::whole;

/// `auth` or one entry of `auth_configs`. The places are read in the order header, query parameter, cookie; the last one with a
/// value wins.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AuthConfig {
    /// Name for people.
    pub name: String,
    /// The header; `Authorization` if empty.
    pub auth_header_name: String,
    /// Ignore headers.
    pub disable_header: bool,
    /// Read the query parameter `param_name`.
    pub use_param: bool,
    /// The query parameter; if empty, the header's name.
    pub param_name: String,
    /// Read the cookie `cookie_name`.
    pub use_cookie: bool,
    /// The cookie; if empty, the header's name.
    pub cookie_name: String,
    /// Accept a client certificate instead of a key, and require it together with a key.
    pub use_certificate: bool,
    /// Require a signature in addition to the key.
    pub validate_signature: bool,
    /// Settings of that signature.
    pub signature: SignatureConfig,
}

/// `signature` of an authentication method.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SignatureConfig {
    /// The algorithm: `MasheryMd5` or `MasherySha256`.
    pub algorithm: String,
    /// The header with the signature.
    pub header: String,
    /// Also read a query parameter, which takes precedence over the header. `param_name` enables it too.
    pub use_param: bool,
    /// Name of that parameter; the name of the header if empty.
    pub param_name: String,
    /// The secret that is hashed together with key and time. May contain variables.
    pub secret: String,
    /// Allowed clock difference in seconds.
    #[serde(deserialize_with = "whole")]
    pub allowed_clock_skew: i64,
    /// Status of a rejection; 0 means 401.
    #[serde(deserialize_with = "whole")]
    pub error_code: i64,
    /// Message of a rejection; `Request signature verification failed` if empty.
    pub error_message: String,
}

/// Algorithms of key signatures: a hash over key, secret and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureAlgorithm {
    /// MD5.
    MasheryMd5,
    /// SHA-256.
    MasherySha256,
}

impl SignatureConfig {
    /// Maximum allowed clock difference in seconds: each second costs two hashes for a wrong signature.
    pub const SKEW_S_MAX: i64 = 300;

    /// The algorithm, if it is known.
    pub fn algorithm(&self) -> Option<SignatureAlgorithm> {
        match self.algorithm.as_str() {
            "MasheryMd5" => Some(SignatureAlgorithm::MasheryMd5),
            "MasherySha256" => Some(SignatureAlgorithm::MasherySha256),
            _ => None,
        }
    }

    /// The query parameter, if one is read.
    pub fn param(&self) -> Option<&str> {
        let name = if self.param_name.is_empty() { &self.header } else { &self.param_name };
        let is_looked_at = self.use_param || !self.param_name.is_empty();
        Some(name.as_str()).filter(|name| is_looked_at && !name.is_empty())
    }

    /// Allowed clock difference in seconds; `None` if no signature can be valid, as for a negative number.
    pub fn skew_s(&self) -> Option<u64> {
        u64::try_from(self.allowed_clock_skew.min(Self::SKEW_S_MAX)).ok()
    }

    /// Status of a rejection.
    pub fn status(&self) -> u16 {
        u16::try_from(self.error_code).ok().filter(|code| (200..600).contains(code)).unwrap_or(401)
    }
}

/// `basic_auth`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BasicAuth {
    /// Verify the password on every request.
    pub disable_caching: bool,
    /// Seconds that a correct password is remembered; 60 if 0 or less.
    #[serde(deserialize_with = "whole")]
    pub cache_ttl: i64,
    /// Read user and password from the body if no header has them.
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
    /// Whether it is enabled.
    pub enabled: bool,
    /// Servers; only the first is used, as in Tyk.
    pub providers: Vec<ExternalProvider>,
}

/// One server of `external_oauth`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExternalProvider {
    /// Introspection of each token.
    pub introspection: Introspection,
}

/// Introspection at a server.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Introspection {
    /// Whether it is enabled.
    pub enabled: bool,
    /// URL of the server.
    pub url: String,
    /// The gateway's client id.
    pub client_id: String,
    /// The gateway's client secret.
    pub client_secret: String,
    /// Member of the response with the identity; takes precedence over `sub`.
    pub identity_base_field: String,
    /// Cache of responses.
    pub cache: IntrospectionCache,
}

/// `cache` of an introspection.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct IntrospectionCache {
    /// Remember valid tokens.
    pub enabled: bool,
    /// Time to live in seconds; 60 if 0 or less.
    #[serde(deserialize_with = "whole")]
    pub timeout: i64,
}

/// `openid_options`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OpenIdOptions {
    /// The accepted providers.
    pub providers: Vec<OpenIdProvider>,
    /// Distinguish the same user of different clients.
    pub segregate_by_client: bool,
}

/// One provider of `openid_options`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OpenIdProvider {
    /// The `iss` of tokens, and the start of discovery.
    pub issuer: String,
    /// Policies by client id in Base64.
    pub client_ids: BTreeMap<String, String>,
}

impl ApiDefinition {
    /// Introspection at the first server of `external_oauth`, if it is enabled.
    pub fn introspection(&self) -> Option<&Introspection> {
        let first = &self.external_oauth.providers.first()?.introspection;
        (self.external_oauth.enabled && first.enabled).then_some(first)
    }
}

impl AuthConfig {
    /// The header to read; `Authorization` if not set.
    pub fn header(&self) -> Option<&str> {
        (!self.disable_header).then(|| self.header_name())
    }

    /// The query parameter to read; the header's name if not set.
    pub fn param(&self) -> Option<&str> {
        self.use_param.then(|| or(&self.param_name, self.header_name()))
    }

    /// The cookie to read; the header's name if not set.
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
