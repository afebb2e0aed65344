//! A request in flight to the upstream, and the handling of its response: stored while it is relayed, only relayed, or replaced by a stored
//! response.

use crate::answer::CachedResponse;
use crate::api::ApiCache;
use crate::body::{PushError, StoredBody};
use crate::cache_status::{CacheStatus, ForwardReason};
use crate::figures::count;
use crate::flights::{FlightStage, Leader};
use crate::generations::{Label, Purged, tags};
use crate::head::{Head, NotStored, RequestTerms};
use crate::key::CacheKey;
use crate::lines::{HeaderLines, LineBlock};
use crate::request::{MethodClass, RequestFacts};
use crate::reuse::{is_error, may_replace_error};
use crate::store::{Marker, Stored, TableEntry};
use crate::tyk::TykFill;
use crate::vary::Vary;
use std::sync::Arc;

/// The rules for storing a response.
#[derive(Debug)]
pub(crate) enum FillRules {
    Rfc,
    Tyk(TykFill),
}

/// Everything that a fill needs to know of its request.
pub(crate) struct FillTask {
    pub api: Arc<ApiCache>,
    pub primary: CacheKey,
    pub key: CacheKey,
    pub stale: Option<Arc<Stored>>,
    pub leader: Option<Leader>,
    pub forward: ForwardReason,
    pub asked: RequestTerms,
    pub facts: RequestFacts,
    pub request_lines: LineBlock,
    pub labels: Vec<Label>,
    pub born: u64,
    pub rules: FillRules,
    pub overridden: Option<Overridden>,
}

/// What is known of a response that the gateway sends in place of the upstream's error.
#[derive(Debug)]
pub(crate) struct Overridden {
    /// Status of the upstream's response.
    status: u16,
    last_lines: LineBlock,
}

impl std::fmt::Debug for FillTask {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("FillTask").field("key", &self.key).field("leader", &self.leader.is_some()).finish_non_exhaustive()
    }
}

/// A request to the upstream whose response the cache examines. If it is dropped before the response's head, the cache is unchanged, and
/// waiting requests start over.
#[derive(Debug)]
pub struct Fill {
    task: Box<FillTask>,
}

/// What happens with a response.
#[derive(Debug)]
pub enum Filled {
    /// The response is stored as it is relayed: every byte of its body goes to the writer. The client gets the answer: the same bytes if
    /// [`CachedResponse::is_whole`], else what its conditions or ranges ask for.
    Store(BodyWriter, CachedResponse),
    /// The response is relayed unchanged and not stored.
    Pass(CacheStatus),
    /// The response is discarded, and the client gets this one: a stored response that the upstream has confirmed, or a stale one in place
    /// of an error.
    Serve(CachedResponse),
    /// The upstream confirmed a version that is not ours: ask again. The fill has no conditions now.
    Again(Fill),
}

impl Fill {
    pub(crate) fn new(task: FillTask) -> Self {
        Fill { task: Box::new(task) }
    }

    /// Lines to add to the request to the upstream, so that it can confirm the stored response with a 304 (RFC 9111 §4.3.1).
    pub fn conditions(&self) -> Vec<(&'static str, Vec<u8>)> {
        self.task.stale.as_ref().map(|stale| stale.head.conditions()).unwrap_or_default()
    }

    /// Number of requests that wait for this one. It should not be cancelled while there are any, even if its client disconnects.
    pub fn followers(&self) -> usize {
        self.task.leader.as_ref().map_or(0, Leader::followers)
    }

    /// Marks the response as one that the gateway sends in place of the upstream's error with this status. By RFC 9111 it is not stored: its
    /// freshness and validators belong to another response. By Tyk's rules it is; no change to a stored response replaces `last_lines`.
    pub fn overridden(mut self, upstream_status: u16, last_lines: &dyn HeaderLines) -> Self {
        self.task.overridden = Some(Overridden { status: upstream_status, last_lines: LineBlock::copy(last_lines) });
        self
    }

    /// Handles the final head of the upstream's response. `body_len` is the announced length: 0 when there is no body, `None` when only the
    /// end of the body shows it.
    pub fn head(self, status: u16, lines: &dyn HeaderLines, body_len: Option<u64>, now_ms: u64) -> Filled {
        let mut task = *self.task;
        let overridden = task.overridden.take();
        let upstream_status = overridden.as_ref().map_or(status, |overridden| overridden.status);
        if upstream_status == 304 && matches!(task.rules, FillRules::Rfc) {
            return match task.stale.take() {
                Some(stale) => task.confirmed(stale, lines, now_ms),
                // The client's own conditions were not sent, so this 304 answers nothing.
                None => task.pass(NotStored::Status, now_ms),
            };
        }
        if is_error(upstream_status)
            && let Some(answer) = task.stale_for_error(Some(upstream_status), now_ms)
        {
            return Filled::Serve(answer);
        }
        let mut head = match &task.rules {
            FillRules::Rfc if overridden.is_some() => Err(NotStored::Overridden),
            FillRules::Rfc => Head::read(status, lines, task.asked, now_ms),
            FillRules::Tyk(rules) => rules.head(status, lines, now_ms),
        };
        if let (Ok(head), Some(overridden)) = (&mut head, overridden) {
            head.last_lines = overridden.last_lines;
        }
        match head.and_then(|head| task.prepare(head, body_len)) {
            Ok(stored) => task.store(stored, body_len.is_some(), now_ms),
            Err(reason) => task.pass(reason, now_ms),
        }
    }

    /// Handles a request without a response. Returns a stale response if that is allowed; otherwise the client gets `status` from the
    /// gateway, and so do waiting requests.
    pub fn failed(self, status: u16, now_ms: u64) -> Option<CachedResponse> {
        let mut task = *self.task;
        let answer = task.stale_for_error(None, now_ms);
        if answer.is_none()
            && let Some(leader) = task.leader.take()
        {
            leader.settle(FlightStage::Failed(status));
        }
        answer
    }
}

impl FillTask {
    /// Handles a 304 for the stored response (RFC 9111 §4.3.4).
    fn confirmed(mut self, stale: Arc<Stored>, lines: &dyn HeaderLines, now_ms: u64) -> Filled {
        let head = match stale.head.freshened(lines, self.asked, now_ms) {
            Some(Ok(head)) => head,
            Some(Err(reason)) => {
                // The upstream no longer allows storing it. The client's answer is confirmed all the same.
                self.api.partition.remove(&stale);
                self.release(now_ms);
                let status = CacheStatus { not_stored: Some(reason), ..self.status(Some(304)) };
                return Filled::Serve(self.answer(stale, now_ms, status).own_fetch());
            }
            None => {
                self.api.partition.remove(&stale);
                return Filled::Again(Fill::new(self));
            }
        };
        count(&self.api.counters.validated);
        let stored = match self.entry(head, Arc::clone(&stale.body)) {
            Ok(stored) => stored,
            Err(_) => {
                self.release(now_ms);
                let status = self.status(Some(304));
                return Filled::Serve(self.answer(stale, now_ms, status).own_fetch());
            }
        };
        // A purge since the request was sent may concern the confirmed response.
        if stored.purged(&self.api.cache.generations) == Purged::No {
            self.api.partition.insert(Arc::clone(&stored));
        }
        if let Some(leader) = self.leader.take() {
            leader.settle(FlightStage::Usable(Arc::clone(&stored)));
        }
        let status = CacheStatus { is_stored: true, ..self.status(Some(304)) };
        Filled::Serve(self.answer(stored, now_ms, status))
    }

    /// Prepares a response to be stored. Its memory is reserved before the first byte arrives.
    fn prepare(&mut self, head: Head, body_len: Option<u64>) -> Result<Arc<Stored>, NotStored> {
        let partition = &self.api.partition;
        if body_len.is_some_and(|len| len > partition.object_bytes_max()) {
            return Err(NotStored::TooLarge);
        }
        let charge = partition.charge(body_len.map_or(0, StoredBody::bytes_max)).ok_or(NotStored::NoMemory)?;
        self.entry(head, Arc::new(StoredBody::new(body_len, charge)))
    }

    fn entry(&mut self, head: Head, body: Arc<StoredBody>) -> Result<Arc<Stored>, NotStored> {
        // A response whose tags cannot be purged would be worse than no cache.
        let tags = tags(&head.lines).ok_or(NotStored::TooLarge)?;
        let labels = self.api.labels();
        self.labels.extend(tags.iter().map(|tag| labels.tag(tag)));
        let labels: Arc<[Label]> = std::mem::take(&mut self.labels).into();
        let fixed = Stored::fixed_bytes(&head, labels.len());
        let charge = self.api.partition.charge(fixed).ok_or(NotStored::NoMemory)?;
        let key = self.key_for(&head).ok_or(NotStored::VaryAll)?;
        Ok(Arc::new(Stored::new(key, head, body, (labels, self.born), &self.api.counters, charge)))
    }

    /// The key to store a response under: the variant's key if it has variants. `None` when it varies by too many headers.
    fn key_for(&self, head: &Head) -> Option<CacheKey> {
        let Vary::By(names) = &head.vary else { return Some(self.primary) };
        let known = match self.api.partition.get(&self.primary) {
            Some(TableEntry::Marker(marker)) => Some(marker),
            _ => None,
        };
        let union = match known.as_deref() {
            Some((Marker::Variants(known), _)) => {
                let union = known.union(names)?;
                if union == *known {
                    return Some(union.key_of(&self.primary, &self.request_lines));
                }
                union
            }
            _ => names.clone(),
        };
        let key = union.key_of(&self.primary, &self.request_lines);
        self.api.partition.mark(self.primary, Marker::Variants(union));
        Some(key)
    }

    fn store(mut self, stored: Arc<Stored>, is_len_known: bool, now_ms: u64) -> Filled {
        // A body of unknown length may turn out too large. Waiting requests get it when it is complete, or go to the upstream themselves.
        if let Some(leader) = self.leader.as_ref().filter(|_| is_len_known) {
            leader.publish(&stored);
        }
        let status = CacheStatus { is_stored: true, ..self.status(None) };
        let answer = match &self.rules {
            FillRules::Rfc => self.answer(Arc::clone(&stored), now_ms, status).own_fetch(),
            FillRules::Tyk(_) => CachedResponse::tyk(Arc::clone(&stored), MethodClass::Get, None, false),
        };
        let writer = BodyWriter { api: Arc::clone(&self.api), stored, leader: self.leader.take(), state: WriterState::Open };
        Filled::Store(writer, answer)
    }

    fn pass(mut self, reason: NotStored, now_ms: u64) -> Filled {
        self.release(now_ms);
        Filled::Pass(CacheStatus { not_stored: Some(reason), ..self.status(None) })
    }

    /// Sends waiting requests to the upstream; for a while, new requests do not wait either.
    fn release(&mut self, now_ms: u64) {
        count(&self.api.counters.not_stored);
        let Some(leader) = self.leader.take() else { return };
        if leader.followers() > 0 {
            let until_ms = now_ms.saturating_add(self.api.settings.hit_for_miss_ms);
            self.api.partition.mark(self.key, Marker::HitForMiss { until_ms });
        }
        leader.settle(FlightStage::NotStorable);
    }

    fn stale_for_error(&mut self, status: Option<u16>, now_ms: u64) -> Option<CachedResponse> {
        let stale = self.stale.as_ref().filter(|stale| may_replace_error(&stale.head, &self.facts.directives, now_ms))?;
        let stale = Arc::clone(stale);
        count(&self.api.counters.stale);
        if let Some(leader) = self.leader.take() {
            // Waiting requests check the stored response in the same way.
            leader.settle(FlightStage::Failed(status.unwrap_or(502)));
        }
        let status = self.status(status);
        Some(self.answer(stale, now_ms, status))
    }

    fn status(&self, forward_status: Option<u16>) -> CacheStatus {
        CacheStatus { forward: Some(self.forward), forward_status, ..CacheStatus::default() }
    }

    fn answer(&self, stored: Arc<Stored>, now_ms: u64, status: CacheStatus) -> CachedResponse {
        CachedResponse::new(stored, MethodClass::Get, &self.facts, now_ms, status)
    }
}

/// Receives the body of a response that is being stored. If it is dropped before [`BodyWriter::finish`], the body is truncated: it is not
/// stored, and its readers learn that.
#[derive(Debug)]
pub struct BodyWriter {
    api: Arc<ApiCache>,
    stored: Arc<Stored>,
    leader: Option<Leader>,
    state: WriterState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WriterState {
    Open,
    /// The response is no longer being stored, but is still relayed.
    GivenUp,
    Finished,
}

impl BodyWriter {
    /// Receives the next bytes of the body, without its framing. Returns `false` if the cache does not keep them: it has given the response up
    /// (too large, no memory), but it is still relayed.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        if self.state != WriterState::Open {
            return false;
        }
        let pushed = self.stored.body.push(bytes, self.api.partition.object_bytes_max());
        if let Err(error) = pushed {
            self.give_up(match error {
                PushError::TooLarge => NotStored::TooLarge,
                PushError::NoMemory => NotStored::NoMemory,
                PushError::TooLong | PushError::Ended => NotStored::Incomplete,
            });
        }
        pushed.is_ok()
    }

    /// Ends the body. Returns `true` when it is stored now; not when bytes are missing, or a purge happened meanwhile.
    pub fn finish(mut self) -> bool {
        if self.state != WriterState::Open {
            return false;
        }
        if !self.stored.body.finish() {
            self.give_up(NotStored::Incomplete);
            return false;
        }
        self.state = WriterState::Finished;
        let is_kept = self.stored.purged(&self.api.cache.generations) == Purged::No;
        if is_kept {
            self.api.partition.insert(Arc::clone(&self.stored));
        } else {
            count(&self.api.counters.not_stored);
        }
        if let Some(leader) = self.leader.take() {
            leader.settle(FlightStage::Usable(Arc::clone(&self.stored)));
        }
        is_kept
    }

    /// Number of requests that wait for this one or read its body.
    pub fn followers(&self) -> usize {
        self.leader.as_ref().map_or(0, Leader::followers)
    }

    /// The response that is being stored, for a second cache tier when it is complete.
    pub fn stored(&self) -> &Arc<Stored> {
        &self.stored
    }

    fn give_up(&mut self, reason: NotStored) {
        self.state = WriterState::GivenUp;
        count(&self.api.counters.not_stored);
        self.stored.body.cut();
        if let Some(leader) = self.leader.take() {
            // A truncated response is the upstream's failure; the next one may be complete.
            leader.settle(if reason == NotStored::Incomplete { FlightStage::Abandoned } else { FlightStage::NotStorable });
        }
    }
}

impl Drop for BodyWriter {
    fn drop(&mut self) {
        if self.state == WriterState::Open {
            self.give_up(NotStored::Incomplete);
        }
    }
}
