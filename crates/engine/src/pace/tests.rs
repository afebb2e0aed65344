use super::*;

const SPEED: Speed = Speed { bytes_per_s_min: 100, grace_ms: 5_000 };

#[test]
fn a_client_that_is_not_waited_for_is_never_late() {
    let mut pace = Pace::default();
    assert_eq!(pace.due_ms(&SPEED, 0), None);
    pace.wait(1_000);
    pace.go_on(90_000);
    assert_eq!(pace.due_ms(&SPEED, 0), None);
}

#[test]
fn only_the_time_of_waiting_counts() {
    let mut pace = Pace::default();
    pace.wait(1_000);
    assert_eq!(pace.due_ms(&SPEED, 0), Some(6_000));
    pace.wait(2_000);
    assert_eq!(pace.due_ms(&SPEED, 0), Some(6_000), "it is waited for since the first time");
    pace.go_on(3_000);
    pace.wait(50_000);
    assert_eq!(pace.due_ms(&SPEED, 0), Some(53_000), "two of the five seconds are used");
}

#[test]
fn bytes_buy_time() {
    let mut pace = Pace::default();
    pace.wait(0);
    assert_eq!(pace.due_ms(&SPEED, 250), Some(7_500));
    pace.go_on(7_000);
    pace.wait(7_000);
    assert_eq!(pace.due_ms(&SPEED, 250), Some(7_500));
    assert_eq!(pace.due_ms(&SPEED, u64::MAX), Some(u64::MAX / 100 + 5_000));
}

#[test]
fn without_a_speed_nothing_is_too_slow() {
    let mut pace = Pace::default();
    pace.wait(0);
    assert_eq!(pace.due_ms(&Speed::default(), 0), None);
}
