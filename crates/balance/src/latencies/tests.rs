use super::*;

const MS: Nanos = 1_000_000;

#[test]
fn percentiles_are_at_most_a_quarter_too_high() {
    let latencies = Latencies::default();
    assert_eq!(latencies.percentile(95.0), None);
    (1..=1_000).for_each(|number| latencies.add(number * MS));
    for percent in [1.0, 50.0, 90.0, 95.0, 99.0, 99.9] {
        let exact = percent * 10.0 * MS as f64;
        let told = latencies.percentile(percent).unwrap() as f64;
        assert!(told >= exact * 0.999 && told <= exact * 1.26, "{percent}: {told} for {exact}");
    }
}

#[test]
fn the_past_is_forgotten_and_extremes_are_counted() {
    let latencies = Latencies::default();
    (0..10_000).for_each(|_| latencies.add(1_000 * MS));
    (0..20_000).for_each(|_| latencies.add(10 * MS));
    assert!(latencies.percentile(95.0).unwrap() < 13 * MS);
    for extreme in [0, 1, 1 << FIRST_BITS, u64::MAX] {
        assert!(bucket(extreme) < BUCKETS);
    }
    assert_eq!((bucket(0), bucket(u64::MAX)), (0, BUCKETS - 1));
    for index in 0..BUCKETS - 1 {
        assert_eq!(bucket(upper_bound(index)), index + 1);
        assert_eq!(bucket(upper_bound(index) - 1), index);
    }
}
