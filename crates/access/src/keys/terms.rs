//! Settings of APIs for the keys that may call them: how long the store keeps their sessions, and whether a write resets their quotas.

use super::{Keys, key_expiry};
use std::collections::BTreeMap;
use std::sync::Arc;
use tollgate_model::session::{ApiLifetime, Lifetime, Session};

/// Settings of one API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyTerms {
    pub lifetime: ApiLifetime,
    /// `dont_set_quota_on_create`.
    pub keeps_quotas: bool,
}

impl Keys {
    /// Puts the settings of all served APIs into effect.
    pub fn set_terms(&self, terms: BTreeMap<String, KeyTerms>) {
        self.terms.store(Arc::new(terms));
    }

    /// Whether a write of this session leaves its quotas unchanged, whatever the caller asks for: all APIs that the session names must
    /// demand it.
    pub fn keeps_quotas(&self, session: &Session) -> bool {
        let applied = self.applied(session);
        let terms = self.terms.load();
        let keeps = |api: &String| terms.get(api).is_some_and(|terms| terms.keeps_quotas);
        !applied.access_rights.is_empty() && applied.access_rights.keys().all(keeps)
    }

    /// When the store deletes a session that is written now, in Unix seconds; `None` for never.
    pub(super) fn kept_until(&self, session: &Session, now_unix_s: u64) -> Option<u64> {
        let applied = self.applied(session);
        let terms = self.terms.load();
        let listed = applied.access_rights.keys().filter_map(|api| terms.get(api));
        let all = terms.values().filter(|_| applied.access_rights.is_empty());
        let apis = listed.chain(all).map(|terms| terms.lifetime);
        let now = i64::try_from(now_unix_s).unwrap_or(i64::MAX);
        match applied.lifetime(self.rules.lifetime, apis, now) {
            Lifetime::Forever => None,
            Lifetime::Seconds(seconds) => Some(now_unix_s.saturating_add(seconds)),
            Lifetime::Unset => key_expiry::forgotten_at(session),
        }
    }

    /// The session with its policies applied, or unchanged when they can't be applied.
    fn applied(&self, session: &Session) -> Session {
        self.with_policies(session).unwrap_or_else(|_| session.clone())
    }
}
