//! What the flags make of a request, and what is counted.

use crate::command::{bench, load};
use crate::server::{Server, response};
use serde_json::json;

/// The command lines of published benchmarks with hey and boom, shortened.
#[test]
fn command_lines_of_hey_and_boom_work() {
    let server = Server::ok();
    for (words, requests) in
        [("-n 1000 -c 100", Some(1000)), ("-z 300ms", None), ("-z 300ms -q 95", None), ("-z 300ms -q 1500", None)]
    {
        let run = load(words, &[&server.url("/test/?max-age=0&apikey=t1")]);
        assert_eq!(run.code, 0, "{words}: {}", run.stderr);
        let completed = run.result["requests"]["completed"].as_u64().unwrap();
        assert!(completed > 0 && requests.is_none_or(|requests| completed == requests), "{words}: {completed}");
        for section in
            ["Summary:", "Response time histogram:", "Latency distribution:", "Details (average, fastest, slowest):", "  [200]\t"]
        {
            assert!(run.stdout.contains(section), "{words}: {section} is missing in {}", run.stdout);
        }
    }
    assert_eq!(server.received()[0].line(), "GET /test/?max-age=0&apikey=t1 HTTP/1.1");
}

#[test]
fn booms_header_without_a_colon_is_the_host() {
    let server = Server::ok();
    let run = load("-H api.example.com -n 3 -c 1", &[&server.url("/")]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(server.received()[0].header("host"), Some("api.example.com"));
}

#[test]
fn every_flag_of_the_request_arrives() {
    let server = Server::ok();
    let words = "-n 1 -c 1 -m PUT -A text/x -T text/y -U me -a u:p -host a.b -d hello -disable-compression";
    let run = load(words, &["-H", "X-Key: k: v", &server.url("/p?q=1")]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let request = &server.received()[0];
    assert_eq!(request.line(), "PUT /p?q=1 HTTP/1.1");
    for (name, value) in [
        ("host", "a.b"),
        ("x-key", "k: v"),
        ("accept", "text/x"),
        ("content-type", "text/y"),
        ("user-agent", "me"),
        ("authorization", "Basic dTpw"),
        ("content-length", "5"),
    ] {
        assert_eq!(request.header(name), Some(value), "{name}");
    }
    assert_eq!((request.header("accept-encoding"), request.body.as_str()), (None, "hello"));
}

#[test]
fn n_is_exact_whatever_the_workers() {
    for (words, requests) in [("-n 1003 -c 10", 1003), ("-n 7 -c 50", 7), ("-n 1 -c 1", 1), ("-n 101 -c 3 -cpus 2", 101)] {
        let server = Server::ok();
        let run = load(words, &[&server.url("/")]);
        assert_eq!(run.result["requests"]["completed"], requests, "{words}");
        assert_eq!(server.received().len(), requests, "{words}");
        assert_eq!(run.result["response_time"]["count"], requests, "{words}");
        let series: u64 = run.result["series"].as_array().unwrap().iter().map(|second| second["requests"].as_u64().unwrap()).sum();
        assert_eq!(series, requests as u64, "{words}");
    }
}

#[test]
fn statuses_and_bytes_are_exact() {
    let server = Server::start(|_, number| (response([200, 201, 404, 503][number % 4], "12345"), true));
    let run = load("-n 400 -c 7", &[&server.url("/")]);
    assert_eq!(run.result["status"], json!({"200": 100, "201": 100, "404": 100, "503": 100}));
    assert_eq!(run.result["bytes"]["body"], 2000);
    assert_eq!(run.result["connections"]["opened"], 7);
    assert_eq!(run.code, 0, "an answer is no failure of the load generator");
}

#[test]
fn chunked_interim_and_bodiless_responses_are_read_to_their_end() {
    let chunked =
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n".to_vec();
    let bodies = [chunked, b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(), response(200, &"x".repeat(300_000))];
    let server = Server::start(move |_, number| (bodies[number % 3].clone(), true));
    let run = load("-n 30 -c 1", &[&server.url("/")]);
    assert_eq!(run.result["status"], json!({"200": 20, "204": 10}), "{}", run.stderr);
    assert_eq!(run.result["connections"]["opened"], 1, "each response ended where the next began");
}

#[test]
fn a_response_that_ends_with_its_connection_is_complete() {
    let server = Server::start(|_, _| (b"HTTP/1.1 200 OK\r\n\r\nabc".to_vec(), false));
    let run = load("-n 10 -c 2", &[&server.url("/")]);
    assert_eq!((run.code, &run.result["status"]["200"], &run.result["connections"]["opened"]), (0, &json!(10), &json!(10)));
}

#[test]
fn without_keepalive_each_request_has_its_connection() {
    let server = Server::ok();
    let run = load("-n 20 -c 2 -disable-keepalive", &[&server.url("/")]);
    assert_eq!(run.result["connections"]["opened"], 20);
    assert!(server.received().iter().all(|request| request.on_connection == 0 && request.header("connection") == Some("close")));
}

#[test]
fn redirects_are_followed_unless_that_is_disabled() {
    let other = Server::ok();
    let elsewhere = other.url("/end");
    let server = Server::start(move |request, _| match request.line().split(' ').nth(1).unwrap() {
        "/near" => (b"HTTP/1.1 302 X\r\nLocation: /far\r\nContent-Length: 0\r\n\r\n".to_vec(), true),
        "/far" => (format!("HTTP/1.1 307 X\r\nLocation: {elsewhere}\r\nContent-Length: 0\r\n\r\n").into_bytes(), true),
        _ => (b"HTTP/1.1 301 X\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n".to_vec(), true),
    });
    let run = load("-n 10 -c 2 -a u:p", &[&server.url("/near")]);
    assert_eq!(run.result["status"], json!({"200": 10}), "{}", run.stderr);
    assert_eq!((server.received().len(), other.received().len()), (20, 10));
    assert!(other.received().iter().all(|request| request.header("authorization").is_none()), "another server gets no credentials");

    let run = load("-n 10 -c 2 -disable-redirects", &[&server.url("/near")]);
    assert_eq!(run.result["status"], json!({"302": 10}));
    let run = load("-n 1 -c 1", &[&server.url("/loop")]);
    assert_eq!((run.code, &run.result["errors"]["protocol"]), (1, &json!(1)), "a loop ends");
}

#[test]
fn many_urls_and_keys_are_used_in_turn() {
    let folder = tempfile::TempDir::new().unwrap();
    let (server, other) = (Server::ok(), Server::ok());
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name).to_str().unwrap().to_owned()
    };
    let urls = write("urls", &format!("# two servers\n{}\n\nPOST {}\n", server.url("/a/{key}"), other.url("/b")));
    let keys = write("keys", "k1\nk2\nk3\n");
    let more = ["--urls", &urls, "--vars", &format!("key={keys}"), "-H", "Authorization: {key}"];
    let run = load("-n 60 -c 4 --threads 2", &more);
    assert_eq!((run.code, server.received().len(), other.received().len()), (0, 30, 30), "{}", run.stderr);
    for key in ["k1", "k2", "k3"] {
        let with_key =
            |servers: &Server| servers.received().iter().filter(|request| request.header("authorization") == Some(key)).count();
        assert_eq!(with_key(&server) + with_key(&other), 20, "{key}");
    }
    assert!(
        server
            .received()
            .iter()
            .all(|request| request.line() == format!("GET /a/{} HTTP/1.1", request.header("authorization").unwrap()))
    );
    assert!(
        other
            .received()
            .iter()
            .all(|request| request.line() == "POST /b HTTP/1.1" && request.header("content-length") == Some("0"))
    );
}

#[test]
fn a_proxy_is_asked_with_the_whole_url() {
    let proxy = Server::ok();
    let run = load("-n 2 -c 1", &["-x", &proxy.address.to_string(), "http://no.such.host.invalid/x"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(proxy.received()[0].line(), "GET http://no.such.host.invalid/x HTTP/1.1");
}

#[test]
fn csv_has_heys_columns_and_one_line_for_each_request() {
    let server = Server::ok();
    let run = load("-n 250 -c 5 -o csv", &[&server.url("/")]);
    let mut lines = run.stdout.lines();
    let header = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset";
    assert_eq!(lines.next(), Some(header));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 250);
    assert!(rows.iter().all(|row| row.len() == 8 && row[6] == "200" && row[0].parse::<f64>().unwrap() > 0.0));
}

#[test]
fn hgrm_merge_and_compare_read_what_load_wrote() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (a, b, sum, hgrm) = (path("a.json"), path("b.json"), path("sum.json"), path("a.hgrm"));
    let server = Server::ok();
    for (file, requests) in [(&a, "100"), (&b, "50")] {
        let run = bench("load -c 5 -n", &[requests, "--json", file, "--hgrm", &hgrm, &server.url("/")]);
        assert!(run.status.success());
    }
    let distribution = std::fs::read_to_string(&hgrm).unwrap();
    assert!(distribution.contains("1/(1-Percentile)") && distribution.contains("Total count    =           50]"), "{distribution}");

    let run = bench("merge", &[&a, &b, "--json", &sum]);
    assert!(run.status.success(), "{run:?}");
    let merged: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&sum).unwrap()).unwrap();
    assert_eq!((&merged["requests"]["completed"], &merged["response_time"]["count"]), (&json!(150), &json!(150)));

    assert_eq!(bench("compare", &[&a, &a]).status.code(), Some(0));
    let mut slower: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&a).unwrap()).unwrap();
    slower["response_time"]["p99_us"] = json!(slower["response_time"]["p99_us"].as_f64().unwrap() * 1.5);
    std::fs::write(&b, slower.to_string()).unwrap();
    assert_eq!(bench("compare", &[&a, &b]).status.code(), Some(1));
    assert_eq!(bench("compare --threshold 60%", &[&a, &b]).status.code(), Some(0));
    std::fs::write(&b, "{}").unwrap();
    assert_eq!(bench("compare", &[&a, &b]).status.code(), Some(2));
    assert_eq!(bench("merge", &[&a, &b]).status.code(), Some(1));
}
