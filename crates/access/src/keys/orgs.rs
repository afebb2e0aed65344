//! Organisations with a session: limits that all APIs of an organisation share. There are few, so all are kept compiled. They are stored
//! like keys.

use super::limits::LimitSource;
use super::shared::SharedKeys;
use super::writes::to_its_end;
use super::{Counters, Key, Keys};
use std::sync::Arc;
use std::time::Duration;
use tollgate_model::key as key_format;
use tollgate_model::session::Session;
use tollgate_store::{DocumentSpace, StoreFault};

/// Pause between attempts to read the organisations of a shared store.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// Seconds after which records of an organisation without a session expire, with `enforce_org_data_age`; a week, as in Tyk.
const DATA_AGE_S: i64 = 7 * 24 * 3600;

/// One organisation.
pub(super) struct Org {
    key: Key,
    counters: Arc<Counters>,
}

impl Keys {
    /// Passes the session of an organisation to `see`, if it has one.
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

    /// The session of an organisation with the remaining quotas filled in.
    pub fn org_session(&self, id: &str, now_unix_s: u64) -> Option<Session> {
        self.with_org(id, |key| key.live_session(key.session.clone(), now_unix_s))
    }

    /// Seconds after which the records of an organisation's requests expire; 0 or less when the organisation does not set it.
    pub fn data_age_s(&self, id: &str) -> i64 {
        self.with_org(id, |key| key.session.data_expires).unwrap_or(DATA_AGE_S)
    }

    /// Stores the session of an organisation. Its counters continue unless `reset_quota` is set.
    pub async fn put_org(self: &Arc<Self>, id: &str, session: Session, reset_quota: bool) -> Result<(), StoreFault> {
        let (keys, id) = (self.clone(), id.to_owned());
        to_its_end(async move {
            let _turn = keys.order.turn(&digest(&id)).await;
            keys.put_org_in_turn(&id, session, reset_quota).await
        })
        .await
    }

    async fn put_org_in_turn(&self, id: &str, session: Session, reset_quota: bool) -> Result<(), StoreFault> {
        let value = session.to_json().to_string().into_bytes();
        self.store.write(DocumentSpace::OrgSession, id.to_owned(), value, None).await?;
        let old = self.orgs.pin().get(id).map(|org| org.counters.clone());
        if reset_quota {
            self.forget_org_quotas(id, old.as_deref()).await?;
        }
        self.announce_org(id).await;
        self.add_org(id, session, old.filter(|_| !reset_quota).unwrap_or_default());
        Ok(())
    }

    /// Removes the session and the counters of an organisation. False when there was none.
    pub async fn remove_org(self: &Arc<Self>, id: &str) -> Result<bool, StoreFault> {
        let (keys, id) = (self.clone(), id.to_owned());
        to_its_end(async move {
            let _turn = keys.order.turn(&digest(&id)).await;
            keys.remove_org_in_turn(&id).await
        })
        .await
    }

    async fn remove_org_in_turn(&self, id: &str) -> Result<bool, StoreFault> {
        let existed = self.store.remove(DocumentSpace::OrgSession, id.to_owned()).await?;
        let removed = self.orgs.pin().remove(id).cloned();
        self.announce_org(id).await;
        self.forget_org_quotas(id, removed.as_ref().map(|org| &*org.counters)).await?;
        Ok(existed || removed.is_some())
    }

    async fn forget_org_quotas(&self, id: &str, counters: Option<&Counters>) -> Result<(), StoreFault> {
        let Some(shared) = &self.shared else {
            return match self.forget_quotas_of(&digest(id), counters) {
                Some(forgotten) => forgotten.await.map(|_| ()),
                None => Ok(()),
            };
        };
        if let Some(counters) = counters {
            counters.retire();
        }
        shared.forget_quotas(std::iter::once(super::shared_quota_name(id, ""))).await
    }

    async fn announce_org(&self, id: &str) {
        if let Some(shared) = &self.shared {
            shared.announce_org(id).await;
        }
    }

    /// Keeps the organisations in memory equal to those of a shared store, for the lifetime of the process. They are few: all are read
    /// again when one changes.
    pub async fn follow_orgs(self: Arc<Self>) {
        let Some(shared) = self.shared.clone() else { return };
        loop {
            shared.orgs_changed.notified().await;
            while let Err(fault) = self.read_orgs(&shared).await {
                tracing::debug!(%fault, "organisations can't be read");
                tokio::time::sleep(RETRY_AFTER).await;
            }
        }
    }

    async fn read_orgs(&self, shared: &SharedKeys) -> Result<(), StoreFault> {
        let ids = shared.cluster.redis.ids(DocumentSpace::OrgSession).await?;
        self.orgs.pin().retain(|id, _| ids.contains(id));
        for id in ids {
            let _turn = self.order.turn(&digest(&id)).await;
            let Some((document, _)) = shared.cluster.redis.document(DocumentSpace::OrgSession, &id).await? else { continue };
            let Ok((session, _)) = Session::parse(&document) else {
                tracing::error!(org = id, "the stored session of an organisation can't be read: it is not limited");
                continue;
            };
            let counters = self.orgs.pin().get(&id).map(|org| org.counters.clone()).unwrap_or_default();
            self.add_org(&id, session, counters);
        }
        Ok(())
    }

    pub(super) fn load_orgs(&self) -> Result<(), StoreFault> {
        self.store.clone().for_each(DocumentSpace::OrgSession, &mut |id, document| match Session::parse(document) {
            Ok((session, _)) => self.add_org(id, session, Arc::default()),
            Err(_) => tracing::error!(org = id, "the stored session of an organisation can't be read: it is not limited"),
        })
    }

    pub(super) fn add_org(&self, id: &str, session: Session, counters: Arc<Counters>) {
        let source = LimitSource {
            rate: &|name| counters.rate(name, |name| self.new_rate(&format!("org.{id}"), name)),
            quota: &|scope| self.quota(&digest(id), id, scope, &counters),
            patterns: &self.patterns,
            smooths: self.rules.smooths_rates,
        };
        let key = Key::compile(session, 0, &source);
        self.orgs.pin().insert(id.to_owned(), Arc::new(Org { key, counters }));
    }
}

/// The digest that an organisation's counters are stored under; no key has such a text.
fn digest(id: &str) -> super::Digest {
    key_format::digest(&format!("\0org\0{id}"))
}
