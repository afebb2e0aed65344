//! Upstreams behind a proxy: HTTP `CONNECT` and SOCKS5, with and without credentials.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::harness::oauth::make_client;
use crate::harness::{Connection, Definition, Gateway, Upstream, api, certificates, get, ok, request};
use crate::oauth_clients::{Stage, stage};

/// Copies bytes in both directions until both sides end.
fn splice(client: &TcpStream, port: u16) {
    let upstream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let copy = |mut from: TcpStream, mut to: TcpStream| {
        thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Write);
        })
    };
    let up = copy(client.try_clone().unwrap(), upstream.try_clone().unwrap());
    let down = copy(upstream, client.try_clone().unwrap());
    let _ = (up.join(), down.join());
}

fn port_of(authority: &str) -> u16 {
    authority.rsplit(':').next().unwrap().parse().unwrap()
}

/// An HTTP proxy that notes the heads that it gets.
fn http_proxy(heads: Arc<Mutex<Vec<String>>>, status: &'static str) -> Upstream {
    Upstream::raw(move |wire: Connection, _| {
        let mut socket = wire.socket().try_clone().unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            if socket.read(&mut byte).unwrap_or(0) == 0 {
                return;
            }
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        let port = port_of(head.split(' ').nth(1).unwrap());
        heads.lock().unwrap().push(head);
        socket.write_all(format!("HTTP/1.1 {status}\r\nVia: proxy\r\n\r\n").as_bytes()).unwrap();
        if status.starts_with('2') {
            splice(&socket, port);
        }
    })
}

fn through(proxy: &str, upstream: &str) -> Definition {
    api("a", "/a/", upstream).set("proxy/transport", json!({"proxy_url": proxy}))
}

#[test]
fn an_http_proxy_is_asked_for_a_connection() {
    let heads = Arc::new(Mutex::new(Vec::new()));
    let proxy = http_proxy(heads.clone(), "200 Connection established");
    let upstream = Upstream::ok();
    let url = format!("http://me:p%40ss@{}", proxy.address);
    let gateway = Gateway::start(json!({}), [through(&url, &upstream.url())]);
    let mut client = gateway.connect();
    for _ in 0..5 {
        assert_eq!(client.ask(request("POST", "/a/x", &[], "body")).status, 200);
    }
    let asked = heads.lock().unwrap().clone();
    let expected =
        format!("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\nProxy-Authorization: Basic bWU6cEBzcw==\r\n\r\n", upstream.address);
    assert_eq!(asked, [expected], "one connection is reused");
    assert_eq!((upstream.last().target.as_str(), upstream.last().header("proxy-authorization")), ("/x", None));
}

#[test]
fn an_upstream_with_tls_is_reached_through_a_proxy() {
    let proxy = http_proxy(Arc::default(), "200 OK");
    let served = certificates::server(&certificates::Authority::new("proxy test").issue(&["localhost"]));
    let upstream = Upstream::tls(Arc::new(served), |_| ok());
    let definition = through(&proxy.url(), &format!("https://localhost:{}", upstream.port()))
        .set("proxy/transport/ssl_insecure_skip_verify", true);
    let gateway = Gateway::start(json!({}), [definition]);
    assert_eq!(gateway.get("/a/").status, 200);
    assert_eq!(proxy.connections(), 1);
}

#[test]
fn a_proxy_that_refuses_is_a_failed_upstream() {
    let proxy = http_proxy(Arc::default(), "403 Forbidden");
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [through(&proxy.url(), &upstream.url())]);
    assert_eq!(gateway.get("/a/").status, 500);
    assert!(gateway.log().contains("it answered with status 403"), "{}", gateway.log());
    assert_eq!(upstream.requests(), 0);
}

/// A SOCKS5 proxy; it asks for credentials if there are any.
fn socks_proxy(credentials: Option<(&'static str, &'static str)>) -> Upstream {
    Upstream::raw(move |mut wire: Connection, _| {
        let methods = wire.exactly(2).unwrap();
        wire.exactly(usize::from(methods[1])).unwrap();
        if let Some((user, password)) = credentials {
            wire.send([5, 2]);
            let expected = [&[1, user.len() as u8], user.as_bytes(), &[password.len() as u8], password.as_bytes()].concat();
            let got = wire.exactly(expected.len()).unwrap();
            wire.send([1, u8::from(got != expected)]);
            if got != expected {
                return;
            }
        } else {
            wire.send([5, 0]);
        }
        let head = wire.exactly(4).unwrap();
        assert_eq!(head[..3], [5, 1, 0]);
        let host = match head[3] {
            1 => wire.exactly(4).unwrap(),
            _ => {
                let length = wire.exactly(1).unwrap()[0];
                wire.exactly(usize::from(length)).unwrap()
            }
        };
        assert!(host == [127, 0, 0, 1] || host == b"only.the.proxy.knows", "{host:?}");
        let port = wire.exactly(2).unwrap();
        wire.send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
        splice(wire.socket(), u16::from_be_bytes([port[0], port[1]]));
    })
}

#[test]
fn a_socks_proxy_is_asked_and_resolves_names() {
    let upstream = Upstream::ok();
    let (open, closed) = (socks_proxy(None), socks_proxy(Some(("me", "secret"))));
    let named = format!("http://only.the.proxy.knows:{}", upstream.port());
    for (proxy, target) in [
        (format!("socks5://{}", open.address), upstream.url()),
        (format!("socks5://{}", open.address), named.clone()),
        (format!("socks5://me:secret@{}", closed.address), named),
    ] {
        let gateway = Gateway::start(json!({}), [through(&proxy, &target)]);
        assert_eq!(gateway.send(get("/a/")).status, 200, "{proxy} {target}");
    }
    let gateway = Gateway::start(json!({}), [through(&format!("socks5://me:wrong1@{}", closed.address), &upstream.url())]);
    assert_eq!(gateway.send(get("/a/")).status, 500);
    assert!(gateway.log().contains("it does not accept the credentials"), "{}", gateway.log());
    assert!(!gateway.log().contains("wrong"));
}

#[test]
fn a_proxy_of_another_kind_is_an_error_with_its_place() {
    let gateway = Gateway::start(json!({}), [through("https://proxy.test", "http://up.test"), api("b", "/b/", "http://up.test")]);
    assert_eq!(gateway.get("/a/").status, 404);
    assert!(gateway.log().contains("proxy_url: the scheme https is not supported"), "{}", gateway.log());
}

#[test]
fn the_upstream_gets_the_gateways_user_and_password() {
    let upstream = Upstream::ok();
    let auth = json!({"enabled": true, "basic_auth": {"enabled": true, "username": "me", "password": "p@ss"}});
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url()).set("upstream_auth", auth)]);
    gateway.send(request("GET", "/a/", &["Authorization: Bearer of-the-client"], ""));
    assert_eq!(upstream.last().head.all("authorization"), ["Basic bWU6cEBzcw=="]);
}

#[test]
fn the_upstream_gets_an_access_token_that_is_kept_until_it_expires() {
    let upstream = Upstream::ok();
    let issued = Arc::new(Mutex::new(0));
    let count = issued.clone();
    let server = Upstream::start(move |seen| {
        assert_eq!(
            (seen.header("authorization"), seen.text().as_str()),
            (Some("Basic aWQ6c2VjcmV0"), "grant_type=client_credentials&scope=a+b")
        );
        let mut issued = count.lock().unwrap();
        *issued += 1;
        let body = json!({"access_token": format!("t{issued}"), "token_type": "Bearer", "expires_in": 3600});
        crate::harness::reply("200 OK", &["Content-Type: application/json"], &body.to_string())
    });
    let client = json!({"client_id": "id", "client_secret": "secret", "token_url": server.url(), "scopes": ["a", "b"], "header": {"name": "X-Token"}});
    let auth = json!({"enabled": true, "oauth": {"enabled": true, "client_credentials": client}});
    let definition = api("a", "/a/", &upstream.url()).set("upstream_auth", auth);
    let gateway = Gateway::start(json!({}), [definition]);
    let mut client = gateway.connect();
    for _ in 0..20 {
        assert_eq!(client.ask(get("/a/")).status, 200);
        assert_eq!(upstream.last().header("x-token"), Some("Bearer t1"));
    }
    assert_eq!(*issued.lock().unwrap(), 1);
    let gateway = Gateway::start(
        json!({}),
        [through("", &upstream.url()).set(
            "upstream_auth",
            json!({
                "enabled": true, "oauth": {"enabled": true, "client_credentials": {"token_url": "http://127.0.0.1:1/"}},
            }),
        )],
    );
    assert_eq!(gateway.get("/a/").status, 502, "without a token nothing is sent");
}

#[test]
fn a_real_provider_issues_the_token_and_accepts_it() {
    // Another gateway with an OAuth 2.0 provider, whose API takes its tokens.
    let Stage { gateway: provider, upstream, .. } = stage(json!({}), |api| api);
    make_client(&provider, json!({}));
    let base = format!("http://127.0.0.1:{}", provider.port);
    let with = |client: Value| {
        let auth = json!({"enabled": true, "oauth": {"enabled": true, "client_credentials": client}});
        Gateway::start(json!({}), [api("b", "/b/", &format!("{base}/a/")).set("upstream_auth", auth)])
    };
    let known =
        json!({"client_id": "shop", "client_secret": "s3cret", "token_url": format!("{base}/a/oauth/token"), "scopes": ["read"]});
    let gateway = with(known);
    let mut client = gateway.connect();
    assert!((0..10).all(|_| client.ask(get("/b/x")).status == 200));
    assert_eq!(upstream.last().target, "/x");
    let tokens = provider.control("GET", "/tyk/oauth/clients/a/shop/tokens", "").json();
    assert_eq!(tokens.as_array().map(Vec::len), Some(1), "one token serves all requests: {tokens}");
    let gateway = with(json!({"client_id": "shop", "client_secret": "wrong", "token_url": format!("{base}/a/oauth/token")}));
    assert_eq!(gateway.get("/b/x").status, 502);
    assert!(gateway.log().contains("the server answered with status 403"), "{}", gateway.log());
}
