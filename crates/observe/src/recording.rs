//! Sets up the recording of requests from the configuration: what is recorded, and the sinks.

use super::analytics::{Analyst, DataAges};
use super::hooked_records::HookedRecords;
use super::logs::LogFormat;
use super::otlp::SpanSink;
use super::recorder::Recorder;
use super::sink::{
    AccessLogSink, FileLineWriter, Identifiers, JsonLines, LogFile, RecordWriter, RedisList, RequestMetrics, RequestMetricsSink,
    SinkFigures, SinkThread, SpendSink, UsageSink,
};
use std::collections::HashSet;
use std::error::Error;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tollgate_cluster::redis_settings;
use tollgate_engine::Counter;
use tollgate_model::config::GatewayConfig;
use tollgate_store::Redis;
use tollgate_store::usage::Usage;

/// Names of the sinks that sum usage, and what language models cost.
const SUMS: &str = "usage";
const SPEND: &str = "llm_spend";
/// How long shutdown waits for sinks.
const STOP_TIME_MAX: Duration = Duration::from_secs(5);

/// Recording as seen by the cores.
pub struct Recording {
    /// Whether requests are recorded for analytics, not only for the access log.
    pub analytics: bool,
    pub access_log: bool,
    /// Metrics of requests, if they are counted.
    pub request_metrics: Option<Arc<RequestMetrics>>,
    /// Clients excluded from analytics.
    pub ignored: HashSet<IpAddr>,
    /// Whether only sums are recorded: fields that sums do not need are left out.
    pub only_sums: bool,
    /// Whether whole requests are recorded, regardless of API and key.
    pub detailed: bool,
    pub body_bytes_max: usize,
    /// Number of records per core.
    pub recorded: Vec<Arc<Counter>>,
    pub sinks: Vec<Arc<SinkFigures>>,
    pub usage: Option<Usage>,
    /// Connection for records, separate from that for keys, so that lookups do not wait behind batches.
    pub redis: Option<Arc<Redis>>,
    analyst: Arc<Analyst>,
    /// Recorders until their cores take them.
    recorders: Mutex<Vec<Option<Recorder>>>,
    writers: Mutex<Vec<SinkThread>>,
}

/// The started sinks: those of each core, and their shared threads.
struct Started {
    cores: Vec<Vec<Box<dyn RecordWriter>>>,
    writers: Vec<SinkThread>,
    figures: Vec<Arc<SinkFigures>>,
}

impl Started {
    /// Statistics for a sink of this name.
    fn figures(&mut self, name: &'static str) -> Arc<SinkFigures> {
        let own = SinkFigures::new(name);
        self.figures.push(own.clone());
        own
    }

    fn add(&mut self, (sink, writer): (impl RecordWriter + Clone + 'static, SinkThread)) {
        self.cores.iter_mut().for_each(|sinks| sinks.push(Box::new(sink.clone())));
        self.writers.push(writer);
    }
}

impl Recording {
    /// `None` if nothing is to be recorded.
    pub fn start(config: &GatewayConfig, cores: usize, log_format: LogFormat) -> Result<Option<Self>, Box<dyn Error>> {
        let (analytics, access_log) = (config.enable_analytics, config.access_logs.enabled);
        let traces = config.opentelemetry.traces();
        let otlp_metrics = config.opentelemetry.metrics().map(|_| &config.opentelemetry.metrics);
        let request_metrics = otlp_metrics.and_then(RequestMetrics::new);
        if !analytics && !access_log && traces.is_none() && request_metrics.is_none() {
            return Ok(None);
        }
        let settings = &config.tollgate.analytics;
        let records_max = config.analytics_config.records_max();
        let analyst = Arc::new(Analyst::new(config)?);
        // One set more than cores: for records that plugins change.
        let sets = (0..=cores).map(|_| Vec::new()).collect();
        let mut started = Started { cores: sets, writers: Vec::new(), figures: Vec::new() };
        let usage = (analytics && settings.usage).then(|| Usage::open(&config.tollgate.data_dir)).transpose()?;
        if let Some(usage) = &usage {
            let figures = started.figures(SUMS);
            started.add(UsageSink::start(analyst.clone(), usage.clone(), settings.usage_days, figures)?);
            usage.prepare_spend()?;
            let figures = started.figures(SPEND);
            started.add(SpendSink::start(usage.clone(), settings.usage_days, figures)?);
        }
        let mut redis = None;
        if let Some(storage) = config.analytics_redis().filter(|_| analytics && settings.redis) {
            let figures = started.figures("redis");
            let own = Arc::new(Redis::open(redis_settings(storage)?)?);
            started.add(RedisList::start(analyst.clone(), own.clone(), config, figures)?);
            redis = Some(own);
        }
        if analytics && !settings.file.as_os_str().is_empty() {
            let file = LogFile::new(&settings.file, settings.file_bytes_max, settings.files_max);
            let (lines, writer) = FileLineWriter::start(file, records_max, started.figures("file"))?;
            started.add((JsonLines::new(analyst.clone(), lines), writer));
        }
        if access_log {
            let target = &config.tollgate.access_log;
            let file = LogFile::new(&target.file, target.file_bytes_max, target.files_max);
            let (lines, writer) = FileLineWriter::start(file, records_max, started.figures("access_log"))?;
            let known = Identifiers { traces: traces.is_some(), requests: config.tollgate.request_id };
            started.add((AccessLogSink::new(analyst.clone(), lines, log_format, &config.access_logs.template, known), writer));
        }
        if let Some(traces) = &traces {
            let figures = started.figures("otlp_traces");
            started.add(SpanSink::start(traces, figures)?);
        }
        if let Some(metrics) = &request_metrics {
            let figures = started.figures("request_metrics");
            started.add(RequestMetricsSink::start(metrics.clone(), figures)?);
        }
        let only_sums = started.figures.iter().all(|sink| matches!(sink.name, SUMS | SPEND));
        let recorded: Vec<Arc<Counter>> = (0..cores).map(|_| Arc::default()).collect();
        let figures = started.figures("record_plugins");
        let last = started.cores.pop().unwrap_or_default();
        let hooked = analytics.then(|| HookedRecords::start(analyst.clone(), last, figures)).transpose()?;
        let cores = started.cores.into_iter().zip(&recorded);
        let recorders = cores.map(|(sinks, count)| Some(Recorder::new(sinks, hooked.clone(), count.clone())));
        Ok(Some(Recording {
            analytics,
            access_log,
            request_metrics,
            ignored: config.analytics_config.ignored_ips.iter().filter_map(|text| text.parse().ok()).collect(),
            only_sums,
            detailed: config.analytics_config.enable_detailed_recording,
            body_bytes_max: settings.body_bytes_max,
            recorders: Mutex::new(recorders.collect()),
            recorded,
            sinks: started.figures,
            usage,
            redis,
            analyst,
            writers: Mutex::new(started.writers),
        }))
    }

    /// Applies the expiry times of organisations from now on.
    pub fn enforce_data_ages(&self, data_ages: DataAges) {
        self.analyst.enforce_data_ages(data_ages);
    }

    /// The recorder of a core; each core takes it once.
    pub fn recorder(&self, core: usize) -> Option<Recorder> {
        self.recorders.lock().unwrap_or_else(PoisonError::into_inner).get_mut(core)?.take()
    }

    /// Waits until all records are written, for at most `STOP_TIME_MAX`. The cores must have ended.
    pub fn stop(&self) {
        self.recorders.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let mut writers = std::mem::take(&mut *self.writers.lock().unwrap_or_else(PoisonError::into_inner));
        let end = Instant::now() + STOP_TIME_MAX;
        writers.iter_mut().for_each(SinkThread::end);
        writers.into_iter().for_each(|writer| writer.wait(end.saturating_duration_since(Instant::now())));
    }
}
