//! `--find-max`: finds the highest rate at which every objective holds and no request is lost. The first step runs at full speed,
//! to find the range; then bisection narrows the interval between a rate that held and one that did not. A failed step is repeated
//! once, because one hiccup of the machine is not the server's limit.

use super::objective::Objective;
use super::options::LoadOptions;
use super::pace::schedule::{Arrivals, Extent, Pacing};
use super::plan::LoadPlan;
use super::progress::ProgressLine;
use super::result::text;
use super::result::{LoadResult, RateSearch, SearchStep};
use super::{cannot_start, run as running, summary};
use crate::exit::CommandError;
use crate::interrupt::Interrupt;
use crate::stats::distribution::LatencyDistribution;
use std::sync::Arc;
use std::time::Duration;

const STEP_DEFAULT: Duration = Duration::from_secs(5);
/// Warm-up as a fraction of a step, and its maximum.
const WARMUP_PART: u32 = 5;
const WARMUP_MAX: Duration = Duration::from_secs(2);
/// How long a step waits for outstanding responses: a server that is further behind has not held.
const DRAIN: Duration = Duration::from_secs(2);
const STEPS_MAX: usize = 24;
const TRIES: usize = 2;
/// Rate of the first paced step, as a fraction of the full-speed rate.
const FIRST_PART: f64 = 0.5;
/// Maximum rate to try, as a multiple of the full-speed rate.
const CEILING: f64 = 1.1;
/// Fraction of the rate that must be answered within the step.
const REACHED_MIN: f64 = 0.98;

/// Searches; returns the result of the best step, or of the first if none held.
pub(crate) fn run(options: &LoadOptions, plan: &LoadPlan, interrupt: &Interrupt) -> Result<LoadResult, CommandError> {
    let objectives = if options.slo.is_empty() { vec![Objective::DEFAULT] } else { options.slo.clone() };
    let length = options.duration.filter(|length| !length.is_zero()).unwrap_or(STEP_DEFAULT);
    let search = Searching { plan, interrupt, length, loud: !options.no_progress };
    let mut steps = Vec::new();

    let first = search.step(None)?;
    if first.requests.completed == 0 {
        return Err(CommandError::Failed("the server answered nothing in the first step".to_owned()));
    }
    search.note(&mut steps, &first, None, Vec::new());
    let ceiling = first.requests_per_second * CEILING;
    let (mut held, mut failed) = (0.0, ceiling);
    let mut best: Option<LoadResult> = None;
    let mut rate = first.requests_per_second * FIRST_PART;
    let mut last = first;
    while steps.len() < STEPS_MAX && (failed - held) / failed > options.precision && last.complete {
        let mut because = Vec::new();
        for _ in 0..TRIES {
            last = search.step(Some(rate))?;
            because = shortfalls(&last, rate, &objectives);
            search.note(&mut steps, &last, Some(rate), because.clone());
            if because.is_empty() || !last.complete {
                break;
            }
        }
        if because.is_empty() && last.complete {
            held = rate;
            best = Some(last.clone());
        } else {
            failed = rate;
        }
        rate = (held + failed) / 2.0;
    }
    let stopped = last.stopped.clone().filter(|_| !last.complete && interrupt.is_raised());
    let mut result = best.unwrap_or(last);
    if stopped.is_some() {
        (result.complete, result.stopped) = (false, stopped);
    }
    result.search = Some(RateSearch { objectives: objectives.iter().map(ToString::to_string).collect(), rate_max: held, steps });
    Ok(result)
}

/// Settings shared by all steps.
struct Searching<'a> {
    plan: &'a LoadPlan,
    interrupt: &'a Interrupt,
    length: Duration,
    loud: bool,
}

impl Searching<'_> {
    /// Runs one step, at `rate` or at full speed.
    fn step(&self, rate: Option<f64>) -> Result<LoadResult, CommandError> {
        let mut plan = self.plan.clone();
        let arrivals = match plan.pacing {
            Pacing::Open { arrivals, .. } => arrivals,
            _ => Arrivals::Constant,
        };
        plan.pacing = rate.map_or(Pacing::Closed, |rate| Pacing::Open { rate, arrivals });
        plan.warmup = (self.length / WARMUP_PART).min(WARMUP_MAX);
        plan.extent = Extent::Until((plan.warmup + self.length).as_nanos() as u64);
        plan.drain = DRAIN;
        let plan = Arc::new(plan);
        let outcome = running::run(&plan, None, self.interrupt, ProgressLine::new(false, true)).map_err(cannot_start)?;
        Ok(summary::result(&plan, outcome))
    }

    /// Records a step and prints it: a search takes minutes.
    fn note(&self, steps: &mut Vec<SearchStep>, result: &LoadResult, rate: Option<f64>, because: Vec<String>) {
        let step = SearchStep {
            rate,
            requests_per_second: result.requests_per_second,
            p50_us: result.response_time.p50_us,
            p99_us: result.response_time.p99_us,
            lost: lost(result),
            held: rate.is_some() && because.is_empty(),
            because,
        };
        if self.loud {
            eprintln!("{}", text::search_step(&step));
        }
        steps.push(step);
    }
}

fn lost(result: &LoadResult) -> u64 {
    result.requests.failed + result.requests.unfinished + result.requests.unsent
}

/// The reasons why a step has not held.
fn shortfalls(result: &LoadResult, rate: f64, objectives: &[Objective]) -> Vec<String> {
    let times = LatencyDistribution::decode(&result.response_time.histogram).unwrap_or_default();
    let mut because: Vec<String> =
        (objectives.iter()).filter_map(|objective| Some(format!("{objective} was {:.1?}", objective.missed(&times)?))).collect();
    if lost(result) > 0 {
        because.push(format!("{} requests were lost", lost(result)));
    }
    if result.requests_per_second < rate * REACHED_MIN {
        because.push("the rate was not reached".to_owned());
    }
    if !result.complete {
        because.push("it was cut off".to_owned());
    }
    if !because.is_empty() {
        because.extend(result.loader_saturated_because.iter().map(|why| format!("but the load generator is suspect: {why}")));
    }
    because
}
