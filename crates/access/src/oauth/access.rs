//! The stored data of a token beside its session: its client, and how it can be refreshed. Stored in Tyk's form.

use serde_json::{Map, Value, json};
use tollgate_model::calendar;

/// One access token, with its refresh token if there is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessToken {
    pub client_id: String,
    pub redirect_uri: String,
    /// The token, or its digest where tokens are not stored.
    pub token: String,
    /// The refresh token in the same form; empty when there is none.
    pub refresh: String,
    pub expires_in_s: u64,
    pub scope: String,
    pub created_unix_s: u64,
    /// JSON of the session that was requested in place of the client's policy.
    pub session: Option<String>,
}

impl AccessToken {
    /// The stored form.
    pub fn to_stored(&self) -> Value {
        let mut fields = Map::new();
        // Tyk needs both members of a client.
        fields.insert("Client".to_owned(), json!({ "id": self.client_id, "redirecturi": self.redirect_uri }));
        fields.insert("AccessToken".to_owned(), self.token.as_str().into());
        fields.insert("RefreshToken".to_owned(), self.refresh.as_str().into());
        fields.insert("ExpiresIn".to_owned(), self.expires_in_s.into());
        fields.insert("Scope".to_owned(), self.scope.as_str().into());
        fields.insert("RedirectUri".to_owned(), self.redirect_uri.as_str().into());
        fields.insert("CreatedAt".to_owned(), calendar::rfc3339(self.created_unix_s).into());
        if let Some(session) = &self.session {
            fields.insert("UserData".to_owned(), session.as_str().into());
        }
        Value::Object(fields)
    }

    /// Parses the stored form, written here or by Tyk.
    pub fn parse(document: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(document).ok()?;
        Some(AccessToken {
            client_id: client_id(&value)?,
            redirect_uri: text(&value, "RedirectUri"),
            token: text(&value, "AccessToken"),
            refresh: text(&value, "RefreshToken"),
            expires_in_s: value.get("ExpiresIn").and_then(Value::as_u64).unwrap_or_default(),
            scope: text(&value, "Scope"),
            created_unix_s: unix_s(&text(&value, "CreatedAt")),
            session: Some(text(&value, "UserData")).filter(|session| !session.is_empty()),
        })
    }
}

/// A text member of a document; empty when it is missing or not a text.
pub(super) fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The client id in a document.
pub(super) fn client_id(value: &Value) -> Option<String> {
    let client = value.get("Client")?;
    let id = client.get("id").or_else(|| client.get("Id"))?.as_str()?;
    Some(id.to_owned()).filter(|id| !id.is_empty())
}

/// The Unix time of a date; 0 when it cannot be parsed.
fn unix_s(date: &str) -> u64 {
    calendar::parse(date).and_then(|unix_s| u64::try_from(unix_s).ok()).unwrap_or_default()
}
