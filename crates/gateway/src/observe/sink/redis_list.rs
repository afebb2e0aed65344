//! Tyk's records into the list in Redis that tyk-pump empties. While Redis is away they wait, as many as there is room for.

use super::{Handoff, Hit, Room, Sink, SinkFigures, Spares, Write, Writer};
use crate::observe::analytics::{Analyst, Starts};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tollgate_model::analytics::Common;
use tollgate_model::config::GatewayConfig;
use tollgate_store::{ListWriter, ListWriterState, RedisSettings, StoreFault, StoreFaultKind, Values};

/// The list's name, as Tyk and its pump have it, and what it ends with when records are Protocol Buffers.
const LIST: &str = "analytics-tyk-system-analytics";
const PROTOBUF_SUFFIX: &str = "_protobuf";
/// Lists when there are several.
const LISTS: u32 = 10;
/// Records and bytes of one command: Redis does nothing else meanwhile, and they should still be in the cache when they are sent.
const BATCH_RECORDS: usize = 1_000;
const BATCH_BYTES: usize = 256 * 1024;
/// Bytes of records that wait for Redis: more than a second of very busy traffic.
const WAITING_BYTES_MAX: usize = 64 << 20;
/// Batches that wait; small ones come about once a second, so this is minutes without Redis.
const WAITING_BATCHES_MAX: usize = 512;
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
    spares: Spares<Values>,
    waiting_bytes: Arc<AtomicUsize>,
    handoff: Handoff<Batch>,
}

struct Batch {
    list: String,
    records: Values,
}

/// Appends batches, in a thread of its own.
struct Appender {
    redis: ListWriter,
    kept_for: Duration,
    records_max: u64,
    /// How long each list was when it was last appended to.
    lengths: HashMap<String, u64>,
    spares: Spares<Values>,
    waiting_bytes: Arc<AtomicUsize>,
    ending: Arc<AtomicBool>,
    /// Since when the gateway ends and Redis is away.
    ends_since: Option<Instant>,
}

impl RedisList {
    pub fn start(
        analyst: Arc<Analyst>,
        redis: RedisSettings,
        config: &GatewayConfig,
        figures: Arc<SinkFigures>,
    ) -> io::Result<((Self, Writer), Arc<ListWriterState>)> {
        let settings = &config.analytics_config;
        let kept_s = if settings.storage_expiration_time == 0 { KEPT_S } else { settings.storage_expiration_time };
        let (spares, waiting_bytes, ending) = (Spares::default(), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let redis = ListWriter::new(redis);
        let state = redis.state();
        let appender = Appender {
            redis,
            kept_for: Duration::from_secs(kept_s),
            records_max: config.tollgate.analytics.redis_records_max,
            lengths: HashMap::new(),
            spares: spares.clone(),
            waiting_bytes: waiting_bytes.clone(),
            ending: ending.clone(),
            ends_since: None,
        };
        let room = Room { batches: WAITING_BATCHES_MAX, records: u64::MAX };
        let (handoff, writer) = Handoff::start(figures, room, appender)?;
        let list = RedisList {
            analyst,
            starts: Starts::default(),
            records: Values::default(),
            several: settings.enable_multiple_analytics_keys,
            is_protobuf: settings.serializer_type == "protobuf",
            turn: 0,
            spares,
            waiting_bytes,
            handoff,
        };
        Ok(((list, writer.at_end(move || ending.store(true, Ordering::Relaxed))), state))
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
        let records = std::mem::replace(&mut self.records, self.spares.take().unwrap_or_default());
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

impl Write<Batch> for Appender {
    fn write(&mut self, batch: Batch) -> Result<(), String> {
        let Batch { list, mut records } = batch;
        let written = self.append(&list, &mut records).map_err(|fault| fault.to_string());
        self.waiting_bytes.fetch_sub(records.bytes(), Ordering::Relaxed);
        records.clear();
        self.spares.put(records);
        written
    }

    /// Looks whether Redis is there, so that its state is known.
    fn rest(&mut self) {
        let _ = self.redis.connect();
    }
}

impl Appender {
    /// Waits for Redis if it is away, and appends once: what may have arrived is not sent again, as it would be counted twice.
    fn append(&mut self, list: &str, records: &mut Values) -> Result<(), StoreFault> {
        loop {
            match self.try_append(list, records) {
                Err(fault) if fault.is_retryable() && self.may_wait() => std::thread::sleep(RETRY_EVERY),
                appended => return appended,
            }
        }
    }

    fn try_append(&mut self, list: &str, records: &mut Values) -> Result<(), StoreFault> {
        self.redis.connect()?;
        let is_full = |length: &u64| self.records_max > 0 && *length >= self.records_max;
        // Others append too, but somebody may have emptied a list that was full.
        if self.lengths.get(list).is_none_or(is_full) {
            let length = self.redis.length(list)?;
            if is_full(&length) {
                self.lengths.insert(list.to_owned(), length);
                let why = format!("nobody empties {list}: it has {length} records");
                return Err(StoreFault::new(StoreFaultKind::Full, why));
            }
        }
        let length = self.redis.append(list, records, self.kept_for)?;
        match self.lengths.get_mut(list) {
            Some(known) => *known = length,
            None => drop(self.lengths.insert(list.to_owned(), length)),
        }
        Ok(())
    }

    fn may_wait(&mut self) -> bool {
        if !self.ending.load(Ordering::Relaxed) {
            return true;
        }
        self.ends_since.get_or_insert_with(Instant::now).elapsed() < END_TIME_MAX
    }
}
