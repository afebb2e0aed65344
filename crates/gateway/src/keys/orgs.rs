//! Organisations with a session: limits that all APIs of one share. Few, so they are kept compiled; stored like keys.

use super::limits::Source;
use super::{Counters, Key, Keys};
use std::sync::Arc;
use tollgate_model::key as key_format;
use tollgate_model::session::Session;
use tollgate_store::{Kind, Question, StoreFault};

/// One organisation.
pub struct Org {
    key: Key,
    counters: Arc<Counters>,
}

impl Keys {
    /// Lets `see` look at the session of an organisation, if it has one.
    #[inline]
    pub fn with_org<T>(&self, id: &str, see: impl FnOnce(&Key) -> T) -> Option<T> {
        self.orgs.pin().get(id).map(|org| see(&org.key))
    }

    /// The organisations that have a session, sorted.
    pub fn orgs(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.orgs.pin().keys().cloned().collect();
        ids.sort();
        ids
    }

    /// The session of an organisation with what is left of its quotas.
    pub fn org_session(&self, id: &str, now_unix_s: u64) -> Option<Session> {
        self.with_org(id, |key| key.live_session(now_unix_s))
    }

    /// Stores the session of an organisation. Its counters go on, unless they are to begin anew.
    pub async fn put_org(&self, id: &str, session: Session, reset_quota: bool) -> Result<(), StoreFault> {
        let value = session.to_json().to_string().into_bytes();
        self.store.ask(Question::Put { kind: Kind::OrgSession, id: id.to_owned(), value, expires_unix_s: None }).await?;
        let old = self.orgs.pin().get(id).map(|org| org.counters.clone());
        if reset_quota {
            self.forget_quotas(&digest(id), old.as_deref()).await?;
        }
        self.add_org(id, session, old.filter(|_| !reset_quota).unwrap_or_default());
        Ok(())
    }

    /// Removes the session of an organisation, and what it counted. False when there was none.
    pub async fn remove_org(&self, id: &str) -> Result<bool, StoreFault> {
        let existed = self.store.ask(Question::Delete { kind: Kind::OrgSession, id: id.to_owned() }).await?.existed()?;
        let removed = self.orgs.pin().remove(id).cloned();
        self.forget_quotas(&digest(id), removed.as_ref().map(|org| &*org.counters)).await?;
        Ok(existed || removed.is_some())
    }

    pub(super) fn load_orgs(&self) -> Result<(), StoreFault> {
        self.store.clone().for_each(Kind::OrgSession, &mut |id, document| match Session::parse(document) {
            Ok((session, _)) => self.add_org(id, session, Arc::default()),
            Err(_) => tracing::error!(org = id, "the stored session of an organisation can't be read: it is not limited"),
        })
    }

    fn add_org(&self, id: &str, session: Session, counters: Arc<Counters>) {
        let source = Source {
            rate: &|name| counters.rate(name, self.rules.limiter),
            quota: &|scope| self.quota(&digest(id), scope, &counters),
            patterns: self.rules.patterns,
        };
        let key = Key::compile(session, 0, &source);
        self.orgs.pin().insert(id.to_owned(), Arc::new(Org { key, counters }));
    }
}

/// What an organisation's counters are filed under; no key has such a text.
fn digest(id: &str) -> super::Digest {
    key_format::digest(&format!("\0org\0{id}"))
}
