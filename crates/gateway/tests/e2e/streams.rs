//! APIs with the protocols `tcp` and `tls`: a real Redis behind the gateway, hosts of TLS clients, PROXY headers, who may connect, targets that
//! are down, and what is counted.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;

use serde_json::{Value, json};

use crate::harness::certificates::{self, Authority, client, shake_hands};
use crate::harness::{Connection, Definition, Gateway, PATIENCE, Setup, Upstream, api, eventually};
use crate::servers::Server;
use crate::servers::free_port;

fn stream(id: &str, protocol: &str, port: u16, target: &str) -> Definition {
    api(id, "", target).set("protocol", protocol).set("listen_port", port)
}

fn started(definitions: impl IntoIterator<Item = Definition>) -> Gateway {
    let conf = json!({"disable_ports_whitelist": true, "enable_custom_domains": true});
    definitions.into_iter().fold(Setup::new(conf), Setup::api).start()
}

fn redis(port: u16, commands: &[&str]) -> String {
    let output = std::process::Command::new("redis-cli").args(["-h", "127.0.0.1", "-p", &port.to_string()]).args(commands).output();
    let output = output.expect("redis-cli runs");
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)).trim().to_owned()
}

/// A server that sends its name first, as many protocols do, and then all that it gets.
fn echo(name: &'static str) -> Upstream {
    Upstream::raw(move |wire: Connection, _| {
        let mut socket = wire.socket().try_clone().unwrap();
        let _ = socket.write_all(name.as_bytes());
        let mut from = socket.try_clone().unwrap();
        let _ = std::io::copy(&mut from, &mut socket);
        let _ = socket.shutdown(std::net::Shutdown::Write);
    })
}

fn tcp_url(upstream: &Upstream) -> String {
    format!("tcp://127.0.0.1:{}", upstream.port())
}

fn open(port: u16) -> TcpStream {
    let socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// What a connection says before it ends; a reset counts as an end.
fn rest(stream: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What a connection says first; nothing if it ends.
fn first(stream: &mut impl Read) -> String {
    let mut bytes = [0; 64];
    let length = stream.read(&mut bytes).unwrap_or(0);
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

fn sample(gateway: &Gateway, start: &str) -> f64 {
    let text = gateway.control("GET", "/tyk/metrics", "").text();
    let line = text.lines().find_map(|line| line.strip_prefix(start)).unwrap_or_else(|| panic!("{start} in\n{text}"));
    line.trim().parse().unwrap()
}

#[test]
fn a_real_redis_is_used_through_the_gateway() {
    let server = Server::start(&[]);
    let port = free_port();
    let gateway = started([stream("redis", "tcp", port, &format!("tcp://127.0.0.1:{}", server.port))]);
    assert_eq!(redis(port, &["SET", "a", "1"]), "OK");
    assert_eq!(redis(port, &["GET", "a"]), "1");
    assert_eq!(server.cli(&["GET", "a"]), "1");
    // Many commands in one segment, and more bytes than any buffer has.
    let value = "v".repeat(3 << 20);
    let mut socket = open(port);
    let command = format!("*3\r\n$3\r\nSET\r\n$3\r\nbig\r\n${}\r\n{value}\r\n*2\r\n$3\r\nGET\r\n$3\r\nbig\r\n", value.len());
    let mut writer = socket.try_clone().unwrap();
    let sending = thread::spawn(move || writer.write_all(command.as_bytes()).unwrap());
    let wanted = format!("+OK\r\n${}\r\n{value}\r\n", value.len());
    let mut answer = vec![0; wanted.len()];
    socket.read_exact(&mut answer).unwrap();
    sending.join().unwrap();
    assert!(answer == wanted.as_bytes(), "the value is not what was stored");
    eventually("bytes are counted", || sample(&gateway, "tollgate_stream_bytes_total{api=\"redis\",direction=\"sent\"}") > 3e6);
    eventually("it is the only one", || sample(&gateway, "tollgate_stream_connections_open{api=\"redis\"}") == 1.0);
    drop(socket);
    eventually("its end is counted", || sample(&gateway, "tollgate_stream_connections_open{api=\"redis\"}") == 0.0);
    assert_eq!(sample(&gateway, "tollgate_stream_connections_total{api=\"redis\",result=\"connected\"}"), 3.0);
}

#[test]
fn a_connection_may_be_half_closed_and_outlives_the_reload_that_drops_its_port() {
    let (upstream, port) = (echo("hello"), free_port());
    let gateway = started([stream("echo", "tcp", port, &tcp_url(&upstream))]);
    let mut socket = open(port);
    let mut hello = [0; 5];
    socket.read_exact(&mut hello).unwrap();
    assert_eq!(&hello, b"hello", "the server speaks first");
    gateway.remove_file("echo.json");
    assert_eq!(gateway.reload().status, 200);
    eventually("the port is closed", || TcpStream::connect(("127.0.0.1", port)).is_err());
    socket.write_all(b"still here").unwrap();
    socket.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(rest(&mut socket), "still here");
}

#[test]
fn the_host_of_a_tls_client_selects_the_api() {
    let authority = Authority::new("tests");
    let dir = tempfile::tempdir().unwrap();
    let (a, b, any) = (echo("a"), echo("b"), echo("any"));
    let port = free_port();
    let made = |id: &str, upstream: &Upstream, host: &str| {
        let file = authority.issue(&[&format!("{id}.example")]).write(dir.path(), &format!("{id}.pem"));
        stream(id, "tls", port, &tcp_url(upstream)).set("domain", host).set("certificates", json!([file]))
    };
    let gateway = started([made("a", &a, "a.example"), made("b", &b, "b.example")]);
    let config = Arc::new(client(&authority, None));
    let said = |host: &str| {
        let mut stream = shake_hands(&config, port, host).unwrap();
        first(&mut stream)
    };
    assert_eq!((said("a.example"), said("b.example")), ("a".to_owned(), "b".to_owned()));
    // The certificate of another host is not enough to get there.
    gateway.write_api(&made("any", &any, ""));
    assert_eq!(gateway.reload().status, 200);
    assert_eq!(said("any.example"), "any", "an API without a host gets the rest");
    assert_eq!(said("a.example"), "a");
    // Protocols that a client proposes are not the gateway's to choose.
    let mut proposing = client(&authority, None);
    proposing.alpn_protocols = vec![b"postgresql".to_vec()];
    let mut stream = shake_hands(&Arc::new(proposing), port, "b.example").unwrap();
    assert_eq!(stream.conn.alpn_protocol(), None);
    assert_eq!(first(&mut stream), "b");
}

#[test]
fn tls_is_spoken_to_the_upstream_too() {
    let authority = Authority::new("tests");
    let dir = tempfile::tempdir().unwrap();
    let file = authority.issue(&["localhost", "redis.example"]).write(dir.path(), "server.pem");
    let file = file.to_str().unwrap();
    let ca = dir.path().join("ca.pem");
    std::fs::write(&ca, authority.pem()).unwrap();
    let options =
        ["--tls-cert-file", file, "--tls-key-file", file, "--tls-ca-cert-file", ca.to_str().unwrap(), "--tls-auth-clients", "no"];
    let server = Server::start_tls(&options);
    let (plain, secure) = (free_port(), free_port());
    let target = format!("tls://localhost:{}", server.port);
    let insecure = |definition: Definition| definition.set("proxy/transport", json!({"ssl_insecure_skip_verify": true}));
    let gateway = started([
        insecure(stream("plain", "tcp", plain, &target)),
        insecure(stream("secure", "tls", secure, &target).set("certificates", json!([file]))),
        stream("strict", "tcp", free_port(), &target),
    ]);
    assert_eq!(redis(plain, &["PING"]), "PONG");
    let mut stream = shake_hands(&Arc::new(client(&authority, None)), secure, "redis.example").unwrap();
    stream.write_all(b"PING\r\nQUIT\r\n").unwrap();
    assert_eq!(rest(&mut stream), "+PONG\r\n+OK\r\n");
    // An upstream whose certificate nobody knows is not spoken to.
    let strict: u16 = {
        let text = std::fs::read_to_string(gateway.apps().join("strict.json")).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["listen_port"].as_u64().unwrap() as u16
    };
    assert_eq!(rest(&mut open(strict)), "");
    eventually("the failure is logged", || {
        gateway.log().lines().any(|line| line.contains("no upstream can be reached") && line.contains("strict"))
    });
}

#[test]
fn a_proxy_header_announces_the_client() {
    let (upstream, port) = (echo("in"), free_port());
    let definition = stream("a", "tcp", port, &tcp_url(&upstream))
        .set("enable_proxy_protocol", true)
        .set("allowed_ips", json!(["203.0.113.0/24"]));
    let gateway = started([definition]);
    let said = |header: &str| {
        let mut socket = open(port);
        socket.write_all(format!("{header}and more").as_bytes()).unwrap();
        let _ = socket.shutdown(std::net::Shutdown::Write);
        rest(&mut socket)
    };
    assert_eq!(said("PROXY TCP4 203.0.113.7 192.0.2.1 12345 443\r\n"), "inand more");
    assert_eq!(said("PROXY TCP4 198.51.100.7 192.0.2.1 12345 443\r\n"), "", "its address is not allowed");
    // Without a header nobody can be told apart.
    assert_eq!(said(""), "");
    eventually("the refusal is counted", || {
        sample(&gateway, "tollgate_stream_connections_total{api=\"a\",result=\"rejected\"}") == 1.0
    });
}

#[test]
fn only_listed_addresses_and_certificates_connect() {
    let authority = Authority::new("tests");
    let dir = tempfile::tempdir().unwrap();
    let file = authority.issue(&["a.example"]).write(dir.path(), "server.pem");
    let (known, stranger) = (authority.issue(&["known"]), authority.issue(&["stranger"]));
    let listed = known.write(dir.path(), "known.pem");
    let upstream = echo("in");
    let (blocked, mutual) = (free_port(), free_port());
    let gateway = started([
        stream("blocked", "tcp", blocked, &tcp_url(&upstream)).set("blacklisted_ips", json!(["127.0.0.0/8"])),
        stream("mutual", "tls", mutual, &tcp_url(&upstream))
            .set("certificates", json!([file]))
            .set("use_mutual_tls_auth", true)
            .set("client_certificates", json!([listed])),
    ]);
    assert_eq!(rest(&mut open(blocked)), "");
    for (own, expected) in [(Some(&known), "in"), (Some(&stranger), ""), (None, "")] {
        let config = Arc::new(certificates::client(&authority, own));
        let mut stream = shake_hands(&config, mutual, "a.example").unwrap();
        assert_eq!(first(&mut stream), expected);
    }
    eventually("the refusals are counted", || {
        sample(&gateway, "tollgate_stream_connections_total{api=\"mutual\",result=\"rejected\"}") == 2.0
    });
}

#[test]
fn connections_are_shared_by_targets_and_a_dead_one_is_passed_over() {
    let (a, b) = (echo("a"), echo("b"));
    let (turns, rules) = (free_port(), free_port());
    let dead = format!("127.0.0.1:{}", free_port());
    let list = json!([tcp_url(&a), format!("127.0.0.1:{}", b.port()), dead]);
    let listed =
        stream("turns", "tcp", turns, &tcp_url(&a)).set("proxy/enable_load_balancing", true).set("proxy/target_list", list);
    let gateway = started([listed.clone(), {
        let mut definition = listed.set("api_id", "rules").set("listen_port", rules);
        definition.0["tollgate"] = json!({"upstream": {"balance": "least_requests", "health": {"consecutive_faults": 1}}});
        definition
    }]);
    for port in [turns, rules] {
        let mut said: Vec<String> = Vec::new();
        let mut held = Vec::new();
        for _ in 0..30 {
            let mut socket = open(port);
            let mut name = [0];
            socket.read_exact(&mut name).expect("a target that works");
            said.push(String::from_utf8_lossy(&name).into_owned());
            held.push(socket);
        }
        let of_a = said.iter().filter(|name| *name == "a").count();
        assert!((8..=22).contains(&of_a), "{of_a} of 30 at port {port}");
    }
    let ejected = "tollgate_target_ejections_total{api=\"rules\",version=\"Default\",part=\"\",target=\"tcp://";
    assert_eq!(sample(&gateway, &format!("{ejected}{dead}\"}}")), 1.0);
}

#[test]
fn definitions_of_streams_that_ask_for_requests_are_refused() {
    let target = "tcp://127.0.0.1:6379";
    let stickiness = json!({"upstream": {"sticky_cookie": {}}});
    for (definition, field, message) in [
        (stream("a", "tcp", 0, target), "$.listen_port", "needs a port of its own"),
        (stream("a", "tcp", 9, target).with_keys(), "$.use_keyless", "keys could be checked"),
        (stream("a", "tcp", 9, "http://x/"), "$.proxy.target_url", "must begin with tcp:// or tls://"),
        (stream("a", "tcp", 9, "tcp://x"), "$.proxy.target_url", "must have a host and a port"),
        (stream("a", "tcp", 9, "tcp://x:6379/0"), "$.proxy.target_url", "and nothing else"),
        (stream("a", "tcp", 9, target).set("use_mutual_tls_auth", true), "$.use_mutual_tls_auth", "needs the protocol tls"),
        (stream("a", "tls", 9, target).set("tollgate", stickiness), "$.tollgate.upstream.sticky_cookie", "needs requests"),
        (stream("a", "udp", 9, target), "$.protocol", "must be http, https, h2c, tcp, tls or empty"),
    ] {
        let log = started([definition.clone()]).log();
        let names = |line: &str| line.contains("ERROR") && line.contains(field) && line.contains(message);
        assert!(log.lines().any(names), "{field} {message} in\n{log}");
    }
}
