use super::*;

const SPEED: Speed = Speed { bytes_per_s_min: 100, grace_ms: 5_000 };

#[test]
fn a_client_that_is_not_waited_for_is_never_late() {
    let mut pace = Pace::default();
    assert_eq!(pace.due_ms(&SPEED), None);
    pace.wait(1_000);
    pace.go_on(90_000);
    assert_eq!(pace.due_ms(&SPEED), None);
}

#[test]
fn only_the_time_of_waiting_counts() {
    let mut pace = Pace::default();
    pace.wait(1_000);
    assert_eq!(pace.due_ms(&SPEED), Some(6_000));
    pace.wait(2_000);
    assert_eq!(pace.due_ms(&SPEED), Some(6_000), "it is waited for since the first time");
    pace.go_on(3_000);
    pace.wait(50_000);
    assert_eq!(pace.due_ms(&SPEED), Some(53_000), "two of the five seconds are used");
}

#[test]
fn bytes_make_up_for_time_that_was_waited_and_for_no_other() {
    let mut pace = Pace::default();
    pace.moved(1_000_000, &SPEED);
    pace.wait(0);
    assert_eq!(pace.due_ms(&SPEED), Some(5_000), "who was fast may not stop for longer");
    pace.go_on(4_000);
    pace.moved(250, &SPEED);
    pace.wait(4_000);
    assert_eq!(pace.due_ms(&SPEED), Some(4_000 + 5_000 - 1_500));
    pace.go_on(5_000);
    pace.moved(u64::MAX, &SPEED);
    pace.wait(5_000);
    assert_eq!(pace.due_ms(&SPEED), Some(10_000));
}

/// When a client is shed that is awaited all the time and moves this many bytes per second.
fn shed_after_s(bytes_a_second: u64) -> Option<u64> {
    let mut pace = Pace::default();
    (0..10_000).find(|second| {
        let now_ms = second * 1_000;
        let is_late = pace.due_ms(&SPEED).is_some_and(|due_ms| due_ms <= now_ms);
        pace.go_on(now_ms);
        pace.moved(bytes_a_second, &SPEED);
        pace.wait(now_ms);
        is_late
    })
}

#[test]
fn a_dripping_client_is_shed_soon_and_a_steady_one_never() {
    assert_eq!(shed_after_s(0), Some(5));
    assert_eq!(shed_after_s(1), Some(6));
    assert_eq!(shed_after_s(50), Some(9));
    assert_eq!(shed_after_s(100), None);
    assert_eq!(shed_after_s(1_000_000), None);
}

#[test]
fn what_is_known_only_in_sum_counts_once() {
    let mut pace = Pace::default();
    pace.wait(0);
    pace.moved_to(200, &SPEED, 4_000);
    assert_eq!(pace.due_ms(&SPEED), Some(4_000 + 5_000 - 2_000));
    pace.moved_to(200, &SPEED, 5_000);
    assert_eq!(pace.due_ms(&SPEED), Some(5_000 + 5_000 - 3_000));
    pace.go_on(6_000);
    pace.moved_to(1_000_000, &SPEED, 60_000);
    assert_eq!(pace.due_ms(&SPEED), None, "a look does not make it waited for");
}

#[test]
fn without_a_speed_nothing_is_too_slow() {
    let mut pace = Pace::default();
    pace.wait(0);
    assert_eq!(pace.due_ms(&Speed::default()), None);
}

/// When a client that has accepted no bytes since second 100 is given up; `left` returns the bytes that it still has to take.
fn given_up_ms(limit_ms: u64, left: impl Fn(u64) -> u64) -> Option<u64> {
    let since_ms = 100_000;
    let mut looks = Looks::default();
    for now_ms in (since_ms..since_ms + 1_000_000).step_by(100) {
        if now_ms < looks.due_ms(since_ms, limit_ms) {
            continue;
        }
        looks.look(now_ms, since_ms, left(now_ms));
        if now_ms >= looks.due_ms(since_ms, limit_ms) {
            return Some(now_ms - since_ms);
        }
    }
    None
}

#[test]
fn a_client_that_takes_what_the_system_holds_is_not_stuck() {
    assert_eq!(given_up_ms(60_000, |_| 4_000_000), Some(60_000));
    // 16 kB/s, from a send buffer that accepts no bytes until a third of it is free.
    assert_eq!(given_up_ms(60_000, |now_ms| 40_000_000 - now_ms * 16), None);
    // The client stops 90 seconds after the last write; the next check notices.
    let stops = |now_ms: u64| 40_000_000 - now_ms.min(190_000) * 16;
    assert_eq!(given_up_ms(60_000, stops), Some(150_000));
    assert_eq!(given_up_ms(400, |_| 1), Some(400));
}

#[test]
fn what_a_look_saw_in_an_earlier_wait_does_not_count() {
    let mut looks = Looks::default();
    looks.look(50_000, 40_000, 1_000_000);
    // Something was written since, and now fewer bytes remain.
    looks.look(75_000, 60_000, 500);
    assert_eq!(looks.due_ms(60_000, 60_000), 90_000);
    (0..3).for_each(|look| looks.look(90_000 + look * 15_000, 60_000, 500));
    assert_eq!(looks.due_ms(60_000, 60_000), 120_000);
}
