//! WebSockets over HTTP/2 (RFC 8441), and the limits of tunnels over both protocols.

use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use h2::client::SendRequest;
use h2::ext::Protocol;
use h2::{Reason, RecvStream, SendStream};
use http::{Request, Response};
use serde_json::json;
use tungstenite::{Message, WebSocket, protocol::Role};

use crate::harness::definition::merge;
use crate::harness::http2::{ask, collect, connect, converse, get, upload, whole, write};
use crate::harness::{Gateway, Seen, Upstream, api, reply, request};
use crate::upgrade::{ASK, echo, enabled, open as open_http1};

/// Asks for a WebSocket as a browser does over HTTP/2.
fn chat(path: &str, protocol: &'static str) -> Request<()> {
    let mut request = Request::connect(format!("http://gateway.test{path}"))
        .header("sec-websocket-version", "13")
        .header("origin", "http://gateway.test")
        .body(())
        .unwrap();
    request.extensions_mut().insert(Protocol::from_static(protocol));
    request
}

/// The connection, once the gateway's settings have come.
async fn settled(port: u16) -> SendRequest<Bytes> {
    let client = connect(port).await;
    assert_eq!(ask(&client, get("/none")).await.unwrap().status, 404);
    client
}

async fn open(client: &SendRequest<Bytes>, path: &str) -> (Response<RecvStream>, SendStream<Bytes>) {
    let mut client = client.clone().ready().await.unwrap();
    let (answer, stream) = client.send_request(chat(path, "websocket"), false).unwrap();
    (answer.await.unwrap(), stream)
}

/// As many bytes as that.
async fn exactly(content: &mut RecvStream, count: usize) -> Vec<u8> {
    let mut got = Vec::new();
    while got.len() < count {
        let data = content.data().await.expect("more").expect("data");
        content.flow_control().release_capacity(data.len()).unwrap();
        got.extend_from_slice(&data);
    }
    got
}

/// The stream as a socket for who can't wait otherwise.
fn as_socket(answer: Response<RecvStream>, mut stream: SendStream<Bytes>) -> UnixStream {
    let (near, far) = UnixStream::pair().unwrap();
    far.set_nonblocking(true).unwrap();
    let far = tokio::net::UnixStream::from_std(far).unwrap();
    let mut content = answer.into_body();
    tokio::task::spawn_local(async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let (mut read, mut write_half) = far.into_split();
        let down = async {
            while let Some(Ok(data)) = content.data().await {
                let _ = content.flow_control().release_capacity(data.len());
                if write_half.write_all(&data).await.is_err() {
                    return;
                }
            }
            let _ = write_half.shutdown().await;
        };
        let up = async {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(count) = read.read(&mut buffer).await {
                let sent = if count == 0 {
                    stream.send_data(Bytes::new(), true)
                } else {
                    write(&mut stream, &buffer[..count], false).await
                };
                if count == 0 || sent.is_err() {
                    return;
                }
            }
        };
        tokio::join!(down, up);
    });
    near
}

/// A WebSocket server that sends every message back.
pub(crate) fn websocket_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut socket = tungstenite::accept(socket).expect("a handshake");
                while let Ok(message) = socket.read() {
                    if message.is_close() {
                        let _ = socket.flush();
                    } else if !message.is_ping() && socket.send(message).is_err() {
                        break;
                    }
                }
            });
        }
    });
    format!("http://{address}")
}

#[test]
fn websocket_ends_understand_each_other_over_http_2() {
    let upstream = websocket_server();
    let gateway = Gateway::start(enabled(), [api("a", "/a/", &upstream)]);
    converse(async {
        let client = settled(gateway.port).await;
        assert!(client.is_extended_connect_protocol_enabled());
        let mut talks = Vec::new();
        for number in 0..5 {
            let (answer, stream) = open(&client, "/a/chat").await;
            assert_eq!(answer.status(), 200);
            assert_eq!(answer.headers().get("sec-websocket-accept"), None, "it answers a key that the client never had");
            let socket = as_socket(answer, stream);
            talks.push(tokio::task::spawn_blocking(move || {
                let mut socket = WebSocket::from_raw_socket(socket, Role::Client, None);
                for text in [format!("hello {number}"), String::new(), "x".repeat(300_000 + number)] {
                    socket.send(Message::text(text.as_str())).unwrap();
                    assert_eq!(socket.read().unwrap().into_text().unwrap().as_str(), text);
                }
                socket.send(Message::Ping(Bytes::from_static(b"?"))).unwrap();
                assert_eq!(socket.read().unwrap(), Message::Pong(Bytes::from_static(b"?")));
                socket.close(None).unwrap();
                while socket.read().is_ok() {}
            }));
        }
        for talk in talks {
            talk.await.unwrap();
        }
        assert_eq!(ask(&client, get("/none")).await.unwrap().status, 404, "the connection serves others too");
    });
}

#[test]
fn the_upstream_is_asked_as_by_a_client_of_http_1_1() {
    let switch = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\
                  Sec-WebSocket-Protocol: chat\r\n\r\n";
    let upstream = Upstream::start(move |_| switch.as_bytes().to_vec());
    let gateway = Gateway::start(enabled(), [api("a", "/a/", &upstream.url())]);
    converse(async {
        let client = settled(gateway.port).await;
        let (answer, _stream) = open(&client, "/a/chat?room=1").await;
        assert_eq!((answer.status().as_u16(), answer.headers()["sec-websocket-protocol"].to_str().unwrap()), (200, "chat"));
    });
    let seen = upstream.last();
    assert_eq!((seen.method.as_str(), seen.target.as_str(), seen.version.as_str()), ("GET", "/chat?room=1", "HTTP/1.1"));
    for (name, value) in [("upgrade", "websocket"), ("sec-websocket-version", "13"), ("x-forwarded-for", "127.0.0.1")] {
        assert_eq!(seen.header(name), Some(value), "{name}");
    }
    assert!(seen.header("connection").unwrap().eq_ignore_ascii_case("upgrade"));
    assert_eq!(seen.header("sec-websocket-key").unwrap().len(), 24);
}

#[test]
fn the_chain_decides_as_about_any_other_request() {
    let upstream = echo();
    let limited = api("limited", "/limited/", &upstream.url()).set("global_rate_limit", json!({"rate": 1, "per": 3600}));
    let gateway = Gateway::start(enabled(), [api("keys", "/keys/", &upstream.url()).with_keys(), limited]);
    converse(async {
        let client = settled(gateway.port).await;
        let (answer, _) = open(&client, "/keys/").await;
        let refused = whole(answer).await.unwrap();
        assert_eq!((refused.status, refused.text().contains("Authorization field missing")), (401, true));
        let (answer, _stream) = open(&client, "/limited/").await;
        assert_eq!(answer.status(), 200);
        assert_eq!(open(&client, "/limited/").await.0.status(), 429);
    });
}

#[test]
fn an_upstream_that_does_not_switch_opens_nothing() {
    let upstream = Upstream::start(|seen| match seen.target.as_str() {
        "/refuses" => reply("403 No", &[], "no"),
        _ => reply("200 OK", &[], "a page"),
    });
    let gateway = Gateway::start(enabled(), [api("a", "/a/", &upstream.url())]);
    converse(async {
        let client = settled(gateway.port).await;
        for (path, status, text) in [("/a/refuses", 403, "no"), ("/a/page", 502, "a page")] {
            let mut ready = client.clone().ready().await.unwrap();
            let (answer, mut stream) = ready.send_request(chat(path, "websocket"), false).unwrap();
            // Sent without waiting for an answer, these bytes must not become a request.
            stream.send_data(Bytes::from_static(b"GET /a/hidden HTTP/1.1\r\nHost: gateway.test\r\n\r\n"), false).unwrap();
            let refused = whole(answer.await.unwrap()).await.unwrap();
            assert_eq!((refused.status, refused.text().as_str()), (status, text));
        }
        assert_eq!(upload(&client, chat("/a/", "connect-udp"), b"", None).await.unwrap().status, 501);
    });
    assert_eq!(upstream.take_targets(), ["/refuses", "/page"]);
}

#[test]
fn without_the_option_it_is_not_announced() {
    let upstream = echo();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    converse(async {
        let client = settled(gateway.port).await;
        assert!(!client.is_extended_connect_protocol_enabled());
    });
}

#[test]
fn an_end_on_one_side_ends_the_other() {
    let upstream = Upstream::raw(|mut wire, _| {
        let Some(seen) = Seen::read(&mut wire) else { return };
        wire.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst");
        if seen.target == "/leaves" {
            return;
        }
        let asked = wire.rest().expect("the client's end");
        wire.send(format!("{} bytes until the end", asked.len()));
    });
    let gateway = Gateway::start(enabled(), [api("a", "/a/", &upstream.url())]);
    converse(async {
        let client = settled(gateway.port).await;
        let (answer, mut stream) = open(&client, "/a/stays").await;
        stream.send_data(Bytes::from_static(b"12345"), true).unwrap();
        assert_eq!(collect(&mut answer.into_body()).await.unwrap(), b"first5 bytes until the end");
        let (answer, _stream) = open(&client, "/a/leaves").await;
        assert_eq!(collect(&mut answer.into_body()).await.unwrap(), b"first");
    });
}

#[test]
fn a_client_that_resets_lets_the_upstream_go() {
    let (gone, told) = std::sync::mpsc::channel();
    let upstream = Upstream::raw(move |mut wire, _| {
        if Seen::read(&mut wire).is_some() {
            wire.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
            let _ = gone.send(wire.rest().is_ok());
        }
    });
    let gateway = Gateway::start(enabled(), [api("a", "/a/", &upstream.url())]);
    converse(async {
        let client = settled(gateway.port).await;
        let (_answer, mut stream) = open(&client, "/a/").await;
        stream.send_reset(Reason::CANCEL);
        assert_eq!(ask(&client, get("/none")).await.unwrap().status, 404);
    });
    told.recv_timeout(crate::harness::PATIENCE).expect("the upstream's connection ends");
}

#[test]
fn tunnels_have_a_bound_over_both_protocols() {
    let upstream = echo();
    let mut conf = enabled();
    merge(&mut conf, &json!({"tollgate": {"threads": 1, "limits": {"tunnels_max": 2}}}));
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    // Asked for between two turns of the client's own connection.
    let open_now = async |count: usize| {
        let line = format!("tollgate_open_tunnels {count}\n");
        while !gateway.control("GET", "/tyk/metrics", "").text().contains(&line) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let first = open_http1(&gateway, "/a/");
    converse(async {
        let client = settled(gateway.port).await;
        let (answer, stream) = open(&client, "/a/").await;
        assert_eq!(answer.status(), 200);
        open_now(2).await;
        assert_eq!(gateway.send(request("GET", "/a/", &ASK, "")).status, 503);
        assert_eq!(open(&client, "/a/").await.0.status(), 503);
        // Other requests go on.
        assert_eq!(ask(&client, get("/a/")).await.unwrap().status, 426);
        drop(stream);
        drop(answer);
        open_now(1).await;
        drop(first);
        open_now(0).await;
        let (answer, _stream) = open(&client, "/a/").await;
        assert_eq!(answer.status(), 200);
    });
}

#[test]
fn a_silent_tunnel_ends_when_its_time_is_over() {
    let upstream = echo();
    let mut conf = enabled();
    merge(&mut conf, &json!({"tollgate": {"timeouts": {"tunnel_idle_ms": 4_000}}}));
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    let mut old = open_http1(&gateway, "/a/");
    converse(async {
        let client = settled(gateway.port).await;
        let (answer, mut stream) = open(&client, "/a/").await;
        let mut content = answer.into_body();
        for _ in 0..10 {
            tokio::time::sleep(Duration::from_millis(500)).await;
            stream.send_data(Bytes::from_static(b"still here"), false).unwrap();
            assert_eq!(exactly(&mut content, 10).await, b"still here");
        }
        let end = content.data().await;
        assert!(end.is_none_or(|data| data.is_err()), "nothing more is said");
    });
    old.expect_close();
}

#[test]
fn a_slow_reader_holds_up_nobody_but_itself() {
    let upstream = Upstream::raw(|mut wire, _| {
        if Seen::read(&mut wire).is_some() {
            wire.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
            let piece = vec![b'x'; 100_000];
            while wire.try_send(&piece).is_ok() {}
        }
    });
    let gateway = Gateway::start(enabled(), [api("a", "/a/", &upstream.url())]);
    let before = gateway.rss_kib();
    converse(async {
        let client = settled(gateway.port).await;
        let (answer, _stream) = open(&client, "/a/").await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        for _ in 0..20 {
            assert_eq!(ask(&client, get("/none")).await.unwrap().status, 404);
        }
        assert_eq!(exactly(&mut answer.into_body(), 2_000_000).await.len() / 1_000_000, 2);
    });
    assert!(gateway.peak_rss_kib() < before + 30_000, "{} KiB from {before}", gateway.peak_rss_kib());
}
