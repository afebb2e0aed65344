use super::*;

const RULES: BudgetRules = BudgetRules { percent: 10, saved_max: 100, per_s_min: 0 };

#[test]
fn retries_are_at_most_a_share_of_all_requests() {
    let budget = RetryBudget::default();
    let (mut requests, mut retries) = (0, 0);
    for _ in 0..10_000 {
        budget.deposit(&RULES);
        requests += 1;
        // Every request fails, and wants three retries.
        retries += (0..3).filter(|_| budget.withdraw(&RULES, 0)).count();
        assert!(retries * 10 <= requests);
    }
    assert_eq!(retries, 1_000);
    assert_eq!(budget.refused(), 29_000);
}

#[test]
fn unused_retries_are_kept_up_to_a_maximum() {
    let budget = RetryBudget::default();
    (0..100_000).for_each(|_| budget.deposit(&RULES));
    assert_eq!(budget.left(), 100);
    assert_eq!((0..500).filter(|_| budget.withdraw(&RULES, 0)).count(), 100);
}

#[test]
fn some_retries_per_second_are_always_allowed() {
    let rules = BudgetRules { per_s_min: 3, ..RULES };
    let budget = RetryBudget::default();
    let in_second = |second: u64| (0..10).filter(|_| budget.withdraw(&rules, second * SECOND + 5)).count();
    assert_eq!([1, 2, 2, 9].map(in_second), [3, 3, 0, 3]);
}

#[test]
fn cores_that_withdraw_together_do_not_exceed_the_budget() {
    let budget = RetryBudget::default();
    (0..500).for_each(|_| budget.deposit(&RULES));
    let taken: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| (0..100).filter(|_| budget.withdraw(&RULES, 0)).count())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(taken, 50);
}
