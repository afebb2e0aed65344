use super::{Arrivals, Extent, Pacing, Schedule, ThreadShare};

const SECOND: u64 = 1_000_000_000;

fn shares(workers: usize, threads: usize) -> impl Iterator<Item = ThreadShare> {
    (0..threads).map(move |thread| ThreadShare { workers, threads, thread })
}

/// Due times of all threads, in order.
fn due(pacing: Pacing, workers: usize, threads: usize, extent: Extent) -> Vec<u64> {
    let mut all = Vec::new();
    for share in shares(workers, threads) {
        let mut schedule = Schedule::new(pacing, share, extent, 0, 1);
        for own in (0..share.own_workers()).cycle() {
            match schedule.take(own, 0) {
                Some(due) => all.push(due),
                None => break,
            }
        }
    }
    all.sort_unstable();
    all
}

#[test]
fn the_threads_shares_add_up_to_exactly_n() {
    for (workers, threads) in [(1, 1), (7, 2), (100, 3), (5, 5)] {
        for total in [1, 6, 7, 100, 1003] {
            let sum: u64 = shares(workers, threads).map(|share| share.of(total)).sum();
            assert_eq!(sum, total, "{workers} workers, {threads} threads");
        }
    }
}

#[test]
fn requests_are_numbered_once_each() {
    let mut numbers: Vec<u64> = shares(7, 3).flat_map(|share| (0..share.of(70)).map(move |own| share.request(own))).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..70).collect::<Vec<_>>());
}

#[test]
fn a_rate_is_spread_evenly_over_the_threads() {
    let pacing = Pacing::Open { rate: 1000.0, arrivals: Arrivals::Constant };
    let due = due(pacing, 10, 3, Extent::Until(SECOND));
    assert_eq!(due.len(), 1000);
    assert!(due.windows(2).all(|pair| (pair[1] - pair[0]).abs_diff(SECOND / 1000) <= 1));
}

#[test]
fn a_rate_for_each_worker_adds_up() {
    let due = due(Pacing::Worker { rate: 95.0 }, 50, 2, Extent::Until(2 * SECOND));
    assert_eq!(due.len(), 50 * 95 * 2);
}

#[test]
fn poisson_arrivals_have_the_rate_and_scatter() {
    let pacing = Pacing::Open { rate: 10_000.0, arrivals: Arrivals::Poisson };
    let due = due(pacing, 4, 2, Extent::Until(SECOND));
    assert!((9_600..10_400).contains(&due.len()), "{}", due.len());
    let gaps: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    let ratio = variance.sqrt() / mean;
    assert!((0.9..1.1).contains(&ratio), "an exponential distribution's deviation is its mean: {ratio}");
}

#[test]
fn a_late_response_moves_no_request() {
    let pacing = Pacing::Open { rate: 10.0, arrivals: Arrivals::Constant };
    let share = ThreadShare { workers: 1, threads: 1, thread: 0 };
    let mut schedule = Schedule::new(pacing, share, Extent::Until(SECOND), 0, 1);
    assert_eq!(schedule.take(0, 0), Some(0));
    assert_eq!(schedule.take(0, 9 * SECOND / 10), Some(SECOND / 10), "due long ago, and it counts from then");
    assert_eq!(schedule.overdue(SECOND), 8, "what nobody sent is known");
}

#[test]
fn overdue_requests_are_sent_for_a_while_after_the_end_but_not_for_ever() {
    let share = ThreadShare { workers: 1, threads: 1, thread: 0 };
    let open = Pacing::Open { rate: 10.0, arrivals: Arrivals::Constant };
    let mut schedule = Schedule::new(open, share, Extent::Until(SECOND), 0, 1);
    assert_eq!(schedule.take(0, 3 * SECOND / 2), Some(0));
    assert_eq!(schedule.take(0, 2 * SECOND), None, "a second is over");
    assert_eq!(schedule.overdue(2 * SECOND), 9);

    let mut schedule = Schedule::new(Pacing::Worker { rate: 10.0 }, share, Extent::Until(SECOND), 0, 1);
    assert_eq!(schedule.take(0, SECOND - 1), Some(0));
    assert_eq!(schedule.take(0, SECOND), None, "-q ends with -z, as hey does");
    assert_eq!(schedule.overdue(2 * SECOND), 9);
}

#[test]
fn the_warm_up_does_not_use_up_n() {
    let share = ThreadShare { workers: 1, threads: 1, thread: 0 };
    let mut schedule = Schedule::new(Pacing::Closed, share, Extent::Requests(2), 100, 1);
    let taken: Vec<bool> = [0, 50, 100, 150, 200].into_iter().map(|now| schedule.take(0, now).is_some()).collect();
    assert_eq!(taken, [true, true, true, true, false]);
}
