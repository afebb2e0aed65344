//! Compares two results of `load`. Single runs prove little on a noisy machine; the threshold is the user's estimate of the noise.

use super::LoadResult;
use super::file;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// One figure in both results.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FigureChange {
    name: &'static str,
    before: f64,
    after: f64,
    /// Relative change; positive means more.
    change: f64,
    pub worse: bool,
}

/// Prints the comparison of two files; the exit code tells whether the second is worse.
pub(crate) fn files(before_file: &Path, after_file: &Path, threshold: f64) -> Result<ExitCode, String> {
    let (before, after) = (file::read(before_file)?, file::read(after_file)?);
    let mut out = std::io::stdout().lock();
    let mut notes = Vec::new();
    for (path, result) in [(before_file, &before), (after_file, &after)] {
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
    let lines = compare(&before, &after, threshold);
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

/// The relevant figures, each compared with `threshold`.
pub(crate) fn compare(before: &LoadResult, after: &LoadResult, threshold: f64) -> Vec<FigureChange> {
    let line = |name, before: f64, after: f64, more_is_better: bool| {
        let change = match before {
            before if before != 0.0 => (after - before) / before,
            _ if after == 0.0 => 0.0,
            _ => 1.0,
        };
        let worse = if more_is_better { change < -threshold } else { change > threshold };
        FigureChange { name, before, after, change, worse }
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
