//! The thread that takes records from the cores' rings and shows them to the sinks.

use super::facts::{ApiFacts, Directory};
use super::ring::Drain;
use super::sink::{Hit, Sink};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant, SystemTime};
use tollgate_model::analytics::Time;

/// How long the thread sleeps when little comes, and when much does.
const SLEEP: Duration = Duration::from_millis(50);
const SHORT_SLEEP: Duration = Duration::from_millis(5);
/// What is much, of one look.
const MANY: usize = 500;
const FLUSH_EVERY: Duration = Duration::from_secs(1);
const PURGE_EVERY: Duration = Duration::from_secs(10);
/// How long a stop waits for sinks that do not end.
const STOP_TIME_MAX: Duration = Duration::from_secs(5);

/// A running aggregator.
pub struct Aggregator {
    stop: Arc<AtomicBool>,
    stopped: Receiver<()>,
}

impl Aggregator {
    pub fn start(drains: Vec<Drain>, sinks: Vec<Box<dyn Sink>>, directory: Arc<Directory>) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (done, stopped) = channel();
        let mut work = Work { drains, sinks, directory, facts: HashMap::new(), stop: stop.clone() };
        let run = move || {
            work.run();
            // Sinks finish their writing as they are dropped.
            drop(work);
            let _ = done.send(());
        };
        std::thread::Builder::new().name("records".to_owned()).spawn(run)?;
        Ok(Aggregator { stop, stopped })
    }

    /// Writes what has come so far, and ends.
    pub fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        if self.stopped.recv_timeout(STOP_TIME_MAX).is_err() {
            tracing::error!("records are lost: a sink does not end");
        }
    }
}

struct Work {
    drains: Vec<Drain>,
    sinks: Vec<Box<dyn Sink>>,
    directory: Arc<Directory>,
    facts: HashMap<u64, Arc<ApiFacts>>,
    stop: Arc<AtomicBool>,
}

impl Work {
    fn run(&mut self) {
        let (mut flushed, mut purged) = (Instant::now(), Instant::now());
        let mut idle = Vec::new();
        loop {
            let last = self.stop.load(Ordering::Relaxed);
            let seen = self.drain();
            if last || flushed.elapsed() >= FLUSH_EVERY {
                flushed = Instant::now();
                self.sinks.iter_mut().for_each(|sink| sink.flush(last));
            }
            if last {
                return;
            }
            if purged.elapsed() >= PURGE_EVERY {
                purged = Instant::now();
                self.facts.clear();
                idle = self.directory.purge(&idle);
            }
            std::thread::sleep(if seen > MANY { SHORT_SLEEP } else { SLEEP });
        }
    }

    /// Shows all records that wait to all sinks.
    fn drain(&mut self) -> usize {
        let Work { drains, sinks, directory, facts, .. } = self;
        let (now, unix) = (Instant::now(), SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default());
        let mut seen = 0;
        for drain in drains {
            seen += drain.each(|record| {
                if !facts.contains_key(&record.api)
                    && let Some(own) = directory.get(record.api)
                {
                    facts.insert(record.api, own);
                }
                let Some(facts) = facts.get(&record.api) else { return };
                let ago = now.saturating_duration_since(record.ended.unwrap_or(now));
                let at = unix.saturating_sub(ago);
                let time = Time { unix_s: i64::try_from(at.as_secs()).unwrap_or(i64::MAX), ns: at.subsec_nanos() };
                let hit = Hit { record, facts, time };
                sinks.iter_mut().for_each(|sink| sink.take(&hit));
            });
        }
        seen
    }
}
