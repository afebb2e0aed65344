//! HdrHistogram's text format, as used by its plotter and wrk2.

use super::LoadResult;
use crate::stats::distribution::LatencyDistribution;
use std::io::{self, Write};

/// Lines per halving of the distance to 100 %.
const TICKS_PER_HALF: u32 = 5;

/// Writes the response-time distribution, in milliseconds.
pub(crate) fn write(result: &LoadResult, out: &mut dyn Write) -> io::Result<()> {
    let times = LatencyDistribution::decode(&result.response_time.histogram).map_err(io::Error::other)?;
    let histogram = times.histogram();
    let ms = |ns: f64| ns / 1e6;
    writeln!(out, "{:>12} {:>14} {:>10} {:>14}\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")?;
    let mut total = 0;
    for step in histogram.iter_quantiles(TICKS_PER_HALF) {
        total += step.count_since_last_iteration();
        let (value, quantile) = (ms(step.value_iterated_to() as f64), step.quantile_iterated_to());
        if quantile < 1.0 {
            writeln!(out, "{value:>12.3} {quantile:>2.12} {total:>10} {:>14.2}", 1.0 / (1.0 - quantile))?;
        } else {
            writeln!(out, "{value:>12.3} {quantile:>2.12} {total:>10}")?;
        }
    }
    writeln!(out, "#[Mean    = {:>12.3}, StdDeviation   = {:>12.3}]", ms(histogram.mean()), ms(histogram.stdev()))?;
    writeln!(out, "#[Max     = {:>12.3}, Total count    = {:>12}]", ms(histogram.max() as f64), histogram.len())?;
    writeln!(out, "#[Buckets = {:>12}, SubBuckets     = {:>12}]", histogram.buckets(), 2048)
}
