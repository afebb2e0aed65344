//! A session in a store, with the displayed form of its key, because keys are stored under a digest.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::Session;

/// The stored form of a key.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSession {
    /// The key, or its hash as displayed.
    pub shown: String,
    /// The session as written.
    pub session: Session,
}

/// Same as `StoredSession`, with the session validated but not parsed: a tenth of the work, and no memory.
#[derive(Deserialize)]
struct Outline<'a> {
    #[serde(borrow)]
    shown: Cow<'a, str>,
    /// See [`StoredSession::to_bytes_until`].
    #[serde(default)]
    kept_until: Option<u64>,
    #[serde(rename = "session")]
    _session: IgnoredAny,
}

impl StoredSession {
    /// Parses a stored document; `None` if it is not one.
    pub fn parse(document: &[u8]) -> Option<StoredSession> {
        let value: Value = serde_json::from_slice(document).ok()?;
        let shown = value.get("shown")?.as_str()?.to_owned();
        let (session, _) = Session::from_value(value.get("session")?).ok()?;
        Some(StoredSession { shown, session })
    }

    /// The displayed key of a document, and its expiry in seconds since 1970, if the document contains one.
    pub fn outline(document: &[u8]) -> Option<(Cow<'_, str>, Option<u64>)> {
        let outline: Outline<'_> = serde_json::from_slice(document).ok()?;
        Some((outline.shown, outline.kept_until))
    }

    /// The displayed key of a document. `None` if the document is not JSON of this form; the session in it may still be invalid.
    pub fn shown(document: &[u8]) -> Option<Cow<'_, str>> {
        StoredSession::outline(document).map(|(shown, _)| shown)
    }

    /// The document to store.
    pub fn to_bytes(&self) -> Vec<u8> {
        json!({ "shown": self.shown, "session": self.session.to_json() }).to_string().into_bytes()
    }

    /// The document to store for a session with this expiry in seconds since 1970. It contains the expiry, because a walk over a
    /// store returns only documents.
    pub fn to_bytes_until(&self, kept_until: Option<u64>) -> Vec<u8> {
        let Some(kept_until) = kept_until else { return self.to_bytes() };
        json!({ "shown": self.shown, "kept_until": kept_until, "session": self.session.to_json() }).to_string().into_bytes()
    }
}

#[cfg(test)]
mod tests;
