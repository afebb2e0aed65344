//! Recording on one core: a pool of records, and the core's own sinks, which see a record while it is still in the CPU cache. Other
//! cores and threads receive only the batches that sinks hand over.

use super::facts::ApiMetadata;
use super::hooked_records::HookedRecords;
use super::record::RequestRecord;
use super::record_ref::RecordRef;
use super::sink::RecordWriter;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tollgate_engine::Counter;
use tollgate_model::analytics::RecordTime;

/// Maximum age of buffered records.
const FLUSH_EVERY: Duration = Duration::from_secs(1);
/// Unused records kept for reuse.
const SPARE_MAX: usize = 256;

/// Passes the records of one core to its sinks.
pub struct Recorder {
    sinks: RefCell<Vec<Box<dyn RecordWriter>>>,
    /// Boxed as they are passed on: a record has half a kilobyte.
    #[allow(clippy::vec_box)]
    spare: RefCell<Vec<Box<RequestRecord>>>,
    /// Where records go that a plugin changes.
    hooked: Option<HookedRecords>,
    recorded: Arc<Counter>,
    flushed: Cell<Instant>,
}

impl Recorder {
    /// `recorded` counts the records.
    pub fn new(sinks: Vec<Box<dyn RecordWriter>>, hooked: Option<HookedRecords>, recorded: Arc<Counter>) -> Self {
        Recorder { sinks: RefCell::new(sinks), spare: RefCell::default(), hooked, recorded, flushed: Cell::new(Instant::now()) }
    }

    /// An empty record.
    #[inline]
    pub fn blank(&self) -> Box<RequestRecord> {
        self.spare.borrow_mut().pop().unwrap_or_default()
    }

    /// Takes the record of a request from `peer` that ended at `unix_ns`, in nanoseconds since 1970.
    #[inline]
    pub fn take(&self, mut record: Box<RequestRecord>, facts: &ApiMetadata, peer: &str, unix_ns: u64) {
        self.recorded.add(1);
        let time = RecordTime::from_unix_ns(unix_ns);
        if record.analytics
            && let (Some(hook), Some(hooked)) = (&facts.record_hook, &self.hooked)
        {
            hooked.take(hook, &RecordRef { record: &record, facts, peer, time });
            record.analytics = false;
        }
        let hit = RecordRef { record: &record, facts, peer, time };
        self.sinks.borrow_mut().iter_mut().for_each(|sink| sink.take(&hit));
        record.clear();
        let mut spare = self.spare.borrow_mut();
        if spare.len() < SPARE_MAX {
            spare.push(record);
        }
    }

    /// Hands over buffered records when it is time; called several times a second.
    pub fn tick(&self) {
        if self.flushed.get().elapsed() >= FLUSH_EVERY {
            self.flushed.set(Instant::now());
            self.sinks.borrow_mut().iter_mut().for_each(|sink| sink.flush(false));
        }
    }
}

impl Drop for Recorder {
    /// The core ends: hands over everything.
    fn drop(&mut self) {
        self.sinks.borrow_mut().iter_mut().for_each(|sink| sink.flush(true));
    }
}

#[cfg(test)]
mod tests;
