use super::{UpstreamOptions, tls};
use crate::probe;
use crate::probe::MeasuredProbe;
use crate::servers::listeners;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use tollgate_mock_upstream::{OtherPaths, serve};

/// The upstream on its own port, running as long as the tests.
fn start(options: &UpstreamOptions) -> u16 {
    let acceptor = tls::acceptor(options).expect("TLS");
    let listener = listeners::open(options.listen, Some(1)).expect("a port").pop().expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || serve(listener, acceptor, OtherPaths::DummyApi));
    port
}

fn plain() -> UpstreamOptions {
    UpstreamOptions { listen: "127.0.0.1:0".parse().expect("an address"), threads: None, tls: false, cert: None, key: None }
}

fn get(port: u16, path: &str) -> MeasuredProbe {
    probe::send(port, "GET", path, &[], b"").expect("an answer")
}

fn header<'a>(answer: &'a MeasuredProbe, name: &str) -> Option<&'a str> {
    answer.headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

#[test]
fn go_bench_suite_s_paths_answer() {
    let port = start(&plain());
    for (path, status, body) in [
        ("/json/valid", 200, "{\"time\": \"20"),
        ("/json/invalid", 200, "{time\": \"20"),
        ("/xml", 200, "<slideshow"),
        ("/delay/1ms", 200, ""),
        ("/delay/soon", 400, "not a duration"),
        ("/size/many", 400, "not a size"),
        ("/resource/3", 200, "{\"Id\":3,\"Name\":"),
        ("/resource/100", 404, "0 to 99"),
        ("/status/503", 503, ""),
    ] {
        let answer = get(port, path);
        assert_eq!(answer.status, status, "{path}");
        assert!(answer.body.contains(body), "{path}: {}", answer.body);
    }
    let valid = get(port, "/json/valid");
    assert!((65..=75).contains(&valid.body.len()), "{}", valid.body);
    assert!(serde_json::from_str::<serde_json::Value>(&valid.body).is_ok(), "{}", valid.body);
    assert!(serde_json::from_str::<serde_json::Value>(&get(port, "/json/invalid").body).is_err());
    let listed: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&get(port, "/resource?limit=5").body).expect("resources");
    assert_eq!(listed.len(), 5);
}

#[test]
fn a_size_is_exact_and_the_same_each_time() {
    let port = start(&plain());
    for (path, bytes) in [("/size/0B", 0), ("/size/612B", 612), ("/size/0.25K", 256), ("/size/100KB", 102_400)] {
        let answer = get(port, path);
        assert_eq!((answer.body.len(), header(&answer, "content-length")), (bytes, Some(bytes.to_string().as_str())), "{path}");
    }
    assert_eq!(get(port, "/size/1KB").body, get(port, "/size/1KB").body);
}

#[test]
fn x_delay_delays_the_share_that_is_asked_for() {
    let port = start(&plain());
    let delay =
        |delay: &str, percent: &str| [("X-Delay".to_owned(), delay.to_owned()), ("X-Delay-Percent".to_owned(), percent.to_owned())];
    let began = Instant::now();
    assert_eq!(probe::send(port, "GET", "/json/valid", &delay("60ms", "100"), b"").expect("an answer").status, 200);
    assert!(began.elapsed() >= Duration::from_millis(60));
    // Ten minutes would be noticeable if any request waited.
    for _ in 0..20 {
        assert_eq!(probe::send(port, "GET", "/json/valid", &delay("10m", "0"), b"").expect("an answer").status, 200);
    }
    for (given, percent) in [("soon", "100"), ("1ms", "101"), ("1ms", "all"), ("11m", "100")] {
        assert_eq!(
            probe::send(port, "GET", "/json/valid", &delay(given, percent), b"").expect("an answer").status,
            400,
            "{given} {percent}"
        );
    }
}

#[test]
fn echoes_say_what_was_sent() {
    let port = start(&plain());
    let headers = [("X-One".to_owned(), "1".to_owned())];
    let answer = probe::send(port, "POST", "/echo?a=b", &headers, b"hello").expect("an answer");
    let said: serde_json::Value = serde_json::from_str(&answer.body).expect("JSON");
    assert_eq!(
        (&said["Method"], &said["Body"], &said["QueryArgs"], &said["Headers"]["x-one"][0]),
        (&"POST".into(), &"hello".into(), &"a=b".into(), &"1".into())
    );
    assert_eq!(probe::send(port, "POST", "/echo/body", &[], b"as it is").expect("an answer").body, "as it is");
}

#[test]
fn dummy_api_s_parameters_form_the_answer() {
    let port = start(&plain());
    let answer = get(
        port,
        "/test/?max-age=0&s-maxage=9&no-store&x-trace=t&response-status=418&content-length&predictable-content=12&apikey=t1",
    );
    assert_eq!(answer.status, 418);
    assert_eq!(header(&answer, "cache-control"), Some("max-age=0, s-maxage=9, no-store"));
    assert_eq!(header(&answer, "x-trace"), Some("t"));
    assert_eq!(header(&answer, "content-length"), Some(answer.body.len().to_string().as_str()));
    let said: serde_json::Value = serde_json::from_str(&answer.body).expect("JSON");
    assert_eq!(said["predictable-content"].as_str().map(str::len), Some(12));
    assert_eq!(said["method"], "GET");

    assert_eq!(header(&get(port, "/?max-age=1"), "transfer-encoding"), Some("chunked"));
    assert_ne!(get(port, "/?random-content=20&content-length").body, get(port, "/?random-content=20&content-length").body);
    assert_eq!(header(&get(port, "/?max-age=-1&response-status=99"), "cache-control"), None, "nonsense is left out");
    assert!(get(port, "/?help").body.contains("header-delay=MS"));
    let began = Instant::now();
    assert!(get(port, "/?body-delay=40").body.contains("body-delay"));
    get(port, "/?header-delay=40");
    assert!(began.elapsed() >= Duration::from_millis(80));
}

#[test]
fn events_come_one_by_one_and_end() {
    let port = start(&plain());
    let answer = get(port, "/events?count=3&interval=1ms");
    assert_eq!(header(&answer, "content-type"), Some("text/event-stream"));
    assert_eq!(answer.body.matches("data: {\"event\":").count(), 3, "{}", answer.body);
    assert_eq!(get(port, "/events?count=x").status, 400);
}

#[test]
fn a_websocket_gets_its_messages_back() {
    let port = start(&plain());
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    let (mut socket, response) = tungstenite::client(format!("ws://127.0.0.1:{port}/any/path"), stream).expect("a handshake");
    assert_eq!(response.status().as_u16(), 101);
    for message in ["one", "two"] {
        socket.send(message.into()).expect("sent");
        assert_eq!(socket.read().expect("a message").to_text().ok(), Some(message));
    }
    socket.close(None).expect("closing");
    while socket.read().is_ok() {}
}

#[test]
fn a_connection_serves_many_requests_with_bodies() {
    let port = start(&plain());
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    for _ in 0..3 {
        stream.write_all(b"POST /size/3B HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello").expect("sent");
        let mut reader = BufReader::new(stream.try_clone().expect("a clone"));
        let mut line = String::new();
        reader.read_line(&mut line).expect("a status line");
        assert_eq!(line, "HTTP/1.1 200 OK\r\n");
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).expect("a header");
        }
        let mut body = [0; 3];
        std::io::Read::read_exact(&mut reader, &mut body).expect("a body");
    }
}

#[test]
fn tls_is_spoken_with_a_certificate_of_its_own() {
    let port = start(&UpstreamOptions { tls: true, ..plain() });
    let output =
        std::process::Command::new("curl").args(["-sk", &format!("https://localhost:{port}/size/7B")]).output().expect("curl");
    assert_eq!(output.stdout.len(), 7, "{output:?}");
}

#[test]
fn a_certificate_that_cannot_be_read_is_named() {
    let missing = UpstreamOptions { cert: Some("/nowhere/c.pem".into()), key: Some("/nowhere/k.pem".into()), ..plain() };
    let problem = tls::acceptor(&missing).err().expect("no certificate");
    assert!(problem.starts_with("/nowhere/c.pem: no certificate can be read"), "{problem}");
}
