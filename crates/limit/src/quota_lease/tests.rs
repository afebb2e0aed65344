use super::{IDLE_US, LEASE_MAX, QuotaAnswer, QuotaLease, QuotaPeriod, QuotaTake, QuotaTerms, Settlement};

fn answer(granted: i64, left: i64, renews_ms: i64) -> QuotaAnswer {
    QuotaAnswer { granted, left, renews_ms, period: QuotaPeriod { ends_ms: renews_ms, generation: 1 } }
}

fn terms(max: i64, gateways: u64) -> QuotaTerms {
    QuotaTerms { max, renewal_ms: 0, gateways, lease_max: LEASE_MAX, idle_us: IDLE_US }
}

/// Simulates a quota in the store, like `quota.lua`, and gateways that use it up. Returns the used amount, the requests that each gateway
/// let pass, and the number of questions.
fn use_up(max: i64, gateways: usize, requests: usize, is_silent: impl Fn(usize) -> bool) -> (i64, Vec<i64>, usize) {
    let terms = terms(max, gateways as u64);
    let mut leases: Vec<QuotaLease> = (0..gateways).map(|_| QuotaLease::default()).collect();
    let (mut used, mut passed, mut questions) = (0, vec![0; gateways], 0);
    for request in 0..requests {
        let now_us = request as u64 * 1_000;
        let gateway = request * 7 % gateways;
        let lease = &mut leases[gateway];
        for _ in 0..2 {
            match lease.take(1, 1, now_us) {
                QuotaTake::Taken(_) => {
                    passed[gateway] += 1;
                    break;
                }
                QuotaTake::Refused => break,
                QuotaTake::Wait { .. } if is_silent(request) => {
                    lease.unanswered(None);
                    passed[gateway] += lease.take_alone(&terms, 1, 1).unwrap_or(0);
                    break;
                }
                QuotaTake::Wait { .. } => {
                    questions += 1;
                    let ask = lease.ask(&terms);
                    let granted = ask.told + (ask.want - ask.told).min(max - used - ask.told).max(0);
                    used += granted;
                    lease.answered(&ask, &answer(granted, max - used, -1), now_us);
                }
            }
        }
    }
    (used, passed, questions)
}

#[test]
fn a_quota_is_used_up_exactly() {
    for (max, gateways) in [(1, 3), (7, 3), (100, 3), (1_000, 10), (20_000, 3), (50_000, 10)] {
        let (used, passed, questions) = use_up(max, gateways, 2 * max as usize + 1_000, |_| false);
        assert_eq!(used, max);
        assert_eq!(passed.iter().sum::<i64>(), max, "{max} of {gateways}");
        if max >= 20_000 {
            assert!(questions < max as usize / 4, "{questions} for {max}");
        }
    }
}

#[test]
fn without_the_store_no_more_than_the_quota_passes() {
    let (_, passed, _) = use_up(3_000, 3, 8_000, |request| request > 1_000);
    let sum = passed.iter().sum::<i64>();
    assert!((1_800..=3_000).contains(&sum), "{passed:?}");
    let (_, passed, _) = use_up(3_000, 3, 9_000, |request| (1_000..1_500).contains(&request));
    assert!(passed.iter().sum::<i64>() <= 3_000, "{passed:?}");
}

fn leased(granted: i64, left: i64, renews_ms: i64) -> QuotaLease {
    let mut lease = QuotaLease::default();
    lease.take(1, 1, 0);
    let ask = lease.ask(&terms(granted + left, 1));
    lease.answered(&ask, &answer(granted, left, renews_ms), 0);
    assert_eq!(lease.take(1, 1, 5), QuotaTake::Taken(1));
    lease
}

#[test]
fn what_is_not_used_is_given_back() {
    let mut lease = leased(10, 9_990, -1);
    assert_eq!(lease.settle(&terms(1, 1), 10, false), Settlement::Later, "it is in use");
    let Settlement::Tell(ask) = lease.settle(&terms(1, 1), 2_000_000, false) else { panic!("it is not in use") };
    assert_eq!((ask.want, ask.unused, ask.period.ends_ms), (0, 9, -1));
    lease.settled(&ask, &answer(0, 9_999, -1), 2_000_000);
    assert!(!lease.is_open());
    assert_eq!(lease.view(2_000_000), Some((9_999, None)));
    assert_eq!(lease.settle(&terms(1, 1), 2_000_000, true), Settlement::Nothing);
}

#[test]
fn what_passed_without_the_store_is_told_once() {
    let mut lease = leased(1, 600, -1);
    let share = terms(601, 3);
    assert_eq!((0..200).filter(|_| lease.take_alone(&share, 1, 1).is_some()).count(), 100);
    let Settlement::Tell(ask) = lease.settle(&terms(1, 1), 10, false) else { panic!("there is something to tell") };
    assert_eq!((ask.want, ask.told), (100, 100));
    lease.settled(&ask, &answer(100, 500, -1), 10);
    assert_eq!(lease.settle(&terms(1, 1), 10, false), Settlement::Nothing);
    assert_eq!(lease.take(1, 1, 10), QuotaTake::Wait { asks: true });
}

#[test]
fn an_answer_that_comes_late_is_not_lost() {
    let mut lease = leased(1, 600, -1);
    let share = terms(601, 1);
    assert_eq!(lease.take_alone(&share, 1, 1), Some(1));
    lease.take(1, 1, 10);
    let ask = lease.ask(&share);
    lease.unanswered(Some(&ask));
    assert_eq!(lease.take_alone(&share, 1, 1), Some(1));
    lease.answered_late(&ask, &answer(ask.want, 590, -1), 20);
    assert_eq!(lease.alone, 1);
    assert_eq!(lease.own, ask.want - 1);
}

#[test]
fn after_a_change_of_the_session_everything_is_asked_anew() {
    let mut lease = leased(10, 90, 60_000);
    lease.revise();
    assert_eq!(lease.take(1, 1, 10), QuotaTake::Wait { asks: true });
    let ask = lease.ask(&terms(100, 1));
    assert_eq!((ask.want, ask.unused, ask.period.ends_ms), (1, 9, 60_000));
}

#[test]
fn what_was_given_before_the_renewal_counts_for_nothing_after_it() {
    let mut lease = leased(5, 5, 1_000);
    assert_eq!(lease.take(1, 1, 999_999), QuotaTake::Taken(1));
    assert_eq!(lease.view(999_999), Some((8, Some(1))));
    assert_eq!(lease.take(1, 1, 1_000_000), QuotaTake::Wait { asks: true });
}

#[test]
fn what_a_refused_request_took_is_there_for_the_next_one() {
    let mut lease = leased(1, 0, 1_000);
    lease.give_back(1, 6, false);
    assert_eq!(lease.take(1, 1, 7), QuotaTake::Taken(1));
    // Nothing can be returned of a previous period, nor of requests that passed uncounted.
    lease.give_back(1, 1_000_000, false);
    lease.give_back(1, 8, true);
    assert!(!lease.is_open());
}

fn of_generation(granted: i64, left: i64, generation: i64) -> QuotaAnswer {
    QuotaAnswer { period: QuotaPeriod { ends_ms: 60_000, generation }, ..answer(granted, left, 60_000) }
}

#[test]
fn what_was_granted_before_a_reset_is_void() {
    // Told by the store: the next answer is of another generation.
    let mut lease = leased(10, 990, 60_000);
    let before = lease.period();
    lease.take(1, 20, 10);
    let ask = lease.ask(&terms(1_000, 1));
    lease.answered(&ask, &of_generation(20, 980, 2), 10);
    assert_eq!((lease.own, lease.view(10)), (20, Some((1_000, Some(60)))), "the nine that were left are gone");
    lease.give_back_of(before, 1, 11);
    assert_eq!(lease.own, 20, "and so are those of requests in flight");
    lease.give_back_of(lease.period(), 3, 12);
    assert_eq!(lease.own, 23);

    // Told by the gateway that has reset it.
    let mut lease = leased(10, 990, 60_000);
    lease.charge(12, 6);
    lease.reset();
    assert!(!lease.is_open());
    assert_eq!(lease.view(10), None);
    assert_eq!(lease.take(1, 5, 10), QuotaTake::Wait { asks: true });
}

#[test]
fn an_answer_that_was_on_its_way_at_a_reset_grants_nothing() {
    let mut lease = leased(10, 990, 60_000);
    lease.take(1, 20, 10);
    let ask = lease.ask(&terms(1_000, 1));
    lease.reset();
    lease.answered(&ask, &answer(20, 970, 60_000), 11);
    assert_eq!(lease.take(1, 20, 12), QuotaTake::Wait { asks: true }, "who waits asks anew");
    let ask = lease.ask(&terms(1_000, 1));
    lease.answered(&ask, &of_generation(20, 980, 2), 13);
    assert_eq!(lease.take(1, 20, 14), QuotaTake::Taken(20));
    assert_eq!(lease.take(1, 20, 15), QuotaTake::Wait { asks: true });
    let ask = lease.ask(&terms(1_000, 1));
    lease.answered(&ask, &of_generation(20, 960, 2), 16);
    assert_eq!(lease.take(1, 20, 17), QuotaTake::Taken(20));
}

#[test]
fn a_quota_that_never_renews_gets_nothing_back_of_before_a_reset() {
    // Both periods end never; only the generation tells them apart.
    let mut lease = leased(10, 90, -1);
    lease.revise();
    lease.take(1, 1, 10);
    let ask = lease.ask(&terms(100, 1));
    assert_eq!((ask.unused, ask.period), (9, QuotaPeriod { ends_ms: -1, generation: 1 }));
    lease.take(1, 1, 11);
    lease.answered(&ask, &QuotaAnswer { period: QuotaPeriod { ends_ms: -1, generation: 2 }, ..answer(2, 98, -1) }, 12);
    assert_eq!(lease.own, 2);
}

#[test]
fn another_size_of_a_quota_holds_for_the_next_request() {
    let mut lease = QuotaLease::default();
    let (large, small) = (terms(100_000, 1), terms(20, 1));
    assert_eq!(lease.take(1, 200, 0), QuotaTake::Wait { asks: true });
    let ask = lease.ask(&large);
    lease.answered(&ask, &answer(5_000, 95_000, -1), 0);
    assert_eq!(lease.take(1, 200, 0), QuotaTake::Taken(200));
    // It holds much of the larger quota, and gives it back before it takes anything of the smaller one.
    lease.resize(small.max - large.max);
    assert_eq!(lease.view(0).map(|(left, _)| left), Some(20 - 5_000 + 4_800));
    assert_eq!(lease.take(1, 1, 1), QuotaTake::Wait { asks: true });
    let ask = lease.ask(&small);
    assert_eq!((ask.unused, ask.want), (4_800, 1));
    lease.answered(&ask, &answer(0, 20 - 200, -1), 1);
    assert_eq!(lease.take(1, 1, 2), QuotaTake::Refused);
    // Of a larger one again, nobody is refused for what was asked before.
    lease.resize(large.max - small.max);
    assert_eq!(lease.take(1, 1, 3), QuotaTake::Wait { asks: true });
}
