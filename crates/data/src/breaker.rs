//! Circuit breaker: stops calls to a failing endpoint. Counts over ten seconds in ten buckets, like Tyk's.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const BUCKETS: usize = 10;
const BUCKET: Duration = Duration::from_secs(1);
/// Shortest and longest back-off between probes while open.
const BACKOFF_MIN: Duration = Duration::from_millis(500);
const BACKOFF_MAX: Duration = Duration::from_secs(10);

/// When a breaker opens, and how it closes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BreakerRule {
    /// Failure ratio that opens the breaker, 0 to 1.
    pub threshold: f64,
    /// Requests that the window needs before the breaker may open.
    pub samples: u64,
    /// Time after which an open breaker closes by itself.
    pub return_after: Duration,
    /// Whether single requests may probe the endpoint before that.
    pub half_open: bool,
}

/// A request that a breaker let pass; it reports the outcome.
pub struct Passage {
    rule: BreakerRule,
    breaker: Arc<Breaker>,
    /// How often the breaker had opened when it let the request pass.
    openings: u64,
    /// Whether the breaker was open for too long, and closed with this request.
    has_closed: bool,
}

/// What the outcome of a request does to a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakerChange {
    Opened,
    Closed,
}

/// The breaker of one endpoint; it survives reloads. Locked for a few instructions, and only by APIs that have a breaker.
#[derive(Debug, Default)]
pub struct Breaker {
    /// Endpoint that it protects, for metrics.
    pub place: BreakerPlace,
    state: Mutex<BreakerState>,
    openings: AtomicU64,
}

/// The endpoint that a breaker protects.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BreakerPlace {
    /// Id of the API.
    pub api: String,
    /// Name of the version.
    pub version: String,
    /// Method and pattern.
    pub endpoint: String,
}

#[derive(Debug, Default)]
struct BreakerState {
    buckets: [BreakerBucket; BUCKETS],
    /// When it opened; `None` while it is closed.
    opened: Option<Duration>,
    /// When the next request closes it.
    closes: Duration,
    probe_at: Duration,
    backoff: Duration,
}

#[derive(Clone, Copy, Debug, Default)]
struct BreakerBucket {
    second: u64,
    failures: u64,
    total: u64,
}

impl Breaker {
    /// Makes a closed breaker.
    pub fn new(place: BreakerPlace) -> Self {
        Breaker { place, ..Breaker::default() }
    }

    /// Whether the breaker rejects requests at `now`.
    pub fn is_open(&self, now: Duration) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.opened.is_some() && now < state.closes
    }

    /// How often the breaker has opened.
    pub fn openings(&self) -> u64 {
        self.openings.load(Ordering::Relaxed)
    }

    /// Lets a request pass at `now`, or rejects it.
    pub fn admit(self: &Arc<Self>, rule: &BreakerRule, now: Duration) -> Option<Passage> {
        let passage = |has_closed| Some(Passage { rule: *rule, breaker: self.clone(), openings: self.openings(), has_closed });
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(opened) = state.opened else { return passage(false) };
        if now.saturating_sub(opened) >= rule.return_after {
            *state = BreakerState::default();
            return passage(true);
        }
        if rule.half_open && now >= state.probe_at {
            state.backoff = (state.backoff * 2).clamp(BACKOFF_MIN, BACKOFF_MAX);
            state.probe_at = now + state.backoff;
            return passage(false);
        }
        None
    }

    /// Counts the outcome of a request; `openings` is from the time when it was let pass.
    fn record(&self, rule: &BreakerRule, now: Duration, failed: bool, openings: u64) -> Option<BreakerChange> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if openings != self.openings() {
            // Sent before the breaker opened: its outcome says nothing about the present.
            return None;
        }
        if state.opened.is_some() {
            // The probe decides.
            if failed {
                return None;
            }
            *state = BreakerState::default();
            return Some(BreakerChange::Closed);
        }
        let second = now.as_secs() / BUCKET.as_secs();
        if let Some(bucket) = state.buckets.get_mut(second as usize % BUCKETS) {
            if bucket.second != second {
                *bucket = BreakerBucket { second, ..BreakerBucket::default() };
            }
            bucket.total += 1;
            bucket.failures += u64::from(failed);
        }
        let recent = state.buckets.iter().filter(|bucket| second - bucket.second.min(second) < BUCKETS as u64);
        let (failures, total) = recent.fold((0, 0), |sum, bucket| (sum.0 + bucket.failures, sum.1 + bucket.total));
        if failed && total >= rule.samples && total > 0 && failures as f64 / total as f64 >= rule.threshold {
            state.opened = Some(now);
            state.closes = now.saturating_add(rule.return_after);
            self.openings.fetch_add(1, Ordering::Relaxed);
            state.backoff = BACKOFF_MIN;
            state.probe_at = now + BACKOFF_MIN;
            return Some(BreakerChange::Opened);
        }
        None
    }

    /// Closes the breaker if it is still open since its opening of this number; whether it did.
    pub fn close_after(&self, openings: u64) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = state.opened.is_some() && openings == self.openings();
        if is_same {
            *state = BreakerState::default();
        }
        is_same
    }
}

impl Passage {
    /// Reports the outcome of the request.
    pub fn end(&self, now: Duration, failed: bool) -> Option<BreakerChange> {
        self.breaker.record(&self.rule, now, failed, self.openings)
    }

    /// Whether the breaker closed with this request, because it had been open for its time.
    pub fn has_closed(&self) -> bool {
        self.has_closed
    }

    /// The breaker.
    pub fn breaker(&self) -> &Arc<Breaker> {
        &self.breaker
    }

    /// Time after which the breaker closes by itself.
    pub fn return_after(&self) -> Duration {
        self.rule.return_after
    }
}

#[cfg(test)]
mod tests;
