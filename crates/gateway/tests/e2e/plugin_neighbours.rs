//! While a bad plugin does its worst, other APIs are served about as fast as without it. What counts are ratios within one run.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Connection, Definition, Gateway, Upstream, api, request};
use crate::plugins::PluginServer;

/// How much longer a request may take beside a bad plugin: the machine may have two CPUs, and the load itself needs some of them.
const RATIO_MAX: f64 = 3.0;
/// Requests of one measurement.
const REQUESTS: usize = 120;
/// Clients that call the bad plugin all the time.
const BAD_CLIENTS: usize = 6;
/// Measurements; the best one counts, because other work on the machine disturbs some.
const ATTEMPTS: usize = 5;

/// The median time of requests to the API beside.
fn median(client: &mut Connection) -> Duration {
    let mut times: Vec<Duration> = (0..REQUESTS)
        .map(|_| {
            let began = Instant::now();
            assert_eq!(client.ask(request("GET", "/beside/x", &[], "")).status, 200);
            began.elapsed()
        })
        .collect();
    times.sort();
    times[REQUESTS / 2]
}

/// Compares requests to the API beside with and without calls of the bad plugin; the ratio of their medians.
fn ratio(gateway: &Gateway, bad: &str) -> f64 {
    let mut client = gateway.connect();
    median(&mut client);
    let alone = median(&mut client);
    let ends = AtomicBool::new(false);
    let beside = std::thread::scope(|scope| {
        for _ in 0..BAD_CLIENTS {
            scope.spawn(|| {
                while !ends.load(Ordering::Relaxed) {
                    assert_eq!(gateway.send(bad).status, 500);
                }
            });
        }
        // All of them are there.
        std::thread::sleep(Duration::from_millis(150));
        let beside = median(&mut client);
        ends.store(true, Ordering::Relaxed);
        beside
    });
    beside.as_secs_f64() / alone.as_secs_f64()
}

#[track_caller]
fn assert_beside(gateway: &Gateway, what: &str, bad: &str) {
    let mut ratios = Vec::new();
    for _ in 0..ATTEMPTS {
        ratios.push(ratio(gateway, bad));
        if ratios.last().is_some_and(|ratio| *ratio <= RATIO_MAX) {
            return;
        }
    }
    panic!("{what}: requests beside take {ratios:.1?} times as long");
}

fn script(directory: &Path, name: &str, body: &str) -> Value {
    let code = format!(
        "var {name} = new TykJS.TykMiddleware.NewMiddleware({{}});\n{name}.NewProcessRequest(function (request) {{ {body} }});"
    );
    let path = directory.join(format!("{name}.js"));
    std::fs::write(&path, code).unwrap();
    json!({"driver": "otto", "pre": [{"name": name, "path": path}]})
}

#[test]
fn bad_scripts_leave_other_apis_their_latency() {
    let upstream = Upstream::ok();
    let directory = tempfile::tempdir().unwrap();
    let bad = [
        ("endless", "while (true) {}"),
        ("floods", "while (true) log('again and again')"),
        ("eats", "var all = []; while (true) all.push(new Array(10000).join('x'))"),
    ];
    let hooked = |name: &str, body: &str| -> Definition {
        api(name, &format!("/{name}/"), &upstream.url()).set("custom_middleware", script(directory.path(), name, body))
    };
    let definitions = bad.iter().map(|(name, body)| hooked(name, body)).chain([api("beside", "/beside/", &upstream.url())]);
    let gateway = Gateway::start(json!({"enable_jsvm": true, "jsvm_timeout": 1}), definitions);
    for (name, _) in bad {
        assert_beside(&gateway, name, &request("GET", &format!("/{name}/x"), &[], ""));
    }
    gateway.expect_no_panic();
}

#[test]
fn a_server_of_plugins_that_never_answers_leaves_other_apis_their_latency() {
    let Some(server) = PluginServer::start() else { return };
    let upstream = Upstream::ok();
    let mut conf = server.conf();
    conf["tollgate"] = json!({"plugins": {"timeout_ms": 300}});
    let hooked = api("bad", "/bad/", &upstream.url()).set("custom_middleware", json!({"driver": "grpc", "pre": [{"name": "pre"}]}));
    let gateway = Gateway::start(conf, [hooked, api("beside", "/beside/", &upstream.url())]);
    assert_beside(&gateway, "never answers", &request("GET", "/bad/x", &["X-Pre: {\"sleep\": 1}"], ""));
    assert_beside(&gateway, "answers with too much", &request("GET", "/bad/x", &["X-Pre: {\"eat\": 5000000}"], ""));
}
