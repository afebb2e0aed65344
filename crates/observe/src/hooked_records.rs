//! Records that a plugin changes or drops before they are written. The plugin gets a record when its request has ended. What comes back is
//! written by a thread of its own, to the same sinks as all other records. A record whose plugin fails is not written: it may hide
//! something that nobody must see.

use super::analytics::Analyst;
use super::changed_record::ChangedRecord;
use super::hook_meter::HookResult;
use super::record_hook::RecordHook;
use super::record_ref::RecordRef;
use super::sink::{RecordWriter, SinkFigures};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use tollgate_clock::MonoTime;
use tollgate_model::analytics::{AnalyticsRecord, GraphqlStats};
use tollgate_plugin::{HookFault, RecordAnswer};

/// Records that are with plugins or on their way back. They take some KiB each, and a plugin that is too slow for its requests stays so.
const RECORDS_MAX: u64 = 16_384;
/// Bytes of these records, which may contain bodies.
const RECORD_BYTES_MAX: usize = 64 << 20;
/// Initial buffer size of a record.
const RECORD_BYTES: usize = 2_048;
/// Maximum age of buffered records.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// A core's way to the plugins and the thread that writes what comes back.
#[derive(Clone)]
pub struct HookedRecords {
    analyst: Arc<Analyst>,
    changed: SyncSender<ChangedRecord>,
    bytes: Arc<AtomicUsize>,
    figures: Arc<SinkFigures>,
}

/// A record that is with its plugin. If it is dropped, the record has failed.
struct PendingRecord {
    records: HookedRecords,
    hook: Arc<RecordHook>,
    api: String,
    began: MonoTime,
    bytes: usize,
    graphql: Option<Box<GraphqlStats>>,
    measured: ChangedRecord,
    is_settled: bool,
}

impl HookedRecords {
    /// Starts the thread that writes changed records. It ends when no core is left.
    pub fn start(analyst: Arc<Analyst>, sinks: Vec<Box<dyn RecordWriter>>, figures: Arc<SinkFigures>) -> io::Result<Self> {
        let (changed, receiver) = sync_channel(RECORDS_MAX as usize);
        let own = figures.clone();
        std::thread::Builder::new().name("record-plugins".to_owned()).spawn(move || write(&receiver, sinks, &own))?;
        Ok(HookedRecords { analyst, changed, bytes: Arc::default(), figures })
    }

    /// Hands a record to its plugin.
    pub fn take(&self, hook: &Arc<RecordHook>, hit: &RecordRef<'_>) {
        let Some(plugin) = &hook.plugin else {
            self.figures.failed.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let mut made = self.analyst.record(hit);
        let mut json = Vec::with_capacity(RECORD_BYTES);
        made.append_json(&mut json);
        let (waiting, bytes) = (self.figures.waiting.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed));
        // A single record always fits.
        if waiting >= RECORDS_MAX || (bytes > 0 && bytes + json.len() > RECORD_BYTES_MAX) {
            self.figures.dropped.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(api = hit.facts.id, "a record is lost: its plugin is too slow");
            return;
        }
        self.figures.waiting.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(json.len(), Ordering::Relaxed);
        let pending = PendingRecord {
            records: self.clone(),
            hook: hook.clone(),
            api: hit.facts.id.clone(),
            began: MonoTime::now(),
            bytes: json.len(),
            graphql: made.graphql.take(),
            measured: ChangedRecord {
                record: AnalyticsRecord::default(),
                total_ns: hit.record.total_ns,
                upstream_ns: hit.record.upstream_ns,
                request_bytes: hit.record.request_bytes,
                response_bytes: hit.record.response_bytes,
                failure_status: hit.record.failure_status,
            },
            is_settled: false,
        };
        // The record's texts are valid, and so is their JSON.
        plugin.process(String::from_utf8(json).unwrap_or_default(), Box::new(move |answer| pending.settle(answer)));
    }
}

impl PendingRecord {
    fn settle(mut self, answer: Result<RecordAnswer, HookFault>) {
        let took = Duration::from_nanos(MonoTime::now().ns_since(self.began));
        let made = answer.and_then(|answer| match answer {
            RecordAnswer::Dropped => Ok(None),
            // A list would be read as one of members.
            RecordAnswer::Changed(text) if !text.starts_with('{') => Err(HookFault::Failed("it returned no record".to_owned())),
            RecordAnswer::Changed(text) => match serde_json::from_str::<AnalyticsRecord<'static>>(&text) {
                Ok(record) => Ok(Some(record)),
                Err(error) => Err(HookFault::Failed(format!("it returned no record: {error}"))),
            },
        });
        let figures = self.records.figures.clone();
        self.is_settled = true;
        self.hook.meter.add(took, HookResult::of(made.as_ref().err()));
        match made {
            Ok(None) => {}
            Ok(Some(record)) => {
                let graphql = self.graphql.take();
                let changed = ChangedRecord { record: AnalyticsRecord { graphql, ..record }, ..self.measured };
                if self.records.changed.try_send(changed).is_err() {
                    figures.dropped.fetch_add(1, Ordering::Relaxed);
                }
            }
            Err(fault) => {
                tracing::warn!(api = self.api, %fault, "a plugin failed: its record is not written");
                figures.failed.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for PendingRecord {
    fn drop(&mut self) {
        let figures = &self.records.figures;
        figures.waiting.fetch_sub(1, Ordering::Relaxed);
        self.records.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        if !self.is_settled {
            figures.failed.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Passes records to the sinks until no core is left.
fn write(changed: &Receiver<ChangedRecord>, mut sinks: Vec<Box<dyn RecordWriter>>, figures: &SinkFigures) {
    let mut flushed = Instant::now();
    // Nothing wakes the thread of a gateway without such plugins.
    let mut next = changed.recv().map_err(|_| RecvTimeoutError::Disconnected);
    loop {
        match next {
            Ok(record) => {
                sinks.iter_mut().for_each(|sink| sink.take_changed(&record));
                figures.written.fetch_add(1, Ordering::Relaxed);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if flushed.elapsed() >= FLUSH_EVERY {
            flushed = Instant::now();
            sinks.iter_mut().for_each(|sink| sink.flush(false));
        }
        next = changed.recv_timeout(FLUSH_EVERY);
    }
    sinks.iter_mut().for_each(|sink| sink.flush(true));
}
