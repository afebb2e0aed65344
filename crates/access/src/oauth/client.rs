//! A client: a program that may request tokens. Stored in Tyk's form.

use super::redirect;
use crate::secret::{random_bytes, random_text};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::io;
use subtle::ConstantTimeEq;
use tollgate_http::form::decode_form;
use tollgate_model::request_id::RequestId;
use utoipa::ToSchema;

/// Longest id and secret, in bytes. Generated ones have 32 and 48.
const TEXT_BYTES_MAX: usize = 1_024;

/// One client.
#[derive(Clone, Default)]
pub struct OauthClient {
    pub id: String,
    /// Whether the program cannot keep a secret, such as an app on a phone or in a browser (RFC 6749, section 2.1). It has a secret all the
    /// same, which is never shown and never accepted: a Tyk node on the same store would accept an empty one.
    pub is_public: bool,
    pub secret: String,
    /// One URI or several.
    pub redirect_uri: String,
    pub policy_id: String,
    /// Null, or an object that becomes the metadata of the client's tokens.
    pub meta_data: Value,
    pub description: String,
    /// From this time on it gets no tokens, in seconds since 1970; 0 for no end. Its tokens end then too.
    pub ends_unix_s: u64,
    /// Whether it gets no tokens until further notice.
    pub is_suspended: bool,
}

/// A client in answers to operators.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OAuthClient)]
pub struct ClientShown {
    /// Name of the client.
    client_id: String,
    /// Redirect URI; several are separated by `oauth_redirect_uri_separator`.
    redirect_uri: String,
    /// Policy of the client's tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    policy_id: Option<String>,
    /// Whether the client cannot keep a secret. It has none then, and gets tokens only with refresh tokens and with codes that have a PKCE
    /// proof (`S256`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    public: bool,
    /// Secret that the client presents to get a token; absent for a public client.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    secret: Option<String>,
    /// Object that becomes the metadata of the client's tokens.
    meta_data: Value,
    description: String,
    /// From this time on it gets no tokens, in seconds since 1970: another client has taken its place at the developer portal.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    ends_unix_s: Option<u64>,
    /// Whether the developer portal has suspended it: it gets no tokens.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    suspended: bool,
}

/// A client in requests of operators.
#[derive(Deserialize, ToSchema)]
#[schema(as = OAuthClientWritten)]
pub struct ClientWritten {
    /// Name of the client.
    client_id: Option<String>,
    /// Redirect URI; several are separated by `oauth_redirect_uri_separator`.
    redirect_uri: Option<String>,
    /// Policy of the client's tokens.
    policy_id: Option<String>,
    /// Secret that the client presents to get a token.
    secret: Option<String>,
    /// Whether the client cannot keep a secret. It has none then, and gets tokens only with refresh tokens and with codes that have a PKCE
    /// proof (`S256`). An update does not change it.
    public: Option<bool>,
    /// Object that becomes the metadata of the client's tokens.
    #[serde(default)]
    meta_data: Value,
    /// Description for people.
    description: Option<String>,
    /// API that the client is for.
    api_id: Option<String>,
}

/// A parsed request of an operator.
#[derive(Default)]
pub struct Written {
    pub client: OauthClient,
    /// API that the client is for; empty for the APIs of its policy.
    pub api_id: String,
}

impl OauthClient {
    /// Parses the stored form.
    pub fn parse(document: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(document).ok()?;
        let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Some(OauthClient {
            id: text("id"),
            is_public: value.get("public") == Some(&Value::Bool(true)),
            secret: text("secret"),
            redirect_uri: text("redirecturi"),
            policy_id: text("policyid"),
            meta_data: value.get("meta_data").cloned().unwrap_or_default(),
            description: text("description"),
            ends_unix_s: value.get("ends_unix_s").and_then(Value::as_u64).unwrap_or_default(),
            is_suspended: value.get("suspended") == Some(&Value::Bool(true)),
        })
    }

    /// The stored form.
    pub fn to_stored(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("id".to_owned(), self.id.as_str().into());
        fields.insert("secret".to_owned(), self.secret.as_str().into());
        fields.insert("redirecturi".to_owned(), self.redirect_uri.as_str().into());
        if !self.meta_data.is_null() {
            fields.insert("meta_data".to_owned(), self.meta_data.clone());
        }
        fields.insert("policyid".to_owned(), self.policy_id.as_str().into());
        fields.insert("description".to_owned(), self.description.as_str().into());
        if self.is_public {
            fields.insert("public".to_owned(), true.into());
        }
        if self.ends_unix_s != 0 {
            fields.insert("ends_unix_s".to_owned(), self.ends_unix_s.into());
        }
        if self.is_suspended {
            fields.insert("suspended".to_owned(), true.into());
        }
        Value::Object(fields)
    }

    /// Parses an operator's request.
    ///
    /// # Errors
    /// The reason why the client is invalid; `None` when the request is not a client at all.
    pub fn from_written(text: &[u8]) -> Result<Written, Option<&'static str>> {
        // Only an object: serde would also accept a list of the members' values.
        let Ok(document @ Value::Object(_)) = serde_json::from_slice(text) else { return Err(None) };
        let written = ClientWritten::deserialize(document).map_err(|_| None)?;
        let client = OauthClient {
            id: written.client_id.unwrap_or_default(),
            is_public: written.public.unwrap_or_default(),
            secret: written.secret.unwrap_or_default(),
            redirect_uri: written.redirect_uri.unwrap_or_default(),
            policy_id: written.policy_id.unwrap_or_default(),
            meta_data: written.meta_data,
            description: written.description.unwrap_or_default(),
            ..OauthClient::default()
        };
        let is_sound = |text: &str| text.len() <= TEXT_BYTES_MAX && !text.chars().any(char::is_control);
        if !is_sound(&client.id) || client.id.contains([':', '/']) {
            return Err(Some("client_id must have at most 1024 bytes, and no colon, slash or control character"));
        }
        if !is_sound(&client.secret) {
            return Err(Some("secret must have at most 1024 bytes, and no control character"));
        }
        if client.is_public && !client.secret.is_empty() {
            return Err(Some("a public client can have no secret"));
        }
        Ok(Written { client, api_id: written.api_id.unwrap_or_default() })
    }

    /// The form that operators see.
    pub fn to_shown(&self) -> ClientShown {
        ClientShown {
            client_id: self.id.clone(),
            redirect_uri: self.redirect_uri.clone(),
            policy_id: Some(self.policy_id.clone()).filter(|id| !id.is_empty()),
            public: self.is_public,
            secret: Some(self.secret.clone()).filter(|_| !self.is_public),
            meta_data: self.meta_data.clone(),
            description: self.description.clone(),
            ends_unix_s: Some(self.ends_unix_s).filter(|ends| *ends != 0),
            suspended: self.is_suspended,
        }
    }

    /// Whether it gets tokens at a time: it is not suspended, and has not ended.
    pub fn gets_tokens(&self, unix_s: u64) -> bool {
        !self.is_suspended && (self.ends_unix_s == 0 || unix_s < self.ends_unix_s)
    }

    /// Whether this is the client's secret, in constant time. Some programs form-encode secrets before they encode them in Base64, as RFC
    /// 6749 requires (section 2.3.1); more do not. False for a public client.
    pub fn secret_is(&self, guess: &str) -> bool {
        let is = |guess: &str| {
            bool::from(blake3::hash(guess.as_bytes()).as_bytes().ct_eq(blake3::hash(self.secret.as_bytes()).as_bytes()))
        };
        let unescaped = decode_form(guess).unwrap_or_default();
        (is(guess) | is(&unescaped)) && !self.secret.is_empty() && !self.is_public
    }

    /// The client's redirect URIs, the default one first.
    pub fn redirect_uris(&self, separator: &str) -> Vec<&str> {
        redirect::registered(&self.redirect_uri, separator)
    }
}

/// The id of a new client.
///
/// # Errors
/// The system has no randomness.
pub fn new_client_id() -> io::Result<String> {
    random_text()
}

/// The secret of a new client.
///
/// # Errors
/// As [`new_client_id`].
pub fn new_client_secret() -> io::Result<String> {
    new_opaque_text()
}

/// A meaningless text of 122 random bits: a UUID in Base64, which is Tyk's form of secrets and refresh tokens.
pub(super) fn new_opaque_text() -> io::Result<String> {
    Ok(STANDARD.encode(RequestId(u128::from_be_bytes(random_bytes()?)).to_string()))
}

#[cfg(test)]
mod tests;
