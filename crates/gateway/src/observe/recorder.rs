//! A core's end of recording: memory for records, and the core's own sinks, which see a record while it is still in the cache. Other cores
//! and threads get only what sinks hand over, a batch at a time.

use super::facts::ApiFacts;
use super::record::Record;
use super::sink::{Hit, Sink};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tollgate_engine::Counter;
use tollgate_model::analytics::Time;

/// How old gathered records may get.
const FLUSH_EVERY: Duration = Duration::from_secs(1);
/// Records without use whose memory is kept.
const SPARE_MAX: usize = 256;

/// Shows one core's records to its sinks.
pub struct Recorder {
    sinks: RefCell<Vec<Box<dyn Sink>>>,
    /// In the boxes in which they travel: a record is half a kilobyte.
    #[allow(clippy::vec_box)]
    spare: RefCell<Vec<Box<Record>>>,
    recorded: Arc<Counter>,
    flushed: Cell<Instant>,
    /// One moment by both clocks.
    noon: Cell<(Instant, Duration)>,
}

impl Recorder {
    /// `recorded` counts the records.
    pub fn new(sinks: Vec<Box<dyn Sink>>, recorded: Arc<Counter>) -> Self {
        let (now, since_1970) = both_clocks();
        Recorder {
            sinks: RefCell::new(sinks),
            spare: RefCell::default(),
            recorded,
            flushed: Cell::new(now),
            noon: Cell::new((now, since_1970)),
        }
    }

    /// An empty record.
    #[inline]
    pub fn blank(&self) -> Box<Record> {
        self.spare.borrow_mut().pop().unwrap_or_default()
    }

    /// Takes a record of a request that ended just now.
    #[inline]
    pub fn take(&self, mut record: Box<Record>, facts: &ApiFacts, ended: Instant) {
        self.recorded.add(1);
        let hit = Hit { record: &record, facts, time: self.time_of_day(ended) };
        self.sinks.borrow_mut().iter_mut().for_each(|sink| sink.take(&hit));
        record.clear();
        let mut spare = self.spare.borrow_mut();
        if spare.len() < SPARE_MAX {
            spare.push(record);
        }
    }

    /// Hands over what was gathered, if it is time; the core calls several times a second.
    pub fn tick(&self) {
        let (now, since_1970) = both_clocks();
        self.noon.set((now, since_1970));
        if now.saturating_duration_since(self.flushed.get()) >= FLUSH_EVERY {
            self.flushed.set(now);
            self.sinks.borrow_mut().iter_mut().for_each(|sink| sink.flush(false));
        }
    }

    /// Reckoned from the last tick: reading that clock too would cost more than all else here.
    fn time_of_day(&self, at: Instant) -> Time {
        let (noon, since_1970) = self.noon.get();
        let since_1970 = match at.checked_duration_since(noon) {
            Some(after) => since_1970 + after,
            None => since_1970.saturating_sub(noon.saturating_duration_since(at)),
        };
        Time { unix_s: i64::try_from(since_1970.as_secs()).unwrap_or(i64::MAX), ns: since_1970.subsec_nanos() }
    }
}

impl Drop for Recorder {
    /// The core ends: hands over all.
    fn drop(&mut self) {
        self.sinks.borrow_mut().iter_mut().for_each(|sink| sink.flush(true));
    }
}

fn both_clocks() -> (Instant, Duration) {
    (Instant::now(), SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

#[cfg(test)]
mod tests;
