use super::*;

fn quota() -> Arc<Quota> {
    Arc::new(Quota::new("q".into(), None, Arc::default(), Arc::default()))
}

#[test]
fn a_quota_counts_down_and_begins_anew_at_its_time() {
    let quota = quota();
    assert_eq!(quota.take(2, 60, 1000), Ok(QuotaView { remaining: 1, renews_unix_s: 1060 }));
    assert_eq!(quota.take(2, 60, 1030), Ok(QuotaView { remaining: 0, renews_unix_s: 1060 }));
    assert_eq!(quota.take(2, 60, 1059), Err(QuotaView { remaining: 0, renews_unix_s: 1060 }));
    assert_eq!(quota.take(2, 60, 1060), Ok(QuotaView { remaining: 1, renews_unix_s: 1120 }));
}

#[test]
fn without_a_renewal_it_never_begins_anew() {
    let quota = quota();
    assert!(quota.take(1, 0, 1000).is_ok());
    assert!(quota.take(1, 0, u64::MAX - 1).is_err());
}

#[test]
fn threads_together_get_exactly_the_quota() {
    let quota = quota();
    let taken: usize = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..8).map(|_| scope.spawn(|| (0..1000).filter(|_| quota.take(1234, 60, 1).is_ok()).count())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(taken, 1234);
}

#[test]
fn threads_that_meet_at_a_renewal_get_exactly_the_quota_of_each_period() {
    for round in 0..50 {
        let quota = quota();
        assert!((0..100).all(|_| quota.take(100, 10, 1_000).is_ok()));
        let taken: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|thread| {
                    let quota = &quota;
                    // Some threads still use a time before the renewal: their requests count in either period.
                    let at = move |number: usize| if (number + thread).is_multiple_of(3) { 1_009 } else { 1_010 };
                    scope.spawn(move || (0..100).filter(|number| quota.take(100, 10, at(*number)).is_ok()).count())
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(taken, 100, "round {round}");
        assert_eq!(quota.counter().map(|counter| (counter.value, counter.renews_unix_s)), Some((100, 1_020)));
    }
}

#[test]
fn every_use_is_handed_over_in_the_end_also_while_others_collect() {
    let dirty = Arc::new(DirtyQuotas::default());
    let quota = Arc::new(Quota::new("q".into(), None, dirty.clone(), Arc::default()));
    let is_over = AtomicBool::new(false);
    let last = std::thread::scope(|scope| {
        let collector = scope.spawn(|| {
            let mut last = 0;
            loop {
                let was_over = is_over.load(SeqCst);
                last = dirty.take().iter().filter_map(|quota| quota.counter()).map(|counter| counter.value).max().unwrap_or(last);
                if was_over {
                    return last;
                }
            }
        });
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| (0..10_000).for_each(|_| assert!(quota.take(i64::MAX, 60, 1).is_ok())))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        is_over.store(true, SeqCst);
        collector.join().unwrap()
    });
    assert_eq!(last, 40_000);
}

#[test]
fn a_changed_quota_is_handed_over_once_until_it_changes_again() {
    let dirty = Arc::new(DirtyQuotas::default());
    let quota = Arc::new(Quota::new("q".into(), Some((5, 100)), dirty.clone(), Arc::default()));
    assert!(dirty.take().is_empty());
    let _ = quota.take(10, 60, 50);
    let _ = quota.take(10, 60, 50);
    assert_eq!(dirty.take().iter().map(|quota| quota.counter().unwrap().value).collect::<Vec<_>>(), [7]);
    assert!(dirty.take().is_empty());
}

#[test]
fn a_retired_quota_counts_on_for_those_who_hold_it_and_is_not_stored() {
    let (dirty, retired) = (Arc::new(DirtyQuotas::default()), Arc::new(AtomicBool::new(false)));
    let quota = Arc::new(Quota::new("q".into(), None, dirty.clone(), retired.clone()));
    retired.store(true, Ordering::Release);
    assert!(quota.take(10, 60, 50).is_ok());
    assert!(dirty.take().iter().all(|quota| quota.counter().is_none()));
}

#[test]
fn what_is_given_back_can_be_taken_again_but_not_in_a_later_period() {
    let quota = quota();
    assert!(quota.take(1, 10, 100).is_ok() && quota.take(1, 10, 100).is_err());
    quota.give_back(10, 100);
    assert!(quota.take(1, 10, 101).is_ok());
    // The first request's period is over: the second request belongs to the next one.
    assert!(quota.take(1, 10, 110).is_ok());
    quota.give_back(10, 101);
    assert!(quota.take(1, 10, 111).is_err());
    // No more is given back than was taken.
    let quota = self::quota();
    quota.give_back(0, 100);
    assert!(quota.take(1, 0, 100).is_ok());
    quota.give_back(0, 100);
    quota.give_back(0, 100);
    assert!(quota.take(1, 0, 100).is_ok() && quota.take(1, 0, 100).is_err());
}

#[test]
fn what_was_held_before_a_reset_gives_nothing_back_after_it() {
    let quota = quota();
    let idle = std::time::Duration::from_secs(1);
    let terms = BudgetTerms { max: 100, ends_unix_s: 1_060, next_ends_unix_s: 1_120, idle, on_failure: None };
    let take = |units| match quota.take_units(&terms, (1, units), WaitPolicy::Waits, 1_000) {
        BudgetDecision::Taken(taken) => taken,
        other => panic!("{other:?}"),
    };
    let before = take(40);
    let mut reset = std::pin::pin!(quota.reset_units(&terms));
    let done = reset.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
    assert_eq!(done, std::task::Poll::Ready(true));
    let after = take(30);
    quota.give_back_units(before);
    assert_eq!(quota.units_left_here(100, 1_000), 70);
    quota.give_back_units(TakenUnits { units: 10, ..after });
    quota.charge_units(&terms, 100, 1_000);
    assert_eq!(quota.units_left_here(100, 1_000), -20, "an overrun is seen");
}
