//! APIs at ports of their own: opened, shared, and closed by reloads, without a lost connection; and ports that can't be opened.

use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::harness::certificates::{Authority, client, connect};
use crate::harness::http2;
use crate::harness::{Connection, Definition, Gateway, Setup, Upstream, api, eventually, get, reply};
use crate::servers::free_port;

fn any_port(over: Value) -> Value {
    let mut conf = json!({"disable_ports_whitelist": true});
    crate::harness::definition::merge(&mut conf, &over);
    conf
}

fn at(port: u16, definition: Definition) -> Definition {
    definition.set("listen_port", port)
}

fn ask(port: u16, target: &str) -> u16 {
    Connection::open(port).ask(get(target)).status
}

#[test]
fn an_api_answers_at_its_own_port_and_nowhere_else() {
    let (upstream, own) = (Upstream::ok(), free_port());
    let apis = [api("main", "/main/", &upstream.url()), at(own, api("own", "/own/", &upstream.url()))];
    let gateway = Gateway::start(any_port(json!({})), apis);
    for (port, target, status) in [
        (gateway.port, "/main/", 200),
        (gateway.port, "/own/", 404),
        (own, "/own/", 200),
        (own, "/own/x?y=z", 200),
        // Its id is a prefix there too.
        (gateway.port, "/own/get", 404),
        (own, "/main/", 404),
        // The control API stays at the gateway's own port.
        (own, "/hello", 404),
        (own, "/tyk/apis", 404),
        (gateway.port, "/hello", 200),
    ] {
        assert_eq!(ask(port, target), status, "{port} {target}");
    }
    assert_eq!(upstream.last().target, "/x?y=z");
}

#[test]
fn apis_share_a_port_and_the_same_listen_path_may_stand_at_each() {
    let named = |name: &'static str| Upstream::start(move |_| reply("200 OK", &[], name));
    let (a, b, c) = (named("a"), named("b"), named("c"));
    let port = free_port();
    let apis = [
        api("a", "/x/", &a.url()),
        at(port, api("b", "/x/", &b.url())),
        at(port, api("c", "/x/deep/", &c.url()).set("protocol", "http")),
    ];
    let gateway = Gateway::start(any_port(json!({})), apis);
    let text = |port, target| Connection::open(port).ask(get(target)).text();
    assert_eq!(text(gateway.port, "/x/deep/"), "a");
    assert_eq!((text(port, "/x/"), text(port, "/x/deep/")), ("b".to_owned(), "c".to_owned()));
    // Each path is free at its port.
    assert_eq!(gateway.log().matches("is taken").count(), 0);
}

#[test]
fn h2c_is_spoken_at_a_port_of_its_own() {
    let (upstream, port) = (Upstream::ok(), free_port());
    let _gateway = Gateway::start(any_port(json!({})), [at(port, api("a", "/a/", &upstream.url()).set("protocol", "h2c"))]);
    let status = http2::converse(async {
        let client = http2::connect(port).await;
        http2::ask(&client, http2::get("/a/")).await.expect("an answer").status
    });
    assert_eq!(status, 200);
}

#[test]
fn a_port_can_speak_tls_beside_a_gateway_that_does_not() {
    let (upstream, port) = (Upstream::ok(), free_port());
    let authority = Authority::new("tests");
    let dir = tempfile::tempdir().unwrap();
    let file = authority.issue(&["own.example"]).write(dir.path(), "own.pem");
    let definition = api("a", "/a/", &upstream.url()).set("protocol", "https").set("certificates", json!([file]));
    let gateway = Gateway::start(any_port(json!({})), [at(port, definition), api("b", "/b/", &upstream.url())]);
    let config = Arc::new(client(&authority, None));
    assert_eq!(connect(&config, port, "own.example").ask(get("/a/")).status, 200);
    assert_eq!(gateway.get("/b/").status, 200);
    let mut plain = Connection::open(port);
    plain.send(get("/a/"));
    let answer = plain.rest().unwrap();
    assert!(answer.starts_with(b"HTTP/1.0 400"), "{}", String::from_utf8_lossy(&answer));
}

#[test]
fn reloads_open_and_close_ports_and_no_connection_is_lost() {
    let upstream = Upstream::ok();
    let (stays, comes) = (free_port(), free_port());
    let gateway = Gateway::start(any_port(json!({})), [at(stays, api("stays", "/a/", &upstream.url()))]);
    let (stop, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let load: Vec<_> = [true, false]
        .into_iter()
        .map(|keeps| {
            let (stop, answered) = (stop.clone(), answered.clone());
            thread::spawn(move || {
                let mut kept = Connection::open(stays);
                while !stop.load(Ordering::Relaxed) {
                    if !keeps {
                        kept = Connection::open(stays);
                    }
                    assert_eq!(kept.ask(get("/a/")).status, 200);
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for round in 0..5 {
        gateway.write_api(&at(comes, api("comes", "/b/", &upstream.url())));
        assert_eq!(gateway.reload().status, 200);
        // It is open when the reload has ended.
        let mut kept = Connection::open(comes);
        assert_eq!(kept.ask(get("/b/")).status, 200, "round {round}");
        gateway.remove_file("comes.json");
        assert_eq!(gateway.reload().status, 200);
        let last = kept.ask(get("/b/"));
        assert_eq!((last.status, last.announces_close()), (404, true), "round {round}: {last}");
        eventually("the port is closed", || TcpStream::connect(("127.0.0.1", comes)).is_err());
    }
    let before = answered.load(Ordering::Relaxed);
    eventually("clients are served", || answered.load(Ordering::Relaxed) > before + 20);
    stop.store(true, Ordering::Relaxed);
    load.into_iter().for_each(|client| client.join().expect("every request of it was answered"));
}

#[test]
fn a_port_in_use_is_a_problem_of_its_api_alone() {
    let upstream = Upstream::ok();
    // Another program listens there, and one that shares its port as gateways do.
    let (port, other) = (free_port(), free_port());
    let taken = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let gateway = Gateway::start(
        any_port(json!({})),
        [
            at(port, api("taken", "/a/", &upstream.url())),
            at(other, api("other", "/a/", &upstream.url())),
            api("main", "/a/", &upstream.url()),
        ],
    );
    assert_eq!((ask(gateway.port, "/a/"), ask(other, "/a/")), (200, 200));
    let log = gateway.log();
    let names =
        |line: &str| ["ERROR", "taken.json", "$.listen_port", &port.to_string(), "in use"].iter().all(|part| line.contains(part));
    assert!(log.lines().any(names), "{log}");
    let second = Gateway::start(any_port(json!({})), [at(other, api("second", "/a/", &upstream.url()))]);
    assert!(second.log().contains("in use"), "the port of another gateway is not shared");
    // When it is free, the next reload opens it.
    drop(taken);
    assert_eq!(gateway.reload().status, 200);
    assert_eq!(ask(port, "/a/"), 200);
}

#[test]
fn only_allowed_ports_are_opened() {
    let upstream = Upstream::ok();
    let (allowed, ranged, other) = (free_port(), free_port(), free_port());
    let conf = json!({"ports_whitelist": {"http": {"ports": [allowed], "ranges": [{"from": ranged, "to": ranged}]}, "tcp": {"ports": [other]}}});
    let apis = [
        at(allowed, api("allowed", "/a/", &upstream.url())),
        at(ranged, api("ranged", "/a/", &upstream.url())),
        at(other, api("other", "/a/", &upstream.url())),
        api("tls", "/b/", &upstream.url()).set("protocol", "https"),
    ];
    let gateway = apis.into_iter().fold(Setup::new(conf), Setup::api).start();
    assert_eq!((ask(allowed, "/a/"), ask(ranged, "/a/")), (200, 200));
    assert!(TcpStream::connect(("127.0.0.1", other)).is_err());
    assert_eq!(gateway.get("/b/").status, 404);
    let log = gateway.log();
    assert!(log.contains(&format!("{other} is not in ports_whitelist.http")), "{log}");
    assert!(log.contains("the gateway's own port speaks http: https needs a listen_port of its own"), "{log}");
    // `tollgate check` knows the rules too.
    let output = Command::new(env!("CARGO_BIN_EXE_tollgate"))
        .arg("check")
        .arg(gateway.conf())
        .arg(gateway.apps().join("other.json"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success() && text.contains("is not in ports_whitelist.http"), "{text}");
}

#[test]
fn apis_that_speak_differently_do_not_share_a_port() {
    let (upstream, port) = (Upstream::ok(), free_port());
    let apis = [
        at(port, api("a", "/a/", &upstream.url())),
        at(port, api("b", "tcp", &upstream.url().replace("http", "tcp")).set("protocol", "tcp")),
    ];
    let gateway = Gateway::start(any_port(json!({})), apis);
    assert_eq!(ask(port, "/a/"), 200);
    let log = gateway.log();
    assert!(log.contains(&format!("port {port} speaks http for another API: b is not served there")), "{log}");
}

#[test]
fn a_restart_hands_the_ports_over() {
    let (upstream, port) = (Upstream::ok(), free_port());
    let mut gateway = Gateway::start(any_port(json!({})), [at(port, api("a", "/a/", &upstream.url()))]);
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = stop.clone();
    let load = thread::spawn(move || {
        while !stopped.load(Ordering::Relaxed) {
            assert_eq!(ask(port, "/a/"), 200);
        }
    });
    gateway.restart();
    assert_eq!(ask(port, "/a/"), 200);
    stop.store(true, Ordering::Relaxed);
    load.join().expect("no connection was refused");
    gateway.signal("TERM");
    eventually("the port is closed", || TcpStream::connect(("127.0.0.1", port)).is_err());
}
