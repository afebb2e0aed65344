//! Settings of an AuthenticationPolicy: who may call.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;

/// Who may call. A request that satisfies one of the methods passes; certificates of clients are asked for beside them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-kubernetes-validations" = json!([
    {"rule": "has(self.apiKeys) || has(self.jwt) || has(self.oidc) || has(self.external) || has(self.basic) || has(self.clientCertificates)",
     "message": "name a method: apiKeys, jwt, oidc, external, basic or clientCertificates"},
    {"rule": "!has(self.basic) || !(has(self.apiKeys) || has(self.jwt) || has(self.oidc) || has(self.external))",
     "message": "basic does not go with apiKeys, jwt, oidc and external"},
    {"rule": "!has(self.requiredScopes) || !(has(self.apiKeys) || has(self.external))",
     "message": "requiredScopes are for tokens: they do not go with apiKeys and external"},
    {"rule": "!has(self.claimHeaders) || has(self.jwt) || has(self.oidc)", "message": "claimHeaders need jwt or oidc"},
])))]
pub(crate) struct AuthenticationSettings {
    /// Keys in Secrets, and those that the control API has made.
    pub api_keys: Option<ApiKeySettings>,
    /// JSON Web Tokens, by the keys of those who sign them.
    pub jwt: Option<JwtSettings>,
    /// ID tokens of OpenID providers, whose keys are found by discovery.
    pub oidc: Option<OidcSettings>,
    /// Another HTTP service decides.
    pub external: Option<ExternalCheck>,
    /// Users and passwords (HTTP basic) in Secrets.
    pub basic: Option<BasicUserSettings>,
    /// Clients must show a certificate. The Gateway's listener must ask for it, by `spec.tls.frontend`.
    pub client_certificates: Option<ClientAuthorities>,
    /// Claims of the token that backends get as headers.
    #[schemars(length(min = 1, max = 16))]
    pub claim_headers: Option<Vec<ClaimHeader>>,
    /// Scopes that the token must have, all of them.
    #[schemars(length(min = 1, max = 16), inner(length(min = 1, max = 128)))]
    pub required_scopes: Option<Vec<String>>,
    /// Whether backends get the credential too.
    pub forward_credentials: bool,
}

/// Keys.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-kubernetes-validations" = json!([
    {"rule": "has(self.matchLabels) || (has(self.stored) && self.stored)", "message": "name Secrets by matchLabels, or accept stored keys"},
])))]
pub(crate) struct ApiKeySettings {
    /// Labels of the Secrets in the policy's namespace that each have a key in the entry `key`.
    #[schemars(extend("minProperties" = 1, "maxProperties" = 16), inner(length(max = 63)))]
    pub match_labels: Option<BTreeMap<String, String>>,
    /// Accept keys that the control API has made, with their rights and limits.
    pub stored: bool,
    /// Where requests have the key; by default the header Authorization, with or without Bearer.
    pub from: Option<CredentialPlace>,
    /// Requests that each key of a Secret has for a longer time.
    pub quota: Option<KeyQuotaSettings>,
}

/// A quota of each key. It is counted in the gateways' store: over Redis exactly for all of them, and beyond restarts.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub(crate) struct KeyQuotaSettings {
    /// Requests until it renews.
    #[schemars(range(min = 1, max = 1_000_000_000_000_i64))]
    pub requests: i64,
    /// Time from the first request until it renews, such as `24h` or `720h`.
    #[schemars(length(max = 16), regex(pattern = "^([0-9]+(h|m|s|ms))+$"))]
    pub window: String,
}

/// Users of HTTP basic.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub(crate) struct BasicUserSettings {
    /// Names of Secrets in the policy's namespace. Each has the entry `auth`: lines of an htpasswd file, `user:hash`, with hashes of bcrypt, argon2, apr1 or SHA.
    #[schemars(length(min = 1, max = 16), inner(length(min = 1, max = 253)))]
    pub secrets: Vec<String>,
}

/// Authorities of clients' certificates, each in the entry `ca.crt`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-kubernetes-validations" = json!([
    {"rule": "has(self.secrets) || has(self.configMaps)", "message": "name Secrets or ConfigMaps with authorities"},
])))]
pub(crate) struct ClientAuthorities {
    /// Names of Secrets in the policy's namespace.
    #[schemars(length(min = 1, max = 16), inner(length(min = 1, max = 253)))]
    pub secrets: Option<Vec<String>>,
    /// Names of ConfigMaps in the policy's namespace.
    #[schemars(length(min = 1, max = 16), inner(length(min = 1, max = 253)))]
    pub config_maps: Option<Vec<String>>,
}

/// Where requests have a credential.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-kubernetes-validations" = json!([
    {"rule": "has(self.header) || has(self.query) || has(self.cookie)", "message": "name a header, a query parameter or a cookie"},
])))]
pub(crate) struct CredentialPlace {
    /// A header.
    #[schemars(length(min = 1, max = 128), regex(pattern = "^[A-Za-z0-9_-]+$"))]
    pub header: Option<String>,
    /// A query parameter.
    #[schemars(length(min = 1, max = 128))]
    pub query: Option<String>,
    /// A cookie.
    #[schemars(length(min = 1, max = 128), regex(pattern = "^[A-Za-z0-9_-]+$"))]
    pub cookie: Option<String>,
}

/// JSON Web Tokens.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-kubernetes-validations" = json!([
    {"rule": "has(self.jwksUris) != has(self.publicKey)", "message": "name either jwksUris or a publicKey"},
])))]
pub(crate) struct JwtSettings {
    /// URLs of key sets.
    #[schemars(length(min = 1, max = 8), inner(length(max = 2048), regex(pattern = "^https?://")))]
    pub jwks_uris: Option<Vec<String>>,
    /// A public key or certificate in PEM.
    #[schemars(length(min = 1, max = 16_384))]
    pub public_key: Option<String>,
    /// How tokens are signed; RSA by default.
    pub algorithms: Option<TokenAlgorithms>,
    /// Values that `iss` may have; any by default.
    #[schemars(length(max = 16), inner(length(max = 2048)))]
    pub issuers: Vec<String>,
    /// `aud` must have one of them; any by default.
    #[schemars(length(max = 16), inner(length(max = 2048)))]
    pub audiences: Vec<String>,
    /// The claim that names the caller; `sub` by default.
    #[schemars(length(min = 1, max = 128), regex(pattern = "^[A-Za-z0-9_.-]+$"))]
    pub subject_claim: Option<String>,
    /// Where requests have the token; by default the header Authorization.
    pub from: Option<CredentialPlace>,
}

/// A family of signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) enum TokenAlgorithms {
    #[serde(rename = "RSA")]
    Rsa,
    #[serde(rename = "ECDSA")]
    Ecdsa,
    #[serde(rename = "EdDSA")]
    EdDsa,
}

/// OpenID Connect.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct OidcSettings {
    /// The providers whose tokens are accepted.
    #[schemars(length(min = 1, max = 8))]
    pub providers: Vec<OidcProvider>,
    /// Where requests have the token; by default the header Authorization.
    pub from: Option<CredentialPlace>,
}

/// An OpenID provider.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OidcProvider {
    /// `iss` of its tokens, and the URL below which it says where its keys are.
    #[schemars(length(max = 2048), regex(pattern = "^https?://"))]
    pub issuer: String,
    /// Clients; the token's `aud` must name one of them.
    #[schemars(length(min = 1, max = 16), inner(length(min = 1, max = 256)))]
    pub clients: Vec<String>,
}

/// A service that is asked for each request.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("required" = json!(["url"])))]
pub(crate) struct ExternalCheck {
    /// Its URL. 2xx lets a request pass.
    #[schemars(length(max = 2048), regex(pattern = "^https?://"))]
    pub url: String,
    /// Time limit such as `500ms`; 2 s by default.
    #[schemars(length(max = 16), regex(pattern = "^([0-9]+(h|m|s|ms))+$"))]
    pub timeout: Option<String>,
    /// Headers of requests that it gets.
    #[schemars(length(max = 32), inner(length(max = 128)))]
    pub request_headers: Vec<String>,
    /// Headers of its response that backends get.
    #[schemars(length(max = 32), inner(length(max = 128)))]
    pub response_headers: Vec<String>,
    /// The header of its response that names the caller.
    #[schemars(length(min = 1, max = 128))]
    pub identity_header: Option<String>,
}

/// A claim that backends get.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClaimHeader {
    /// The claim.
    #[schemars(length(min = 1, max = 128), regex(pattern = "^[A-Za-z0-9_.-]+$"))]
    pub claim: String,
    /// The header, which replaces one that clients send.
    #[schemars(length(min = 1, max = 128), regex(pattern = "^[A-Za-z0-9_-]+$"))]
    pub header: String,
}
