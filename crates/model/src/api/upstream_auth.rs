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
    /// The grant: `clientCredentials`, which is the default, or `password`.
    pub allowed_authorize_types: Vec<String>,
    /// The client and its server, for the grant of client credentials.
    pub client_credentials: UpstreamClientCredentials,
    /// The user, the client and its server, for the grant of a user's password.
    pub password: UpstreamPasswordGrant,
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

/// `upstream_auth.oauth.password`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UpstreamPasswordGrant {
    /// Identifier of the client.
    pub client_id: String,
    /// Its secret; public clients have none.
    pub client_secret: String,
    /// The user on whose behalf the gateway calls the upstream.
    pub username: String,
    /// The user's password.
    pub password: String,
    /// URL of the server's token endpoint.
    pub token_url: String,
    /// Scopes to ask for.
    pub scopes: Vec<String>,
    /// Header with the token; `Authorization` if it has no name.
    pub header: CredentialHeader,
}

/// What an access token is asked for with, whatever the grant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UpstreamGrant<'g> {
    /// The member of `upstream_auth.oauth` that says it.
    pub field: &'static str,
    /// Identifier of the client.
    pub client_id: &'g str,
    /// The client's secret.
    pub client_secret: &'g str,
    /// Name and password of a user.
    pub user: Option<(&'g str, &'g str)>,
    /// URL of the server's token endpoint.
    pub token_url: &'g str,
    /// Scopes to ask for.
    pub scopes: &'g [String],
    /// Header with the token.
    pub header: &'g CredentialHeader,
}

impl UpstreamOAuth {
    /// The grant that is used.
    pub fn grant(&self) -> UpstreamGrant<'_> {
        if self.allowed_authorize_types.iter().any(|kind| kind == "password") {
            let own = &self.password;
            return UpstreamGrant {
                field: "password",
                client_id: &own.client_id,
                client_secret: &own.client_secret,
                user: Some((&own.username, &own.password)),
                token_url: &own.token_url,
                scopes: &own.scopes,
                header: &own.header,
            };
        }
        let own = &self.client_credentials;
        UpstreamGrant {
            field: "client_credentials",
            client_id: &own.client_id,
            client_secret: &own.client_secret,
            user: None,
            token_url: &own.token_url,
            scopes: &own.scopes,
            header: &own.header,
        }
    }
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
    for (field, header) in [("basic_auth", &auth.basic_auth.header), ("oauth", auth.oauth.grant().header)] {
        if !header.name.is_empty() && !is_token(&header.name) {
            findings.error(&at.key(field), "the header has no valid name");
        }
    }
    if auth.oauth.enabled {
        let at = at.key("oauth");
        let types = &auth.oauth.allowed_authorize_types;
        if !matches!(types.iter().map(String::as_str).collect::<Vec<_>>()[..], [] | ["clientCredentials" | "password"]) {
            findings.error(&at.key("allowed_authorize_types"), "must be clientCredentials or password, one of them");
        }
        let grant = auth.oauth.grant();
        if !["http://", "https://"].iter().any(|scheme| grant.token_url.starts_with(scheme)) {
            findings.error(&at.key(grant.field).key("token_url"), "must be an absolute URL such as http://host:8080/");
        }
    }
}
