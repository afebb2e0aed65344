//! `tollgate.authorization_proxy` of a definition: clients register at the gateway, which is the only client that the identity provider knows.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{ApiDefinition, AuthMethod};
use crate::json_path::JsonPath;
use crate::problem::Findings;

/// `tollgate.authorization_proxy`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AuthorizationProxy {
    /// URL of the identity provider. Its metadata says where it gives codes and tokens.
    pub issuer: String,
    /// As which client the provider knows the gateway.
    pub client_id: String,
    /// The secret of that client, if it has one.
    pub client_secret: String,
    /// Scopes that are asked for if a client names none. The document of the API lists them.
    pub scopes: Vec<String>,
    /// Further parameters of requests for codes, such as `audience`.
    pub parameters: BTreeMap<String, String>,
    /// Where clients may have users sent back, `*` for any text; if empty, only to the user's own machine.
    pub redirect_uris: Vec<String>,
}

impl AuthorizationProxy {
    /// Adds its problems to `findings`.
    pub(super) fn check(&self, api: &ApiDefinition, findings: &mut Findings) {
        let at = JsonPath::of("tollgate.authorization_proxy");
        if api.use_keyless {
            findings.warning(&at, "the API takes requests without a token (\"use_keyless\"): nobody has to sign in");
        } else if api.is_on(AuthMethod::Jwt) && api.tollgate.jwt.allowed_audiences.is_empty() {
            let why = "the API takes tokens that the provider gave for other applications: set tollgate.jwt.allowed_audiences";
            findings.warning(&at, why);
        }
        if !api.is_mcp() {
            findings.error(&at, "is only for proxies of the Model Context Protocol (\"application_protocol\": \"mcp\")");
        }
        if api.tollgate.protected_resource.is_some() {
            findings.error(&at, "says itself who gives tokens: leave out tollgate.protected_resource");
        }
        let is_url =
            ["https://", "http://"].iter().any(|scheme| self.issuer.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()));
        if !is_url || self.issuer.contains(['?', '#']) || self.issuer.contains(char::is_whitespace) {
            findings.error(&at.key("issuer"), "must be an http or https URL without query");
        }
        if self.client_id.is_empty() {
            findings.error(&at.key("client_id"), "is missing");
        }
        for (index, scope) in self.scopes.iter().enumerate() {
            if scope.is_empty() || scope.contains(char::is_whitespace) {
                findings.error(&at.key("scopes").index(index), "must be one word");
            }
        }
        for name in self.parameters.keys().filter(|name| OWN.contains(&name.as_str())) {
            findings.error(&at.key("parameters").key(name), "is set by the gateway");
        }
    }
}

/// Parameters that the gateway sets.
const OWN: [&str; 8] =
    ["client_id", "client_secret", "redirect_uri", "response_type", "state", "scope", "code_challenge", "code_challenge_method"];
