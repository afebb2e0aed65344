use super::*;

fn at(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn it_remembers_no_more_than_it_may_however_high_the_rate() {
    for requests in [1_000.0, 1_024.0, 1_025.0, 1e6] {
        let rate = Rate::new(requests, 1.0).unwrap();
        let limit = SlidingWindow::default();
        for tick in 0..100_000 {
            let _ = limit.admit(rate, Duration::from_micros(tick * 37));
        }
        let moments = limit.lock().moments.len();
        assert!(moments as u64 <= MOMENTS_MAX + 1, "{requests}: {moments}");
    }
}

#[test]
fn a_lowered_rate_takes_effect_on_what_was_counted() {
    let (high, low) = (Rate::new(10.0, 1.0).unwrap(), Rate::new(2.0, 1.0).unwrap());
    let limit = SlidingWindow::default();
    assert!((0..5).all(|ms| limit.admit(high, at(ms)).is_ok()));
    assert!(limit.admit(low, at(10)).is_err());
    assert!(limit.admit(low, at(1_002)).is_err(), "two are still in the window");
    assert!(limit.admit(low, at(1_003)).is_ok());
}

#[test]
fn a_rate_that_becomes_very_high_goes_on_from_what_was_counted() {
    let (low, high) = (Rate::new(2.0, 1.0).unwrap(), Rate::new(1e6, 1.0).unwrap());
    let limit = SlidingWindow::default();
    assert!(limit.admit(low, at(0)).is_ok() && limit.admit(low, at(1)).is_ok());
    assert_eq!(limit.room(high, at(2)).0, 999_998);
}

#[test]
fn what_is_taken_back_after_everything_has_left_changes_nothing() {
    let rate = Rate::new(2.0, 1.0).unwrap();
    let limit = SlidingWindow::default();
    limit.refund(rate, at(5));
    assert_eq!(limit.room(rate, at(5)), (2, Duration::ZERO));
}
