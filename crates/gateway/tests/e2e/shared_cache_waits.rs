//! Requests of the shared cache that wait for each other, and upstreams and clients that make them wait in vain: they die, hang, send half, read
//! slowly or leave.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use bytes::Bytes;
use h2::client::SendRequest;
use serde_json::json;

use crate::harness::certificates::{self, Authority};
use crate::harness::http2::{Http2Upstream, ask, connect, converse, get as get_http2, write};
use crate::harness::shared_cache::{shared, with_cache};
use crate::harness::wire::Broken;
use crate::harness::{Connection, Gateway, PATIENCE, Seen, Upstream, api, eventually, get, reply};
use crate::keys::{create, keyed, session};

/// What upstreams wait for.
#[derive(Default)]
struct Gate(Mutex<bool>, Condvar);

impl Gate {
    fn open(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_all();
    }

    fn close(&self) {
        *self.0.lock().unwrap() = false;
    }

    fn pass(&self) {
        let open = self.0.lock().unwrap();
        let passed = self.1.wait_timeout_while(open, PATIENCE, |open| !*open).unwrap();
        assert!(!passed.1.timed_out(), "the gate is never opened");
    }
}

/// Sends this many requests on connections of their own, without waiting for answers.
fn crowd(gateway: &Gateway, count: usize, target: &str) -> Vec<Connection> {
    let sent = |_| {
        let mut client = gateway.connect();
        client.send(get(target));
        client
    };
    (0..count).map(sent).collect()
}

/// An upstream that says when it is asked, and answers when the gate is open.
fn gated(answer: impl Fn(usize) -> Vec<u8> + Send + Sync + 'static) -> (Upstream, Arc<Gate>, Arc<AtomicUsize>) {
    let (gate, asked) = (Arc::new(Gate::default()), Arc::new(AtomicUsize::new(0)));
    let (held, counted) = (gate.clone(), asked.clone());
    let upstream = Upstream::start(move |_| {
        let number = counted.fetch_add(1, Ordering::SeqCst) + 1;
        held.pass();
        answer(number)
    });
    (upstream, gate, asked)
}

/// Gives requests that were sent the time to be read. No test depends on it: a request that is late makes the test easier to pass.
fn settle() {
    std::thread::sleep(Duration::from_millis(300));
}

#[test]
fn a_thousand_misses_become_one_request_and_get_a_thousand_right_answers() {
    for body in ["short".to_owned(), "long ".repeat(60_000)] {
        let sent = body.clone();
        let (upstream, gate, _) = gated(move |_| reply("200 OK", &["Cache-Control: max-age=60"], &sent));
        let gateway = Gateway::start(
            json!({"tollgate": {"limits": {"connections_per_ip_max": 0}}}),
            [shared(&upstream, json!({"wait_ms_max": 60_000}))],
        );
        let mut clients = crowd(&gateway, 1_000, "/a/x");
        settle();
        gate.open();
        let mut collapsed = 0;
        for client in &mut clients {
            let answer = client.response("GET");
            assert_eq!((answer.status, answer.body == body.as_bytes()), (200, true));
            collapsed += usize::from(answer.header("cache-status").is_some_and(|status| status.ends_with("; collapsed")));
        }
        assert_eq!(upstream.requests(), 1);
        assert!(collapsed > 0, "some have waited");
    }
}

#[test]
fn misses_over_http2_wait_for_each_other_too() {
    let (upstream, gate, _) = gated(|_| reply("200 OK", &["Cache-Control: max-age=60"], &"x".repeat(200_000)));
    let gateway = Gateway::start(json!({}), [shared(&upstream, json!({"wait_ms_max": 60_000}))]);
    let opener = gate.clone();
    std::thread::spawn(move || {
        settle();
        opener.open();
    });
    converse(async {
        let client = connect(gateway.port).await;
        let asks = |client: &SendRequest<Bytes>| {
            let client = client.clone();
            tokio::task::spawn_local(async move { ask(&client, get_http2("/a/x")).await.unwrap() })
        };
        let answers: Vec<_> = (0..50).map(|_| asks(&client)).collect();
        for answer in answers {
            let answer = answer.await.unwrap();
            assert_eq!((answer.status, answer.body.len()), (200, 200_000));
        }
        ask(&client, get_http2("/a/x")).await.unwrap();
    });
    assert_eq!(upstream.requests(), 1);
}

#[test]
fn when_the_upstream_dies_all_get_the_same_error() {
    let (upstream, gate, _) = gated(|_| Vec::new());
    let gateway = Gateway::start(json!({}), [shared(&upstream, json!({"wait_ms_max": 60_000}))]);
    let mut clients = crowd(&gateway, 30, "/a/x");
    settle();
    gate.open();
    let answers: HashSet<String> = clients
        .iter_mut()
        .map(|client| {
            let answer = client.response("GET");
            format!("{} {}", answer.status, answer.text())
        })
        .collect();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert!(answers.iter().all(|answer| answer.starts_with("500")), "{answers:?}");
    assert!(upstream.requests() < 30, "{}", upstream.requests());
}

#[test]
fn when_the_upstream_hangs_nobody_waits_for_longer_than_configured() {
    // The first answer never comes; the second one does.
    let (first, held) = (AtomicBool::new(true), Arc::new(Gate::default()));
    let gate = held.clone();
    let upstream = Upstream::start(move |_| {
        if first.swap(false, Ordering::SeqCst) {
            held.pass();
        }
        reply("200 OK", &["Cache-Control: max-age=60"], "good")
    });
    let gateway = Gateway::start(json!({}), [shared(&upstream, json!({"wait_ms_max": 200}))]);
    let mut leader = gateway.connect();
    leader.send(get("/a/x"));
    eventually("the upstream is asked", || upstream.requests() == 1);
    for mut client in crowd(&gateway, 20, "/a/x") {
        assert_eq!(client.response("GET").text(), "good");
    }
    gate.open();
    assert_eq!(leader.response("GET").text(), "good");
}

#[test]
fn a_response_that_is_cut_is_cut_for_all_and_stored_for_none() {
    for head in ["Content-Length: 100000", "Transfer-Encoding: chunked"] {
        let is_chunked = head.starts_with("T");
        let (upstream, gate, asked) = gated(move |number| match number {
            1 => {
                let half = "x".repeat(50_000);
                let half = if is_chunked { format!("{:x}\r\n{half}\r\n", half.len()) } else { half };
                format!("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n{head}\r\nConnection: close\r\n\r\n{half}").into_bytes()
            }
            _ => reply("200 OK", &["Cache-Control: max-age=60"], "good"),
        });
        let gateway = Gateway::start(json!({}), [shared(&upstream, json!({"wait_ms_max": 60_000}))]);
        let mut clients = crowd(&gateway, 20, "/a/x");
        settle();
        gate.open();
        let mut cut = 0;
        for client in &mut clients {
            match client.try_response("GET") {
                Ok(answer) => assert_eq!(answer.text(), "good"),
                Err(Broken::Cut(_) | Broken::Closed) => cut += 1,
                Err(broken) => panic!("{head}: {broken}"),
            }
        }
        assert!(cut >= 1, "{head}: at least the first is cut");
        assert_eq!(gateway.get("/a/x").text(), "good");
        assert_eq!(gateway.get("/a/x").text(), "good");
        assert!(asked.load(Ordering::SeqCst) <= 3, "{head}: {asked:?}");
    }
}

#[test]
fn a_response_that_comes_slowly_is_read_by_all_as_it_comes() {
    let (begun, rest) = (Arc::new(Gate::default()), Arc::new(Gate::default()));
    let (may_begin, may_end) = (begun.clone(), rest.clone());
    let upstream = Upstream::raw(move |mut wire, _| {
        if Seen::read(&mut wire).is_none() {
            return;
        }
        may_begin.pass();
        wire.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 10\r\n\r\nfirst");
        may_end.pass();
        wire.send(" half");
    });
    let gateway = Gateway::start(json!({}), [shared(&upstream, json!({"wait_ms_max": 60_000}))]);
    let mut clients = crowd(&gateway, 20, "/a/x");
    settle();
    begun.open();
    for client in &mut clients {
        assert_eq!(client.head().unwrap().get("content-length"), Some("10"));
        assert_eq!(client.exactly(5).unwrap(), b"first", "before the upstream has sent the rest");
    }
    rest.open();
    for client in &mut clients {
        assert_eq!(client.exactly(5).unwrap(), b" half");
    }
    assert_eq!((upstream.connections(), gateway.get("/a/x").text()), (1, "first half".to_owned()));
}

#[test]
fn a_leader_that_leaves_holds_nobody() {
    let (upstream, gate, asked) = gated(|_| reply("200 OK", &["Cache-Control: max-age=60"], "good"));
    let gateway = Gateway::start(json!({}), [shared(&upstream, json!({"wait_ms_max": 60_000}))]);
    let mut leader = gateway.connect();
    leader.send(get("/a/x"));
    eventually("the upstream is asked", || asked.load(Ordering::SeqCst) == 1);
    let clients = crowd(&gateway, 20, "/a/x");
    settle();
    leader.reset();
    // One of those who wait asks in its place.
    eventually("the upstream is asked again", || asked.load(Ordering::SeqCst) == 2);
    gate.open();
    for mut client in clients {
        assert_eq!(client.response("GET").text(), "good");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

/// A client with a small receive buffer, whose request is sent.
fn slow_client(gateway: &Gateway, target: &str) -> Connection {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    socket.connect(&std::net::SocketAddr::from(([127, 0, 0, 1], gateway.port)).into()).unwrap();
    let mut client = Connection::over(socket.into());
    client.send(get(target));
    client
}

/// A response that may be stored for a minute, in chunks of 10,000 bytes.
fn in_chunks(body: &[u8]) -> Vec<u8> {
    let mut bytes = b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for piece in body.chunks(10_000) {
        bytes.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        bytes.extend_from_slice(piece);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

#[test]
fn a_leader_that_reads_nothing_holds_nobody() {
    for is_chunked in [false, true] {
        // More than the kernel buffers for a client that does not read.
        let body = "0123456789".repeat(700_000);
        let sent = body.clone();
        let (upstream, gate, _) = gated(move |_| match is_chunked {
            true => in_chunks(sent.as_bytes()),
            false => reply("200 OK", &["Cache-Control: max-age=60"], &sent),
        });
        // Nobody may lose patience and ask the upstream instead.
        let conf = json!({"tollgate": {"cache": {"body_bytes_max": 8 << 20}}});
        let gateway = Gateway::start(conf, [shared(&upstream, json!({"wait_ms_max": 60_000}))]);
        let mut leader = slow_client(&gateway, "/a/x");
        eventually("the upstream is asked", || upstream.requests() == 1);
        let mut clients = crowd(&gateway, 5, "/a/x");
        gate.open();
        for client in &mut clients {
            assert!(client.response("GET").body == body.as_bytes());
        }
        // It gets all of it when it reads.
        assert!(leader.response("GET").body == body.as_bytes());
        assert!(gateway.get("/a/x").body == body.as_bytes());
        assert_eq!(upstream.requests(), 1, "chunks: {is_chunked}");
    }
}

#[test]
fn a_response_that_turns_out_too_large_is_whole_for_each_and_held_back_for_a_client_that_does_not_read() {
    const WHOLE: usize = 40_000_000;
    let (begin, came) = (Arc::new(Gate::default()), Arc::new(Mutex::new(Vec::new())));
    let (may_begin, coming) = (begin.clone(), came.clone());
    let upstream = Upstream::raw(move |mut wire, _| {
        let number = {
            let mut coming = coming.lock().unwrap();
            coming.push(0);
            coming.len() - 1
        };
        if Seen::read(&mut wire).is_none() {
            return;
        }
        may_begin.pass();
        wire.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
        let piece = format!("{:x}\r\n{}\r\n", 100_000, "x".repeat(100_000));
        for _ in 0..WHOLE / 100_000 {
            wire.send(&piece);
            coming.lock().unwrap()[number] += 100_000;
        }
        wire.send("0\r\n\r\n");
    });
    let conf = json!({"tollgate": {"cache": {"body_bytes_max": 65_536}}});
    let gateway = Gateway::start(conf, [shared(&upstream, json!({"wait_ms_max": 60_000}))]);
    let mut leader = slow_client(&gateway, "/a/x");
    eventually("the upstream is asked", || upstream.connections() == 1);
    let mut clients = crowd(&gateway, 2, "/a/x");
    settle();
    begin.open();
    for client in &mut clients {
        assert_eq!(client.response("GET").body.len(), WHOLE);
    }
    assert_eq!(upstream.connections(), 3, "each has asked");
    let (first, rest) = {
        let came = came.lock().unwrap();
        (came[0], came[1..].to_vec())
    };
    assert!(first < WHOLE && rest == [WHOLE; 2], "{first} {rest:?}");
    assert_eq!(leader.response("GET").body.len(), WHOLE);
    let answer = gateway.get("/a/x");
    assert_eq!((answer.body.len(), upstream.connections()), (WHOLE, 4), "it is not stored");
}

#[test]
fn a_response_without_an_end_is_read_no_longer_than_somebody_waits() {
    let is_closed = Arc::new(AtomicBool::new(false));
    let closed = is_closed.clone();
    let upstream = Upstream::raw(move |mut wire, _| {
        if Seen::read(&mut wire).is_none() {
            return;
        }
        wire.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n");
        while wire.try_send("4\r\nmore\r\n").is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
        closed.store(true, Ordering::SeqCst);
    });
    let gateway = Gateway::start(json!({}), [shared(&upstream, json!({"wait_ms_max": 200}))]);
    let mut leader = gateway.connect();
    leader.send(get("/a/x"));
    assert!(leader.head().unwrap().has("transfer-encoding"));
    leader.exactly(100).unwrap();
    leader.reset();
    eventually("the upstream's connection is closed", || is_closed.load(Ordering::SeqCst));
}

#[test]
fn the_first_client_gets_a_body_of_unknown_length_in_its_own_protocol() {
    let body: Vec<u8> = (0..300_000_u32).map(|at| (at % 251) as u8).collect();
    let bytes = in_chunks(&body);
    let upstream = Upstream::start(move |_: &Seen| bytes.clone());
    let gateway = Gateway::start(json!({}), [shared(&upstream, json!({"wait_ms_max": 60_000}))]);
    let first = gateway.get("/a/1");
    assert_eq!((first.header("transfer-encoding"), first.body == body), (Some("chunked"), true));
    let raw = gateway.raw("GET /a/2 HTTP/1.0\r\nHost: gateway.test\r\n\r\n");
    assert!(raw.ends_with(&body) && !String::from_utf8_lossy(&raw).contains("chunked"));
    converse(async {
        let client = connect(gateway.port).await;
        let answers = [ask(&client, get_http2("/a/3")).await.unwrap(), ask(&client, get_http2("/a/3")).await.unwrap()];
        assert!(answers.iter().all(|answer| answer.body == body));
    });
    // A part of it, and none of it.
    let part = gateway.send(crate::harness::request("GET", "/a/1", &["Range: bytes=250-252"], ""));
    assert_eq!((part.status, part.body), (206, vec![250, 0, 1]));
    for target in ["/a/1", "/a/2", "/a/3"] {
        let stored = gateway.get(target);
        assert_eq!((stored.header("content-length"), stored.body == body), (Some("300000"), true), "{target}");
    }
    assert_eq!(upstream.requests(), 3);
}

#[test]
fn what_can_not_be_stored_is_not_waited_for_again() {
    let (upstream, gate, asked) = gated(|number| reply("200 OK", &["Cache-Control: no-store"], &format!("answer {number}")));
    let gateway = Gateway::start(json!({}), [shared(&upstream, json!({"wait_ms_max": 60_000}))]);
    let mut clients = crowd(&gateway, 20, "/a/x");
    settle();
    gate.open();
    let answers: HashSet<String> = clients.iter_mut().map(|client| client.response("GET").text()).collect();
    assert_eq!((answers.len(), upstream.requests()), (20, 20), "each has an answer of its own");
    gate.close();
    let mut clients = crowd(&gateway, 20, "/a/x");
    eventually("all of them ask at once", || asked.load(Ordering::SeqCst) == 40);
    gate.open();
    let answers: HashSet<String> = clients.iter_mut().map(|client| client.response("GET").text()).collect();
    assert_eq!(answers.len(), 20);
}

#[test]
fn limits_count_each_request_that_waits_once() {
    let (upstream, gate, _) = gated(|_| reply("200 OK", &["Cache-Control: s-maxage=60"], "good"));
    let definition = with_cache(keyed("a", &upstream), json!({}));
    let gateway = Gateway::start(json!({}), [definition]);
    let key = create(&gateway, &session(json!({"quota_max": 100, "quota_remaining": 100, "quota_renewal_rate": 3600})));
    let clients: Vec<Connection> = (0..20)
        .map(|_| {
            let mut client = gateway.connect();
            client.send(crate::harness::request("GET", "/a/x", &[&format!("Authorization: {key}")], ""));
            client
        })
        .collect();
    settle();
    gate.open();
    for mut client in clients {
        assert_eq!(client.response("GET").text(), "good");
    }
    let next = gateway.send(crate::harness::request("GET", "/a/x", &[&format!("Authorization: {key}")], ""));
    assert_eq!((next.header("x-ratelimit-remaining"), upstream.requests()), (Some("79"), 1));
}

#[test]
fn a_large_hit_is_whole_for_slow_and_fast_readers_over_both_protocols() {
    let body: Vec<u8> = (0..1_000_000_u32).map(|at| (at % 251) as u8).collect();
    let mut bytes = format!("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(&body);
    let upstream = Upstream::start(move |_: &Seen| bytes.clone());
    let tyk = api("t", "/t/", &upstream.url())
        .set("cache_options", json!({"enable_cache": true, "cache_timeout": 60, "cache_all_safe_requests": true}));
    let gateway = Gateway::start(json!({}), [shared(&upstream, json!({"wait_ms_max": 60_000})), tyk]);
    for target in ["/a/x", "/t/x"] {
        let before = upstream.requests();
        assert_eq!(gateway.get(target).body, body);
        let mut client = gateway.connect();
        // Two hits on one connection, the first one read in pieces.
        client.send(get(target));
        client.send(get(target));
        let head = client.head().unwrap();
        assert_eq!(head.get("content-length"), Some("1000000"));
        let mut read = Vec::new();
        for _ in 0..10 {
            read.extend(client.exactly(100_000).unwrap());
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(read, body);
        assert_eq!(client.response("GET").body, body);
        converse(async {
            let client = connect(gateway.port).await;
            let answers = [ask(&client, get_http2(target)).await.unwrap(), ask(&client, get_http2(target)).await.unwrap()];
            assert!(answers.iter().all(|answer| answer.body == body));
        });
        // HTTP/1.0 as well.
        let raw = gateway.raw(format!("GET {target} HTTP/1.0\r\nHost: gateway.test\r\n\r\n"));
        assert!(raw.ends_with(&body));
        assert_eq!(upstream.requests() - before, 1, "{target}");
    }
}

#[test]
fn a_large_hit_is_whole_over_tls() {
    let body = "0123456789".repeat(100_000);
    let sent = body.clone();
    let upstream = Upstream::start(move |_| reply("200 OK", &["Cache-Control: max-age=60"], &sent));
    let (authority, folder) = (Authority::new("tests"), tempfile::tempdir().unwrap());
    let file = authority.issue(&["api.test"]).write(folder.path(), "own.pem");
    let options = json!({"use_ssl": true, "certificates": [{"cert_file": file, "key_file": file}]});
    let gateway = Gateway::start(json!({"http_server_options": options}), [shared(&upstream, json!({"wait_ms_max": 60_000}))]);
    let mut client = certificates::connect(&Arc::new(certificates::client(&authority, None)), gateway.port, "api.test");
    // Nothing is read until all of it was asked for: the TLS layer's buffers are full in between.
    (0..4).for_each(|_| client.send(get("/a/x")));
    settle();
    for _ in 0..4 {
        assert_eq!(client.response("GET").body, body.as_bytes());
    }
    assert_eq!(upstream.requests(), 1);
}

#[test]
fn responses_over_http2_and_in_chunks_are_stored_as_they_come() {
    async fn answer(request: http::Request<h2::RecvStream>, mut respond: h2::server::SendResponse<Bytes>) {
        let mut head = http::Response::builder().header("cache-control", "max-age=60");
        if request.uri().path() == "/sized" {
            head = head.header("content-length", "400000");
        }
        let Ok(mut stream) = respond.send_response(head.body(()).unwrap(), false) else { return };
        for piece in 0..4 {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let _ = write(&mut stream, &[b'a' + piece; 100_000], piece == 3).await;
        }
    }
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let upstream = Http2Upstream::start(None, move |request, respond| {
        counted.fetch_add(1, Ordering::SeqCst);
        answer(request, respond)
    });
    let definition = with_cache(api("a", "/a/", &format!("h2c://{}", upstream.address)), json!({}));
    let gateway = Gateway::start(json!({}), [definition]);
    for (count, target) in ["/a/sized", "/a/unsized"].into_iter().enumerate() {
        for mut client in crowd(&gateway, 10, target) {
            let body = client.response("GET").body;
            assert_eq!((body.len(), body.first(), body.last()), (400_000, Some(&b'a'), Some(&b'd')), "{target}");
        }
        assert_eq!(asked.load(Ordering::SeqCst), count + 1, "{target}");
    }
}

#[test]
fn a_client_that_takes_nothing_of_a_hit_is_cut() {
    let upstream = Upstream::start(|_| reply("200 OK", &["Cache-Control: max-age=60"], &"x".repeat(1_000_000)));
    let conf = json!({"tollgate": {"timeouts": {"client_write_ms": 500}}});
    let gateway = Gateway::start(conf, [shared(&upstream, json!({"wait_ms_max": 60_000}))]);
    gateway.get("/a/x");
    let idle = gateway.open_files_at_rest();
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    socket.connect(&std::net::SocketAddr::from(([127, 0, 0, 1], gateway.port)).into()).unwrap();
    let mut client = Connection::over(socket.into());
    (0..20).for_each(|_| client.send(get("/a/x")));
    eventually("the gateway gives it up", || gateway.open_files() <= idle);
    drop(client);
}

#[test]
fn with_a_full_memory_every_answer_is_right() {
    let upstream = Upstream::start(|seen: &Seen| reply("200 OK", &["Cache-Control: max-age=60"], &seen.target.repeat(20_000)));
    let conf = json!({"tollgate": {"cache": {"memory_mib_max": 2, "body_bytes_max": 300_000}}});
    let gateway = Gateway::start(conf, [shared(&upstream, json!({"wait_ms_max": 60_000}))]);
    for round in 0..2 {
        for number in 0..60 {
            let answer = gateway.get(&format!("/a/{number}"));
            assert_eq!((answer.status, answer.text()), (200, format!("/{number}").repeat(20_000)), "{round}");
        }
    }
    assert!(upstream.requests() > 60, "not all of them have room");
    let metrics = gateway.control("GET", "/tyk/metrics", "").text();
    assert!(metrics.contains("tollgate_cache_evicted_total"), "{metrics}");
}

#[test]
fn a_response_with_conflicting_lengths_is_neither_passed_nor_stored() {
    for head in ["Content-Length: 4\r\nContent-Length: 5", "Content-Length: 4, 5", "Content-Length: 4\r\nTransfer-Encoding: gzip"] {
        let upstream = Upstream::start(move |_| {
            format!("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nConnection: close\r\n{head}\r\n\r\nabcde").into_bytes()
        });
        let gateway = Gateway::start(json!({}), [shared(&upstream, json!({"wait_ms_max": 60_000}))]);
        for count in 1..=2 {
            let status = gateway.get("/a/x").status;
            assert!((500..600).contains(&status), "{head}: {status}");
            assert_eq!(upstream.requests(), count, "{head}");
        }
    }
}
