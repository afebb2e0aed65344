//! Turns a run's figures into the result that is reported and written.

use super::pace::schedule::{Extent, Pacing};
use super::plan::LoadPlan;
use super::result::{EventSummary, FORMAT, LoadResult, LoadSettings, LoaderUsage, TimeSummary, VERSION};
use super::run::LoadOutcome;
use crate::usage::own::ThreadTime;
use std::time::Duration;

/// Maximum URLs that a result lists.
const URLS_MAX: usize = 16;
/// Maximum CPU share of a thread: a busier one cannot send on time.
const THREAD_SHARE_MAX: f64 = 0.9;
/// Maximum send delay caused by the load generator: larger delays distort every percentile.
const SEND_LAG_P99_US_MAX: f64 = 1000.0;
/// Minimum run length for this judgement: start-up dominates a shorter run.
const JUDGED_SECONDS_MIN: f64 = 1.0;

/// The result of `outcome`.
pub(crate) fn result(plan: &LoadPlan, outcome: LoadOutcome) -> LoadResult {
    let tally = &outcome.tally;
    let elapsed_seconds = outcome.elapsed.saturating_sub(plan.warmup).as_secs_f64();
    let rate = |count: u64| if elapsed_seconds > 0.0 { count as f64 / elapsed_seconds } else { 0.0 };
    let response_time = TimeSummary::of(&tally.response_time);
    let service_time = if plan.pacing == Pacing::Closed { response_time.clone() } else { TimeSummary::of(&tally.service_time) };
    let loader = loader(&outcome);
    let loader_saturated_because = saturation(&loader, elapsed_seconds);
    LoadResult {
        format: FORMAT.to_owned(),
        version: VERSION,
        complete: outcome.stopped.is_none(),
        load: load(plan),
        started_unix_ms: outcome.started_unix_ms,
        elapsed_seconds,
        requests_per_second: rate(tally.requests.completed),
        requests_per_second_summed: None,
        requests: tally.requests,
        status: tally.statuses(),
        errors: tally.errors,
        error_messages: tally.messages.clone(),
        bytes: tally.bytes,
        connections: tally.connections,
        response_time,
        service_time,
        details: tally.details,
        events: tally.events.as_ref().map(|events| EventSummary {
            count: events.count,
            first: TimeSummary::of(&events.first),
            gap: TimeSummary::of(&events.gap),
        }),
        loader_saturated: !loader_saturated_because.is_empty(),
        loader_saturated_because,
        loader,
        stopped: outcome.stopped,
        series: outcome.series,
        search: None,
    }
}

fn load(plan: &LoadPlan) -> LoadSettings {
    let until = |end_ns: u64| (Duration::from_nanos(end_ns).saturating_sub(plan.warmup)).as_secs_f64();
    LoadSettings {
        urls: plan.requests.iter().take(URLS_MAX).map(|request| request.message.url.absolute()).collect(),
        protocol: if plan.http2 { "h2" } else { "http/1.1" }.to_owned(),
        model: match plan.pacing {
            Pacing::Closed => "closed",
            Pacing::Worker { .. } => "worker-rate",
            Pacing::Open { .. } => "open",
        }
        .to_owned(),
        concurrency: plan.workers,
        threads: plan.threads,
        requests: if let Extent::Requests(total) = plan.extent { Some(total) } else { None },
        duration_seconds: if let Extent::Until(end_ns) = plan.extent { Some(until(end_ns)) } else { None },
        rate: plan.pacing.total_rate(plan.workers),
        ramp: plan.ramp.map(|ramp| format!("{}:{}:{:?}", ramp.from, ramp.to, ramp.duration)),
        warmup_seconds: plan.warmup.as_secs_f64(),
    }
}

fn loader(outcome: &LoadOutcome) -> LoaderUsage {
    let requests = outcome.tally.requests;
    let done = requests.completed + requests.failed + requests.warmup;
    let cpu_seconds = outcome.process.total.as_secs_f64();
    let (user_seconds, system_seconds) = outcome.process.user_and_system_seconds();
    let waiting: Duration = outcome.threads.iter().map(|thread| thread.waiting).sum();
    LoaderUsage {
        cpu_seconds,
        user_seconds,
        system_seconds,
        cpu_us_per_request: if done > 0 { cpu_seconds * 1e6 / done as f64 } else { 0.0 },
        busiest_thread_share: outcome.threads.iter().map(ThreadTime::share).fold(0.0, f64::max),
        run_queue_seconds: waiting.as_secs_f64(),
        send_lag_p99_us: outcome.tally.send_lag.percentile_us(99.0),
        send_lag_max_us: outcome.tally.send_lag.max_us(),
    }
}

/// Indications that the load generator was the bottleneck.
fn saturation(loader: &LoaderUsage, elapsed_seconds: f64) -> Vec<String> {
    let mut because = Vec::new();
    if elapsed_seconds < JUDGED_SECONDS_MIN {
        return because;
    }
    if loader.busiest_thread_share > THREAD_SHARE_MAX {
        let (share, limit) = (loader.busiest_thread_share * 100.0, THREAD_SHARE_MAX * 100.0);
        because.push(format!("its busiest thread used {share:.0} % of a processor (limit {limit:.0} %); more --threads may help"));
    }
    if loader.send_lag_p99_us > SEND_LAG_P99_US_MAX {
        let (lag, limit) = (loader.send_lag_p99_us / 1000.0, SEND_LAG_P99_US_MAX / 1000.0);
        because.push(format!("1 % of its requests left more than {lag:.1} ms after they were due (limit {limit:.1} ms)"));
    }
    because
}
