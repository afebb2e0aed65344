//! Targets whose address swallows what connects to it, as that of a pod does that is gone. Tests wait for events: no time to connect is short enough to
//! help.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};
use socket2::{Domain, Socket, Type};
use tempfile::TempDir;

use crate::harness::{Connection, Definition, Gateway, PATIENCE, Setup, Upstream, api, eventually, request};
use crate::servers::free_port;
use crate::upgrade;

/// Longer than any test waits.
const CONNECT_MS: u64 = 3_600_000;
const WAITING: usize = 8;

/// An address at which nothing is answered: a listener whose queue is full, so that its kernel drops what asks for a connection.
struct Abyss {
    listener: Socket,
    _queued: Vec<Socket>,
}

impl Abyss {
    fn open() -> Abyss {
        let listener = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        listener.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
        listener.listen(0).unwrap();
        let address = listener.local_addr().unwrap();
        let (mut queued, mut is_full) = (Vec::new(), false);
        while !is_full {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
            socket.set_nonblocking(true).unwrap();
            let _ = socket.connect(&address);
            // Whoever gets in does so at once, also in the eyes of the one that listens.
            thread::sleep(Duration::from_millis(100));
            is_full = socket.peer_addr().is_err();
            queued.push(socket);
        }
        Abyss { listener, _queued: queued }
    }

    fn port(&self) -> u16 {
        self.listener.local_addr().unwrap().as_socket().unwrap().port()
    }
}

fn tables(protocol: &str, listeners: Value, ports: &[u16]) -> Value {
    let endpoints: Vec<Value> = ports.iter().map(|port| json!({"address": "127.0.0.1", "port": port})).collect();
    json!({"listeners": listeners, "backends": {"b": {"protocol": protocol, "endpoints": endpoints}}})
}

struct Routed {
    gateway: Gateway,
    dir: TempDir,
}

impl Routed {
    fn start(tables: &Value, definition: Definition) -> Routed {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("routing.json");
        std::fs::write(&file, tables.to_string()).unwrap();
        let conf = json!({
            "tollgate": {"routing_file": file, "timeouts": {"upstream_connect_ms": CONNECT_MS}},
            "proxy_default_timeout": 3600,
            "http_server_options": {"enable_websockets": true}
        });
        Routed { gateway: Setup::new(conf).api(definition).start(), dir }
    }

    fn change(&self, tables: &Value) {
        std::fs::write(self.dir.path().join("routing.json"), tables.to_string()).unwrap();
        assert_eq!(self.gateway.reload().status, 200);
    }

    /// Requests or connections at the target with this port.
    fn waiting(&self, port: u16) -> usize {
        let text = self.gateway.control("GET", "/tyk/metrics", "").text();
        let samples =
            text.lines().filter(|line| line.starts_with("tollgate_target_in_flight{") && line.contains(&format!(":{port}\"")));
        samples.map(|line| line.rsplit_once(' ').unwrap().1.parse::<usize>().unwrap()).sum()
    }
}

fn route() -> Definition {
    api("r", "/", "").set("tollgate/route/rules", json!([{"backends": [{"backend": "b"}]}]))
}

/// Requests that no method protects from being sent twice, each on a connection of its own. Some bodies are larger than what is kept.
fn ask(gateway: &Gateway) -> Vec<JoinHandle<(u16, String)>> {
    let requests = (0..WAITING).map(|number| {
        let mut client = gateway.connect();
        let body = "x".repeat(if number % 2 == 0 { 10 } else { 300_000 });
        thread::spawn(move || {
            let response = client.ask(request("POST", "/", &[], &body));
            (response.status, response.text())
        })
    });
    requests.collect()
}

fn answers(requests: Vec<JoinHandle<(u16, String)>>) -> Vec<(u16, String)> {
    requests.into_iter().map(|request| request.join().unwrap()).collect()
}

fn sized() -> Upstream {
    Upstream::start(|seen| crate::harness::reply("200 OK", &[], &seen.text().len().to_string()))
}

fn expected() -> Vec<(u16, String)> {
    (0..WAITING).map(|number| (200, if number % 2 == 0 { "10" } else { "300000" }.to_owned())).collect()
}

#[test]
fn requests_that_wait_for_a_target_that_leaves_the_table_go_to_the_one_that_is_there() {
    let (abyss, alive) = (Abyss::open(), sized());
    let routed = Routed::start(&tables("http", json!({}), &[abyss.port()]), route());
    let requests = ask(&routed.gateway);
    eventually("all wait", || routed.waiting(abyss.port()) == WAITING);
    routed.change(&tables("http", json!({}), &[alive.port()]));
    assert_eq!(answers(requests), expected());
    assert_eq!(alive.requests(), WAITING);
}

#[test]
fn requests_that_wait_for_a_target_are_refused_when_the_table_has_none() {
    let abyss = Abyss::open();
    let routed = Routed::start(&tables("http", json!({}), &[abyss.port()]), route());
    let requests = ask(&routed.gateway);
    eventually("all wait", || routed.waiting(abyss.port()) == WAITING);
    routed.change(&tables("http", json!({}), &[]));
    let statuses: Vec<u16> = answers(requests).into_iter().map(|(status, _)| status).collect();
    assert_eq!(statuses, [503; WAITING]);
}

#[test]
fn a_target_that_does_not_answer_costs_no_request_while_another_one_does() {
    let (abyss, alive) = (Abyss::open(), sized());
    let routed = Routed::start(&tables("http", json!({}), &[abyss.port(), alive.port()]), route());
    assert_eq!(answers(ask(&routed.gateway)), expected());
    assert_eq!(alive.requests(), WAITING);
    // It is passed over by now, so that nobody waits for it.
    let mut client = routed.gateway.connect();
    for _ in 0..WAITING {
        assert_eq!(client.ask(request("POST", "/", &[], "")).status, 200);
    }
    assert!(routed.gateway.log().contains("target ejected"));
}

#[test]
fn targets_of_rules_for_upstreams_are_given_up_as_those_of_tables_are() {
    let (abyss, alive) = (Abyss::open(), sized());
    let urls = [format!("http://127.0.0.1:{}", abyss.port()), alive.url()];
    let targets: Vec<Value> = urls.iter().map(|url| json!({"url": url})).collect();
    let upstream = json!({"targets": targets, "retries": {"budget_percent": 100, "budget_per_s_min": 1000}});
    let routed = Routed::start(&json!({}), api("a", "/", "http://unused.test").set("tollgate/upstream", upstream));
    assert_eq!(answers(ask(&routed.gateway)), expected());
    assert_eq!(alive.requests(), WAITING);
}

#[test]
fn websockets_that_wait_for_a_target_that_leaves_the_table_go_to_the_one_that_is_there() {
    let (abyss, alive) = (Abyss::open(), upgrade::echo());
    let routed = Routed::start(&tables("http", json!({}), &[abyss.port()]), route());
    let mut client = routed.gateway.connect();
    client.send(request("GET", "/", &upgrade::ASK, ""));
    eventually("it waits", || routed.waiting(abyss.port()) == 1);
    routed.change(&tables("http", json!({}), &[alive.port()]));
    let head = client.head().unwrap();
    assert_eq!(head.first.split(' ').nth(1), Some("101"), "{head:?}");
    client.send(b"hi");
    assert_eq!(client.exactly(2).unwrap(), b"hi");
}

#[test]
fn connections_that_wait_for_a_target_that_leaves_the_table_go_to_the_one_that_is_there() {
    let abyss = Abyss::open();
    let alive = Upstream::raw(|wire: Connection, _| {
        let _ = wire.socket().try_clone().unwrap().write_all(b"hello");
    });
    let port = free_port();
    let listeners = json!({"l": {"addresses": ["127.0.0.1"], "port": port, "protocol": "tcp"}});
    let rules = json!({"kind": "stream", "attached": [{"listener": "l"}], "rules": [{"backends": [{"backend": "b"}]}]});
    let definition = api("r", "/", "").set("tollgate/route", rules);
    let routed = Routed::start(&tables("tcp", listeners.clone(), &[abyss.port()]), definition);
    let clients: Vec<TcpStream> = (0..WAITING).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
    eventually("all wait", || routed.waiting(abyss.port()) == WAITING);
    routed.change(&tables("tcp", listeners, &[alive.port()]));
    for mut client in clients {
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut told = String::new();
        client.read_to_string(&mut told).unwrap();
        assert_eq!(told, "hello");
    }
}
