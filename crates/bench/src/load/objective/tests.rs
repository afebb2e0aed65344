use super::Objective;
use crate::stats::distribution::LatencyDistribution;

fn check(objective: &str, holds: bool) {
    let mut times = LatencyDistribution::new();
    for ms in 1..=100 {
        times.record(ms * 1_000_000);
    }
    let objective: Objective = objective.parse().unwrap();
    assert_eq!(objective.missed(&times).is_none(), holds, "{objective}");
}

#[test]
fn objectives_bound_a_figure() {
    check("p99<101ms", true);
    check("p99<90ms", false);
    check("p50 < 60ms", true);
    check("mean<50ms", false);
    check("max<1s", true);
    check("max<99ms", false);
}

#[test]
fn what_is_no_objective_is_refused() {
    for text in ["", "p99", "p99<", "p99<5", "p0<5ms", "p100<5ms", "q99<5ms", "p99>5ms", "p99<0s"] {
        assert!(text.parse::<Objective>().is_err(), "{text}");
    }
}
