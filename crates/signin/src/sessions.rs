//! Sessions of people who have signed in, at a provider or with a password. They are in the store: all gateways that share it know them, and a
//! restart ends none. A browser has a random token, of which the store has only the digest.
//!
//! All sessions of a person are one document, which is changed as a whole: no gateway brings back what another one has ended. A session is
//! bound to a text, such as the hash of a password, and ends everywhere at once when its caller binds it to another one.

use crate::once::digest;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use tollgate_access::secret::random_text;
use tollgate_store::{ChangedDocument, DocumentSpace, Store, StoreFault, StoreFaultKind, change_document};

/// Sessions of a person at most, more than one has browsers. Beyond it, the one that has been idle for longest ends.
const SESSIONS_MAX: usize = 32;
/// A use is noted if the last note is older, so that a busy page costs the store one write in this time.
const USE_NOTED_AFTER_S: u64 = 60;
/// Hexadecimal digits of a person in a token.
const HOLDER_DIGITS: usize = 32;
/// Hexadecimal digits of a token.
const TOKEN_DIGITS: usize = HOLDER_DIGITS + 64;

/// The sessions in one space of a store.
#[derive(Clone, Copy)]
pub struct PeopleSessions<'s> {
    store: &'s dyn Store,
    space: DocumentSpace,
}

/// How long a session lasts, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionLife {
    /// In any case.
    pub life_s: u64,
    /// Without use, within a minute.
    pub idle_s: u64,
}

/// A session that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonSession<P> {
    /// What was kept of the person.
    pub person: P,
    /// When it began, in seconds since 1970.
    pub begun_unix_s: u64,
    /// When it ends at the latest, in seconds since 1970.
    pub ends_unix_s: u64,
    token: String,
    bound: String,
    used_unix_s: u64,
}

/// The document of a person: each session by the digest of its token.
#[derive(Default, Serialize, Deserialize)]
struct SessionsDocument {
    sessions: BTreeMap<String, DocumentedSession>,
}

#[derive(Serialize, Deserialize)]
struct DocumentedSession {
    person: Value,
    bound: String,
    begun_unix_s: u64,
    used_unix_s: u64,
    ends_unix_s: u64,
    idle_s: u64,
}

/// Why a document stays as it is.
enum SessionUnchanged {
    /// It has no such session.
    Missing,
    Fault(StoreFault),
}

impl<'s> PeopleSessions<'s> {
    /// The sessions in a space.
    pub fn new(store: &'s dyn Store, space: DocumentSpace) -> Self {
        PeopleSessions { store, space }
    }

    /// Starts a session of `holder`, and returns its token, which nobody has seen before. `person` comes back with each [`PeopleSessions::find`].
    ///
    /// # Errors
    /// The store does not answer, or the system has no random numbers.
    pub async fn start(
        &self,
        holder: &str,
        person: &impl Serialize,
        bound_to: &str,
        life: SessionLife,
        now_unix_s: u64,
    ) -> Result<String, StoreFault> {
        let holder: String = digest(holder).chars().take(HOLDER_DIGITS).collect();
        let [Ok(one), Ok(other)] = [random_text(), random_text()] else {
            return Err(StoreFault::new(StoreFaultKind::Io, "the system has no random numbers"));
        };
        let token = format!("{holder}{one}{other}");
        let person = serde_json::to_value(person).map_err(|error| StoreFault::new(StoreFaultKind::Mismatch, error))?;
        let (begun_unix_s, used_unix_s, ends_unix_s) = (now_unix_s, now_unix_s, now_unix_s.saturating_add(life.life_s));
        let start = |document: &mut SessionsDocument| {
            document.make_room();
            let (person, bound) = (person.clone(), bound(&token, bound_to));
            let session = DocumentedSession { person, bound, begun_unix_s, used_unix_s, ends_unix_s, idle_s: life.idle_s };
            document.sessions.insert(digest(&token), session);
            true
        };
        self.change(&token, now_unix_s, start).await?;
        Ok(token)
    }

    /// The session with a token. Whoever asks must see to it that it [is bound](PersonSession::is_bound_to) to what is right now.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn find<P: DeserializeOwned>(&self, token: &str, now_unix_s: u64) -> Result<Option<PersonSession<P>>, StoreFault> {
        let Some(id) = document_id(token) else { return Ok(None) };
        let stored = self.store.read(self.space, id.clone()).await?;
        let Some(mut document) = stored.map(|text| SessionsDocument::read(&id, &text)).transpose()? else { return Ok(None) };
        let found = document.sessions.remove(&digest(token)).filter(|session| !session.is_over(now_unix_s));
        let Some(DocumentedSession { person, bound, begun_unix_s, used_unix_s, ends_unix_s, .. }) = found else { return Ok(None) };
        // What an earlier version kept may have another form: its session is over.
        let Ok(person) = serde_json::from_value(person) else { return Ok(None) };
        Ok(Some(PersonSession { person, begun_unix_s, ends_unix_s, token: token.to_owned(), bound, used_unix_s }))
    }

    /// Notes that the person did something, which keeps the session going.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn note_use<P>(&self, session: &PersonSession<P>, now_unix_s: u64) -> Result<(), StoreFault> {
        if now_unix_s < session.used_unix_s.saturating_add(USE_NOTED_AFTER_S) {
            return Ok(());
        }
        let note = |session: &mut DocumentedSession| session.used_unix_s = now_unix_s;
        self.change_one(&session.token, now_unix_s, note).await
    }

    /// Binds a session to another text.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn bind(&self, token: &str, bound_to: &str, now_unix_s: u64) -> Result<(), StoreFault> {
        self.change_one(token, now_unix_s, |session| session.bound = bound(token, bound_to)).await
    }

    /// Ends a session, on all gateways.
    ///
    /// # Errors
    /// The store does not answer; the session may go on.
    pub async fn end(&self, token: &str, now_unix_s: u64) -> Result<(), StoreFault> {
        self.change(token, now_unix_s, |document| document.sessions.remove(&digest(token)).is_some()).await
    }

    async fn change_one(&self, token: &str, now_unix_s: u64, change: impl Fn(&mut DocumentedSession)) -> Result<(), StoreFault> {
        let one = |document: &mut SessionsDocument| document.sessions.get_mut(&digest(token)).map(&change).is_some();
        self.change(token, now_unix_s, one).await
    }

    /// Changes the document of a token's person, if `change` says that it did.
    async fn change(&self, token: &str, now_unix_s: u64, change: impl Fn(&mut SessionsDocument) -> bool) -> Result<(), StoreFault> {
        let Some(id) = document_id(token) else { return Ok(()) };
        let change = |old: Option<&[u8]>| {
            let mut document = old.map(|text| SessionsDocument::read(&id, text)).transpose()?.unwrap_or_default();
            document.sessions.retain(|_, session| !session.is_over(now_unix_s));
            if !change(&mut document) {
                return Err(SessionUnchanged::Missing);
            }
            let value = serde_json::to_vec(&document).map_err(|error| StoreFault::new(StoreFaultKind::Mismatch, error))?;
            // Without a session it is of no use any more.
            let end = document.sessions.values().map(DocumentedSession::end).max().unwrap_or(now_unix_s.saturating_add(1));
            Ok(ChangedDocument { value, expires_unix_s: Some(end), told: () })
        };
        match change_document(self.store, self.space, &id, change).await {
            Ok(()) | Err(SessionUnchanged::Missing) => Ok(()),
            Err(SessionUnchanged::Fault(fault)) => Err(fault),
        }
    }
}

impl<P> PersonSession<P> {
    /// Whether the session was bound to this text last.
    pub fn is_bound_to(&self, text: &str) -> bool {
        self.bound == bound(&self.token, text)
    }
}

impl SessionsDocument {
    fn read(id: &str, text: &[u8]) -> Result<Self, StoreFault> {
        serde_json::from_slice(text).map_err(|error| StoreFault::new(StoreFaultKind::Corrupt, format_args!("{id}: {error}")))
    }

    /// Ends the idlest sessions, so that one more has room.
    fn make_room(&mut self) {
        while self.sessions.len() >= SESSIONS_MAX
            && let Some(idlest) =
                self.sessions.iter().min_by_key(|(_, session)| session.used_unix_s).map(|(digest, _)| digest.clone())
        {
            self.sessions.remove(&idlest);
        }
    }
}

impl DocumentedSession {
    fn end(&self) -> u64 {
        self.ends_unix_s.min(self.used_unix_s.saturating_add(self.idle_s))
    }

    fn is_over(&self, now_unix_s: u64) -> bool {
        now_unix_s >= self.end()
    }
}

impl From<StoreFault> for SessionUnchanged {
    fn from(fault: StoreFault) -> Self {
        SessionUnchanged::Fault(fault)
    }
}

/// The document of a token's person; `None` for a text that is no token, which is not worth a question to the store.
fn document_id(token: &str) -> Option<String> {
    let is_token = token.len() == TOKEN_DIGITS && token.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    let holder = token.get(..HOLDER_DIGITS).filter(|_| is_token)?;
    Some(format!("sessions/{holder}"))
}

/// What a session keeps of the text that it is bound to. The token is in it, so that the store's content alone tells nothing of a secret text.
fn bound(token: &str, text: &str) -> String {
    digest(&format!("{token} {text}"))
}

#[cfg(test)]
mod tests;
