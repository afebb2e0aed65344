//! The web application firewall on responses: what it denies, by mode, level, threshold, type, size and coding, and what passes unseen.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::harness::transforms::{framed, response_transform};
use super::harness::{Definition, Gateway, Response, Seen, Upstream, api, request};
use tollgate_testing::core_rule_set::core_rule_set;

const LEAK: &str = "Exception in thread \"main\" java.lang.NullPointerException at org.example.Shop.total(Shop.java:17)";
const DENIED: &str = "The response was rejected by the web application firewall";

fn guarded(id: &str, upstream: &Upstream, rules: Value) -> Definition {
    let mut all = json!({"responses": true});
    all.as_object_mut().unwrap().extend(rules.as_object().unwrap().clone());
    api(id, &format!("/{id}/"), &upstream.url()).set("tollgate", json!({"waf": all}))
}

fn start(apis: impl IntoIterator<Item = Definition>) -> Gateway {
    Gateway::start(json!({"tollgate": {"waf": {"rules": core_rule_set()}}}), apis)
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Answers with the body that belongs to the path, after a head of these lines.
fn answering(answer: impl Fn(&str) -> (String, Vec<u8>) + Send + Sync + 'static) -> Upstream {
    Upstream::start(move |seen: &Seen| {
        let (head, body) = answer(&seen.target);
        framed(&head, "length", &body)
    })
}

fn html(text: &str) -> (String, Vec<u8>) {
    ("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n".to_owned(), text.as_bytes().to_vec())
}

fn sent(gateway: &Gateway, target: &str) -> Response {
    gateway.send(request("GET", target, &["User-Agent: Mozilla/5.0", "Accept: */*"], ""))
}

#[test]
fn what_tells_too_much_is_denied_in_every_framing_and_coding() {
    let long = format!("{}{LEAK}", "lorem ipsum ".repeat(500));
    for leak in [LEAK.to_owned(), long] {
        for framing in ["length", "chunked", "close"] {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
            let coded = format!("{head}Content-Encoding: gzip\r\n");
            for (head, body) in [(head, leak.clone().into_bytes()), (&*coded, gzip(&leak))] {
                let bytes = framed(head, framing, &body);
                let upstream = Upstream::start(move |_| bytes.clone());
                let gateway = start([guarded("a", &upstream, json!({}))]);
                let response = sent(&gateway, "/a/");
                assert_eq!(response.status, 403, "{framing} {head}: {response}");
                assert!(response.text().contains(DENIED) && !response.text().contains("Exception"), "{response}");
                assert!(gateway.log().contains("the web application firewall denies a response"), "{}", gateway.log());
            }
        }
    }
}

#[test]
fn what_tells_nothing_passes_as_it_came() {
    let large = "lorem ipsum ".repeat(1_000);
    for body in ["", "fine", &large] {
        for framing in ["length", "chunked", "close"] {
            for (coding, bytes) in [("", body.as_bytes().to_vec()), ("Content-Encoding: gzip\r\n", gzip(body))] {
                let reply = framed(&format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{coding}"), framing, &bytes);
                let upstream = Upstream::start(move |_| reply.clone());
                let gateway = start([guarded("a", &upstream, json!({}))]);
                let response = sent(&gateway, "/a/");
                assert_eq!((response.status, response.body.clone()), (200, bytes), "{framing} {coding}: {response}");
                assert_eq!(gateway.send(request("HEAD", "/a/", &["User-Agent: Mozilla/5.0", "Accept: */*"], "")).status, 200);
            }
        }
    }
}

#[test]
fn modes_thresholds_and_levels_decide() {
    let upstream = answering(|target| match target {
        "/broken" => ("HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/html\r\n".to_owned(), b"down".to_vec()),
        _ => html(LEAK),
    });
    let gateway = start([
        guarded("enforcing", &upstream, json!({})),
        guarded("detection", &upstream, json!({"mode": "detection"})),
        guarded("off", &upstream, json!({"mode": "off"})),
        guarded("unseen", &upstream, json!({"responses": false})),
        guarded("heads", &upstream, json!({"response_body_max": 0, "paranoia_level": 2})),
        guarded("lenient", &upstream, json!({"outbound_threshold": 100})),
        guarded("excluded", &upstream, json!({"exclusions": [{"rules": ["952110"]}]})),
        guarded("elsewhere", &upstream, json!({"exclusions": [{"rules": ["952110"], "paths": ["/other/"]}]})),
    ]);
    for (id, leak, broken) in [
        ("enforcing", 403, 503),
        ("detection", 200, 503),
        ("off", 200, 503),
        ("unseen", 200, 503),
        ("heads", 200, 403),
        ("lenient", 200, 503),
        ("excluded", 200, 503),
        ("elsewhere", 403, 503),
    ] {
        let statuses = [sent(&gateway, &format!("/{id}/leak")).status, sent(&gateway, &format!("/{id}/broken")).status];
        assert_eq!(statuses, [leak, broken], "{id}");
    }
}

#[test]
fn types_sizes_and_streams_decide_what_is_seen() {
    let upstream = answering(|target| {
        let of_type = |media_type: &str| (format!("HTTP/1.1 200 OK\r\n{media_type}\r\n"), LEAK.as_bytes().to_vec());
        match target {
            "/json" => of_type("Content-Type: application/json"),
            "/problem" => of_type("Content-Type: Application/Problem+JSON; charset=utf-8"),
            "/none" => of_type("X-None: 1"),
            "/bytes" => of_type("Content-Type: application/octet-stream"),
            "/events" => of_type("Content-Type: text/event-stream"),
            "/coded" => of_type("Content-Type: text/html\r\nContent-Encoding: rot13"),
            "/large" => html(&format!("{LEAK}{}", " ".repeat(2_000))),
            "/bomb" => (
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n".to_owned(),
                gzip(&" ".repeat(5_000_000)),
            ),
            _ => html(LEAK),
        }
    });
    let gateway = start([
        guarded("a", &upstream, json!({"response_body_max": 2_000})),
        guarded("own", &upstream, json!({"response_types": ["application/octet-stream"]})),
    ]);
    for (target, status) in [
        ("/a/json", 403),
        ("/a/problem", 403),
        ("/a/none", 403),
        ("/a/bytes", 200),
        ("/a/events", 200),
        ("/a/coded", 200),
        ("/a/large", 200),
        ("/a/bomb", 200),
        ("/a/html", 403),
        ("/own/bytes", 403),
        ("/own/html", 200),
        ("/own/none", 403),
    ] {
        assert_eq!(sent(&gateway, target).status, status, "{target}");
    }
}

#[test]
fn a_response_is_judged_as_clients_get_it_and_a_denied_one_is_not_stored() {
    let upstream = answering(|target| if target == "/t" { html("{}") } else { html(LEAK) });
    let of_template = |text: &str| response_transform(&upstream, text).set("tollgate", json!({"waf": {"responses": true}}));
    let gateway = start([of_template("nothing to see")]);
    assert_eq!(sent(&gateway, "/a/t").status, 200);
    let gateway = start([of_template(&format!("{{{{/* made here */}}}}{LEAK}"))]);
    assert_eq!(sent(&gateway, "/a/t").status, 403);
    let options = json!({"enable_cache": true, "cache_all_safe_requests": true, "cache_timeout": 60});
    let gateway = start([guarded("a", &upstream, json!({})).set("cache_options", options)]);
    let before = upstream.requests();
    for _ in 0..2 {
        assert_eq!(sent(&gateway, "/a/stored").status, 403);
    }
    assert_eq!(upstream.requests(), before + 2);
}

#[test]
fn work_beyond_the_budget_is_refused() {
    let upstream = answering(|_| html(&"lorem ipsum ".repeat(8_000)));
    let gateway = Gateway::start(
        json!({"tollgate": {"waf": {"rules": core_rule_set(), "work_max": 1_000_000}}}),
        [guarded("a", &upstream, json!({})), guarded("seen", &upstream, json!({"mode": "detection"}))],
    );
    assert_eq!(sent(&gateway, "/a/").status, 502);
    assert_eq!(sent(&gateway, "/seen/").status, 200);
}
