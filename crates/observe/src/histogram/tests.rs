use super::*;
use tollgate_model::distribution::{OWN_NS, REQUEST_NS};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

fn distribution(times_us: &[u64]) -> Distribution {
    let histogram = Histogram::default();
    times_us.iter().for_each(|us| histogram.add(&REQUEST_NS, *us * US));
    let mut distribution = Distribution::default();
    histogram.add_to(&mut distribution);
    distribution
}

#[test]
fn a_time_on_a_bound_belongs_to_its_bucket() {
    let at = |us| distribution(&[us]).buckets.iter().position(|count| *count == 1).unwrap();
    assert_eq!(at(0), 0);
    assert_eq!(at(250), 0);
    assert_eq!(at(251), 1);
    assert_eq!(at(30_000_000), BOUNDS - 1);
    assert_eq!(at(30_000_001), BOUNDS);
}

#[test]
fn bounds_grow() {
    for bounds in [REQUEST_NS, OWN_NS] {
        assert!(bounds.is_sorted_by(|a, b| a < b));
    }
}

#[test]
fn quantiles_lie_in_the_right_bucket() {
    let fast_with_a_tail = distribution(&[[200; 98].as_slice(), &[7_000, 90_000]].concat());
    assert_eq!(fast_with_a_tail.count(), 100);
    assert!(fast_with_a_tail.quantile_ns(&REQUEST_NS, 0.5) <= 250 * US);
    let p99 = fast_with_a_tail.quantile_ns(&REQUEST_NS, 0.99);
    assert!((5 * MS..=10 * MS).contains(&p99), "{p99}");
    assert_eq!(Distribution::default().quantile_ns(&REQUEST_NS, 0.99), 0);
    assert_eq!(distribution(&[60_000_000]).quantile_ns(&REQUEST_NS, 0.5), 30 * S);
}
