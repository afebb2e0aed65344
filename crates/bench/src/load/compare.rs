//! `tollgate-bench compare`: whether a second result is worse than a first, for people and for CI. One run each says little on
//! a noisy machine; the threshold is the reader's judgement of the noise.

use super::result::LoadResult;
use super::{Trouble, amount, result_file};
use clap::Args;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Options of `compare`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code: 0 if nothing is worse by more than the threshold, 1 if something is, 2 if the files cannot be compared."
)]
pub struct Options {
    /// The result of `load`, or the directory of a `run`, to compare with
    #[arg(value_name = "A")]
    before: PathBuf,
    /// The result to judge
    #[arg(value_name = "B")]
    after: PathBuf,
    /// How much worse a figure may be
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = amount::share)]
    threshold: f64,
}

/// One figure of both results.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    name: &'static str,
    before: f64,
    after: f64,
    /// Relative change; above 0 is more.
    change: f64,
    pub worse: bool,
}

/// Runs `compare`.
pub fn run(options: &Options) -> ExitCode {
    if let Some(verdict) = crate::report::compare::runs(&options.before, &options.after, options.threshold) {
        return verdict;
    }
    match compare_files(options) {
        Ok(code) => code,
        Err(message) => Trouble::Usage(message).report(),
    }
}

fn compare_files(options: &Options) -> Result<ExitCode, String> {
    let (before, after) = (result_file::read(&options.before)?, result_file::read(&options.after)?);
    let mut out = std::io::stdout().lock();
    let mut notes = Vec::new();
    for (path, result) in [(&options.before, &before), (&options.after, &after)] {
        if !result.complete {
            notes.push(format!("{}: the run was not complete", path.display()));
        }
        if result.loader_saturated {
            notes.push(format!("{}: the load generator was the bottleneck", path.display()));
        }
    }
    if (&before.load.model, before.load.rate, before.load.concurrency)
        != (&after.load.model, after.load.rate, after.load.concurrency)
    {
        notes.push("the runs had different loads".to_owned());
    }
    let lines = compare(&before, &after, options.threshold);
    let worse = lines.iter().any(|line| line.worse);
    let mut text = format!("{:<22} {:>14} {:>14} {:>9}\n", "", "A", "B", "change");
    for line in &lines {
        let verdict = if line.worse { "  worse" } else { "" };
        text += &format!("{:<22} {:>14.2} {:>14.2} {:>+8.1}%{verdict}\n", line.name, line.before, line.after, line.change * 100.0);
    }
    for note in notes {
        text += &format!("note: {note}\n");
    }
    out.write_all(text.as_bytes()).map_err(|error| format!("standard output: {error}"))?;
    Ok(if worse { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The figures that count, each judged by `threshold`.
pub fn compare(before: &LoadResult, after: &LoadResult, threshold: f64) -> Vec<Line> {
    let line = |name, before: f64, after: f64, more_is_better: bool| {
        let change = match before {
            before if before != 0.0 => (after - before) / before,
            _ if after == 0.0 => 0.0,
            _ => 1.0,
        };
        let worse = if more_is_better { change < -threshold } else { change > threshold };
        Line { name, before, after, change, worse }
    };
    let share = |count: u64, result: &LoadResult| {
        let all = result.requests.completed + result.requests.failed;
        if all == 0 { 0.0 } else { count as f64 * 100.0 / all as f64 }
    };
    let server_errors = |result: &LoadResult| result.status.range(500..).map(|(_, count)| count).sum::<u64>();
    let times = |result: &LoadResult| {
        let times = &result.response_time;
        [times.mean_us, times.p50_us, times.p90_us, times.p99_us, times.p99_9_us]
    };
    let mut lines = vec![line("requests/s", before.requests_per_second, after.requests_per_second, true)];
    let names = ["mean, us", "p50, us", "p90, us", "p99, us", "p99.9, us"];
    lines.extend(names.into_iter().zip(times(before).into_iter().zip(times(after))).map(|(name, (a, b))| line(name, a, b, false)));
    lines.push(line("failed, %", share(before.requests.failed, before), share(after.requests.failed, after), false));
    lines.push(line("status 5xx, %", share(server_errors(before), before), share(server_errors(after), after), false));
    lines
}

#[cfg(test)]
mod tests;
