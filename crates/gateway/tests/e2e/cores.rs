//! Which core serves a connection: new ones are spread whatever they speak, and a core without time gives some away. Seen by the counts per
//! core that the gateway tells.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::certificates::{Authority, client, connect, shake_hands};
use crate::harness::frames::{Frames, PREFACE, SETTINGS, frame};
use crate::harness::gateway::SECRET;
use crate::harness::{Connection, Gateway, PATIENCE, Setup, Upstream, api, eventually, get, request};

/// How long the machine is given to let one core work without a pause.
const TIME_MAX: Duration = Duration::from_secs(20);
/// A core that works for so much of its time gives connections away.
const BUSY: f64 = 0.9;

/// What the gateway tells over this connection.
fn live(asking: &mut Connection) -> Value {
    asking.ask(request("GET", "/tyk/live", &[&format!("x-tyk-authorization: {SECRET}")], "")).json()
}

/// Client connections by core, the one that asks among them.
pub(crate) fn by_core(asking: &mut Connection) -> Vec<u64> {
    serde_json::from_value(live(asking)["core_connections"].clone()).expect("counts by core")
}

/// Waits until the cores have so many connections.
#[track_caller]
pub(crate) fn expect_by_core(asking: &mut Connection, expected: &[u64]) {
    let mut seen = Vec::new();
    let begun = Instant::now();
    while seen != expected {
        assert!(begun.elapsed() < PATIENCE, "{seen:?} and not {expected:?}");
        std::thread::sleep(Duration::from_millis(20));
        seen = by_core(asking);
    }
}

/// Waits until nobody but the one that asks is connected.
pub(crate) fn expect_alone(asking: &mut Connection) {
    eventually("all others are gone", || by_core(asking).iter().sum::<u64>() == 1);
}

#[test]
fn a_few_connections_are_spread_over_the_cores() {
    let upstream = Upstream::ok();
    let mut gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let mut asking = gateway.connect();
    let mut clients: Vec<Connection> = (0..7).map(|_| gateway.connect()).collect();
    assert!(clients.iter_mut().all(|client| client.ask(get("/a/")).status == 200));
    expect_by_core(&mut asking, &[4, 4]);
    drop(clients);
    expect_alone(&mut asking);
    let clients: Vec<Frames> = (0..7).map(|_| Frames::open(gateway.port)).collect();
    expect_by_core(&mut asking, &[4, 4]);
    drop((clients, asking));

    gateway.restart();
    let mut asking = gateway.connect();
    let _clients: Vec<Connection> = (0..7).map(|_| gateway.connect()).collect();
    expect_by_core(&mut asking, &[4, 4]);
}

#[test]
fn a_few_connections_with_tls_are_spread_too() {
    let upstream = Upstream::ok();
    let authority = Authority::new("tests");
    let dir = tempfile::tempdir().unwrap();
    let file = authority.issue(&["api.test"]).write(dir.path(), "own.pem");
    let options = json!({"use_ssl": true, "enable_http2": true, "certificates": [{"cert_file": file}]});
    let gateway = Setup::new(json!({"http_server_options": options})).api(api("a", "/a/", &upstream.url())).start();
    let config = client(&authority, None);
    let mut asking = connect(&Arc::new(config.clone()), gateway.port, "api.test");
    let clients: Vec<Connection> = (0..7).map(|_| connect(&Arc::new(config.clone()), gateway.port, "api.test")).collect();
    expect_by_core(&mut asking, &[4, 4]);
    drop(clients);
    expect_alone(&mut asking);
    let mut config = config;
    config.alpn_protocols = vec![b"h2".to_vec()];
    let config = Arc::new(config);
    let clients: Vec<_> = (0..7)
        .map(|_| {
            let mut stream = shake_hands(&config, gateway.port, "api.test").unwrap();
            stream.write_all(PREFACE).unwrap();
            stream.write_all(&frame(SETTINGS, 0, 0, b"")).unwrap();
            stream
        })
        .collect();
    expect_by_core(&mut asking, &[4, 4]);
    drop(clients);
}

#[test]
fn clients_that_all_come_at_once_are_spread() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let mut asking = gateway.connect();
    for _ in 0..3 {
        let clients: Vec<Connection> = (0..300).map(|_| gateway.connect()).collect();
        eventually("all are there", || by_core(&mut asking).iter().sum::<u64>() == 301);
        let [first, second] = by_core(&mut asking)[..] else { panic!("two cores") };
        // A sixteenth is tolerated, and both cores accept at the same time.
        assert!(first.abs_diff(second) <= 16, "{first} and {second}");
        drop(clients);
        expect_alone(&mut asking);
    }
}

#[test]
fn a_core_without_time_gives_connections_to_one_that_has() {
    let upstream = Upstream::ok();
    // Takes the gateway much longer than its client.
    let rewrite = json!([{"path": "/slow", "method": "GET", "match_pattern": "/slow/(.*)(.*)(.*)(a|aa)+(.*)", "rewrite_to": "/x"}]);
    let gateway = Gateway::start(json!({}), [api("slow", "/slow/", &upstream.url()).list("url_rewrites", rewrite)]);
    let request = get(&format!("/slow/slow/{}", "a".repeat(6_000)));
    let mut asking = gateway.connect();
    expect_alone(&mut asking);
    let mut clients: [Vec<Connection>; 2] = Default::default();
    for count in 2..=13 {
        let before = by_core(&mut asking);
        let client = gateway.connect();
        eventually("it is there", || by_core(&mut asking).iter().sum::<u64>() == count);
        let core = usize::from(by_core(&mut asking)[1] > before[1]);
        clients[core].push(client);
    }
    // Those of one core go, and the other one has all the work.
    let [crowded, gone] = clients;
    let others = gone.len() as u64;
    let before = by_core(&mut asking);
    drop(gone);
    let mut left = before.clone();
    eventually("they are closed", || {
        left = by_core(&mut asking);
        left[1] + others <= before[1]
    });
    let left = left[1];
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for mut client in crowded {
            let (request, is_over) = (&request, &is_over);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    assert_eq!(client.ask(request).status, 200, "a connection that moves loses nothing");
                }
            });
        }
        let begun = Instant::now();
        let mut most: f64 = 0.0;
        let has_moved = loop {
            let seen = live(&mut asking);
            most = most.max(seen["core_busy"][0].as_f64().unwrap_or(0.0));
            if seen["core_connections"][1].as_u64() > Some(left) {
                break true;
            }
            if begun.elapsed() > if most < BUSY { TIME_MAX } else { PATIENCE } {
                break false;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        is_over.store(true, Ordering::Relaxed);
        if !has_moved && most < BUSY {
            return eprintln!("skipped: the machine let a core work for {most} of its time at most, and {BUSY} was needed");
        }
        assert!(has_moved, "one core worked for {most} of its time and the other one had nothing to do");
    });
}
