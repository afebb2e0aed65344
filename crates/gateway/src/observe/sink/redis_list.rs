//! Tyk's records into the list in Redis that tyk-pump empties. While Redis is away they wait, as many as there is room for.

use super::{Handoff, Hit, Room, Sink, SinkFigures, Writer};
use crate::observe::analytics::{Analyst, Starts};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tollgate_model::analytics::Common;
use tollgate_model::config::GatewayConfig;
use tollgate_store::{Redis, Values};

/// The list's name, as Tyk and its pump have it, and what it ends with when records are Protocol Buffers.
const LIST: &str = "analytics-tyk-system-analytics";
const PROTOBUF_SUFFIX: &str = "_protobuf";
/// Lists when there are several.
const LISTS: u32 = 10;
/// Records and bytes of one command: Redis does nothing else meanwhile.
const BATCH_RECORDS: usize = 1_000;
const BATCH_BYTES: usize = 1 << 20;
/// Bytes of records that wait for Redis: more than a second of very busy traffic.
const WAITING_BYTES_MAX: usize = 64 << 20;
/// Batches that wait; small ones come about once a second, so this is four minutes without Redis.
const WAITING_BATCHES_MAX: usize = 256;
/// For how long a list is kept that nobody adds to, if the configuration does not say.
const KEPT_S: u64 = 60;
/// Between two looks at a Redis that is away.
const RETRY_EVERY: Duration = Duration::from_millis(100);
/// How long the gateway's end waits for a Redis that is away.
const END_TIME_MAX: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub struct RedisList {
    analyst: Arc<Analyst>,
    starts: Starts,
    records: Values,
    several: bool,
    is_protobuf: bool,
    turn: u32,
    waiting_bytes: Arc<AtomicUsize>,
    handoff: Handoff<Batch>,
}

struct Batch {
    list: String,
    records: Values,
}

/// Appends batches, in a thread of its own.
struct Appender {
    redis: Arc<Redis>,
    kept_for: Duration,
    records_max: u64,
    ending: Arc<AtomicBool>,
    /// Since when the gateway ends and Redis is away.
    ends_since: Option<Instant>,
}

impl RedisList {
    pub fn start(
        analyst: Arc<Analyst>,
        redis: Arc<Redis>,
        config: &GatewayConfig,
        figures: Arc<SinkFigures>,
    ) -> io::Result<(Self, Writer)> {
        let settings = &config.analytics_config;
        let kept_s = if settings.storage_expiration_time == 0 { KEPT_S } else { settings.storage_expiration_time };
        let (waiting_bytes, ending) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let mut appender = Appender {
            redis,
            kept_for: Duration::from_secs(kept_s),
            records_max: config.tollgate.analytics.redis_records_max,
            ending: ending.clone(),
            ends_since: None,
        };
        let waiting = waiting_bytes.clone();
        let write = move |batch: Batch| {
            let bytes = batch.records.bytes();
            let written = appender.write(batch);
            waiting.fetch_sub(bytes, Ordering::Relaxed);
            written
        };
        let room = Room { batches: WAITING_BATCHES_MAX, records: u64::MAX };
        let (handoff, writer) = Handoff::start(figures, room, write)?;
        let list = RedisList {
            analyst,
            starts: Starts::default(),
            records: Values::default(),
            several: settings.enable_multiple_analytics_keys,
            is_protobuf: settings.serializer_type == "protobuf",
            turn: 0,
            waiting_bytes,
            handoff,
        };
        Ok((list, writer.at_end(move || ending.store(true, Ordering::Relaxed))))
    }

    fn push_msgpack(&mut self, hit: &Hit<'_>) {
        let RedisList { analyst, starts, records, .. } = self;
        let (start, own) = starts.of(analyst, hit, Common::append_msgpack);
        records.push(|out| {
            out.extend_from_slice(start);
            own.append_msgpack(out);
        });
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
        // The next batch is likely to be as large.
        let next = Values::with_room_for(&self.records);
        let records = std::mem::replace(&mut self.records, next);
        let (count, bytes) = (records.len() as u64, records.bytes());
        // One batch always has room, however large its records are.
        let waiting = self.waiting_bytes.load(Ordering::Relaxed);
        if waiting > 0 && waiting + bytes > WAITING_BYTES_MAX {
            return self.handoff.lose(count);
        }
        let list = self.next_list();
        self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        if !self.handoff.give(Batch { list, records }, count) {
            self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

impl Sink for RedisList {
    fn take(&mut self, hit: &Hit<'_>) {
        if !hit.record.analytics {
            return;
        }
        if self.is_protobuf {
            let record = self.analyst.record(hit);
            self.records.push(|out| record.append_protobuf(out));
        } else {
            self.push_msgpack(hit);
        }
        if self.records.len() >= BATCH_RECORDS || self.records.bytes() >= BATCH_BYTES {
            self.give();
        }
    }

    fn flush(&mut self, _: bool) {
        self.starts.forget();
        self.give();
    }
}

impl Appender {
    /// Waits for Redis if it is away, and appends once: what may have arrived is not sent again, as it would be counted twice.
    fn write(&mut self, batch: Batch) -> Result<(), String> {
        let runtime = self.redis.runtime().clone();
        let length = loop {
            match runtime.block_on(self.redis.list_length(&batch.list)) {
                Ok(length) => break length,
                Err(fault) if fault.is_retryable() && self.may_wait() => std::thread::sleep(RETRY_EVERY),
                Err(fault) => return Err(fault.to_string()),
            }
        };
        if self.records_max > 0 && length >= self.records_max {
            return Err(format!("nobody empties {}: it has {length} records", batch.list));
        }
        runtime.block_on(self.redis.append(&batch.list, batch.records, Some(self.kept_for))).map_err(|fault| fault.to_string())
    }

    fn may_wait(&mut self) -> bool {
        if !self.ending.load(Ordering::Relaxed) {
            return true;
        }
        self.ends_since.get_or_insert_with(Instant::now).elapsed() < END_TIME_MAX
    }
}
