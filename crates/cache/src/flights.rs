//! Requests of one key that are on their way to the upstream. The first one leads; others follow, and are woken when it is known whether its response
//! serves them too. Nothing waits on a lock: each is held for a look at a small table.

use crate::generations::Label;
use crate::key::{CacheKey, KeyBuildHasher};
use crate::store::Stored;
use crate::waiters::{WaitPlace, Waiters, wake};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// Tables of flights, so that cores seldom meet.
const SHARDS: usize = 64;
/// Requests that one flight can have behind it. Beyond that each goes to the upstream, as it would without a cache.
const FOLLOWERS_MAX: usize = 64 * 1024;

/// All flights.
#[derive(Debug)]
pub(crate) struct Flights {
    shards: Box<[Mutex<FlightTable>]>,
}

type FlightTable = HashMap<CacheKey, Arc<Flight>, KeyBuildHasher>;

/// One request on its way.
#[derive(Debug)]
pub(crate) struct Flight {
    started_ms: u64,
    /// The number of the last purge before it began, and what purges would meet it.
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

/// How far a flight is.
#[derive(Clone, Debug)]
pub(crate) enum FlightStage {
    /// Nothing is known.
    Waiting,
    /// The response can be used; its body may still grow.
    Usable(Arc<Stored>),
    /// The response can't be stored: it serves its own request alone.
    NotStorable,
    /// The upstream failed, and the leader's client gets this status.
    Failed(u16),
    /// The leader is gone without a word.
    Abandoned,
}

/// What a request becomes.
pub(crate) enum FlightRole {
    Leader(Leader),
    Follower(Arc<Flight>, WaitPlace),
    /// The flight has all the followers that it can have.
    Crowded,
}

impl Flights {
    pub(crate) fn new() -> Self {
        Flights { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    fn shard(&self, key: &CacheKey) -> Option<MutexGuard<'_, FlightTable>> {
        // The table's index takes the lower bits of the hash.
        let at = usize::try_from(key.hash64() >> 32).unwrap_or(0) % SHARDS;
        self.shards.get(at).map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Joins the flight of `key`, or leads a new one where there is none or `is_usable` refuses it.
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

/// What a flight is judged by before somebody joins it.
pub(crate) struct FlightAge<'a> {
    pub started_ms: u64,
    pub born: u64,
    pub labels: &'a [Label],
}

impl Flight {
    fn lock(&self) -> MutexGuard<'_, FlightState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far it is. While nothing is known, `waker` is called at the next change.
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

/// The request that goes to the upstream for all. Dropped without a word, its followers start over, and one of them leads.
#[derive(Debug)]
pub(crate) struct Leader {
    flights: Arc<Flights>,
    key: CacheKey,
    flight: Arc<Flight>,
    is_settled: bool,
}

impl Leader {
    /// The response can be used while it arrives. Requests that come now join, until [`Leader::settle`].
    pub(crate) fn publish(&self, stored: &Arc<Stored>) {
        self.set(FlightStage::Usable(Arc::clone(stored)));
    }

    /// Ends the flight. What can be used must be in the store already, so that nobody misses both.
    pub(crate) fn settle(mut self, stage: FlightStage) {
        self.end(stage);
    }

    /// How many requests wait for this one.
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
