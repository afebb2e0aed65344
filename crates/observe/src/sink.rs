//! Destinations of records. Each core has its own sinks, which must not block: they serialise records and hand batches to a thread
//! that may block. The sinks of one kind share that thread. Batches that it cannot keep up with are dropped and counted.

mod access_log;
mod json_lines;
mod log_file;
mod redis_list;
mod request_metrics;
mod spend;
mod usage;

pub use access_log::{AccessLogSink, Identifiers};
pub use json_lines::JsonLines;
pub use log_file::{FileLineWriter, LogFile};
pub use redis_list::RedisList;
pub use request_metrics::{CountedSeries, Instrument, RequestMetrics, RequestMetricsSink, Sums};
pub use spend::SpendSink;
pub use usage::{UsageSink, client_name};

use super::changed_record::ChangedRecord;
use super::record_ref::RecordRef;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Minimum interval between log lines about a failing sink.
const COMPLAINT_EVERY: Duration = Duration::from_secs(10);

/// Accepts the records of one core.
pub trait RecordWriter: Send {
    fn take(&mut self, hit: &RecordRef<'_>);

    /// Accepts an analytics record that a plugin has changed.
    fn take_changed(&mut self, _changed: &ChangedRecord) {}

    /// Passes on buffered records; called about once a second, and at the end with `last`.
    fn flush(&mut self, last: bool);
}

/// Writes batches on its own thread.
pub trait Write<T>: Send + 'static {
    /// Writes a batch; on error, its records are lost.
    fn write(&mut self, batch: T) -> Result<(), String>;
}

impl<T, F: FnMut(T) -> Result<(), String> + Send + 'static> Write<T> for F {
    fn write(&mut self, batch: T) -> Result<(), String> {
        self(batch)
    }
}

/// Statistics of a sink.
pub struct SinkFigures {
    pub name: &'static str,
    /// Records on their way to the thread or being written.
    pub waiting: AtomicU64,
    pub written: AtomicU64,
    pub dropped: AtomicU64,
    pub failed: AtomicU64,
}

/// A core's handle of a sink's thread.
pub struct BatchSender<T> {
    batches: SyncSender<(T, u64)>,
    records_max: u64,
    figures: Arc<SinkFigures>,
    complaints: Complaints,
}

/// Queue limits of a sink's thread.
#[derive(Clone, Copy, Debug)]
pub struct SinkRoom {
    pub batches: usize,
    /// Maximum records; a single batch always fits.
    pub records: u64,
}

/// A sink's thread. It ends when no core has a handle of it any more.
pub struct SinkThread {
    name: &'static str,
    ended: Receiver<()>,
    /// Tells the writer that the gateway shuts down.
    end: Option<Box<dyn FnOnce() + Send>>,
}

/// Logs that records are lost, with a minimum interval.
#[derive(Default)]
struct Complaints(Option<Instant>);

impl Complaints {
    fn say(&mut self, sink: &str, why: &str) {
        if self.0.is_none_or(|at| at.elapsed() > COMPLAINT_EVERY) {
            self.0 = Some(Instant::now());
            tracing::error!(sink, error = why, "records are lost");
        }
    }
}

impl SinkFigures {
    pub fn new(name: &'static str) -> Arc<Self> {
        Arc::new(SinkFigures {
            name,
            waiting: AtomicU64::new(0),
            written: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        })
    }
}

impl<T: Send + 'static> BatchSender<T> {
    /// Starts a thread that writes batches.
    pub fn start(figures: Arc<SinkFigures>, room: SinkRoom, mut writer: impl Write<T>) -> std::io::Result<(Self, SinkThread)> {
        let (batches, given) = sync_channel::<(T, u64)>(room.batches);
        let (end, ended) = sync_channel(0);
        let own = figures.clone();
        let run = move || {
            let _end = end;
            let mut complaints = Complaints::default();
            while let Ok((batch, count)) = given.recv() {
                match writer.write(batch) {
                    Ok(()) => own.written.fetch_add(count, Ordering::Relaxed),
                    Err(error) => {
                        complaints.say(own.name, &error);
                        own.failed.fetch_add(count, Ordering::Relaxed)
                    }
                };
                own.waiting.fetch_sub(count, Ordering::Relaxed);
            }
            // The writer may have final output of its own.
            drop(writer);
        };
        std::thread::Builder::new().name(figures.name.to_owned()).spawn(run)?;
        let writer = SinkThread { name: figures.name, ended, end: None };
        Ok((BatchSender { batches, records_max: room.records, figures, complaints: Complaints::default() }, writer))
    }

    /// Hands over a batch of `count` records. If it does not fit, drops it and returns false.
    pub fn give(&mut self, batch: T, count: u64) -> bool {
        let waiting = self.figures.waiting.fetch_add(count, Ordering::Relaxed);
        let has_room = waiting == 0 || waiting.saturating_add(count) <= self.records_max;
        let sent = has_room && self.batches.try_send((batch, count)).is_ok();
        if !sent {
            self.figures.waiting.fetch_sub(count, Ordering::Relaxed);
            self.lose(count);
        }
        sent
    }

    /// Counts records that did not fit.
    pub fn lose(&mut self, count: u64) {
        self.complaints.say(self.figures.name, "what writes them is too slow, or can't");
        self.figures.dropped.fetch_add(count, Ordering::Relaxed);
    }
}

impl<T> Clone for BatchSender<T> {
    /// A handle for another core.
    fn clone(&self) -> Self {
        BatchSender {
            batches: self.batches.clone(),
            records_max: self.records_max,
            figures: self.figures.clone(),
            complaints: Complaints::default(),
        }
    }
}

impl SinkThread {
    /// Adds a callback for the start of the shutdown.
    pub fn at_end(mut self, end: impl FnOnce() + Send + 'static) -> Self {
        self.end = Some(Box::new(end));
        self
    }

    /// Tells the writer that the gateway shuts down: from now on nothing waits for long.
    pub fn end(&mut self) {
        self.end.take().into_iter().for_each(|end| end());
    }

    /// Waits until all batches are written, at most `time_max`; logs an error if they are not.
    pub fn wait(self, time_max: Duration) {
        if self.ended.recv_timeout(time_max) == Err(RecvTimeoutError::Timeout) {
            tracing::error!(sink = self.name, "records are lost: the sink does not end");
        }
    }
}

#[cfg(test)]
mod tests;
