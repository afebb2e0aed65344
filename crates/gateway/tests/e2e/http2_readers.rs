//! Clients that do not read what they have asked for: what they cost is bounded, others do not wait for them, and once they read they have
//! it whole.

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::{Request, Response};
use serde_json::json;

use crate::harness::http2::{Http2Upstream, ask, collect, connect, converse, get, write};
use crate::harness::{Gateway, Upstream, api, get as get_http1, reply};

const STREAMS: usize = 100;
const CONNECTIONS: usize = 3;
const BODY_BYTES: usize = 200_000;
/// Of the configuration of these tests.
const BUFFER_BYTES_MAX: usize = 1024 * 1024;
/// What a stream holds where others hold too much.
const PIECE_BYTES: usize = 4 * 1024;

fn gateway(upstream: &str) -> Gateway {
    let conf = json!({"tollgate": {"threads": 1, "limits": {"http2_buffer_bytes_max": BUFFER_BYTES_MAX}}});
    Gateway::start(conf, [api("a", "/a/", upstream)])
}

fn buffered(gateway: &Gateway) -> usize {
    let text = gateway.control("GET", "/tyk/metrics", "").text();
    let line = text.lines().find_map(|line| line.strip_prefix("tollgate_http2_buffered_bytes ")).expect("the figure");
    line.parse::<f64>().expect("a number") as usize
}

/// A client whose streams' windows are closed, or whose socket is not read.
async fn client(port: u16, window: u32) -> (h2::client::SendRequest<Bytes>, h2::client::Connection<tokio::net::TcpStream>) {
    let stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let mut builder = h2::client::Builder::new();
    builder.initial_window_size(window).initial_connection_window_size(1 << 30);
    builder.handshake(stream).await.unwrap()
}

/// Many streams that ask for much and do not read, then read.
fn readers_that_rest(upstream: &str, stream_bytes: usize) {
    let gateway = gateway(upstream);
    assert_eq!(gateway.get("/a/small").status, 200);
    let before = gateway.rss_kib();
    converse(async {
        let mut clients = Vec::new();
        for _ in 0..CONNECTIONS {
            let (send, connection) = client(gateway.port, 0).await;
            let (widen, mut wide) = tokio::sync::oneshot::channel::<()>();
            tokio::task::spawn_local(async move {
                let mut connection = connection;
                let mut is_wide = false;
                let _ = std::future::poll_fn(|cx| {
                    if !is_wide && std::pin::Pin::new(&mut wide).poll(cx).is_ready() {
                        is_wide = true;
                        connection.set_initial_window_size(1 << 20).unwrap();
                    }
                    std::pin::Pin::new(&mut connection).poll(cx)
                })
                .await;
            });
            let mut answers = Vec::new();
            for _ in 0..STREAMS {
                let mut ready = send.clone().ready().await.unwrap();
                answers.push(ready.send_request(get("/a/large"), true).unwrap().0);
            }
            let mut contents = Vec::new();
            for answer in answers {
                contents.push(answer.await.unwrap().into_body());
            }
            clients.push((contents, widen));
        }
        // Every head has come, and what else there is has been read from the upstream.
        let (mut held, mut same) = (0, 0);
        while same < 4 || held == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(250)).await;
            let now = buffered(&gateway);
            same = if now == held { same + 1 } else { 0 };
            held = now;
        }
        let most = BUFFER_BYTES_MAX + 128 * 1024 + CONNECTIONS * STREAMS * stream_bytes;
        assert!(held < most, "{held} bytes are counted");
        let grown = gateway.peak_rss_kib().saturating_sub(before);
        // Beside bytes a stream has its state, and its connection to the upstream.
        let states = CONNECTIONS * STREAMS * 24 * 1024;
        assert!(grown as usize * 1024 < 2 * BUFFER_BYTES_MAX + most + states, "{grown} KiB for {} streams", CONNECTIONS * STREAMS);
        assert_eq!(gateway.get("/a/small").text(), "small", "others are served");
        for (contents, widen) in clients {
            widen.send(()).unwrap();
            let readers: Vec<_> = contents
                .into_iter()
                .map(|mut content| tokio::task::spawn_local(async move { collect(&mut content).await.unwrap() }))
                .collect();
            for reader in readers {
                let body = reader.await.unwrap();
                assert!(body.len() == BODY_BYTES && body.iter().all(|byte| *byte == b'x'), "{}", body.len());
            }
        }
    });
    crate::harness::eventually("nothing is held any longer", || buffered(&gateway) == 0);
}

#[test]
fn streams_with_closed_windows_hold_little_and_have_their_bodies_whole_later() {
    let upstream = Upstream::start(|seen| {
        reply("200 OK", &[], &if seen.target == "/large" { "x".repeat(BODY_BYTES) } else { "small".into() })
    });
    readers_that_rest(&upstream.url(), PIECE_BYTES);
}

#[test]
fn so_do_those_whose_upstream_speaks_http_2() {
    let upstream = Http2Upstream::start(None, large_or_small);
    // What an upstream sends before it knows of the smaller windows comes on top.
    readers_that_rest(&format!("h2c://{}", upstream.address), PIECE_BYTES + 128 * 1024);
}

async fn large_or_small(request: Request<RecvStream>, mut respond: SendResponse<Bytes>) {
    let body = if request.uri().path() == "/large" { "x".repeat(BODY_BYTES) } else { "small".into() };
    let Ok(mut stream) = respond.send_response(Response::new(()), false) else { return };
    let _ = write(&mut stream, body.as_bytes(), true).await;
}

#[test]
fn connections_that_nobody_reads_hold_little() {
    let upstream =
        Upstream::start(|seen| reply("200 OK", &[], &if seen.target == "/large" { "x".repeat(2_000_000) } else { "small".into() }));
    let gateway = gateway(&upstream.url());
    assert_eq!(gateway.get("/a/small").status, 200);
    converse(async {
        let mut clients = Vec::new();
        for _ in 0..3 {
            let (mut send, mut connection) = client(gateway.port, 1 << 30).await;
            for _ in 0..STREAMS {
                let _ = send.send_request(get("/a/large"), true).unwrap();
            }
            // The requests leave, and then nobody looks at the socket any longer.
            let _ = tokio::time::timeout(std::time::Duration::from_millis(100), &mut connection).await;
            clients.push((send, connection));
        }
        let most = BUFFER_BYTES_MAX + 256 * 1024 + 3 * STREAMS * PIECE_BYTES;
        for _ in 0..6 {
            tokio::time::sleep(std::time::Duration::from_millis(150)).await;
            let held = buffered(&gateway);
            assert!(held < most, "{held} bytes are counted");
        }
        assert_eq!(gateway.get("/a/small").text(), "small", "others are served");
    });
}

/// Answers with messages of ten bytes, as many as the path says.
async fn messages(request: Request<RecvStream>, mut respond: SendResponse<Bytes>) {
    let count = request.uri().path()[1..].parse().unwrap_or(1);
    let Ok(mut stream) = respond.send_response(Response::new(()), false) else { return };
    for number in 0..count {
        stream.reserve_capacity(10);
        while stream.capacity() < 10 {
            match std::future::poll_fn(|cx| stream.poll_capacity(cx)).await {
                Some(Ok(_)) => {}
                _ => return,
            }
        }
        if stream.send_data(Bytes::from_static(b"0123456789"), number + 1 == count).is_err() {
            return;
        }
    }
}

#[test]
fn many_small_messages_that_nobody_reads_end_no_call_of_others() {
    let upstream = Http2Upstream::start(None, messages);
    let gateway = Gateway::start(json!({"tollgate": {"threads": 1}}), [api("a", "/a/", &format!("h2c://{}", upstream.address))]);
    assert_eq!(gateway.get("/a/1").status, 200);
    converse(async {
        let idle = connect(gateway.port).await;
        let mut contents = Vec::new();
        // Fewer than would close the window of their connection.
        for _ in 0..10 {
            let mut ready = idle.clone().ready().await.unwrap();
            let (answer, _) = ready.send_request(get("/a/20000"), true).unwrap();
            contents.push(answer.await.unwrap().into_body());
        }
        let other = connect(gateway.port).await;
        for _ in 0..20 {
            assert_eq!(ask(&other, get("/a/1000")).await.unwrap().body.len(), 10_000);
        }
        for mut content in contents {
            assert_eq!(collect(&mut content).await.unwrap().len(), 200_000, "who reads later has it whole");
        }
    });
    assert_eq!(upstream.connections(), 1, "and all of it on one connection");
}

#[test]
fn calls_that_are_cancelled_amid_small_messages_end_no_call_of_others() {
    let upstream = Http2Upstream::start(None, messages);
    let gateway = Gateway::start(json!({"tollgate": {"threads": 1}}), [api("a", "/a/", &format!("h2c://{}", upstream.address))]);
    assert_eq!(gateway.get("/a/1").status, 200);
    converse(async {
        let mut other = connect(gateway.port).await.ready().await.unwrap();
        let mut kept = other.send_request(get("/a/20000"), true).unwrap().0.await.unwrap().into_body();
        let fickle = connect(gateway.port).await;
        for _ in 0..20 {
            let mut ready = fickle.clone().ready().await.unwrap();
            let (answer, mut stream) = ready.send_request(get("/a/50000"), true).unwrap();
            let mut content = answer.await.unwrap().into_body();
            let _ = content.data().await;
            stream.send_reset(Reason::CANCEL);
        }
        assert_eq!(collect(&mut kept).await.unwrap().len(), 200_000, "a call that was there all the time is whole");
    });
}

#[test]
fn readers_that_rest_do_not_close_the_window_of_others_on_a_shared_connection() {
    let upstream = Http2Upstream::start(None, large_or_small);
    let gateway = Gateway::start(json!({"tollgate": {"threads": 1}}), [api("a", "/a/", &format!("h2c://{}", upstream.address))]);
    assert_eq!(gateway.get("/a/small").status, 200);
    let mut resting: Vec<_> = (0..8)
        .map(|_| {
            let mut wire = gateway.connect();
            wire.send(get_http1("/a/large"));
            wire
        })
        .collect();
    // Each gets a connection's windows full of it at least once: more than the connection had for all of them.
    converse(async {
        let idle = client(gateway.port, 0).await;
        let (mut send, connection) = idle;
        tokio::task::spawn_local(connection);
        let mut contents = Vec::new();
        for _ in 0..30 {
            contents.push(send.send_request(get("/a/large"), true).unwrap().0.await.unwrap());
            send = send.ready().await.unwrap();
        }
        let answer = ask(&connect(gateway.port).await, get("/a/large")).await.unwrap();
        assert_eq!(answer.body.len(), BODY_BYTES);
        drop(contents);
    });
    for wire in &mut resting {
        assert_eq!(wire.try_response("GET").map(|response| response.body.len()).ok(), Some(BODY_BYTES));
    }
    assert_eq!(upstream.connections(), 1);
}
