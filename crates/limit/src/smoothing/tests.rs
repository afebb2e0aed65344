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

impl Played {
    fn new(algorithm: LimitAlgorithm) -> Played {
        let rules = SmoothingRules::new(10, 1.0, 5, Duration::from_secs(2)).unwrap();
        Played { limit: Limiter::new(algorithm), rate: Rate::new(20.0, 1.0).unwrap(), rules }
    }

    /// Some requests every so often, until the end; what was told, and the rate afterwards.
    fn load(&self, from_ms: u64, to_ms: u64, every_ms: usize, requests: usize) -> (Vec<SmoothingChange>, u64) {
        let told = (from_ms..to_ms).step_by(every_ms).flat_map(|at_ms| self.requests(at_ms, requests).1).collect();
        (told, self.limit.smoothed(self.rate, &self.rules).requests)
    }
}

#[test]
fn under_load_a_rate_rises_step_by_step_and_afterwards_it_falls() {
    use SmoothingChange::{Down, Up};
    let played = Played::new(LimitAlgorithm::SlidingWindow);
    // Sixty requests a second: the threshold holds for the first two, then each change takes as long.
    assert_eq!(played.load(0, 2_000, 50, 3), (vec![], 10));
    assert_eq!(played.load(2_000, 4_000, 50, 3), (vec![Up], 15));
    assert_eq!(played.load(4_000, 6_000, 50, 3), (vec![Up], 20));
    assert_eq!(played.load(6_000, 8_000, 50, 3), (vec![], 20), "the maximum stays");
    assert_eq!(played.load(8_500, 14_000, 500, 1), (vec![Down, Down], 10));
    assert_eq!(played.load(14_000, 20_000, 500, 1), (vec![], 10), "the threshold stays");
}

#[test]
fn an_unused_rate_starts_again_at_its_threshold() {
    let played = Played::new(LimitAlgorithm::SlidingWindow);
    assert_eq!(played.load(0, 3_000, 50, 3), (vec![SmoothingChange::Up], 15));
    assert_eq!(played.requests(60_000, 30), (10, vec![]));
}

#[test]
fn other_algorithms_have_their_whole_rate() {
    for algorithm in [LimitAlgorithm::Gcra, LimitAlgorithm::FixedWindow] {
        assert_eq!(Played::new(algorithm).requests(0, 30), (20, vec![]));
    }
}
