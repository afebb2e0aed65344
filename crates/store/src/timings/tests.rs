use super::*;

#[test]
fn a_time_on_a_bound_belongs_to_its_bucket() {
    let timings = Timings::default();
    for (us, is_fault) in [(0, false), (50, false), (51, true), (5_000_000, false), (5_000_001, true)] {
        timings.add_time(Duration::from_micros(us), is_fault);
    }
    let mut expected = [0; BOUNDS + 1];
    (expected[0], expected[1], expected[BOUNDS - 1], expected[BOUNDS]) = (2, 1, 1, 1);
    assert_eq!(timings.buckets(), expected);
    assert_eq!((timings.sum_ns(), timings.faults()), (10_000_102_000, 2));
    assert!(BOUNDS_NS.is_sorted_by(|a, b| a < b));
}
