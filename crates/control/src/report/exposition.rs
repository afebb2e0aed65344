//! The text format of metrics: Prometheus' own and OpenMetrics. Knows the grammar, not the metrics.

use std::fmt::Write;
use tollgate_model::distribution::{BOUNDS, Distribution};

/// The two text formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpositionFormat {
    Prometheus,
    OpenMetrics,
}

/// Types of metric families.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MetricKind {
    Counter,
    Gauge,
    Histogram,
}

/// Receiver of metrics, whatever its format.
pub(super) type Exposition = dyn Figures;

/// Accepts metrics, family by family.
pub(super) trait Figures {
    /// Starts a family. The name of a counter is given without `_total`.
    fn family(&mut self, name: &str, kind: MetricKind, help: &str) -> &mut Exposition;

    /// Adds a sample to the family.
    fn sample(&mut self, labels: &[(&str, &str)], value: f64) -> &mut Exposition;

    /// Adds a histogram to the family; its bounds are in nanoseconds and shown in seconds.
    fn histogram(&mut self, labels: &[(&str, &str)], bounds: &[u64; BOUNDS], values: &Distribution);
}

/// A text being written.
pub(super) struct ExpositionText {
    form: ExpositionFormat,
    text: String,
    /// Name of the family's samples.
    sample: String,
}

impl ExpositionFormat {
    /// The format that an `Accept` header requests.
    pub fn accepted(accept: &str) -> ExpositionFormat {
        let wish = |kind: &str| {
            let ranges = accept.split(',').map(|range| range.split(';').map(str::trim));
            let wishes = ranges.filter_map(|mut parts| {
                parts.next().filter(|named| named.eq_ignore_ascii_case(kind))?;
                Some(parts.find_map(|part| part.strip_prefix("q=")?.parse().ok()).unwrap_or(1.0))
            });
            wishes.fold(0.0, f32::max)
        };
        let open_metrics = wish("application/openmetrics-text");
        if open_metrics > 0.0 && open_metrics >= wish("text/plain") {
            ExpositionFormat::OpenMetrics
        } else {
            ExpositionFormat::Prometheus
        }
    }

    pub fn content_type(self) -> &'static str {
        match self {
            ExpositionFormat::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            ExpositionFormat::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

impl Figures for ExpositionText {
    fn family(&mut self, name: &str, kind: MetricKind, help: &str) -> &mut Exposition {
        let (word, suffix) = match kind {
            MetricKind::Counter => ("counter", "_total"),
            MetricKind::Gauge => ("gauge", ""),
            MetricKind::Histogram => ("histogram", ""),
        };
        self.sample = format!("{name}{suffix}");
        // Prometheus names a family like its samples, OpenMetrics without the suffix for the type.
        let family = if self.form == ExpositionFormat::Prometheus { self.sample.as_str() } else { name };
        let _ = write!(self.text, "# HELP {family} {help}\n# TYPE {family} {word}\n");
        self
    }

    fn sample(&mut self, labels: &[(&str, &str)], value: f64) -> &mut Exposition {
        self.line("", labels, None, value);
        self
    }

    fn histogram(&mut self, labels: &[(&str, &str)], bounds: &[u64; BOUNDS], values: &Distribution) {
        let mut below = 0;
        let bounds = bounds.iter().map(|ns| format!("{:?}", *ns as f64 / 1e9)).chain(["+Inf".to_owned()]);
        for (bound, count) in bounds.zip(values.buckets) {
            below += count;
            self.line("_bucket", labels, Some(&bound), below as f64);
        }
        self.line("_sum", labels, None, values.sum_ns as f64 / 1e9);
        self.line("_count", labels, None, below as f64);
    }
}

impl ExpositionText {
    pub(super) fn new(form: ExpositionFormat) -> Self {
        ExpositionText { form, text: String::with_capacity(16 * 1024), sample: String::new() }
    }

    fn line(&mut self, suffix: &str, labels: &[(&str, &str)], bound: Option<&str>, value: f64) {
        let ExpositionText { text, sample, .. } = self;
        let _ = write!(text, "{sample}{suffix}");
        for (index, (name, value)) in labels.iter().copied().chain(bound.map(|bound| ("le", bound))).enumerate() {
            let _ = write!(text, "{}{name}=\"", if index == 0 { '{' } else { ',' });
            value.chars().for_each(|c| match c {
                '\\' => text.push_str("\\\\"),
                '"' => text.push_str("\\\""),
                '\n' => text.push_str("\\n"),
                c => text.push(c),
            });
            text.push('"');
        }
        if !labels.is_empty() || bound.is_some() {
            text.push('}');
        }
        let _ = writeln!(text, " {value}");
    }

    /// The complete text.
    pub(super) fn finish(mut self) -> String {
        if self.form == ExpositionFormat::OpenMetrics {
            self.text.push_str("# EOF\n");
        }
        self.text
    }
}

#[cfg(test)]
mod tests;
