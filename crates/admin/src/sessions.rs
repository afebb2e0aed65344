//! Who is signed in to the console. A session is known by a random token, of which only the digest is kept; it ends when it is not used for
//! a while, and in any case after some hours.

use crate::role::Role;
use crate::scope::OperatorScope;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// A session ends after this time without use.
pub const IDLE_S_MAX: u64 = 30 * 60;
/// A session ends after this time, unless its provider's settings say otherwise.
pub const LIFE_S_MAX: u64 = 12 * 60 * 60;
/// Sessions in memory, far more than a team has browsers; above it, the one that has been idle for longest ends.
pub const SESSIONS_MAX: usize = 1_024;

/// Who is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    /// Name of the user; [`crate::users::SECRET`] for someone who signed in with the control secret; `token:` and its name for a token;
    /// the provider's name, a colon and a name there. No user's name has a colon.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// What they reach.
    pub scope: OperatorScope,
    /// Where they signed in, if at a provider.
    pub provider: Option<ProviderSession>,
}

/// A session at a provider of OpenID Connect, which can end it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderSession {
    /// Name of the provider in the configuration.
    pub provider: String,
    /// `sub`: who it is at the provider.
    pub subject: String,
    /// `sid`: the session at the provider, if it names it.
    pub sid: Option<String>,
}

/// A session that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSession {
    /// Who is signed in.
    pub operator: Operator,
    /// When it began, in seconds since 1970.
    pub begun_unix_s: u64,
    /// When it ends at the latest.
    pub ends_unix_s: u64,
}

impl Operator {
    /// The operator who is this user.
    pub fn of_user(user: &crate::users::User) -> Self {
        Operator { name: user.name.clone(), role: user.role, scope: user.scope.clone(), provider: None }
    }
}

/// All sessions.
#[derive(Debug, Default)]
pub struct Sessions {
    sessions: HashMap<[u8; 32], OperatorSession>,
}

#[derive(Debug)]
struct OperatorSession {
    operator: Operator,
    begun_unix_s: u64,
    used_unix_s: u64,
    life_s: u64,
}

impl OperatorSession {
    fn ends_unix_s(&self) -> u64 {
        self.begun_unix_s.saturating_add(self.life_s)
    }

    fn is_over(&self, now_unix_s: u64) -> bool {
        now_unix_s >= self.used_unix_s.saturating_add(IDLE_S_MAX) || now_unix_s >= self.ends_unix_s()
    }
}

impl Sessions {
    /// Starts a session that ends after `life_s` at the latest.
    pub fn start(&mut self, token: &str, operator: Operator, life_s: u64, now_unix_s: u64) {
        self.sessions.retain(|_, session| !session.is_over(now_unix_s));
        if self.sessions.len() >= SESSIONS_MAX
            && let Some(idlest) = self.sessions.iter().min_by_key(|(_, session)| session.used_unix_s).map(|(digest, _)| *digest)
        {
            self.sessions.remove(&idlest);
        }
        let session = OperatorSession { operator, begun_unix_s: now_unix_s, used_unix_s: now_unix_s, life_s };
        self.sessions.insert(digest(token), session);
    }

    /// The session with this token. `is_use` tells whether a person did something, which keeps it going.
    pub fn find(&mut self, token: &str, is_use: bool, now_unix_s: u64) -> Option<FoundSession> {
        let digest = digest(token);
        let session = self.sessions.get_mut(&digest)?;
        if session.is_over(now_unix_s) {
            self.sessions.remove(&digest);
            return None;
        }
        if is_use {
            session.used_unix_s = now_unix_s;
        }
        let (operator, begun_unix_s, ends_unix_s) = (session.operator.clone(), session.begun_unix_s, session.ends_unix_s());
        Some(FoundSession { operator, begun_unix_s, ends_unix_s })
    }

    /// Ends a session.
    pub fn end(&mut self, token: &str) {
        self.sessions.remove(&digest(token));
    }

    /// Ends all sessions of a user but the one with the token `kept`.
    pub fn end_of(&mut self, name: &str, kept: Option<&str>) {
        let kept = kept.map(digest);
        self.sessions.retain(|digest, session| session.operator.name != name || Some(*digest) == kept);
    }
}

/// The map's keys are digests, so that a search reveals nothing of a token by its time.
fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

#[cfg(test)]
mod tests;
