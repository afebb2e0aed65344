//! A client: a program that may ask for tokens. Written down as Tyk does.

use super::redirect;
use crate::base::form::decode_form;
use crate::base::request_id::RequestId;
use crate::base::secret::{random_bytes, random_text};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::io;
use subtle::ConstantTimeEq;
use utoipa::ToSchema;

/// Longest id and secret. Those that are made here have 32 and 48 bytes.
const TEXT_BYTES_MAX: usize = 1_024;

/// One client.
#[derive(Clone, Default)]
pub(crate) struct OauthClient {
    pub id: String,
    /// A program that can keep no secret, such as an app on a phone or in a browser (RFC 6749, section 2.1). It has one all the same, which is
    /// told to nobody and not accepted: a Tyk node on the same store would take an empty one.
    pub is_public: bool,
    pub secret: String,
    /// One or several.
    pub redirect_uri: String,
    pub policy_id: String,
    /// Null, or what tokens get as metadata.
    pub meta_data: Value,
    pub description: String,
}

/// A client as an operator sees it.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OAuthClient)]
pub(crate) struct ClientShown {
    /// Its name.
    client_id: String,
    /// Where its users may be sent back to; several with `oauth_redirect_uri_separator` between them.
    redirect_uri: String,
    /// The policy of its tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    policy_id: Option<String>,
    /// It can keep no secret and has none: it gets tokens for codes with a proof (PKCE, `S256`) and refresh tokens alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    public: bool,
    /// What it shows for a token; not there for a public client.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    secret: Option<String>,
    /// An object that tokens get as metadata.
    meta_data: Value,
    description: String,
}

/// A client as an operator writes it.
#[derive(Deserialize, ToSchema)]
#[schema(as = OAuthClientWritten)]
pub(crate) struct ClientWritten {
    /// Its name.
    client_id: Option<String>,
    /// Where its users may be sent back to; several with `oauth_redirect_uri_separator` between them.
    redirect_uri: Option<String>,
    /// The policy of its tokens.
    policy_id: Option<String>,
    /// What it shows for a token.
    secret: Option<String>,
    /// It can keep no secret and has none: it gets tokens for codes with a proof (PKCE, `S256`) and refresh tokens alone. An update does
    /// not change it.
    public: Option<bool>,
    /// An object that tokens get as metadata.
    #[serde(default)]
    meta_data: Value,
    /// For people.
    description: Option<String>,
    /// The API that it is for.
    api_id: Option<String>,
}

/// What an operator writes about a client.
#[derive(Default)]
pub(crate) struct Written {
    pub client: OauthClient,
    /// The API that it is for; empty for those of its policy.
    pub api_id: String,
}

impl OauthClient {
    /// A client as it is stored.
    pub(crate) fn parse(document: &[u8]) -> Option<Self> {
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
        })
    }

    /// As it is stored.
    pub(crate) fn to_stored(&self) -> Value {
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
        Value::Object(fields)
    }

    /// A client as an operator writes it.
    ///
    /// # Errors
    /// What is wrong with it; `None` when it is no client at all.
    pub(crate) fn from_written(text: &[u8]) -> Result<Written, Option<&'static str>> {
        // An object alone: a list of its members' values is none.
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

    /// As operators see it.
    pub(crate) fn to_shown(&self) -> ClientShown {
        ClientShown {
            client_id: self.id.clone(),
            redirect_uri: self.redirect_uri.clone(),
            policy_id: Some(self.policy_id.clone()).filter(|id| !id.is_empty()),
            public: self.is_public,
            secret: Some(self.secret.clone()).filter(|_| !self.is_public),
            meta_data: self.meta_data.clone(),
            description: self.description.clone(),
        }
    }

    /// Whether this is its secret, in a time that does not depend on either. Some programs escape secrets before they encode them, as
    /// RFC 6749 wants it (section 2.3.1); more do not. A public client has none.
    pub(crate) fn secret_is(&self, guess: &str) -> bool {
        let is = |guess: &str| {
            bool::from(blake3::hash(guess.as_bytes()).as_bytes().ct_eq(blake3::hash(self.secret.as_bytes()).as_bytes()))
        };
        let unescaped = decode_form(guess).unwrap_or_default();
        (is(guess) | is(&unescaped)) && !self.secret.is_empty() && !self.is_public
    }

    /// Where its users may be sent back to, the usual one first.
    pub(crate) fn redirect_uris(&self, separator: &str) -> Vec<&str> {
        redirect::registered(&self.redirect_uri, separator)
    }
}

/// The id of a new client.
///
/// # Errors
/// The system has no randomness to give.
pub(crate) fn new_client_id() -> io::Result<String> {
    random_text()
}

/// The secret of a new client.
///
/// # Errors
/// As [`new_client_id`].
pub(crate) fn new_client_secret() -> io::Result<String> {
    new_opaque_text()
}

/// A text of 122 random bits that means nothing: a UUID in Base64, which is the form that Tyk gives to secrets and refresh tokens.
pub(super) fn new_opaque_text() -> io::Result<String> {
    Ok(STANDARD.encode(RequestId(u128::from_be_bytes(random_bytes()?)).to_string()))
}

#[cfg(test)]
mod tests;
