//! Limits of several gateways while Redis is slow, gone, read-only, moves or fails over: no request fails or waits for long, and no more
//! passes than is promised.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Gateway, Upstream, eventually};
use crate::keys::{call, create, session, with_key};
use crate::servers::{Cluster, Sentinel, Server};
use crate::shared_keys::{gateway, on};
use crate::shared_limits::{in_turn, on_cluster, passed, three};

/// A way to a server that can become slow, or lose everything without a word.
struct Way {
    port: u16,
    terms: Arc<Terms>,
}

#[derive(Default)]
struct Terms {
    delay_ms: AtomicU64,
    is_cut: AtomicBool,
}

impl Way {
    fn to(server: &Server) -> Way {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, target, terms) = (listener.local_addr().unwrap().port(), server.port, Arc::<Terms>::default());
        let shared = terms.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(("127.0.0.1", target)) else { continue };
                let _ = (client.set_nodelay(true), server.set_nodelay(true));
                let pair = |stream: &TcpStream| stream.try_clone().unwrap();
                for (from, to) in [(pair(&client), pair(&server)), (server, client)] {
                    let terms = shared.clone();
                    thread::spawn(move || pass_on(from, to, &terms));
                }
            }
        });
        Way { port, terms }
    }

    fn delay(&self, time: Duration) {
        self.terms.delay_ms.store(time.as_millis() as u64, Ordering::Relaxed);
    }

    fn cut(&self, is_cut: bool) {
        self.terms.is_cut.store(is_cut, Ordering::Relaxed);
    }

    fn conf(&self) -> Value {
        json!({"hash_keys": true, "storage": {"host": "127.0.0.1", "port": self.port}})
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, terms: &Terms) {
    let mut bytes = [0; 16_384];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        thread::sleep(Duration::from_millis(terms.delay_ms.load(Ordering::Relaxed)));
        // Nothing is lost for good, as TCP sends it again.
        while terms.is_cut.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(5));
        }
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

/// Until everybody has heard of a new key: one that has changed and can't be read is refused.
fn settle() {
    thread::sleep(Duration::from_millis(500));
}

/// The longest that any of some requests took, and how many passed; none of them may fail.
fn longest(gateway: &Gateway, key: &str, requests: usize) -> (Duration, usize) {
    let mut client = gateway.connect();
    let mut most = Duration::ZERO;
    let mut passed = 0;
    for _ in 0..requests {
        let start = Instant::now();
        let status = client.ask(with_key("/a/", key)).status;
        most = most.max(start.elapsed());
        assert!([200, 429].contains(&status), "{status}");
        passed += usize::from(status == 200);
    }
    (most, passed)
}

#[test]
fn a_slow_store_makes_nobody_wait_for_longer_than_the_bound() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let way = Way::to(&server);
    let gateway = gateway(&way.conf(), &upstream);
    let key = create(&gateway, &session(json!({"rate": 50, "per": 600, "quota_max": 1_000, "quota_renewal_rate": 600})));
    assert_eq!(longest(&gateway, &key, 10).1, 10);
    settle();
    way.delay(Duration::from_secs(4));
    let (most, passed_slowly) = longest(&gateway, &key, 60);
    println!("a request waited {most:?} at most while Redis took eight seconds for an answer");
    // The bound is 50 ms for the session and 50 for all limits together; the rest is for a machine that does ten other things at once.
    assert!(most < Duration::from_secs(2), "{most:?}");
    way.delay(Duration::ZERO);
    eventually("it is fast again", || gateway.get("/ready").status == 200);
    eventually("limits are counted together again", || gateway.log().contains("limits are counted in Redis again"));
    let all = 10 + passed_slowly + longest(&gateway, &key, 60).1;
    assert!((40..=50).contains(&all), "{all}");
}

#[test]
fn without_the_store_limits_hold_locally_not_at_all_or_close() {
    for (on_failure, expected) in [("local", [200, 429]), ("allow", [200, 200]), ("deny", [503, 503])] {
        let (mut server, upstream) = (Server::start(&[]), Upstream::ok());
        let mut conf = on(&server);
        conf["tollgate"] = json!({"shared_store": {"on_failure": on_failure}});
        let gateway = gateway(&conf, &upstream);
        let key = create(&gateway, &session(json!({"rate": 20, "per": 600})));
        assert_eq!(call(&gateway, "/a/", &key).status, 200);
        server.kill();
        eventually("the end is noticed", || gateway.get("/ready").status == 503);
        let mut client = gateway.connect();
        let statuses: Vec<u16> = (0..40).map(|_| client.ask(with_key("/a/", &key)).status).collect();
        assert_eq!([statuses[0], statuses[39]], expected, "{on_failure}: {statuses:?}");
        server.restart();
        eventually("it is back", || gateway.get("/ready").status == 200);
        let told = gateway.log().matches("Redis can't be asked about limits").count();
        assert!(told <= 2, "one line for each change, not {told}");
    }
}

#[test]
fn a_store_that_hangs_holds_nobody_up_and_no_limit_is_forgotten() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways = three(&on(&server), &upstream);
    let key = create(&gateways[0], &session(json!({"rate": 30, "per": 600})));
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
    thread::sleep(Duration::from_millis(1_500));
    let key = create(&gateways[0], &session(json!({"rate": 90, "per": 600})));
    assert_eq!(in_turn(&gateways, &key, 9), [(200, 9)]);
    settle();
    ways[2].cut(true);
    let alone = longest(&gateways[2], &key, 100).1;
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
fn limited(gateway: &Gateway, rate: u64, per_s: u64) -> (String, String) {
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

/// Sends requests to all gateways until told to stop; returns when each passed, and the longest that one took. Panics if any fails.
fn keep_asking(gateways: &[Gateway], key: &str, stop: &AtomicBool, start: Instant) -> (Vec<Duration>, Duration) {
    let ask = |gateway: &Gateway| {
        let mut client = gateway.connect();
        let (mut passed, mut longest) = (Vec::new(), Duration::ZERO);
        while !stop.load(Ordering::Relaxed) {
            let sent = Instant::now();
            match client.ask(with_key("/a/", key)).status {
                200 => passed.push(start.elapsed()),
                429 => {}
                status => panic!("{status} after {:?}", start.elapsed()),
            }
            longest = longest.max(sent.elapsed());
            thread::sleep(Duration::from_millis(8));
        }
        (passed, longest)
    };
    thread::scope(|scope| {
        let clients: Vec<_> = gateways.iter().map(|gateway| scope.spawn(move || ask(gateway))).collect();
        let of_clients: Vec<_> = clients.into_iter().map(|client| client.join().expect("a client")).collect();
        let longest = of_clients.iter().map(|(_, longest)| *longest).max().unwrap_or_default();
        let mut passed: Vec<Duration> = of_clients.into_iter().flat_map(|(passed, _)| passed).collect();
        passed.sort();
        (passed, longest)
    })
}

/// Most that passed in any window.
fn most_in(passed: &[Duration], window: Duration) -> usize {
    (0..passed.len()).map(|first| passed[first..].partition_point(|at| *at < passed[first] + window)).max().unwrap_or(0)
}

/// Keeps three gateways busy while the server that has a counter is killed.
fn check_failover(gateways: &[Gateway], kill: impl FnOnce(&str)) {
    const WINDOW: Duration = Duration::from_secs(3);
    settle();
    // One that is asked for with each request, and one that is leased.
    let limits = [60, 450].map(|rate| (rate, limited(&gateways[0], rate, WINDOW.as_secs())));
    let (stop, start) = (AtomicBool::new(false), Instant::now());
    let (killed, loads) = thread::scope(|scope| {
        let stop = &stop;
        let loads = limits.each_ref().map(|(_, (key, _))| scope.spawn(move || keep_asking(gateways, key, stop, start)));
        thread::sleep(WINDOW * 3 / 2);
        kill(&limits[0].1.1);
        let killed = start.elapsed();
        thread::sleep(WINDOW * 4);
        stop.store(true, Ordering::Relaxed);
        (killed, loads.map(|load| load.join().expect("a load")))
    });
    for gateway in gateways {
        let log = gateway.log();
        log.lines().filter(|line| line.contains("limits")).for_each(|line| println!("{line}"));
    }
    for ((rate, _), (passed, longest)) in limits.iter().zip(&loads) {
        let most = most_in(passed, WINDOW);
        let after = passed.iter().filter(|at| **at > killed + WINDOW).count();
        println!(
            "of {rate} in {WINDOW:?}: {most} at most in any window, {after} in the last {:?}; longest {longest:?}",
            WINDOW * 3
        );
        // The promise, what others took since a gateway last heard what is free, and what the clients' clocks add on a busy machine.
        assert!(most as f64 <= *rate as f64 * 1.2, "{most} of {rate}");
        assert!(after as u64 > *rate, "{after} of {rate} in a window pass after the failover");
        // The bound is 50 ms for the session and 50 for all limits together; the rest is for a machine that does ten other things.
        assert!(*longest < Duration::from_secs(2), "{longest:?}");
    }
    let lost = gateways.iter().map(|gateway| gateway.log().matches("Redis can't be asked about limits").count()).max();
    println!("a gateway said {} times that Redis can't be asked about limits", lost.unwrap_or_default());
    eventually("limits are counted together again", || {
        gateways.iter().all(|gateway| {
            let log = gateway.log();
            let count = |what: &str| log.matches(what).count();
            count("limits are counted in Redis again") >= count("Redis can't be asked about limits")
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
    let gateways = three(&json!({"hash_keys": true, "storage": storage}), &upstream);
    check_failover(&gateways, |_| {
        // The sentinel that is asked first goes with it.
        watched.sentinels[0].kill();
        watched.servers[0].kill();
    });
    assert!(watched.servers[1].cli(&["ROLE"]).starts_with("master"), "the replica has taken over");
    let key = create(&gateways[0], &session(json!({"rate": 9, "per": 600})));
    assert_eq!(in_turn(&gateways, &key, 30), [(200, 9), (429, 21)], "one count for all of them");
}
