//! Top lists by seven fields of a request, counted while somebody asks. Each core counts for a second by itself; then its counts are added to the
//! shared window.

use super::RequestWatch;
use super::entry::{key_id, path};
use crate::facts::ApiMetadata;
use crate::record::{RequestRecord, Text};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tollgate_statistics::{COUNTERS, SpaceSaving, Summary, TopCount, TopWindow, TopWindows};
use utoipa::ToSchema;

/// Counting ends so long after the last question.
const ASKED_FOR_S: u64 = 300;
const FIELDS: usize = 7;

/// Fields of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TopBy {
    Api,
    Key,
    Path,
    Status,
    Address,
    Agent,
    Method,
}

impl TopBy {
    pub const NAMES: [&str; FIELDS] = ["api", "key", "path", "status", "address", "agent", "method"];

    pub fn read(name: &str) -> Option<Self> {
        let all = [TopBy::Api, TopBy::Key, TopBy::Path, TopBy::Status, TopBy::Address, TopBy::Agent, TopBy::Method];
        all.into_iter().zip(Self::NAMES).find(|(_, known)| *known == name).map(|(by, _)| by)
    }
}

/// A window for the requests of one API, or of all.
pub struct TopWatcher {
    pub api: Option<String>,
    pub since_unix_s: u64,
    until_unix_s: AtomicU64,
    windows: Mutex<TopWindows<FIELDS>>,
}

/// What one core counts.
#[derive(Default)]
pub(super) struct CoreTop {
    watched: Vec<CoreCounters>,
    text: Vec<u8>,
}

struct CoreCounters {
    watcher: Arc<TopWatcher>,
    seen: u64,
    fields: [SpaceSaving; FIELDS],
}

impl TopWatcher {
    pub(super) fn new(api: Option<String>, unix_s: u64) -> Self {
        TopWatcher { api, since_unix_s: unix_s, until_unix_s: AtomicU64::new(unix_s + ASKED_FOR_S), windows: Mutex::default() }
    }

    /// Somebody asks: counting goes on.
    pub(super) fn ask(&self, unix_s: u64) {
        self.until_unix_s.store(unix_s + ASKED_FOR_S, Ordering::Relaxed);
    }

    pub(super) fn is_asked_for(&self, unix_s: u64) -> bool {
        unix_s < self.until_unix_s.load(Ordering::Relaxed)
    }

    /// The last `window_s` seconds of a field.
    pub fn window(&self, by: TopBy, unix_s: u64, window_s: u64) -> TopWindow {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner).window(by as usize, unix_s, window_s)
    }
}

impl CoreTop {
    /// Counts a request for each list that wants it.
    pub(super) fn count(&mut self, record: &RequestRecord, facts: &ApiMetadata, watch: &RequestWatch) {
        let wanted = watch.tops.load();
        if self.watched.len() != wanted.len()
            || !self.watched.iter().zip(wanted.iter()).all(|(own, top)| Arc::ptr_eq(&own.watcher, top))
        {
            self.follow(&wanted);
        }
        let one = TopCount {
            refused: u64::from(record.refusal.is_some() || (record.cause.is_some() && record.upstream_ns == 0)),
            server_errors: u64::from(record.status >= 500),
            response_bytes: record.response_bytes,
            total_ns: record.total_ns,
            ..TopCount::default()
        };
        for counters in &mut self.watched {
            if counters.watcher.api.as_ref().is_some_and(|api| *api != facts.id) {
                continue;
            }
            counters.seen += 1;
            let [api, key, path_field, status, address, agent, method] = &mut counters.fields;
            api.add(facts.id.as_bytes(), &one);
            if let Some(own) = &record.key {
                key.add(key_id(&own.shown, watch.hash_keys).as_bytes(), &one);
            }
            match record.call_path() {
                Some(call) => path_field.add(call.as_bytes(), &one),
                None => path_field.add(path(record).as_bytes(), &one),
            }
            let text = &mut self.text;
            text.clear();
            let _ = write!(text, "{}", record.status);
            status.add(text, &one);
            text.clear();
            let _ = write!(text, "{}", record.client_ip);
            address.add(text, &one);
            agent.add(record.bytes(Text::UserAgent), &one);
            method.add(record.bytes(Text::Method), &one);
        }
    }

    fn follow(&mut self, wanted: &[Arc<TopWatcher>]) {
        let mut old = std::mem::take(&mut self.watched);
        for watcher in wanted {
            let known = old.iter().position(|own| Arc::ptr_eq(&own.watcher, watcher));
            self.watched.push(match known {
                Some(place) => old.swap_remove(place),
                None => {
                    CoreCounters { watcher: watcher.clone(), seen: 0, fields: std::array::from_fn(|_| SpaceSaving::new(COUNTERS)) }
                }
            });
        }
    }

    /// Adds what was counted to the shared windows.
    pub(super) fn hand_over(&mut self, watch: &RequestWatch) {
        if self.watched.is_empty() {
            return;
        }
        let unix_s = tollgate_clock::unix_s();
        for counters in self.watched.iter_mut().filter(|counters| counters.seen > 0) {
            let fields: [Summary; FIELDS] = counters.fields.each_mut().map(SpaceSaving::take);
            let mut windows = counters.watcher.windows.lock().unwrap_or_else(PoisonError::into_inner);
            windows.add(unix_s, std::mem::take(&mut counters.seen), &fields);
        }
        if watch.tops.load().is_empty() {
            self.watched.clear();
        }
    }
}
