//! Who a client is when proxies stand before the gateway, and what one address may do: connections at once, requests in a time.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use serde_json::{Value, json};
use socket2::{Domain, Socket, Type};

use crate::harness::certificates::{Authority, client};
use crate::harness::http2::{ask, converse};
use crate::harness::wire::Broken;
use crate::harness::{Connection, Gateway, PATIENCE, Setup, Upstream, api, eventually, get, request};

/// A connection from another address of this machine.
fn from(address: &str, port: u16) -> Connection {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&format!("{address}:0").parse::<SocketAddr>().unwrap().into()).unwrap();
    socket.connect(&format!("127.0.0.1:{port}").parse::<SocketAddr>().unwrap().into()).unwrap();
    Connection::over(TcpStream::from(socket))
}

/// Whether the gateway serves on this connection, or has closed it at once.
fn is_served(connection: &mut Connection, target: &str) -> bool {
    if connection.try_send(get(target)).is_err() {
        return false;
    }
    match connection.try_response("GET") {
        Ok(response) => response.status == 200,
        Err(Broken::Closed | Broken::Cut(_)) => false,
        Err(broken) => panic!("{broken}"),
    }
}

fn metric(gateway: &Gateway, name: &str) -> f64 {
    // From an address with rights of its own, so that asking does not change the answer.
    let mut connection = from("127.0.0.9", gateway.port);
    let secret = format!("x-tyk-authorization: {}", crate::harness::gateway::SECRET);
    let text = connection.ask(request("GET", "/tyk/metrics", &[&secret, "Connection: close"], "")).text();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name} in {text}"));
    line.rsplit_once(' ').unwrap().1.parse().unwrap()
}

#[test]
fn one_address_has_only_so_many_connections() {
    let upstream = Upstream::ok();
    let gateway =
        Gateway::start(json!({"tollgate": {"limits": {"connections_per_ip_max": 12}}}), [api("a", "/a/", &upstream.url())]);
    let mut open: Vec<Connection> = (0..12).map(|_| gateway.connect()).collect();
    assert!(open.iter_mut().all(|connection| is_served(connection, "/a/")));
    for _ in 0..5 {
        assert!(!is_served(&mut gateway.connect(), "/a/"));
    }
    assert!(is_served(&mut from("127.0.0.2", gateway.port), "/a/"), "another address has its own");
    assert!(open.iter_mut().all(|connection| is_served(connection, "/a/")), "those that are there are not disturbed");
    eventually("all refusals are counted", || metric(&gateway, "tollgate_refused_connections_total{cause=\"address\"}") == 5.0);
    open.truncate(9);
    eventually("closed ones make room", || is_served(&mut gateway.connect(), "/a/"));
    drop(open);
    for _ in 0..100 {
        let mut connection = gateway.connect();
        connection.send(request("GET", "/a/", &["Connection: close"], ""));
        assert_eq!(connection.response("GET").status, 200);
        connection.expect_close();
    }
}

#[test]
fn connections_of_every_protocol_count_and_those_of_proxies_do_not() {
    let upstream = Upstream::ok();
    let authority = Authority::new("tests");
    let dir = tempfile::tempdir().unwrap();
    let file = authority.issue(&["api.test"]).write(dir.path(), "own.pem");
    let tls = json!({
        "http_server_options": {"use_ssl": true, "enable_http2": true, "certificates": [{"cert_file": file}]},
        "tollgate": {"limits": {"connections_per_ip_max": 2}}
    });
    let gateway = Setup::new(tls).api(api("a", "/a/", &upstream.url())).start();
    let config = Arc::new(client(&authority, None));
    let mut one = crate::harness::certificates::connect(&config, gateway.port, "api.test");
    assert!(is_served(&mut one, "/a/"));
    // A connection that has not even begun its handshake takes a place too.
    let mut silent = gateway.connect();
    eventually("the third is refused", || {
        // Cores accept for themselves: the one that came later may have got the place.
        if silent.is_closed() {
            silent = gateway.connect();
        }
        crate::harness::certificates::shake_hands(&config, gateway.port, "api.test").is_err()
    });
    drop(silent);

    let gateway =
        Gateway::start(json!({"tollgate": {"limits": {"connections_per_ip_max": 1}}}), [api("a", "/a/", &upstream.url())]);
    converse(async {
        let client = crate::harness::http2::connect(gateway.port).await;
        for _ in 0..5 {
            assert_eq!(ask(&client, crate::harness::http2::get("/a/")).await.unwrap().status, 200);
        }
        assert!(!is_served(&mut gateway.connect(), "/a/"));
    });

    let proxies = json!({"tollgate": {"trusted_proxies": ["127.0.0.1"], "limits": {"connections_per_ip_max": 1}}});
    let gateway = Gateway::start(proxies, [api("a", "/a/", &upstream.url())]);
    let mut open: Vec<Connection> = (0..20).map(|_| gateway.connect()).collect();
    assert!(open.iter_mut().all(|connection| is_served(connection, "/a/")));
}

#[test]
fn announced_clients_are_counted_and_their_balancer_is_not() {
    let upstream = Upstream::ok();
    let conf = json!({"tollgate": {"proxy_protocol": ["127.0.0.1"], "limits": {"connections_per_ip_max": 2}}});
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    let announce = |client: &str| {
        let mut connection = gateway.connect();
        connection.send(format!("PROXY TCP4 {client} 192.0.2.1 12345 443\r\n"));
        connection
    };
    let mut open = Vec::new();
    for (client, served) in
        [("203.0.113.7", true), ("203.0.113.7", true), ("203.0.113.7", false), ("203.0.113.8", true), ("203.0.113.9", true)]
    {
        let mut connection = announce(client);
        assert_eq!(is_served(&mut connection, "/a/"), served, "{client}");
        open.push(connection);
    }
    drop(open);
    eventually("all have gone", || is_served(&mut announce("203.0.113.7"), "/a/"));
}

#[test]
fn one_address_sends_only_so_many_requests() {
    let upstream = Upstream::ok();
    let conf = json!({"tollgate": {"limits": {"requests_per_ip": {"rate": 5, "per": 3600}}}});
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    let mut statuses = Vec::new();
    let mut kept = gateway.connect();
    for number in 0..4 {
        statuses.push(if number % 2 == 0 { kept.ask(get("/a/")).status } else { gateway.get("/a/").status });
    }
    statuses.push(gateway.get("/nowhere").status);
    assert_eq!(statuses, [200, 200, 200, 200, 404], "what leads nowhere counts too");
    let refused = kept.ask(get("/a/"));
    assert_eq!((refused.status, refused.text()), (429, crate::harness::error_json("Rate Limit Exceeded")));
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((600..=720).contains(&seconds), "{seconds}");
    assert_eq!(kept.ask(get("/a/")).status, 429, "the connection stays");
    assert_eq!(upstream.requests(), 4);
    assert!(is_served(&mut from("127.0.0.2", gateway.port), "/a/"));
    eventually("all refusals are counted", || {
        metric(&gateway, "tollgate_unrouted_requests_total{reason=\"address_rate_limit\"}") == 2.0
    });
    // Secrets can't be guessed at any faster.
    assert_eq!(gateway.control("GET", "/tyk/apis", "").status, 429);
}

#[test]
fn one_address_has_only_so_many_requests_in_progress() {
    let (upstream, arrived, go_on) = crate::drain::held();
    let limited = |id: &str, rules: Value| api(id, &format!("/{id}/"), &upstream.url()).set("tollgate/concurrency", rules);
    let gateway = Gateway::start(
        json!({}),
        [
            limited("a", json!({"per_address": 2})),
            limited("b", json!({"per_address": 1, "exempt": ["127.0.0.0/8"]})),
            limited("c", json!({"per_address": 0})),
        ],
    );
    let begin = |mut client: Connection, target: &str| {
        client.send(get(target));
        arrived.recv_timeout(PATIENCE).expect("the request is at the upstream");
        client
    };
    let mut first = begin(gateway.connect(), "/a/");
    let mut second = begin(gateway.connect(), "/a/");
    let refused = gateway.get("/a/");
    assert_eq!(refused.status, 429, "{refused}");
    // Another address has its own, and so has another API.
    let mut other = begin(from("127.0.0.2", gateway.port), "/a/");
    let mut exempt = [begin(gateway.connect(), "/b/"), begin(gateway.connect(), "/b/")];
    go_on.send(()).unwrap();
    let mut ended = 0;
    let mut rest = vec![&mut first, &mut second, &mut other];
    rest.extend(exempt.iter_mut());
    // Who is answered first is open: all are told to go on.
    for _ in 1..rest.len() {
        go_on.send(()).unwrap();
    }
    for client in rest {
        assert_eq!(client.response("GET").status, 200);
        ended += 1;
    }
    assert_eq!(ended, 5);
    eventually("those that have ended make room", || {
        let mut client = gateway.connect();
        client.send(get("/a/"));
        let is_there = arrived.recv_timeout(std::time::Duration::from_millis(100)).is_ok();
        if is_there {
            go_on.send(()).unwrap();
        }
        client.response("GET").status == 200
    });
    assert_eq!(gateway.get("/c/").status, 404, "a limit of nothing is a mistake");
}
