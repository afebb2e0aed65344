use super::LatencyDistribution;

fn recorded(times: impl IntoIterator<Item = u64>) -> LatencyDistribution {
    let mut distribution = LatencyDistribution::new();
    times.into_iter().for_each(|ns| distribution.record(ns));
    distribution
}

#[test]
fn two_distributions_add_up_without_loss() {
    let (odd, even) = ((1..100_000).step_by(2), (2..100_000).step_by(2));
    let all = recorded((1..100_000).map(|us| us * 1000));
    let mut sum = recorded(odd.map(|us| us * 1000));
    sum.add(&LatencyDistribution::decode(&recorded(even.map(|us| us * 1000)).encode()).unwrap());
    assert_eq!(sum.histogram(), all.histogram());
    assert_eq!(sum.count(), 99_999);
}

#[test]
fn there_is_no_cap_on_samples_and_none_on_their_size() {
    let mut times = LatencyDistribution::new();
    for _ in 0..3_000_000 {
        times.record(1_000_000);
    }
    times.record(u64::MAX);
    assert_eq!(times.count(), 3_000_001);
    assert!(times.max_us() > 3.5e9, "{}", times.max_us());
}

#[test]
fn percentiles_are_exact_to_three_digits() {
    let times = recorded((1..=10_000).map(|us| us * 1000));
    for (percent, us) in [(50.0, 5000.0), (99.0, 9900.0), (99.9, 9990.0)] {
        assert!((times.percentile_us(percent) / us - 1.0).abs() < 0.001, "{percent}: {}", times.percentile_us(percent));
    }
}

#[test]
fn bars_of_a_histogram_hold_every_value_once() {
    let times = recorded((1..=1000).map(|us| us * 1000));
    let edges: Vec<f64> = (0..=10).map(|bar| times.min_us() + (times.max_us() - times.min_us()) / 10.0 * f64::from(bar)).collect();
    let inner: u64 = edges.windows(2).map(|edge| times.count_between(edge[0], edge[1])).sum();
    assert_eq!(inner + times.count_between(0.0, edges[0]), 1000);
}

#[test]
fn what_is_no_histogram_is_refused() {
    assert!(LatencyDistribution::decode("").is_err());
    assert!(LatencyDistribution::decode("@@").is_err());
    assert!(LatencyDistribution::decode("aGVsbG8=").is_err());
}
