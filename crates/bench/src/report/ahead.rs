//! Where another gateway is ahead: rows in which its CPU time or its latency is lower than Tollgate's.

use super::format::{latency, micros, ratio};
use super::summary::{BASELINE, OURS, Row, ScenarioSummary};
use super::table::TextTable;
use crate::record::RoundSeries;
use crate::stats::rounds;

/// Differences up to this ratio are not worth a row.
const SMALLEST: f64 = 1.05;
/// Share of the intervals of equal gateways that lie above 1: half of those that a 95 % interval misses. Smaller for rows, whose median must also
/// be above [`SMALLEST`].
const BY_CHANCE: f64 = 0.025;

/// Figures of other gateways that are lower than ours in the same case under the same load. Latency counts below full speed only,
/// where it is the gateway's own and not a property of the number of connections, and where both got the same rate.
pub(crate) struct Ahead {
    /// A row for each figure that is lower beyond the spread of the rounds.
    pub table: TextTable,
    /// Number of figures whose medians differ as much, but whose rounds leave open who is ahead.
    open: usize,
    /// Number of figures compared.
    compared: usize,
}

impl Ahead {
    /// What the table's rows have in common, as a sentence.
    pub(crate) const RULE: &str = "By more than five per cent, and beyond the spread of the rounds (95 % interval of the ratio).";

    pub(crate) fn new(scenarios: &[ScenarioSummary]) -> Ahead {
        let head = ["scenario", "case", "load", "figure", "gateway", "its", "Tollgate's", "Tollgate's ÷ its"];
        let mut ahead = Ahead { table: TextTable::new(&head, 5), open: 0, compared: 0 };
        for summary in scenarios {
            for ours in summary.rows.iter().filter(|row| row.peer == OURS && row.void.is_none()) {
                let beside =
                    |row: &&Row| (row.case, row.load) == (ours.case, ours.load) && ![OURS, BASELINE, "floor"].contains(&row.peer);
                for theirs in summary.rows.iter().filter(beside).filter(|row| row.void.is_none()) {
                    for figure in figures(summary, theirs, ours) {
                        ahead.compare(summary, figure, theirs, ours);
                    }
                }
            }
        }
        ahead
    }

    fn compare(&mut self, summary: &ScenarioSummary, figure: &ComparedFigure, theirs: &Row, ours: &Row) {
        let (its, our) = ((figure.of)(theirs.series), (figure.of)(ours.series));
        let Some(times) = rounds::ratio(&our, &its) else { return };
        self.compared += 1;
        if times.median <= SMALLEST {
            return;
        }
        if times.low <= 1.0 {
            self.open += 1;
            return;
        }
        let load = summary.record.load_name(ours.load);
        let mut cells: Vec<String> =
            [&summary.record.name, summary.case_name(ours.case), load, figure.name, theirs.peer].map(str::to_owned).into();
        cells.extend([its, our].map(|values| rounds::median(&values).map(figure.text).unwrap_or_default()));
        cells.push(ratio(times));
        self.table.push(cells);
    }

    /// How many figures are compared, how many of them chance alone may put into the table, and how many the rounds leave open.
    pub(crate) fn counts(&self) -> String {
        let by_chance = (self.compared as f64 * BY_CHANCE).ceil();
        let open = match self.open {
            0 => String::new(),
            1 => " The median of 1 more figure is lower by as much, but the rounds leave open who is ahead.".to_owned(),
            open => format!(" The medians of {open} more figures are lower by as much, but the rounds leave open who is ahead."),
        };
        format!(
            "{} of {} compared figures; between gateways that are alike, chance alone puts at most about {by_chance} into this list.{open}",
            self.table.len(),
            self.compared
        )
    }
}

/// A figure that is compared: its value in each round.
struct ComparedFigure {
    name: &'static str,
    text: fn(f64) -> String,
    of: fn(&RoundSeries) -> Vec<f64>,
}

const CPU: ComparedFigure = ComparedFigure { name: "CPU µs/request", text: micros, of: RoundSeries::cpu_us };
const LATENCIES: [ComparedFigure; 2] = [
    ComparedFigure { name: "p50", text: latency, of: |series| series.figures(|round| round.p50_us) },
    ComparedFigure { name: "p99", text: latency, of: |series| series.figures(|round| round.p99_us) },
];

/// The figures that both have.
fn figures(summary: &ScenarioSummary, theirs: &Row, ours: &Row) -> impl Iterator<Item = &'static ComparedFigure> {
    let is_full_speed = summary.record.loads.get(ours.load).is_none_or(|load| load.is_full_speed || load.is_ramp);
    let have_cpu = theirs.cpu_us.is_some() && ours.cpu_us.is_some();
    let have_latency = theirs.latency.is_some() && ours.latency.is_some() && !is_full_speed && has_same_rate(theirs, ours);
    let cpu: &[ComparedFigure] = if have_cpu { std::slice::from_ref(&CPU) } else { &[] };
    let latencies: &[ComparedFigure] = if have_latency { &LATENCIES } else { &[] };
    cpu.iter().chain(latencies)
}

/// Whether both were offered as many requests a second; of their own capacities, most gateways get different rates.
fn has_same_rate(theirs: &Row, ours: &Row) -> bool {
    let offered = |row: &Row| row.series.rounds.first().and_then(|round| round.rate);
    match (offered(theirs), offered(ours)) {
        (Some(theirs), Some(ours)) => (theirs / ours - 1.0).abs() < 0.01,
        (theirs, ours) => theirs == ours,
    }
}
