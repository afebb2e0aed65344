//! While a bad plugin does its worst, its own requests fail, and another API is served about as fast as without it: in the median and for the
//! slowest hundredth of its requests. What counts are ratios within one run. Each kind of plugin has the whole table of what is bad.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Connection, Definition, Gateway, Upstream, api, request};
use crate::plugins::PluginServer;
use crate::wasm_plugins;

/// How much longer a request may take beside a bad plugin: the machine may have two CPUs, and the load itself needs some of them.
const MEDIAN_RATIO_MAX: f64 = 3.0;
/// The same for the slowest hundredth, which also waits for the CPU when both are busy: two or three turns of the scheduler, of milliseconds
/// each. A plugin that held a data thread would hold these for as long as it may run, more than a thousand times as long.
const SLOWEST_RATIO_MAX: f64 = 40.0;
/// Requests of one measurement.
const REQUESTS: usize = 400;
/// Clients that call the bad plugin all the time.
const BAD_CLIENTS: usize = 6;
/// Pause of each after a call: what fails at once must not be a load of its own.
const PAUSE: Duration = Duration::from_millis(10);
/// Measurements; the best one counts, because other work on the machine disturbs some.
const ATTEMPTS: usize = 5;

/// Times of requests to the API beside.
#[derive(Clone, Copy)]
struct Times {
    median: Duration,
    p99: Duration,
}

fn measure(client: &mut Connection) -> Times {
    let mut times: Vec<Duration> = (0..REQUESTS)
        .map(|_| {
            let began = Instant::now();
            assert_eq!(client.ask(request("GET", "/beside/x", &[], "")).status, 200);
            began.elapsed()
        })
        .collect();
    times.sort();
    Times { median: times[REQUESTS / 2], p99: times[REQUESTS * 99 / 100] }
}

/// Compares requests to the API beside with and without calls of the bad plugin: the ratios of medians and of the slowest hundredths.
fn ratios(gateway: &Gateway, bad: &str, status: u16) -> (f64, f64) {
    let mut client = gateway.connect();
    measure(&mut client);
    let alone = measure(&mut client);
    let ends = AtomicBool::new(false);
    let beside = std::thread::scope(|scope| {
        for _ in 0..BAD_CLIENTS {
            scope.spawn(|| {
                while !ends.load(Ordering::Relaxed) {
                    assert_eq!(gateway.send(bad).status, status);
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

#[track_caller]
fn assert_beside(gateway: &Gateway, what: &str, bad: &str, status: u16) {
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

fn script(directory: &Path, name: &str, body: &str) -> Value {
    let code = format!(
        "var {name} = new TykJS.TykMiddleware.NewMiddleware({{}});\n\
         {name}.NewProcessRequest(function (request) {{ {body}; return {name}.ReturnData(request, {{}}) }});"
    );
    let path = directory.join(format!("{name}.js"));
    fs::write(&path, code).unwrap();
    json!({"driver": "otto", "pre": [{"name": name, "path": path}]})
}

#[test]
fn bad_scripts_leave_other_apis_their_latency() {
    let (upstream, beside) = (Upstream::ok(), Upstream::ok());
    let directory = tempfile::tempdir().unwrap();
    let bad = [
        ("never_returns", "while (true) {}", 500),
        ("throws", "throw new Error('on purpose')", 500),
        ("eats_memory", "var all = []; while (true) all.push(new Array(10000).join('x'))", 500),
        ("returns_wrong_types", "request.SetHeaders = 5", 500),
        ("sets_huge_headers", "request.SetHeaders['X-A'] = 'x'.repeat(1e6)", 500),
        ("injects_headers", "request.SetHeaders['X-A'] = 'b\\r\\nX-B: c'", 500),
        ("goes_to_another_api", "request.URL = '/beside/x'", 200),
        ("recurses", "(function f() { return f() + 1 })()", 500),
        ("floods_the_log", "while (true) log('again and again')", 500),
    ];
    let hooked = |name: &str, body: &str| -> Definition {
        api(name, &format!("/{name}/"), &upstream.url()).set("custom_middleware", script(directory.path(), name, body))
    };
    let definitions = bad.iter().map(|(name, body, _)| hooked(name, body)).chain([api("beside", "/beside/", &beside.url())]);
    let gateway = Gateway::start(json!({"enable_jsvm": true, "jsvm_timeout": 1}), definitions);
    for (name, _, status) in bad {
        assert_beside(&gateway, name, &request("GET", &format!("/{name}/x"), &[], ""), status);
    }
    gateway.expect_no_panic();
}

#[test]
fn bad_servers_of_plugins_leave_other_apis_their_latency() {
    let Some(server) = PluginServer::start() else { return };
    let (upstream, beside) = (Upstream::ok(), Upstream::ok());
    let mut conf = server.conf();
    conf["tollgate"] = json!({"plugins": {"timeout_ms": 300}});
    let hooked = api("bad", "/bad/", &upstream.url()).set("custom_middleware", json!({"driver": "grpc", "pre": [{"name": "pre"}]}));
    let gateway = Gateway::start(conf, [hooked, api("beside", "/beside/", &beside.url())]);
    let of_request = |request: Value| json!({"merge": {"request": request}});
    for (what, told, status) in [
        ("never answers", json!({"sleep": 1}), 500),
        ("throws", json!({"throw": true}), 500),
        ("answers with too much", json!({"eat": 5_000_000}), 500),
        ("answers with no message", json!({"garbage": "ffffff"}), 500),
        ("sets huge headers", json!({"long": 1_000_000}), 500),
        ("injects headers", of_request(json!({"set_headers": {"X-A": "b\r\nX-B: c"}})), 500),
        ("goes to another API", of_request(json!({"url": "/beside/x"})), 200),
        // The last one: nobody starts it again.
        ("ends in mid-call", json!({"exit": true}), 500),
    ] {
        assert_beside(&gateway, what, &request("GET", "/bad/x", &[&format!("X-Pre: {told}")], ""), status);
    }
    gateway.expect_no_panic();
}

#[test]
fn bad_modules_leave_other_apis_their_latency() {
    let Some(module) = wasm_plugins::told() else { return };
    let (upstream, beside) = (Upstream::ok(), Upstream::ok());
    let hooked = api("bad", "/bad/", &upstream.url())
        .set("custom_middleware", json!({"driver": "wasm", "pre": [{"name": "pre", "path": module}]}));
    let gateway =
        Gateway::start(json!({"tollgate": {"plugins": {"timeout_ms": 300}}}), [hooked, api("beside", "/beside/", &beside.url())]);
    for (what, told, status) in [
        ("never returns", "spin", 500),
        ("traps", "panic", 500),
        ("eats memory", "eat", 500),
        ("waits for nothing", "pause", 500),
        ("sets huge headers", "huge 100000", 500),
        ("injects headers", "inject X-A", 500),
        ("goes to another API", "set :path=/beside/x", 200),
        ("floods the log", "log 100000", 200),
    ] {
        assert_beside(&gateway, what, &request("GET", "/bad/x", &[&format!("X-Pre: {told}")], ""), status);
    }
    gateway.expect_no_panic();
}
