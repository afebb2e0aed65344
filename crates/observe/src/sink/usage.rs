//! Writes sums per minute to the embedded store, for `/tyk/usage`. Requests beyond the limits of rows and paths are summed as `_other`.

use super::{BatchSender, RecordWriter, SinkFigures, SinkRoom, SinkThread};
use crate::analytics::{Analyst, NO_KEY_HASH};
use crate::changed_record::ChangedRecord;
use crate::record::{RequestRecord, Text};
use crate::record_ref::RecordRef;
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tollgate_model::analytics::{AnalyticsRecord, NOT_VERSIONED};
use tollgate_model::distribution::REQUEST_NS;
use tollgate_model::session::PrimitiveKind;
use tollgate_store::usage::{BUCKETS, Usage, UsageCounts, UsageKey};

/// Maximum rows of one core between two writes.
const ROWS_MAX: usize = 10_000;
/// Maximum waiting batches. One contains a core's sums of five seconds.
const BATCHES_MAX: usize = 16;
/// Maximum distinct paths since the start, for one API and for all together.
const PATHS_MAX: usize = 500;
const ALL_PATHS_MAX: usize = 50_000;
/// Maximum age of sums that are not on disk.
const WRITE_EVERY: Duration = Duration::from_secs(5);
/// Interval between deletions of expired sums.
const FORGET_EVERY: Duration = Duration::from_secs(3600);
const OTHER: &str = "_other";
const NS_PER_US: u64 = 1_000;

/// Sums of one core.
#[derive(Clone)]
pub struct UsageSink {
    analyst: Arc<Analyst>,
    rows: HashMap<UsageKey, UsageCounts>,
    /// Sums of requests with identical fields, and their rows: most requests are like a recent one.
    alike: HashMap<Box<[u8]>, (UsageKey, UsageCounts)>,
    /// Serialised fields of the current request, in a reused buffer.
    said: Vec<u8>,
    hits: u64,
    written: Instant,
    handoff: BatchSender<Vec<(UsageKey, UsageCounts)>>,
}

/// Writes the sums of all cores.
struct UsageTable {
    usage: Usage,
    days: u32,
    /// When expired sums were last deleted.
    forgot: Option<Instant>,
    /// Distinct paths by API.
    paths: HashMap<String, HashSet<String>>,
    all_paths: usize,
}

impl UsageTable {
    fn write(&mut self, sums: Vec<(UsageKey, UsageCounts)>) -> Result<(), String> {
        let mut rows: HashMap<UsageKey, UsageCounts> = HashMap::with_capacity(sums.len());
        for (mut key, counts) in sums {
            if !self.is_told_apart(&key.api, &key.path) {
                key.path = OTHER.to_owned();
            }
            rows.entry(key).or_default().add(&counts);
        }
        let rows: Vec<(UsageKey, UsageCounts)> = rows.into_iter().collect();
        self.usage.add(&rows).map_err(|fault| fault.to_string())?;
        if self.forgot.is_none_or(|at| at.elapsed() > FORGET_EVERY) {
            self.forgot = Some(Instant::now());
            let newest = rows.iter().map(|(key, _)| key.minute).max().unwrap_or_default();
            self.usage.remove_before(newest - i64::from(self.days) * 24 * 60).map_err(|fault| fault.to_string())?;
        }
        Ok(())
    }

    /// Whether a path has its own rows.
    fn is_told_apart(&mut self, api: &str, path: &str) -> bool {
        if path == OTHER {
            return true;
        }
        if !self.paths.contains_key(api) {
            self.paths.insert(api.to_owned(), HashSet::new());
        }
        let Some(paths) = self.paths.get_mut(api) else { return false };
        if paths.contains(path) {
            return true;
        }
        let has_room = paths.len() < PATHS_MAX && self.all_paths < ALL_PATHS_MAX;
        if has_room {
            self.all_paths += 1;
            paths.insert(path.to_owned());
        }
        has_room
    }
}

impl UsageSink {
    pub fn start(analyst: Arc<Analyst>, usage: Usage, days: u32, figures: Arc<SinkFigures>) -> io::Result<(Self, SinkThread)> {
        let mut table = UsageTable { usage, days, forgot: None, paths: HashMap::new(), all_paths: 0 };
        let room = SinkRoom { batches: BATCHES_MAX, records: u64::MAX };
        let (handoff, writer) = BatchSender::start(figures, room, move |rows| table.write(rows))?;
        let sink = UsageSink {
            analyst,
            rows: HashMap::new(),
            alike: HashMap::new(),
            said: Vec::new(),
            hits: 0,
            written: Instant::now(),
            handoff,
        };
        Ok((sink, writer))
    }

    /// Reads the fields that determine the row of a request.
    fn read(&mut self, hit: &RecordRef<'_>) {
        let said = &mut self.said;
        said.clear();
        said.extend_from_slice(&minute(hit).to_le_bytes());
        said.extend_from_slice(&hit.facts.serial.to_le_bytes());
        said.extend_from_slice(&counted_status(hit.record).to_le_bytes());
        for text in [Text::Method, Text::Version, Text::TrackedPath, Text::Path, Text::McpMethod, Text::McpPrimitive] {
            let bytes = hit.record.bytes(text);
            said.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            said.extend_from_slice(bytes);
        }
        said.extend_from_slice(hit.record.mcp_kind().as_bytes());
        hit.record.key.iter().for_each(|key| said.extend_from_slice(key.shown.as_bytes()));
    }

    /// The row of a request.
    fn key(&self, hit: &RecordRef<'_>) -> UsageKey {
        let (record, facts) = (hit.record, hit.facts);
        UsageKey {
            minute: minute(hit),
            api: facts.id.clone(),
            key: record.key.as_ref().map(|key| user_name(&key.session.oauth_client_id, &key.shown)).unwrap_or_default(),
            version: record.text(Text::Version).into_owned(),
            method: crate::method_name(&record.text(Text::Method)).to_owned(),
            path: own_path(facts.is_mcp && record.bytes(Text::McpMethod).is_empty(), self.analyst.uniform_path(record)),
            status: counted_status(record),
        }
    }

    /// Adds the sums of identical requests to the rows.
    fn sum_up(&mut self) {
        for (_, (key, counts)) in std::mem::take(&mut self.alike) {
            self.add(key, &counts);
        }
    }

    fn add(&mut self, mut key: UsageKey, counts: &UsageCounts) {
        if self.rows.len() >= ROWS_MAX && !self.rows.contains_key(&key) {
            key.path = OTHER.to_owned();
            key.key = OTHER.to_owned();
        }
        self.rows.entry(key).or_default().add(counts);
    }

    /// The row of a record that a plugin has changed.
    fn changed_key(&self, record: &AnalyticsRecord<'_>) -> UsageKey {
        let version = if record.api_version == NOT_VERSIONED { "" } else { &record.api_version };
        UsageKey {
            minute: record.timestamp.unix_s.div_euclid(60),
            api: record.api_id.to_string(),
            key: match &*record.api_key {
                NO_KEY_HASH => String::new(),
                key => user_name(&record.oauth_id, key),
            },
            version: version.to_owned(),
            method: crate::method_name(&record.method).to_owned(),
            path: call_path(record).unwrap_or_else(|| {
                let path = if record.track_path { record.path.to_string() } else { self.analyst.uniform(&record.path) };
                own_path(record.mcp.is_some(), path)
            }),
            status: u16::try_from(record.response_code).unwrap_or_default(),
        }
    }
}

impl RecordWriter for UsageSink {
    fn take(&mut self, hit: &RecordRef<'_>) {
        if !hit.record.analytics {
            return;
        }
        self.hits += 1;
        self.read(hit);
        if let Some((_, counts)) = self.alike.get_mut(self.said.as_slice()) {
            return count(counts, &Measured::of(hit.record));
        }
        if self.alike.len() >= ROWS_MAX {
            self.sum_up();
        }
        let mut counts = UsageCounts::default();
        count(&mut counts, &Measured::of(hit.record));
        let key = self.key(hit);
        self.alike.insert(self.said.as_slice().into(), (key, counts));
    }

    fn take_changed(&mut self, changed: &ChangedRecord) {
        self.hits += 1;
        let mut counts = UsageCounts::default();
        count(&mut counts, &Measured::of_changed(changed));
        let key = self.changed_key(&changed.record);
        let key = UsageKey { status: changed.failure_status.unwrap_or(key.status), ..key };
        self.add(key, &counts);
    }

    fn flush(&mut self, last: bool) {
        let is_time = last || self.rows.len() + self.alike.len() >= ROWS_MAX || self.written.elapsed() >= WRITE_EVERY;
        if is_time && self.hits > 0 {
            self.written = Instant::now();
            self.sum_up();
            self.handoff.give(self.rows.drain().collect(), std::mem::take(&mut self.hits));
        }
    }
}

/// Who is counted: a key, or the OAuth client of a token. Tokens come and go, a client stays.
fn user_name(client: &str, key: &str) -> String {
    if client.is_empty() { key.to_owned() } else { client_name(client) }
}

/// How rows of usage name an OAuth client in place of a key.
pub fn client_name(client: &str) -> String {
    format!("oauth-client/{client}")
}

/// The status under which a request is counted.
fn counted_status(record: &RequestRecord) -> u16 {
    record.failure_status.unwrap_or(record.status)
}

/// A path that is no call's must not look like one, to whoever counts calls.
fn own_path(may_look_like_call: bool, path: String) -> String {
    if may_look_like_call && PrimitiveKind::is_call_path(&path) { OTHER.to_owned() } else { path }
}

/// The path of the endpoint that a call of an MCP proxy stands for.
fn call_path(record: &AnalyticsRecord<'_>) -> Option<String> {
    let call = record.mcp.as_ref().filter(|call| !call.jsonrpc_method.is_empty())?;
    let kind = PrimitiveKind::named(&call.primitive_type);
    let (prefix, name) =
        kind.map_or((PrimitiveKind::METHOD_PATH_PREFIX, &call.jsonrpc_method), |kind| (kind.path_prefix(), &call.primitive_name));
    Some([prefix, name].concat())
}

fn minute(hit: &RecordRef<'_>) -> i64 {
    hit.time.unix_s.div_euclid(60)
}

/// What is summed of a request.
struct Measured {
    total_ns: u64,
    upstream_ns: u64,
    request_bytes: u64,
    response_bytes: u64,
}

impl Measured {
    fn of(record: &RequestRecord) -> Self {
        let RequestRecord { total_ns, upstream_ns, request_bytes, response_bytes, .. } = *record;
        Measured { total_ns, upstream_ns, request_bytes, response_bytes }
    }

    fn of_changed(changed: &ChangedRecord) -> Self {
        let ChangedRecord { total_ns, upstream_ns, request_bytes, response_bytes, .. } = *changed;
        Measured { total_ns, upstream_ns, request_bytes, response_bytes }
    }
}

/// Counts one request.
fn count(counts: &mut UsageCounts, measured: &Measured) {
    let total_us = measured.total_ns / NS_PER_US;
    counts.hits += 1;
    counts.total_us += total_us;
    counts.upstream_us += measured.upstream_ns / NS_PER_US;
    counts.max_us = counts.max_us.max(total_us);
    counts.request_bytes += measured.request_bytes;
    counts.response_bytes += measured.response_bytes;
    let bucket = REQUEST_NS.iter().position(|bound| measured.total_ns <= *bound).unwrap_or(BUCKETS - 1);
    counts.buckets.get_mut(bucket).into_iter().for_each(|own| *own += 1);
}

#[cfg(test)]
mod tests;
