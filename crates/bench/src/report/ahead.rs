//! Where another gateway is ahead: rows in which its CPU time or its latency is lower than Tollgate's.

use super::format::{latency, micros};
use super::summary::{BASELINE, OURS, Row, ScenarioSummary};
use super::table::TextTable;

/// Below this ratio a difference is the noise of a run with few rounds.
const NOISE: f64 = 1.05;

/// One row for each figure of a gateway that is lower than ours in the same case under the same load. Latency counts below full
/// speed only, where it is the gateway's own and not a property of the number of connections, and where both got the same rate.
pub(crate) fn table(scenarios: &[ScenarioSummary]) -> TextTable {
    let mut table = TextTable::new(&["scenario", "case", "load", "figure", "gateway", "its", "Tollgate's", "×"], 5);
    for summary in scenarios {
        for ours in summary.rows.iter().filter(|row| row.peer == OURS && row.void.is_none()) {
            let beside =
                |row: &&Row| (row.case, row.load) == (ours.case, ours.load) && ![OURS, BASELINE, "floor"].contains(&row.peer);
            for theirs in summary.rows.iter().filter(beside).filter(|row| row.void.is_none()) {
                for (figure, theirs_is, ours_is, text) in figures(summary, theirs, ours) {
                    let times = ours_is / theirs_is;
                    if times > NOISE {
                        let load = summary.record.loads.get(ours.load).map_or("", |load| load.name.as_str());
                        let cells = [&summary.record.name, summary.case_name(ours.case), load, figure, theirs.peer];
                        let mut cells: Vec<String> = cells.map(str::to_owned).into();
                        cells.extend([text(theirs_is), text(ours_is), format!("{times:.2}")]);
                        table.push(cells);
                    }
                }
            }
        }
    }
    table
}

type Figure = (&'static str, f64, f64, fn(f64) -> String);

/// The figures that both have: theirs, then ours.
fn figures(summary: &ScenarioSummary, theirs: &Row, ours: &Row) -> Vec<Figure> {
    let is_full_speed = summary.record.loads.get(ours.load).is_none_or(|load| load.is_full_speed || load.is_ramp);
    let cpu = theirs
        .cpu_us
        .zip(ours.cpu_us)
        .map(|(theirs, ours)| ("CPU µs/request", theirs.median, ours.median, micros as fn(f64) -> String));
    let times = theirs.latency.zip(ours.latency).filter(|_| !is_full_speed && has_same_rate(theirs, ours));
    let times = times.map(|(theirs, ours)| {
        [("p50", theirs.p50, ours.p50, latency as fn(f64) -> String), ("p99", theirs.p99, ours.p99, latency as fn(f64) -> String)]
    });
    cpu.into_iter().chain(times.into_iter().flatten()).filter(|(_, theirs, ..)| *theirs > 0.0).collect()
}

/// Whether both were offered as many requests a second; of their own capacities, most gateways get different rates.
fn has_same_rate(theirs: &Row, ours: &Row) -> bool {
    let offered = |row: &Row| row.series.rounds.first().and_then(|round| round.rate);
    match (offered(theirs), offered(ours)) {
        (Some(theirs), Some(ours)) => (theirs / ours - 1.0).abs() < 0.01,
        (theirs, ours) => theirs == ours,
    }
}
