//! Limits of several gateways while Redis is silent, gone, read-only, moves or fails over: no request fails or waits for an answer that does
//! not come, and no more passes than is promised.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Gateway, Upstream, eventually};
use crate::keys::{call, create, session, with_key};
use crate::servers::{Cluster, Sentinel, Server};
use crate::shared_keys::{gateway, on, patient};
use crate::shared_limits::{all_count, in_turn, on_cluster, passed, three};

/// What a gateway says when Redis does not answer.
const SILENT: &str = "Redis can't be queried about limits";

/// A way to a server that can fall silent without a word.
struct Way {
    port: u16,
    is_cut: Arc<AtomicBool>,
}

impl Way {
    fn to(server: &Server) -> Way {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, target, is_cut) = (listener.local_addr().unwrap().port(), server.port, Arc::<AtomicBool>::default());
        let shared = is_cut.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(("127.0.0.1", target)) else { continue };
                let _ = (client.set_nodelay(true), server.set_nodelay(true));
                let pair = |stream: &TcpStream| stream.try_clone().unwrap();
                for (from, to) in [(pair(&client), pair(&server)), (server, client)] {
                    let is_cut = shared.clone();
                    thread::spawn(move || pass_on(from, to, &is_cut));
                }
            }
        });
        Way { port, is_cut }
    }

    fn cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::Relaxed);
    }

    fn conf(&self) -> Value {
        patient(json!({"hash_keys": true, "storage": {"host": "127.0.0.1", "port": self.port}}))
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, is_cut: &AtomicBool) {
    let mut bytes = [0; 16_384];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        // Nothing is lost for good, as TCP sends it again.
        while is_cut.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(5));
        }
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

/// Waits until every gateway has heard of all keys that were made before: one that has changed and can't be read is refused. What is heard
/// comes in order, so each waits for the end of another key.
fn settle(gateways: &[Gateway]) {
    // Of what it has done itself, a gateway need not hear.
    for author in [&gateways[0], &gateways[1]] {
        let key = create(author, &session(json!({})));
        let all_have = |status: u16| gateways.iter().all(|gateway| call(gateway, "/a/", &key).status == status);
        eventually("the key is served", || all_have(200));
        assert_eq!(author.control("DELETE", &format!("/tyk/keys/{key}"), "").status, 200);
        eventually("its end is heard of", || all_have(403));
    }
}

/// The same for a single gateway: the server tells what another program does.
pub(crate) fn settle_alone(gateway: &Gateway, server: &Server) {
    let answer = gateway.control("POST", "/tyk/keys/create", &session(json!({})).to_string()).json();
    let key = answer["key"].as_str().unwrap();
    eventually("the key is served", || call(gateway, "/a/", key).status == 200);
    server.cli(&["DEL", &format!("apikey-{}", answer["key_hash"].as_str().unwrap())]);
    eventually("its end is heard of", || call(gateway, "/a/", key).status == 403);
}

/// How many of some requests passed; none of them may fail.
fn passed_at(gateway: &Gateway, key: &str, requests: usize) -> usize {
    let mut client = gateway.connect();
    let mut passed = 0;
    for _ in 0..requests {
        let status = client.ask(with_key("/a/", key)).status;
        assert!([200, 429].contains(&status), "{status}");
        passed += usize::from(status == 200);
    }
    passed
}

#[test]
fn a_silent_store_makes_nobody_wait_for_its_answers() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let way = Way::to(&server);
    let gateway = gateway(&way.conf(), &upstream);
    let key = create(&gateway, &session(json!({"rate": 50, "per": 600, "quota_max": 1_000, "quota_renewal_rate": 600})));
    settle_alone(&gateway, &server);
    assert_eq!(passed_at(&gateway, &key, 10), 10);
    way.cut(true);
    let passed_meanwhile = passed_at(&gateway, &key, 60);
    // What was asked is answered late.
    way.cut(false);
    eventually("it answers again", || gateway.get("/ready").status == 200);
    eventually("limits are counted together again", || gateway.log().contains("limits are counted in Redis again"));
    let all = 10 + passed_meanwhile + passed_at(&gateway, &key, 60);
    assert!((40..=50).contains(&all), "{all}");
}

#[test]
fn without_the_store_limits_hold_locally_not_at_all_or_close() {
    for (on_failure, expected) in [("local", [200, 429]), ("allow", [200, 200]), ("deny", [503, 503])] {
        let (mut server, upstream) = (Server::start(&[]), Upstream::ok());
        let mut conf = on(&server);
        conf["tollgate"]["shared_store"]["on_failure"] = json!(on_failure);
        let gateway = gateway(&conf, &upstream);
        let key = create(&gateway, &session(json!({"rate": 20, "per": 600})));
        settle_alone(&gateway, &server);
        assert_eq!(call(&gateway, "/a/", &key).status, 200);
        server.kill();
        eventually("the end is noticed", || gateway.get("/ready").status == 503);
        let mut client = gateway.connect();
        let statuses: Vec<u16> = (0..40).map(|_| client.ask(with_key("/a/", &key)).status).collect();
        assert_eq!([statuses[0], statuses[39]], expected, "{on_failure}: {statuses:?}");
        server.restart();
        eventually("it is back", || gateway.get("/ready").status == 200);
        let told = gateway.log().matches(SILENT).count();
        assert!(told <= 2, "one line for each change, not {told}");
    }
}

#[test]
fn a_store_that_hangs_holds_nobody_up_and_no_limit_is_forgotten() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways = three(&on(&server), &upstream);
    let key = create(&gateways[0], &session(json!({"rate": 30, "per": 600})));
    settle(&gateways);
    let before = passed(&in_turn(&gateways, &key, 12));
    assert_eq!(before, 12);
    server.signal("STOP");
    let meanwhile = in_turn(&gateways, &key, 60);
    assert!(meanwhile.iter().all(|(status, _)| [200, 429].contains(status)), "{meanwhile:?}");
    server.signal("CONT");
    eventually("it is back", || gateways.iter().all(|gateway| gateway.get("/ready").status == 200));
    let after = passed(&in_turn(&gateways, &key, 60));
    let all = before + passed(&meanwhile) + after;
    // What was free when each gateway last heard of it differs by what the others took since.
    assert!((24..=33).contains(&all), "{before} + {meanwhile:?} + {after}");
}

#[test]
fn a_gateway_that_is_cut_off_keeps_to_its_share() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let ways = [(); 3].map(|()| Way::to(&server));
    let gateways: Vec<Gateway> = ways.iter().map(|way| gateway(&way.conf(), &upstream)).collect();
    all_count(&ways[0].conf(), gateways.len());
    let key = create(&gateways[0], &session(json!({"rate": 90, "per": 600})));
    settle(&gateways);
    assert_eq!(in_turn(&gateways, &key, 9), [(200, 9)]);
    ways[2].cut(true);
    let alone = passed_at(&gateways[2], &key, 100);
    // It has used three, and its part of what was free is 27.
    assert!((20..=29).contains(&alone), "{alone}");
    let others = passed(&in_turn(&gateways[..2], &key, 200));
    assert!((80..=81).contains(&others), "{others}");
    ways[2].cut(false);
    eventually("it is back", || gateways[2].get("/ready").status == 200);
    eventually("limits are counted together again", || gateways[2].log().contains("limits are counted in Redis again"));
    assert_eq!(passed(&in_turn(&gateways, &key, 60)), 0);
}

#[test]
fn a_server_that_becomes_a_replica_and_a_master_again_fails_no_request() {
    let (server, other, upstream) = (Server::start(&[]), Server::start(&[]), Upstream::ok());
    let gateways = three(&on(&server), &upstream);
    let key = create(&gateways[0], &session(json!({"rate": 60, "per": 600})));
    settle(&gateways);
    assert_eq!(in_turn(&gateways, &key, 12), [(200, 12)]);
    // A new replica forgets what it had: let it keep it.
    other.cli(&["REPLICAOF", "127.0.0.1", &server.port.to_string()]);
    eventually("the other has everything", || other.cli(&["DBSIZE"]) == server.cli(&["DBSIZE"]));
    other.cli(&["REPLICAOF", "NO", "ONE"]);
    server.cli(&["REPLICAOF", "127.0.0.1", &other.port.to_string()]);
    let meanwhile = in_turn(&gateways, &key, 90);
    assert!(meanwhile.iter().all(|(status, _)| [200, 429].contains(status)), "{meanwhile:?}");
    eventually("it is noticed", || gateways.iter().all(|gateway| gateway.get("/ready").status == 503));
    server.cli(&["REPLICAOF", "NO", "ONE"]);
    eventually("it is back", || gateways.iter().all(|gateway| gateway.get("/ready").status == 200));
    let all = 12 + passed(&meanwhile) + passed(&in_turn(&gateways, &key, 90));
    assert!((48..=66).contains(&all), "{all}");
}

/// The node of a cluster that has a key.
fn owner<'a>(cluster: &'a mut Cluster, key: &str) -> &'a mut Server {
    let index =
        cluster.nodes.iter().position(|node| node.cli(&["ROLE"]).starts_with("master") && node.cli(&["EXISTS", key]) == "1");
    &mut cluster.nodes[index.expect("some node has the key")]
}

/// A key of its own with this rate, and what its counter is called.
fn limited(gateway: &Gateway, rate: usize, per_s: u64) -> (String, String) {
    let answer = gateway.control("POST", "/tyk/keys/create", &session(json!({"rate": rate, "per": per_s})).to_string()).json();
    let text = |name: &str| answer[name].as_str().unwrap().to_owned();
    (text("key"), format!("tollgate.rate.{}/0.{}", text("key_hash"), per_s * 1_000))
}

#[test]
fn a_slot_that_moves_fails_no_request_and_no_limit() {
    let (mut cluster, upstream) = (Cluster::start(), Upstream::ok());
    let gateways = three(&on_cluster(&cluster), &upstream);
    let (key, counter) = limited(&gateways[0], 80, 600);
    assert_eq!(in_turn(&gateways, &key, 10), [(200, 10)]);
    let slot = cluster.nodes[0].cli(&["CLUSTER", "KEYSLOT", &counter]);
    let from = owner(&mut cluster, &counter).port;
    let masters: Vec<&Server> = cluster.masters().collect();
    let source = masters.iter().find(|node| node.port == from).unwrap();
    let target = masters.iter().find(|node| node.port != from).unwrap();
    let ids = [source, target].map(|node| node.cli(&["CLUSTER", "MYID"]));
    let mut served = 10;
    let mut some = || {
        let counts = in_turn(&gateways, &key, 10);
        assert!(counts.iter().all(|(status, _)| [200, 429].contains(status)), "{counts:?}");
        served += passed(&counts);
    };
    target.cli(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &ids[0]]);
    some();
    source.cli(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &ids[1]]);
    some();
    let port = target.port.to_string();
    for name in source.cli(&["CLUSTER", "GETKEYSINSLOT", &slot, "100"]).lines() {
        source.cli(&["MIGRATE", "127.0.0.1", &port, name, "0", "5000"]);
        some();
    }
    for node in &masters {
        node.cli(&["CLUSTER", "SETSLOT", &slot, "NODE", &ids[1]]);
    }
    for _ in 0..10 {
        some();
    }
    assert_eq!(target.cli(&["EXISTS", &counter]), "1");
    assert!((70..=80).contains(&served), "{served}");
}

/// A request that passed: when it was sent and when it was answered.
struct Passed {
    sent: Instant,
    answered: Instant,
}

/// Sends requests to all gateways until told to stop, and counts those that pass. Panics if any fails.
fn keep_asking(gateways: &[Gateway], key: &str, stop: &AtomicBool, count: &AtomicUsize) -> Vec<Passed> {
    let ask = |gateway: &Gateway| {
        let mut client = gateway.connect();
        let mut passed = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let sent = Instant::now();
            match client.ask(with_key("/a/", key)).status {
                200 => {
                    passed.push(Passed { sent, answered: Instant::now() });
                    count.fetch_add(1, Ordering::Relaxed);
                }
                429 => {}
                status => panic!("{status}"),
            }
            thread::sleep(Duration::from_millis(8));
        }
        passed
    };
    thread::scope(|scope| {
        let clients: Vec<_> = gateways.iter().map(|gateway| scope.spawn(move || ask(gateway))).collect();
        clients.into_iter().flat_map(|client| client.join().expect("a client")).collect()
    })
}

/// Most that certainly passed in any window: that were sent and answered in it.
fn most_in(passed: &[Passed], window: Duration) -> usize {
    let within = |begin: Instant| passed.iter().filter(|one| one.sent >= begin && one.answered < begin + window).count();
    passed.iter().map(|one| within(one.sent)).max().unwrap_or(0)
}

/// Keeps three gateways busy while the server that has a counter is killed.
fn check_failover(gateways: &[Gateway], kill: impl FnOnce(&str)) {
    const WINDOW: Duration = Duration::from_secs(3);
    // One that is asked for with each request, and one that is leased.
    let limits = [60, 450].map(|rate| (rate, limited(&gateways[0], rate, WINDOW.as_secs()), AtomicUsize::new(0)));
    settle(gateways);
    let stop = AtomicBool::new(false);
    let loads = thread::scope(|scope| {
        let stop = &stop;
        let loads = limits.each_ref().map(|(_, (key, _), count)| scope.spawn(move || keep_asking(gateways, key, stop, count)));
        let counts = || limits.each_ref().map(|(_, _, count)| count.load(Ordering::Relaxed));
        // Whatever fails, the load ends.
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            thread::sleep(WINDOW * 3 / 2);
            kill(&limits[0].1.1);
            // What passes meanwhile does so without Redis.
            thread::sleep(WINDOW);
            let before = counts();
            eventually("more than the rates pass after the failover", || {
                let more = |index: usize| counts()[index] - before[index] > limits[index].0;
                more(0) && more(1)
            });
            thread::sleep(WINDOW);
        }));
        stop.store(true, Ordering::Relaxed);
        let loads = loads.map(|load| load.join().expect("a load"));
        checked.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        loads
    });
    for gateway in gateways {
        let log = gateway.log();
        log.lines().filter(|line| line.contains("limits")).for_each(|line| println!("{line}"));
    }
    for ((rate, ..), passed) in limits.iter().zip(&loads) {
        let most = most_in(passed, WINDOW);
        println!("of {rate} in {WINDOW:?}: {most} at most in any window");
        // The promise, and what others took since a gateway last heard what is free.
        assert!(most as f64 <= *rate as f64 * 1.2, "{most} of {rate}");
    }
    let lost = gateways.iter().map(|gateway| gateway.log().matches(SILENT).count()).max();
    println!("a gateway said {} times that Redis can't be queried about limits", lost.unwrap_or_default());
    eventually("limits are counted together again", || {
        gateways.iter().all(|gateway| {
            let log = gateway.log();
            let count = |what: &str| log.matches(what).count();
            count("limits are counted in Redis again") >= count(SILENT)
        })
    });
}

#[test]
fn a_primary_that_is_killed_under_load_costs_no_request_and_no_limit() {
    let (mut cluster, upstream) = (Cluster::start(), Upstream::ok());
    let gateways = three(&on_cluster(&cluster), &upstream);
    check_failover(&gateways, |counter| owner(&mut cluster, counter).kill());
}

#[test]
fn a_primary_that_sentinels_replace_under_load_costs_no_request_and_no_limit() {
    let (mut watched, upstream) = (Sentinel::start(3), Upstream::ok());
    let addresses: Vec<String> = watched.sentinels.iter().map(|sentinel| format!("127.0.0.1:{}", sentinel.port)).collect();
    let storage = json!({"type": "redis", "master_name": "mymaster", "addrs": addresses});
    let gateways = three(&patient(json!({"hash_keys": true, "storage": storage})), &upstream);
    check_failover(&gateways, |_| {
        // The sentinel that is asked first goes with it.
        watched.sentinels[0].kill();
        watched.servers[0].kill();
    });
    assert!(watched.servers[1].cli(&["ROLE"]).starts_with("master"), "the replica has taken over");
    let key = create(&gateways[0], &session(json!({"rate": 9, "per": 600})));
    assert_eq!(in_turn(&gateways, &key, 30), [(200, 9), (429, 21)], "one count for all of them");
}
