//! Rates, ramps, warm-up and stalls. What a busy machine does not send in time is told as unsent.

use crate::command::{bench, load};
use crate::server::{Server, response};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// All requests that were due.
fn due(result: &serde_json::Value) -> u64 {
    ["completed", "unfinished", "unsent"].map(|name| result["requests"][name].as_u64().unwrap_or_default()).iter().sum()
}

#[test]
fn a_rate_sends_its_requests_on_schedule() {
    for words in ["-z 1s --rate 200 -c 10", "-z 1s -q 20 -c 10", "-z 1s --rate 200 -c 10 --threads 2"] {
        let server = Server::ok();
        let run = load(words, &[&server.url("/")]);
        assert_eq!(due(&run.result), 200, "{words}: {}", run.stderr);
        assert!(run.result["requests"]["completed"].as_u64().unwrap() >= 20, "{words}: {}", run.stderr);
        assert_eq!(run.result["load"]["rate"], 200.0, "{words}");
        assert!(run.stdout.contains("Service time distribution"), "{words}");
    }
    let server = Server::ok();
    let begun = Instant::now();
    let run = load("-n 100 --rate 200 -c 4", &[&server.url("/")]);
    assert_eq!(server.received().len(), 100, "{}", run.stderr);
    assert!(begun.elapsed() > Duration::from_millis(450), "100 requests at 200/s take half a second");
}

#[test]
fn a_server_that_is_too_slow_for_the_rate_is_seen_as_such() {
    // Two workers at 50 ms: 40 of the 400 requests a second.
    let slow = || {
        Server::start(|_, _| {
            std::thread::sleep(Duration::from_millis(50));
            (response(200, "ok"), true)
        })
    };
    for words in ["-z 1s --rate 400 -c 2", "-z 1s -q 200 -c 2"] {
        let server = slow();
        let run = load(words, &[&server.url("/")]);
        let count = |name: &str| run.result["requests"][name].as_u64().unwrap();
        assert_eq!((run.code, &run.result["complete"]), (0, &true.into()), "{words}: {}", run.stderr);
        assert_eq!((count("completed") + count("unsent"), count("unfinished")), (400, 0), "{words}");
        assert!(count("unsent") > 250 && run.stdout.contains("did not keep up"), "{words}: {}", run.stdout);
    }
}

/// One stall in the middle: with a rate it must show in the percentiles of the response time, and not in the service time.
#[test]
fn a_stall_shows_in_the_response_time_and_hides_in_the_service_time() {
    let first = OnceLock::new();
    let server = Server::start(move |_, _| {
        let begun = *first.get_or_init(Instant::now);
        let stall = Duration::from_millis(500)..Duration::from_millis(1500);
        if stall.contains(&begun.elapsed()) {
            std::thread::sleep(stall.end.saturating_sub(begun.elapsed()));
        }
        (response(200, "ok"), true)
    });
    let run = load("-z 3s --rate 200 -c 8", &[&server.url("/")]);
    let (response_time, service_time) = (&run.result["response_time"], &run.result["service_time"]);
    let figure = |times: &serde_json::Value, name: &str| times[name].as_f64().unwrap();
    assert_eq!(due(&run.result), 600, "{}", run.stderr);
    // A third of the requests was due in the stall and waited up to a second.
    assert!(figure(response_time, "p90_us") > 500_000.0, "{response_time}");
    assert!(figure(service_time, "p95_us") < figure(response_time, "p90_us") / 2.0, "{service_time}");
    assert!(figure(service_time, "max_us") > 800_000.0, "{service_time}");
}

#[test]
fn a_ramp_adds_workers_over_its_time() {
    let server = Server::start(|_, _| {
        std::thread::sleep(Duration::from_millis(20));
        (response(200, "ok"), true)
    });
    let run = load("--ramp 0:30:3s -z 3s", &[&server.url("/")]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let open: Vec<u64> =
        run.result["series"].as_array().unwrap().iter().map(|second| second["connections_open"].as_u64().unwrap()).collect();
    assert!(open[1] > open[0] && open[0] > 0, "about ten after a second, and twenty after two: {open:?}");
    assert!((20..=30).contains(&run.result["connections"]["opened"].as_u64().unwrap()));
}

#[test]
fn what_is_sent_in_the_warm_up_is_in_no_figure() {
    let server = Server::ok();
    let run = load("-z 500ms --warmup 500ms --rate 100 -c 2", &[&server.url("/")]);
    let (warmup, completed) = (&run.result["requests"]["warmup"], &run.result["requests"]["completed"]);
    assert_eq!((warmup, due(&run.result)), (&50.into(), 50), "{}", run.stderr);
    assert_eq!(server.received().len() as u64, 50 + completed.as_u64().unwrap());
    assert_eq!(&run.result["response_time"]["count"], completed);
    let n = load("-n 50 --warmup 300ms -c 2", &[&server.url("/")]);
    assert_eq!(n.result["requests"]["completed"], 50);
}

#[test]
fn a_search_finds_a_rate_between_what_holds_and_what_does_not() {
    // Every answer takes 10 ms and there are four workers: 400 requests a second at most.
    let server = Server::start(|_, _| {
        std::thread::sleep(Duration::from_millis(10));
        (response(200, "ok"), true)
    });
    let run = load("--find-max --slo mean<250ms --precision 40% -z 1s -c 4", &[&server.url("/")]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let search = &run.result["search"];
    let rate = search["rate_max"].as_f64().unwrap();
    assert!(rate > 10.0 && rate < 450.0, "{search}");
    assert!(search["steps"].as_array().unwrap().len() >= 2);
    assert!(run.stdout.contains("Highest rate that held"), "{}", run.stdout);
    assert!(run.stderr.contains("as fast as it goes"), "steps are shown: {}", run.stderr);
}

#[test]
fn progress_is_printed_when_it_is_asked_for() {
    let server = Server::ok();
    let run = load("-z 2500ms --rate 20 -c 2 --progress", &[&server.url("/")]);
    assert!(run.stderr.lines().filter(|line| line.contains("requests/s")).count() >= 2, "{}", run.stderr);
    let quiet = load("-z 1500ms --rate 20 -c 2", &[&server.url("/")]);
    assert_eq!(quiet.stderr, "", "nothing where there is no terminal");
}

#[test]
fn the_selftest_passes() {
    let run = bench("selftest", &["--stall", "800ms"]);
    let table = String::from_utf8_lossy(&run.stdout);
    // Times are the machine's; what is counted must be exact on any.
    for check in ["-n is exact", "statuses are counted exactly", "shows at a constant rate", "merged results lose nothing"] {
        assert!(table.lines().any(|line| line.starts_with("PASS") && line.contains(check)), "{check}:\n{table}");
    }
}
