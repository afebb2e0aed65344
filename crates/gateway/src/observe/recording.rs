//! What is recorded of requests, and where it goes: made from the configuration at the start.

use super::aggregator::Aggregator;
use super::analytics::Analyst;
use super::facts::Directory;
use super::otlp::SpanSink;
use super::ring::{Recorder, RingFigures, ring};
use super::sink::{AccessLog, JsonLines, LineWriter, LogFile, RedisList, Sink, SinkFigures, UsageSink, wanted};
use crate::storage::redis_settings;
use std::collections::HashSet;
use std::error::Error;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tollgate_model::config::GatewayConfig;
use tollgate_store::Redis;
use tollgate_store::usage::Usage;

/// Recording as the cores see it.
pub struct Recording {
    /// Requests are recorded for analytics, not only for the access log.
    pub analytics: bool,
    pub access_log: bool,
    /// Clients that analytics leave out.
    pub ignored: HashSet<IpAddr>,
    /// Whole requests are recorded whatever API and key say.
    pub detailed: bool,
    pub body_bytes_max: usize,
    /// What each core counts of its records.
    pub rings: Vec<Arc<RingFigures>>,
    pub sinks: Vec<Arc<SinkFigures>>,
    pub usage: Option<Usage>,
    /// The one that records go to, over a connection of their own: questions about keys must not wait behind batches.
    pub redis: Option<Arc<Redis>>,
    /// Until their cores take them.
    recorders: Mutex<Vec<Option<Recorder>>>,
    aggregator: Mutex<Option<Aggregator>>,
}

impl Recording {
    /// `None` when nothing is to be recorded.
    pub fn start(
        config: &GatewayConfig,
        cores: usize,
        directory: Arc<Directory>,
        json_log: bool,
    ) -> Result<Option<Self>, Box<dyn Error>> {
        let (analytics, access_log) = (config.enable_analytics, config.access_logs.enabled);
        let traces = config.opentelemetry.traces();
        if !analytics && !access_log && traces.is_none() {
            return Ok(None);
        }
        let settings = &config.tollgate.analytics;
        let analyst = Arc::new(Analyst::new(config)?);
        let mut sinks: Vec<Box<dyn Sink>> = Vec::new();
        let mut figures = Vec::new();
        let mut named = |name| {
            let own = SinkFigures::new(name);
            figures.push(own.clone());
            own
        };
        let usage = (analytics && settings.usage).then(|| Usage::open(&config.tollgate.data_dir)).transpose()?;
        if let Some(usage) = &usage {
            sinks.push(Box::new(UsageSink::start(analyst.clone(), usage.clone(), settings.usage_days, named("usage"))?));
        }
        let storage = config.analytics_redis().filter(|_| analytics && settings.redis);
        let redis = storage.map(|storage| Ok::<_, Box<dyn Error>>(Arc::new(Redis::open(redis_settings(storage)?)?))).transpose()?;
        if let Some(redis) = &redis {
            sinks.push(Box::new(RedisList::start(analyst.clone(), redis.clone(), config, named("redis"))?));
        }
        if analytics && !settings.file.as_os_str().is_empty() {
            let file = LogFile::new(&settings.file, settings.file_bytes_max, settings.files_max);
            let lines = LineWriter::start(file, named("file"))?;
            sinks.push(Box::new(JsonLines { analyst: analyst.clone(), lines }));
        }
        if access_log {
            let target = &config.tollgate.access_log;
            let file = LogFile::new(&target.file, target.file_bytes_max, target.files_max);
            let lines = LineWriter::start(file, named("access_log"))?;
            sinks.push(Box::new(AccessLog { analyst, lines, json: json_log, wanted: wanted(&config.access_logs.template) }));
        }
        if let Some(traces) = &traces {
            sinks.push(Box::new(SpanSink::start(traces, named("otlp_traces"))?));
        }
        let rings: Vec<Arc<RingFigures>> = (0..cores).map(|_| Arc::default()).collect();
        let records_max = config.analytics_config.ring_records(cores);
        let (recorders, drains) = rings.iter().map(|figures| ring(records_max, figures.clone())).unzip::<_, _, Vec<_>, Vec<_>>();
        Ok(Some(Recording {
            analytics,
            access_log,
            ignored: config.analytics_config.ignored_ips.iter().filter_map(|text| text.parse().ok()).collect(),
            detailed: config.analytics_config.enable_detailed_recording,
            body_bytes_max: settings.body_bytes_max,
            rings,
            sinks: figures,
            usage,
            redis,
            recorders: Mutex::new(recorders.into_iter().map(Some).collect()),
            aggregator: Mutex::new(Some(Aggregator::start(drains, sinks, directory)?)),
        }))
    }

    /// A core's end of its ring; each core takes it once.
    pub fn recorder(&self, core: usize) -> Option<Recorder> {
        self.recorders.lock().unwrap_or_else(PoisonError::into_inner).get_mut(core)?.take()
    }

    /// Writes what was recorded so far, and ends.
    pub fn stop(&self) {
        if let Some(aggregator) = self.aggregator.lock().unwrap_or_else(PoisonError::into_inner).take() {
            aggregator.stop();
        }
    }
}
