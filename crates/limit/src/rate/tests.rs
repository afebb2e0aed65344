use super::*;

#[test]
fn limits_that_are_none_are_none() {
    for (requests, per_seconds) in [(0.0, 1.0), (1.0, 0.0), (-1.0, 1.0), (1.0, -1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
        assert_eq!(Rate::new(requests, per_seconds), None);
    }
}

#[test]
fn windows_hold_whole_requests_and_at_least_one() {
    const SECOND: u64 = 1_000_000_000;
    for (requests, per_seconds, expect) in [
        (5.0, 2.0, (5, 2 * SECOND)),
        (0.5, 1.0, (1, 2 * SECOND)),
        (2.5, 1.0, (2, SECOND)),
        (1.0, 0.5, (1, SECOND / 2)),
        (1e30, 1.0, (u64::MAX, SECOND)),
    ] {
        let rate = Rate::new(requests, per_seconds).unwrap();
        assert_eq!((rate.requests, rate.window_ns), expect, "{requests} per {per_seconds}");
    }
}
