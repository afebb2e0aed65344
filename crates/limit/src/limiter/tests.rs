//! All algorithms under random schedules, compared with slow and simple models.

use super::*;
use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

const ALL: [LimitAlgorithm; 3] = [LimitAlgorithm::Gcra, LimitAlgorithm::FixedWindow, LimitAlgorithm::SlidingWindow];
const MS: u64 = 1_000_000;

/// Time since the previous step and number of requests; a negative time is a clock that jumps back.
type Schedule = Vec<(i64, usize)>;

/// Steps in milliseconds: mostly small, some jumps.
fn steps() -> impl Strategy<Value = i64> {
    prop_oneof![8 => 0i64..300, 1 => 0i64..20_000, 1 => -5_000i64..0]
}

fn schedules() -> impl Strategy<Value = Schedule> {
    prop::collection::vec((steps(), 1usize..12), 1..60)
}

fn rates() -> impl Strategy<Value = Rate> {
    (1u64..30, 100u64..5_000).prop_map(|(requests, window_ms)| rate(requests, window_ms))
}

fn rate(requests: u64, window_ms: u64) -> Rate {
    Rate::new(requests as f64, window_ms as f64 / 1e3).unwrap()
}

/// Time of each request, in nanoseconds.
fn moments(schedule: &Schedule) -> Vec<u64> {
    let mut now_ms = 100_000i64;
    let mut moments = Vec::new();
    for (step, requests) in schedule {
        now_ms = (now_ms + step).max(0);
        moments.extend(std::iter::repeat_n(now_ms as u64 * MS, *requests));
    }
    moments
}

fn admit(limit: &Limiter, rate: Rate, at_ns: u64) -> bool {
    limit.admit(rate, Duration::from_nanos(at_ns)).is_ok()
}

fn outcomes(algorithm: LimitAlgorithm, rate: Rate, moments: &[u64]) -> Vec<bool> {
    let limit = Limiter::new(algorithm);
    moments.iter().map(|at| admit(&limit, rate, *at)).collect()
}

/// The promise of an algorithm, in its simplest form.
fn model(algorithm: LimitAlgorithm, rate: Rate, moments: &[u64]) -> Vec<bool> {
    match algorithm {
        LimitAlgorithm::Gcra => leaky_bucket(rate, moments),
        LimitAlgorithm::FixedWindow => windows(rate, moments),
        LimitAlgorithm::SlidingWindow => log_of_all(rate, moments),
    }
}

/// A bucket that leaks one nanosecond per nanosecond; a request adds one interval if the level allows it.
fn leaky_bucket(rate: Rate, moments: &[u64]) -> Vec<bool> {
    let (mut level, mut last) = (0i128, 0i128);
    let mut pour = |at: &u64| {
        let now = i128::from(*at);
        // Time that the clock goes back must leak again.
        level = (level - (now - last)).max(0);
        last = now;
        let has_room = level <= i128::from(rate.tolerance_ns);
        level += if has_room { i128::from(rate.interval_ns) } else { 0 };
        has_room
    };
    moments.iter().map(&mut pour).collect()
}

fn windows(rate: Rate, moments: &[u64]) -> Vec<bool> {
    let mut window: Option<(u64, u64)> = None;
    let mut count = |at: &u64| {
        let (began, requests) = window.filter(|(began, _)| *at < began + rate.window_ns).unwrap_or((*at, 0));
        let has_room = requests < rate.requests;
        window = Some((began, requests + u64::from(has_room)));
        has_room
    };
    moments.iter().map(&mut count).collect()
}

fn log_of_all(rate: Rate, moments: &[u64]) -> Vec<bool> {
    let (mut log, mut latest): (Vec<u64>, u64) = (Vec::new(), 0);
    let mut count = |at: &u64| {
        // Entries that have left the window do not return when the clock goes back.
        latest = latest.max(*at);
        let in_window = log.iter().filter(|seen| **seen + rate.window_ns > latest).count();
        let has_room = (in_window as u64) < rate.requests;
        if has_room {
            log.push((*at).max(log.last().copied().unwrap_or_default()));
        }
        has_room
    };
    moments.iter().map(&mut count).collect()
}

proptest! {
    #[test]
    fn each_algorithm_admits_exactly_what_it_promises(rate in rates(), schedule in schedules()) {
        let moments = moments(&schedule);
        for algorithm in ALL {
            prop_assert_eq!(outcomes(algorithm, rate, &moments), model(algorithm, rate, &moments), "{:?}", algorithm);
        }
    }

    #[test]
    fn rejected_requests_never_count(rate in rates(), schedule in schedules()) {
        let moments = moments(&schedule);
        for algorithm in ALL {
            let outcomes = outcomes(algorithm, rate, &moments);
            let admitted: Vec<u64> = moments.iter().zip(&outcomes).filter(|(_, is_in)| **is_in).map(|(at, _)| *at).collect();
            // Without the rejected requests, all others are admitted just the same.
            prop_assert!(super::tests::outcomes(algorithm, rate, &admitted).into_iter().all(|is_in| is_in), "{:?}", algorithm);
        }
    }

    #[test]
    fn no_key_disturbs_another(rates in (rates(), rates()), schedule in prop::collection::vec((steps(), any::<bool>()), 1..200)) {
        let mut now_ms = 100_000i64;
        let moments: Vec<(u64, bool)> = schedule.iter().map(|(step, first)| {
            now_ms = (now_ms + step).max(0);
            (now_ms as u64 * MS, *first)
        }).collect();
        for algorithm in ALL {
            let (one, other) = (Limiter::new(algorithm), Limiter::new(algorithm));
            let mixed: Vec<(bool, bool)> = moments.iter().map(|(at, first)| {
                let (limit, rate) = if *first { (&one, rates.0) } else { (&other, rates.1) };
                (*first, admit(limit, rate, *at))
            }).collect();
            for (which, rate) in [(true, rates.0), (false, rates.1)] {
                let own: Vec<u64> = moments.iter().filter(|(_, first)| *first == which).map(|(at, _)| *at).collect();
                let alone = outcomes(algorithm, rate, &own);
                let among: Vec<bool> = mixed.iter().filter(|(first, _)| *first == which).map(|(_, is_in)| *is_in).collect();
                prop_assert_eq!(alone, among, "{:?}", algorithm);
            }
        }
    }

    #[test]
    fn the_room_that_is_told_is_there(rate in rates(), schedule in schedules()) {
        for algorithm in ALL {
            let limit = Limiter::new(algorithm);
            let moments = moments(&schedule);
            moments.iter().for_each(|at| { admit(&limit, rate, *at); });
            let now = moments.last().copied().unwrap_or_default();
            let (room, full) = limit.room(rate, Duration::from_nanos(now));
            let served = (0..rate.requests + 5).filter(|_| admit(&limit, rate, now)).count();
            prop_assert_eq!(room, served as u64, "{:?}", algorithm);
            let unused = Limiter::new(algorithm);
            moments.iter().for_each(|at| { admit(&unused, rate, *at); });
            let later = Duration::from_nanos(now) + full;
            prop_assert_eq!(unused.room(rate, later).0, rate.requests, "{:?}: all is there after what was told", algorithm);
        }
    }

    #[test]
    fn the_wait_that_is_told_is_enough_and_not_too_long(rate in rates(), schedule in schedules()) {
        for algorithm in ALL {
            let limit = Limiter::new(algorithm);
            for at in moments(&schedule) {
                let now = Duration::from_nanos(at);
                if let Err(wait) = limit.admit(rate, now) {
                    let a_moment = Duration::from_nanos(1);
                    prop_assert!(limit.room(rate, now + wait - a_moment).0 == 0, "{:?}: not before", algorithm);
                    prop_assert!(limit.room(rate, now + wait).0 >= 1, "{:?}: then", algorithm);
                }
            }
        }
    }

    #[test]
    fn what_is_taken_back_leaves_no_trace(rate in rates(), schedule in prop::collection::vec((0i64..3_000, 1usize..12, any::<bool>()), 1..60)) {
        for algorithm in ALL {
            let (limit, untouched) = (Limiter::new(algorithm), Limiter::new(algorithm));
            let mut now_ms = 1_000i64;
            for (step, requests, taken_back) in &schedule {
                now_ms += step;
                let now = Duration::from_millis(now_ms as u64);
                for _ in 0..*requests {
                    if *taken_back {
                        if limit.admit(rate, now).is_ok() {
                            limit.refund(rate, now);
                        }
                    } else {
                        prop_assert_eq!(limit.admit(rate, now).is_ok(), untouched.admit(rate, now).is_ok(), "{:?}", algorithm);
                    }
                }
            }
        }
    }

    /// More requests per window than the sliding window stores times.
    #[test]
    fn a_large_sliding_window_is_never_over_its_rate_and_little_below(
        requests in 1_025u64..5_000,
        schedule in prop::collection::vec((0u64..400, 1usize..3_000), 1..40),
    ) {
        let rate = rate(requests, 1_000);
        let limit = Limiter::new(LimitAlgorithm::SlidingWindow);
        let grain = rate.window_ns.div_ceil(1024);
        let (mut now, mut log) = (5_000 * MS, Vec::new());
        for (step_ms, count) in schedule {
            now += step_ms * MS;
            for _ in 0..count {
                    let since = |time: u64| (log.len() - log.partition_point(|seen: &u64| seen + time <= now)) as u64;
                if admit(&limit, rate, now) {
                    prop_assert!(since(rate.window_ns) < rate.requests, "one too many");
                    log.push(now);
                } else {
                    prop_assert!(since(rate.window_ns + grain) >= rate.requests, "one too few");
                }
            }
        }
    }
}

/// Requests that `threads` make on one limit while a simulated clock runs for `seconds`, a microsecond apart.
fn hammer(limit: &Limiter, rate: Rate, seconds: u64) -> u64 {
    let (clock, end) = (AtomicU64::new(0), seconds * 1_000 * MS);
    let run = || {
        let mut admitted = 0;
        loop {
            let now = clock.fetch_add(1_000, Ordering::Relaxed);
            if now >= end {
                return admitted;
            }
            admitted += u64::from(admit(limit, rate, now));
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(run)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

#[test]
fn eight_threads_on_one_key_get_what_one_would() {
    let rate = rate(1_000, 500);
    for algorithm in ALL {
        let admitted = hammer(&Limiter::new(algorithm), rate, 3);
        // 2,000 a second; GCRA adds a burst, the others a complete last window.
        let most = if algorithm == LimitAlgorithm::Gcra { 1_000 + 6_000 } else { 6_000 };
        assert!((most * 99 / 100..=most).contains(&admitted), "{algorithm:?}: {admitted} of {most}");
    }
}

/// Ten seconds on the real clock: `cargo test --profile quick -p tollgate-limit real_clock -- --ignored --nocapture`.
#[test]
#[ignore = "takes ten seconds and all cores"]
fn eight_threads_hammer_one_key_on_the_real_clock() {
    for (requests, algorithm) in
        [(1_000, LimitAlgorithm::Gcra), (100_000, LimitAlgorithm::Gcra), (1_000, LimitAlgorithm::SlidingWindow)]
    {
        let (rate, limit, begun) = (rate(requests, 1_000), Limiter::new(algorithm), std::time::Instant::now());
        let run = || {
            let mut counts = [0u64; 2];
            while begun.elapsed() < Duration::from_secs(10) {
                counts[usize::from(limit.admit(rate, begun.elapsed()).is_ok())] += 1;
            }
            counts
        };
        let counts: Vec<[u64; 2]> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(run)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let sum = |index: usize| counts.iter().map(|one| one[index]).sum::<u64>();
        let burst = if algorithm == LimitAlgorithm::Gcra { requests } else { 0 };
        let most = burst as f64 + begun.elapsed().as_secs_f64() * requests as f64;
        let share = sum(1) as f64 / most;
        println!("{algorithm:?} {requests}/s: admitted {} of at most {most:.0} ({share:.4}), rejected {}", sum(1), sum(0));
        assert!((0.99..=1.0).contains(&share) || algorithm != LimitAlgorithm::Gcra);
    }
}
