//! Pushes Tyk's records to the Redis list that tyk-pump drains. While Redis is unavailable, records wait up to a limit.

use super::{BatchSender, RecordWriter, SinkFigures, SinkRoom, SinkThread, Write};
use crate::analytics::Analyst;
use crate::changed_record::ChangedRecord;
use crate::record_ref::RecordRef;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tollgate_model::analytics::AnalyticsRecord;
use tollgate_model::config::GatewayConfig;
use tollgate_store::{Redis, StoreFault, StoreFaultKind};

/// Name of the list in Tyk and tyk-pump, and its suffix for Protocol Buffers.
const LIST: &str = "analytics-tyk-system-analytics";
const PROTOBUF_SUFFIX: &str = "_protobuf";
/// Number of lists when records are distributed.
const LISTS: u32 = 10;
/// Maximum records and bytes of one command: Redis is blocked meanwhile.
const BATCH_RECORDS: usize = 1_000;
const BATCH_BYTES: usize = 256 * 1024;
/// Initial buffer size of a record; most have about 700 bytes.
const RECORD_BYTES: usize = 1_024;
/// Maximum bytes of records that wait for Redis: more than a second of heavy traffic.
const WAITING_BYTES_MAX: usize = 64 << 20;
/// Maximum waiting batches; small ones come about once a second, so this covers minutes without Redis.
const WAITING_BATCHES_MAX: usize = 512;
/// Default time to live of an idle list, in seconds.
const KEPT_S: u64 = 60;
/// Interval between attempts while Redis is unavailable.
const RETRY_EVERY: Duration = Duration::from_millis(100);
/// How long shutdown waits for an unavailable Redis.
const END_TIME_MAX: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub struct RedisList {
    analyst: Arc<Analyst>,
    records: Vec<Vec<u8>>,
    bytes: usize,
    several: bool,
    is_protobuf: bool,
    turn: u32,
    waiting_bytes: Arc<AtomicUsize>,
    handoff: BatchSender<ListBatch>,
}

struct ListBatch {
    list: String,
    records: Vec<Vec<u8>>,
    bytes: usize,
}

/// Appends batches, on its own thread.
struct Appender {
    redis: Arc<Redis>,
    kept_for: Duration,
    records_max: u64,
    waiting_bytes: Arc<AtomicUsize>,
    ending: Arc<AtomicBool>,
    /// Since when the gateway has been shutting down with Redis unavailable.
    ends_since: Option<Instant>,
}

impl RedisList {
    pub fn start(
        analyst: Arc<Analyst>,
        redis: Arc<Redis>,
        config: &GatewayConfig,
        figures: Arc<SinkFigures>,
    ) -> io::Result<(Self, SinkThread)> {
        let settings = &config.analytics_config;
        let kept_s = if settings.storage_expiration_time == 0 { KEPT_S } else { settings.storage_expiration_time };
        let (waiting_bytes, ending) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let appender = Appender {
            redis,
            kept_for: Duration::from_secs(kept_s),
            records_max: config.tollgate.analytics.redis_records_max,
            waiting_bytes: waiting_bytes.clone(),
            ending: ending.clone(),
            ends_since: None,
        };
        let room = SinkRoom { batches: WAITING_BATCHES_MAX, records: u64::MAX };
        let (handoff, writer) = BatchSender::start(figures, room, appender)?;
        let list = RedisList {
            analyst,
            records: Vec::new(),
            bytes: 0,
            several: settings.enable_multiple_analytics_keys,
            is_protobuf: settings.serializer_type == "protobuf",
            turn: 0,
            waiting_bytes,
            handoff,
        };
        Ok((list, writer.at_end(move || ending.store(true, Ordering::Relaxed))))
    }

    fn next_list(&mut self) -> String {
        let suffix = if self.is_protobuf { PROTOBUF_SUFFIX } else { "" };
        if !self.several {
            return format!("{LIST}{suffix}");
        }
        self.turn = (self.turn + 1) % LISTS;
        format!("{LIST}_{}{suffix}", self.turn)
    }

    fn give(&mut self) {
        if self.records.is_empty() {
            return;
        }
        let (records, bytes) = (std::mem::take(&mut self.records), std::mem::take(&mut self.bytes));
        let count = records.len() as u64;
        // A single batch always fits, however large its records.
        let waiting = self.waiting_bytes.load(Ordering::Relaxed);
        if waiting > 0 && waiting + bytes > WAITING_BYTES_MAX {
            return self.handoff.lose(count);
        }
        let list = self.next_list();
        self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        if !self.handoff.give(ListBatch { list, records, bytes }, count) {
            self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

impl RecordWriter for RedisList {
    fn take(&mut self, hit: &RecordRef<'_>) {
        if !hit.record.analytics {
            return;
        }
        let record = self.analyst.record(hit);
        self.add(record);
    }

    fn take_changed(&mut self, changed: &ChangedRecord) {
        self.add(changed.record.clone());
    }

    fn flush(&mut self, _: bool) {
        self.give();
    }
}

impl RedisList {
    fn add(&mut self, record: AnalyticsRecord<'_>) {
        let mut bytes = Vec::with_capacity(RECORD_BYTES);
        if self.is_protobuf {
            record.append_protobuf(&mut bytes)
        } else {
            record.append_msgpack(&mut bytes)
        }
        self.bytes += bytes.len();
        self.records.push(bytes);
        if self.records.len() >= BATCH_RECORDS || self.bytes >= BATCH_BYTES {
            self.give();
        }
    }
}

impl Write<ListBatch> for Appender {
    fn write(&mut self, batch: ListBatch) -> Result<(), String> {
        let written = self.append(&batch).map_err(|fault| fault.to_string());
        self.waiting_bytes.fetch_sub(batch.bytes, Ordering::Relaxed);
        written
    }
}

impl Appender {
    /// Waits for Redis if it is unavailable, and appends once: a batch that may have arrived is not sent again, because it would be
    /// counted twice.
    fn append(&mut self, batch: &ListBatch) -> Result<(), StoreFault> {
        loop {
            match self.redis.runtime().block_on(self.try_append(batch)) {
                Err(fault) if fault.is_retryable() && self.may_wait() => std::thread::sleep(RETRY_EVERY),
                appended => return appended,
            }
        }
    }

    async fn try_append(&self, ListBatch { list, records, .. }: &ListBatch) -> Result<(), StoreFault> {
        // Also checks that there is a server: data sent over a dead connection may be lost.
        let length = self.redis.list_length(list).await?;
        if self.records_max > 0 && length >= self.records_max {
            let why = format!("nobody empties {list}: it has {length} records");
            return Err(StoreFault::new(StoreFaultKind::Full, why));
        }
        self.redis.append(list, records, self.kept_for).await
    }

    fn may_wait(&mut self) -> bool {
        if !self.ending.load(Ordering::Relaxed) {
            return true;
        }
        self.ends_since.get_or_insert_with(Instant::now).elapsed() < END_TIME_MAX
    }
}
