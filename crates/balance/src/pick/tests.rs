mod slow_target;

use super::*;

const S: Nanos = 1_000_000_000;
const RULES: HealthRules = HealthRules {
    failed_connect: false,
    consecutive_faults: 3,
    fault_percent: 50,
    latency_factor: 5.0,
    latency_min: S / 1_000,
    requests_min: 10,
    interval: S,
    ejected: 10 * S,
    ejected_max: 60 * S,
    ejected_percent_max: 50,
    slow_start: 10 * S,
};
const HASH: BalanceMethod = BalanceMethod::Hash { load_percent_max: 0 };
const METHODS: [BalanceMethod; 4] =
    [BalanceMethod::RoundRobin, BalanceMethod::Random, BalanceMethod::LeastRequests, BalanceMethod::PeakEwma];

/// Critical values of the chi-squared distribution: a right choice exceeds them once in 100 000 runs. By degrees of freedom.
const CHI_SQUARED: [(usize, f64); 4] = [(2, 23.0), (3, 25.9), (4, 28.5), (9, 39.4)];

fn targets(weights: &[u32], method: BalanceMethod) -> Candidates {
    let list = weights.iter().enumerate();
    let list =
        list.map(|(index, weight)| Candidate { weight: *weight, hash: mix(1_000 + index as u64), tier: 0, health: Arc::default() });
    Candidates::new(list.collect(), method, RULES)
}

/// A key for each request, so that hashing spreads them too. Other methods have none.
fn key(targets: &Candidates, number: u64) -> Option<u64> {
    matches!(targets.method, BalanceMethod::Hash { .. }).then(|| mix(number))
}

fn pick(targets: &Candidates, number: u64, now: Nanos) -> Option<usize> {
    match targets.pick(key(targets, number), &[], mix(number ^ 0xABCD), now) {
        Choice::Target(index) => Some(index),
        Choice::LastResort(_) | Choice::AllDown => None,
    }
}

/// How many of these requests each target gets, if each ends before the next begins.
fn counts(targets: &Candidates, requests: u64, now: Nanos) -> Vec<u64> {
    let mut counts = vec![0; targets.list().len()];
    (0..requests).filter_map(|number| pick(targets, number, now)).for_each(|index| counts[index] += 1);
    counts
}

fn assert_shares(counts: &[u64], weights: &[u32]) {
    let (total, weight): (u64, u32) = (counts.iter().sum(), weights.iter().sum());
    let expected = weights.iter().map(|own| total as f64 * f64::from(*own) / f64::from(weight));
    let statistic: f64 = counts.iter().zip(expected).map(|(count, expected)| (*count as f64 - expected).powi(2) / expected).sum();
    let freedom = weights.len() - 1;
    let (_, critical) = CHI_SQUARED.iter().find(|(degrees, _)| *degrees == freedom).unwrap();
    assert!(statistic < *critical, "{counts:?} for {weights:?}: {statistic}");
}

#[test]
fn every_method_follows_the_weights() {
    let weights = [5, 3, 1];
    for method in [BalanceMethod::RoundRobin, BalanceMethod::Random, HASH] {
        assert_shares(&counts(&targets(&weights, method), 90_000, 0), &weights);
    }
    let equal = [1; 10];
    for method in [BalanceMethod::RoundRobin, BalanceMethod::Random, BalanceMethod::LeastRequests, HASH] {
        assert_shares(&counts(&targets(&equal, method), 100_000, 0), &equal);
    }
}

#[test]
fn turns_are_exact_and_mixed() {
    let targets = targets(&[4, 2, 2], BalanceMethod::RoundRobin);
    let order: Vec<_> = (0..8).map(|number| pick(&targets, number, 0).unwrap()).collect();
    assert_eq!(order, [0, 1, 2, 0, 0, 1, 2, 0]);
}

#[test]
fn huge_weights_keep_their_proportion() {
    let weights = [1_000_003, 500_009, 1];
    let targets = targets(&weights, BalanceMethod::RoundRobin);
    let counts = counts(&targets, 300_000, 0);
    assert!(counts[2] > 0 && counts[2] < 200, "{counts:?}");
    assert!((counts[0] as f64 / counts[1] as f64 - 2.0).abs() < 0.01, "{counts:?}");
}

#[test]
fn a_target_without_weight_gets_nothing() {
    for method in METHODS.into_iter().chain([HASH]) {
        assert_eq!(counts(&targets(&[1, 0, 1], method), 1_000, 0)[1], 0, "{method:?}");
    }
}

#[test]
fn the_share_of_a_missing_target_is_spread_over_all_others() {
    for method in METHODS.into_iter().chain([HASH]) {
        let targets = targets(&[1; 4], method);
        (0..3).for_each(|_| {
            let _ = targets.record(2, TryResult::Unreachable, 5, 5);
        });
        let counts = counts(&targets, 30_000, 6);
        assert_eq!(counts[2], 0);
        assert!(
            counts.iter().enumerate().all(|(index, count)| index == 2 || (9_000..11_000).contains(count)),
            "{method:?} {counts:?}"
        );
    }
}

#[test]
fn only_the_keys_of_a_missing_target_move() {
    let targets = targets(&[1; 10], HASH);
    let before: Vec<_> = (0..50_000).map(|number| pick(&targets, number, 0)).collect();
    targets.list()[4].health.set_down(true, 0);
    let after: Vec<_> = (0..50_000).map(|number| pick(&targets, number, 0)).collect();
    let moved = before.iter().zip(&after).filter(|(before, after)| before != after).count();
    let of_missing = before.iter().filter(|index| **index == Some(4)).count();
    assert_eq!(moved, of_missing);
    assert!(moved as f64 <= 1.5 / 10.0 * 50_000.0, "{moved}");
}

#[test]
fn a_new_target_takes_its_share_of_keys_and_no_other_key_moves() {
    let nine = targets(&[1; 9], HASH);
    let ten = targets(&[1; 10], HASH);
    let moves = (0..50_000).map(|number| (pick(&nine, number, 0), pick(&ten, number, 0))).filter(|(old, new)| old != new);
    let moves: Vec<_> = moves.collect();
    assert!(moves.iter().all(|(_, new)| *new == Some(9)));
    assert!(moves.len() as f64 <= 1.5 / 10.0 * 50_000.0, "{}", moves.len());
}

#[test]
fn one_hot_key_does_not_overload_its_target() {
    let targets = targets(&[1; 4], BalanceMethod::Hash { load_percent_max: 125 });
    for _ in 0..100 {
        let index = pick(&targets, 7, 0).unwrap();
        targets.list()[index].health.begin(false);
    }
    let loads: Vec<_> = targets.list().iter().map(|candidate| candidate.health.in_flight()).collect();
    assert!(loads.iter().all(|load| *load <= 32), "{loads:?}");
    assert_eq!(loads.iter().sum::<u32>(), 100);
}

#[test]
fn the_slower_of_two_gets_few_requests() {
    // Ten requests are always in flight; three targets answer within 10 ms, one takes ten times as long.
    for (method, share_max) in [(BalanceMethod::LeastRequests, 0.10), (BalanceMethod::PeakEwma, 0.01)] {
        let targets = targets(&[1; 4], method);
        let (mut now, mut counts) = (S, [0_u64; 4]);
        let mut busy: Vec<(Nanos, Nanos, usize)> = Vec::new();
        for number in 0..20_000 {
            while busy.len() >= 10 {
                let next = (0..busy.len()).min_by_key(|place| busy[*place].0).unwrap();
                let (end, began, index) = busy.swap_remove(next);
                now = now.max(end);
                targets.list()[index].health.end();
                // The method alone is tested: nothing is ejected.
                targets.list()[index].health.record(TryResult::Success, began, now, &RULES);
            }
            let index = pick(&targets, number, now).unwrap();
            counts[index] += 1;
            targets.list()[index].health.begin(false);
            busy.push((now + if index == 0 { S / 10 } else { S / 100 }, now, index));
        }
        let share = counts[0] as f64 / 20_000.0;
        assert!(share < share_max, "{method:?}: {counts:?}");
    }
}

#[test]
fn a_lagging_target_and_one_with_many_faults_are_ejected_at_the_end_of_the_interval() {
    let targets = targets(&[1; 5], BalanceMethod::RoundRobin);
    assert!(targets.is_time_to_look(0) && !targets.is_time_to_look(S - 1));
    for number in 0..100 {
        let latency = if number % 5 == 1 { S / 10 } else { S / 100 };
        let result = if number % 5 == 3 && number % 2 == 0 { TryResult::Failing } else { TryResult::Success };
        targets.record(number % 5, result, S - latency, S);
    }
    assert!(targets.is_time_to_look(S));
    assert_eq!(targets.look(S), [(1, EjectionCause::Latency), (3, EjectionCause::FaultShare)]);
    assert_eq!(targets.look(2 * S), [], "the next interval is empty");
}

#[test]
fn few_requests_or_small_differences_eject_nobody() {
    let few = targets(&[1; 3], BalanceMethod::RoundRobin);
    for number in 0..27 {
        // Five of the first target's nine fail, one by one.
        let result = if number % 3 == 0 && number % 6 == 0 { TryResult::Failing } else { TryResult::Success };
        few.record(number % 3, result, 0, S / 100);
    }
    assert_eq!(few.look(S), [], "nine requests say too little");
    let fast = targets(&[1; 3], BalanceMethod::RoundRobin);
    (0..60).for_each(|number| {
        let _ = fast.record(number % 3, TryResult::Success, 0, if number % 3 == 0 { 900_000 } else { 1_000 });
    });
    assert_eq!(fast.look(S), [], "0.9 ms is 900 times as long, and fast enough");
}

#[test]
fn failing_targets_are_ejected_only_up_to_the_maximum_share_and_unreachable_ones_always() {
    let targets = targets(&[1; 4], BalanceMethod::RoundRobin);
    let fail = |index: usize, result| (0..3).filter_map(|_| targets.record(index, result, 1, 1)).next();
    let failing: Vec<_> = (0..4).map(|index| fail(index, TryResult::Failing).is_some()).collect();
    assert_eq!(failing, [true, true, false, false]);
    assert!(fail(2, TryResult::Unreachable).is_some() && fail(3, TryResult::Unreachable).is_some());
}

#[test]
fn without_an_available_target_all_are_tried_and_the_first_that_answers_gets_all() {
    let targets = targets(&[1; 4], BalanceMethod::RoundRobin);
    for index in 0..4 {
        (0..3).for_each(|_| {
            let _ = targets.record(index, TryResult::Unreachable, 1, 1);
        });
    }
    let tried: Vec<_> = (0..200).map(|number| targets.pick(None, &[], mix(number), 2)).collect();
    assert!((0..4).all(|index| tried.contains(&Choice::LastResort(index))));
    targets.record(1, TryResult::Success, 3, 3);
    assert!((0..200).all(|number| targets.pick(None, &[], mix(number), 4) == Choice::Target(1)));
}

/// Ejections as they are without settings: from one second to one minute.
const DEFAULTS: HealthRules =
    HealthRules { consecutive_faults: 5, ejected: S, ejected_max: 60 * S, requests_min: 20, latency_factor: 0.0, ..RULES };

#[test]
fn after_a_long_outage_the_first_target_that_returns_is_back_within_two_seconds() {
    const REQUESTS_PER_S: u64 = 20;
    for method in METHODS.into_iter().chain([HASH]) {
        for returns in 0..4_usize {
            let list = targets(&[1; 4], method).list().to_vec();
            let targets = Candidates::new(list, method, DEFAULTS);
            let back = 600 * S;
            let (mut now, mut number) = (0, 0_u64);
            let (mut first, mut late) = (None, 0);
            while now < back + 4 * S {
                now += S / REQUESTS_PER_S;
                number += 1;
                if targets.is_time_to_look(now) {
                    let _ = targets.look(now);
                }
                let works = |index: usize| index == returns && now >= back;
                let index = match targets.pick(key(&targets, number), &[], mix(number ^ 0xABCD), now) {
                    Choice::Target(index) | Choice::LastResort(index) => index,
                    Choice::AllDown => panic!("nothing is checked"),
                };
                let result = if works(index) { TryResult::Success } else { TryResult::Unreachable };
                let _ = targets.record(index, result, now, now);
                if works(index) {
                    first.get_or_insert(now);
                } else if now >= back + 2 * S {
                    late += 1;
                }
            }
            // 40 requests with one of four: the chance to miss it is 1 to 100 000.
            let first = first.unwrap_or(u64::MAX);
            assert!(first <= back + 2 * S, "{method:?}: target {returns} after {} ms", (first - back) / (S / 1_000));
            // Those that come back on probation get one request each.
            assert!(late <= 4, "{method:?}: {late} of {} later requests fail", 2 * REQUESTS_PER_S);
        }
    }
}

#[test]
fn a_target_that_returns_grows_in_step_with_the_time() {
    // Ten measurements over the window of slow start: never more than its part, with four standard deviations of 20,000 draws.
    for method in [BalanceMethod::Random, BalanceMethod::LeastRequests, HASH] {
        let targets = targets(&[1; 4], method);
        (0..3).for_each(|_| {
            let _ = targets.record(0, TryResult::Unreachable, 1, 1);
        });
        let back = 1 + RULES.ejected;
        let mut last = 0.0;
        for tenth in 0..=10_u64 {
            let share = counts(&targets, 20_000, back + tenth * RULES.slow_start / 10)[0] as f64 / 20_000.0;
            let part = (tenth as f64 / 10.0).max(0.05);
            let full = part / (3.0 + part);
            assert!(share <= full * 1.35 + 0.013, "{method:?} after {tenth} tenths: {share}, not {full}");
            assert!(share >= last - 0.013, "{method:?}: {share} after {last}");
            last = share;
        }
        assert!(last > 0.22, "{method:?}: {last}");
    }
}

#[test]
fn targets_that_checks_find_down_are_never_tried() {
    let targets = targets(&[1; 2], BalanceMethod::Random);
    targets.list().iter().for_each(|candidate| {
        let _ = candidate.health.set_down(true, 0);
    });
    assert_eq!(targets.pick(None, &[], 5, 0), Choice::AllDown);
}

#[test]
fn a_retry_goes_to_another_target_while_there_is_one() {
    for method in METHODS.into_iter().chain([HASH]) {
        let targets = targets(&[1; 3], method);
        for number in 0..500 {
            assert_eq!(targets.pick(key(&targets, number), &[0, 2], mix(number), 0), Choice::Target(1), "{method:?}");
            assert!(matches!(targets.pick(key(&targets, number), &[0, 1, 2], mix(number), 0), Choice::Target(_)));
        }
    }
}

#[test]
fn a_target_that_returns_gets_its_share_little_by_little() {
    for method in METHODS.into_iter().chain([HASH]) {
        let targets = targets(&[1; 4], method);
        (0..3).for_each(|_| {
            let _ = targets.record(0, TryResult::Unreachable, 1, 1);
        });
        let back = 1 + 10 * S;
        let share = |at: Nanos| counts(&targets, 20_000, at)[0] as f64 / 20_000.0;
        let shares = [share(back), share(back + 5 * S), share(back + 10 * S)];
        assert!(shares[0] < 0.04 && (0.06..0.20).contains(&shares[1]) && shares[2] > 0.22, "{method:?} {shares:?}");
    }
}

#[test]
fn a_tier_is_used_when_the_lower_ones_have_no_target() {
    let mut list = targets(&[1; 4], BalanceMethod::LeastRequests).list().to_vec();
    list[2].tier = 2;
    list[3].tier = 2;
    let targets = Candidates::new(list, BalanceMethod::LeastRequests, RULES);
    assert_eq!(counts(&targets, 1_000, 0)[2..], [0, 0]);
    targets.list()[0].health.set_down(true, 0);
    assert_eq!(counts(&targets, 1_000, 0), [0, 1_000, 0, 0]);
    targets.list()[1].health.set_down(true, 0);
    assert!(counts(&targets, 1_000, 0)[2..].iter().all(|count| *count > 400));
}

#[test]
fn cores_share_the_states_without_losing_requests_in_flight() {
    let targets = targets(&[1; 4], BalanceMethod::LeastRequests);
    std::thread::scope(|scope| {
        for core in 0..4_u64 {
            let targets = &targets;
            scope.spawn(move || {
                for number in 0..5_000 {
                    let index = pick(targets, core << 32 | number, number).unwrap();
                    targets.list()[index].health.begin(false);
                    targets.record(index, TryResult::Success, number, number + 10);
                    targets.list()[index].health.end();
                }
            });
        }
    });
    assert!(targets.list().iter().all(|candidate| candidate.health.in_flight() == 0));
    assert_eq!(targets.list().iter().map(|candidate| candidate.health.tries()).sum::<u64>(), 20_000);
}

#[test]
fn other_zones_take_over_what_the_own_zone_is_missing() {
    // Four targets here, four elsewhere.
    let candidates = (0..8).map(|number| Candidate {
        weight: 1,
        hash: mix(number),
        tier: u8::from(number >= 4),
        health: Arc::new(TargetHealth::default()),
    });
    let targets = Candidates::new(candidates.collect(), BalanceMethod::Random, RULES);
    let elsewhere = |targets: &Candidates| counts(targets, 40_000, S).iter().skip(4).sum::<u64>() as f64 / 40_000.0;
    for (missing, expected) in [(0, 0.0), (1, 0.0), (2, 0.3), (3, 0.65), (4, 1.0)] {
        for (index, candidate) in targets.list().iter().take(4).enumerate() {
            candidate.health.set_down(index < missing, 0);
        }
        let share = elsewhere(&targets);
        // Four standard deviations of 40,000 draws are below 0.01.
        assert!((share - expected).abs() < 0.01, "{missing} missing: {share}");
    }
    for (index, candidate) in targets.list().iter().enumerate() {
        candidate.health.set_down(index != 0, 0);
    }
    assert_eq!(elsewhere(&targets), 0.0, "the last target here takes everything when there is none elsewhere");
}

#[test]
fn a_key_keeps_its_target_whatever_the_method_of_the_list_is() {
    for method in METHODS {
        let targets = targets(&[1; 4], method);
        for number in 0..50 {
            let of_key = |random: u64| targets.pick(Some(mix(number)), &[], mix(random), 0);
            assert!((0..20).all(|random| of_key(random) == of_key(99)), "{method:?}");
        }
    }
}

#[test]
fn another_target_is_one_that_is_available_and_was_not_tried() {
    let targets = targets(&[1, 1, 0], BalanceMethod::RoundRobin);
    assert!(targets.has_other(&[0], 1));
    assert!(!targets.has_other(&[0, 1], 1), "the third has no weight");
    targets.list()[1].health.note_unanswered(1);
    assert!(!targets.has_other(&[0], 2));
    assert_eq!((0..4).map(|number| pick(&targets, number, 2)).collect::<Vec<_>>(), [Some(0); 4]);
}
