//! Sums by minute into the embedded store, for `/tyk/usage`. What would make too many rows is summed as `_other`.

use super::{Handoff, Hit, Sink, SinkFigures};
use crate::observe::analytics::Analyst;
use crate::observe::histogram::REQUEST_NS;
use crate::observe::record::Text;
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tollgate_store::usage::{BUCKETS, Usage, UsageCounts, UsageKey};

/// Rows between two writes.
const ROWS_MAX: usize = 10_000;
/// Paths that are told apart for one API, and for all of them, since the start.
const PATHS_MAX: usize = 500;
const ALL_PATHS_MAX: usize = 50_000;
/// How old sums may be before they are on the disk.
const WRITE_EVERY: Duration = Duration::from_secs(5);
/// Between two looks for what is too old.
const FORGET_EVERY: Duration = Duration::from_secs(3600);
const OTHER: &str = "_other";

pub struct UsageSink {
    analyst: Arc<Analyst>,
    rows: HashMap<UsageKey, UsageCounts>,
    hits: u64,
    paths: HashMap<String, HashSet<String>>,
    all_paths: usize,
    written: Instant,
    handoff: Handoff<Vec<(UsageKey, UsageCounts)>>,
}

impl UsageSink {
    pub fn start(analyst: Arc<Analyst>, usage: Usage, days: u32, figures: Arc<SinkFigures>) -> io::Result<Self> {
        let mut forgot: Option<Instant> = None;
        let write = move |rows: Vec<(UsageKey, UsageCounts)>| {
            usage.add(&rows).map_err(|fault| fault.to_string())?;
            if forgot.is_none_or(|at| at.elapsed() > FORGET_EVERY) {
                forgot = Some(Instant::now());
                let newest = rows.iter().map(|(key, _)| key.minute).max().unwrap_or_default();
                usage.remove_before(newest - i64::from(days) * 24 * 60).map_err(|fault| fault.to_string())?;
            }
            Ok(())
        };
        Ok(UsageSink {
            analyst,
            rows: HashMap::new(),
            hits: 0,
            paths: HashMap::new(),
            all_paths: 0,
            written: Instant::now(),
            handoff: Handoff::start(figures, write)?,
        })
    }

    /// The path, if it is one of those that are told apart.
    fn known_path(&mut self, api: &str, path: String) -> String {
        if !self.paths.contains_key(api) {
            self.paths.insert(api.to_owned(), HashSet::new());
        }
        let Some(paths) = self.paths.get_mut(api) else { return path };
        if paths.contains(&path) {
            return path;
        }
        if paths.len() >= PATHS_MAX || self.all_paths >= ALL_PATHS_MAX {
            return OTHER.to_owned();
        }
        self.all_paths += 1;
        paths.insert(path.clone());
        path
    }
}

impl Sink for UsageSink {
    fn take(&mut self, hit: &Hit<'_>) {
        if !hit.record.analytics {
            return;
        }
        let (record, facts) = (hit.record, hit.facts);
        let path = self.known_path(&facts.id, self.analyst.uniform_path(record));
        let mut key = UsageKey {
            minute: hit.time.unix_s.div_euclid(60),
            api: facts.id.clone(),
            key: record.key.as_ref().map(|key| key.shown.to_string()).unwrap_or_default(),
            version: record.text(Text::Version).into_owned(),
            method: crate::observe::method_name(&record.text(Text::Method)).to_owned(),
            path,
            status: record.status,
        };
        if self.rows.len() >= ROWS_MAX && !self.rows.contains_key(&key) {
            key.path = OTHER.to_owned();
            key.key = OTHER.to_owned();
        }
        let us = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let ns = record.total.as_nanos();
        let bucket = REQUEST_NS.iter().position(|bound| ns <= u128::from(*bound)).unwrap_or(BUCKETS - 1);
        let mut buckets = [0; BUCKETS];
        if let Some(own) = buckets.get_mut(bucket) {
            *own = 1;
        }
        self.rows.entry(key).or_default().add(&UsageCounts {
            hits: 1,
            total_us: us(record.total),
            upstream_us: us(record.upstream),
            max_us: us(record.total),
            request_bytes: record.request_bytes,
            response_bytes: record.response_bytes,
            buckets,
        });
        self.hits += 1;
    }

    fn flush(&mut self, last: bool) {
        let is_time = last || self.rows.len() >= ROWS_MAX || self.written.elapsed() >= WRITE_EVERY;
        if is_time && self.hits > 0 {
            self.written = Instant::now();
            self.handoff.give(self.rows.drain().collect(), std::mem::take(&mut self.hits));
        }
    }
}

#[cfg(test)]
mod tests;
