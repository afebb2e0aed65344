//! `tollgate-bench merge`: combines results of several processes or machines. Histograms and counts are added without loss; seconds
//! are aligned by the clocks of the machines.

use super::{EventSummary, LoadResult, Requests, TimeSummary};
use super::{file, text};
use crate::exit::CommandError;
use crate::load::deliver_files;
use crate::stats::distribution::LatencyDistribution;
use clap::Args;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Options of `merge`.
#[derive(Debug, Args)]
pub(crate) struct MergeOptions {
    /// Files written by `load --json`
    #[arg(required = true, num_args = 2.., value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write the merged result to this file as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the merged response-time distribution to this file in HdrHistogram's text format
    #[arg(long, value_name = "FILE")]
    hgrm: Option<PathBuf>,
}

/// Runs `merge`.
pub(crate) fn run(options: &MergeOptions) -> ExitCode {
    match merge_files(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => trouble.report(),
    }
}

fn merge_files(options: &MergeOptions) -> Result<(), CommandError> {
    let results = options.files.iter().map(|file| file::read(file)).collect::<Result<Vec<_>, _>>().map_err(CommandError::Failed)?;
    let merged = merge(results).map_err(CommandError::Failed)?;
    let mut problems = Vec::new();
    if let Err(error) = std::io::stdout().lock().write_all(text::text(&merged).as_bytes()) {
        problems.push(format!("standard output: {error}"));
    }
    let create = |path: &Option<PathBuf>| path.as_deref().map(crate::load::create).transpose();
    deliver_files(&merged, (&options.json, create(&options.json)?), (&options.hgrm, create(&options.hgrm)?), &mut problems);
    match problems.first() {
        Some(problem) => Err(CommandError::Failed(format!("cannot write {problem}"))),
        None => Ok(()),
    }
}

/// All of `results` as one.
pub(crate) fn merge(results: Vec<LoadResult>) -> Result<LoadResult, String> {
    let spans = MergedSpan::of(&results);
    let mut results = results.into_iter();
    let mut merged = results.next().ok_or("nothing to merge")?;
    let first_ms = spans.started_ms;
    merged.requests_per_second_summed = Some(merged.requests_per_second_summed.unwrap_or(merged.requests_per_second));
    let shift = |result: &mut LoadResult| {
        // Rounded to the nearest second, because the machines' seconds do not start at the same time.
        let late = (result.started_unix_ms.saturating_sub(first_ms) + 500) / 1000;
        result.series.iter_mut().for_each(|second| second.second += late);
    };
    shift(&mut merged);
    let mut seconds: BTreeMap<u64, _> =
        std::mem::take(&mut merged.series).into_iter().map(|second| (second.second, second)).collect();
    for mut other in results {
        shift(&mut other);
        for second in std::mem::take(&mut other.series) {
            let joined = match seconds.remove(&second.second) {
                Some(before) => before.join(&second),
                None => second,
            };
            seconds.insert(joined.second, joined);
        }
        add(&mut merged, other)?;
    }
    merged.series = seconds.into_values().collect();
    merged.started_unix_ms = first_ms;
    merged.elapsed_seconds = spans.seconds();
    merged.requests_per_second =
        if merged.elapsed_seconds > 0.0 { merged.requests.completed as f64 / merged.elapsed_seconds } else { 0.0 };
    let Requests { completed, failed, warmup, .. } = merged.requests;
    merged.loader.cpu_us_per_request = merged.loader.cpu_seconds * 1e6 / (completed + failed + warmup).max(1) as f64;
    merged.loader_saturated = !merged.loader_saturated_because.is_empty();
    merged.search = None;
    Ok(merged)
}

fn add(merged: &mut LoadResult, other: LoadResult) -> Result<(), String> {
    merged.complete &= other.complete;
    merged.stopped = merged.stopped.take().or(other.stopped);
    let (load, more) = (&mut merged.load, other.load);
    for url in more.urls {
        if !load.urls.contains(&url) {
            load.urls.push(url);
        }
    }
    if load.model != more.model || load.protocol != more.protocol {
        return Err(format!("{} over {} and {} over {} cannot be merged", load.model, load.protocol, more.model, more.protocol));
    }
    load.concurrency += more.concurrency;
    load.threads += more.threads;
    load.requests = load.requests.zip(more.requests).map(|(a, b)| a + b);
    load.duration_seconds = load.duration_seconds.zip(more.duration_seconds).map(|(a, b)| a.max(b));
    load.rate = load.rate.zip(more.rate).map(|(a, b)| a + b);
    load.ramp = load.ramp.take().filter(|ramp| Some(ramp) == more.ramp.as_ref());
    let summed = other.requests_per_second_summed.unwrap_or(other.requests_per_second);
    merged.requests_per_second_summed = merged.requests_per_second_summed.map(|sum| sum + summed);
    merged.requests.add(&other.requests);
    for (status, count) in other.status {
        *merged.status.entry(status).or_default() += count;
    }
    merged.errors.add(&other.errors);
    for (message, count) in other.error_messages {
        *merged.error_messages.entry(message).or_default() += count;
    }
    merged.bytes.add(&other.bytes);
    merged.connections.add(&other.connections);
    merged.response_time = add_times(&merged.response_time, &other.response_time)?;
    merged.service_time = add_times(&merged.service_time, &other.service_time)?;
    merged.details.add(&other.details);
    merged.events = match (merged.events.take(), other.events) {
        (Some(a), Some(b)) => {
            Some(EventSummary { count: a.count + b.count, first: add_times(&a.first, &b.first)?, gap: add_times(&a.gap, &b.gap)? })
        }
        (a, b) => a.or(b),
    };
    let (loader, more) = (&mut merged.loader, other.loader);
    loader.cpu_seconds += more.cpu_seconds;
    loader.user_seconds += more.user_seconds;
    loader.system_seconds += more.system_seconds;
    loader.run_queue_seconds += more.run_queue_seconds;
    // Figures that cannot be added keep the worst value.
    loader.busiest_thread_share = loader.busiest_thread_share.max(more.busiest_thread_share);
    loader.send_lag_p99_us = loader.send_lag_p99_us.max(more.send_lag_p99_us);
    loader.send_lag_max_us = loader.send_lag_max_us.max(more.send_lag_max_us);
    merged.loader_saturated_because.extend(other.loader_saturated_because);
    Ok(())
}

fn add_times(a: &TimeSummary, b: &TimeSummary) -> Result<TimeSummary, String> {
    let broken = |error: String| format!("a histogram cannot be read: {error}");
    let mut sum = LatencyDistribution::decode(&a.histogram).map_err(broken)?;
    sum.add(&LatencyDistribution::decode(&b.histogram).map_err(broken)?);
    Ok(TimeSummary::of(&sum))
}

/// Time from the first start to the last end.
struct MergedSpan {
    started_ms: u64,
    measured_from: f64,
    measured_to: f64,
}

impl MergedSpan {
    fn of(results: &[LoadResult]) -> Self {
        let from = |result: &LoadResult| result.started_unix_ms as f64 / 1000.0 + result.load.warmup_seconds;
        MergedSpan {
            started_ms: results.iter().map(|result| result.started_unix_ms).min().unwrap_or_default(),
            measured_from: results.iter().map(from).fold(f64::INFINITY, f64::min),
            measured_to: results.iter().map(|result| from(result) + result.elapsed_seconds).fold(0.0, f64::max),
        }
    }

    fn seconds(&self) -> f64 {
        (self.measured_to - self.measured_from).max(0.0)
    }
}

#[cfg(test)]
pub(in crate::load) mod tests;
