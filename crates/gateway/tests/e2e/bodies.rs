//! Bodies of every framing and size: they arrive whole, as they come, in bounded memory, with their trailers.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::json;

use crate::harness::wire::Framing;
use crate::harness::{Gateway, PATIENCE, Seen, Upstream, api, get, ok, reply, request};

const MIB: usize = 1 << 20;
/// How much more the gateway may take at its peak than at its start, whatever passes through it.
const GROWN_KIB_MAX: u64 = 24 * 1024;

fn gateway_for(upstream: &Upstream) -> Gateway {
    Gateway::start(json!({}), [api("a", "/a/", &upstream.url())])
}

/// Bytes without a short period, so that a lost or doubled block shows.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

fn chunked(bytes: &[u8], size: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for part in bytes.chunks(size) {
        out.extend_from_slice(format!("{:x}\r\n", part.len()).as_bytes());
        out.extend_from_slice(part);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
    out
}

#[test]
fn request_bodies_keep_their_bytes_and_their_framing() {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    for length in [0, 1, 100, 4095, 4096, 65_535, 65_536, 65_537, MIB, 3 * MIB + 17] {
        let body = noise(length);
        let mut with_length = format!("POST /a/ HTTP/1.1\r\nHost: h\r\nContent-Length: {length}\r\n\r\n").into_bytes();
        with_length.extend_from_slice(&body);
        assert_eq!(client.ask(with_length).status, 200);
        let seen = upstream.last();
        assert_eq!(seen.framing, Framing::Length, "{length}");
        assert!(seen.body == body, "the body of {length} bytes changed");

        for size in [7, 5000, 200_000] {
            if length > MIB && size == 7 {
                continue;
            }
            let mut in_chunks = b"PUT /a/ HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
            in_chunks.extend_from_slice(&chunked(&body, size));
            assert_eq!(client.ask(in_chunks).status, 200);
            let seen = upstream.last();
            assert_eq!(seen.framing, Framing::Chunked, "{length} in chunks of {size}");
            assert!(seen.body == body, "the body of {length} bytes in chunks of {size} changed");
        }
    }
}

#[test]
fn response_bodies_keep_their_bytes_and_their_framing() {
    let upstream = Upstream::start(|seen| {
        let (kind, length) = seen.target[1..].split_once('/').unwrap();
        let body = noise(length.parse().unwrap());
        let mut bytes = b"HTTP/1.1 200 OK\r\n".to_vec();
        match kind {
            "length" => {
                bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
                bytes.extend_from_slice(&body);
            }
            "close" => {
                bytes.extend_from_slice(b"Connection: close\r\n\r\n");
                bytes.extend_from_slice(&body);
            }
            size => {
                bytes.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
                bytes.extend_from_slice(&chunked(&body, size.parse().unwrap()));
            }
        }
        bytes
    });
    let gateway = gateway_for(&upstream);
    for length in [0, 1, 4096, 65_535, 65_536, 65_537, 3 * MIB + 17] {
        let mut client = gateway.connect();
        for kind in ["length", "11", "70000", "close"] {
            if length > MIB && kind == "11" {
                continue;
            }
            let response = client.ask(get(&format!("/a/{kind}/{length}")));
            assert!(response.body == noise(length), "{kind} {length}: {} bytes came", response.body.len());
            match kind {
                "length" => assert_eq!(response.framing, Framing::Length),
                "close" => {}
                _ => assert_eq!(response.framing, Framing::Chunked),
            }
        }
    }
}

#[test]
fn a_request_without_a_body_is_forwarded_without_one() {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    client.ask("POST /a/ HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(upstream.last().header("content-length"), Some("0"));
    client.ask("POST /a/ HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_eq!(upstream.last().body, b"");
    client.ask("POST /a/ HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    assert_eq!(upstream.last().body, b"");
    assert_eq!(client.ask(get("/a/")).status, 200);
}

#[test]
fn chunk_sizes_may_be_written_in_any_legal_way() {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    for body in [
        "A\r\n0123456789\r\n0\r\n\r\n",
        "a\r\n0123456789\r\n000\r\n\r\n",
        "00a;name=value\r\n0123456789\r\n0;last\r\n\r\n",
        "a;q=\"x\"\r\n0123456789\r\n0\r\n\r\n",
    ] {
        let response = client.ask(format!("POST /a/ HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n{body}"));
        assert_eq!((response.status, upstream.last().text().as_str()), (200, "0123456789"), "{body:?}");
    }
    assert_eq!(client.ask("POST /a/ HTTP/1.1\r\nHost: h\r\ntransfer-encoding: Chunked\r\n\r\n0\r\n\r\n").status, 200);
}

#[test]
fn trailers_pass_in_both_directions() {
    let upstream = Upstream::start(|_| {
        b"HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 42\r\nX-More: a b\r\n\r\n"
            .to_vec()
    });
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url()).set("tollgate/forward_request_trailers", true)]);
    let mut client = gateway.connect();
    for _ in 0..2 {
        let response = client.ask(
            "POST /a/ HTTP/1.1\r\nHost: h\r\nTE: trailers\r\nTrailer: X-Check\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Check: 1\r\n\r\n",
        );
        let expect = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect::<Vec<_>>();
        assert_eq!(response.trailers, expect(&[("X-Sum", "42"), ("X-More", "a b")]));
        assert_eq!(upstream.last().trailers, expect(&[("X-Check", "1")]));
    }
}

#[test]
fn each_part_of_a_response_reaches_the_client_before_the_next_is_made() {
    for head in
        ["Content-Length: 9\r\n", "Transfer-Encoding: chunked\r\n", "Content-Type: text/event-stream\r\nConnection: close\r\n"]
    {
        let (received, next) = channel::<()>();
        let next = Mutex::new(next);
        let is_chunked = head.contains("chunked");
        let upstream = Upstream::raw(move |mut wire, _| {
            if Seen::read(&mut wire).is_none() {
                return;
            }
            wire.send(format!("HTTP/1.1 200 OK\r\n{head}\r\n"));
            for part in ["one", "two", "thr"] {
                next.lock().unwrap().recv_timeout(PATIENCE).expect("the client has the part before");
                wire.send(if is_chunked { format!("3\r\n{part}\r\n") } else { part.to_owned() });
            }
            if is_chunked {
                wire.send("0\r\n\r\n");
            }
        });
        let gateway = gateway_for(&upstream);
        let mut client = gateway.connect();
        client.send(get("/a/"));
        let relayed = client.head().expect("the head comes before the body");
        let in_chunks = relayed.has("transfer-encoding");
        for part in ["one", "two", "thr"] {
            received.send(()).unwrap();
            let bytes = if in_chunks { client.chunk() } else { client.exactly(3) };
            assert_eq!(bytes.expect("a part"), part.as_bytes());
        }
    }
}

#[test]
fn each_part_of_a_request_reaches_the_upstream_before_the_next_is_sent() {
    for is_chunked in [false, true] {
        let (received, parts) = channel();
        let received = Mutex::new(received);
        let upstream = Upstream::raw(move |mut wire, _| {
            if wire.head().is_err() {
                return;
            }
            for _ in 0..3 {
                let bytes = if is_chunked { wire.chunk() } else { wire.exactly(3) };
                received.lock().unwrap().send(bytes.expect("a part")).unwrap();
            }
            if is_chunked {
                assert_eq!(wire.chunk().expect("the last chunk"), b"");
                wire.exactly(2).expect("its end");
            }
            wire.send(ok());
        });
        let gateway = gateway_for(&upstream);
        let mut client = gateway.connect();
        let framing = if is_chunked { "Transfer-Encoding: chunked" } else { "Content-Length: 9" };
        client.send(format!("POST /a/ HTTP/1.1\r\nHost: h\r\n{framing}\r\n\r\n"));
        for part in ["one", "two", "thr"] {
            client.send(if is_chunked { format!("3\r\n{part}\r\n") } else { part.to_owned() });
            assert_eq!(parts.recv_timeout(PATIENCE).expect("the upstream got it"), part.as_bytes());
        }
        if is_chunked {
            client.send("0\r\n\r\n");
        }
        assert_eq!(client.response("POST").status, 200);
    }
}

#[test]
fn an_answer_that_comes_before_the_body_is_whole_reaches_the_client() {
    let upstream = Upstream::raw(|mut wire, _| {
        if wire.head().is_ok() {
            wire.send(reply("413 Content Too Large", &["Connection: close"], "too much"));
            wire.finish_sending();
            let _ = wire.rest();
        }
    });
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    client.send(format!("POST /a/ HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n", 50 * MIB));
    client.send(noise(1000));
    let response = client.response("POST");
    assert_eq!((response.status, response.text().as_str()), (413, "too much"));
}

#[test]
fn two_bodies_may_flow_at_the_same_time() {
    let upstream = Upstream::raw(|mut wire, _| {
        if wire.head().is_err() {
            return;
        }
        wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        loop {
            let bytes = wire.chunk().expect("a chunk");
            if bytes.is_empty() {
                wire.send("0\r\n\r\n");
                return;
            }
            wire.send(format!("{:x}\r\n", bytes.len()).into_bytes());
            wire.send(bytes);
            wire.send("\r\n");
        }
    });
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    client.send("POST /a/ HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.send("5\r\nhello\r\n");
    assert_eq!(client.head().expect("an answer while the request still runs").first, "HTTP/1.1 200 OK");
    assert_eq!(client.chunk().unwrap(), b"hello");
    client.send("5\r\nworld\r\n");
    assert_eq!(client.chunk().unwrap(), b"world");
    client.send("0\r\n\r\n");
    assert_eq!(client.chunk().unwrap(), b"");
}

/// Sends until the socket has taken nothing for a while, and says how much it took.
fn fill(socket: &mut TcpStream, most: usize) -> usize {
    socket.set_write_timeout(Some(Duration::from_millis(700))).unwrap();
    let block = noise(64 * 1024);
    let mut sent = 0;
    while sent < most {
        match socket.write(&block[..block.len().min(most - sent)]) {
            Ok(count) => sent += count,
            Err(_) => break,
        }
    }
    sent
}

#[test]
fn a_client_that_does_not_read_holds_the_upstream_back() {
    const LENGTH: usize = 96 * MIB;
    let (sent, taken) = channel();
    let sent = Mutex::new(sent);
    let upstream = Upstream::raw(move |mut wire, _| {
        if Seen::read(&mut wire).is_none() {
            return;
        }
        wire.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {LENGTH}\r\n\r\n"));
        let mut socket = wire.socket().try_clone().unwrap();
        let first = fill(&mut socket, LENGTH);
        sent.lock().unwrap().send(first).unwrap();
        socket.set_write_timeout(Some(PATIENCE)).unwrap();
        let block = vec![b'x'; 64 * 1024];
        let mut left = LENGTH - first;
        while left > 0 {
            let count = socket.write(&block[..block.len().min(left)]).expect("the client reads again");
            left -= count;
        }
    });
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    client.send(get("/a/"));
    let first = taken.recv_timeout(PATIENCE).expect("the upstream is held");
    assert!(first < LENGTH, "everything was taken from the upstream though nobody read it");
    assert_eq!(client.response("GET").body.len(), LENGTH);
    assert!(gateway.grown_kib() < GROWN_KIB_MAX, "{} KiB", gateway.grown_kib());
}

#[test]
fn an_upstream_that_does_not_read_holds_the_client_back() {
    const LENGTH: usize = 96 * MIB;
    let (go_on, wait) = channel::<()>();
    let wait = Mutex::new(wait);
    let upstream = Upstream::raw(move |mut wire, _| {
        let Ok(head) = wire.head() else { return };
        wait.lock().unwrap().recv_timeout(PATIENCE).expect("the client was held");
        let body = wire.request_body(&head).expect("the whole body");
        wire.send(reply("200 OK", &[], &body.bytes.len().to_string()));
    });
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    client.send(format!("POST /a/ HTTP/1.1\r\nHost: h\r\nContent-Length: {LENGTH}\r\n\r\n"));
    let mut socket = client.socket().try_clone().unwrap();
    let first = fill(&mut socket, LENGTH);
    assert!(first < LENGTH, "everything was taken from the client though nobody read it");
    go_on.send(()).unwrap();
    socket.set_write_timeout(Some(PATIENCE)).unwrap();
    let block = vec![b'x'; 64 * 1024];
    let mut left = LENGTH - first;
    while left > 0 {
        left -= socket.write(&block[..block.len().min(left)]).expect("the upstream reads");
    }
    assert_eq!(client.response("POST").text(), LENGTH.to_string());
    assert!(gateway.grown_kib() < GROWN_KIB_MAX, "{} KiB", gateway.grown_kib());
}

#[test]
fn a_long_download_and_upload_pass_in_little_memory() {
    const LENGTH: usize = 256 * MIB;
    let upstream = Upstream::raw(|mut wire, _| {
        while let Ok(head) = wire.head() {
            if head.first.starts_with("GET") {
                wire.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {LENGTH}\r\n\r\n"));
                let block = noise(MIB);
                for _ in 0..LENGTH / MIB {
                    wire.send(&block);
                }
            } else {
                let mut left = LENGTH;
                while left > 0 {
                    left -= wire.some().expect("more of the body").len();
                }
                wire.send(reply("200 OK", &[], "all of it"));
            }
        }
    });
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();

    client.send(get("/a/"));
    assert_eq!(client.head().unwrap().get("content-length"), Some(LENGTH.to_string().as_str()));
    let (block, mut read) = (noise(MIB), Vec::with_capacity(2 * MIB));
    for number in 0..LENGTH / MIB {
        read.extend_from_slice(&client.exactly(MIB - read.len()).expect("more of the body"));
        assert!(read == block, "MiB {number} changed");
        read.clear();
    }

    client.send(format!("POST /a/ HTTP/1.1\r\nHost: h\r\nContent-Length: {LENGTH}\r\n\r\n"));
    for _ in 0..LENGTH / MIB {
        client.send(&block);
    }
    assert_eq!(client.response("POST").text(), "all of it");
    assert!(gateway.grown_kib() < GROWN_KIB_MAX, "{} KiB", gateway.grown_kib());
}

#[test]
fn a_client_that_leaves_in_the_middle_ends_the_upstreams_work() {
    let (ended, wait) = channel();
    let ended = Mutex::new(ended);
    let upstream = Upstream::raw(move |mut wire, _| {
        if Seen::read(&mut wire).is_none() {
            return;
        }
        wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        let chunk = chunked(&noise(1000), 1000);
        while wire.try_send(&chunk[..chunk.len() - 5]).is_ok() {}
        let _ = ended.lock().unwrap().send(());
    });
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    client.send(get("/a/"));
    client.head().unwrap();
    drop(client);
    wait.recv_timeout(PATIENCE).expect("the upstream learns that its client is gone");
}

#[test]
fn a_body_that_nobody_takes_is_not_read_as_the_next_request() {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    let hidden = "GET /a/hidden HTTP/1.1\r\nHost: h\r\n\r\n";
    let mut client = gateway.connect();
    client.send(request("POST", "/nowhere", &[], hidden));
    assert_eq!(client.response("POST").status, 404);
    // Either the connection goes on behind the body, or it is closed; the body itself is never a request.
    if client.try_send(get("/a/visible")).is_ok()
        && let Ok(response) = client.try_response("GET")
    {
        assert_eq!(response.status, 200);
    }
    assert!(!upstream.take_targets().contains(&"/hidden".to_owned()));
}

#[test]
fn a_sluggish_reader_gets_every_byte() {
    let body = noise(2 * MIB);
    let copy = body.clone();
    let upstream = Upstream::start(move |_| {
        let mut bytes = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", copy.len()).into_bytes();
        bytes.extend_from_slice(&copy);
        bytes
    });
    let gateway = gateway_for(&upstream);
    let client = gateway.connect();
    let mut socket = client.socket().try_clone().unwrap();
    socket2::SockRef::from(&socket).set_recv_buffer_size(4096).unwrap();
    socket.write_all(get("/a/").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
    let mut all = Vec::new();
    let mut block = [0; 1500];
    loop {
        match socket.read(&mut block) {
            Ok(0) => break,
            Ok(count) => all.extend_from_slice(&block[..count]),
            // A read with a time limit is not begun again by itself when the process was stopped for a moment.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert!(all.ends_with(&body));
}
