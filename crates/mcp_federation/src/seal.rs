//! What clients keep for the federation: names of sessions, and states of calls that wait. Each has all that is to be known, sealed with a key that
//! all gateways of a cluster have: any of them serves it, and so does the next process after a restart. Nobody can make one, and one is good only for
//! the caller that it was made for.

use crate::event_place::EventIds;
use crate::session_marks::SessionMarks;
use crate::tasks::TaskIds;
use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// How long a session lasts.
const LIFE_S: u64 = 24 * 3_600;
/// Longest text: header lines have bounds.
const NAME_BYTES_MAX: usize = 6 << 10;

/// Seals and opens what clients keep.
pub struct SessionSeal {
    key: Option<RandomizedNonceKey>,
    /// Marks ids of events. They are too many for random nonces.
    event_key: [u8; 32],
    /// Marks ids of tasks, by which clients tell them apart.
    task_key: [u8; 32],
}

/// What is known of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionFacts {
    /// The protocol's version.
    #[serde(rename = "v")]
    pub version: String,
    /// Whose it is.
    #[serde(rename = "c")]
    pub caller: String,
    /// When it ends, in Unix seconds.
    #[serde(rename = "e")]
    pub ends_unix_s: u64,
    /// The sessions at the servers behind: name of the server, then its name of the session and its version.
    #[serde(rename = "s")]
    pub servers: BTreeMap<String, (String, String)>,
    /// What the client can do.
    #[serde(rename = "d", default, skip_serializing_if = "Value::is_null")]
    pub capabilities: Value,
}

/// What a client keeps of a call that waits for its answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WaitingFacts {
    /// Where the call waits.
    pub address: String,
    /// Whose it is.
    pub caller: String,
    /// What is called.
    pub method: String,
    /// The name of what is called.
    pub name: String,
    /// Which of its questions is asked.
    pub question: u32,
}

/// What a question in a session has as its id, for the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct QuestionFacts {
    /// Where the answer is waited for.
    pub address: String,
    /// Who is asked.
    pub caller: String,
}

impl SessionSeal {
    /// A seal for the sessions of one API, from a secret that all gateways of a cluster have.
    pub fn new(secret: &[u8], api: &str) -> Self {
        let derived = |purpose: &str| {
            let mut derived = blake3::Hasher::new_derive_key(purpose);
            derived.update(&(secret.len() as u64).to_le_bytes());
            derived.update(secret);
            derived.update(api.as_bytes());
            *derived.finalize().as_bytes()
        };
        let key = RandomizedNonceKey::new(&AES_256_GCM, &derived("tollgate mcp sessions")).ok();
        SessionSeal { key, event_key: derived("tollgate mcp events"), task_key: derived("tollgate mcp tasks") }
    }

    /// The ids of the events of a session.
    pub(crate) fn events(&self, session: &str) -> EventIds {
        EventIds(SessionMarks::new(&self.event_key, session))
    }

    /// The ids of the tasks of a session.
    pub(crate) fn tasks(&self, session: &str) -> TaskIds {
        TaskIds(SessionMarks::new(&self.task_key, session))
    }

    /// When a session that begins now ends.
    pub(crate) fn end(now_unix_s: u64) -> u64 {
        now_unix_s.saturating_add(LIFE_S)
    }

    /// The name of a session; `None` if it has too many servers.
    pub(crate) fn name(&self, facts: &SessionFacts) -> Option<String> {
        self.sealed("session", facts)
    }

    /// What a name says; `None` for one that was not made here, for this caller, or that has ended.
    pub(crate) fn facts(&self, name: &str, caller: &str, now_unix_s: u64) -> Option<SessionFacts> {
        let facts: SessionFacts = self.opened("session", name)?;
        (facts.caller == caller && facts.ends_unix_s > now_unix_s).then_some(facts)
    }

    /// The state of a call that waits.
    pub(crate) fn state(&self, facts: &WaitingFacts) -> Option<String> {
        self.sealed("waiting call", facts)
    }

    /// What such a state says; `None` for one that was not made here, for this caller.
    pub(crate) fn waiting(&self, state: &str, caller: &str) -> Option<WaitingFacts> {
        self.opened("waiting call", state).filter(|facts: &WaitingFacts| facts.caller == caller)
    }

    /// The id of a question.
    pub(crate) fn question(&self, facts: &QuestionFacts) -> Option<String> {
        self.sealed("question", facts)
    }

    /// What such an id says; `None` for one that was not made here, for this caller.
    pub(crate) fn asked(&self, id: &str, caller: &str) -> Option<QuestionFacts> {
        self.opened("question", id).filter(|facts: &QuestionFacts| facts.caller == caller)
    }

    /// Seals facts; `what` tells kinds of them apart. `None` if they are too long for a header line.
    pub fn sealed(&self, what: &str, facts: &impl Serialize) -> Option<String> {
        let mut bytes = serde_json::to_vec(facts).ok()?;
        let nonce = self.key.as_ref()?.seal_in_place_append_tag(Aad::from(what), &mut bytes).ok()?;
        Some(URL_SAFE_NO_PAD.encode([nonce.as_ref().as_slice(), &bytes].concat())).filter(|text| text.len() <= NAME_BYTES_MAX)
    }

    /// What was sealed; `None` for another kind, or if it was not sealed here.
    pub fn opened<T: DeserializeOwned>(&self, what: &str, text: &str) -> Option<T> {
        if text.len() > NAME_BYTES_MAX {
            return None;
        }
        let sealed = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (nonce, bytes) = sealed.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut bytes = bytes.to_vec();
        let opened = self.key.as_ref()?.open_in_place(nonce, Aad::from(what), &mut bytes).ok()?;
        serde_json::from_slice(opened).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::{SessionFacts, SessionSeal, WaitingFacts};

    #[test]
    fn a_name_is_good_for_its_caller_api_and_time_alone() {
        let facts = SessionFacts { version: "2025-11-25".into(), caller: "a".into(), ends_unix_s: 100, ..SessionFacts::default() };
        let seal = SessionSeal::new(b"secret", "api");
        let name = seal.name(&facts).unwrap();
        assert_eq!(seal.facts(&name, "a", 99), Some(facts.clone()));
        assert_eq!(SessionSeal::new(b"secret", "api").facts(&name, "a", 99), Some(facts.clone()));
        assert_eq!(seal.facts(&name, "b", 99), None);
        assert_eq!(seal.facts(&name, "a", 100), None);
        assert_eq!(SessionSeal::new(b"secret", "other").facts(&name, "a", 99), None);
        assert_eq!(SessionSeal::new(b"other", "api").facts(&name, "a", 99), None);
        let mut forged = name.clone().into_bytes();
        forged[20] ^= 1;
        assert_eq!(seal.facts(&String::from_utf8_lossy(&forged), "a", 99), None);
        assert_eq!(seal.facts("", "a", 99), None);
        let text = |text: &str| text.to_owned();
        let waiting =
            WaitingFacts { address: text(".1"), caller: text("a"), method: text("tools/call"), name: text("x"), question: 1 };
        let state = seal.state(&waiting).unwrap();
        assert_eq!(seal.waiting(&state, "a"), Some(waiting));
        assert_eq!(seal.waiting(&state, "b"), None);
        assert_eq!((seal.waiting(&name, "a"), seal.facts(&state, "a", 99)), (None, None));
        let servers = (0..200).map(|n| (n.to_string(), ("s".repeat(40), String::new()))).collect();
        assert_eq!(seal.name(&SessionFacts { servers, ..facts }), None);
    }
}
