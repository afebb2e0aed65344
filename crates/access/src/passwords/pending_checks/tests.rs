use super::*;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const THREADS: usize = 4;

#[test]
fn requests_at_the_same_time_share_one_check() {
    for round in 0..500 {
        let (checks, started, barrier) = (PendingChecks::default(), AtomicUsize::new(0), Barrier::new(THREADS));
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    barrier.wait();
                    let joined = checks.join_or(Digest::default(), || {
                        started.fetch_add(1, Ordering::SeqCst);
                        thread::yield_now();
                        Some(Pending::pair().1)
                    });
                    // It is under way until all have joined.
                    barrier.wait();
                    assert!(joined.is_some());
                });
            }
        });
        assert_eq!(started.into_inner(), 1, "in round {round}");
    }
}

#[test]
fn a_check_that_nobody_waits_for_is_forgotten() {
    let checks = PendingChecks::default();
    let start = || Some(Pending::pair().1);
    for number in 0..100_u8 {
        let joined = checks.join_or([number; 32], start);
        assert!(joined.is_some());
    }
    assert_eq!(checks.0.lock().unwrap().len(), 1);
    assert!(checks.join_or(Digest::default(), || None).is_none(), "there was no room in the queue");
    assert!(checks.join_or(Digest::default(), start).is_some());
}
