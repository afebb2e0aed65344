//! The PROXY protocol: who the client is, when a load balancer that is trusted says so, and nobody else.

use std::sync::Arc;

use serde_json::json;

use crate::harness::certificates::{Authority, client};
use crate::harness::{Gateway, Setup, Upstream, api, get};

const V1: &str = "PROXY TCP4 203.0.113.7 192.0.2.1 12345 443\r\n";

fn v2() -> Vec<u8> {
    let mut bytes = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c".to_vec();
    bytes.extend([203, 0, 113, 7, 192, 0, 2, 1, 0x30, 0x39, 0x01, 0xbb]);
    bytes
}

fn gateway(upstream: &Upstream, trusted: &str) -> Gateway {
    let allowed = api("b", "/b/", &upstream.url()).set("allowed_ips", json!(["203.0.113.0/24"]));
    let conf = json!({"tollgate": {"proxy_protocol": [trusted]}});
    Gateway::start(conf, [api("a", "/a/", &upstream.url()), allowed])
}

#[test]
fn a_trusted_proxy_tells_the_client() {
    let upstream = Upstream::ok();
    let gateway = gateway(&upstream, "127.0.0.0/8");
    for header in [V1.as_bytes().to_vec(), v2()] {
        let mut wire = gateway.connect();
        wire.send(&header);
        for path in ["/a/", "/b/"] {
            assert_eq!(wire.ask(get(path)).status, 200);
            assert_eq!(upstream.last().header("x-forwarded-for"), Some("203.0.113.7"));
        }
    }
    // Header and request in one segment, and a proxy that speaks for itself.
    assert_eq!(gateway.send(format!("{V1}{}", get("/b/"))).status, 200);
    assert_eq!(gateway.send(format!("PROXY UNKNOWN\r\n{}", get("/b/"))).status, 403);
    assert_eq!(gateway.send(format!("PROXY UNKNOWN\r\n{}", get("/a/"))).status, 200);
    assert_eq!(upstream.last().header("x-forwarded-for"), Some("127.0.0.1"));
}

#[test]
fn a_trusted_proxy_must_begin_with_a_header() {
    let upstream = Upstream::ok();
    let gateway = gateway(&upstream, "127.0.0.1");
    for bytes in [get("/a/"), format!("PROXY TCP4 1.2.3.4\r\n{}", get("/a/")), format!("PROXY TCP5 a b 1 2\r\n{}", get("/a/"))] {
        assert_eq!(gateway.raw_or_reset(bytes), b"");
    }
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn nobody_else_is_believed() {
    let upstream = Upstream::ok();
    let gateway = gateway(&upstream, "192.0.2.0/24");
    assert_eq!(gateway.get("/a/").status, 200);
    let answer = gateway.raw(format!("{V1}{}", get("/b/")));
    assert!(answer.starts_with(b"HTTP/1.1 400"), "{:?}", String::from_utf8_lossy(&answer));
    assert_eq!(upstream.requests(), 1);
    assert_eq!(upstream.last().header("x-forwarded-for"), Some("127.0.0.1"));
}

#[test]
fn it_comes_before_tls() {
    let upstream = Upstream::ok();
    let authority = Authority::new("tests");
    let dir = tempfile::tempdir().unwrap();
    let file = authority.issue(&["api.test"]).write(dir.path(), "own.pem");
    let conf = json!({
        "http_server_options": {"use_ssl": true, "certificates": [{"cert_file": file, "key_file": file}]},
        "tollgate": {"proxy_protocol": ["127.0.0.1"]}
    });
    let gateway = Setup::new(conf).api(api("a", "/a/", &upstream.url())).start();
    let mut socket = std::net::TcpStream::connect(("127.0.0.1", gateway.port)).unwrap();
    std::io::Write::write_all(&mut socket, &v2()).unwrap();
    let config = Arc::new(client(&authority, None));
    let session = rustls::ClientConnection::new(config, "api.test".try_into().unwrap()).unwrap();
    let stream = rustls::StreamOwned::new(session, socket.try_clone().unwrap());
    let mut wire = crate::harness::Connection::with(Box::new(stream), socket);
    assert_eq!(wire.ask(get("/a/")).status, 200);
    assert_eq!(upstream.last().header("x-forwarded-for"), Some("203.0.113.7"));
}
