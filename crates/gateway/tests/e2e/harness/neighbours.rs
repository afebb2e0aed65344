//! Whether an API is served about as fast while another one gets bad requests: in the median and for the slowest hundredth of its requests.
//! What counts are ratios within one run.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::{Connection, Definition, Gateway, Upstream, api, request};

/// How much longer a request may take beside bad ones: the machine may have two CPUs, and the load itself needs some of them.
const MEDIAN_RATIO_MAX: f64 = 3.0;
/// The same for the slowest hundredth, which also waits for the CPU when both are busy: two or three turns of the scheduler, of milliseconds
/// each. A request that held a data thread would hold these for as long as it may run, more than a thousand times as long.
const SLOWEST_RATIO_MAX: f64 = 40.0;
/// Requests of one measurement.
const REQUESTS: usize = 400;
/// Clients that send bad requests all the time.
const BAD_CLIENTS: usize = 6;
/// Pause of each after a response: what fails at once must not be a load of its own.
const PAUSE: Duration = Duration::from_millis(10);
/// Measurements; the best one counts, because other work on the machine disturbs some.
const ATTEMPTS: usize = 5;

/// The API that is to be served well, with an upstream of its own.
pub(crate) fn beside(upstream: &Upstream) -> Definition {
    api("beside", "/beside/", &upstream.url())
}

/// NeighbourTimes of requests to the API beside.
#[derive(Clone, Copy)]
struct NeighbourTimes {
    median: Duration,
    p99: Duration,
}

fn measure(client: &mut Connection) -> NeighbourTimes {
    let mut times: Vec<Duration> = (0..REQUESTS)
        .map(|_| {
            let began = Instant::now();
            assert_eq!(client.ask(request("GET", "/beside/x", &[], "")).status, 200);
            began.elapsed()
        })
        .collect();
    times.sort();
    NeighbourTimes { median: times[REQUESTS / 2], p99: times[REQUESTS * 99 / 100] }
}

/// Compares requests to the API beside with and without bad requests: the ratios of medians and of the slowest hundredths.
fn ratios(gateway: &Gateway, bad: &(dyn Fn(usize) -> String + Sync), status: u16) -> (f64, f64) {
    let mut client = gateway.connect();
    measure(&mut client);
    let alone = measure(&mut client);
    let (ends, number) = (AtomicBool::new(false), AtomicUsize::new(0));
    let beside = std::thread::scope(|scope| {
        for _ in 0..BAD_CLIENTS {
            scope.spawn(|| {
                while !ends.load(Ordering::Relaxed) {
                    let answer = gateway.send(bad(number.fetch_add(1, Ordering::Relaxed)));
                    assert_eq!(answer.status, status, "{:.300}", answer.text());
                    std::thread::sleep(PAUSE);
                }
            });
        }
        // All of them are there.
        std::thread::sleep(Duration::from_millis(150));
        let beside = measure(&mut client);
        ends.store(true, Ordering::Relaxed);
        beside
    });
    let ratio = |beside: Duration, alone: Duration| beside.as_secs_f64() / alone.as_secs_f64();
    (ratio(beside.median, alone.median), ratio(beside.p99, alone.p99))
}

/// Sends bad requests, each made from its number, and expects that they get this status and that the API beside hardly notices.
#[track_caller]
pub(crate) fn assert_beside(gateway: &Gateway, what: &str, bad: &(dyn Fn(usize) -> String + Sync), status: u16) {
    let mut all = Vec::new();
    for _ in 0..ATTEMPTS {
        let (median, p99) = ratios(gateway, bad, status);
        all.push((median, p99));
        if median <= MEDIAN_RATIO_MAX && p99 <= SLOWEST_RATIO_MAX {
            eprintln!("{what}: {median:.1} times as long in the median, {p99:.1} times at the 99th percentile");
            return;
        }
    }
    panic!("{what}: requests beside take so many times as long, in the median and at the 99th percentile: {all:.1?}");
}
