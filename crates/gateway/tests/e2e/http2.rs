//! HTTP/2 with clients: by prior knowledge and by ALPN, many streams at once, bodies at the reader's pace, and clients that misbehave.

use std::io::Write;
use std::net::TcpStream;
use std::process::Command;

use bytes::Bytes;
use h2::Reason;
use http::{HeaderMap, HeaderValue, Request};
use serde_json::json;

use crate::harness::certificates::Authority;
use crate::harness::http2::{ask, collect, connect, converse, get, post, upload, whole, write};
use crate::harness::{Gateway, Setup, Upstream, api, eventually, ok, reply};

fn echo() -> Upstream {
    Upstream::start(|seen| match seen.target.as_str() {
        _ if seen.method == "HEAD" => b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n".to_vec(),
        "/echo" => reply("200 OK", &["X-Method: yes"], &seen.text()),
        "/none" => b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(),
        "/interim" => [b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".to_vec(), ok()].concat(),
        "/chunks" => {
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\nX-Sum: 7\r\nX-More: b\r\n\r\n"
                .to_vec()
        }
        target => reply("200 OK", &["Connection: keep-alive", "Keep-Alive: timeout=5"], target),
    })
}

#[test]
fn curl_speaks_it_by_alpn_and_by_prior_knowledge() {
    let authority = Authority::new("tests");
    let dir = tempfile::tempdir().unwrap();
    let file = authority.issue(&["api.test"]).write(dir.path(), "own.pem");
    let roots = dir.path().join("roots.pem");
    std::fs::write(&roots, authority.pem()).unwrap();
    let upstream = echo();
    for (enabled, version) in [(true, "2"), (false, "1.1")] {
        let options = json!({"use_ssl": true, "enable_http2": enabled, "certificates": [{"cert_file": file}]});
        let setup = Setup::new(json!({ "http_server_options": options }));
        let gateway = setup.api(api("a", "/a/", &upstream.url())).start();
        let output = Command::new("curl")
            .args(["-sS", "--max-time", "20", "--http2", "-w", " over %{http_version}", "-d", "some text", "--cacert"])
            .arg(&roots)
            .args(["--connect-to", &format!("::127.0.0.1:{}", gateway.port), "https://api.test/a/echo"])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("some text over {version}"), "{output:?}");
    }
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let url = format!("http://127.0.0.1:{}/a/echo", gateway.port);
    let output = Command::new("curl")
        .args(["-sS", "--max-time", "20", "--http2-prior-knowledge", "-w", " over %{http_version}", "-d", "some text", &url])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "some text over 2", "{output:?}");
    assert_eq!(upstream.last().header("x-forwarded-for"), Some("127.0.0.1"));
    assert_eq!(upstream.last().version, "HTTP/1.1");
}

#[test]
fn answers_are_those_of_the_upstream_without_what_belongs_to_its_connection() {
    let upstream = echo();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    converse(async {
        let client = connect(gateway.port).await;
        let answer = ask(&client, get("/a/some%20path?q=1")).await.unwrap();
        assert_eq!((answer.status, answer.text()), (200, "/some%20path?q=1".to_owned()));
        assert_eq!(answer.header("content-length"), Some("16"));
        for name in ["connection", "keep-alive", "transfer-encoding"] {
            assert_eq!(answer.header(name), None);
        }
        let none = ask(&client, get("/a/none")).await.unwrap();
        assert_eq!((none.status, none.body.len()), (204, 0));
        let head = Request::head("http://gateway.test/a/x").body(()).unwrap();
        let head = ask(&client, head).await.unwrap();
        assert_eq!((head.status, head.header("content-length"), head.body.len()), (200, Some("2"), 0));
        assert_eq!(ask(&client, get("/a/interim")).await.unwrap().status, 200);
        assert_eq!(ask(&client, get("/elsewhere")).await.unwrap().status, 404);
    });
    let seen = upstream.seen();
    assert_eq!(seen[0].header("host"), Some(upstream.address.to_string().as_str()));
    assert_eq!(upstream.connections(), 1, "streams one after the other share a pooled connection");
}

#[test]
fn trailers_pass_both_ways() {
    let upstream = echo();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url()).set("tollgate/forward_request_trailers", true)]);
    converse(async {
        let client = connect(gateway.port).await;
        let answer = ask(&client, get("/a/chunks")).await.unwrap();
        assert_eq!(answer.text(), "abcdefg");
        let trailers = answer.trailers.expect("trailers");
        let value = |name: &str| trailers.get(name).and_then(|value| value.to_str().ok());
        assert_eq!((value("x-sum"), value("x-more")), (Some("7"), Some("b")));

        let mut trailers = HeaderMap::new();
        trailers.insert("x-check", HeaderValue::from_static("sum"));
        let answer = upload(&client, post("/a/echo"), b"body", Some(trailers)).await.unwrap();
        assert_eq!((answer.status, answer.text()), (200, "body".to_owned()));
    });
    let seen = upstream.last();
    assert_eq!(seen.trailers, [("x-check".to_owned(), "sum".to_owned())]);
    assert_eq!(seen.body, b"body");
}

#[test]
fn many_streams_at_once_get_their_own_answers() {
    let upstream = echo();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    converse(async {
        let client = connect(gateway.port).await;
        let tasks: Vec<_> = (0..200)
            .map(|number| {
                let client = client.clone();
                tokio::task::spawn_local(async move {
                    let body = format!("{number} ").repeat(1 + number * 50);
                    let answer = upload(&client, post("/a/echo"), body.as_bytes(), None).await.unwrap();
                    assert_eq!((answer.status, answer.text() == body), (200, true), "{number}");
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
}

#[test]
fn bodies_are_moved_at_the_readers_pace() {
    const BYTES: usize = 40_000_000;
    let upstream = Upstream::start(|seen| match seen.method.as_str() {
        "GET" => reply("200 OK", &[], &"x".repeat(BYTES)),
        _ => reply("200 OK", &[], &seen.body.len().to_string()),
    });
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    converse(async {
        let client = connect(gateway.port).await;
        let mut ready = client.clone().ready().await.unwrap();
        let (answer, _) = ready.send_request(get("/a/big"), true).unwrap();
        let mut content = answer.await.unwrap().into_body();
        // Nothing is taken for a while: the window closes, and other streams go on.
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        assert_eq!(upload(&client, post("/a/echo"), b"x", None).await.unwrap().status, 200);
        assert!(gateway.grown_kib() < 20_000, "{} KiB", gateway.grown_kib());
        assert_eq!(collect(&mut content).await.unwrap().len(), BYTES);

        let answer = upload(&client, post("/a/up"), &vec![b'y'; BYTES], None).await.unwrap();
        assert_eq!(answer.text(), BYTES.to_string());
        assert!(gateway.grown_kib() < 20_000, "{} KiB", gateway.grown_kib());
    });
}

#[test]
fn an_early_answer_ends_an_upload_that_nobody_wants() {
    let upstream = Upstream::raw(|mut wire, _| {
        let _ = wire.head();
        let _ = wire.try_send(reply("403 Forbidden", &["Connection: close"], "no"));
        let _ = wire.rest();
    });
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    converse(async {
        let client = connect(gateway.port).await;
        let mut ready = client.clone().ready().await.unwrap();
        let (answer, mut stream) = ready.send_request(post("/a/"), false).unwrap();
        write(&mut stream, b"beginning", false).await.unwrap();
        let answer = whole(answer.await.unwrap()).await.unwrap();
        assert_eq!((answer.status, answer.text()), (403, "no".to_owned()));
        let reason = std::future::poll_fn(|cx| stream.poll_reset(cx)).await.unwrap();
        assert_eq!(reason, Reason::NO_ERROR);
        assert_eq!(ask(&client, get("/none")).await.unwrap().status, 404, "the connection lives on");
    });
}

#[test]
fn a_cut_answer_resets_its_stream_and_no_other() {
    let upstream = Upstream::start(|seen| match seen.target.as_str() {
        "/cut" => b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 100\r\n\r\nnot all".to_vec(),
        "/dead" => Vec::new(),
        _ => ok(),
    });
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    converse(async {
        let client = connect(gateway.port).await;
        for _ in 0..3 {
            assert!(ask(&client, get("/a/cut")).await.is_err());
            assert_eq!(ask(&client, get("/a/dead")).await.unwrap().status, 500);
            assert_eq!(ask(&client, get("/a/")).await.unwrap().status, 200);
        }
    });
}

#[test]
fn requests_that_are_none_are_refused_one_by_one() {
    let upstream = echo();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    converse(async {
        let client = connect(gateway.port).await;
        let with = |name: &'static str, value: &str| {
            let mut request = get("/a/");
            request.headers_mut().insert(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
            request
        };
        assert_eq!(ask(&client, with("host", "other.test")).await.unwrap().status, 400);
        assert_eq!(ask(&client, with("host", "gateway.test")).await.unwrap().status, 200);
        let connect_request = Request::connect("gateway.test:80").body(()).unwrap();
        assert_eq!(ask(&client, connect_request).await.unwrap().status, 501);
        let mut many = get("/a/");
        for number in 0..120 {
            many.headers_mut().insert(http::HeaderName::try_from(format!("x-{number}")).unwrap(), HeaderValue::from_static("1"));
        }
        assert_eq!(ask(&client, many).await.unwrap().status, 431);
        assert_eq!(ask(&client, with("x-long", &"x".repeat(40_000))).await.map(|answer| answer.status).unwrap_or(431), 431);
        let client = connect(gateway.port).await;
        assert_eq!(ask(&client, get("/a/../b")).await.unwrap().status, 301);
    });
}

// --- Clients that misbehave ---

#[test]
fn a_client_that_throws_its_requests_away_is_turned_out() {
    let upstream = Upstream::raw(|mut wire, _| {
        let _ = wire.rest();
    });
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    converse(async {
        let client = connect(gateway.port).await;
        let mut ended = None;
        for _ in 0..5000 {
            let Ok(mut ready) = client.clone().ready().await else { break };
            match ready.send_request(get("/a/"), true) {
                Ok((answer, mut stream)) => {
                    // The request leaves before it is taken back.
                    tokio::task::yield_now().await;
                    stream.send_reset(Reason::CANCEL);
                    drop(answer);
                }
                Err(error) => {
                    ended = Some(error);
                    break;
                }
            }
            tokio::task::yield_now().await;
        }
        let end = match ended {
            Some(error) => error,
            None => ask(&client, get("/a/")).await.unwrap_err(),
        };
        assert!(end.is_go_away() || end.is_io() || end.is_reset(), "{end:?}");
        let another = connect(gateway.port).await;
        assert_eq!(ask(&another, get("/none")).await.unwrap().status, 404);
    });
    eventually("the upstream connections are gone", || gateway.open_files() < 60);
}

#[test]
fn a_client_that_takes_nothing_of_its_answer_is_given_up() {
    let upstream = Upstream::start(|seen| reply("200 OK", &[], &"x".repeat(seen.target[1..].parse().unwrap())));
    let conf = json!({"tollgate": {"timeouts": {"client_write_ms": 400}}});
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    // One answer waits in the gateway whole, the other in part.
    for size in [100_000, 3_000_000] {
        converse(async {
            let client = connect(gateway.port).await;
            let mut ready = client.clone().ready().await.unwrap();
            let (answer, _) = ready.send_request(get(&format!("/a/{size}")), true).unwrap();
            let mut content = answer.await.unwrap().into_body();
            let mut got = 0;
            let end = loop {
                match content.data().await {
                    Some(Ok(data)) => got += data.len(),
                    Some(Err(error)) => break Some(error),
                    None => break None,
                }
            };
            assert!(end.is_some_and(|end| end.is_reset()), "the stream is reset");
            assert!(got < size, "{got}");
            drop(content);
            assert_eq!(ask(&client, get("/none")).await.unwrap().status, 404, "the connection lives on");
        });
    }
}

#[test]
fn streams_at_once_are_bounded() {
    let upstream = echo();
    let conf = json!({"tollgate": {"limits": {"http2_streams_max": 5}}});
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    converse(async {
        let client = connect(gateway.port).await;
        assert_eq!(ask(&client, get("/a/")).await.unwrap().status, 200);
        assert_eq!(client.current_max_send_streams(), 5);
    });
}

#[test]
fn a_preface_cut_anywhere_and_what_only_looks_like_one_harm_nobody() {
    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let upstream = echo();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    for cut in 1..PREFACE.len() {
        let mut socket = TcpStream::connect(("127.0.0.1", gateway.port)).unwrap();
        socket.write_all(&PREFACE[..cut]).unwrap();
    }
    for (bytes, status) in [
        (b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n".to_vec(), Some("505")),
        (b"PRI / HTTP/2.0\r\n\r\n".to_vec(), Some("505")),
        (b"GET / HTTP/2.0\r\n\r\n".to_vec(), Some("505")),
        ([PREFACE, &[0xff; 100]].concat(), None),
        ([PREFACE, b"\0\0\x04\x08\0\0\0\0\0\0\0\0\0".as_slice()].concat(), None),
        // Behind a request a preface is no longer one.
        ([b"GET /none HTTP/1.1\r\nHost: h\r\n\r\n".as_slice(), PREFACE].concat(), Some("505")),
    ] {
        let answer = String::from_utf8_lossy(&gateway.raw_or_reset(&bytes)).into_owned();
        assert_eq!(answer.contains("505"), status.is_some(), "{:?} got {answer:?}", String::from_utf8_lossy(&bytes));
    }
    converse(async {
        assert_eq!(ask(&connect(gateway.port).await, get("/a/")).await.unwrap().status, 200);
    });
}

#[test]
fn endless_header_frames_are_cut_off() {
    let gateway = Gateway::start(json!({}), [api("a", "/a/", "http://127.0.0.1:9")]);
    let mut socket = TcpStream::connect(("127.0.0.1", gateway.port)).unwrap();
    socket.set_read_timeout(Some(crate::harness::PATIENCE)).unwrap();
    socket.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").unwrap();
    // HEADERS without END_HEADERS, then CONTINUATION for ever (CVE-2024-27316).
    socket.write_all(b"\0\0\x01\x01\x01\0\0\0\x01\x82").unwrap();
    let mut sent = 0;
    let mut frame = b"\0\x40\0\x09\0\0\0\0\x01".to_vec();
    frame.extend([0x84; 0x4000]);
    while sent < 200_000_000 && socket.write_all(&frame).is_ok() {
        sent += frame.len();
    }
    assert!(sent < 100_000_000, "{sent} bytes were taken");
    assert!(gateway.grown_kib() < 36_000, "{} KiB", gateway.grown_kib());
}

// --- Ends ---

#[test]
fn draining_says_goodbye_and_finishes_what_is_open() {
    let upstream = echo();
    let mut gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    converse(async {
        let client = connect(gateway.port).await;
        let mut ready = client.clone().ready().await.unwrap();
        let (answer, mut stream) = ready.send_request(post("/a/echo"), false).unwrap();
        stream.send_data(Bytes::from_static(b"a"), false).unwrap();
        while upstream.connections() == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        gateway.signal("TERM");
        // GOAWAY closes the connection to new streams.
        while ask(&client, get("/none")).await.is_ok() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        stream.send_data(Bytes::from_static(b"b"), true).unwrap();
        let answer = whole(answer.await.unwrap()).await.unwrap();
        assert_eq!((answer.status, answer.text()), (200, "ab".to_owned()));
    });
    assert!(gateway.wait_for_exit().success());
}

#[test]
fn an_idle_connection_is_told_to_go() {
    let upstream = echo();
    let conf = json!({"tollgate": {"timeouts": {"client_idle_ms": 400}}});
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    converse(async {
        let client = connect(gateway.port).await;
        assert_eq!(ask(&client, get("/a/")).await.unwrap().status, 200);
        while client.clone().ready().await.is_ok() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    });
}
