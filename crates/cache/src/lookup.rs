//! Look-ups: decides how a request is handled. It is answered, waits for another request, or goes to the upstream with a [`Fill`] that
//! handles the response.

use crate::answer::CachedResponse;
use crate::api::ApiCache;
use crate::cache_status::{CacheStatus, ForwardReason};
use crate::figures::count;
use crate::fill::{Fill, FillRules, FillTask};
use crate::flights::{Flight, FlightRole, FlightStage, Leader};
use crate::generations::{Label, Purge, Purged};
use crate::head::RequestTerms;
use crate::key::CacheKey;
use crate::lines::{HeaderLines, LineBlock};
use crate::request::{CacheRequest, MethodClass, RequestFacts};
use crate::reuse::{Reuse, judge, may_replace_error};
use crate::store::{Marker, Stored, TableEntry};
use crate::vary::Vary;
use crate::waiters::WaitPlace;
use std::cell::OnceCell;
use std::sync::Arc;
use std::task::Waker;

/// How a request is handled.
#[derive(Debug)]
pub enum Decision {
    /// The client gets this response.
    Serve(CachedResponse),
    /// The client gets this response now, and the fill asks the upstream meanwhile.
    Revalidate(CachedResponse, Fill),
    /// The fill asks the upstream.
    Fetch(Fill),
    /// Another request in flight may serve this one too: wait, then call [`ApiCache::resume`].
    Wait(Follower),
    /// The request goes to the upstream as if there were no cache.
    Bypass(CacheStatus),
    /// The upstream failed for the request that this one waited for: the client gets the same status.
    Fail(u16),
    /// The client accepts only a stored response and there is none: 504 (RFC 9111 §5.2.1.7).
    Refuse,
}

/// A request that waits for another request.
#[derive(Debug)]
pub struct Follower {
    flight: Option<(Arc<Flight>, WaitPlace)>,
    deadline_ms: u64,
}

impl Follower {
    /// Returns `true` when it is time for [`ApiCache::resume`]. Otherwise `waker` is called at that time; the caller must also resume at
    /// [`Follower::deadline_ms`].
    pub fn is_ready(&self, waker: &Waker) -> bool {
        let stage = self.flight.as_ref().map(|(flight, place)| flight.poll(place, Some(waker)));
        !matches!(stage, Some(FlightStage::Waiting))
    }

    /// Deadline of the wait, in Unix milliseconds.
    pub fn deadline_ms(&self) -> u64 {
        self.deadline_ms
    }

    fn stage(&self) -> FlightStage {
        self.flight.as_ref().map_or(FlightStage::Abandoned, |(flight, place)| flight.poll(place, None))
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        if let Some((flight, place)) = self.flight.take() {
            flight.leave(place);
        }
    }
}

/// Result of looking into the table.
enum FoundEntry {
    Nothing(ForwardReason),
    HitForMiss,
    Response(Arc<Stored>, Purged),
}

/// A request during its look-up.
pub(crate) struct LookupContext<'a> {
    request: &'a CacheRequest<'a>,
    method: MethodClass,
    facts: RequestFacts,
    primary: CacheKey,
    now_ms: u64,
    /// When the request began to wait.
    since_ms: u64,
    /// Labels by which purges affect its response; made only on a miss.
    labels: OnceCell<Arc<[Label]>>,
}

impl ApiCache {
    /// Decides how a request is handled at `now_ms`, in Unix milliseconds.
    pub fn lookup(self: &Arc<Self>, request: &CacheRequest<'_>, now_ms: u64) -> Decision {
        self.decide(request, now_ms, now_ms)
    }

    /// Decides how a request is handled after its wait.
    pub fn resume(self: &Arc<Self>, request: &CacheRequest<'_>, follower: Follower, now_ms: u64) -> Decision {
        let stage = follower.stage();
        if matches!(stage, FlightStage::Waiting) && now_ms < follower.deadline_ms {
            return Decision::Wait(follower);
        }
        let looked = match self.look(request, now_ms, follower.deadline_ms.saturating_sub(self.settings.wait_ms_max)) {
            Ok(looked) => looked,
            Err(decision) => return decision,
        };
        drop(follower);
        match stage {
            FlightStage::Usable(stored) => match self.use_other(&looked, &stored) {
                Some(decision) => decision,
                // It is another variant. The headers that it varies by are known now; without that, the request would loop.
                None if self.find(&looked).0 != looked.primary => self.decide(request, now_ms, looked.since_ms),
                None => self.alone(&looked, looked.primary, None, ForwardReason::VaryMiss),
            },
            FlightStage::Waiting | FlightStage::NotStorable => self.alone(&looked, looked.primary, None, ForwardReason::Miss),
            FlightStage::Failed(status) => match self.stale_for_error(&looked) {
                Some(answer) => Decision::Serve(answer),
                None => Decision::Fail(status),
            },
            FlightStage::Abandoned => self.decide(request, now_ms, looked.since_ms),
        }
    }

    fn decide(self: &Arc<Self>, request: &CacheRequest<'_>, now_ms: u64, since_ms: u64) -> Decision {
        let looked = match self.look(request, now_ms, since_ms) {
            Ok(looked) => looked,
            Err(decision) => return decision,
        };
        let (key, found) = self.find(&looked);
        match found {
            FoundEntry::Response(stored, purged) => self.with_stored(&looked, key, stored, purged),
            FoundEntry::HitForMiss => match self.without_stored(&looked, ForwardReason::Miss) {
                Some(decision) => decision,
                None if looked.facts.client_has != Default::default() => self.bypass(ForwardReason::Miss),
                None => self.alone(&looked, key, None, ForwardReason::Miss),
            },
            FoundEntry::Nothing(forward) => match self.without_stored(&looked, forward) {
                Some(decision) => decision,
                None if looked.facts.directives.no_cache => self.alone(&looked, key, None, ForwardReason::Request),
                None => self.together(&looked, key, None, forward),
            },
        }
    }

    /// Reads a request; `Err` is the decision for a request that the cache does not handle.
    fn look<'a>(&self, request: &'a CacheRequest<'a>, now_ms: u64, since_ms: u64) -> Result<LookupContext<'a>, Decision> {
        let method = MethodClass::read(request.method);
        if !matches!(method, MethodClass::Get | MethodClass::Head) {
            return Err(self.bypass(ForwardReason::Method));
        }
        let mut facts = RequestFacts::read(request.lines);
        if !self.settings.honours_requests {
            facts.directives = Default::default();
        }
        // A body is not in the key, but may affect the answer.
        if request.has_body || facts.has_upstream_condition || facts.directives.no_store {
            return Err(self.bypass(ForwardReason::Request));
        }
        let primary = request.parts.key(&self.cache.settings.secret, self.id());
        Ok(LookupContext { request, method, facts, primary, now_ms, since_ms, labels: Default::default() })
    }

    /// The entry for a request, and its actual or future key.
    fn find(&self, looked: &LookupContext<'_>) -> (CacheKey, FoundEntry) {
        let mut key = looked.primary;
        let mut entry = self.partition.get(&key);
        let mut missing = ForwardReason::UriMiss;
        if let Some(TableEntry::Marker(marker)) = &entry
            && let Marker::Variants(names) = &marker.0
        {
            key = names.key_of(&looked.primary, looked.request.lines);
            missing = ForwardReason::VaryMiss;
            entry = self.partition.get(&key);
        }
        let found = match entry {
            Some(TableEntry::Response(stored)) => match stored.purged(&self.cache.generations) {
                Purged::Hard => {
                    self.partition.remove(&stored);
                    FoundEntry::Nothing(missing)
                }
                purged => FoundEntry::Response(stored, purged),
            },
            Some(TableEntry::Marker(marker)) => match &marker.0 {
                Marker::HitForMiss { until_ms } if *until_ms > looked.now_ms => FoundEntry::HitForMiss,
                _ => FoundEntry::Nothing(missing),
            },
            None => FoundEntry::Nothing(missing),
        };
        (key, found)
    }

    fn with_stored(self: &Arc<Self>, looked: &LookupContext<'_>, key: CacheKey, stored: Arc<Stored>, purged: Purged) -> Decision {
        let directives = &looked.facts.directives;
        match judge(&stored.head, directives, purged == Purged::Soft, looked.now_ms) {
            Reuse::StaleWhileRevalidate if looked.method == MethodClass::Head => {
                count(&self.counters.stale);
                Decision::Serve(self.answer(looked, stored, CacheStatus::default()))
            }
            Reuse::Fresh => {
                count(&self.counters.hits);
                Decision::Serve(self.answer(looked, stored, CacheStatus::default()))
            }
            Reuse::Stale => {
                count(&self.counters.stale);
                Decision::Serve(self.answer(looked, stored, CacheStatus::default()))
            }
            Reuse::StaleWhileRevalidate => {
                count(&self.counters.stale);
                let answer = self.answer(looked, Arc::clone(&stored), CacheStatus::default());
                match self.lead_or_follow(looked, key) {
                    FlightRole::Leader(leader) => {
                        Decision::Revalidate(answer, self.fill(looked, key, Some(stored), Some(leader), ForwardReason::Stale))
                    }
                    FlightRole::Follower(flight, place) => {
                        flight.leave(place);
                        Decision::Serve(answer)
                    }
                    FlightRole::Crowded => Decision::Serve(answer),
                }
            }
            Reuse::Validate if directives.only_if_cached => self.refuse(),
            Reuse::Validate if looked.method == MethodClass::Head => self.bypass(ForwardReason::Stale),
            Reuse::Validate if directives.no_cache => self.alone(looked, key, Some(stored), ForwardReason::Request),
            // A response that needs confirmation for each use does not serve waiting requests.
            Reuse::Validate if stored.head.must_validate || stored.head.lifetime_s == 0 => {
                self.alone(looked, key, Some(stored), ForwardReason::Stale)
            }
            Reuse::Validate => self.together(looked, key, Some(stored), ForwardReason::Stale),
        }
    }

    /// Decisions without the upstream, or without the cache, when nothing is stored.
    fn without_stored(&self, looked: &LookupContext<'_>, forward: ForwardReason) -> Option<Decision> {
        if looked.facts.directives.only_if_cached {
            return Some(self.refuse());
        }
        if looked.method == MethodClass::Head {
            return Some(self.bypass(forward));
        }
        // The complete response may be far larger than the requested part.
        looked.facts.range.is_some().then(|| self.bypass(ForwardReason::Partial))
    }

    /// Goes to the upstream without waiting for another request.
    fn alone(
        self: &Arc<Self>,
        looked: &LookupContext<'_>,
        key: CacheKey,
        stale: Option<Arc<Stored>>,
        forward: ForwardReason,
    ) -> Decision {
        if let Some(decision) = self.without_stored(looked, forward).filter(|_| stale.is_none()) {
            return decision;
        }
        count(&self.counters.misses);
        Decision::Fetch(self.fill(looked, key, stale, None, forward))
    }

    /// Waits for the request in flight, or becomes it.
    fn together(
        self: &Arc<Self>,
        looked: &LookupContext<'_>,
        key: CacheKey,
        stale: Option<Arc<Stored>>,
        forward: ForwardReason,
    ) -> Decision {
        let deadline_ms = looked.since_ms.saturating_add(self.settings.wait_ms_max);
        if looked.now_ms >= deadline_ms {
            return self.alone(looked, key, stale, forward);
        }
        match self.lead_or_follow(looked, key) {
            FlightRole::Leader(leader) => {
                // The previous leader may have stored its response since the look-up.
                let (_, found) = self.find(looked);
                if let FoundEntry::Response(stored, Purged::No) = found
                    && judge(&stored.head, &looked.facts.directives, false, looked.now_ms) == Reuse::Fresh
                {
                    drop(leader);
                    count(&self.counters.hits);
                    return Decision::Serve(self.answer(looked, stored, CacheStatus::default()));
                }
                count(&self.counters.misses);
                Decision::Fetch(self.fill(looked, key, stale, Some(leader), forward))
            }
            FlightRole::Follower(flight, place) => {
                let follower = Follower { flight: Some((flight, place)), deadline_ms };
                match follower.stage() {
                    FlightStage::Usable(stored) => self
                        .use_other(looked, &stored)
                        .unwrap_or_else(|| self.alone(looked, looked.primary, None, ForwardReason::VaryMiss)),
                    _ => Decision::Wait(follower),
                }
            }
            FlightRole::Crowded => self.alone(looked, key, stale, forward),
        }
    }

    fn lead_or_follow(&self, looked: &LookupContext<'_>, key: CacheKey) -> FlightRole {
        let labels = self.labels_of(looked);
        let born = self.cache.generations.now();
        let oldest_ms = looked.now_ms.saturating_sub(self.settings.wait_ms_max);
        self.cache.flights.join(key, looked.now_ms, (labels, born), |flight| {
            // A flight that hangs, or that a purge affects, is replaced.
            flight.started_ms >= oldest_ms && self.cache.generations.check(flight.labels, flight.born) == Purged::No
        })
    }

    /// Uses the response to another request for this one too. `None` when it is another variant.
    fn use_other(self: &Arc<Self>, looked: &LookupContext<'_>, stored: &Arc<Stored>) -> Option<Decision> {
        let key = match &stored.head.vary {
            Vary::Nothing | Vary::Everything => looked.primary,
            // The marker may contain more names than this response.
            Vary::By(_) => self.find(looked).0,
        };
        if key != stored.key {
            return None;
        }
        let purged = stored.purged(&self.cache.generations);
        if purged != Purged::No || judge(&stored.head, &looked.facts.directives, false, looked.now_ms) != Reuse::Fresh {
            return Some(self.alone(looked, key, None, ForwardReason::Miss));
        }
        count(&self.counters.coalesced);
        let status = CacheStatus { forward: Some(ForwardReason::Miss), is_collapsed: true, ..CacheStatus::default() };
        Some(Decision::Serve(self.answer(looked, Arc::clone(stored), status)))
    }

    fn stale_for_error(&self, looked: &LookupContext<'_>) -> Option<CachedResponse> {
        let (_, FoundEntry::Response(stored, _)) = self.find(looked) else { return None };
        if !may_replace_error(&stored.head, &looked.facts.directives, looked.now_ms) {
            return None;
        }
        count(&self.counters.stale);
        let status = CacheStatus { forward: Some(ForwardReason::Stale), is_collapsed: true, ..CacheStatus::default() };
        Some(self.answer(looked, stored, status))
    }

    fn answer(&self, looked: &LookupContext<'_>, stored: Arc<Stored>, status: CacheStatus) -> CachedResponse {
        CachedResponse::new(stored, looked.method, &looked.facts, looked.now_ms, status)
    }

    fn bypass(&self, forward: ForwardReason) -> Decision {
        count(&self.counters.bypassed);
        Decision::Bypass(CacheStatus { forward: Some(forward), ..CacheStatus::default() })
    }

    fn refuse(&self) -> Decision {
        count(&self.counters.refused);
        Decision::Refuse
    }

    fn fill(
        self: &Arc<Self>,
        looked: &LookupContext<'_>,
        key: CacheKey,
        stale: Option<Arc<Stored>>,
        leader: Option<Leader>,
        forward: ForwardReason,
    ) -> Fill {
        let asked = RequestTerms {
            is_authorised: looked.request.is_authorised || looked.facts.has_authorization,
            has_cookie: looked.facts.has_cookie,
            no_store: looked.facts.directives.no_store,
            sent_ms: looked.now_ms,
        };
        Fill::new(FillTask {
            api: Arc::clone(self),
            primary: looked.primary,
            key,
            stale,
            leader,
            forward,
            asked,
            facts: looked.facts.clone(),
            request_lines: LineBlock::copy(looked.request.lines),
            labels: self.labels_of(looked).to_vec(),
            born: self.cache.generations.now(),
            rules: FillRules::Rfc,
            overridden: None,
        })
    }

    fn labels_of<'l>(&self, looked: &'l LookupContext<'_>) -> &'l Arc<[Label]> {
        let parts = &looked.request.parts;
        looked.labels.get_or_init(|| self.labels().of_request(parts.target).into())
    }

    /// Handles the end of a request with an unsafe method: success invalidates the responses for its URL (RFC 9111 §4.4). The caller may
    /// follow `Location` and `Content-Location`, since it knows which of them lead to this API; the RFC does not require it.
    pub fn after_unsafe(&self, request: &CacheRequest<'_>, status: u16) {
        if MethodClass::read(request.method) == MethodClass::Unsafe && matches!(status, 200..=399) {
            self.purge_url(request.parts.target, Purge::Hard);
        }
    }

    /// Handles a HEAD that went to the upstream: a 200 with other validators or another length shows that the stored response is stale (RFC
    /// 9111 §4.3.5).
    pub fn after_head(&self, request: &CacheRequest<'_>, status: u16, lines: &dyn HeaderLines, now_ms: u64) {
        let Ok(looked) = self.look(request, now_ms, now_ms) else { return };
        let (_, FoundEntry::Response(stored, _)) = self.find(&looked) else { return };
        if status != 200 || looked.method != MethodClass::Head {
            return;
        }
        let mut differs = false;
        lines.each(&mut |name, value| {
            let expect = match name.to_ascii_lowercase().as_str() {
                name @ ("etag" | "last-modified") => stored.head.lines.get(name).map(<[u8]>::to_vec),
                "content-length" => stored.body.len().map(|len| len.to_string().into_bytes()),
                _ => return,
            };
            differs |= expect.is_some_and(|expect| expect != value);
        });
        if differs {
            self.partition.remove(&stored);
        }
    }
}
