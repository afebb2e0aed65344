//! Request coalescing: requests with the same key share one request to the upstream. The first one leads; others follow, and are woken when
//! it is known whether its response serves them too. Locks are held only to look into a small table.

use crate::generations::Label;
use crate::key::{CacheKey, KeyBuildHasher};
use crate::store::Stored;
use crate::waiters::{WaitPlace, Waiters, wake};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// Number of tables, so that cores seldom contend.
const SHARDS: usize = 64;
/// Most followers of one flight. Further requests go to the upstream, as they would without a cache.
const FOLLOWERS_MAX: usize = 64 * 1024;

/// All flights.
#[derive(Debug)]
pub(crate) struct Flights {
    shards: Box<[Mutex<FlightTable>]>,
}

type FlightTable = HashMap<CacheKey, Arc<Flight>, KeyBuildHasher>;

/// A request in flight.
#[derive(Debug)]
pub(crate) struct Flight {
    started_ms: u64,
    /// Number of the last purge before the flight began, and the labels by which purges affect it.
    born: u64,
    labels: Arc<[Label]>,
    state: Mutex<FlightState>,
}

#[derive(Debug)]
struct FlightState {
    stage: FlightStage,
    followers: usize,
    waiters: Waiters,
}

/// Progress of a flight.
#[derive(Clone, Debug)]
pub(crate) enum FlightStage {
    /// No response yet.
    Waiting,
    /// The response is usable; its body may still grow.
    Usable(Arc<Stored>),
    /// The response can't be stored: it serves only its own request.
    NotStorable,
    /// The upstream failed; the leader's client gets this status.
    Failed(u16),
    /// The leader was dropped without a result.
    Abandoned,
}

/// Role of a request in a flight.
pub(crate) enum FlightRole {
    Leader(Leader),
    Follower(Arc<Flight>, WaitPlace),
    /// The flight has the maximum number of followers.
    Crowded,
}

impl Flights {
    pub(crate) fn new() -> Self {
        Flights { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    fn shard(&self, key: &CacheKey) -> Option<MutexGuard<'_, FlightTable>> {
        // The table uses the lower bits of the hash.
        let at = usize::try_from(key.hash64() >> 32).unwrap_or(0) % SHARDS;
        self.shards.get(at).map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Joins the flight of `key`, or leads a new one if there is none or `is_usable` rejects it.
    pub(crate) fn join(
        self: &Arc<Self>,
        key: CacheKey,
        now_ms: u64,
        (labels, born): (&Arc<[Label]>, u64),
        is_usable: impl Fn(&FlightAge<'_>) -> bool,
    ) -> FlightRole {
        let Some(mut shard) = self.shard(&key) else { return FlightRole::Crowded };
        if let Some(flight) = shard.get(&key)
            && is_usable(&FlightAge { started_ms: flight.started_ms, born: flight.born, labels: &flight.labels })
        {
            let flight = Arc::clone(flight);
            drop(shard);
            let mut state = flight.lock();
            if state.followers >= FOLLOWERS_MAX {
                return FlightRole::Crowded;
            }
            state.followers += 1;
            let place = state.waiters.join();
            drop(state);
            return FlightRole::Follower(flight, place);
        }
        let state = FlightState { stage: FlightStage::Waiting, followers: 0, waiters: Waiters::default() };
        let flight = Arc::new(Flight { started_ms: now_ms, born, labels: Arc::clone(labels), state: Mutex::new(state) });
        let replaced = shard.insert(key, Arc::clone(&flight));
        drop(shard);
        drop(replaced);
        FlightRole::Leader(Leader { flights: Arc::clone(self), key, flight, is_settled: false })
    }

    fn remove(&self, key: &CacheKey, flight: &Arc<Flight>) {
        if let Some(mut shard) = self.shard(key)
            && shard.get(key).is_some_and(|other| Arc::ptr_eq(other, flight))
        {
            shard.remove(key);
        }
    }
}

/// Data by which `is_usable` judges a flight.
pub(crate) struct FlightAge<'a> {
    pub started_ms: u64,
    pub born: u64,
    pub labels: &'a [Label],
}

impl Flight {
    fn lock(&self) -> MutexGuard<'_, FlightState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Progress of the flight. While there is no response, `waker` is called at the next change.
    pub(crate) fn poll(&self, place: &WaitPlace, waker: Option<&Waker>) -> FlightStage {
        let mut state = self.lock();
        if let (FlightStage::Waiting, Some(waker)) = (&state.stage, waker) {
            state.waiters.wait(place, waker);
        }
        state.stage.clone()
    }

    pub(crate) fn leave(&self, place: WaitPlace) {
        let mut state = self.lock();
        state.followers -= 1;
        state.waiters.leave(place);
    }
}

/// The request that goes to the upstream for all. If it is dropped without a result, its followers start over, and one of them leads.
#[derive(Debug)]
pub(crate) struct Leader {
    flights: Arc<Flights>,
    key: CacheKey,
    flight: Arc<Flight>,
    is_settled: bool,
}

impl Leader {
    /// Makes the response usable while it arrives. New requests still join, until [`Leader::settle`].
    pub(crate) fn publish(&self, stored: &Arc<Stored>) {
        self.set(FlightStage::Usable(Arc::clone(stored)));
    }

    /// Ends the flight. A usable response must be in the table already, so that no request misses both.
    pub(crate) fn settle(mut self, stage: FlightStage) {
        self.end(stage);
    }

    /// Number of requests that wait for this one.
    pub(crate) fn followers(&self) -> usize {
        self.flight.lock().followers
    }

    fn end(&mut self, stage: FlightStage) {
        self.is_settled = true;
        self.flights.remove(&self.key, &self.flight);
        self.set(stage);
    }

    fn set(&self, stage: FlightStage) {
        let mut state = self.flight.lock();
        let before = std::mem::replace(&mut state.stage, stage);
        let waiting = state.waiters.take();
        drop(state);
        drop(before);
        wake(waiting);
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        if !self.is_settled {
            self.end(FlightStage::Abandoned);
        }
    }
}
