//! The metrics that Tyk pushes, under Tyk's names, so that dashboards for Tyk have figures: those of requests as
//! `opentelemetry.metrics.api_metrics` defines them, and some of the process. Their sums are counted request by request, apart from all other
//! metrics.

use super::figures::OtlpFigures;
use std::sync::atomic::Ordering;
use tollgate_data::gateway_state::GatewayState;
use tollgate_observe::ReloadFigures;
use tollgate_observe::sink::{CountedSeries, Instrument, Sums};

const NS_PER_US: u64 = 1_000;

/// Writes the metrics with their attributes.
pub(super) fn write(figures: &mut OtlpFigures, shared: &GatewayState) {
    let recording = shared.observer.recording.as_ref();
    let metrics = recording.and_then(|recording| recording.request_metrics.as_ref());
    if let Some(metrics) = metrics {
        write_requests(figures, metrics.counted());
    }
    let requests = metrics.map_or_else(|| all_requests(shared), |metrics| metrics.requests());
    figures.counter("tyk.http.requests", "Total HTTP requests processed by the gateway", "1", requests);
    let apis = shared.current.load().apis.len();
    figures.gauge("tyk.gateway.apis.loaded", "Number of API definitions currently loaded on the gateway", "{api}", apis);
    let policies = shared.keys.policies().iter().count();
    figures.gauge("tyk.gateway.policies.loaded", "Number of policies currently loaded on the gateway", "{policy}", policies);
    let reloads = &shared.observer.reloads;
    let count = reloads.ok.load(Ordering::Relaxed) + reloads.failed.load(Ordering::Relaxed);
    figures.counter("tyk.gateway.config.reload", "Total number of gateway configuration reload cycles", "{reload}", count);
    let sums = Sums {
        count,
        sum_ns: reloads.all_us.load(Ordering::Relaxed).saturating_mul(NS_PER_US),
        buckets: reloads.took.iter().map(|count| count.load(Ordering::Relaxed)).collect(),
    };
    let series = vec![CountedSeries { attributes: Vec::new(), sums }];
    let (name, description) = ("tyk.gateway.config.reload.duration", "Duration of gateway configuration reload cycles");
    figures.histograms(name, description, &ReloadFigures::BOUNDS_S, series);
}

/// Requests of all APIs, if no metrics of requests are defined.
fn all_requests(shared: &GatewayState) -> u64 {
    let meters = shared.registry.meters.all();
    let sums = meters.iter().filter_map(|meter| meter.sum());
    sums.map(|sum| sum.requests.iter().flatten().sum::<u64>()).sum()
}

fn write_requests(figures: &mut OtlpFigures, counted: Vec<(&Instrument, Vec<CountedSeries>)>) {
    for (instrument, series) in counted {
        if instrument.is_histogram() {
            figures.histograms(&instrument.name, &instrument.description, &instrument.bounds, series);
        } else {
            figures.counters(&instrument.name, &instrument.description, "1", series);
        }
    }
}

#[cfg(test)]
mod tests;
