//! Upstreams that close early, talk nonsense, talk too much or fall silent: the client gets a clear answer or a visibly broken one, never a wrong one.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::harness::wire::Broken;
use crate::harness::{Gateway, Seen, Upstream, api, error_json, eventually, get, ok, reply, request};

const PROXYING: &str = "There was a problem proxying the request";

fn gateway_for(upstream: &Upstream) -> Gateway {
    Gateway::start(json!({"proxy_default_timeout": 2}), [api("a", "/a/", &upstream.url())])
}

#[test]
fn a_response_cut_anywhere_is_a_failure_or_visibly_cut() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\nX-Y: z\r\n\r\n";
    const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (head, body) in [(HEAD, "the body"), (CHUNKED, "3\r\nthe\r\n5\r\n body\r\n0\r\n\r\n")] {
        let whole = format!("{head}{body}");
        let text = whole.clone();
        let upstream = Upstream::raw(move |mut wire, _| {
            if let Some(seen) = Seen::read(&mut wire) {
                let end: usize = seen.target[1..].parse().unwrap();
                let _ = wire.try_send(&text.as_bytes()[..end]);
            }
        });
        let gateway = gateway_for(&upstream);
        for end in 0..whole.len() {
            let mut client = gateway.connect();
            client.send(get(&format!("/a/{end}")));
            match client.try_response("GET") {
                Ok(response) => {
                    assert!(end < head.len(), "cut at {end}, yet whole: {response}");
                    assert_eq!((response.status, response.text()), (500, error_json(PROXYING)), "cut at {end}");
                }
                Err(Broken::Cut(_)) => assert!(end >= head.len(), "cut at {end}: no answer"),
                Err(broken) => panic!("cut at {end}: {broken}"),
            }
        }
    }
}

#[test]
fn nonsense_is_not_passed_on() {
    let long = "v".repeat(200_000);
    let many: String = (0..2000).map(|number| format!("X-{number}: v\r\n")).collect();
    let answers = [
        "garbage\r\n\r\n".to_owned(),
        "\0\u{1}\u{2}\u{3}\r\n\r\n".to_owned(),
        "HTTP/9.9 200 OK\r\n\r\n".to_owned(),
        "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n".to_owned(),
        "ICY 200 OK\r\n\r\n".to_owned(),
        "HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n".to_owned(),
        "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n".to_owned(),
        "HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n".to_owned(),
        "HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nno colon here\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nX y: 1\r\nContent-Length: 0\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc".to_owned(),
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc".to_owned(),
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".to_owned(),
        format!("HTTP/1.1 200 OK\r\nX: {long}\r\nContent-Length: 0\r\n\r\n"),
        format!("HTTP/1.1 200 OK\r\n{many}Content-Length: 0\r\n\r\n"),
        long.clone(),
    ];
    for answer in answers {
        let shown = answer[..answer.len().min(80)].to_owned();
        let upstream = Upstream::once(answer);
        let gateway = gateway_for(&upstream);
        let mut client = gateway.connect();
        for _ in 0..2 {
            let response = client.ask(get("/a/"));
            assert_eq!((response.status, response.text()), (500, error_json(PROXYING)), "{shown:?}");
        }
    }
}

/// RFC 9112 §2.2, §5.1 and §5.2. The next response must not come over the same connection: where this one ends may be in dispute.
#[test]
fn line_ends_and_spaces_in_a_head_are_mended() {
    let plain = "HTTP/1.1 200 OK\nContent-Length: 2\nX-Y: z\n\nok";
    let interim = "HTTP/1.1 103 Early Hints\nLink : a\n\nHTTP/1.1 200 OK\r\nX-Y : z\r\nContent-Length: 2\r\n\r\nok";
    for (answer, lines) in [
        (plain, [("x-y", Some("z"))].as_slice()),
        ("HTTP/1.1 200 OK\r\nX-Y: a\r\n b\r\n\tc\r\nContent-Length: 2\r\n\r\nok", &[("x-y", Some("a b c"))]),
        ("HTTP/1.1 200 OK\r\nX-Y : z\r\nContent-Length\t: 2\r\n\r\nok", &[("x-y", Some("z")), ("content-length", Some("2"))]),
        ("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\r\nok\r\n0\r\n\r\n", &[("x-y", None)]),
        (interim, &[("x-y", Some("z"))]),
    ] {
        for piece in [1, 7, answer.len()] {
            let upstream = Upstream::raw(move |mut wire, _| {
                while Seen::read(&mut wire).is_some() {
                    for bytes in answer.as_bytes().chunks(piece) {
                        wire.send(bytes);
                    }
                }
            });
            let gateway = gateway_for(&upstream);
            let mut client = gateway.connect();
            for count in 1..3 {
                let response = client.ask(get("/a/"));
                assert_eq!((response.status, response.text().as_str()), (200, "ok"), "{answer:?} in pieces of {piece}: {response}");
                for (name, value) in lines {
                    assert_eq!(response.header(name), *value, "{answer:?}");
                }
                assert_eq!(upstream.connections(), count, "{answer:?}");
            }
        }
    }
    // What is mended may contradict itself all the same.
    for answer in [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\nContent-Length: 2\nContent-Length: 3\n\nok",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 2\r\n\r\nok",
        "HTTP/1.1 200 OK\nX: 1\rY: 2\n\n",
    ] {
        let upstream = Upstream::once(answer);
        let response = gateway_for(&upstream).get("/a/");
        assert_eq!((response.status, response.text()), (500, error_json(PROXYING)), "{answer:?}");
    }
}

#[test]
fn broken_chunks_of_an_upstream_end_the_response_visibly() {
    let long = "x".repeat(200_000);
    for body in [
        "x\r\nabc",
        "3\r\nabcd\r\n0\r\n\r\n",
        "-3\r\nabc\r\n0\r\n\r\n",
        "10000000000000003\r\nabc\r\n0\r\n\r\n",
        "3\nabc\r\n0\r\n\r\n",
        &format!("3;{long}\r\nabc\r\n0\r\n\r\n"),
    ] {
        let upstream = Upstream::once(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}"));
        let gateway = gateway_for(&upstream);
        let mut client = gateway.connect();
        client.send(get("/a/"));
        match client.try_response("GET") {
            Ok(response) => assert_eq!(response.status, 500, "{:?}: {response}", &body[..body.len().min(40)]),
            Err(broken) => {
                assert!(matches!(broken, Broken::Cut(_) | Broken::Closed), "{:?}: {broken}", &body[..body.len().min(40)])
            }
        }
    }
}

#[test]
fn more_than_was_declared_is_dropped_with_its_connection() {
    let answering = Arc::<AtomicUsize>::default();
    let writing = answering.clone();
    let upstream = Upstream::raw(move |mut wire, index| {
        while Seen::read(&mut wire).is_some() {
            writing.fetch_add(1, Ordering::SeqCst);
            // In one write, and in two: the rest may come with the answer or just after it.
            if index % 2 == 0 {
                let _ = wire.try_send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok, and a lot more");
            } else {
                let _ = wire.try_send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n");
                let _ = wire.try_send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
            }
            writing.fetch_sub(1, Ordering::SeqCst);
        }
    });
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    for _ in 0..20 {
        let response = client.ask(get("/a/"));
        assert!(response.text() == "ok" || response.status == 500, "{response}");
        // What comes after the answer has to arrive; no one can tell it from the next answer before that.
        eventually("all is written", || answering.load(Ordering::SeqCst) == 0);
    }
}

#[test]
fn a_body_where_none_belongs_does_not_shift_the_answers() {
    for answer in ["HTTP/1.1 204 No Content\r\n\r\nbody", "HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\nbody"] {
        let upstream = Upstream::raw(move |mut wire, _| {
            while let Some(seen) = Seen::read(&mut wire) {
                let _ = if seen.target == "/odd" { wire.try_send(answer) } else { wire.try_send(ok()) };
            }
        });
        let gateway = gateway_for(&upstream);
        let mut client = gateway.connect();
        for _ in 0..5 {
            assert!(matches!(client.ask(get("/a/odd")).status, 204 | 304));
            assert_eq!(client.ask(get("/a/even")).text(), "ok");
        }
    }
}

#[test]
fn an_answer_to_head_with_a_body_does_not_shift_the_answers() {
    let upstream = Upstream::raw(|mut wire, _| {
        while Seen::read(&mut wire).is_some() {
            let _ = wire.try_send(reply("200 OK", &[], "body"));
        }
    });
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    for _ in 0..5 {
        assert_eq!(client.ask(request("HEAD", "/a/", &[], "")).status, 200);
        assert_eq!(client.ask(get("/a/")).text(), "body");
    }
}

#[test]
fn an_upstream_that_resets_is_a_failure() {
    let upstream = Upstream::raw(|mut wire, _| {
        if Seen::read(&mut wire).is_some() {
            wire.reset();
        }
    });
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    for method in ["GET", "POST", "GET"] {
        let response = client.ask(request(method, "/a/", &[], ""));
        assert_eq!((response.status, response.text()), (500, error_json(PROXYING)));
    }
}

#[test]
fn an_upstream_that_leaves_during_an_upload_is_a_failure() {
    let upstream = Upstream::raw(|mut wire, _| {
        let _ = wire.head();
        wire.reset();
    });
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    let mut socket = client.socket().try_clone().unwrap();
    let sender = std::thread::spawn(move || {
        let _ = socket.write_all(format!("POST /a/ HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n", 64 << 20).as_bytes());
        let block = vec![0; 1 << 16];
        for _ in 0..1024 {
            if socket.write_all(&block).is_err() {
                return;
            }
        }
    });
    match client.try_response("POST") {
        Ok(response) => assert_eq!(response.status, 500),
        Err(broken) => assert!(matches!(broken, Broken::Cut(_) | Broken::Closed), "{broken}"),
    }
    drop(client);
    sender.join().unwrap();
}

#[test]
fn interim_responses_without_end_come_to_an_end() {
    let upstream = Upstream::raw(|mut wire, _| {
        if Seen::read(&mut wire).is_some() {
            let block = "HTTP/1.1 102 Processing\r\n\r\n".repeat(100);
            while wire.try_send(&block).is_ok() {}
        }
    });
    let other = Upstream::ok();
    let gateway =
        Gateway::start(json!({"proxy_default_timeout": 4}), [api("a", "/a/", &upstream.url()), api("b", "/b/", &other.url())]);
    let mut client = gateway.connect();
    client.send(get("/a/"));
    assert_eq!(gateway.get("/b/").status, 200);
    match client.try_response("GET") {
        Ok(response) => assert!(matches!(response.status, 500 | 504), "{response}"),
        Err(broken) => assert!(matches!(broken, Broken::Cut(_) | Broken::Closed), "{broken}"),
    }
    assert!(gateway.grown_kib() < 24 * 1024, "{} KiB", gateway.grown_kib());
}

#[test]
fn a_head_without_end_comes_to_an_end() {
    for line in ["X-More: and more\r\n", "x"] {
        let upstream = Upstream::raw(move |mut wire, _| {
            if Seen::read(&mut wire).is_some() {
                wire.send("HTTP/1.1 200 OK\r\n");
                let block = line.repeat(1000);
                while wire.try_send(&block).is_ok() {}
            }
        });
        let gateway = gateway_for(&upstream);
        assert_eq!(gateway.get("/a/").status, 500);
        assert!(gateway.grown_kib() < 24 * 1024, "{} KiB", gateway.grown_kib());
    }
}

#[test]
fn a_head_one_byte_at_a_time_is_given_up() {
    let upstream = Upstream::raw(|mut wire, _| {
        if Seen::read(&mut wire).is_some() {
            let text = format!("HTTP/1.1 200 OK\r\nX: {}", "y".repeat(4000));
            for byte in text.bytes() {
                if wire.try_send([byte]).is_err() {
                    return;
                }
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
        }
    });
    let conf = json!({"proxy_default_timeout": 1, "tollgate": {"timeouts": {"upstream_idle_ms": 500}}});
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    let response = gateway.get("/a/");
    assert!(matches!(response.status, 500 | 504), "{response}");
}

#[test]
fn silence_of_one_upstream_does_not_hold_the_others() {
    let silent = Upstream::raw(|mut wire, _| {
        let _ = wire.rest();
    });
    let other = Upstream::ok();
    let gateway =
        Gateway::start(json!({"proxy_default_timeout": 5}), [api("a", "/a/", &silent.url()), api("b", "/b/", &other.url())]);
    let mut waiting: Vec<_> = (0..50).map(|_| gateway.connect()).collect();
    for client in &mut waiting {
        client.send(get("/a/"));
    }
    eventually("all of them wait at the silent upstream", || silent.connections() >= 50);
    let mut client = gateway.connect();
    for _ in 0..20 {
        assert_eq!(client.ask(get("/b/")).status, 200);
    }
    for client in &mut waiting {
        assert_eq!(client.response("GET").status, 504);
    }
}

#[test]
fn an_answer_that_comes_too_late_is_not_given_to_the_next_request() {
    let (is_too_late, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let upstream = Upstream::raw(move |mut wire, _| {
        while let Some(seen) = Seen::read(&mut wire) {
            if seen.target == "/late" {
                let _ = wait.lock().unwrap().recv();
            }
            if wire.try_send(reply("200 OK", &[], &seen.target)).is_err() {
                return;
            }
        }
    });
    let gateway = Gateway::start(json!({"proxy_default_timeout": 4}), [api("a", "/a/", &upstream.url())]);
    let mut client = gateway.connect();
    assert_eq!(client.ask(get("/a/late")).status, 504);
    is_too_late.send(()).unwrap();
    for number in 0..40 {
        let response = client.ask(get(&format!("/a/{number}")));
        assert_eq!(response.text(), format!("/{number}"));
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
