use super::{SmoothingChange, SmoothingRules};
use crate::{LimitAlgorithm, Limiter, Rate};
use std::time::Duration;

/// The example of Tyk's documentation: from 400 to 600 in steps of 100, with a trigger of half a step.
#[test]
fn a_rate_rises_and_falls_at_the_numbers_of_tyk() {
    let rules = SmoothingRules::new(400, 0.5, 100, Duration::from_secs(30)).unwrap();
    for (present, used, wanted) in [
        (400, 349, 400),
        (400, 350, 500),
        (500, 450, 600),
        (600, 600, 600),
        (550, 500, 600),
        (600, 451, 600),
        (600, 450, 500),
        (500, 0, 400),
        (450, 0, 400),
        (400, 0, 400),
    ] {
        assert_eq!(rules.next(present, 600, used), wanted, "{used} of {present}");
    }
    // A threshold above the maximum is the maximum.
    assert_eq!(SmoothingRules::new(900, 0.5, 100, Duration::from_secs(1)).unwrap().next(600, 600, 0), 600);
}

#[test]
fn rules_that_change_nothing_are_none() {
    let s = Duration::from_secs;
    for (threshold, trigger, step, delay) in
        [(0, 1.0, 1, s(1)), (1, 0.0, 1, s(1)), (1, f64::NAN, 1, s(1)), (1, 1.0, 0, s(1)), (1, 1.0, 1, s(0))]
    {
        assert_eq!(SmoothingRules::new(threshold, trigger, step, delay), None);
    }
}

struct Played {
    limit: Limiter,
    rate: Rate,
    rules: SmoothingRules,
}

impl Played {
    /// Requests at one time; how many pass, and what was told.
    fn requests(&self, at_ms: u64, number: usize) -> (usize, Vec<SmoothingChange>) {
        let now = Duration::from_millis(at_ms);
        let mut told = Vec::new();
        let passed = (0..number).filter(|_| {
            let passes = self.limit.admit(self.limit.smoothed(self.rate, &self.rules), now).is_ok();
            told.extend(self.limit.smooth(self.rate, &self.rules, now));
            passes
        });
        (passed.count(), told)
    }
}

#[test]
fn under_load_a_rate_rises_step_by_step_and_afterwards_it_falls() {
    let rules = SmoothingRules::new(10, 1.0, 5, Duration::from_secs(2)).unwrap();
    let played = Played { limit: Limiter::new(LimitAlgorithm::SlidingWindow), rate: Rate::new(20.0, 1.0).unwrap(), rules };
    // The threshold holds at first, whatever comes.
    assert_eq!(played.requests(0, 30), (10, vec![]));
    assert_eq!(played.requests(1_500, 30), (10, vec![]));
    // The first request after each `delay` looks: it rises when five are missing to the rate, and that is told once.
    assert_eq!(played.requests(3_000, 30), (15, vec![SmoothingChange::Up]));
    assert_eq!(played.requests(4_500, 30), (15, vec![]));
    assert_eq!(played.requests(6_000, 30), (20, vec![SmoothingChange::Up]));
    assert_eq!(played.requests(9_000, 30), (20, vec![]), "the maximum stays");
    // One request a second: two steps below it would still be more.
    assert_eq!(played.requests(11_500, 1), (1, vec![SmoothingChange::Down]));
    assert_eq!(played.requests(13_000, 1), (1, vec![]));
    assert_eq!(played.requests(14_000, 1), (1, vec![SmoothingChange::Down]));
    assert_eq!(played.requests(15_500, 30), (10, vec![]));
}

#[test]
fn an_unused_rate_starts_again_at_its_threshold() {
    let rules = SmoothingRules::new(10, 1.0, 5, Duration::from_secs(2)).unwrap();
    let played = Played { limit: Limiter::new(LimitAlgorithm::SlidingWindow), rate: Rate::new(20.0, 1.0).unwrap(), rules };
    played.requests(0, 30);
    assert_eq!(played.requests(3_000, 30), (15, vec![SmoothingChange::Up]));
    assert_eq!(played.requests(60_000, 30), (10, vec![]));
}

#[test]
fn other_algorithms_have_their_whole_rate() {
    let rules = SmoothingRules::new(10, 1.0, 5, Duration::from_secs(2)).unwrap();
    for algorithm in [LimitAlgorithm::Gcra, LimitAlgorithm::FixedWindow] {
        let played = Played { limit: Limiter::new(algorithm), rate: Rate::new(20.0, 1.0).unwrap(), rules };
        assert_eq!(played.requests(0, 30), (20, vec![]));
    }
}
