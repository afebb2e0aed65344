//! What the control plane remembers for people who look: samples of the last hour, and the streams of open consoles. Sampling is the work of one
//! task; a request pays nothing for it. While no stream is open, nothing is made for streams.

use crate::control::known_keys::KnownKeys;
use crate::data::gateway_state::GatewayState;
use crate::observe::{ChangeKind, GatewayChange};
use crate::report::{CauseHistory, Sampler, live_sample};
use bytes::Bytes;
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::sync::{Notify, broadcast, watch};
use tollgate_admin::mask::mask;
use tollgate_statistics::{History, HistorySpan, STEP_S, SpanQuestion};

/// Open streams: more people than look at one gateway, fewer than its connections.
pub(crate) const STREAMS_MAX: usize = 64;
/// Time between two samples for streams.
const LIVE_EVERY: Duration = Duration::from_secs(2);
/// Time between two looks at what is not sampled.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Messages that a stream may be behind; what is older is skipped.
const BEHIND_MAX: usize = 16;

/// Samples and streams.
pub(crate) struct Statistics {
    history: Mutex<History>,
    /// Held while an answer is made of the history: one takes some MB.
    reading: Mutex<()>,
    sampler: Mutex<Sampler>,
    streams: AtomicUsize,
    opened: Notify,
    live: broadcast::Sender<Bytes>,
    /// The last live message, for streams that open between two samples.
    last_live: Mutex<Bytes>,
    changes: broadcast::Sender<Bytes>,
    /// Becomes true when the gateway drains.
    ending: watch::Sender<bool>,
}

/// What one stream receives.
pub(crate) struct Subscription {
    pub first: Bytes,
    pub live: broadcast::Receiver<Bytes>,
    pub changes: broadcast::Receiver<Bytes>,
    pub ending: watch::Receiver<bool>,
    _place: StreamPlace,
}

/// One of the places for streams.
struct StreamPlace(Arc<Statistics>);

impl Drop for StreamPlace {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Statistics {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Statistics {
            history: Mutex::default(),
            reading: Mutex::default(),
            sampler: Mutex::new(Sampler::new()),
            streams: AtomicUsize::new(0),
            opened: Notify::new(),
            live: broadcast::channel(BEHIND_MAX).0,
            last_live: Mutex::default(),
            changes: broadcast::channel(BEHIND_MAX).0,
            ending: watch::channel(false).0,
        })
    }

    /// Starts sampling, on the threads of the calling runtime.
    pub(crate) fn start(self: &Arc<Self>, shared: Arc<GatewayState>) {
        shared.observer.changes.add(ChangeKind::Restart, shared.observer.node(), format!("version {}", env!("CARGO_PKG_VERSION")));
        tokio::spawn(self.clone().keep_history(shared.clone()));
        tokio::spawn(self.clone().feed_streams(shared));
    }

    /// Ends all streams: they would hold up the shutdown.
    pub(crate) fn end_streams(&self) {
        self.ending.send_replace(true);
    }

    /// A place for a stream; `None` if all are taken.
    pub(crate) fn subscribe(self: &Arc<Self>) -> Option<Subscription> {
        let taken = self.streams.fetch_update(Ordering::AcqRel, Ordering::Acquire, |open| (open < STREAMS_MAX).then_some(open + 1));
        let was_alone = taken.ok()? == 0;
        let place = StreamPlace(self.clone());
        let first = if was_alone { Bytes::new() } else { lock(&self.last_live).clone() };
        let (live, changes, ending) = (self.live.subscribe(), self.changes.subscribe(), self.ending.subscribe());
        self.opened.notify_one();
        Some(Subscription { first, live, changes, ending, _place: place })
    }

    /// The part of the history that is asked for. Blocks for some milliseconds.
    pub(crate) fn span(&self, question: SpanQuestion) -> HistorySpan {
        let mut span = HistorySpan::new(question);
        let _one_at_a_time = lock(&self.reading);
        lock(&self.history).read(&mut span);
        span
    }

    /// Takes a sample at each multiple of five seconds of the clock, so that those of several gateways fit together.
    async fn keep_history(self: Arc<Self>, shared: Arc<GatewayState>) {
        loop {
            let now_ms = unix_ms();
            let step_ms = STEP_S * 1_000;
            tokio::time::sleep(Duration::from_millis(step_ms - now_ms % step_ms)).await;
            shared.observer.watch.expire();
            if !shared.observer.metrics {
                continue;
            }
            let sample = lock(&self.sampler).sample(&shared);
            // The timer may be a moment early or late.
            let unix_s = (unix_ms() + step_ms / 2) / step_ms * STEP_S;
            lock(&self.history).add(unix_s, &sample.totals, sample.apis);
        }
    }

    /// Makes what streams send, once for all of them.
    async fn feed_streams(self: Arc<Self>, shared: Arc<GatewayState>) {
        loop {
            while self.streams.load(Ordering::Acquire) == 0 {
                self.opened.notified().await;
            }
            let mut sampler = lock(&self.sampler).clone();
            let mut causes = CauseHistory::default();
            let mut told = shared.observer.changes.count();
            let mut next_live = tokio::time::Instant::now();
            // The first sample would have all causes since the start.
            live_sample(&shared, &sampler.clone().sample(&shared), &mut causes);
            while self.streams.load(Ordering::Acquire) > 0 {
                if tokio::time::Instant::now() >= next_live {
                    next_live += LIVE_EVERY;
                    let live = masked_event("live", &live_sample(&shared, &sampler.sample(&shared), &mut causes), &shared);
                    *lock(&self.last_live) = live.clone();
                    // Fails if nobody listens any more.
                    let _ = self.live.send(live);
                }
                let changes = shared.observer.changes.after(told);
                told += changes.len() as u64;
                for change in &changes {
                    let _ = self.changes.send(masked_event("changes", change, &shared));
                }
                for tail in shared.observer.watch.tails().iter() {
                    if let Some(batch) = tail.take() {
                        let _ = tail.batches.send(masked_event("tail", &batch, &shared));
                    }
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
            shared.observer.watch.expire();
            *lock(&self.last_live) = Bytes::new();
        }
    }
}

/// Marks for plots: what happened in the span of a history.
pub(crate) fn marks(shared: &GatewayState, from_unix_s: u64) -> Vec<GatewayChange> {
    shared.observer.changes.after(0).into_iter().filter(|change| change.unix_s >= from_unix_s).collect()
}

/// A server-sent event. JSON has no line breaks, so one line carries it.
pub(crate) fn event(name: &str, value: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(value).unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n").into()
}

/// An event without secrets. Events are made once for all streams, also those of viewers, and nobody needs a secret in one.
fn masked_event(name: &str, value: &impl Serialize, shared: &GatewayState) -> Bytes {
    let mut value = serde_json::to_value(value).unwrap_or_default();
    mask(&mut value, &KnownKeys(&shared.keys));
    event(name, &value)
}

fn unix_ms() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
