use super::{AVERAGE_MS, Health, Healths, MODELS_MAX, PROBE_MS, SlowTerms};
use std::time::Duration;

const FAST: Duration = Duration::from_millis(200);
const LATE: Duration = Duration::from_millis(2_000);
const TERMS: SlowTerms = SlowTerms { first_token_max: Duration::from_secs(1), share: 0.5, rest: Duration::from_secs(30) };

fn note(health: &Health, after: Duration, now_ms: u64) -> bool {
    health.note_first_token(after, Some(&TERMS), now_ms)
}

#[test]
fn a_model_whose_first_tokens_are_late_is_passed_over_and_probed() {
    let health = Health::default();
    for _ in 0..4 {
        assert!(!note(&health, LATE, 0), "too few to judge");
    }
    assert!(!health.is_passed_over(0));
    assert!(note(&health, LATE, 0));
    assert!(health.is_passed_over(29_999));
    assert!(!note(&health, FAST, 10_000), "a stream that began before changes nothing");
    assert!(health.is_passed_over(29_999));
    assert!(!health.is_passed_over(30_000), "one request probes it");
    assert!(health.is_passed_over(30_001), "and no other");
    assert!(!health.is_passed_over(30_000 + PROBE_MS), "unless nothing comes of it");
    assert!(note(&health, LATE, 41_000), "it is slow as before");
    assert!(health.is_passed_over(70_999) && !health.is_passed_over(71_000));
    assert!(!note(&health, FAST, 71_500));
    assert!(!health.is_passed_over(71_500) && !health.is_passed_over(71_501));
    assert!(!note(&health, LATE, 71_500), "what was before is forgotten");
}

#[test]
fn a_model_that_is_late_at_times_is_not_passed_over() {
    let health = Health::default();
    for number in 0..100 {
        let after = if number % 3 == 0 { LATE } else { FAST };
        assert!(!note(&health, after, number), "{number}");
    }
    for number in 0..10 {
        if note(&health, LATE, 100) {
            assert!(number > 2, "{number}");
            return;
        }
    }
    panic!("half of the last 20 are late");
}

#[test]
fn an_average_that_nobody_knows_is_asked_for_at_times() {
    let health = Health::default();
    assert_eq!((health.latency(true, 0), health.latency(true, 500)), (0.0, f64::MAX));
    assert_eq!(health.latency(true, 1_000), 0.0);
    note(&health, FAST, 1_000);
    assert_eq!(health.latency(true, 1_001), 200.0);
    note(&health, LATE, 2_000);
    assert_eq!(health.latency(true, 2_001), 560.0);
    assert_eq!(health.latency(false, 2_001), 0.0, "whole answers are another figure");
    health.note_whole(LATE, 3_000);
    assert_eq!(health.latency(false, 3_001), 2_000.0);
    let later = 2_000 + AVERAGE_MS;
    assert_eq!((health.latency(true, later), health.latency(true, later + 1)), (0.0, 560.0), "one request asks again");
}

#[test]
fn models_have_a_bound() {
    let healths = Healths::default();
    for number in 0..MODELS_MAX + 10 {
        healths.noted(&format!("m{number}")).note_whole(FAST, 0);
    }
    assert_eq!(healths.models().len(), MODELS_MAX);
    assert!(healths.of(&format!("m{}", MODELS_MAX + 9)).is_some() && healths.of("other").is_none());
}
