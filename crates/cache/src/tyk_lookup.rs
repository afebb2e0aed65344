//! Look-ups by Tyk's rules.

use crate::answer::CachedResponse;
use crate::api::ApiCache;
use crate::body::StoredBody;
use crate::cache_status::ForwardReason;
use crate::figures::count;
use crate::fill::{Fill, FillRules, FillTask};
use crate::generations::Purged;
use crate::head::RequestTerms;
use crate::key::{CacheKey, KeyHasher};
use crate::lines::LineBlock;
use crate::lookup::Decision;
use crate::request::{MethodClass, RequestFacts};
use crate::store::{Stored, TableEntry};
use crate::tyk::{TykFill, TykPayload, TykRules, tyk_head};
use std::sync::Arc;

/// A request that Tyk's cache handles: its method and path are configured.
#[derive(Clone, Copy)]
pub struct TykRequest<'a> {
    /// [`TykKeyParts::key`].
    pub key: &'a str,
    /// The method.
    pub method: &'a str,
    /// Path and query, for purges.
    pub target: &'a [u8],
    /// Value of the first If-None-Match line.
    pub if_none_match: Option<&'a [u8]>,
    /// Rules for storing its response.
    pub rules: &'a TykRules,
}

impl ApiCache {
    /// Decides how a request is handled by Tyk's rules: [`Decision::Serve`] or [`Decision::Fetch`]. Requests do not wait for each other, as
    /// in Tyk, because each caller has its own entries.
    pub fn lookup_tyk(self: &Arc<Self>, request: &TykRequest<'_>, now_ms: u64) -> Decision {
        let key = self.tyk_key(request);
        if let Some(TableEntry::Response(stored)) = self.partition.get(&key) {
            if stored.purged(&self.cache.generations) == Purged::No && stored.head.freshness(now_ms).is_fresh() {
                count(&self.counters.hits);
                return Decision::Serve(tyk_answer(stored, request));
            }
            self.partition.remove(&stored);
        }
        count(&self.counters.misses);
        Decision::Fetch(self.tyk_fill(request, key, now_ms))
    }

    /// Stores the entry of a second cache tier, and answers with it. `None` when there is no memory for it.
    pub fn adopt_tyk(self: &Arc<Self>, request: &TykRequest<'_>, payload: &TykPayload, now_ms: u64) -> Option<CachedResponse> {
        let ttl_s = payload.expires_s.saturating_sub(now_ms / 1000);
        let head = tyk_head(payload.status, &payload.lines, ttl_s, now_ms).ok()?;
        let labels = self.labels().of_request(None, request.target).into();
        let charge = self.partition.charge(StoredBody::bytes_max(payload.body.len() as u64))?;
        let body = StoredBody::new(None, charge);
        body.push(&payload.body, self.partition.object_bytes_max()).ok()?;
        body.finish();
        let fixed = self.partition.charge(Stored::fixed_bytes(&head, 0))?;
        let born = (labels, self.cache.generations.now());
        let stored = Arc::new(Stored::new(self.tyk_key(request), head, Arc::new(body), born, &self.counters, fixed));
        self.partition.insert(Arc::clone(&stored));
        count(&self.counters.hits);
        Some(tyk_answer(stored, request))
    }

    fn tyk_key(&self, request: &TykRequest<'_>) -> CacheKey {
        let mut hasher = KeyHasher::keyed(&self.cache.settings.secret, "tyk");
        hasher.add(self.id().as_bytes());
        hasher.add(request.key.as_bytes());
        hasher.finish()
    }

    fn tyk_fill(self: &Arc<Self>, request: &TykRequest<'_>, key: CacheKey, now_ms: u64) -> Fill {
        Fill::new(FillTask {
            api: Arc::clone(self),
            primary: key,
            key,
            stale: None,
            leader: None,
            forward: ForwardReason::Miss,
            asked: RequestTerms { sent_ms: now_ms, ..RequestTerms::default() },
            facts: RequestFacts::default(),
            request_lines: LineBlock::default(),
            labels: self.labels().of_request(None, request.target),
            born: self.cache.generations.now(),
            rules: FillRules::Tyk(TykFill { rules: request.rules.clone() }),
        })
    }
}

fn tyk_answer(stored: Arc<Stored>, request: &TykRequest<'_>) -> CachedResponse {
    CachedResponse::tyk(stored, MethodClass::read(request.method), request.if_none_match, true)
}

#[cfg(test)]
mod tests;
