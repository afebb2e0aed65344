//! Clients that break the rules, are slow, never read, or come in too great a number: a clear answer or a closed connection, nobody else disturbed.

use std::io::Write;
use std::time::Duration;

use serde_json::json;

use crate::harness::wire::Broken;
use crate::harness::{Connection, Gateway, Response, Setup, Shared, Upstream, api, eventually, get, ok, reply};

static SHARED: Shared = Shared::new(|| {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    (upstream, gateway)
});

fn gateway_for(upstream: &Upstream) -> Gateway {
    Gateway::start(json!({}), [api("a", "/a/", &upstream.url())])
}

/// Sends the bytes and expects one of the statuses, the announced close and the close; a hidden second request must not be answered.
fn refused(gateway: &Gateway, bytes: &[u8], statuses: &[u16]) -> Response {
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
    let mut client = gateway.connect();
    let _ = client.try_send(bytes);
    let response = client.try_response("GET").unwrap_or_else(|broken| panic!("{shown:?}: {broken}"));
    assert!(statuses.contains(&response.status), "{shown:?}: {response}");
    assert!(response.announces_close(), "{shown:?}: {response}");
    client.expect_close();
    response
}

/// Runs the table and makes sure that none of it reached the upstream.
fn all_refused(rows: &[&str], statuses: &[u16]) {
    let shared = SHARED.turn();
    let (upstream, gateway) = (&shared.upstream, &shared.gateway);
    for row in rows {
        refused(gateway, row.as_bytes(), statuses);
        assert_eq!(upstream.requests(), 0, "{row:?}");
    }
    assert_eq!(gateway.get("/a/").status, 200);
}

#[test]
fn a_malformed_request_gets_a_plain_400() {
    let shared = SHARED.turn();
    let gateway = &shared.gateway;
    let response = refused(gateway, b"GET / HTTP/1.1\r\nHost : h\r\n\r\n", &[400]);
    assert_eq!(response.head.first, "HTTP/1.1 400 Bad Request");
    assert!(response.text().is_empty() || response.text().starts_with("400 Bad Request"), "{response}");
}

#[test]
fn a_length_together_with_chunks_is_refused() {
    let hidden = "0\r\n\r\nGET /a/hidden HTTP/1.1\r\nHost: h\r\n\r\n";
    let rows: Vec<String> = [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "content-length: 0\r\ntransfer-encoding: chunked\r\n",
        "Transfer-Encoding: identity\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n",
    ]
    .iter()
    .map(|lines| format!("POST /a/ HTTP/1.1\r\nHost: h\r\n{lines}\r\n{hidden}"))
    .collect();
    all_refused(&rows.iter().map(String::as_str).collect::<Vec<_>>(), &[400, 501]);
}

#[test]
fn a_length_that_is_not_one_number_is_refused() {
    let values = [
        "-1",
        "+5",
        "0x5",
        "5,6",
        "5, 5",
        "5 5",
        "5;",
        // Legal, but others read them otherwise: as an octal number, or with other spaces cut.
        "005",
        "0200",
        "00",
        " 5",
        "5 ",
        "\t5",
        "5\t",
        "five",
        "",
        "18446744073709551616",
        "99999999999999999999999",
        "5.0",
        "1e3",
        "\u{0665}",
    ];
    let mut rows: Vec<String> =
        values.iter().map(|value| format!("POST /a/ HTTP/1.1\r\nHost: h\r\nContent-Length: {value}\r\n\r\nhello")).collect();
    rows.push("POST /a/ HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello".to_owned());
    rows.push("POST /a/ HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\ncontent-length: 5\r\n\r\nhello".to_owned());
    all_refused(&rows.iter().map(String::as_str).collect::<Vec<_>>(), &[400]);
}

#[test]
fn a_coding_other_than_chunked_is_refused() {
    let mut rows: Vec<String> = [
        "gzip",
        "gzip, chunked",
        "chunked, gzip",
        "identity",
        "xchunked",
        "chunked, chunked",
        "chunked;q=1",
        "\"chunked\"",
        "chunked\u{b}",
        "",
    ]
    .iter()
    .map(|value| format!("POST /a/ HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: {value}\r\n\r\n0\r\n\r\n"))
    .collect();
    rows.push(
        "POST /a/ HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".to_owned(),
    );
    rows.push(
        "POST /a/ HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n".to_owned(),
    );
    rows.push("POST /a/ HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".to_owned());
    all_refused(&rows.iter().map(String::as_str).collect::<Vec<_>>(), &[400, 501]);
}

#[test]
fn a_head_that_two_readers_could_read_differently_is_refused() {
    all_refused(
        &[
            "GET /a/ HTTP/1.1\nHost: h\n\n",
            "GET /a/ HTTP/1.1\r\nHost: h\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: h\nX: y\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: h\r\nX: y\rZ: 1\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: h\r\nX: a\r\n\tb\r\n\r\n",
            "GET /a/ HTTP/1.1\r\n Host: h\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost : h\r\n\r\n",
            "POST /a/ HTTP/1.1\r\nHost: h\r\nContent-Length : 5\r\n\r\nhello",
            "POST /a/ HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: h\r\nX: a\0b\r\n\r\n",
            "GET /a/\0 HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: h\r\nX\0: a\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: h\r\n: empty name\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: h\r\nX(y): 1\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: h\r\nX y: 1\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: h\r\nX: a\u{7f}b\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: h\r\nX: a\u{1}b\r\n\r\n",
        ],
        &[400],
    );
}

#[test]
fn a_request_line_must_be_one() {
    all_refused(
        &[
            "GET\r\n\r\n",
            "GET /a/\r\nHost: h\r\n\r\n",
            "GET /a/ HTTP/1.1 extra\r\nHost: h\r\n\r\n",
            "GET  /a/ HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /a/  HTTP/1.1\r\nHost: h\r\n\r\n",
            " GET /a/ HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /a/ b HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET a/ HTTP/1.1\r\nHost: h\r\n\r\n",
            "GE(T /a/ HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /a/ HTTP/1.1x\r\nHost: h\r\n\r\n",
            "GET /a/ http/1.1\r\nHost: h\r\n\r\n",
            "GET /a/ HTTP/11\r\nHost: h\r\n\r\n",
            "GET /a/\tHTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /a/\u{1} HTTP/1.1\r\nHost: h\r\n\r\n",
            "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\u{fc}\u{3}\u{3}\r\n\r\n",
        ],
        &[400, 505],
    );
}

#[test]
fn other_versions_of_the_protocol_are_refused() {
    all_refused(
        &["GET /a/ HTTP/2.0\r\nHost: h\r\n\r\n", "GET /a/ HTTP/3.0\r\nHost: h\r\n\r\n", "GET /a/ HTTP/0.9\r\nHost: h\r\n\r\n"],
        &[400, 505],
    );
}

#[test]
fn a_host_must_be_there_once_and_be_one() {
    all_refused(
        &[
            "GET /a/ HTTP/1.1\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: a b\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: a/b\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: user@a\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: a?b\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: a#b\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: a\\b\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: a:port\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: http://a\r\n\r\n",
            "GET /a/ HTTP/1.1\r\nHost: <script>\r\n\r\n",
        ],
        &[400],
    );
}

#[test]
fn well_formed_hosts_are_accepted() {
    let shared = SHARED.turn();
    let gateway = &shared.gateway;
    for host in ["h", "a.b.test:80", "127.0.0.1:8080", "[::1]", "[::1]:8080", "under_score.test", "UPPER.test", "a-b.test."] {
        assert_eq!(gateway.send(format!("GET /a/ HTTP/1.1\r\nHost: {host}\r\n\r\n")).status, 200, "{host}");
    }
}

#[test]
fn a_tunnel_to_anywhere_is_not_opened() {
    let shared = SHARED.turn();
    let gateway = &shared.gateway;
    let mut client = gateway.connect();
    client.send("CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n");
    let response = client.response("GET");
    assert!((400..600).contains(&response.status), "{response}");
}

#[test]
fn broken_chunks_end_the_connection_and_never_become_a_request() {
    let shared = SHARED.turn();
    let (upstream, gateway) = (&shared.upstream, &shared.gateway);
    let long = "x".repeat(100_000);
    let many: String = (0..500).map(|number| format!("X-T{number}: {}\r\n", "v".repeat(100))).collect();
    let hidden = "GET /a/hidden HTTP/1.1\r\nHost: h\r\n\r\n";
    let bodies = [
        "x\r\nhello\r\n0\r\n\r\n".to_owned(),
        "-5\r\nhello\r\n0\r\n\r\n".to_owned(),
        "+5\r\nhello\r\n0\r\n\r\n".to_owned(),
        "0x5\r\nhello\r\n0\r\n\r\n".to_owned(),
        "\r\nhello\r\n0\r\n\r\n".to_owned(),
        ";ext\r\nhello\r\n0\r\n\r\n".to_owned(),
        " 5\r\nhello\r\n0\r\n\r\n".to_owned(),
        "5\nhello\r\n0\r\n\r\n".to_owned(),
        "5\r\nhello\n0\r\n\r\n".to_owned(),
        "5\rhello\r\n0\r\n\r\n".to_owned(),
        "5\r\nhelloo\r\n0\r\n\r\n".to_owned(),
        "5\r\nhell\r\n0\r\n\r\n".to_owned(),
        "5;a=\nb\r\nhello\r\n0\r\n\r\n".to_owned(),
        "5;a=\0\r\nhello\r\n0\r\n\r\n".to_owned(),
        "ffffffffffffffff\r\nhello".to_owned(),
        "10000000000000005\r\nhello\r\n0\r\n\r\n".to_owned(),
        "fffffffffffffffffffffff0\r\nhello".to_owned(),
        format!("5;{long}\r\nhello\r\n0\r\n\r\n"),
        format!("{}5\r\nhello\r\n0\r\n\r\n", "0".repeat(100_000)),
        format!("0\r\n{many}\r\n"),
        format!("0\r\nX: {long}\r\n\r\n"),
        "0\r\nno colon\r\n\r\n".to_owned(),
        "0\r\nX : 1\r\n\r\n".to_owned(),
        "0\r\nX: a\n\r\n".to_owned(),
        "0\r\nX: a\0\r\n\r\n".to_owned(),
        "0\r\n folded\r\n\r\n".to_owned(),
        "0\n\r\n".to_owned(),
        "0\r\n\n".to_owned(),
    ];
    for body in &bodies {
        let shown = &body[..body.len().min(60)];
        let mut client = gateway.connect();
        let _ = client.try_send(format!("POST /a/bad HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n{body}{hidden}"));
        match client.try_response("POST") {
            Ok(response) => {
                assert!(matches!(response.status, 400 | 413 | 431), "{shown:?}: {response}");
                client.expect_close();
            }
            Err(Broken::Closed | Broken::Cut(_)) => {}
            Err(broken) => panic!("{shown:?}: {broken}"),
        }
        assert_eq!(upstream.take_targets().len(), 0, "{shown:?} reached the upstream whole");
    }
    assert_eq!(gateway.get("/a/").status, 200);
}

#[test]
fn fields_about_the_message_are_not_taken_from_a_trailer() {
    let shared = SHARED.turn();
    let (upstream, gateway) = (&shared.upstream, &shared.gateway);
    for line in ["Content-Length: 5", "Transfer-Encoding: chunked", "Host: evil.test"] {
        let mut client = gateway.connect();
        client.send(format!("POST /a/ HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n{line}\r\n\r\n"));
        let _ = client.try_response("POST");
        for seen in upstream.seen() {
            assert_eq!(seen.head.all("host"), [upstream.address.to_string()]);
            assert!(!seen.head.has("content-length"), "{:?}", seen.head);
        }
    }
}

#[test]
fn a_cut_request_is_no_request() {
    let shared = SHARED.turn();
    let (upstream, gateway) = (&shared.upstream, &shared.gateway);
    let whole = "POST /a/cut HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello";
    for end in 0..whole.len() {
        let answer = gateway.raw(&whole.as_bytes()[..end]);
        assert!(
            answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"),
            "{:?}: {:?}",
            &whole[..end],
            String::from_utf8_lossy(&answer)
        );
    }
    assert_eq!(upstream.requests(), 0);
    assert_eq!(gateway.get("/a/").status, 200);
}

#[test]
fn good_requests_before_a_bad_one_are_answered() {
    let shared = SHARED.turn();
    let (upstream, gateway) = (&shared.upstream, &shared.gateway);
    let mut client = gateway.connect();
    client.send(format!("{}{}GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n{}", get("/a/1"), get("/a/2"), get("/a/3")));
    let statuses: Vec<u16> = (0..3).map(|_| client.response("GET").status).collect();
    assert_eq!(statuses, [200, 200, 400]);
    client.expect_close();
    assert_eq!(upstream.take_targets(), ["/1", "/2"]);
}

#[test]
fn heads_have_a_greatest_size_and_a_greatest_number_of_lines() {
    let shared = SHARED.turn();
    let (upstream, gateway) = (&shared.upstream, &shared.gateway);
    let lines = |count: usize| (0..count).map(|number| format!("X-{number}: v\r\n")).collect::<String>();
    let with = |lines: &str| format!("GET /a/ HTTP/1.1\r\nHost: h\r\n{lines}\r\n");
    assert_eq!(gateway.send(with(&lines(90))).status, 200);
    assert_eq!(gateway.send(with(&format!("X: {}\r\n", "v".repeat(30_000)))).status, 200);
    assert_eq!(upstream.last().header("x").map(str::len), Some(30_000));
    refused(gateway, with(&lines(200)).as_bytes(), &[431]);
    refused(gateway, with(&lines(20_000)).as_bytes(), &[431]);
    refused(gateway, with(&format!("X: {}\r\n", "v".repeat(40_000))).as_bytes(), &[431]);
    refused(gateway, with(&format!("X: {}\r\n", "v".repeat(4_000_000))).as_bytes(), &[431]);
    refused(gateway, format!("GET /a/{} HTTP/1.1\r\nHost: h\r\n\r\n", "p".repeat(40_000)).as_bytes(), &[414, 431]);
    refused(gateway, "x".repeat(100_000).as_bytes(), &[400, 431]);
    assert_eq!(upstream.requests(), 2);
}

#[test]
fn the_greatest_size_of_a_head_is_an_option() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(
        json!({"tollgate": {"limits": {"head_bytes_max": 1024, "header_lines_max": 10}}}),
        [api("a", "/a/", &upstream.url())],
    );
    assert_eq!(gateway.get("/a/").status, 200);
    refused(&gateway, format!("GET /a/ HTTP/1.1\r\nHost: h\r\nX: {}\r\n\r\n", "v".repeat(1100)).as_bytes(), &[431]);
    let lines: String = (0..12).map(|number| format!("X-{number}: v\r\n")).collect();
    refused(&gateway, format!("GET /a/ HTTP/1.1\r\nHost: h\r\n{lines}\r\n").as_bytes(), &[431]);
}

#[test]
fn a_slow_head_is_given_up_while_others_are_served() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({"tollgate": {"timeouts": {"head_ms": 400}}}), [api("a", "/a/", &upstream.url())]);
    let mut slow: Vec<Connection> = (0..20).map(|_| gateway.connect()).collect();
    let mut good = gateway.connect();
    let text = format!("GET /a/ HTTP/1.1\r\nHost: h\r\nX: {}", "y".repeat(1000));
    let mut sent = text.bytes();
    eventually("each byte comes in time, the head does not", || {
        let byte = [sent.next().expect("given up before a thousand bytes")];
        assert_eq!(good.ask(get("/a/")).status, 200);
        std::thread::sleep(Duration::from_millis(20));
        // A write to a closed connection fails from the second time on.
        slow.iter_mut().map(|client| client.try_send(byte)).filter(Result::is_ok).count() == 0
    });
    for client in &mut slow {
        match client.try_response("GET") {
            Ok(response) => assert_eq!(response.status, 408, "{response}"),
            Err(broken) => assert!(matches!(broken, Broken::Closed | Broken::Cut(_)), "{broken}"),
        }
    }
}

#[test]
fn a_head_that_stops_halfway_is_given_up() {
    let gateway = Gateway::start(json!({"tollgate": {"timeouts": {"head_ms": 300}}}), []);
    for text in ["G", "GET / HTTP/1.1\r\nHost: h\r\n", "GET / HTTP/1.1\r\nHost: h\r\n\r"] {
        let mut client = gateway.connect();
        client.send(text);
        match client.try_response("GET") {
            Ok(response) => assert_eq!(response.status, 408, "{response}"),
            Err(broken) => assert!(matches!(broken, Broken::Closed | Broken::Cut(_)), "{broken}"),
        }
    }
}

#[test]
fn a_body_that_stops_halfway_is_given_up() {
    let upstream = Upstream::ok();
    let conf = json!({"http_server_options": {"read_timeout": 1}, "proxy_default_timeout": 600});
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    for framing in ["Content-Length: 100\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n64\r\nhalf"] {
        let mut client = gateway.connect();
        client.send(format!("POST /a/ HTTP/1.1\r\nHost: h\r\n{framing}"));
        match client.try_response("POST") {
            Ok(response) => assert!((400..600).contains(&response.status), "{response}"),
            Err(broken) => assert!(matches!(broken, Broken::Closed | Broken::Cut(_)), "{broken}"),
        }
    }
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn a_client_that_never_reads_is_given_up_and_leaves_nothing() {
    let upstream = Upstream::start(|_| {
        let mut bytes = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", 64 << 20).into_bytes();
        bytes.resize(bytes.len() + (64 << 20), b'x');
        bytes
    });
    let other = Upstream::ok();
    let gateway = Gateway::start(
        json!({"tollgate": {"timeouts": {"client_write_ms": 1000}}}),
        [api("a", "/a/", &upstream.url()), api("b", "/b/", &other.url())],
    );
    let before = gateway.open_files_at_rest();
    let mut clients: Vec<Connection> = (0..4).map(|_| gateway.connect()).collect();
    for client in &mut clients {
        client.send(get("/a/"));
    }
    eventually("all four are under way", || upstream.requests() == 4);
    assert_eq!(gateway.get("/b/").status, 200);
    // The connection to the other upstream is kept.
    eventually("the gateway has let go of them and of their upstream", || gateway.open_files() <= before + 1);
    assert!(gateway.grown_kib() < 24 * 1024, "{} KiB", gateway.grown_kib());
}

#[test]
fn a_client_that_sends_without_end_and_reads_nothing_is_held_back() {
    let upstream = Upstream::start(|_| reply("200 OK", &[], &"x".repeat(1000)));
    let gateway = gateway_for(&upstream);
    let client = gateway.connect();
    let mut socket = client.socket().try_clone().unwrap();
    socket.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    let batch = get("/a/").repeat(1000);
    let mut sent = 0;
    while sent < 256 << 20 {
        match socket.write(batch.as_bytes()) {
            Ok(count) => sent += count,
            Err(_) => break,
        }
    }
    assert!(sent < 256 << 20, "everything was taken though no answer was read");
    assert!(gateway.grown_kib() < 24 * 1024, "{} KiB", gateway.grown_kib());
    assert_eq!(gateway.get("/a/").status, 200);
}

#[test]
fn many_unfinished_heads_take_little_memory() {
    let gateway = Gateway::start(json!({}), []);
    let mut clients: Vec<Connection> = (0..300).map(|_| gateway.connect()).collect();
    let part = format!("GET / HTTP/1.1\r\nHost: h\r\nX: {}", "y".repeat(30_000));
    for client in &mut clients {
        client.send(&part);
    }
    assert_eq!(gateway.get("/hello").status, 200);
    assert!(gateway.grown_kib() < 24 * 1024, "{} KiB", gateway.grown_kib());
    for client in &mut clients {
        client.send("\r\n\r\n");
        assert_eq!(client.response("GET").status, 404);
    }
}

#[test]
fn idle_clients_take_little_memory() {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    let warm: Vec<Connection> = connected(&gateway, 50);
    let before = gateway.rss_kib();
    let idle = connected(&gateway, 400);
    let each = gateway.rss_kib().saturating_sub(before) * 1024 / 400;
    assert!(each <= 8 * 1024, "{each} bytes for each idle connection");
    drop((warm, idle));
}

fn connected(gateway: &Gateway, count: usize) -> Vec<Connection> {
    let open = |_| {
        let mut client = gateway.connect();
        assert_eq!(client.ask(get("/a/")).status, 200);
        client
    };
    (0..count).map(open).collect()
}

#[test]
fn resets_at_any_moment_disturb_nobody() {
    let upstream = Upstream::start(|_| reply("200 OK", &[], &"x".repeat(100_000)));
    let gateway = gateway_for(&upstream);
    let whole = "POST /a/ HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello";
    for end in (0..=whole.len()).step_by(3) {
        let mut client = gateway.connect();
        client.send(&whole.as_bytes()[..end]);
        client.reset();
    }
    let mut client = gateway.connect();
    for _ in 0..5 {
        assert_eq!(client.ask(get("/a/")).body.len(), 100_000);
    }
}

#[test]
fn when_no_descriptor_is_left_the_longest_idle_clients_go_and_new_ones_are_served() {
    let upstream = Upstream::start(|_| ok());
    let conf = json!({"tollgate": {"threads": 1}});
    let gateway = Setup::new(conf).api(api("a", "/a/", &upstream.url())).open_files_max(100).start();
    let ask = |client: &mut Connection| {
        client.try_send(get("/a/")).is_ok() && client.try_response("GET").is_ok_and(|response| response.status == 200)
    };
    let mut clients: Vec<Connection> = Vec::new();
    for number in 0..200 {
        let mut client = gateway.connect();
        assert!(ask(&mut client), "client {number} is served");
        clients.push(client);
    }
    eventually("those that were idle the longest are gone", || clients[..100].iter().all(Connection::is_closed));
    assert!(clients[180..].iter_mut().all(ask), "those that were not are served");
    let log = gateway.log();
    let lines = log.lines().filter(|line| line.contains("no file descriptor is left")).count();
    assert!((1..=3).contains(&lines) && !log.contains("cannot accept"), "one line in ten seconds:\n{log}");
    let text = gateway.control("GET", "/tyk/metrics", "").text();
    let evicted = text.lines().find_map(|line| line.strip_prefix("tollgate_evicted_connections_total ")).expect("the figure");
    assert!(evicted.parse::<usize>().is_ok_and(|evicted| evicted >= 100), "{evicted}");
}

#[test]
fn when_all_descriptors_were_used_up_it_serves_again_afterwards() {
    let upstream = Upstream::start(|_| ok());
    let gateway = Setup::new(json!({})).api(api("a", "/a/", &upstream.url())).open_files_max(64).start();
    assert_eq!(gateway.get("/a/").status, 200);
    let mut crowd: Vec<Connection> = (0..200).map(|_| gateway.connect()).collect();
    let mut answered = 0;
    for client in crowd.iter_mut().take(100) {
        let _ = client.try_send(get("/a/"));
        client.socket().set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        answered += usize::from(client.try_response("GET").is_ok());
    }
    drop(crowd);
    eventually("it serves again", || {
        let mut client = gateway.connect();
        client.socket().set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        client.try_send(get("/a/")).is_ok() && client.try_response("GET").is_ok_and(|response| response.status == 200)
    });
    let mut client = gateway.connect();
    assert!((0..20).all(|_| client.ask(get("/a/")).status == 200), "{answered} were answered in the crowd");
}

#[test]
fn while_all_descriptors_are_in_use_new_clients_are_refused() {
    let upstream = Upstream::start(|_| {
        std::thread::sleep(Duration::from_secs(20));
        ok()
    });
    let gateway = Setup::new(json!({})).api(api("a", "/a/", &upstream.url())).open_files_max(64).start();
    let wait = |_| {
        let mut client = gateway.connect();
        let _ = client.try_send(get("/a/"));
        client
    };
    let busy: Vec<Connection> = (0..100).map(wait).collect();
    let late = gateway.connect();
    eventually("a client that comes now is refused", || late.is_closed());
    drop(busy);
    eventually("there is room again", || {
        let mut client = gateway.connect();
        client.try_send(get("/hello")).is_ok() && client.try_response("GET").is_ok_and(|response| response.status == 200)
    });
    let text = gateway.control("GET", "/tyk/metrics", "").text();
    let refused = text.lines().find_map(|line| line.strip_prefix("tollgate_refused_connections_total{cause=\"files\"} "));
    assert!(refused.is_some_and(|count| count.parse::<f64>().is_ok_and(|count| count >= 1.0)), "{text}");
}
