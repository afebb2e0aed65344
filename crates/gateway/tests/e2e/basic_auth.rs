//! HTTP basic authentication: users are keys with a password.

use serde_json::json;

use crate::harness::http2::{ask as ask_over, connect, converse, post, upload};
pub(crate) use crate::harness::keys::basic as line;
use crate::harness::users::{ask, checks, put_user, with_users};
use crate::harness::{Definition, Gateway, Response, Upstream, error_json, eventually, request};

fn start(change: impl Fn(Definition) -> Definition) -> (Upstream, Gateway) {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [change(with_users("a", &upstream))]);
    (upstream, gateway)
}

#[test]
fn a_password_is_stored_hashed_and_never_shown() {
    let (_upstream, gateway) = start(|definition| definition);
    put_user(&gateway, "POST", "alice", json!({"password": "a plain word"}));
    let shown = gateway.control("GET", "/tyk/keys/alice?org_id=default&username=true", "");
    assert_eq!(shown.json()["basic_auth_data"], json!({"hash_type": "bcrypt"}), "{shown}");
    // What was shown can be written back: the password stays.
    assert_eq!(gateway.control("PUT", "/tyk/keys/alice?org_id=default", &shown.text()).status, 200);
    assert_eq!(ask(&gateway, "alice", "a plain word").status, 200);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(gateway.dir().join("data")).unwrap() {
        files.extend(std::fs::read(entry.unwrap().path()).unwrap_or_default());
    }
    assert!(!files.windows(12).any(|window| window == b"a plain word"), "the store has the password");
}

#[test]
fn guesses_from_many_connections_hold_nobody_for_ever() {
    let (_upstream, gateway) = start(|definition| definition);
    put_user(&gateway, "POST", "alice", json!({"password": "right"}));
    assert_eq!(ask(&gateway, "alice", "right").status, 200);
    std::thread::scope(|scope| {
        let guesses: Vec<_> = (0..24)
            .map(|guess| {
                scope.spawn({
                    let gateway = &gateway;
                    move || ask(gateway, "alice", &format!("guess {guess}")).status
                })
            })
            .collect();
        assert_eq!(ask(&gateway, "alice", "right").status, 200, "who was let in lately does not wait");
        for guess in guesses {
            assert!([401, 503].contains(&guess.join().unwrap()));
        }
    });
}

#[test]
fn one_wrong_password_from_everywhere_is_checked_once() {
    let (_upstream, gateway) = start(|definition| definition.set("basic_auth/disable_caching", true));
    // A hash that takes some time.
    put_user(&gateway, "POST", "alice", json!({"password": "right"}));
    for user in ["alice", "nobody"] {
        let before = checks(&gateway);
        std::thread::scope(|scope| {
            let guesses: Vec<_> = (0..64).map(|_| scope.spawn(|| ask(&gateway, user, "wrong").status)).collect();
            for guess in guesses {
                assert_eq!(guess.join().unwrap(), 401, "{user}");
            }
        });
        assert_eq!(checks(&gateway) - before, 1, "{user}");
    }
    let before = checks(&gateway);
    for _ in 0..3 {
        assert_eq!(ask(&gateway, "alice", "right").status, 200, "there is room in the queue");
    }
    assert_eq!(checks(&gateway) - before, 3, "right ones are checked anew");
}

fn from_body(user: &str, password: &str) -> (Upstream, Gateway) {
    let patterns = json!({"extract_from_body": true, "body_user_regexp": user, "body_password_regexp": password});
    let (upstream, gateway) = start(|definition| definition.set("basic_auth", patterns.clone()));
    put_user(&gateway, "POST", "alice", json!({"password": "open sesame"}));
    (upstream, gateway)
}

#[test]
fn user_and_password_are_found_in_bodies() {
    let (upstream, gateway) = from_body("\"user\":\\s*\"([^\"]+)\"", "\"pass\":\\s*\"([^\"]+)\"");
    let post = |lines: &[&str], body: &str| gateway.send(request("POST", "/a/x", lines, body));
    let good = r#"{"user": "alice", "pass": "open sesame", "more": "text"}"#;
    for lines in [Vec::new(), vec!["Authorization: Bearer x"]] {
        let response = post(&lines, good);
        assert_eq!((response.status, upstream.last().text().as_str()), (200, good), "{lines:?}: {response}");
    }
    // Whoever waits to be told to go on is told.
    let mut client = gateway.connect();
    client.send(request("POST", "/a/x", &["Expect: 100-continue", &format!("Content-Length: {}", good.len())], ""));
    assert!(client.head().unwrap().first.starts_with("HTTP/1.1 100 "));
    client.send(good);
    assert_eq!((client.response("POST").status, upstream.last().text().as_str()), (200, good));
    let chunked = "Transfer-Encoding: chunked\r\n\r\n18\r\n{\"user\":\"alice\",\"pass\":\"\r\nd\r\nopen sesame\"}\r\n0\r\n\r\n";
    let whole = format!("POST /a/x HTTP/1.1\r\nHost: gateway.test\r\n{chunked}");
    for pause in [usize::MAX, 100, 7] {
        let mut client = gateway.connect();
        for piece in whole.as_bytes().chunks(pause) {
            client.send(piece);
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        assert_eq!(client.response("POST").status, 200, "in pieces of {pause}");
        assert_eq!(upstream.last().text(), r#"{"user":"alice","pass":"open sesame"}"#);
        // The connection goes on.
        assert_eq!(client.ask(request("GET", "/a/x", &[&line("alice", "open sesame")], "")).status, 200);
    }
    let let_in = upstream.requests();
    let large = format!("{good}{}", " ".repeat(70_000));
    for (body, status, message) in [
        (r#"{"user": "alice", "pass": "wrong"}"#, 401, "User not authorised"),
        (r#"{"user": "nobody", "pass": "open sesame"}"#, 401, "User not authorised"),
        (r#"{"pass": "open sesame"}"#, 400, "Body do not contain username"),
        (r#"{"user": "alice"}"#, 400, "Body do not contain password"),
        ("", 400, "Body do not contain username"),
        (large.as_str(), 400, "Request is too large"),
    ] {
        let response = post(&[], body);
        assert_eq!((response.status, response.text()), (status, error_json(message)), "{body:.60}");
    }
    let endless =
        format!("POST /a/x HTTP/1.1\r\nHost: gateway.test\r\nTransfer-Encoding: chunked\r\n\r\n{}", "1\r\nx\r\n".repeat(40_000));
    let answer = gateway.raw_or_reset(endless);
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 400 "), "{}", String::from_utf8_lossy(&answer));
    let broken = "POST /a/x HTTP/1.1\r\nHost: gateway.test\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
    assert!(gateway.raw_or_reset(broken).starts_with(b"HTTP/1.1 400 "));
    assert_eq!(upstream.requests(), let_in);
}

#[test]
fn bodies_of_http2_are_looked_into_too() {
    let (upstream, gateway) = from_body("user=([^&]+)", "pass=([^&]+)");
    converse(async {
        let client = connect(gateway.port).await;
        for (body, status) in [("user=alice&pass=open sesame", 200), ("user=alice&pass=wrong", 401), ("user=alice", 400)] {
            let answer = upload(&client, post("/a/x"), body.as_bytes(), None).await.unwrap();
            assert_eq!(answer.status, status, "{body}");
        }
        let missing = ask_over(&client, post("/a/x")).await.unwrap();
        assert_eq!(missing.status, 400);
        let again = upload(&client, post("/a/x"), b"pass=open sesame&user=alice", None).await.unwrap();
        assert_eq!(again.status, 200, "the connection goes on");
    });
    assert_eq!((upstream.requests(), upstream.last().text().as_str()), (2, "pass=open sesame&user=alice"));
}

#[test]
fn a_body_that_does_not_come_is_waited_for_as_long_as_a_head() {
    let upstream = Upstream::ok();
    let patterns = json!({"extract_from_body": true, "body_user_regexp": "(a)", "body_password_regexp": "(b)"});
    let conf = json!({"tollgate": {"timeouts": {"head_ms": 600}}});
    let gateway = Gateway::start(conf, [with_users("a", &upstream).set("basic_auth", patterns)]);
    let mut client = gateway.connect();
    client.send(request("POST", "/a/x", &["Content-Length: 1000"], ""));
    let mut response = String::new();
    // A byte now and then does not make it wait longer.
    client.socket().set_read_timeout(Some(std::time::Duration::from_millis(50))).unwrap();
    eventually("it is answered", || {
        let _ = client.try_send("x");
        response = client.some().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        !response.is_empty()
    });
    assert!(response.starts_with("HTTP/1.1 408 "), "{response}");
    let mut gone = gateway.connect();
    gone.send(request("POST", "/a/x", &["Content-Length: 1000"], ""));
    gone.reset();
    assert_eq!(upstream.requests(), 0);
}

/// A request of somebody at an address, which a proxy tells.
fn from(address: &str, user: &str, password: &str) -> String {
    request("GET", "/a/x", &[&line(user, password), &format!("X-Real-IP: {address}")], "")
}

#[test]
fn a_flood_of_wrong_passwords_from_one_address_keeps_nobody_else_out() {
    /// More than there is room for, and how many checks others may have to wait for.
    const GUESSES: usize = 480;
    const CHECKS_BEFORE: u64 = 40;
    let upstream = Upstream::ok();
    let conf = json!({"tollgate": {"trusted_proxies": ["127.0.0.0/8"]}});
    let gateway = Gateway::start(conf, [with_users("a", &upstream)]);
    for user in ["alice", "bob", "carol"] {
        put_user(&gateway, "POST", user, json!({"password": format!("of {user}")}));
    }
    assert_eq!(gateway.send(from("192.0.2.9", "carol", "of carol")).status, 200);
    let mut guesses: Vec<_> = (0..GUESSES).map(|_| gateway.connect()).collect();
    for (number, connection) in guesses.iter_mut().enumerate() {
        // Users who do not exist take the same way.
        let user = ["alice", "nobody"][number % 2];
        connection.send(from("192.0.2.1", user, &format!("guess {number}")));
    }
    eventually("the flood is being checked", || checks(&gateway) > 4);
    let before = checks(&gateway);
    for (address, user) in [("192.0.2.2", "alice"), ("2001:db8::1", "bob")] {
        assert_eq!(gateway.send(from(address, user, &format!("of {user}"))).status, 200, "{user}");
    }
    let meanwhile = checks(&gateway) - before;
    assert!(meanwhile < CHECKS_BEFORE, "{meanwhile} checks before two others were let in");
    assert_eq!(gateway.send(from("192.0.2.1", "carol", "of carol")).status, 200, "who is known does not wait at all");
    let answers: Vec<Response> = guesses.iter_mut().map(|connection| connection.response("GET")).collect();
    let refused = answers.iter().filter(|answer| answer.status == 401).count();
    let busy: Vec<&Response> = answers.iter().filter(|answer| answer.status == 503).collect();
    assert_eq!(refused + busy.len(), GUESSES);
    assert!(!busy.is_empty(), "there is no room for all of them");
    for answer in busy {
        assert_eq!(answer.header("retry-after"), Some("1"), "{answer}");
        assert_eq!(answer.text(), error_json("Too many requests wait to be authenticated"));
    }
}
