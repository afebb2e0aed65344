//! Who is signed in to the console. A session is known by a random token, of which only the digest is kept; it ends when it is not used for
//! a while, and in any case after some hours.

use crate::role::Role;
use crate::scope::OperatorScope;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// A session ends after this time without use.
pub const IDLE_S_MAX: u64 = 30 * 60;
/// A session ends after this time.
pub const LIFE_S_MAX: u64 = 12 * 60 * 60;
/// Sessions in memory, far more than a team has browsers; above it, the one that has been idle for longest ends.
pub const SESSIONS_MAX: usize = 1_024;

/// Who is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    /// Name of the user; [`crate::users::SECRET`] for someone who signed in with the control secret; `token:` and its name for a token. No
    /// user's name has a colon.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// What they reach.
    pub scope: OperatorScope,
}

impl Operator {
    /// The operator who is this user.
    pub fn of_user(user: &crate::users::User) -> Self {
        Operator { name: user.name.clone(), role: user.role, scope: user.scope.clone() }
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
}

impl OperatorSession {
    fn is_over(&self, now_unix_s: u64) -> bool {
        now_unix_s >= self.used_unix_s.saturating_add(IDLE_S_MAX) || now_unix_s >= self.begun_unix_s.saturating_add(LIFE_S_MAX)
    }
}

impl Sessions {
    /// Starts a session.
    pub fn start(&mut self, token: &str, operator: Operator, now_unix_s: u64) {
        self.sessions.retain(|_, session| !session.is_over(now_unix_s));
        if self.sessions.len() >= SESSIONS_MAX
            && let Some(idlest) = self.sessions.iter().min_by_key(|(_, session)| session.used_unix_s).map(|(digest, _)| *digest)
        {
            self.sessions.remove(&idlest);
        }
        self.sessions.insert(digest(token), OperatorSession { operator, begun_unix_s: now_unix_s, used_unix_s: now_unix_s });
    }

    /// Who has this token, and when the session ends at the latest. `is_use` tells whether a person did something, which keeps it going.
    pub fn find(&mut self, token: &str, is_use: bool, now_unix_s: u64) -> Option<(Operator, u64)> {
        let digest = digest(token);
        let session = self.sessions.get_mut(&digest)?;
        if session.is_over(now_unix_s) {
            self.sessions.remove(&digest);
            return None;
        }
        if is_use {
            session.used_unix_s = now_unix_s;
        }
        Some((session.operator.clone(), session.begun_unix_s.saturating_add(LIFE_S_MAX)))
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
