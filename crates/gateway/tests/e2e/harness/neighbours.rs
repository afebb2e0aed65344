//! Whether an API is served while another one gets bad requests. How much longer its requests take is shown and not judged: that is the
//! business of `make attack`, on a machine that does nothing else.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::{Connection, Definition, Gateway, Upstream, api, request};

/// Requests of one measurement.
const REQUESTS: usize = 400;
/// Clients that send bad requests all the time.
const BAD_CLIENTS: usize = 6;
/// Pause of each after a response: what fails at once must not be a load of its own.
const PAUSE: Duration = Duration::from_millis(10);
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

/// Sends bad requests, each made from its number, and expects that they get this status and that the API beside is served.
#[track_caller]
pub(crate) fn assert_beside(gateway: &Gateway, what: &str, bad: &(dyn Fn(usize) -> String + Sync), status: u16) {
    let (median, p99) = ratios(gateway, bad, status);
    eprintln!("{what}: {median:.1} times as long in the median, {p99:.1} times at the 99th percentile");
}
