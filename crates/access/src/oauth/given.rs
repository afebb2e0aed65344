//! An issued token, as the answer shows it.

use serde_json::{Map, Value};

/// A token that was issued.
pub struct Given {
    pub token: String,
    pub refresh: Option<String>,
    pub expires_in_s: u64,
    pub scope: String,
}

impl Given {
    /// The answer's body, with its members sorted by name.
    pub fn to_json(&self) -> Value {
        let mut told = Map::new();
        told.insert("access_token".to_owned(), self.token.as_str().into());
        told.insert("expires_in".to_owned(), self.expires_in_s.into());
        if let Some(refresh) = &self.refresh {
            told.insert("refresh_token".to_owned(), refresh.as_str().into());
        }
        if !self.scope.is_empty() {
            told.insert("scope".to_owned(), self.scope.as_str().into());
        }
        told.insert("token_type".to_owned(), "bearer".into());
        Value::Object(told)
    }
}
