//! Records of uptime tests for tyk-pump, in the Redis list that Tyk writes. They are written by whoever runs the checks; while Redis is
//! unavailable or nobody empties the list, they are dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use tollgate_cluster::redis_settings;
use tollgate_model::analytics::{RecordTime, UptimeRecord};
use tollgate_model::config::GatewayConfig;
use tollgate_store::Redis;

/// Name of the list in Tyk and tyk-pump.
const LIST: &str = "host-checker:tyk-uptime-analytics";
/// An idle list expires: nobody reads results that are this old.
const KEPT_FOR: Duration = Duration::from_secs(24 * 3600);
/// Life of a record whose definition does not set it, as in Tyk: a hundred years of 365 days.
const LIFE_S: i64 = 100 * 365 * 24 * 3600;

/// Writes records.
pub struct UptimeRecords {
    redis: Arc<Redis>,
    records_max: u64,
    /// Whether the last write failed: an outage is logged once.
    has_failed: AtomicBool,
}

/// The result of one check.
pub struct UptimeResult<'r> {
    pub url: &'r str,
    pub time: Duration,
    /// Status of the answer; `None` if there was none.
    pub status: Option<u16>,
}

impl UptimeRecords {
    /// `None` if no records are to be written.
    ///
    /// # Errors
    /// The settings of Redis are unusable.
    pub fn open(config: &GatewayConfig) -> Result<Option<Self>, String> {
        if !config.uptime_tests.config.enable_uptime_analytics {
            return Ok(None);
        }
        let Some(storage) = config.analytics_redis() else {
            tracing::warn!("uptime_tests.config.enable_uptime_analytics needs Redis: no records of uptime tests are written");
            return Ok(None);
        };
        let redis = Redis::open(redis_settings(storage)?).map_err(|fault| fault.to_string())?;
        let records_max = config.tollgate.analytics.redis_records_max;
        Ok(Some(UptimeRecords { redis: Arc::new(redis), records_max, has_failed: AtomicBool::new(false) }))
    }

    /// Writes the results of a round of checks.
    pub async fn write(&self, (api_id, org_id): (&str, &str), life_s: i64, results: &[UptimeResult<'_>]) {
        let now = RecordTime::from_unix_ns(tollgate_clock::unix_ms().saturating_mul(1_000_000));
        let life_s = if life_s > 0 { life_s } else { LIFE_S };
        let expire_at = RecordTime { unix_s: now.unix_s.saturating_add(life_s), ns: now.ns };
        let records = results.iter().map(|result| {
            let record = UptimeRecord {
                url: result.url,
                request_ms: i64::try_from(result.time.as_millis()).unwrap_or(i64::MAX),
                response_code: result.status.map_or(521, i64::from),
                is_tcp_error: result.status.is_none(),
                is_server_error: result.status.is_some_and(|status| status > 200),
                timestamp: now,
                expire_at,
                api_id,
                org_id,
            };
            let mut bytes = Vec::new();
            record.append_msgpack(&mut bytes);
            bytes
        });
        let written = self.append(&records.collect::<Vec<_>>()).await;
        if let Err(error) = &written
            && !self.has_failed.load(Relaxed)
        {
            tracing::warn!(error, "records of uptime tests are lost");
        }
        self.has_failed.store(written.is_err(), Relaxed);
    }

    async fn append(&self, records: &[Vec<u8>]) -> Result<(), String> {
        let length = self.redis.list_length(LIST).await.map_err(|fault| fault.to_string())?;
        if self.records_max > 0 && length >= self.records_max {
            return Err(format!("nobody empties {LIST}: it has {length} records"));
        }
        self.redis.append(LIST, records, KEPT_FOR).await.map_err(|fault| fault.to_string())
    }
}
