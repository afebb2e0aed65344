use super::super::Counters;
use super::*;
use proptest::prelude::*;
use tollgate_limit::LimitAlgorithm;
use tollgate_model::session::DryRun;
use tollgate_pattern::PatternRules;

/// Makes limits as they are configured.
fn written(rates: &[(u32, u32)], quota: i64) -> AccessLimit {
    let limits = rates.iter().map(|(rate, per)| RateLimit { rate: f64::from(*rate), per: f64::from(*per), ..RateLimit::default() });
    AccessLimit { limits: limits.collect(), quota_max: quota, quota_renewal_rate: 60, ..AccessLimit::default() }
}

fn made(written: &AccessLimit, algorithm: LimitAlgorithm) -> SessionLimits {
    let counters = Counters::default();
    let patterns = RightPatterns::new(PatternRules { prefix: true, suffix: true, ignore_case: false }, Arc::default());
    let source = LimitSource {
        rate: &|name| counters.rate(name, |_| Limiter::new(algorithm)),
        quota: &|scope| Arc::new(Quota::new(scope.to_owned(), None, Arc::default(), Arc::default())),
        patterns: &patterns,
        smooths: true,
    };
    SessionLimits::new(written, "", &source)
}

fn room(limits: &SessionLimits, now: Duration) -> (Vec<u64>, Option<i64>) {
    let limits = limits.alone();
    let rates = limits.rooms(now).map(|(_, room, _)| room).collect();
    (rates, limits.quota(now.as_secs()).map(|(_, view)| view.remaining))
}

fn algorithms() -> impl Strategy<Value = LimitAlgorithm> {
    prop_oneof![Just(LimitAlgorithm::Gcra), Just(LimitAlgorithm::FixedWindow), Just(LimitAlgorithm::SlidingWindow)]
}

proptest! {
    #[test]
    fn a_request_counts_against_every_limit_or_against_none(
        algorithm in algorithms(),
        rates in prop::collection::vec((1u32..20, 1u32..30), 1..4),
        quota in 0i64..40,
        steps in prop::collection::vec((0u64..2_000, 1usize..10), 1..50),
    ) {
        let limits = made(&written(&rates, quota), algorithm);
        let mut now = Duration::from_secs(1_000);
        for (step_ms, requests) in steps {
            now += Duration::from_millis(step_ms);
            for _ in 0..requests {
                let before = room(&limits, now);
                let admitted = limits.alone().admit(now, now.as_secs(), Checks::ALL, DryRun::default(), WaitPolicy::Waits);
                let after = room(&limits, now);
                let one_less = (before.0.iter().map(|room| room.saturating_sub(1)).collect(), before.1.map(|left| left - 1));
                let has_room = before.0.iter().all(|room| *room > 0) && before.1.is_none_or(|left| left > 0);
                prop_assert_eq!(admitted.is_ok(), has_room);
                prop_assert_eq!(after, if has_room { one_less } else { before });
            }
        }
    }

    #[test]
    fn in_dry_run_nothing_is_refused_and_everything_is_told(
        algorithm in algorithms(),
        rate in 1u32..10,
        quota in 1i64..10,
        requests in 1u32..30,
    ) {
        let limits = made(&written(&[(rate, 3600)], quota), algorithm);
        let now = Duration::from_secs(1_000);
        for number in 0..requests {
            let told = limits.alone().admit(now, 1_000, Checks::ALL, DryRun::ALL, WaitPolicy::Waits).unwrap();
            let over = number >= rate || i64::from(number) >= quota;
            prop_assert_eq!(told.is_some(), over, "request {}", number);
        }
    }
}

#[test]
fn a_rate_in_dry_run_that_counted_nothing_is_not_given_anything_back() {
    for algorithm in [LimitAlgorithm::Gcra, LimitAlgorithm::FixedWindow, LimitAlgorithm::SlidingWindow] {
        let limits = made(&written(&[(1, 3600), (5, 3600)], 1), algorithm);
        let now = Duration::from_secs(1_000);
        let rates_only = DryRun { rate_limit: true, ..DryRun::default() };
        assert_eq!(limits.alone().admit(now, 1_000, Checks::ALL, rates_only, WaitPolicy::Waits), Ok(None));
        for _ in 0..3 {
            assert_eq!(limits.alone().admit(now, 1_000, Checks::ALL, rates_only, WaitPolicy::Waits), Err(LimitRejection::Quota));
            assert_eq!(room(&limits, now), (vec![0, 4], Some(0)), "{algorithm:?}");
        }
    }
}

#[test]
fn a_quota_is_exact_when_threads_share_it() {
    let limits = made(&written(&[(1_000_000, 1)], 1_234), LimitAlgorithm::Gcra);
    let admitted: usize = std::thread::scope(|scope| {
        let run = || {
            (0..1_000)
                .filter(|_| {
                    limits.alone().admit(Duration::from_secs(1), 1, Checks::ALL, DryRun::default(), WaitPolicy::Waits).is_ok()
                })
                .count()
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(run)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(admitted, 1_234);
}
