//! Tyk's records into the list in Redis that tyk-pump empties. While Redis is away they wait, as many as there is room for.

use super::{Handoff, RecordWriter, SinkFigures, SinkRoom, SinkThread, Write};
use crate::observe::analytics::Analyst;
use crate::observe::hit::Hit;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tollgate_model::config::GatewayConfig;
use tollgate_store::{Redis, StoreFault, StoreFaultKind};

/// The list's name, as Tyk and its pump have it, and what it ends with when records are Protocol Buffers.
const LIST: &str = "analytics-tyk-system-analytics";
const PROTOBUF_SUFFIX: &str = "_protobuf";
/// Lists when there are several.
const LISTS: u32 = 10;
/// Records and bytes of one command: Redis does nothing else meanwhile.
const BATCH_RECORDS: usize = 1_000;
const BATCH_BYTES: usize = 256 * 1024;
/// Memory that a record begins with; most have some 700 bytes.
const RECORD_BYTES: usize = 1_024;
/// Bytes of records that wait for Redis: more than a second of very busy traffic.
const WAITING_BYTES_MAX: usize = 64 << 20;
/// Batches that wait; small ones come about once a second, so this is minutes without Redis.
const WAITING_BATCHES_MAX: usize = 512;
/// For how long a list is kept that nobody adds to, if the configuration does not say.
const KEPT_S: u64 = 60;
/// Between two attempts while Redis is away.
const RETRY_EVERY: Duration = Duration::from_millis(100);
/// How long the gateway's end waits for a Redis that is away.
const END_TIME_MAX: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub(crate) struct RedisList {
    analyst: Arc<Analyst>,
    records: Vec<Vec<u8>>,
    bytes: usize,
    several: bool,
    is_protobuf: bool,
    turn: u32,
    waiting_bytes: Arc<AtomicUsize>,
    handoff: Handoff<Batch>,
}

struct Batch {
    list: String,
    records: Vec<Vec<u8>>,
    bytes: usize,
}

/// Appends batches, in a thread of its own.
struct Appender {
    redis: Arc<Redis>,
    kept_for: Duration,
    records_max: u64,
    waiting_bytes: Arc<AtomicUsize>,
    ending: Arc<AtomicBool>,
    /// Since when the gateway ends and Redis is away.
    ends_since: Option<Instant>,
}

impl RedisList {
    pub(crate) fn start(
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
        let (handoff, writer) = Handoff::start(figures, room, appender)?;
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
        // One batch always has room, however large its records are.
        let waiting = self.waiting_bytes.load(Ordering::Relaxed);
        if waiting > 0 && waiting + bytes > WAITING_BYTES_MAX {
            return self.handoff.lose(count);
        }
        let list = self.next_list();
        self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        if !self.handoff.give(Batch { list, records, bytes }, count) {
            self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

impl RecordWriter for RedisList {
    fn take(&mut self, hit: &Hit<'_>) {
        if !hit.record.analytics {
            return;
        }
        let record = self.analyst.record(hit);
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

    fn flush(&mut self, _: bool) {
        self.give();
    }
}

impl Write<Batch> for Appender {
    fn write(&mut self, batch: Batch) -> Result<(), String> {
        let written = self.append(&batch).map_err(|fault| fault.to_string());
        self.waiting_bytes.fetch_sub(batch.bytes, Ordering::Relaxed);
        written
    }
}

impl Appender {
    /// Waits for Redis if it is away, and appends once: what may have arrived is not sent again, as it would be counted twice.
    fn append(&mut self, batch: &Batch) -> Result<(), StoreFault> {
        loop {
            match self.redis.runtime().block_on(self.try_append(batch)) {
                Err(fault) if fault.is_retryable() && self.may_wait() => std::thread::sleep(RETRY_EVERY),
                appended => return appended,
            }
        }
    }

    async fn try_append(&self, Batch { list, records, .. }: &Batch) -> Result<(), StoreFault> {
        // Also shows whether there is a server: what is sent over a connection that has died may be lost.
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
