//! A core's end of recording: memory for records, and the core's own sinks, which see a record while it is still in the cache. Other cores
//! and threads get only what sinks hand over, a batch at a time.

use super::facts::ApiFacts;
use super::hit::Hit;
use super::record::RequestRecord;
use super::sink::RecordWriter;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tollgate_engine::Counter;
use tollgate_model::analytics::RecordTime;

/// How old gathered records may get.
const FLUSH_EVERY: Duration = Duration::from_secs(1);
/// Records without use whose memory is kept.
const SPARE_MAX: usize = 256;

/// Shows one core's records to its sinks.
pub(crate) struct Recorder {
    sinks: RefCell<Vec<Box<dyn RecordWriter>>>,
    /// In the boxes in which they travel: a record is half a kilobyte.
    #[allow(clippy::vec_box)]
    spare: RefCell<Vec<Box<RequestRecord>>>,
    recorded: Arc<Counter>,
    flushed: Cell<Instant>,
}

impl Recorder {
    /// `recorded` counts the records.
    pub(crate) fn new(sinks: Vec<Box<dyn RecordWriter>>, recorded: Arc<Counter>) -> Self {
        Recorder { sinks: RefCell::new(sinks), spare: RefCell::default(), recorded, flushed: Cell::new(Instant::now()) }
    }

    /// An empty record.
    #[inline]
    pub(crate) fn blank(&self) -> Box<RequestRecord> {
        self.spare.borrow_mut().pop().unwrap_or_default()
    }

    /// Takes a record of a request that came from `peer` and ended so many nanoseconds after 1970.
    #[inline]
    pub(crate) fn take(&self, mut record: Box<RequestRecord>, facts: &ApiFacts, peer: &str, unix_ns: u64) {
        self.recorded.add(1);
        let time = RecordTime::from_unix_ns(unix_ns);
        let hit = Hit { record: &record, facts, peer, time };
        self.sinks.borrow_mut().iter_mut().for_each(|sink| sink.take(&hit));
        record.clear();
        let mut spare = self.spare.borrow_mut();
        if spare.len() < SPARE_MAX {
            spare.push(record);
        }
    }

    /// Hands over what was gathered, if it is time; the core calls several times a second.
    pub(crate) fn tick(&self) {
        if self.flushed.get().elapsed() >= FLUSH_EVERY {
            self.flushed.set(Instant::now());
            self.sinks.borrow_mut().iter_mut().for_each(|sink| sink.flush(false));
        }
    }
}

impl Drop for Recorder {
    /// The core ends: hands over all.
    fn drop(&mut self) {
        self.sinks.borrow_mut().iter_mut().for_each(|sink| sink.flush(true));
    }
}

#[cfg(test)]
mod tests;
