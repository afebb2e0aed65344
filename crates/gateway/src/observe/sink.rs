//! Where records go. A sink takes records in the aggregator's thread, which must not wait: it gathers, and hands batches to a thread of
//! its own that may. What that thread can't keep up with is dropped and counted.

mod access_log;
mod json_lines;
mod log_file;
mod redis_list;
mod usage;

pub use access_log::{AccessLog, wanted};
pub use json_lines::JsonLines;
pub use log_file::{LineWriter, LogFile};
pub use redis_list::RedisList;
pub use usage::UsageSink;

use super::facts::ApiFacts;
use super::record::Record;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tollgate_model::analytics::Time;

/// Batches that may wait for a sink's thread. One is at most a second's records.
const BATCHES_MAX: usize = 8;
/// At most one line in this time about a sink that fails.
const COMPLAINT_EVERY: Duration = Duration::from_secs(10);

/// A record with what is known of its API.
pub struct Hit<'a> {
    pub record: &'a Record,
    pub facts: &'a ApiFacts,
    /// When the request ended.
    pub time: Time,
}

/// Takes records.
pub trait Sink: Send {
    fn take(&mut self, hit: &Hit<'_>);

    /// Passes on what was gathered; comes about once a second, and at the end with `last`.
    fn flush(&mut self, last: bool);
}

/// What a sink did with its records.
pub struct SinkFigures {
    pub name: &'static str,
    /// On their way to its thread, or being written.
    pub waiting: AtomicU64,
    pub written: AtomicU64,
    pub dropped: AtomicU64,
    pub failed: AtomicU64,
}

/// The way to a sink's thread.
pub struct Handoff<T> {
    batches: Option<SyncSender<(T, u64)>>,
    figures: Arc<SinkFigures>,
    complaints: Complaints,
    thread: Option<JoinHandle<()>>,
}

/// Says that records are lost, but not all the time.
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

impl<T: Send + 'static> Handoff<T> {
    /// Starts a thread that writes batches.
    pub fn start(figures: Arc<SinkFigures>, write: impl FnMut(T) -> Result<(), String> + Send + 'static) -> std::io::Result<Self> {
        Handoff::with_room(figures, BATCHES_MAX, write)
    }

    /// The same with room for so many batches that wait.
    pub fn with_room(
        figures: Arc<SinkFigures>,
        batches_max: usize,
        mut write: impl FnMut(T) -> Result<(), String> + Send + 'static,
    ) -> std::io::Result<Self> {
        let (batches, inbox) = sync_channel::<(T, u64)>(batches_max);
        let own = figures.clone();
        let run = move || {
            let mut complaints = Complaints::default();
            while let Ok((batch, count)) = inbox.recv() {
                match write(batch) {
                    Ok(()) => own.written.fetch_add(count, Ordering::Relaxed),
                    Err(error) => {
                        complaints.say(own.name, &error);
                        own.failed.fetch_add(count, Ordering::Relaxed)
                    }
                };
                own.waiting.fetch_sub(count, Ordering::Relaxed);
            }
        };
        let thread = std::thread::Builder::new().name(figures.name.to_owned()).spawn(run)?;
        Ok(Handoff { batches: Some(batches), figures, complaints: Complaints::default(), thread: Some(thread) })
    }

    /// Hands a batch of so many records over, or drops it: false then.
    pub fn give(&mut self, batch: T, count: u64) -> bool {
        self.figures.waiting.fetch_add(count, Ordering::Relaxed);
        let sent = self.batches.as_ref().is_some_and(|batches| batches.try_send((batch, count)).is_ok());
        if !sent {
            self.figures.waiting.fetch_sub(count, Ordering::Relaxed);
            self.lose(count);
        }
        sent
    }

    /// Counts records that found no room.
    pub fn lose(&mut self, count: u64) {
        self.complaints.say(self.figures.name, "what writes them is too slow, or can't");
        self.figures.dropped.fetch_add(count, Ordering::Relaxed);
    }
}

impl<T> Drop for Handoff<T> {
    /// Waits until all batches are written.
    fn drop(&mut self) {
        self.batches = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
