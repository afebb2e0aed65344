//! The metrics of `/tyk/metrics` as OTLP messages: the same families, names without `_total`, cumulative since the gateway's start.

use crate::report::exposition::{Exposition, Figures, MetricKind};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, Sum,
};
use tollgate_model::distribution::{BOUNDS, Distribution};
use tollgate_observe::otlp::attribute::text;
use tollgate_observe::sink::{CountedSeries, Sums};

/// Metrics being collected.
pub(super) struct OtlpFigures {
    /// Start of counting and current time; nanoseconds since 1970.
    start: u64,
    now: u64,
    metrics: Vec<Metric>,
    points: u64,
}

/// A distribution with its attributes.
pub(super) struct HistogramPoint {
    pub attributes: Vec<(&'static str, String)>,
    pub sum: f64,
    /// One more than there are bounds.
    pub buckets: Vec<u64>,
}

impl OtlpFigures {
    pub(super) fn new(start: u64, now: u64) -> Self {
        OtlpFigures { start, now, metrics: Vec::new(), points: 0 }
    }

    /// Adds a counter of requests. Unlike a gauge with the unit `1`, it keeps its name in a collector's Prometheus exporter.
    pub(super) fn counters(&mut self, name: &str, description: &str, unit: &str, series: Vec<CountedSeries>) {
        self.points += series.len() as u64;
        let data_points = series.into_iter().map(|CountedSeries { attributes, sums }| NumberDataPoint {
            attributes: attributes.into_iter().map(|(name, value)| text(&name, value)).collect(),
            start_time_unix_nano: self.start,
            time_unix_nano: self.now,
            value: Some(Value::AsInt(i64::try_from(sums.count).unwrap_or(i64::MAX))),
            ..NumberDataPoint::default()
        });
        let (aggregation_temporality, data_points) = (AggregationTemporality::Cumulative.into(), data_points.collect());
        let data = Data::Sum(Sum { aggregation_temporality, is_monotonic: true, data_points });
        self.add(name, description, unit, data);
    }

    /// Adds a counter without attributes.
    pub(super) fn counter(&mut self, name: &str, description: &str, unit: &str, count: u64) {
        let sums = Sums { count, ..Sums::default() };
        self.counters(name, description, unit, vec![CountedSeries { attributes: Vec::new(), sums }]);
    }

    /// Adds a gauge without attributes.
    pub(super) fn gauge(&mut self, name: &str, description: &str, unit: &str, value: usize) {
        self.points += 1;
        let point =
            NumberDataPoint { time_unix_nano: self.now, value: Some(Value::AsDouble(value as f64)), ..NumberDataPoint::default() };
        self.add(name, description, unit, Data::Gauge(Gauge { data_points: vec![point] }));
    }

    /// Adds a histogram of times.
    pub(super) fn histograms(&mut self, name: &str, description: &str, bounds: &[f64], series: Vec<CountedSeries>) {
        self.points += series.len() as u64;
        let data_points = series.into_iter().map(|CountedSeries { attributes, sums }| HistogramDataPoint {
            attributes: attributes.into_iter().map(|(name, value)| text(&name, value)).collect(),
            start_time_unix_nano: self.start,
            time_unix_nano: self.now,
            count: sums.count,
            sum: Some(sums.sum_ns as f64 / 1e9),
            bucket_counts: sums.buckets,
            explicit_bounds: bounds.to_vec(),
            ..HistogramDataPoint::default()
        });
        let (aggregation_temporality, data_points) = (AggregationTemporality::Cumulative.into(), data_points.collect());
        self.add(name, description, "s", Data::Histogram(Histogram { aggregation_temporality, data_points }));
    }

    /// Adds a histogram of anything.
    pub(super) fn distributions(&mut self, name: &str, description: &str, unit: &str, bounds: &[f64], points: Vec<HistogramPoint>) {
        self.points += points.len() as u64;
        let data_points = points.into_iter().map(|HistogramPoint { attributes, sum, buckets }| HistogramDataPoint {
            attributes: attributes.into_iter().map(|(name, value)| text(name, value)).collect(),
            start_time_unix_nano: self.start,
            time_unix_nano: self.now,
            count: buckets.iter().sum(),
            sum: Some(sum),
            bucket_counts: buckets,
            explicit_bounds: bounds.to_vec(),
            ..HistogramDataPoint::default()
        });
        let (aggregation_temporality, data_points) = (AggregationTemporality::Cumulative.into(), data_points.collect());
        self.add(name, description, unit, Data::Histogram(Histogram { aggregation_temporality, data_points }));
    }

    fn add(&mut self, name: &str, description: &str, unit: &str, data: Data) {
        let (name, description, unit) = (name.to_owned(), description.to_owned(), unit.to_owned());
        self.metrics.push(Metric { name, description, unit, data: Some(data), ..Metric::default() });
    }

    /// All families that have a data point, and the number of data points.
    pub(super) fn finish(mut self) -> (Vec<Metric>, u64) {
        self.metrics.retain(|metric| match &metric.data {
            Some(Data::Gauge(gauge)) => !gauge.data_points.is_empty(),
            Some(Data::Sum(sum)) => !sum.data_points.is_empty(),
            Some(Data::Histogram(histogram)) => !histogram.data_points.is_empty(),
            _ => false,
        });
        (self.metrics, self.points)
    }
}

impl Figures for OtlpFigures {
    fn family(&mut self, name: &str, kind: MetricKind, help: &str) -> &mut Exposition {
        let aggregation_temporality = AggregationTemporality::Cumulative.into();
        let data = match kind {
            MetricKind::Counter => Data::Sum(Sum { aggregation_temporality, is_monotonic: true, data_points: Vec::new() }),
            MetricKind::Gauge => Data::Gauge(Gauge::default()),
            MetricKind::Histogram => Data::Histogram(Histogram { aggregation_temporality, data_points: Vec::new() }),
        };
        let (name, description, unit) = (name.to_owned(), help.to_owned(), unit(name).to_owned());
        self.metrics.push(Metric { name, description, unit, data: Some(data), ..Metric::default() });
        self
    }

    fn sample(&mut self, labels: &[(&str, &str)], value: f64) -> &mut Exposition {
        let point = NumberDataPoint {
            attributes: labels.iter().map(|(name, value)| text(name, *value)).collect(),
            start_time_unix_nano: self.start,
            time_unix_nano: self.now,
            value: Some(Value::AsDouble(value)),
            ..NumberDataPoint::default()
        };
        match self.metrics.last_mut().and_then(|metric| metric.data.as_mut()) {
            Some(Data::Sum(sum)) => sum.data_points.push(point),
            Some(Data::Gauge(gauge)) => gauge.data_points.push(NumberDataPoint { start_time_unix_nano: 0, ..point }),
            _ => return self,
        }
        self.points += 1;
        self
    }

    fn histogram(&mut self, labels: &[(&str, &str)], bounds: &[u64; BOUNDS], values: &Distribution) {
        let Some(Data::Histogram(histogram)) = self.metrics.last_mut().and_then(|metric| metric.data.as_mut()) else { return };
        histogram.data_points.push(HistogramDataPoint {
            attributes: labels.iter().map(|(name, value)| text(name, *value)).collect(),
            start_time_unix_nano: self.start,
            time_unix_nano: self.now,
            count: values.count(),
            sum: Some(values.sum_ns as f64 / 1e9),
            bucket_counts: values.buckets.to_vec(),
            explicit_bounds: bounds.iter().map(|ns| *ns as f64 / 1e9).collect(),
            ..HistogramDataPoint::default()
        });
        self.points += 1;
    }
}

/// The UCUM unit implied by a name; none for counts, because a collector's Prometheus exporter appends `_ratio` to gauges with the unit `1`.
fn unit(name: &str) -> &'static str {
    match name.rsplit(['_', '.']).next() {
        Some("seconds" | "duration") => "s",
        Some("bytes") => "By",
        _ => "",
    }
}

#[cfg(test)]
mod tests;
