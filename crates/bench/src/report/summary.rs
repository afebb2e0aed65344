//! Figures derived from the rounds of a run: medians, ratios within rounds, what a gateway adds to the upstream.

use crate::record::{LoadRecord, Round, RoundSeries, RunRecord, ScenarioRecord};
use crate::stats::distribution::LatencyDistribution;
use crate::stats::rounds;
use crate::stats::rounds::Spread;

/// The default reference, if it was measured.
pub(crate) const OURS: &str = "tollgate";
/// The upstream without a gateway.
pub(crate) const BASELINE: &str = "direct";

/// A scenario's rows, by load, then case, then gateway.
pub(crate) struct ScenarioSummary<'a> {
    pub record: &'a ScenarioRecord,
    /// The gateway whose CPU time is the reference.
    pub reference: Option<String>,
    /// Gateways with a column of ratios in tables: those that the scenario names, or the reference.
    pub ratio_to: Vec<&'a str>,
    pub rows: Vec<Row<'a>>,
}

/// One case, load and gateway.
pub(crate) struct Row<'a> {
    pub case: usize,
    pub load: usize,
    pub peer: &'a str,
    pub series: &'a RoundSeries,
    /// Why the row is void, if it is.
    pub void: Option<&'a str>,
    /// Whether speed and latency are void.
    pub is_loader_bound: bool,
    /// CPU time of the gateway per request.
    pub cpu_us: Option<Spread>,
    /// CPU time as a multiple of the reference's.
    pub times_reference: Option<Spread>,
    /// CPU time as multiples of that of each gateway in the summary's `ratio_to`.
    pub ratios: Vec<Option<Spread>>,
    /// CPU time as a multiple of this gateway's first case.
    pub times_first: Option<Spread>,
    /// Requests per second.
    pub rate: Option<Spread>,
    pub latency: Option<LatencyFigures>,
    /// Latency added to the upstream's own under the same load.
    pub introduced: Option<LatencyFigures>,
    /// CPU time of the gateway's store per request.
    pub store_cpu_us: Option<f64>,
    /// Context switches per request.
    pub switches: Option<f64>,
    pub memory_mib: Option<f64>,
    /// Requests without a response, over all rounds.
    pub failed: u64,
}

/// Medians over the rounds, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LatencyFigures {
    pub mean: f64,
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
}

impl LatencyFigures {
    fn of(series: &RoundSeries) -> Option<LatencyFigures> {
        let median = |figure: fn(&Round) -> f64| rounds::median(&series.figures(figure));
        Some(LatencyFigures {
            mean: median(|round| round.mean_us)?,
            p50: median(|round| round.p50_us)?,
            p95: median(|round| round.p95_us)?,
            p99: median(|round| round.p99_us)?,
            max: median(|round| round.max_us)?,
        })
    }

    fn above(self, baseline: LatencyFigures) -> LatencyFigures {
        LatencyFigures {
            mean: self.mean - baseline.mean,
            p50: self.p50 - baseline.p50,
            p95: self.p95 - baseline.p95,
            p99: self.p99 - baseline.p99,
            max: self.max - baseline.max,
        }
    }
}

/// Summaries of all scenarios with measurements.
pub(crate) fn summarise(run: &RunRecord) -> Vec<ScenarioSummary<'_>> {
    let shared_cpus = run.facts.shared_cpus();
    run.scenarios.iter().map(|record| ScenarioSummary::new(record, shared_cpus)).collect()
}

impl<'a> ScenarioSummary<'a> {
    fn new(record: &'a ScenarioRecord, shared_cpus: Option<f64>) -> ScenarioSummary<'a> {
        let gateways = || record.peers.iter().filter(|peer| *peer != BASELINE);
        let reference = gateways().find(|peer| *peer == OURS).or_else(|| gateways().next()).map(String::as_str);
        let named: Vec<&str> =
            gateways().map(String::as_str).filter(|peer| record.ratio_to.iter().any(|name| name == peer)).collect();
        let ratio_to = if named.is_empty() { reference.into_iter().collect() } else { named };
        let mut rows = Vec::new();
        for load in 0..record.loads.len() {
            for case in 0..record.cases.len() {
                for peer in &record.peers {
                    if let Some(series) = record.series(case, load, peer) {
                        rows.push(row(record, shared_cpus, reference, &ratio_to, series));
                    }
                }
            }
        }
        ScenarioSummary { record, reference: reference.map(str::to_owned), ratio_to, rows }
    }

    /// The rows of a load.
    pub(crate) fn of_load(&self, load: usize) -> impl Iterator<Item = &Row<'a>> {
        self.rows.iter().filter(move |row| row.load == load)
    }

    /// The row of this case, load and gateway.
    pub(crate) fn row(&self, case: usize, load: usize, peer: &str) -> Option<&Row<'a>> {
        self.rows.iter().find(|row| (row.case, row.load, row.peer) == (case, load, peer))
    }

    /// The first load at full speed, which shows CPU time best, or the first of all.
    pub(crate) fn main_load(&self) -> usize {
        self.record.loads.iter().position(|load: &LoadRecord| load.is_full_speed).unwrap_or(0)
    }

    pub(crate) fn case_name(&self, case: usize) -> &'a str {
        self.record.case_name(case)
    }
}

fn row<'a>(
    record: &'a ScenarioRecord,
    shared_cpus: Option<f64>,
    reference: Option<&str>,
    ratio_to: &[&str],
    series: &'a RoundSeries,
) -> Row<'a> {
    let void = series.void();
    let counts = void.is_none();
    let is_loader_bound = series.is_loader_bound(shared_cpus);
    let speed_counts = counts && !is_loader_bound;
    let other = |case: usize, peer: &str| {
        let other = record.series(case, series.load, peer).filter(|other| other.void().is_none() && counts)?;
        rounds::ratio(&series.cpu_us(), &other.cpu_us())
    };
    let beside: Vec<f64> = series.rounds.iter().filter_map(|round| round.first_case_cpu_us).collect();
    let times_first = match (series.case, beside.is_empty()) {
        (0, _) => None,
        (_, true) => other(0, &series.peer),
        (_, false) => rounds::ratio(&series.cpu_us(), &beside),
    };
    let times = |reference: &str| if reference == series.peer { None } else { other(series.case, reference) };
    let latency = LatencyFigures::of(series).filter(|_| speed_counts);
    // Cases with the same request to the upstream share one baseline.
    let baseline =
        (0..=series.case).rev().find_map(|case| record.series(case, series.load, BASELINE)).filter(|_| series.peer != BASELINE);
    let baseline = baseline
        .filter(|baseline| baseline.void().is_none() && !baseline.is_loader_bound(shared_cpus))
        .and_then(LatencyFigures::of);
    let only_served = series.rounds.iter().all(|round| round.status.keys().all(|status| *status < 400));
    let of_gateway = |figure: fn(&crate::record::Use) -> f64| {
        let figures: Vec<f64> = series.rounds.iter().filter_map(|round| Some(figure(&round.gateway?))).collect();
        rounds::median(&figures).filter(|_| counts)
    };
    Row {
        case: series.case,
        load: series.load,
        peer: &series.peer,
        series,
        void,
        is_loader_bound,
        cpu_us: rounds::spread(&series.cpu_us()).filter(|_| counts),
        times_reference: reference.and_then(times),
        ratios: ratio_to.iter().map(|reference| times(reference)).collect(),
        times_first: times_first.filter(|_| counts),
        rate: rounds::spread(&series.figures(|round| round.requests_per_second)).filter(|_| speed_counts),
        latency,
        introduced: latency.zip(baseline).map(|(ours, upstream)| ours.above(upstream)).filter(|_| only_served),
        store_cpu_us: rounds::median(&series.rounds.iter().filter_map(|round| Some(round.store?.cpu_us)).collect::<Vec<_>>())
            .filter(|_| counts),
        switches: of_gateway(|used| used.switches),
        memory_mib: of_gateway(|used| used.memory_mib),
        failed: series.rounds.iter().map(|round| round.failed).sum(),
    }
}

/// Response times of all rounds together, as points of per cent and microseconds; empty if a histogram is unreadable.
pub(crate) fn percentiles(series: &RoundSeries) -> Vec<(f64, f64)> {
    /// Steps per further nine.
    const STEPS: u32 = 20;
    let mut all = LatencyDistribution::new();
    for round in &series.rounds {
        match LatencyDistribution::decode(&round.histogram) {
            Ok(one) => all.add(&one),
            Err(_) => return Vec::new(),
        }
    }
    if all.count() == 0 {
        return Vec::new();
    }
    // Percentiles beyond the slowest ten requests would show single requests.
    let nines = (all.count() as f64 / 10.0).log10().clamp(1.0, 4.0);
    let last = (nines * f64::from(STEPS)) as u32;
    (0..=last)
        .map(|step| {
            let percent = 100.0 * (1.0 - 10f64.powf(-f64::from(step) / f64::from(STEPS)));
            (percent, all.percentile_us(percent))
        })
        .collect()
}
