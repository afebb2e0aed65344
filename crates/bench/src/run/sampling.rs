//! Resource usage of the processes during a measurement, in total and per request.

use crate::load::result::LoadResult;
use crate::machine::Child;
use crate::record::{Round, SecondRecord, UsageSample, Use};
use crate::usage::tree::ProcessUsage;
use std::time::Duration;

const SAMPLE_EVERY: Duration = Duration::from_millis(200);

/// The processes of a measurement besides the load generator.
pub(super) struct Watched<'a> {
    pub gateways: &'a [Child],
    pub upstream: &'a Child,
    pub store: Option<&'a Child>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Usages {
    gateway: ProcessUsage,
    upstream: ProcessUsage,
    store: ProcessUsage,
}

impl Usages {
    pub(super) fn since(self, earlier: &Usages) -> Usages {
        Usages {
            gateway: self.gateway - earlier.gateway,
            upstream: self.upstream - earlier.upstream,
            store: self.store - earlier.store,
        }
    }
}

impl Watched<'_> {
    pub(super) fn usage(&self) -> Usages {
        let of = Child::usage;
        Usages {
            gateway: self.gateways.iter().map(of).sum(),
            upstream: of(self.upstream),
            store: self.store.map(of).unwrap_or_default(),
        }
    }
}

/// Samples the processes periodically.
pub(super) struct PeerSampler<'a> {
    watched: &'a Watched<'a>,
    last: Usages,
    last_at: Duration,
    pub samples: Vec<UsageSample>,
}

impl<'a> PeerSampler<'a> {
    pub(super) fn new(watched: &'a Watched<'a>, first: Usages) -> PeerSampler<'a> {
        PeerSampler { watched, last: first, last_at: Duration::ZERO, samples: Vec::new() }
    }

    pub(super) fn tick(&mut self, at: Duration) {
        let since = at.saturating_sub(self.last_at);
        if since < SAMPLE_EVERY {
            return;
        }
        let now = self.watched.usage();
        let spent = now.since(&self.last);
        let busy = |usage: ProcessUsage| usage.cpu_ns as f64 / since.as_nanos() as f64;
        let gateway_mib = self.watched.gateways.iter().map(memory_mib).sum();
        self.samples.push(UsageSample {
            at_seconds: at.as_secs_f64(),
            gateway_cpus: busy(spent.gateway),
            upstream_cpus: busy(spent.upstream),
            gateway_mib,
        });
        (self.last, self.last_at) = (now, at);
    }
}

pub(super) fn figures(result: &LoadResult, spent: &Usages, watched: &Watched, elapsed: Duration) -> Round {
    let requests = requests(result);
    let used = |usage: ProcessUsage, memory_mib: f64| -> Use {
        let cpu_us = usage.cpu_ns as f64 / 1e3 / requests;
        let ticks = (usage.user_ticks + usage.system_ticks).max(1) as f64;
        let user_share = usage.user_ticks as f64 / ticks;
        Use {
            cpu_us,
            user_us: cpu_us * user_share,
            system_us: cpu_us * (1.0 - user_share),
            switches: (usage.voluntary_switches + usage.involuntary_switches) as f64 / requests,
            cpus_busy: usage.cpu_ns as f64 / elapsed.as_nanos().max(1) as f64,
            memory_mib,
        }
    };
    let seconds = result.series.iter().map(|second| SecondRecord {
        requests: second.requests,
        failed: second.errors,
        p50_us: second.p50_us,
        p99_us: second.p99_us,
        connections: second.connections_open,
    });
    let times = &result.response_time;
    Round {
        seconds: result.elapsed_seconds,
        requests: result.requests.completed,
        requests_per_second: result.requests_per_second,
        status: result.status.clone(),
        failed: result.requests.failed,
        mean_us: times.mean_us,
        max_us: times.max_us,
        p50_us: times.p50_us,
        p90_us: times.p90_us,
        p95_us: times.p95_us,
        p99_us: times.p99_us,
        p99_9_us: times.p99_9_us,
        service_p99_us: result.service_time.p99_us,
        histogram: times.histogram.clone(),
        gateway: (!watched.gateways.is_empty()).then(|| used(spent.gateway, watched.gateways.iter().map(memory_mib).sum())),
        upstream: used(spent.upstream, memory_mib(watched.upstream)),
        store: watched.store.map(|child| used(spent.store, memory_mib(child))),
        loader_cpu_us: result.loader.cpu_us_per_request,
        loader_saturated: if result.loader_saturated { result.loader_saturated_because.clone() } else { Vec::new() },
        seconds_of_load: seconds.collect(),
        ..Round::default()
    }
}

fn memory_mib(child: &Child) -> f64 {
    child.memory_kib() as f64 / 1024.0
}

/// The number of requests to which CPU time refers: all that were sent.
pub(super) fn requests(result: &LoadResult) -> f64 {
    (result.requests.completed + result.requests.failed + result.requests.warmup).max(1) as f64
}
