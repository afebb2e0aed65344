//! Compares two runs, gateway by gateway, only by CPU time per request: a gateway is worse if it exceeds the threshold and its
//! rounds do not overlap with those of the first run. Runs of different machines are not comparable, which the comparison reports.

use super::format::{NOTHING, latency, or_nothing, spread, thousands};
use super::summary::{Row, ScenarioSummary, summarise};
use super::table::TextTable;
use crate::record;
use crate::record::RunRecord;
use crate::stats::rounds::Spread;
use std::path::Path;
use std::process::ExitCode;

/// The comparison of two runs; `None` if the first is not a run.
pub(crate) fn runs(before: &Path, after: &Path, threshold: f64) -> Option<Result<ExitCode, String>> {
    is_run(before).then(|| {
        let (text, is_worse) = text(&RunRecord::read(before)?, &RunRecord::read(after)?, threshold);
        print!("{text}");
        Ok(if is_worse { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    })
}

fn is_run(path: &Path) -> bool {
    if path.is_dir() {
        return path.join(record::FILE).is_file();
    }
    let text = std::fs::read(path).unwrap_or_default();
    let value: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    value.get("format").is_some_and(|format| format == record::FORMAT)
}

/// The table, and whether anything is worse.
pub(crate) fn text(before: &RunRecord, after: &RunRecord, threshold: f64) -> (String, bool) {
    let mut table =
        TextTable::new(&["scenario", "case", "load", "gateway", "CPU µs before", "after", "change", "requests/s", "p99", ""], 4);
    let mut is_worse = false;
    let (first, second) = (summarise(before), summarise(after));
    for old in &first {
        let Some(new) = second.iter().find(|new| new.record.name == old.record.name) else { continue };
        for row in &old.rows {
            let Some(now) = same(old, row, new) else { continue };
            let worse = row.cpu_us.zip(now.cpu_us).is_some_and(|(then, now)| is_above(then, now, threshold));
            is_worse |= worse;
            table.push(cells(old, row, now, worse));
        }
    }
    let mut text = if table.is_empty() { "the two runs have nothing in common\n".to_owned() } else { table.terminal() };
    for note in notes(before, after) {
        text += &format!("note: {note}\n");
    }
    (text, is_worse)
}

/// The row of the same case, load and gateway.
fn same<'b>(old: &ScenarioSummary, row: &Row, new: &'b ScenarioSummary) -> Option<&'b Row<'b>> {
    let load = old.record.loads.get(row.load)?;
    let load = new.record.loads.iter().position(|other| other.name == load.name)?;
    let case = new.record.cases.iter().position(|case| case.name == old.case_name(row.case))?;
    new.row(case, load, row.peer)
}

fn is_above(then: Spread, now: Spread, threshold: f64) -> bool {
    now.median > then.median * (1.0 + threshold) && now.low > then.high
}

fn cells(summary: &ScenarioSummary, then: &Row, now: &Row, worse: bool) -> Vec<String> {
    let micros: fn(f64) -> String = super::format::micros;
    let change = then.cpu_us.zip(now.cpu_us).map(|(then, now)| format!("{:+.1} %", (now.median / then.median - 1.0) * 100.0));
    let both = |then: Option<String>, now: Option<String>| match (then, now) {
        (None, None) => NOTHING.to_owned(),
        (then, now) => format!("{} → {}", or_nothing(then), or_nothing(now)),
    };
    let rate = |row: &Row| row.rate.map(|rate| thousands(rate.median));
    let p99 = |row: &Row| row.latency.map(|times| latency(times.p99));
    vec![
        summary.record.name.clone(),
        summary.case_name(then.case).to_owned(),
        summary.record.loads.get(then.load).map_or_else(String::new, |load| load.name.clone()),
        then.peer.to_owned(),
        or_nothing(then.cpu_us.map(|cpu| spread(cpu, micros))),
        or_nothing(now.cpu_us.map(|cpu| spread(cpu, micros))),
        or_nothing(change),
        both(rate(then), rate(now)),
        both(p99(then), p99(now)),
        if worse { "worse".to_owned() } else { String::new() },
    ]
}

fn notes(before: &RunRecord, after: &RunRecord) -> Vec<String> {
    let mut notes = Vec::new();
    let machine = |run: &RunRecord| (run.facts.host.clone(), run.facts.cpu.clone(), run.facts.cpus, run.facts.threads);
    if machine(before) != machine(after) {
        notes.push("the runs are of different machines or divisions of CPUs: their figures are not comparable".to_owned());
    }
    for (name, run) in [("first", before), ("second", after)] {
        if let Some(end) = &run.end {
            notes.push(format!("the {name} run is not complete: {end}"));
        }
        if run.facts.load_average_max() > 0.5 {
            notes.push(format!("the {name} run's machine was not idle (load average {:.2})", run.facts.load_average_max()));
        }
    }
    notes
}
