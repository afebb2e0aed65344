//! Upgraded connections: a tunnel of bytes after 101, and an ordinary request when upgrades are off.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use serde_json::{Value, json};

pub(crate) use tollgate_testing::messages::UPGRADE as ASK;

use crate::harness::{Connection, Gateway, Seen, Upstream, api, get, ok, reply, request};

const SWITCH: &str =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n";

pub(crate) fn enabled() -> Value {
    json!({"http_server_options": {"enable_websockets": true}})
}

/// Switches protocols and sends every byte back.
pub(crate) fn echo() -> Upstream {
    Upstream::raw(|mut wire, _| {
        let Some(seen) = Seen::read(&mut wire) else { return };
        if seen.header("upgrade").is_none() {
            wire.send(reply("426 Upgrade Required", &[], ""));
            return;
        }
        wire.send(SWITCH);
        while let Ok(bytes) = wire.some() {
            if wire.try_send(bytes).is_err() {
                return;
            }
        }
    })
}

pub(crate) fn open(gateway: &Gateway, target: &str) -> Connection {
    let mut client = gateway.connect();
    client.send(request("GET", target, &ASK, ""));
    let head = client.head().expect("an answer");
    assert_eq!(head.first.split(' ').nth(1), Some("101"), "{head:?}");
    assert!(head.get("upgrade").is_some_and(|value| value.eq_ignore_ascii_case("websocket")), "{head:?}");
    assert!(head.get("connection").is_some_and(|value| value.eq_ignore_ascii_case("upgrade")), "{head:?}");
    client
}

#[test]
fn bytes_flow_both_ways_after_the_switch() {
    let upstream = echo();
    let gateway = Gateway::start(enabled(), [api("a", "/a/", &upstream.url())]);
    let mut client = open(&gateway, "/a/");
    for length in [1, 10, 5000, 300_000] {
        let bytes: Vec<u8> = (0..length).map(|number| (number % 251) as u8).collect();
        client.send(&bytes);
        assert!(client.exactly(length).expect("the echo") == bytes, "{length}");
    }
}

#[test]
fn the_upstream_sees_the_request_to_switch() {
    let upstream = Upstream::start(|_| SWITCH.as_bytes().to_vec());
    let gateway = Gateway::start(enabled(), [api("a", "/a/", &upstream.url())]);
    open(&gateway, "/a/chat?room=1");
    let seen = upstream.last();
    assert_eq!(seen.target, "/chat?room=1");
    assert_eq!(seen.header("upgrade"), Some("websocket"));
    assert!(seen.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("upgrade")), "{:?}", seen.head);
    assert_eq!(seen.header("sec-websocket-version"), Some("13"));
    assert_eq!(seen.header("x-forwarded-for"), Some("127.0.0.1"));
}

#[test]
fn bytes_that_come_with_the_heads_are_not_lost() {
    let upstream = Upstream::raw(|mut wire, _| {
        if Seen::read(&mut wire).is_some() {
            wire.send(format!("{SWITCH}first from upstream"));
            let bytes = wire.exactly(17).expect("the client's first bytes");
            wire.send(bytes);
            let _ = wire.rest();
        }
    });
    let gateway = Gateway::start(enabled(), [api("a", "/a/", &upstream.url())]);
    let mut client = gateway.connect();
    client.send(request("GET", "/a/", &ASK, "") + "first from client");
    client.head().expect("the switch");
    assert_eq!(client.exactly(36).expect("both"), b"first from upstreamfirst from client");
}

#[test]
fn an_end_on_one_side_ends_the_other() {
    let upstream = Upstream::raw(|mut wire, _| {
        if Seen::read(&mut wire).is_some() {
            wire.send(SWITCH);
            let asked = wire.rest().expect("the client's end");
            wire.send(format!("{} bytes until the end", asked.len()));
        }
    });
    let gateway = Gateway::start(enabled(), [api("a", "/a/", &upstream.url())]);
    let mut client = open(&gateway, "/a/");
    client.send("12345");
    client.finish_sending();
    assert_eq!(client.rest().expect("what the upstream said last"), b"5 bytes until the end");
}

#[test]
fn a_switch_that_the_upstream_refuses_is_an_ordinary_answer() {
    let upstream = Upstream::start(|_| reply("403 No", &[], "no"));
    let gateway = Gateway::start(enabled(), [api("a", "/a/", &upstream.url())]);
    let mut client = gateway.connect();
    for _ in 0..2 {
        let response = client.ask(request("GET", "/a/", &ASK, ""));
        assert_eq!((response.status, response.text().as_str()), (403, "no"));
    }
}

#[test]
fn without_the_option_the_request_to_switch_is_dropped() {
    let upstream = Upstream::start(|_| ok());
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let response = gateway.send(request("GET", "/a/", &ASK, ""));
    assert_ne!(response.status, 101);
    if response.status == 200 {
        assert_eq!(upstream.last().header("upgrade"), None);
    }
}

#[test]
fn a_switch_that_nobody_asked_for_is_a_failure() {
    let upstream = Upstream::once(SWITCH);
    let gateway = Gateway::start(enabled(), [api("a", "/a/", &upstream.url())]);
    assert_eq!(gateway.get("/a/").status, 500);
}

#[test]
fn a_switch_is_refused_like_any_other_request() {
    let upstream = echo();
    let gateway = Gateway::start(enabled(), [api("a", "/a/", &upstream.url()).with_keys()]);
    assert_eq!(gateway.send(request("GET", "/a/", &ASK, "")).status, 401);
}

#[test]
fn a_silent_tunnel_is_not_an_idle_client() {
    let upstream = echo();
    let mut conf = enabled();
    crate::harness::definition::merge(
        &mut conf,
        &json!({"tollgate": {"timeouts": {"client_idle_ms": 200, "head_ms": 200, "upstream_idle_ms": 200}}}),
    );
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    let mut client = open(&gateway, "/a/");
    std::thread::sleep(std::time::Duration::from_millis(800));
    client.send("still here");
    assert_eq!(client.exactly(10).expect("the echo"), b"still here");
}

#[test]
fn real_websocket_ends_understand_each_other() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut socket = tungstenite::accept(socket).expect("a handshake");
                while let Ok(message) = socket.read() {
                    if message.is_close() || socket.send(message).is_err() {
                        break;
                    }
                }
            });
        }
    });
    let gateway = Gateway::start(enabled(), [api("a", "/a/", &format!("http://{address}"))]);
    let stream = TcpStream::connect(("127.0.0.1", gateway.port)).unwrap();
    let (mut socket, response) = tungstenite::client("ws://gateway.test/a/chat", stream).expect("a handshake through the gateway");
    assert_eq!(response.status().as_u16(), 101);
    for text in ["hello", "", "x".repeat(200_000).as_str()] {
        socket.send(tungstenite::Message::text(text)).unwrap();
        assert_eq!(socket.read().unwrap().into_text().unwrap().as_str(), text);
    }
    socket.close(None).unwrap();
    while socket.read().is_ok() {}
}

#[test]
fn a_hundred_tunnels_do_not_mix() {
    let upstream = echo();
    let gateway = Gateway::start(enabled(), [api("a", "/a/", &upstream.url())]);
    let mut clients: Vec<Connection> = (0..100).map(|_| open(&gateway, "/a/")).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        client.send(format!("{number:08}"));
    }
    for (number, client) in clients.iter_mut().enumerate() {
        assert_eq!(client.exactly(8).expect("the echo"), format!("{number:08}").as_bytes());
    }
    assert_eq!(gateway.send(get("/a/")).status, 426);
    let mut socket = clients.remove(0).socket().try_clone().unwrap();
    socket.write_all(b"x").unwrap();
    socket.read_exact(&mut [0]).unwrap();
}
