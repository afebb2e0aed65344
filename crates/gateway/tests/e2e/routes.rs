//! Listeners and backends of a file (`tollgate.routing_file`) and the routes that name them: sockets that come and go, hosts that share one, TLS,
//! backends whose endpoints change.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::certificates::{Authority, client, connect, server, shake_hands};
use crate::harness::{Connection, Definition, Gateway, Response, Setup, Upstream, api, get, reply, request};
use crate::servers::free_port;

/// A folder with the file of listeners and backends.
struct Tables {
    dir: TempDir,
}

impl Tables {
    fn new(tables: &Value) -> Tables {
        let made = Tables { dir: tempfile::tempdir().unwrap() };
        made.write(tables);
        made
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("routing.json")
    }

    fn write(&self, tables: &Value) {
        fs::write(self.file(), tables.to_string()).unwrap();
    }

    /// A gateway that reads it.
    fn start(&self, definitions: impl IntoIterator<Item = Definition>) -> Gateway {
        let conf = json!({"tollgate": {"routing_file": self.file()}});
        definitions.into_iter().fold(Setup::new(conf), Setup::api).start()
    }
}

fn route(id: &str, attached: Value, rules: Value) -> Definition {
    api(id, "/", "").set("tollgate/route", json!({"attached": attached, "rules": rules}))
}

/// A rule for all requests.
fn to(backend: &str) -> Value {
    json!([{"backends": [{"backend": backend}]}])
}

fn named(name: &'static str) -> Upstream {
    Upstream::start(move |_| reply("200 OK", &[], name))
}

fn endpoints(upstreams: &[&Upstream]) -> Value {
    upstreams.iter().map(|upstream| json!({"address": "127.0.0.1", "port": upstream.port()})).collect()
}

fn ask(port: u16, host: &str, target: &str) -> Response {
    Connection::open(port).ask(request("GET", target, &[], "").replace("Host: gateway.test", &format!("Host: {host}")))
}

fn told(response: &Response) -> (u16, String) {
    (response.status, response.text())
}

#[test]
fn listeners_come_and_go_with_the_file_and_backends_change_under_routes() {
    let (one, two, port, other) = (named("one"), named("two"), free_port(), free_port());
    let listener = |port: u16, host: &str| json!({"addresses": ["127.0.0.1"], "port": port, "host": host});
    let tables = |listeners: Value, list: &[&Upstream]| json!({"listeners": listeners, "backends": {"echo": {"endpoints": endpoints(list)}}});
    let file = Tables::new(&tables(json!({"web": listener(port, "")}), &[&one]));
    let gateway = file.start([
        route("r", json!([{"listener": "web", "hosts": ["a.test"]}, {"listener": "more"}]), to("echo")),
        api("own", "/own/", &one.url()),
    ]);
    assert_eq!(told(&ask(port, "a.test", "/x")), (200, "one".to_owned()));
    assert_eq!(ask(port, "b.test", "/x").status, 404);
    // Neither the gateway's own APIs nor its control API.
    assert_eq!(ask(port, "a.test", "/tyk/apis").text(), "one");
    assert_eq!(ask(port, "b.test", "/own/").status, 404);
    assert_eq!(ask(gateway.port, "a.test", "/x").status, 404);

    let mut kept = Connection::open(port);
    assert_eq!(kept.ask(get("/x").replace("Host: gateway.test", "Host: a.test")).text(), "one");
    file.write(&tables(json!({"web": listener(port, ""), "more": listener(other, "")}), &[&two]));
    gateway.reload();
    assert_eq!(kept.ask(get("/x").replace("Host: gateway.test", "Host: a.test")).text(), "two");
    assert_eq!(told(&ask(other, "any.test", "/x")), (200, "two".to_owned()));

    // No endpoint, and no backend.
    file.write(&tables(json!({"web": listener(port, "")}), &[]));
    gateway.reload();
    assert_eq!(ask(port, "a.test", "/x").status, 503);
    assert!(TcpStream::connect(("127.0.0.1", other)).is_err());
    file.write(&json!({"listeners": {"web": listener(port, "")}}));
    gateway.reload();
    assert_eq!(ask(port, "a.test", "/x").status, 500);

    // A broken file changes nothing.
    fs::write(file.file(), "{").unwrap();
    gateway.reload();
    assert_eq!(ask(port, "a.test", "/x").status, 500);
}

#[test]
fn a_listener_that_cannot_be_opened_is_told_and_others_are_served() {
    let (upstream, port) = (named("one"), free_port());
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listener = |port: u16| json!({"addresses": ["127.0.0.1"], "port": port});
    let file = Tables::new(&json!({
        "listeners": {"web": listener(port), "taken": listener(taken.local_addr().unwrap().port())},
        "backends": {"echo": {"endpoints": endpoints(&[&upstream])}}
    }));
    let gateway = file.start([route("r", json!([{"listener": "web"}, {"listener": "taken"}]), to("echo"))]);
    assert_eq!(ask(port, "a.test", "/").text(), "one");
    assert!(gateway.log().contains("$.listeners.taken"), "{}", gateway.log());
}

#[test]
fn the_most_specific_listener_gets_a_request_and_its_routes_alone() {
    let (any, wild, exact, port) = (named("any"), named("wild"), named("exact"), free_port());
    let listener = |host: &str| json!({"addresses": ["127.0.0.1"], "port": port, "host": host});
    let backend = |upstream: &Upstream| json!({"endpoints": endpoints(&[upstream])});
    let file = Tables::new(&json!({
        "listeners": {"any": listener(""), "wild": listener("*.a.test"), "exact": listener("b.a.test")},
        "backends": {"any": backend(&any), "wild": backend(&wild), "exact": backend(&exact)}
    }));
    let at = |name: &str, path: &str| {
        let rules = json!([{"matches": [{"path": {"prefix": path}}], "backends": [{"backend": name}]}]);
        route(name, json!([{"listener": name}]), rules)
    };
    let _gateway = file.start([at("any", "/"), at("wild", "/w"), at("exact", "/e")]);
    for (host, target, expect) in [
        ("x.test", "/", Some("any")),
        ("c.a.test", "/w", Some("wild")),
        ("d.c.a.test", "/w", Some("wild")),
        ("c.a.test", "/", None),
        ("b.a.test", "/e", Some("exact")),
        ("b.a.test", "/w", None),
        ("a.test", "/w", Some("any")),
    ] {
        let response = ask(port, host, target);
        assert_eq!(Some(response.text().as_str()).filter(|_| response.status == 200), expect, "{host}{target}: {response}");
    }
}

#[test]
fn https_listeners_have_certificates_of_their_own_and_tell_misdirected_requests() {
    let (one, two, port) = (named("one"), named("two"), free_port());
    let authority = Authority::new("routes");
    let listener = |host: &str, names: &[&str]| {
        let made = authority.issue(names);
        let pem = format!("{}{}", made.certificate, made.key);
        json!({"addresses": ["127.0.0.1"], "port": port, "protocol": "https", "host": host, "tls": {"certificates": [pem]}})
    };
    let file = Tables::new(&json!({
        "listeners": {"any": listener("", &["a.test", "unknown.test", "127.0.0.1"]), "second": listener("second.test", &["second.test"])},
        "backends": {"one": {"endpoints": endpoints(&[&one])}, "two": {"endpoints": endpoints(&[&two])}}
    }));
    let _gateway = file.start([
        route("one", json!([{"listener": "any", "hosts": ["a.test"]}]), to("one")),
        route("two", json!([{"listener": "second"}]), to("two")),
    ]);
    let client = Arc::new(client(&authority, None));
    for (server_name, host, status) in [
        ("a.test", "a.test", 200),
        ("a.test", "second.test", 421),
        ("a.test", "unknown.test", 404),
        ("second.test", "second.test", 200),
        ("second.test", "a.test", 421),
        ("unknown.test", "a.test", 200),
        // An address is no server name.
        ("127.0.0.1", "a.test", 200),
        ("127.0.0.1", "second.test", 421),
    ] {
        let mut stream = connect(&client, port, server_name);
        let text = get("/").replace("Host: gateway.test", &format!("Host: {host}"));
        assert_eq!(stream.ask(text).status, status, "{server_name} {host}");
    }
}

/// A server that answers each connection with its name and what it gets first.
fn greeter(name: &'static str) -> Upstream {
    Upstream::raw(move |wire: Connection, _| {
        let mut socket = wire.socket().try_clone().unwrap();
        let mut first = [0; 64];
        let length = socket.read(&mut first).unwrap_or(0);
        let _ = socket.write_all(format!("{name} {}", String::from_utf8_lossy(&first[..length])).as_bytes());
    })
}

/// What a stream says to a greeting.
fn greet(mut stream: impl Read + Write) -> String {
    let _ = stream.write_all(b"hello");
    let mut answer = [0; 64];
    let length = stream.read(&mut answer).unwrap_or(0);
    String::from_utf8_lossy(&answer[..length]).into_owned()
}

fn stream_route(id: &str, attached: Value, backends: Value) -> Definition {
    api(id, "/", "").set("tollgate/route", json!({"kind": "stream", "attached": attached, "rules": [{"backends": backends}]}))
}

#[test]
fn tls_connections_pass_through_or_end_by_the_host_that_they_name() {
    let authority = Authority::new("routes");
    let inner = authority.issue(&["pass.test"]);
    let (passed, ended, web) =
        (Upstream::tls(Arc::new(server(&inner)), |_| reply("200 OK", &[], "passed")), greeter("ended"), named("web"));
    let port = free_port();
    let pem = |names: &[&str]| {
        let made = authority.issue(names);
        format!("{}{}", made.certificate, made.key)
    };
    let listener = |protocol: &str, host: &str, tls: Value| json!({"addresses": ["127.0.0.1"], "port": port, "protocol": protocol, "host": host, "tls": tls});
    let file = Tables::new(&json!({
        "listeners": {
            "pass": listener("tls", "*.test", json!({"passthrough": true})),
            "end": listener("tls", "end.test", json!({"certificates": [pem(&["end.test"])]})),
            "web": listener("https", "web.test", json!({"certificates": [pem(&["web.test"])]}))
        },
        "backends": {
            "passed": {"protocol": "tcp", "endpoints": endpoints(&[&passed])},
            "ended": {"protocol": "tcp", "endpoints": endpoints(&[&ended])},
            "web": {"endpoints": endpoints(&[&web])}
        }
    }));
    let gateway = file.start([
        stream_route("pass", json!([{"listener": "pass", "hosts": ["pass.test"]}]), json!([{"backend": "passed"}])),
        stream_route("end", json!([{"listener": "end"}]), json!([{"backend": "ended"}])),
        route("web", json!([{"listener": "web"}]), to("web")),
    ]);
    let client = Arc::new(client(&authority, None));
    assert_eq!(connect(&client, port, "pass.test").ask(get("/")).text(), "passed");
    assert_eq!(greet(shake_hands(&client, port, "end.test").unwrap()), "ended hello");
    assert_eq!(connect(&client, port, "web.test").ask(get("/").replace("gateway.test", "web.test")).text(), "web");
    // No route, and no listener.
    assert!(shake_hands(&client, port, "other.test").is_err());
    assert!(shake_hands(&client, port, "other.example").is_err());
    gateway.expect_no_panic();
}

#[test]
fn connections_and_datagrams_are_shared_by_weight() {
    let (a, b) = (greeter("a"), greeter("b"));
    let datagrams = |name: &'static str| {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let mut bytes = [0; 64];
            while let Ok((length, from)) = socket.recv_from(&mut bytes) {
                let answer = format!("{name} {}", String::from_utf8_lossy(&bytes[..length]));
                let _ = socket.send_to(answer.as_bytes(), from);
            }
        });
        port
    };
    let (x, y) = (datagrams("x"), datagrams("y"));
    let port = free_port();
    let listener = |protocol: &str| json!({"addresses": ["127.0.0.1"], "port": port, "protocol": protocol});
    let tcp = |upstream: &Upstream| json!({"protocol": "tcp", "endpoints": endpoints(&[upstream])});
    let udp = |port: u16| json!({"protocol": "udp", "endpoints": [{"address": "127.0.0.1", "port": port}]});
    let mut tables = json!({
        "listeners": {"tcp": listener("tcp"), "udp": listener("udp")},
        "backends": {"a": tcp(&a), "b": tcp(&b), "x": udp(x), "y": udp(y)}
    });
    let file = Tables::new(&tables);
    let weights = |one: &str, other: &str| json!([{"backend": one, "weight": 3}, {"backend": other, "weight": 1}]);
    let gateway = file.start([
        stream_route("tcp", json!([{"listener": "tcp"}]), weights("a", "b")),
        stream_route("udp", json!([{"listener": "udp"}]), weights("x", "y")),
    ]);
    let told: Vec<String> = (0..40).map(|_| greet(TcpStream::connect(("127.0.0.1", port)).unwrap())).collect();
    let share = told.iter().filter(|text| *text == "a hello").count();
    assert!(told.iter().all(|text| text == "a hello" || text == "b hello"), "{told:?}");
    assert!((15..40).contains(&share), "{share}");

    let greet_by_datagrams = |socket: &UdpSocket| -> String {
        let mut bytes = [0; 64];
        // Datagrams may be lost.
        for _ in 0..10 {
            socket.send_to(b"hi", ("127.0.0.1", port)).unwrap();
            if let Ok(length) = socket.recv(&mut bytes) {
                return String::from_utf8_lossy(&bytes[..length]).into_owned();
            }
        }
        String::new()
    };
    let socket = || {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
        socket
    };
    let told: Vec<String> = (0..40).map(|_| greet_by_datagrams(&socket())).collect();
    let share = told.iter().filter(|text| *text == "x hi").count();
    assert!(told.iter().all(|text| text == "x hi" || text == "y hi"), "{told:?}");
    assert!((15..40).contains(&share), "{share}");
    // A client stays with its upstream.
    let own = socket();
    let first = greet_by_datagrams(&own);
    assert!((0..10).all(|_| greet_by_datagrams(&own) == first));

    tables["listeners"].as_object_mut().unwrap().remove("udp");
    file.write(&tables);
    gateway.reload();
    own.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    assert_eq!(greet_by_datagrams(&own), "");
    gateway.expect_no_panic();
}

#[test]
fn a_check_tells_what_is_wrong_with_the_file_and_with_routes() {
    let file = Tables::new(&json!({"listeners": {"web": {"port": 1, "hots": "a.test"}}}));
    let conf = file.dir.path().join("tyk.conf");
    let apps = file.dir.path().join("apps");
    fs::create_dir(&apps).unwrap();
    fs::write(&conf, json!({"app_path": apps, "tollgate": {"routing_file": file.file()}}).to_string()).unwrap();
    let rules = json!([{"matches": [{"path": {"regex": "("}, "header": []}]}]);
    fs::write(apps.join("a.json"), route("a", json!([{"listener": "web"}]), rules).0.to_string()).unwrap();
    let check = || {
        let output = Command::new(env!("CARGO_BIN_EXE_tollgate")).arg("check").arg("--conf").arg(&conf).output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    let (is_good, text) = check();
    assert!(!is_good);
    for expect in [
        "routing.json: $.listeners.web.hots: error: unknown field",
        "$.tollgate.route.rules[0].matches[0].header: error: unknown field",
    ] {
        assert!(text.contains(expect), "{expect} in {text}");
    }
    file.write(&json!({"listeners": {"web": {"port": 1}}}));
    fs::write(
        apps.join("a.json"),
        route("a", json!([{"listener": "web"}]), json!([{"matches": [{"path": {"regex": "("}}]}])).0.to_string(),
    )
    .unwrap();
    assert!(check().1.contains("$.tollgate.route.rules[0].matches[0].path.regex: error: not a valid pattern"), "{}", check().1);
    fs::write(apps.join("a.json"), route("a", json!([{"listener": "web"}, {"listener": "other"}]), to("echo")).0.to_string())
        .unwrap();
    let (is_good, text) = check();
    assert!(is_good, "{text}");
    assert!(text.contains("a is attached to \"other\", which is no listener"), "{text}");
}
