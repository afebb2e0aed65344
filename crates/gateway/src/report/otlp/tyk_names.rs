//! The metrics that Tyk pushes by default, under Tyk's names, so that dashboards for Tyk have figures. Their source are the counters of the
//! other metrics, which have no attributes for the method and the flag of a time, and no single status codes: `http.response.status_code` is
//! a class, such as `5xx`.

use crate::data::gateway_state::GatewayState;
use crate::observe::meter::{CLASSES, METHODS, Sum};
use crate::report::exposition::{Exposition, MetricKind};
use std::sync::atomic::Ordering;
use tollgate_model::distribution::{Distribution, OWN_NS, REQUEST_NS};

const API: &str = "tyk.api.id";

/// Writes the metrics with their attributes.
pub(super) fn write(figures: &mut Exposition, shared: &GatewayState) {
    let meters = shared.registry.meters.all();
    let sums: Vec<(&str, Sum)> = meters.iter().filter_map(|meter| Some((meter.api.as_str(), meter.sum()?))).collect();
    write_requests(figures, &sums);
    let apis = shared.current.load().apis.len() as f64;
    figures.family("tyk.gateway.apis.loaded", MetricKind::Gauge, "Number of API definitions currently loaded.").sample(&[], apis);
    let reloads = &shared.observer.reloads;
    let count = reloads.ok.load(Ordering::Relaxed) + reloads.failed.load(Ordering::Relaxed);
    figures.family("tyk.gateway.config.reload", MetricKind::Counter, "Number of reloads.").sample(&[], count as f64);
}

fn write_requests(figures: &mut Exposition, sums: &[(&str, Sum)]) {
    type TimeOf = fn(&Sum) -> &Distribution;
    let times: [(&str, &str, &[u64; 16], TimeOf); 3] = [
        ("http.server.request.duration", "End-to-end request latency.", &REQUEST_NS, |sum| &sum.request_time),
        ("tyk.gateway.request.duration", "Gateway processing time.", &OWN_NS, |sum| &sum.own_time),
        ("tyk.upstream.request.duration", "Upstream response time.", &REQUEST_NS, |sum| &sum.upstream_time),
    ];
    for (name, help, bounds, time) in times {
        figures.family(name, MetricKind::Histogram, help);
        for (api, sum) in sums.iter().filter(|(_, sum)| time(sum).count() > 0) {
            figures.histogram(&[(API, api)], bounds, time(sum));
        }
    }
    figures.family("tyk.api.requests.total", MetricKind::Counter, "Requests by API, method and class of the status code.");
    let mut all = 0;
    for (api, sum) in sums {
        for (method, classes) in METHODS.iter().zip(&sum.requests) {
            for (class, count) in CLASSES.iter().zip(classes).filter(|(_, count)| **count > 0) {
                all += count;
                let labels = [("http.request.method", *method), ("http.response.status_code", *class), (API, api)];
                figures.sample(&labels, *count as f64);
            }
        }
    }
    figures.family("tyk.http.requests", MetricKind::Counter, "Requests of all APIs.").sample(&[], all as f64);
}

#[cfg(test)]
mod tests;
