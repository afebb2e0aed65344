use super::merge;
use crate::load::result::{FORMAT, LoadResult, LoadSecond, LoadSettings, LoaderUsage, Requests, TimeSummary, VERSION};
use crate::stats::distribution::LatencyDistribution;

/// A run of `requests` that each took `us`.
pub(in crate::load) fn result(started_unix_ms: u64, requests: u64, us: u64) -> LoadResult {
    let mut recorded = LatencyDistribution::new();
    (0..requests).for_each(|_| recorded.record(us * 1000));
    let us = us as f64;
    let second =
        LoadSecond { second: 0, requests, errors: 0, p50_us: us, p99_us: us, connections_open: 5, histogram: recorded.encode() };
    LoadResult {
        format: FORMAT.into(),
        version: VERSION,
        complete: true,
        stopped: None,
        load: LoadSettings {
            urls: vec!["http://h/".into()],
            protocol: "http/1.1".into(),
            model: "closed".into(),
            concurrency: 5,
            threads: 1,
            requests: Some(requests),
            duration_seconds: None,
            rate: None,
            ramp: None,
            warmup_seconds: 0.0,
        },
        started_unix_ms,
        elapsed_seconds: 10.0,
        requests_per_second: requests as f64 / 10.0,
        requests_per_second_summed: None,
        requests: Requests { completed: requests, ..Requests::default() },
        status: [(200, requests)].into(),
        errors: Default::default(),
        error_messages: Default::default(),
        bytes: Default::default(),
        connections: Default::default(),
        response_time: TimeSummary::of(&recorded),
        service_time: TimeSummary::of(&recorded),
        events: None,
        details: Default::default(),
        loader: LoaderUsage::default(),
        loader_saturated: false,
        loader_saturated_because: Vec::new(),
        series: vec![second],
        search: None,
    }
}

#[test]
fn merged_runs_lose_no_request() {
    let merged = merge(vec![result(1000, 300, 100), result(1000, 100, 900), result(1000, 1, 70_000)]).unwrap();
    assert_eq!((merged.requests.completed, merged.response_time.count), (401, 401));
    assert_eq!(merged.status.get(&200), Some(&401));
    assert_eq!(merged.load.concurrency, 15);
    assert!((merged.response_time.p50_us - 100.0).abs() < 1.0 && merged.response_time.max_us > 69_900.0);
    assert_eq!((merged.series.len(), merged.series[0].requests, merged.series[0].connections_open), (1, 401, 15));
}

#[test]
fn runs_that_began_one_after_the_other_are_put_side_by_side() {
    let merged = merge(vec![result(16_000, 300, 100), result(1000, 300, 100)]).unwrap();
    assert_eq!(merged.elapsed_seconds, 25.0);
    assert_eq!(merged.requests_per_second, 24.0);
    assert_eq!(merged.requests_per_second_summed, Some(60.0));
    let seconds: Vec<u64> = merged.series.iter().map(|second| second.second).collect();
    assert_eq!(seconds, [0, 15]);
}

#[test]
fn an_incomplete_run_makes_the_whole_incomplete_and_models_do_not_mix() {
    let mut cut = result(0, 1, 1);
    cut.complete = false;
    assert!(!merge(vec![result(0, 1, 1), cut]).unwrap().complete);
    let mut open = result(0, 1, 1);
    open.load.model = "open".into();
    assert!(merge(vec![result(0, 1, 1), open]).is_err());
}
