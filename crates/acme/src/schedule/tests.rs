use super::*;

const DAY: u64 = 24 * 3600;

fn there() -> PlannedCertificate {
    PlannedCertificate {
        id: "a".to_owned(),
        since_unix_s: 0,
        ends_unix_s: 90 * DAY,
        renew_unix_s: renewal(0, 90 * DAY),
        ask_unix_s: DAY,
        // Nobody says whether it is revoked.
        status_unix_s: 90 * DAY,
        ..PlannedCertificate::default()
    }
}

#[test]
fn a_certificate_is_ordered_asked_about_and_renewed_in_its_time() {
    assert_eq!(next_step(&PlannedCertificate::default(), 5), NextStep::Order);
    assert_eq!(next_step(&there(), DAY - 1), NextStep::Wait);
    assert_eq!(next_step(&there(), DAY), NextStep::AskIssuer);
    assert_eq!(next_step(&there(), 60 * DAY - 1), NextStep::AskIssuer);
    assert_eq!(next_step(&there(), 60 * DAY), NextStep::Order);
}

#[test]
fn whoever_says_whether_it_is_revoked_is_asked_at_once_and_in_time_whatever_else_waits() {
    let asked = |status_unix_s: u64| PlannedCertificate { status_unix_s, again_unix_s: DAY, ..there() };
    for (status, now, step) in [
        (0, 5, NextStep::AskStatus),
        (100, 99, NextStep::Wait),
        (100, 100, NextStep::AskStatus),
        // Noted while the clock was ahead.
        (40 * DAY, 100, NextStep::AskStatus),
        (90 * DAY, 100, NextStep::Wait),
        (100, 90 * DAY, NextStep::Order),
    ] {
        assert_eq!(next_step(&asked(status), now), step, "{status} at {now}");
    }
}

#[test]
fn a_third_of_its_time_is_left_and_half_of_a_short_one() {
    assert_eq!(renewal(0, 90 * DAY), 60 * DAY);
    assert_eq!(renewal(DAY, 7 * DAY), 4 * DAY);
    assert_eq!(renewal(10, 5), 5);
}

#[test]
fn a_moment_in_a_window_is_never_past() {
    assert_eq!(within((100, 200), 0.25, 0), 125);
    assert_eq!(within((100, 200), 0.25, 150), 150);
    assert_eq!(within((200, 100), 0.5, 0), 200);
}

#[test]
fn failures_are_waited_for_longer_and_longer_but_not_while_it_is_urgent() {
    let mut plan = there();
    let mut waits = Vec::new();
    for _ in 0..12 {
        note_failure(&mut plan, "no".to_owned(), 60 * DAY);
        waits.push(plan.again_unix_s - 60 * DAY);
    }
    assert_eq!(waits[..4], [60, 120, 240, 480]);
    assert_eq!(waits.last(), Some(&DAY));
    assert_eq!(next_step(&plan, 60 * DAY + 1), NextStep::Wait);
    assert_eq!(next_step(&plan, 61 * DAY), NextStep::Order);
    // A day before the end, an issuer that is back must not be waited for until the next day.
    note_failure(&mut plan, "no".to_owned(), 89 * DAY + 1);
    assert_eq!(plan.again_unix_s, 89 * DAY + 1 + 3600);
    let mut new = PlannedCertificate::default();
    (0..90).for_each(|_| note_failure(&mut new, "no".to_owned(), 0));
    assert_eq!(new.again_unix_s, 3600);
}

#[test]
fn a_wait_that_was_noted_while_the_clock_was_ahead_is_over() {
    let mut plan = PlannedCertificate::default();
    note_failure(&mut plan, "no".to_owned(), 91 * DAY);
    assert_eq!(next_step(&plan, 91 * DAY + 1), NextStep::Wait);
    assert_eq!(next_step(&plan, 0), NextStep::Order);
}
