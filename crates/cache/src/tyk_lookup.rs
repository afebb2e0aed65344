//! Look-ups by Tyk's rules.

use crate::answer::CachedResponse;
use crate::api::ApiCache;
use crate::body::StoredBody;
use crate::cache_status::ForwardReason;
use crate::figures::count;
use crate::fill::{Fill, FillRules, FillTask};
use crate::generations::{PurgeMark, Purged, tags};
use crate::head::RequestTerms;
use crate::key::{CacheKey, KeyHasher};
use crate::lines::LineBlock;
use crate::lookup::Decision;
use crate::request::{MethodClass, RequestFacts};
use crate::store::{Stored, TableEntry};
use crate::tyk::{TykFill, TykPayload, TykRules, is_part, tyk_head};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A request that Tyk's cache handles: its method and path are configured.
#[derive(Clone, Copy)]
pub struct TykRequest<'a> {
    /// [`TykKeyParts::key`](crate::tyk::TykKeyParts::key).
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

    /// Stores what the second tier had when it was asked, and answers with it. `None` when there is no memory for it, or when it was purged
    /// meanwhile.
    pub fn adopt_tyk(
        self: &Arc<Self>,
        request: &TykRequest<'_>,
        payload: &TykPayload,
        asked: PurgeMark,
        now_ms: u64,
    ) -> Option<CachedResponse> {
        if is_part(payload.status) {
            return None;
        }
        let ttl_s = payload.expires_s.saturating_sub(now_ms / 1000);
        let head = tyk_head(payload.status, &payload.lines, ttl_s, now_ms).ok()?;
        let mut labels = self.labels().of_request(request.target);
        labels.extend(tags(&payload.lines)?.iter().map(|tag| self.labels().tag(tag)));
        let charge = self.partition.charge(StoredBody::bytes_max(payload.body.len() as u64))?;
        let body = StoredBody::new(None, charge);
        body.push(&payload.body, self.partition.object_bytes_max()).ok()?;
        body.finish();
        let fixed = self.partition.charge(Stored::fixed_bytes(&head, labels.len()))?;
        let born = (labels.into(), asked.0);
        let stored = Arc::new(Stored::new(self.tyk_key(request), head, Arc::new(body), born, &self.counters, fixed));
        if stored.purged(&self.cache.generations) != Purged::No {
            return None;
        }
        self.partition.insert(Arc::clone(&stored));
        // It was counted as a miss when memory had nothing.
        self.counters.misses.fetch_sub(1, Ordering::Relaxed);
        count(&self.counters.hits);
        Some(tyk_answer(stored, request))
    }

    /// A fill whose response takes the place of what is stored.
    pub fn replace_tyk(self: &Arc<Self>, request: &TykRequest<'_>, now_ms: u64) -> Fill {
        self.tyk_fill(request, self.tyk_key(request), now_ms)
    }

    /// The purges so far: for what is asked of the second tier now.
    pub fn purge_mark(&self) -> PurgeMark {
        PurgeMark(self.cache.generations.now())
    }

    /// Whether no purge has met a response since its request went out.
    pub fn is_current(&self, stored: &Stored) -> bool {
        stored.purged(&self.cache.generations) == Purged::No
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
            labels: self.labels().of_request(request.target),
            born: self.cache.generations.now(),
            rules: FillRules::Tyk(TykFill { rules: request.rules.clone() }),
            overridden: None,
        })
    }
}

fn tyk_answer(stored: Arc<Stored>, request: &TykRequest<'_>) -> CachedResponse {
    CachedResponse::tyk(stored, MethodClass::read(request.method), request.if_none_match, true)
}

#[cfg(test)]
mod tests;
