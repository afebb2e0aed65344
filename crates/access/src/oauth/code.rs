//! An authorisation code: a user's consent, until the client redeems it. Stored in Tyk's form, with the challenge of RFC 7636 added.

use super::access::{client_id, text};
use super::pkce::Challenge;
use serde_json::{Map, Value, json};
use tollgate_model::api::PkceMethod;
use tollgate_model::calendar::rfc3339;

/// Seconds for which a code can be redeemed.
pub(super) const CODE_S: u64 = 250;

/// One code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    pub client_id: String,
    pub redirect_uri: String,
    pub scope: String,
    pub state: String,
    /// JSON of the session that the token gets in place of the client's policy.
    pub session: Option<String>,
    pub challenge: Option<Challenge>,
}

impl Code {
    /// The stored form; `kept` is the code or its digest.
    pub fn to_stored(&self, kept: &str, created_unix_s: u64) -> Value {
        let mut fields = Map::new();
        fields.insert("Client".to_owned(), json!({ "id": self.client_id, "redirecturi": self.redirect_uri }));
        fields.insert("Code".to_owned(), kept.into());
        fields.insert("ExpiresIn".to_owned(), CODE_S.into());
        fields.insert("Scope".to_owned(), self.scope.as_str().into());
        fields.insert("RedirectUri".to_owned(), self.redirect_uri.as_str().into());
        fields.insert("State".to_owned(), self.state.as_str().into());
        fields.insert("CreatedAt".to_owned(), rfc3339(created_unix_s).into());
        fields.insert("UserData".to_owned(), self.session.as_deref().unwrap_or_default().into());
        if let Some(challenge) = &self.challenge {
            fields.insert("CodeChallenge".to_owned(), challenge.text.as_str().into());
            fields.insert("CodeChallengeMethod".to_owned(), challenge.method.name().into());
        }
        Value::Object(fields)
    }

    /// Parses the stored form, written here or by Tyk.
    pub fn parse(document: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(document).ok()?;
        let challenge = text(&value, "CodeChallenge");
        let challenge = match challenge.is_empty() {
            true => None,
            // An unreadable challenge must not count as a missing one.
            false => Some(Challenge { method: PkceMethod::from_name(&text(&value, "CodeChallengeMethod"))?, text: challenge }),
        };
        Some(Code {
            client_id: client_id(&value)?,
            redirect_uri: text(&value, "RedirectUri"),
            scope: text(&value, "Scope"),
            state: text(&value, "State"),
            session: Some(text(&value, "UserData")).filter(|session| !session.is_empty()),
            challenge,
        })
    }
}
