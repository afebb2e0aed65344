use super::*;

/// Sends one request at each of these milliseconds; a string of `+` and `-` shows which were admitted.
fn check(requests: f64, per_seconds: f64, at_ms: &[u64], expect: &str) {
    let rate = Rate::new(requests, per_seconds).unwrap();
    let limit = Gcra::default();
    let admitted: String =
        at_ms.iter().map(|ms| if limit.admit(rate, Duration::from_millis(1_000 + ms)).is_ok() { '+' } else { '-' }).collect();
    assert_eq!(admitted, expect);
}

#[test]
fn a_burst_of_the_whole_rate_passes_and_then_one_each_interval() {
    check(5.0, 2.0, &[0, 0, 0, 0, 0, 0, 399, 400, 401, 800], "+++++--+-+");
}

#[test]
fn rejected_requests_count_nothing() {
    check(1.0, 1.0, &[0, 100, 200, 300, 999, 1000], "+----+");
}

#[test]
fn a_rate_below_one_lets_one_through_at_a_time() {
    check(0.5, 1.0, &[0, 1, 1999, 2000], "+--+");
}

#[test]
fn a_clock_that_jumps_back_locks_nobody_out_for_longer_than_the_jump() {
    check(1.0, 1.0, &[5000, 0, 4999, 6000], "+--+");
}

#[test]
fn what_is_taken_back_can_be_used_again() {
    let rate = Rate::new(2.0, 1.0).unwrap();
    let limit = Gcra::default();
    let now = Duration::from_secs(1);
    assert_eq!(limit.room(rate, now).0, 2);
    assert!(limit.admit(rate, now).is_ok());
    assert_eq!(limit.room(rate, now).0, 1);
    limit.refund(rate);
    assert_eq!(limit.room(rate, now).0, 2);
    assert!(limit.admit(rate, now).is_ok() && limit.admit(rate, now).is_ok());
    assert_eq!(limit.room(rate, now), (0, Duration::from_secs(1)));
    assert!(limit.admit(rate, now).is_err());
}

#[test]
fn a_faster_rate_is_not_held_up_by_what_a_slower_one_has_counted() {
    let (slow, fast) = (Rate::new(1.0, 86_400.0).unwrap(), Rate::new(10.0, 1.0).unwrap());
    let limit = Gcra::default();
    let at = |ms: u64| Duration::from_millis(5_000 + ms);
    assert!(limit.admit(slow, at(0)).is_ok());
    assert_eq!(limit.room(fast, at(0)), (0, Duration::from_secs(1)));
    // Everything counts as used, and becomes free at the new rate.
    assert_eq!(limit.admit(fast, at(0)), Err(Duration::from_millis(100)));
    assert_eq!(limit.admit(fast, at(99)), Err(Duration::from_millis(1)));
    assert!(limit.admit(fast, at(100)).is_ok());
    assert_eq!((0..20).filter(|_| limit.admit(fast, at(1_100)).is_ok()).count(), 10);
}

#[test]
fn a_slower_rate_goes_on_from_what_a_faster_one_has_counted() {
    let (fast, slow) = (Rate::new(10.0, 1.0).unwrap(), Rate::new(2.0, 10.0).unwrap());
    let limit = Gcra::default();
    let now = Duration::from_secs(5);
    assert_eq!((0..20).filter(|_| limit.admit(fast, now).is_ok()).count(), 10);
    assert_eq!((0..20).filter(|_| limit.admit(slow, now).is_ok()).count(), 1, "a second of ten is used up");
}

#[test]
fn what_a_changed_rate_takes_back_locks_nobody_out_and_lets_nobody_through() {
    let (slow, fast) = (Rate::new(1.0, 86_400.0).unwrap(), Rate::new(10.0, 1.0).unwrap());
    let limit = Gcra::default();
    let now = Duration::from_secs(5);
    assert!(limit.admit(slow, now).is_ok());
    assert!(limit.admit(fast, now).is_err());
    limit.refund(slow);
    assert_eq!(limit.room(fast, now), (0, Duration::from_secs(1)), "what the slow rate took was cut already");
    assert!(limit.admit(fast, now + Duration::from_millis(100)).is_ok());
    // No more can be taken back than was counted.
    let limit = Gcra::default();
    limit.refund(Rate::new(1.0, 86_400.0).unwrap());
    assert!(limit.admit(slow, now).is_ok());
    limit.refund(slow);
    limit.refund(slow);
    assert_eq!(limit.room(slow, now).0, 1);
}
