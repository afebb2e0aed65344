//! Single requests for people who look: the last refusals and failures, the live tail, and top lists. While nobody looks, a request pays for one
//! load of `RequestWatch::flags`; a refusal is kept as long as a second's budget lasts. After a failed request, records are made of all requests
//! for some seconds, so that the next failures are kept with their paths.

mod entry;
mod filter;
mod live;
mod llm_entry;
mod tail;
mod top;

pub use entry::TailEntry;
pub use filter::TailFilter;
pub use live::LiveRequests;
pub use llm_entry::{TailAttempt, TailLlm};
pub use tail::{TailBatch, TailWatcher};
pub use top::{TopBy, TopWatcher};

use super::facts::ApiMetadata;
use super::record::{RequestRecord, Text};
use arc_swap::ArcSwap;
use bytes::Bytes;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;
use tokio::sync::broadcast;
use top::CoreTop;

/// Refusals and failures that are kept: some hours of a quiet gateway, in about 2 MB.
pub const KEPT_MAX: usize = 2_000;
/// Refusals of one core that are kept in each second; beyond them one in [`SAMPLE`]. A flood would drive out everything else.
const KEPT_PER_S: u32 = 50;
const SAMPLE: u32 = 20;
/// Seconds for which records are made after a failed request.
const FAILING_S: u64 = 10;
/// Different filters of open streams; streams with equal filters share one.
const TAILS_MAX: usize = 64;
/// Samples of live requests begin only beside fewer others that take them; each holds up to 16 MiB. Replays have a maximum of their own.
const SAMPLES_MAX: usize = 4;
/// Top lists with different filters. Each takes up to 6 MB.
const TOPS_MAX: usize = 4;
/// Unused records kept for reuse.
const SPARE_MAX: usize = 64;

/// Bits of `flags`.
const TAIL: u32 = 1;
const TOP: u32 = 2;
const FAILING: u32 = 4;
const LIVE: u32 = 8;

/// What all cores share.
#[derive(Default)]
pub struct RequestWatch {
    /// Why records are made of requests; 0 while nobody looks.
    flags: AtomicU32,
    failing_until_s: AtomicU64,
    kept: Mutex<VecDeque<Arc<TailEntry>>>,
    /// Refusals and failures since the start.
    seen: AtomicU64,
    tails: ArcSwap<Vec<Arc<TailWatcher>>>,
    tops: ArcSwap<Vec<Arc<TopWatcher>>>,
    /// Replays that take live requests.
    live: ArcSwap<Vec<Arc<LiveRequests>>>,
    /// Held while the lists change.
    changing: Mutex<()>,
    /// Whether keys appear as hashes in records.
    pub hash_keys: bool,
    pub node: OnceLock<String>,
}

/// The part of one core.
pub struct RequestTap {
    shared: Arc<RequestWatch>,
    /// The current second, and how many refusals of it were seen.
    second: Cell<(u64, u32)>,
    top: RefCell<CoreTop>,
    looked: Cell<Instant>,
    /// Boxed as they are passed on: a record has half a kilobyte.
    #[allow(clippy::vec_box)]
    spare: RefCell<Vec<Box<RequestRecord>>>,
}

impl RequestWatch {
    pub fn new(hash_keys: bool) -> Arc<Self> {
        Arc::new(RequestWatch { hash_keys, ..RequestWatch::default() })
    }

    /// The kept requests that fit, newest first, and how many are kept at all.
    pub fn kept(&self, filter: &TailFilter, rows_max: usize) -> (Vec<Arc<TailEntry>>, usize) {
        let kept = lock(&self.kept);
        (kept.iter().rev().filter(|entry| filter.fits(entry)).take(rows_max).cloned().collect(), kept.len())
    }

    /// Refusals and failures since the start.
    pub fn seen(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }

    /// Watches requests that fit; `None` if there are too many filters.
    pub fn tail(&self, filter: TailFilter) -> Option<broadcast::Receiver<Bytes>> {
        let _alone = lock(&self.changing);
        let tails = self.tails.load_full();
        if let Some(known) = tails.iter().find(|tail| tail.filter == filter) {
            return Some(known.batches.subscribe());
        }
        if tails.len() >= TAILS_MAX {
            return None;
        }
        let own = Arc::new(TailWatcher::new(filter));
        let receiver = own.batches.subscribe();
        let all = tails.iter().cloned().chain([own.clone()]).collect();
        self.tails.store(Arc::new(all));
        self.set_flags();
        Some(receiver)
    }

    /// The watchers of open streams.
    pub fn tails(&self) -> Arc<Vec<Arc<TailWatcher>>> {
        self.tails.load_full()
    }

    /// Counts for top lists from now on, for some minutes. `None` if there are too many filters.
    pub fn top(&self, api: Option<&str>) -> Option<Arc<TopWatcher>> {
        let _alone = lock(&self.changing);
        let tops = self.tops.load_full();
        if let Some(known) = tops.iter().find(|top| top.api.as_deref() == api) {
            known.ask(tollgate_clock::unix_s());
            return Some(known.clone());
        }
        if tops.len() >= TOPS_MAX {
            return None;
        }
        let own = Arc::new(TopWatcher::new(api.map(str::to_owned), tollgate_clock::unix_s()));
        self.tops.store(Arc::new(tops.iter().cloned().chain([own.clone()]).collect()));
        self.set_flags();
        Some(own)
    }

    /// Gives requests to a replay or a sample from now on, as long as it takes them. False if there are too many others.
    pub fn sample(&self, own: Arc<LiveRequests>) -> bool {
        let _alone = lock(&self.changing);
        let others = self.live.load_full();
        let others: Vec<_> = others.iter().filter(|other| other.is_on() && !Arc::ptr_eq(other, &own)).cloned().collect();
        let has_room = !own.is_sample() || others.len() < SAMPLES_MAX;
        if has_room {
            self.live.store(Arc::new(others.into_iter().chain([own]).collect()));
            self.set_flags();
        }
        has_room
    }

    /// Ends what nobody looks at any more; called every few seconds.
    pub fn expire(&self) {
        let _alone = lock(&self.changing);
        let unix_s = tollgate_clock::unix_s();
        let (tails, tops) = (self.tails.load_full(), self.tops.load_full());
        if tails.iter().any(|tail| !tail.is_watched()) {
            self.tails.store(Arc::new(tails.iter().filter(|tail| tail.is_watched()).cloned().collect()));
        }
        if tops.iter().any(|top| !top.is_asked_for(unix_s)) {
            self.tops.store(Arc::new(tops.iter().filter(|top| top.is_asked_for(unix_s)).cloned().collect()));
        }
        let live = self.live.load_full();
        if live.iter().any(|live| !live.is_on()) {
            self.live.store(Arc::new(live.iter().filter(|live| live.is_on()).cloned().collect()));
        }
        self.set_flags();
    }

    fn set_flags(&self) {
        let tail = if self.tails.load().is_empty() { 0 } else { TAIL };
        let top = if self.tops.load().is_empty() { 0 } else { TOP };
        let live = if self.live.load().is_empty() { 0 } else { LIVE };
        let failing = || if tollgate_clock::unix_s() < self.failing_until_s.load(Ordering::SeqCst) { FAILING } else { 0 };
        self.flags.store(tail | top | failing() | live, Ordering::SeqCst);
        // One may have failed meanwhile.
        self.flags.fetch_or(failing(), Ordering::SeqCst);
    }

    /// Makes records of all requests for some seconds.
    fn note_failure(&self) {
        let until = tollgate_clock::unix_s() + FAILING_S;
        if self.failing_until_s.swap(until, Ordering::SeqCst) < until {
            self.flags.fetch_or(FAILING, Ordering::SeqCst);
        }
    }

    fn keep(&self, entry: TailEntry) {
        let mut kept = lock(&self.kept);
        if kept.len() >= KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back(Arc::new(entry));
    }
}

impl RequestTap {
    pub fn new(shared: Arc<RequestWatch>) -> Self {
        RequestTap {
            shared,
            second: Cell::default(),
            top: RefCell::default(),
            looked: Cell::new(Instant::now()),
            spare: RefCell::default(),
        }
    }

    /// Whether a record must be made of each request.
    #[inline]
    pub fn is_watched(&self) -> bool {
        self.shared.flags.load(Ordering::Relaxed) != 0
    }

    /// Whether a replay takes live requests.
    pub fn is_sampled(&self) -> bool {
        self.shared.flags.load(Ordering::Relaxed) & LIVE != 0
    }

    /// Gives a request that no API is for to the replays that take live requests.
    #[cold]
    pub fn take_unrouted(&self, record: &RequestRecord, unix_ns: u64) {
        self.shared.live.load().iter().for_each(|live| live.see(record, "", None, unix_ns));
    }

    /// Whether this refusal is kept.
    pub fn keeps_refusal(&self, unix_s: u64) -> bool {
        let (second, count) = self.second.get();
        let count = if second == unix_s { count.saturating_add(1) } else { 1 };
        self.second.set((unix_s, count));
        self.shared.seen.fetch_add(1, Ordering::Relaxed);
        count <= KEPT_PER_S || count % SAMPLE == 0
    }

    /// An empty record.
    pub fn blank(&self) -> Box<RequestRecord> {
        self.spare.borrow_mut().pop().unwrap_or_default()
    }

    /// Gives back a record that nobody else needs.
    pub fn put_back(&self, mut record: Box<RequestRecord>) {
        record.clear();
        let mut spare = self.spare.borrow_mut();
        if spare.len() < SPARE_MAX {
            spare.push(record);
        }
    }

    /// Sees a finished request.
    pub fn take(&self, record: &RequestRecord, facts: &ApiMetadata, unix_ns: u64) {
        let is_failed = record.status >= 500 || record.status == 0;
        if is_failed && record.refusal.is_none() {
            self.shared.note_failure();
            if self.keeps_refusal(unix_ns / 1_000_000_000) && !facts.do_not_track {
                self.shared.keep(TailEntry::new(record, facts, unix_ns, &self.shared));
            }
        } else if record.refusal.is_some() {
            self.shared.keep(TailEntry::new(record, facts, unix_ns, &self.shared));
        }
        if !is_failed && record.is_incomplete_llm() && self.keeps_refusal(unix_ns / 1_000_000_000) && !facts.do_not_track {
            self.shared.keep(TailEntry::new(record, facts, unix_ns, &self.shared));
        }
        if !record.tapped {
            return;
        }
        let flags = self.shared.flags.load(Ordering::Relaxed);
        if flags & TAIL != 0 {
            let mut entry = None;
            for tail in self.shared.tails.load().iter() {
                tail.see(record, facts, &self.shared, || {
                    entry.get_or_insert_with(|| Arc::new(TailEntry::new(record, facts, unix_ns, &self.shared))).clone()
                });
            }
        }
        if flags & LIVE != 0 && !record.bytes(Text::LiveHead).is_empty() {
            self.shared.live.load().iter().for_each(|live| live.see(record, &facts.id, Some(&facts.secrets), unix_ns));
        }
        if flags & TOP != 0 {
            self.top.borrow_mut().count(record, facts, &self.shared);
        }
    }

    /// Keeps a failed request of which there is no record.
    pub fn take_failure(&self, entry: impl FnOnce() -> TailEntry, unix_s: u64) {
        self.shared.note_failure();
        if self.keeps_refusal(unix_s) {
            self.shared.keep(TailEntry { node: self.shared.node.get().cloned().unwrap_or_default(), ..entry() });
        }
    }

    /// Called several times a second: hands over what was counted for top lists.
    pub fn tick(&self) {
        if self.looked.get().elapsed().as_secs() >= 1 {
            self.looked.set(Instant::now());
            self.top.borrow_mut().hand_over(&self.shared);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
