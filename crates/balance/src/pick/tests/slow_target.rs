//! Four targets, one of which is ten times slower, on virtual time: what its clients notice in the 99th percentile.

use super::*;
use std::collections::BinaryHeap;

const MS: f64 = 1e6;
const SECONDS: u64 = 60;
/// What the targets teach at first does not count.
const WARM_UP: Nanos = 5 * S;

/// How long a target works on a request; its mean is `mean`.
#[derive(Clone, Copy, Debug)]
enum Work {
    Constant,
    /// Between half and one and a half of the mean.
    Even,
    Exponential,
}

impl Work {
    fn time(self, mean: f64, random: u64) -> Nanos {
        let part = fraction(random);
        (mean
            * match self {
                Work::Constant => 1.0,
                Work::Even => 0.5 + part,
                Work::Exponential => -(1.0 - part).ln(),
            }) as Nanos
    }
}

/// The 99th percentile of latencies in ms, and the part of the requests that the last target got. `means` are in ms; requests arrive at random.
fn run(method: BalanceMethod, rules: HealthRules, work: Work, means: &[f64], per_second: f64) -> (f64, f64) {
    let list = (0..means.len()).map(|index| Candidate { weight: 1, hash: mix(index as u64), tier: 0, health: Arc::default() });
    let targets = Candidates::new(list.collect(), method, rules);
    let mut draw = {
        let mut state = 17_u64;
        move || {
            state = mix(state);
            state
        }
    };
    // The end and the start of each request in flight, and its target; the earliest end comes first.
    let mut in_flight: BinaryHeap<std::cmp::Reverse<(Nanos, Nanos, usize)>> = BinaryHeap::new();
    let (mut now, mut latencies, mut last) = (1_u64, Vec::new(), 0_usize);
    while now < SECONDS * S {
        now += (-(1.0 - fraction(draw())).ln() / per_second * 1e9) as Nanos;
        while let Some(std::cmp::Reverse((end, began, index))) = in_flight.peek().copied().filter(|first| first.0.0 <= now) {
            in_flight.pop();
            targets.list()[index].health.end();
            targets.record(index, TryResult::Success, began, end);
        }
        if targets.is_time_to_look(now) {
            targets.look(now);
        }
        let (Choice::Target(index) | Choice::LastResort(index)) = targets.pick(None, &[], draw(), now) else { continue };
        targets.list()[index].health.begin(false);
        let time = work.time(means[index] * MS, draw());
        in_flight.push(std::cmp::Reverse((now + time, now, index)));
        if now > WARM_UP {
            latencies.push(time);
            last += usize::from(index + 1 == means.len());
        }
    }
    latencies.sort_unstable();
    (latencies[latencies.len() * 99 / 100] as f64 / MS, last as f64 / latencies.len() as f64)
}

#[test]
fn a_target_that_is_ten_times_slower_hardly_shows_in_the_99th_percentile() {
    let off = HealthRules { consecutive_faults: 0, fault_percent: 0, latency_factor: 0.0, ..RULES };
    let eject = HealthRules { latency_factor: 3.0, ejected: 30 * S, ejected_max: 300 * S, ..RULES };
    for (method, rules) in [
        (BalanceMethod::PeakEwma, off),
        (BalanceMethod::PeakEwma, eject),
        (BalanceMethod::LeastRequests, eject),
        (BalanceMethod::RoundRobin, eject),
    ] {
        for per_second in [100.0, 2_000.0] {
            for work in [Work::Constant, Work::Even, Work::Exponential] {
                let (without, _) = run(method, rules, work, &[4.0; 3], per_second);
                let (with, share) = run(method, rules, work, &[4.0, 4.0, 4.0, 40.0], per_second);
                let what = format!("{method:?}, {work:?}, {per_second} per second, latency factor {}", rules.latency_factor);
                assert!(with <= 1.5 * without, "{what}: {without} ms, {with} ms");
                assert!(share < 0.015, "{what}: {share}");
            }
        }
    }
}

#[test]
fn requests_in_flight_alone_do_not_keep_clients_from_a_slow_target() {
    let off = HealthRules { consecutive_faults: 0, fault_percent: 0, latency_factor: 0.0, ..RULES };
    // A slow target without requests in flight looks like any other.
    let (with, share) = run(BalanceMethod::LeastRequests, off, Work::Constant, &[4.0, 4.0, 4.0, 40.0], 2_000.0);
    assert!(with > 30.0 && share > 0.03 && share < 0.1, "{with} ms, {share}");
}
