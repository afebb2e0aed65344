//! Sink that sums requests by the attributes of `opentelemetry.metrics.api_metrics`. A core sums for a second and hands the sums to a thread
//! that adds them up; whoever pushes metrics reads them there. Attribute sets beyond the limit are summed as one.

use super::{BatchSender, RecordWriter, SinkFigures, SinkRoom, SinkThread};
use crate::record::{RequestRecord, Text};
use crate::record_ref::RecordRef;
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tollgate_model::config::{
    ApiMetric, DimensionSource, MetricDimension, MetricTime, OtlpMetrics, RequestFact, SessionFact, StatusFilter,
};

/// Maximum waiting batches. One contains a core's sums of a second.
const BATCHES_MAX: usize = 64;
/// Maximum bytes of an attribute; a client controls the length of its headers.
const ATTRIBUTE_BYTES_MAX: usize = 1_024;
/// Characters of a key that are shown, as in Tyk.
const KEY_CHARS: usize = 6;
/// Beginnings of the tags with which a portal names its applications and organisations.
const PORTAL_APP: &str = "portal-app-";
const PORTAL_ORG: &str = "portal-org-";
const NS_PER_S: f64 = 1e9;

/// The metrics, and what was counted.
pub struct RequestMetrics {
    instruments: Vec<Instrument>,
    /// Attribute sets of one metric.
    series_max: usize,
    totals: Mutex<Vec<Series>>,
    requests: AtomicU64,
    /// Request headers, context variables and members of `config_data` that are attributes.
    pub captured: Vec<DimensionSource>,
    /// Response headers that are attributes.
    pub response_headers: Vec<String>,
}

/// A metric.
pub struct Instrument {
    pub name: String,
    pub description: String,
    /// The time that it shows; `None` of a counter.
    time: Option<MetricTime>,
    /// Upper bounds of the buckets, in seconds.
    pub bounds: Vec<f64>,
    dimensions: Vec<Dimension>,
    apis: Vec<String>,
    methods: Vec<String>,
    statuses: Vec<StatusFilter>,
}

struct Dimension {
    name: String,
    source: AttributeSource,
    fallback: String,
}

/// Where a record has the value of an attribute.
enum AttributeSource {
    Fact(RequestFact),
    Session(SessionFact),
    /// Place among what is captured of requests.
    Captured(usize),
    /// Place among what is captured of responses.
    OfResponse(usize),
}

/// Sums by the values of their attributes, as they stand one behind another.
type Series = HashMap<Box<[u8]>, Sums>;

/// What was counted for one set of attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    pub count: u64,
    pub sum_ns: u64,
    /// One more than there are bounds; none of a counter.
    pub buckets: Vec<u64>,
}

/// The sums of one set of attributes.
pub struct CountedSeries {
    /// Names and values.
    pub attributes: Vec<(String, String)>,
    pub sums: Sums,
}

/// The sink of one core.
#[derive(Clone)]
pub struct RequestMetricsSink {
    metrics: Arc<RequestMetrics>,
    counted: Vec<Series>,
    /// The values of one request, in a reused buffer.
    values: Vec<u8>,
    requests: u64,
    handoff: BatchSender<(Vec<Series>, u64)>,
}

impl RequestMetrics {
    /// `None` if no metrics are defined.
    pub fn new(settings: &OtlpMetrics) -> Option<Arc<Self>> {
        let (mut captured, mut response_headers) = (Vec::new(), Vec::new());
        let instruments: Vec<Instrument> =
            settings.api_metrics.iter().map(|metric| Instrument::new(metric, &mut captured, &mut response_headers)).collect();
        let totals = Mutex::new(instruments.iter().map(|_| Series::new()).collect());
        let series_max = settings.cardinality_limit();
        (!instruments.is_empty()).then(|| {
            Arc::new(RequestMetrics { instruments, series_max, totals, requests: AtomicU64::new(0), captured, response_headers })
        })
    }

    /// Each metric with what was counted so far.
    pub fn counted(&self) -> Vec<(&Instrument, Vec<CountedSeries>)> {
        let totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let of = |(instrument, series): (_, Series)| (instrument, series.into_iter());
        let all = self.instruments.iter().zip(totals).map(of);
        all.map(|(instrument, series)| (instrument, series.map(|(values, sums)| instrument.series(&values, sums)).collect()))
            .collect()
    }

    /// All requests that were counted, whatever the metrics' filters.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    fn add(&self, (batch, requests): (Vec<Series>, u64)) {
        self.requests.fetch_add(requests, Ordering::Relaxed);
        let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        for (total, counted) in totals.iter_mut().zip(batch) {
            for (values, sums) in counted {
                place(total, &values, self.series_max).add(&sums);
            }
        }
    }
}

impl Instrument {
    fn new(metric: &ApiMetric, captured: &mut Vec<DimensionSource>, response_headers: &mut Vec<String>) -> Self {
        // Dimensions without a source are errors of the configuration.
        let dimension = |dimension: &MetricDimension| {
            let source = match dimension.from().ok()? {
                DimensionSource::Metadata(fact) => AttributeSource::Fact(fact),
                DimensionSource::Session(fact) => AttributeSource::Session(fact),
                DimensionSource::ResponseHeader(name) => AttributeSource::OfResponse(position(response_headers, name)),
                other => AttributeSource::Captured(position(captured, other)),
            };
            Some(Dimension { name: dimension.name().to_owned(), source, fallback: dimension.fallback.clone() })
        };
        let time = metric.time();
        Instrument {
            name: metric.name.clone(),
            description: metric.description.clone(),
            time,
            bounds: if time.is_some() { metric.buckets() } else { Vec::new() },
            dimensions: metric.dimensions.iter().filter_map(dimension).collect(),
            apis: metric.filters.api_ids.clone(),
            methods: metric.filters.methods.iter().map(|method| method.to_ascii_uppercase()).collect(),
            statuses: metric.filters.status_codes.iter().filter_map(|text| StatusFilter::read(text)).collect(),
        }
    }

    /// Whether it is a histogram.
    pub fn is_histogram(&self) -> bool {
        self.time.is_some()
    }

    fn counts(&self, hit: &RecordRef<'_>) -> bool {
        (self.apis.is_empty() || self.apis.contains(&hit.facts.id))
            && (self.methods.is_empty() || self.methods.iter().any(|method| method.as_bytes() == hit.record.bytes(Text::Method)))
            && (self.statuses.is_empty() || self.statuses.iter().any(|filter| filter.has(hit.record.status)))
    }

    fn series(&self, values: &[u8], sums: Sums) -> CountedSeries {
        if values.is_empty() && !self.dimensions.is_empty() {
            // As in OpenTelemetry's own libraries.
            return CountedSeries { attributes: vec![("otel.metric.overflow".to_owned(), "true".to_owned())], sums };
        }
        let mut rest = values;
        let attributes = self.dimensions.iter().map(|dimension| (dimension.name.clone(), next(&mut rest)));
        CountedSeries { attributes: attributes.collect(), sums }
    }
}

/// The place of a value in a list, to which it is added if it is not there.
fn position<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    list.iter().position(|other| *other == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}

/// The sums of some values; those of all others if there is no room for more.
fn place<'s>(series: &'s mut Series, values: &[u8], series_max: usize) -> &'s mut Sums {
    let has_room = series.len() + 1 < series_max || series.contains_key(values);
    let values = if has_room { values } else { &[] };
    if !series.contains_key(values) {
        series.insert(values.into(), Sums::default());
    }
    // It is there.
    series.entry(values.into()).or_default()
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        self.count += other.count;
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.buckets.resize(other.buckets.len(), 0);
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(own, other)| *own += other);
    }

    fn count_time(&mut self, ns: u64, bounds: &[f64]) {
        self.buckets.resize(bounds.len() + 1, 0);
        let seconds = ns as f64 / NS_PER_S;
        let bucket = bounds.iter().position(|bound| seconds <= *bound).unwrap_or(bounds.len());
        self.buckets.iter_mut().skip(bucket).take(1).for_each(|count| *count += 1);
        self.sum_ns = self.sum_ns.saturating_add(ns);
    }
}

impl RequestMetricsSink {
    pub fn start(metrics: Arc<RequestMetrics>, figures: Arc<SinkFigures>) -> io::Result<(Self, SinkThread)> {
        let totals = metrics.clone();
        let write = move |batch: (Vec<Series>, u64)| {
            totals.add(batch);
            Ok(())
        };
        let room = SinkRoom { batches: BATCHES_MAX, records: u64::MAX };
        let (handoff, writer) = BatchSender::start(figures, room, write)?;
        let counted = metrics.instruments.iter().map(|_| Series::new()).collect();
        Ok((RequestMetricsSink { metrics, counted, values: Vec::new(), requests: 0, handoff }, writer))
    }
}

impl RecordWriter for RequestMetricsSink {
    fn take(&mut self, hit: &RecordRef<'_>) {
        if !hit.record.metered {
            return;
        }
        self.requests += 1;
        let metrics = self.metrics.clone();
        for (instrument, series) in metrics.instruments.iter().zip(&mut self.counted).filter(|(metric, _)| metric.counts(hit)) {
            self.values.clear();
            instrument.dimensions.iter().for_each(|dimension| write_value(&mut self.values, dimension, hit));
            let sums = place(series, &self.values, metrics.series_max);
            sums.count += 1;
            if let Some(time) = instrument.time {
                sums.count_time(time_of(hit.record, time), &instrument.bounds);
            }
        }
    }

    fn flush(&mut self, _last: bool) {
        let requests = std::mem::take(&mut self.requests);
        if requests > 0 {
            let batch = self.counted.iter_mut().map(std::mem::take).collect();
            self.handoff.give((batch, requests), requests);
        }
    }
}

fn time_of(record: &RequestRecord, time: MetricTime) -> u64 {
    match time {
        MetricTime::Total => record.total_ns,
        MetricTime::Upstream => record.upstream_ns,
        MetricTime::Gateway => record.total_ns.saturating_sub(record.upstream_ns),
    }
}

/// Appends the length of a value and the value.
fn write_value(values: &mut Vec<u8>, dimension: &Dimension, hit: &RecordRef<'_>) {
    let mut append = |value: &[u8]| {
        let value = if value.is_empty() { dimension.fallback.as_bytes() } else { value };
        let value = value.get(..ATTRIBUTE_BYTES_MAX).unwrap_or(value);
        values.extend_from_slice(&u16::try_from(value.len()).unwrap_or_default().to_be_bytes());
        values.extend_from_slice(value);
    };
    let (record, facts) = (hit.record, hit.facts);
    match &dimension.source {
        AttributeSource::Fact(fact) => match fact {
            RequestFact::Method => append(record.bytes(Text::Method)),
            RequestFact::Status => append(number(record.status, &mut [0; 5])),
            RequestFact::ListenPath => append(facts.listen_path.as_bytes()),
            RequestFact::Endpoint => append(record.bytes(Text::TrackedPath)),
            RequestFact::ApiId => append(facts.id.as_bytes()),
            RequestFact::ApiName => append(facts.name.as_bytes()),
            RequestFact::OrgId => append(facts.org_id.as_bytes()),
            RequestFact::ResponseFlag => match record.class {
                Some(class) => append(class.flag.as_bytes()),
                None => append(number(record.status, &mut [0; 5])),
            },
            RequestFact::Address => append(record.client_ip.to_string().as_bytes()),
            RequestFact::Version => append(record.bytes(Text::Version)),
            RequestFact::Host => append(record.bytes(Text::Authority)),
            RequestFact::Scheme => append(if record.secure { b"https" } else { b"http" }),
            RequestFact::McpMethod => append(record.bytes(Text::McpMethod)),
            RequestFact::McpPrimitiveType => append(record.mcp_kind().as_bytes()),
            RequestFact::McpPrimitiveName => append(record.bytes(record.mcp_name())),
            RequestFact::McpErrorCode if record.mcp_error == 0 => append(b""),
            RequestFact::McpErrorCode => append(itoa::Buffer::new().format(record.mcp_error).as_bytes()),
        },
        AttributeSource::Session(fact) => append(session_value(record, *fact).as_bytes()),
        AttributeSource::Captured(place) => append(line(record.bytes(Text::Dimensions), *place)),
        AttributeSource::OfResponse(place) => append(line(record.bytes(Text::ResponseDimensions), *place)),
    }
}

fn session_value(record: &RequestRecord, fact: SessionFact) -> &str {
    let Some(key) = &record.key else { return "" };
    let tag = |start: &str| key.session.tags.iter().find_map(|tag| tag.strip_prefix(start)).unwrap_or_default();
    match fact {
        SessionFact::ApiKey => {
            let start = key.shown.char_indices().rev().nth(KEY_CHARS - 1).map_or(0, |(index, _)| index);
            key.shown.get(start..).unwrap_or_default()
        }
        SessionFact::OAuthClient => &key.session.oauth_client_id,
        SessionFact::Alias => &key.session.alias,
        SessionFact::PortalApp => tag(PORTAL_APP),
        SessionFact::PortalOrg => tag(PORTAL_ORG),
    }
}

/// A line of a text.
fn line(text: &[u8], place: usize) -> &[u8] {
    text.split(|byte| *byte == b'\n').nth(place).unwrap_or_default()
}

/// The decimal digits of a status.
fn number(status: u16, digits: &mut [u8; 5]) -> &[u8] {
    let mut rest = status;
    let mut start = digits.len();
    for (index, digit) in digits.iter_mut().enumerate().rev() {
        *digit = b'0' + u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
        start = index;
        if rest == 0 {
            break;
        }
    }
    digits.get(start..).unwrap_or_default()
}

/// Takes the next value from values that stand one behind another.
fn next(values: &mut &[u8]) -> String {
    let Some((length, rest)) = values.split_first_chunk::<2>() else { return String::new() };
    let (value, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length))).unwrap_or((rest, &[]));
    *values = rest;
    String::from_utf8_lossy(value).into_owned()
}

/// For tests of what is made of the counts.
#[cfg(any(test, feature = "testing"))]
impl RequestMetrics {
    /// Counts one request.
    pub fn count_one(self: &Arc<Self>, record: &RequestRecord, facts: &crate::ApiMetadata) {
        let Ok((mut sink, thread)) = RequestMetricsSink::start(self.clone(), SinkFigures::new("test")) else { return };
        sink.take(&RecordRef { record, facts, peer: "", time: tollgate_model::analytics::RecordTime::from_unix_ns(0) });
        sink.flush(true);
        drop(sink);
        thread.wait(std::time::Duration::from_secs(10));
    }
}

#[cfg(test)]
mod tests;
