//! What the control plane remembers for people who look: samples of the last hour, and the streams of open consoles. Sampling is the work of one
//! task; a request pays nothing for it. While no stream is open, nothing is made for streams.

use crate::figures_question::FiguresQuestion;
use crate::known_keys::KnownKeys;
use crate::report::{CauseHistory, LiveSample, Sampler};
use bytes::Bytes;
use serde::Serialize;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::{Notify, broadcast, watch};
use tollgate_admin::mask::mask;
use tollgate_cluster::{Cluster, NodeAnswers};
use tollgate_data::gateway_state::GatewayState;
use tollgate_observe::tap::{TailBatch, TailFilter};
use tollgate_observe::{ChangeKind, GatewayChange};
use tollgate_statistics::{History, HistorySpan, STEP_S, SpanQuestion};

/// Open streams: more people than look at one gateway, fewer than its connections.
pub const STREAMS_MAX: usize = 64;
/// Time between two samples for streams.
const LIVE_EVERY: Duration = Duration::from_secs(2);
/// Time between two looks at what is not sampled.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long samples are made for another gateway after its last question; it asks every two seconds.
const WATCHED_FOR: Duration = Duration::from_secs(10);
/// How long a question of another gateway waits for the first sample.
const FIRST_SAMPLE_TIME_MAX: Duration = Duration::from_millis(1_500);
/// An older sample is none.
const SAMPLE_AGE_MAX: Duration = Duration::from_secs(5);
/// Tails that other gateways follow.
const FOLLOWERS_MAX: usize = 64;
/// Messages that a stream may be behind; what is older is skipped.
const BEHIND_MAX: usize = 16;

/// Samples and streams.
pub struct Statistics {
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
    /// The last sample, while anybody looks.
    sample: Mutex<Option<(Instant, LiveSample)>>,
    /// Until when samples are made for other gateways.
    watched_until: Mutex<Option<Instant>>,
    /// Streams with the sums of all gateways.
    sum_streams: AtomicUsize,
    sums_opened: Notify,
    sums: broadcast::Sender<Bytes>,
    last_sum: Mutex<Bytes>,
    /// Tails that other gateways follow, by who asks and the filter.
    followers: Mutex<HashMap<String, TailFollower>>,
    /// Becomes true when the gateway drains.
    ending: watch::Sender<bool>,
}

/// What one stream receives.
pub struct Subscription {
    pub first: Bytes,
    pub live: broadcast::Receiver<Bytes>,
    pub changes: broadcast::Receiver<Bytes>,
    pub ending: watch::Receiver<bool>,
    _place: StreamPlace,
}

/// One of the places for streams.
struct StreamPlace {
    statistics: Arc<Statistics>,
    is_sum: bool,
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        self.statistics.streams.fetch_sub(1, Ordering::AcqRel);
        if self.is_sum {
            self.statistics.sum_streams.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// A tail that another gateway follows.
struct TailFollower {
    batches: broadcast::Receiver<Bytes>,
    until: Instant,
}

impl Statistics {
    pub fn new() -> Arc<Self> {
        Arc::new(Statistics {
            history: Mutex::default(),
            reading: Mutex::default(),
            sampler: Mutex::new(Sampler::new()),
            streams: AtomicUsize::new(0),
            opened: Notify::new(),
            live: broadcast::channel(BEHIND_MAX).0,
            last_live: Mutex::default(),
            changes: broadcast::channel(BEHIND_MAX).0,
            sample: Mutex::default(),
            watched_until: Mutex::default(),
            sum_streams: AtomicUsize::new(0),
            sums_opened: Notify::new(),
            sums: broadcast::channel(BEHIND_MAX).0,
            last_sum: Mutex::default(),
            followers: Mutex::default(),
            ending: watch::channel(false).0,
        })
    }

    /// Starts sampling, on the threads of the calling runtime.
    pub fn start(self: &Arc<Self>, shared: Arc<GatewayState>, cluster: Option<Arc<Cluster>>) {
        shared.observer.changes.add(ChangeKind::Restart, shared.observer.node(), format!("version {}", env!("CARGO_PKG_VERSION")));
        tokio::spawn(self.clone().keep_history(shared.clone()));
        if let Some(cluster) = cluster {
            tokio::spawn(self.clone().feed_sums(shared.clone(), cluster));
        }
        tokio::spawn(self.clone().feed_streams(shared));
    }

    /// Ends all streams: they would hold up the shutdown.
    pub fn end_streams(&self) {
        self.ending.send_replace(true);
    }

    /// A place for a stream; `None` if all are taken. `is_sum`: with the sums of all gateways.
    pub fn subscribe(self: &Arc<Self>, is_sum: bool) -> Option<Subscription> {
        let taken = self.streams.fetch_update(Ordering::AcqRel, Ordering::Acquire, |open| (open < STREAMS_MAX).then_some(open + 1));
        taken.ok()?;
        let place = StreamPlace { statistics: self.clone(), is_sum };
        let (last, live) = match is_sum {
            true => (&self.last_sum, self.sums.subscribe()),
            false => (&self.last_live, self.live.subscribe()),
        };
        // Empty while nobody looks.
        let first = lock(last).clone();
        let (changes, ending) = (self.changes.subscribe(), self.ending.subscribe());
        self.opened.notify_one();
        if is_sum {
            self.sum_streams.fetch_add(1, Ordering::AcqRel);
            self.sums_opened.notify_one();
        }
        Some(Subscription { first, live, changes, ending, _place: place })
    }

    /// The last sample, for another gateway, for which samples are made from now on. Blocks until there is one.
    pub fn live_for_others(&self) -> Option<LiveSample> {
        self.watch_for_others();
        let end = Instant::now() + FIRST_SAMPLE_TIME_MAX;
        loop {
            let sample =
                lock(&self.sample).as_ref().filter(|(at, _)| at.elapsed() < SAMPLE_AGE_MAX).map(|(_, sample)| sample.clone());
            if sample.is_some() || Instant::now() >= end {
                return sample;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn watch_for_others(&self) {
        *lock(&self.watched_until) = Some(Instant::now() + WATCHED_FOR);
        self.opened.notify_one();
    }

    /// Requests that ended since an asker's last question, for another gateway.
    pub fn followed(&self, shared: &GatewayState, filter: TailFilter, asker: String) -> TailBatch {
        self.watch_for_others();
        let name = format!("{asker} {}", serde_json::to_string(&filter).unwrap_or_default());
        let mut followers = lock(&self.followers);
        let until = Instant::now() + WATCHED_FOR;
        let mut all = TailBatch::default();
        if let Some(follower) = followers.get_mut(&name) {
            follower.until = until;
            while let Ok(batch) = follower.batches.try_recv() {
                all.merge(batch_in(&batch).unwrap_or_default());
            }
        } else if followers.len() < FOLLOWERS_MAX
            && let Some(batches) = shared.observer.watch.tail(filter)
        {
            followers.insert(name, TailFollower { batches, until });
        }
        all
    }

    /// Whether samples are to be made.
    fn is_watched(&self) -> bool {
        self.streams.load(Ordering::Acquire) > 0 || lock(&self.watched_until).is_some_and(|until| Instant::now() < until)
    }

    /// The part of the history that is asked for. Blocks for some milliseconds.
    pub fn span(&self, question: SpanQuestion) -> HistorySpan {
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
            while !self.is_watched() {
                self.opened.notified().await;
            }
            let mut sampler = lock(&self.sampler).clone();
            let mut causes = CauseHistory::default();
            let mut told = shared.observer.changes.count();
            let mut next_live = tokio::time::Instant::now();
            // The first sample would have all causes since the start.
            LiveSample::new(&shared, &sampler.clone().sample(&shared), &mut causes);
            while self.is_watched() {
                if tokio::time::Instant::now() >= next_live {
                    next_live += LIVE_EVERY;
                    let sample = LiveSample::new(&shared, &sampler.sample(&shared), &mut causes);
                    let live = masked_event("live", &sample.to_json(), &shared);
                    *lock(&self.sample) = Some((Instant::now(), sample));
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
                lock(&self.followers).retain(|_, follower| Instant::now() < follower.until);
                tokio::time::sleep(LOOK_EVERY).await;
            }
            lock(&self.followers).clear();
            shared.observer.watch.expire();
            *lock(&self.last_live) = Bytes::new();
            *lock(&self.sample) = None;
        }
    }

    /// Makes the sums of all gateways, once for all streams that have them.
    async fn feed_sums(self: Arc<Self>, shared: Arc<GatewayState>, cluster: Arc<Cluster>) {
        let question = serde_json::to_value(FiguresQuestion::Live).unwrap_or_default();
        loop {
            while self.sum_streams.load(Ordering::Acquire) == 0 {
                self.sums_opened.notified().await;
            }
            while self.sum_streams.load(Ordering::Acquire) > 0 {
                let next = tokio::time::Instant::now() + LIVE_EVERY;
                let NodeAnswers { answers, missing } = cluster.ask(question.clone()).await;
                let own = lock(&self.sample).as_ref().map(|(_, sample)| sample.clone());
                if let Some(mut sum) = own {
                    sum.missing = missing;
                    for (node, answer) in answers {
                        match serde_json::from_value::<LiveSample>(answer) {
                            Ok(sample) => sum.merge(sample),
                            Err(_) => sum.missing.push(node),
                        }
                    }
                    let live = masked_event("live", &sum.to_json(), &shared);
                    *lock(&self.last_sum) = live.clone();
                    // Fails if nobody listens any more.
                    let _ = self.sums.send(live);
                    tokio::time::sleep_until(next).await;
                } else {
                    // The first sample is being made.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
            *lock(&self.last_sum) = Bytes::new();
        }
    }
}

/// Marks for plots: what happened in the span of a history.
pub fn marks(shared: &GatewayState, from_unix_s: u64) -> Vec<GatewayChange> {
    shared.observer.changes.after(0).into_iter().filter(|change| change.unix_s >= from_unix_s).collect()
}

/// A server-sent event. JSON has no line breaks, so one line carries it.
pub fn event(name: &str, value: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(value).unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n").into()
}

/// The batch in an event of a tail.
fn batch_in(event: &Bytes) -> Option<TailBatch> {
    let text = std::str::from_utf8(event).ok()?;
    serde_json::from_str(text.lines().find_map(|line| line.strip_prefix("data: "))?).ok()
}

/// An event without secrets. Events are made once for all streams, also those of viewers, and nobody needs a secret in one.
pub fn masked_event(name: &str, value: &impl Serialize, shared: &GatewayState) -> Bytes {
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
