//! Clients that begin and do not go on: each protocol has a moment at which they are given up, and others are served meanwhile. Slow heads
//! and bodies of HTTP/1.1 are in `bad_clients`, slow TLS handshakes in `tls`.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::certificates::{Authority, client, shake_hands};
use crate::harness::frames::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, Frames, HEADERS, PING, PREFACE, RST_STREAM, SETTINGS, WINDOW_UPDATE, block, frame,
    get, setting,
};
use crate::harness::{Gateway, PATIENCE, Setup, Upstream, api, eventually, ok, reply};
use crate::upgrade;

fn impatient(upstream: &Upstream) -> Gateway {
    let timeouts = json!({"head_ms": 1_000, "handshake_ms": 1_000, "client_write_ms": 1_000});
    let conf =
        json!({"http_server_options": {"read_timeout": 1}, "proxy_default_timeout": 600, "tollgate": {"timeouts": timeouts}});
    Gateway::start(conf, [api("a", "/a/", &upstream.url())])
}

/// Status of the answer in a HEADERS frame of the gateway: the common ones are one byte of its encoder, others are text.
fn status(content: &[u8]) -> u16 {
    match content {
        [0x88, ..] => 200,
        [0x8c, ..] => 400,
        [0x08, 3, b'4', b'0', b'8', ..] => 408,
        _ => panic!("another status: {content:?}"),
    }
}

fn serves(client: &mut Frames, stream: u32) -> bool {
    client.send(get(stream, "/a/"));
    client.until(HEADERS, stream).is_some_and(|headers| status(&headers.content) == 200)
}

#[test]
fn a_preface_must_come_in_time() {
    let upstream = Upstream::ok();
    let gateway = impatient(&upstream);
    for bytes in [&PREFACE[..3], &PREFACE[..18], &PREFACE[..23]] {
        let mut socket = TcpStream::connect(("127.0.0.1", gateway.port)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        let _ = socket.read_to_end(&mut answer);
        assert!(answer.starts_with(b"HTTP/1.1 408 "), "{:?}", String::from_utf8_lossy(&answer));
    }
}

#[test]
fn over_tls_a_preface_must_come_in_time_too() {
    let upstream = Upstream::ok();
    let authority = Authority::new("tests");
    let dir = tempfile::tempdir().unwrap();
    let file = authority.issue(&["api.test"]).write(dir.path(), "own.pem");
    let conf = json!({
        "http_server_options": {"use_ssl": true, "enable_http2": true, "certificates": [{"cert_file": file}]},
        "tollgate": {"timeouts": {"handshake_ms": 1_000, "head_ms": 1_000}}
    });
    let gateway = Setup::new(conf).api(api("a", "/a/", &upstream.url())).start();
    let mut config = client(&authority, None);
    config.alpn_protocols = vec![b"h2".to_vec()];
    for bytes in [&PREFACE[..0], &PREFACE[..5], PREFACE] {
        let mut stream = shake_hands(&Arc::new(config.clone()), gateway.port, "api.test").unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        // Closed with or without the goodbye of TLS: it ends, which a read that times out would not.
        if let Err(error) = stream.read_to_end(&mut answer) {
            assert!(!matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut), "{error}");
        }
    }
}

#[test]
fn settings_must_follow_the_preface_in_time() {
    let upstream = Upstream::ok();
    let gateway = impatient(&upstream);
    for begun in [&b""[..], &frame(SETTINGS, 0, 0, setting(4, 100))[..11]] {
        let mut client = Frames::preface(gateway.port);
        client.send(begun);
        client.rest();
    }
    let mut good = Frames::open(gateway.port);
    std::thread::sleep(Duration::from_millis(1_500));
    assert!(serves(&mut good, 1), "a client that has said all it has to is not hurried");
}

#[test]
fn a_header_block_must_end_in_time() {
    let upstream = Upstream::ok();
    let gateway = impatient(&upstream);
    let mut good = Frames::open(gateway.port);
    let block = block("GET", "/a/", &[]);
    for begun in [
        frame(HEADERS, END_STREAM, 1, &block),
        frame(HEADERS, END_STREAM | END_HEADERS, 1, &block)[..20].to_vec(),
        frame(PING, 0, 0, b"12345678")[..12].to_vec(),
        b"\0".to_vec(),
    ] {
        let mut client = Frames::open(gateway.port);
        client.send(&begun);
        client.rest();
        assert!(serves(&mut good, 1), "others are served");
        good = Frames::open(gateway.port);
    }
    // One frame after the other does not help.
    let mut client = Frames::open(gateway.port);
    client.send(frame(HEADERS, END_STREAM, 1, &block));
    eventually("the dripping client is given up", || {
        std::thread::sleep(Duration::from_millis(100));
        client.0.write_all(&frame(CONTINUATION, 0, 1, b"\0\x01x\x01y")).is_err()
    });
    assert_eq!(upstream.requests(), 4);
}

#[test]
fn a_body_of_a_stream_must_go_on() {
    let upstream = Upstream::ok();
    let gateway = impatient(&upstream);
    let mut client = Frames::open(gateway.port);
    client.send(frame(HEADERS, END_HEADERS, 1, block("POST", "/a/", &[("content-length", "100")])));
    client.send(frame(DATA, 0, 1, b"half"));
    let answer = client.until(HEADERS, 1).expect("an answer");
    assert_eq!(status(&answer.content), 408);
    assert!(serves(&mut client, 3), "other streams of the connection go on");
    // A frame of data that stops halfway holds up its connection, and no longer than its stream may take.
    let mut client = Frames::open(gateway.port);
    client.send(frame(HEADERS, END_HEADERS, 1, block("POST", "/a/", &[("content-length", "100")])));
    client.send(&frame(DATA, 0, 1, [b'x'; 100])[..50]);
    assert!(client.until(HEADERS, 1).is_some_and(|answer| status(&answer.content) == 408));
    assert_eq!(upstream.requests(), 1);
}

/// Sends `piece` of its own each time, for as long as it is taken.
fn drip(mut socket: TcpStream, pause: Duration, piece: impl Fn() -> Vec<u8> + Send + 'static) {
    std::thread::spawn(move || {
        while socket.write_all(&piece()).is_ok() {
            std::thread::sleep(pause);
        }
    });
}

#[test]
fn a_body_that_goes_on_must_go_on_fast_enough() {
    let upstream = Upstream::ok();
    let conf = json!({"tollgate": {"limits": {"upload_rate_min": 20}, "timeouts": {"rate_grace_ms": 3000}}});
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);

    let mut steady = gateway.connect();
    steady.send("POST /a/ HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n");
    for _ in 0..20 {
        std::thread::sleep(Duration::from_millis(100));
        steady.send([b'x'; 50]);
    }
    assert_eq!(steady.try_response("POST").unwrap().status, 200);
    assert_eq!(upstream.requests(), 1);

    for framing in ["Content-Length: 1000000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nfffff\r\n"] {
        let mut slow = TcpStream::connect(("127.0.0.1", gateway.port)).unwrap();
        slow.set_read_timeout(Some(PATIENCE)).unwrap();
        slow.write_all(format!("POST /a/ HTTP/1.1\r\nHost: h\r\n{framing}").as_bytes()).unwrap();
        drip(slow.try_clone().unwrap(), Duration::from_millis(200), || b"x".to_vec());
        let mut answer = [0; 13];
        slow.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 408 ");
    }

    let mut client = Frames::open(gateway.port);
    client.send(frame(HEADERS, END_HEADERS, 1, block("POST", "/a/", &[("content-length", "1000000")])));
    drip(client.0.try_clone().unwrap(), Duration::from_millis(200), || frame(DATA, 0, 1, b"x"));
    assert!(client.until(HEADERS, 1).is_some_and(|answer| status(&answer.content) == 408));
    assert!(serves(&mut client, 3), "other streams of the connection go on");
    assert_eq!(upstream.requests(), 2, "nothing of the slow ones has become a request");
}

#[test]
fn a_response_must_be_taken_fast_enough() {
    const BYTES: usize = 64 << 20;
    let upstream = Upstream::start(|seen| {
        let bytes = if seen.target == "/big" { BYTES } else { 100_000 };
        reply("200 OK", &[], &"x".repeat(bytes))
    });
    // Faster than anybody who pauses; what is taken at once waits for nobody.
    let conf = json!({"tollgate": {"limits": {"download_rate_min": 1_000_000_000}, "timeouts": {"rate_grace_ms": 400}}});
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    assert_eq!(gateway.get("/a/").status, 200);

    let mut slow = TcpStream::connect(("127.0.0.1", gateway.port)).unwrap();
    slow.set_read_timeout(Some(PATIENCE)).unwrap();
    slow.write_all(b"GET /a/big HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    let (mut piece, mut taken, begun) = ([0; 64 * 1024], 0, Instant::now());
    while let Ok(read @ 1..) = slow.read(&mut piece) {
        taken += read;
        assert!(begun.elapsed() < PATIENCE, "it is still served after {taken} bytes");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(taken < BYTES, "{taken} bytes");

    // A window that opens by a few bytes again and again.
    let mut client = Frames::preface(gateway.port);
    client.send(frame(SETTINGS, 0, 0, setting(4, 0)));
    client.send(get(1, "/a/"));
    assert!(client.until(HEADERS, 1).is_some());
    drip(client.0.try_clone().unwrap(), Duration::from_millis(50), || frame(WINDOW_UPDATE, 0, 1, 10u32.to_be_bytes()));
    assert!(client.until(RST_STREAM, 1).is_some(), "the stream is reset");
}

/// A client whose own system takes little ahead of it.
fn with_small_buffer(port: u16) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(16 * 1024).unwrap();
    socket.connect(&std::net::SocketAddr::from(([127, 0, 0, 1], port)).into()).unwrap();
    let socket = TcpStream::from(socket);
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

#[test]
fn a_client_that_reads_steadily_is_served_though_nothing_can_be_written_for_long() {
    let upstream = Upstream::start(|_| reply("200 OK", &[], &"x".repeat(64 << 20)));
    let conf = json!({"tollgate": {"timeouts": {"client_write_ms": 2_000}}});
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    let mut steady = with_small_buffer(gateway.port);
    let mut stopping = with_small_buffer(gateway.port);
    for client in [&mut steady, &mut stopping] {
        client.write_all(b"GET /a/ HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    }
    // The system holds megabytes, of which this is a small part.
    let mut piece = [0; 8 * 1024];
    for _ in 0..80 {
        steady.read_exact(&mut piece).expect("it is served");
        std::thread::sleep(Duration::from_millis(50));
    }
    let cut = std::iter::from_fn(|| stopping.read(&mut piece).ok().filter(|read| *read > 0)).sum::<usize>();
    assert!(cut < 64 << 20, "who reads nothing is cut off");
}

#[test]
fn slow_bodies_and_slow_readers_are_shed_by_default() {
    let upstream = Upstream::start(|_| reply("200 OK", &[], &"x".repeat(64 << 20)));
    let gateway = Gateway::start(json!({"tollgate": {"timeouts": {"rate_grace_ms": 1000}}}), [api("a", "/a/", &upstream.url())]);
    let mut body = with_small_buffer(gateway.port);
    body.write_all(b"POST /a/ HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n").unwrap();
    drip(body.try_clone().unwrap(), Duration::from_millis(100), || b"x".to_vec());
    let mut reader = with_small_buffer(gateway.port);
    reader.write_all(b"GET /a/ HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    let mut answer = [0; 13];
    body.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 408 ");
    let begun = Instant::now();
    // What its own system holds can be read on, so the error of the connection is asked for.
    while matches!(reader.take_error(), Ok(None)) && matches!(reader.read(&mut [0; 10]), Ok(1..)) {
        assert!(begun.elapsed() < PATIENCE, "it is still served");
        std::thread::sleep(Duration::from_millis(100));
    }
    // One side of a conversation is silent for as long as it likes.
    let mut conversation = with_small_buffer(gateway.port);
    let head = "POST /a/ HTTP/1.1\r\nHost: h\r\nContent-Type: application/grpc\r\nContent-Length: 30\r\n\r\n";
    conversation.write_all(head.as_bytes()).unwrap();
    for _ in 0..30 {
        std::thread::sleep(Duration::from_millis(100));
        conversation.write_all(b"x").unwrap();
    }
    conversation.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 ");
}

#[test]
fn a_window_that_stays_shut_ends_its_stream_alone() {
    let upstream = Upstream::start(|seen| if seen.target == "/big" { reply("200 OK", &[], &"x".repeat(100_000)) } else { ok() });
    let gateway = impatient(&upstream);
    let mut client = Frames::preface(gateway.port);
    client.send(frame(SETTINGS, 0, 0, setting(4, 0)));
    client.send(get(1, "/a/big"));
    assert!(client.until(HEADERS, 1).is_some());
    assert!(client.until(RST_STREAM, 1).is_some(), "the stream is reset");
    client.send(get(3, "/a/"));
    assert!(client.until(HEADERS, 3).is_some(), "the connection goes on");
    client.send(frame(WINDOW_UPDATE, 0, 3, 100u32.to_be_bytes()));
    assert_eq!(client.until(DATA, 3).expect("what the window lets through").content, b"ok");
}

#[test]
fn a_client_that_reads_nothing_at_all_is_given_up() {
    let upstream = Upstream::start(|_| reply("200 OK", &[], &"x".repeat(4_000_000)));
    // What the system's buffers take of an answer may be all of it: its connection to the upstream is kept then, for a while.
    let timeouts = json!({"client_write_ms": 1_000, "client_idle_ms": 1_000, "upstream_idle_ms": 1_000});
    let gateway = Gateway::start(json!({"tollgate": {"timeouts": timeouts}}), [api("a", "/a/", &upstream.url())]);
    let before = gateway.open_files_at_rest();
    let clients: Vec<Frames> = (0..4)
        .map(|_| {
            let mut client = Frames::preface(gateway.port);
            client.send(frame(SETTINGS, 0, 0, setting(4, i32::MAX as u32)));
            client.send(frame(WINDOW_UPDATE, 0, 0, (i32::MAX as u32 - 65_535).to_be_bytes()));
            (0..10).for_each(|number| client.send(get(1 + number * 2, "/a/")));
            client
        })
        .collect();
    eventually("all are under way", || upstream.connections() >= 20);
    eventually("the gateway has let go of them and of their upstream", || gateway.open_files() <= before + 2);
    assert!(gateway.grown_kib() < 52 * 1024, "{} KiB", gateway.grown_kib());
    drop(clients);
}

#[test]
fn a_proxy_header_must_come_in_time() {
    let upstream = Upstream::ok();
    let conf = json!({"tollgate": {"proxy_protocol": ["127.0.0.1"], "timeouts": {"handshake_ms": 1_000}}});
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    for begun in [&b""[..], b"PROXY TCP4 203.0.113.7", b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x01"] {
        let mut connection = gateway.connect();
        connection.send(begun);
        connection.expect_close();
    }
    // Byte after byte does not help.
    let mut connection = gateway.connect();
    connection.send("PROXY ");
    eventually("the dripping proxy is given up", || {
        std::thread::sleep(Duration::from_millis(50));
        connection.try_send("1").is_err()
    });
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn a_websocket_without_a_byte_is_closed_and_one_with_is_not() {
    let upstream = upgrade::echo();
    let mut conf = upgrade::enabled();
    crate::harness::definition::merge(&mut conf, &json!({"tollgate": {"timeouts": {"tunnel_idle_ms": 4_000}}}));
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    let mut silent = upgrade::open(&gateway, "/a/");
    let mut lively = upgrade::open(&gateway, "/a/");
    for _ in 0..16 {
        std::thread::sleep(Duration::from_millis(300));
        lively.send(b"ping");
        assert_eq!(lively.exactly(4).unwrap(), b"ping");
    }
    silent.expect_close();
    lively.expect_close();
}
