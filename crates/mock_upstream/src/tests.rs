//! Talks to a mock on a free port over a plain socket, so that nothing between rewrites the bytes.

use super::parameter::{duration, query_value, size};
use super::{OtherPaths, serve};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

fn start() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || serve(listener, None, OtherPaths::Description));
    address
}

/// Status and body of one request on its own connection.
fn exchange(head: &str, body: &[u8]) -> (u16, Vec<u8>) {
    let mut stream = TcpStream::connect(start()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    write!(stream, "{head}Host: mock\r\nConnection: close\r\n{length}\r\n").unwrap();
    stream.write_all(body).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let head_ends = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    let body = answer.split_off(head_ends);
    let status = String::from_utf8(answer).unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    (status, body)
}

fn get(path: &str) -> (u16, Vec<u8>) {
    exchange(&format!("GET {path} HTTP/1.1\r\n"), b"")
}

#[test]
fn valid_json_is_valid_and_invalid_json_is_not() {
    let (status, body) = get("/json/valid");
    assert_eq!(status, 200);
    assert!(serde_json::from_slice::<serde_json::Value>(&body).is_ok());

    let (status, body) = get("/json/invalid");
    assert_eq!(status, 200);
    assert!(serde_json::from_slice::<serde_json::Value>(&body).is_err());
}

#[test]
fn size_answers_exactly_as_many_bytes() {
    for (path, bytes) in [("/size/0", 0), ("/size/1", 1), ("/size/64k", 65_536), ("/size/3m", 3 << 20)] {
        let (status, body) = get(path);
        assert_eq!((path, status, body.len()), (path, 200, bytes));
    }
}

#[test]
fn nonsense_sizes_delays_and_statuses_are_refused() {
    for path in
        ["/size/", "/size/k", "/size/-1", "/size/99999999999g", "/delay/", "/delay/soon", "/delay/1h", "/delay/-1s", "/status/101"]
    {
        assert_eq!((path, get(path).0), (path, 400));
    }
}

#[test]
fn delay_waits_by_path_and_by_header() {
    for head in ["GET /delay/120ms HTTP/1.1\r\n", "GET /json/valid HTTP/1.1\r\nX-Delay: 0.12s\r\n"] {
        let asked = Instant::now();
        assert_eq!(exchange(head, b"").0, 200);
        assert!(asked.elapsed() >= Duration::from_millis(120), "{head}");
    }
}

#[test]
fn echo_tells_what_was_sent() {
    let (status, body) = exchange("PUT /echo?a=1&b HTTP/1.1\r\nX-Once: 1\r\nX-Twice: 1\r\nX-Twice: 2\r\n", b"four");
    let seen: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(status, 200);
    assert_eq!(seen["method"], "PUT");
    assert_eq!(seen["path"], "/echo");
    assert_eq!(seen["query"], "a=1&b");
    assert_eq!(seen["headers"]["x-once"], "1");
    assert_eq!(seen["headers"]["x-twice"], serde_json::json!(["1", "2"]));
    assert_eq!(seen["body_bytes"], 4);
    assert_eq!(seen["body_complete"], true);
}

#[test]
fn echo_body_returns_the_body_unchanged() {
    let sent: Vec<u8> = (0..300_000_u32).map(|n| (n % 251) as u8).collect();
    assert_eq!(exchange("POST /echo/body HTTP/1.1\r\n", &sent), (200, sent));
}

#[test]
fn any_other_path_describes_the_request() {
    let (status, body) = get("/no/such/page");
    let seen: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((status, &seen["path"]), (200, &serde_json::json!("/no/such/page")));
}

#[test]
fn status_answers_with_the_wanted_status() {
    let (status, body) = get("/status/503");
    let seen: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((status, &seen["path"]), (503, &serde_json::json!("/status/503")));
}

#[test]
fn durations_sizes_and_queries_are_read() {
    for (text, expected) in [
        ("100ms", Some(100_000)),
        ("250us", Some(250)),
        ("1.5s", Some(1_500_000)),
        ("2", Some(2_000_000)),
        ("11m", None),
        ("-1s", None),
        ("x", None),
    ] {
        assert_eq!(duration(text), expected.map(Duration::from_micros), "{text}");
    }
    for (text, expected) in [
        ("10B", Some(10)),
        ("1KB", Some(1024)),
        ("0.25K", Some(256)),
        ("2m", Some(2 << 20)),
        ("7", Some(7)),
        ("1T", None),
        ("-1", None),
        ("B", None),
    ] {
        assert_eq!(size(text), expected, "{text}");
    }
    assert_eq!(query_value("a=1&B=2&flag", "b"), Some("2"));
    assert_eq!(query_value("a=1&B=2&flag", "flag"), Some(""));
    assert_eq!(query_value("a=1", "b"), None);
}

fn ask(path: &str, question: &str) -> (u16, String) {
    let (status, body) = exchange(&format!("POST {path} HTTP/1.1\r\nContent-Type: application/json\r\n"), question.as_bytes());
    (status, String::from_utf8(body).unwrap())
}

#[test]
fn a_model_answers_with_as_many_tokens_as_are_allowed() {
    for (path, events) in [("/v1/chat/completions", 5), ("/v1/messages", 8)] {
        let (status, whole) = ask(path, r#"{"model": "mock", "max_tokens": 3}"#);
        assert_eq!((status, whole.matches("and so it ").count()), (200, 1), "{whole}");
        let (status, stream) = ask(path, r#"{"model": "mock-1ms", "max_tokens": 3, "stream": true}"#);
        assert_eq!((status, stream.matches("so ").count(), stream.matches("data: ").count()), (200, 1, events), "{stream}");
    }
    assert_eq!(ask("/v1/chat/completions", "no JSON").0, 200);
}
