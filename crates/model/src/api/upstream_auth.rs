//! `upstream_auth`: the gateway's own credentials for the upstream.

use crate::json_path::JsonPath;
use crate::problem::Findings;
use crate::token::is_token;
use schemars::JsonSchema;
use serde::Deserialize;

/// `upstream_auth`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UpstreamAuth {
    /// Whether the gateway sends credentials of its own.
    pub enabled: bool,
    /// A user and a password.
    pub basic_auth: UpstreamBasicAuth,
    /// An access token.
    pub oauth: UpstreamOAuth,
}

/// `upstream_auth.basic_auth`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UpstreamBasicAuth {
    /// Whether it is used.
    pub enabled: bool,
    /// User.
    pub username: String,
    /// Password.
    pub password: String,
    /// Header with the credentials; `Authorization` if it has no name.
    pub header: CredentialHeader,
}

/// A header for credentials.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CredentialHeader {
    /// Its name.
    pub name: String,
}

/// `upstream_auth.oauth`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UpstreamOAuth {
    /// Whether it is used.
    pub enabled: bool,
    /// The grants; only `clientCredentials` is supported.
    pub allowed_authorize_types: Vec<String>,
    /// The client and its server.
    pub client_credentials: UpstreamClientCredentials,
}

/// `upstream_auth.oauth.client_credentials`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UpstreamClientCredentials {
    /// Identifier of the client.
    pub client_id: String,
    /// Its secret.
    pub client_secret: String,
    /// URL of the server's token endpoint.
    pub token_url: String,
    /// Scopes to ask for.
    pub scopes: Vec<String>,
    /// Header with the token; `Authorization` if it has no name.
    pub header: CredentialHeader,
}

/// Reports what is wrong.
pub(super) fn check(auth: &UpstreamAuth, findings: &mut Findings) {
    if !auth.enabled {
        return;
    }
    let at = JsonPath::of("upstream_auth");
    if auth.basic_auth.enabled && auth.oauth.enabled {
        findings.error(&at, "basic_auth and oauth are both on: an upstream gets one kind of credentials");
    }
    for (field, header) in [("basic_auth", &auth.basic_auth.header), ("oauth", &auth.oauth.client_credentials.header)] {
        if !header.name.is_empty() && !is_token(&header.name) {
            findings.error(&at.key(field), "the header has no valid name");
        }
    }
    if auth.oauth.enabled {
        let at = at.key("oauth");
        let types = &auth.oauth.allowed_authorize_types;
        if !types.is_empty() && !types.iter().any(|kind| kind == "clientCredentials") {
            findings.error(&at.key("allowed_authorize_types"), "must contain clientCredentials; other grants are not supported");
        }
        let url = &auth.oauth.client_credentials.token_url;
        if !["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) {
            findings.error(&at.key("client_credentials").key("token_url"), "must be an absolute URL such as http://host:8080/");
        }
    }
}
