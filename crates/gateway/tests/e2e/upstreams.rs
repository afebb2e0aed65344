//! Where upstreams are: IPv6, names and their addresses, TLS, and addresses that do not answer.

use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use socket2::{Domain, Socket, Type};

use crate::harness::definition::merge;
use crate::harness::dns::{Answer, NameServer};
use crate::harness::{Gateway, Setup, Upstream, api, error_json, eventually, get, reply, skip};

const PROXYING: &str = "There was a problem proxying the request";

#[test]
fn an_upstream_may_have_an_ipv6_address() {
    let upstream = Upstream::start_at("[::1]:0", |_| reply("200 OK", &[], "six"));
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    assert_eq!(gateway.get("/a/").text(), "six");
    assert_eq!(upstream.last().header("host"), Some(upstream.address.to_string().as_str()));
}

#[test]
fn an_upstream_may_be_named() {
    let upstream = Upstream::ok();
    let name = format!("localhost:{}", upstream.port());
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &format!("http://{name}"))]);
    let mut client = gateway.connect();
    for _ in 0..3 {
        assert_eq!(client.ask(get("/a/")).status, 200);
    }
    assert_eq!(upstream.last().header("host"), Some(name.as_str()));
}

/// Connections to an upstream after two bursts of as many requests, each of which it answers when it has all of them.
fn connections_of_two_bursts(settings: Value) -> usize {
    let arrived = Arc::new((Mutex::new(0_usize), Condvar::new()));
    let upstream = Upstream::start(move |_| {
        let (count, all) = &*arrived;
        let mut here = count.lock().unwrap();
        *here += 1;
        let wanted = (*here).div_ceil(BURST) * BURST;
        all.notify_all();
        drop(all.wait_while(here, |here| *here < wanted).unwrap());
        reply("200 OK", &[], "all")
    });
    let gateway = Gateway::start(settings, [api("a", "/a/", &upstream.url())]);
    let mut clients: Vec<_> = (0..BURST).map(|_| gateway.connect()).collect();
    for _ in 0..2 {
        clients.iter_mut().for_each(|client| client.send(get("/a/")));
        assert!(clients.iter_mut().all(|client| client.response("GET").status == 200));
    }
    upstream.connections()
}

/// More than any gateway keeps by a usual limit.
const BURST: usize = 700;

#[test]
fn connections_that_were_in_use_at_one_time_are_kept() {
    assert_eq!(connections_of_two_bursts(json!({"tollgate": {"threads": 1}})), BURST);
    let limited = json!({"max_idle_connections_per_host": 200, "tollgate": {"threads": 1}});
    assert_eq!(connections_of_two_bursts(limited), 2 * BURST - 200);
}

fn addresses(texts: &[&str], ttl_s: u32) -> Answer {
    Answer { addresses: texts.iter().map(|text| text.parse::<IpAddr>().unwrap()).collect(), ttl_s }
}

fn resolving(server: &NameServer) -> Value {
    json!({"tollgate": {"dns": {"servers": [server.address.to_string()]}}})
}

#[test]
fn every_address_of_a_name_is_tried() {
    let upstream = Upstream::ok();
    let server = NameServer::start(|_| addresses(&["127.0.0.9", "127.0.0.10", "127.0.0.1"], 60));
    let gateway = Gateway::start(resolving(&server), [api("a", "/a/", &format!("http://many.test:{}", upstream.port()))]);
    for _ in 0..6 {
        assert_eq!(gateway.get("/a/").status, 200);
    }
    assert_eq!(upstream.last().header("host"), Some(format!("many.test:{}", upstream.port()).as_str()));
}

#[test]
fn a_name_is_asked_again_when_its_time_is_over() {
    let first = Upstream::start_at(&format!("127.0.0.1:{}", crate::servers::free_port()), |_| {
        reply("200 OK", &["Connection: close"], "first")
    });
    let second = Upstream::start_at(&format!("127.0.0.2:{}", first.port()), |_| reply("200 OK", &["Connection: close"], "second"));
    let moved = Arc::new(AtomicUsize::new(0));
    let switch = moved.clone();
    let server = NameServer::start(move |_| match switch.load(Ordering::SeqCst) {
        0 => addresses(&["127.0.0.1"], 1),
        _ => addresses(&["127.0.0.2"], 1),
    });
    let gateway = Gateway::start(resolving(&server), [api("a", "/a/", &format!("http://moving.test:{}", first.port()))]);
    assert_eq!(gateway.get("/a/").text(), "first");
    moved.store(1, Ordering::SeqCst);
    eventually("the new address is used", || gateway.get("/a/").text() == "second");
    assert!(second.requests() > 0);
}

#[test]
fn a_name_is_not_asked_for_each_request() {
    let upstream = Upstream::start(|_| reply("200 OK", &["Connection: close"], "ok"));
    let server = NameServer::start(|_| addresses(&["127.0.0.1"], 3600));
    let gateway = Gateway::start(resolving(&server), [api("a", "/a/", &format!("http://steady.test:{}", upstream.port()))]);
    let mut client = gateway.connect();
    for _ in 0..50 {
        assert_eq!(client.ask(get("/a/")).status, 200);
    }
    // A and AAAA, for each core.
    assert!(server.asked() <= 8, "asked {} times", server.asked());
}

#[test]
fn a_name_server_that_drops_questions_of_one_family_holds_nobody_up() {
    for (dropped, address) in [(&[28], "127.0.0.1"), (&[1], "::1")] {
        let bound = if address.contains(':') { format!("[{address}]:0") } else { format!("{address}:0") };
        let upstream = Upstream::start_at(&bound, |_| reply("200 OK", &["Connection: close"], "ok"));
        let server = NameServer::dropping(dropped, move |_| addresses(&[address], 3600));
        let mut conf = resolving(&server);
        merge(&mut conf, &json!({"tollgate": {"threads": 1, "timeouts": {"upstream_connect_ms": 3000}}}));
        let gateway = Gateway::start(conf, [api("a", "/a/", &format!("http://half.test:{}", upstream.port()))]);
        for _ in 0..30 {
            assert_eq!(gateway.get("/a/").status, 200, "{address}");
        }
        // The dropped question may be repeated for a while; it is not asked again for each connection.
        assert!(server.asked() <= 8, "asked {} times", server.asked());
    }
}

#[test]
fn a_name_in_the_hosts_file_needs_no_name_server() {
    let hosts = std::fs::read_to_string("/etc/hosts").unwrap_or_default();
    let lines = hosts.lines().filter_map(|line| line.split('#').next()?.split_once(char::is_whitespace));
    let names = lines
        .filter(|(address, _)| address.contains('.'))
        .flat_map(|(address, names)| names.split_whitespace().map(move |name| (address, name)));
    // `localhost` is known without any file.
    let is_ours = |(address, name): &(&str, &str)| !name.starts_with("localhost") && TcpListener::bind((*address, 0)).is_ok();
    let Some((address, name)) = names.into_iter().find(is_ours) else {
        return skip("/etc/hosts has no name for an address of this machine beside localhost");
    };
    let upstream = Upstream::start_at(&format!("{address}:0"), |_| reply("200 OK", &["Connection: close"], "ok"));
    let server = NameServer::dropping(&[1, 28], |_| addresses(&[], 60));
    let mut conf = resolving(&server);
    merge(&mut conf, &json!({"tollgate": {"timeouts": {"upstream_connect_ms": 3000}}}));
    let gateway = Gateway::start(conf, [api("a", "/a/", &format!("http://{name}:{}", upstream.port()))]);
    assert_eq!(gateway.get("/a/").status, 200);
    assert_eq!(server.asked(), 0, "the file is enough");
}

#[test]
fn a_name_that_does_not_exist_is_told() {
    let server = NameServer::start(|_| addresses(&[], 60));
    let gateway = Gateway::start(resolving(&server), [api("a", "/a/", "http://nobody.test:80")]);
    let response = gateway.get("/a/");
    assert_eq!((response.status, response.text()), (500, error_json("Upstream host lookup failed")));
}

#[test]
fn a_refused_connection_is_told_and_the_next_request_tries_again() {
    let address = format!("127.0.0.1:{}", crate::servers::free_port());
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &format!("http://{address}"))]);
    let mut client = gateway.connect();
    for _ in 0..3 {
        let response = client.ask(get("/a/"));
        assert_eq!((response.status, response.text()), (500, error_json(PROXYING)));
    }
    let upstream = Upstream::start_at(&address, |_| reply("200 OK", &[], "up again"));
    assert_eq!(client.ask(get("/a/")).text(), "up again");
    drop(upstream);
}

#[test]
fn an_address_that_takes_no_connection_is_given_up() {
    // A listener whose queue is full: the kernel then leaves further connections unanswered.
    let full = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    full.bind(&"127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap().into()).unwrap();
    full.listen(0).unwrap();
    let address = full.local_addr().unwrap().as_socket().unwrap();
    let mut queued = Vec::new();
    while let Ok(socket) = TcpStream::connect_timeout(&address, std::time::Duration::from_millis(300)) {
        queued.push(socket);
        assert!(queued.len() < 100, "the queue never fills");
    }
    let conf = json!({"proxy_default_timeout": 600, "tollgate": {"timeouts": {"upstream_connect_ms": 300}}});
    let gateway = Gateway::start(conf, [api("a", "/a/", &format!("http://{address}"))]);
    let response = gateway.get("/a/");
    assert!(matches!(response.status, 500 | 504), "{response}");
    assert_eq!(response.header("content-type"), Some("application/json"));
}

// --- TLS ---

struct Certified {
    pem: String,
    config: Arc<rustls::ServerConfig>,
}

fn certified(names: &[&str]) -> Certified {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let made = rcgen::generate_simple_self_signed(names).expect("a certificate");
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    Certified { pem: made.cert.pem(), config: Arc::new(config) }
}

fn tls_gateway(trusted: Option<&str>, conf: Value, definitions: Vec<crate::harness::Definition>) -> (Gateway, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("roots.pem");
    let someone = certified(&["someone.test"]).pem;
    std::fs::write(&path, trusted.unwrap_or(&someone)).unwrap();
    let setup = definitions.into_iter().fold(Setup::new(conf), Setup::api);
    (setup.env("SSL_CERT_FILE", path.to_str().unwrap()).start(), dir)
}

#[test]
fn a_trusted_certificate_is_accepted() {
    let made = certified(&["localhost", "127.0.0.1"]);
    let upstream = Upstream::tls(made.config.clone(), |seen| reply("200 OK", &[], &seen.text()));
    let by_name = api("a", "/name/", &format!("https://localhost:{}", upstream.port()));
    let by_address = api("b", "/address/", &format!("https://127.0.0.1:{}", upstream.port()));
    let (gateway, _dir) = tls_gateway(Some(&made.pem), json!({}), vec![by_name, by_address]);
    let mut client = gateway.connect();
    for path in ["/name/", "/address/", "/name/"] {
        let body = "x".repeat(100_000);
        let response = client.ask(crate::harness::request("POST", path, &[], &body));
        assert_eq!((response.status, response.body.len()), (200, body.len()), "{path}");
    }
    assert_eq!(upstream.connections(), 2);
}

#[test]
fn an_unknown_certificate_is_refused() {
    let made = certified(&["localhost"]);
    let upstream = Upstream::tls(made.config.clone(), |_| reply("200 OK", &[], "ok"));
    let (gateway, _dir) = tls_gateway(None, json!({}), vec![api("a", "/a/", &format!("https://localhost:{}", upstream.port()))]);
    let response = gateway.get("/a/");
    assert_eq!((response.status, response.text()), (500, error_json(PROXYING)));
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn a_certificate_for_another_name_is_refused() {
    let made = certified(&["other.test"]);
    let upstream = Upstream::tls(made.config.clone(), |_| reply("200 OK", &[], "ok"));
    let (gateway, _dir) =
        tls_gateway(Some(&made.pem), json!({}), vec![api("a", "/a/", &format!("https://localhost:{}", upstream.port()))]);
    assert_eq!(gateway.get("/a/").status, 500);
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn verification_can_be_turned_off_for_one_api_or_for_all() {
    let made = certified(&["other.test"]);
    let upstream = Upstream::tls(made.config.clone(), |_| reply("200 OK", &[], "ok"));
    let checked = api("a", "/a/", &format!("https://localhost:{}", upstream.port()));
    let unchecked =
        api("b", "/b/", &format!("https://localhost:{}", upstream.port())).set("proxy/transport/ssl_insecure_skip_verify", true);
    let (gateway, _dir) = tls_gateway(None, json!({}), vec![checked.clone(), unchecked]);
    let mut client = gateway.connect();
    let statuses: Vec<u16> = ["/b/", "/a/", "/b/", "/a/"].map(|path| client.ask(get(path)).status).into();
    assert_eq!(statuses, [200, 500, 200, 500], "an unverified connection is not lent to an API that verifies");
    let (gateway, _dir) = tls_gateway(None, json!({"proxy_ssl_insecure_skip_verify": true}), vec![checked]);
    assert_eq!(gateway.get("/a/").status, 200);
}

#[test]
fn plain_text_where_tls_is_expected_is_a_failure() {
    let upstream = Upstream::raw(|mut wire, _| {
        let _ = wire.some();
        let _ = wire.try_send("HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &format!("https://localhost:{}", upstream.port()))]);
    assert_eq!(gateway.get("/a/").status, 500);
}

#[test]
fn a_tls_handshake_that_never_ends_is_given_up() {
    let upstream = Upstream::raw(|mut wire, _| {
        let _ = wire.rest();
    });
    let conf = json!({"proxy_default_timeout": 1, "tollgate": {"timeouts": {"upstream_connect_ms": 300}}});
    let gateway = Gateway::start(conf, [api("a", "/a/", &format!("https://localhost:{}", upstream.port()))]);
    let response = gateway.get("/a/");
    assert!(matches!(response.status, 500 | 504), "{response}");
}
