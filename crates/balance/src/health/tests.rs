use super::*;

const S: Nanos = 1_000_000_000;
const RULES: HealthRules = HealthRules {
    failed_connect: false,
    consecutive_faults: 3,
    fault_percent: 50,
    latency_factor: 5.0,
    latency_min: S / 100,
    requests_min: 10,
    interval: S,
    ejected: S,
    ejected_max: 8 * S,
    ejected_percent_max: 50,
    slow_start: 10 * S,
};

fn fail(health: &TargetHealth, at: Nanos) -> Option<EjectionCause> {
    let cause = health.record(TryResult::Unreachable, at, at, &RULES)?;
    health.eject(cause, at, &RULES).then_some(cause)
}

fn succeed(health: &TargetHealth, at: Nanos) {
    health.record(TryResult::Success, at, at, &RULES);
}

#[test]
fn faults_in_a_row_eject_and_a_success_between_them_does_not() {
    let health = TargetHealth::default();
    for at in 0..20 {
        assert_eq!(fail(&health, at), None);
        assert_eq!(fail(&health, at), None);
        succeed(&health, at);
    }
    assert_eq!([fail(&health, 30), fail(&health, 31), fail(&health, 32)], [None, None, Some(EjectionCause::Unreachable)]);
    assert_eq!(health.availability(33, &RULES), Availability::Ejected(EjectionCause::Unreachable));
}

#[test]
fn times_of_ejection_double_up_to_a_maximum_and_a_target_on_probation_goes_at_its_first_fault() {
    let health = TargetHealth::default();
    (0..3).for_each(|_| {
        let _ = fail(&health, 5);
    });
    let mut now = 5;
    let mut times = Vec::new();
    for _ in 0..6 {
        let until = health.ejected_until().unwrap();
        times.push((until - now) / S);
        assert!(matches!(health.availability(until - 1, &RULES), Availability::Ejected(_)));
        assert!(matches!(health.availability(until, &RULES), Availability::Share(_)));
        now = until + 1;
        assert!(fail(&health, now).is_some(), "one fault suffices");
    }
    assert_eq!(times, [1, 2, 4, 8, 8, 8]);
}

#[test]
fn a_target_that_worked_for_long_is_ejected_for_a_short_time_again() {
    let health = TargetHealth::default();
    (0..3).for_each(|_| {
        let _ = fail(&health, 0);
    });
    let mut now = health.ejected_until().unwrap();
    health.availability(now, &RULES);
    fail(&health, now + 1);
    assert_eq!(health.ejected_until().unwrap() - (now + 1), 2 * S);
    now = health.ejected_until().unwrap();
    health.availability(now, &RULES);
    succeed(&health, now + 1);
    now += 60 * S;
    (0..3).for_each(|_| {
        let _ = fail(&health, now);
    });
    assert_eq!(health.ejected_until().unwrap() - now, S);
}

#[test]
fn a_share_grows_after_a_return() {
    let health = TargetHealth::default();
    (0..3).for_each(|_| {
        let _ = fail(&health, 0);
    });
    let share = |at| match health.availability(at, &RULES) {
        Availability::Share(share) => share,
        other => panic!("{other:?}"),
    };
    assert_eq!([share(S), share(S + 3 * S), share(S + 9 * S), share(S + 10 * S)], [FIRST_SHARE, 0.3, 0.9, 1.0]);
}

#[test]
fn tries_from_before_an_ejection_change_nothing() {
    let health = TargetHealth::default();
    (0..3).for_each(|_| {
        let _ = fail(&health, 100);
    });
    let until = health.ejected_until();
    // A late success and a late fault of requests that were in flight.
    health.record(TryResult::Success, 90, 150, &RULES);
    assert_eq!(health.record(TryResult::Failing, 95, 160, &RULES), None);
    assert_eq!(health.ejected_until(), until);
    health.availability(until.unwrap(), &RULES);
    assert_eq!(health.record(TryResult::Failing, 99, until.unwrap() + 5, &RULES), None);
}

#[test]
fn an_ejected_target_that_answers_returns_at_once() {
    let health = TargetHealth::default();
    (0..3).for_each(|_| {
        let _ = fail(&health, 100);
    });
    succeed(&health, 200);
    assert!(matches!(health.availability(201, &RULES), Availability::Share(_)));
}

#[test]
fn checks_overrule_what_responses_show() {
    let health = TargetHealth::default();
    assert!(health.set_down(true, 5) && !health.set_down(true, 6));
    assert_eq!(health.availability(7, &RULES), Availability::Down);
    assert!(health.set_down(false, 8));
    assert!(matches!(health.availability(9, &RULES), Availability::Share(share) if share < 1.0), "slow start");
}

#[test]
fn the_latency_jumps_up_and_decays() {
    let health = TargetHealth::default();
    health.record(TryResult::Success, 0, S / 10, &RULES);
    health.record(TryResult::Success, S, S + 10, &RULES);
    let after_one = health.latency();
    assert!(after_one > S / 20, "one fast answer does not hide a slow one: {after_one}");
    (2..200).for_each(|second| {
        let _ = health.record(TryResult::Success, second * S, second * S + 1_000, &RULES);
    });
    assert!(health.latency() < 2_000, "{}", health.latency());
}

#[test]
fn a_client_that_leaves_says_nothing_about_the_target() {
    let health = TargetHealth::default();
    (0..100).for_each(|_| assert_eq!(health.record(TryResult::Unknown, 0, 1, &RULES), None));
    assert_eq!((health.faults(), health.latency()), (0, 0));
}

#[test]
fn one_connect_that_fails_ejects_if_the_rules_say_so_and_a_connection_that_is_closed_does_not() {
    let rules = HealthRules { failed_connect: true, consecutive_faults: 0, ..RULES };
    let health = TargetHealth::default();
    assert_eq!(health.record(TryResult::Unreachable, 1, 1, &rules), None);
    assert_eq!(health.record(TryResult::Failing, 1, 1, &rules), None);
    assert_eq!(health.record(TryResult::NotConnected, 1, 1, &RULES), Some(EjectionCause::Unreachable), "the third in a row");
    assert_eq!(health.record(TryResult::NotConnected, 1, 1, &rules), Some(EjectionCause::Unreachable));
    let other = TargetHealth::default();
    assert_eq!(other.record(TryResult::NotConnected, 1, 1, &RULES), None);
}

#[test]
fn a_target_that_somebody_waits_for_is_passed_over_until_nobody_says_so_any_more() {
    let health = TargetHealth::default();
    health.note_unanswered(S);
    health.note_unanswered(S + UNANSWERED / 2);
    assert_eq!(health.availability(S + UNANSWERED, &RULES), Availability::Unanswered);
    assert_eq!(health.availability(S + UNANSWERED / 2 + UNANSWERED, &RULES), Availability::Share(1.0));
}
