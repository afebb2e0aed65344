//! The response cache by Tyk's rules: what is stored, for whom, for how long, and what clients see of a hit. Rules are those of Tyk's
//! `mw_redis_cache.go` and `res_cache.go`; the tests of the crate name the functions.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::analytics::{records, tracked};
use crate::harness::http2::{ask, connect, converse, get as get_http2};
use crate::harness::wire::Broken;
use crate::harness::{Definition, Gateway, Response, Seen, Upstream, api, get, reply};

/// Says which of its answers this is, so that no answer is like the one before.
fn counting() -> Upstream {
    let count = AtomicUsize::new(0);
    Upstream::start(move |seen: &Seen| {
        let number = count.fetch_add(1, Ordering::SeqCst) + 1;
        let query = seen.target.split('?').nth(1).unwrap_or_default();
        let body = format!("answer {number} to {}", seen.method);
        match query {
            "status=500" => reply("500 Broken", &[], &body),
            "status=404" => reply("404 Nothing", &[], &body),
            "none" => reply("204 No Content", &["X-Number: 1"], ""),
            "etag" => reply("200 OK", &["ETag: \"e\"", "Date: Sun, 06 Nov 1994 08:49:37 GMT"], &body),
            "cookie" => reply("200 OK", &["Set-Cookie: a=b", "Cache-Control: no-store", "X-Ratelimit-Limit: 7"], &body),
            "large" => reply("200 OK", &[], &format!("{body}{}", "x".repeat(70_000))),
            "chunks" => {
                format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len()).into_bytes()
            }
            "cut" => format!("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n{body}").into_bytes(),
            "cut-chunks" => {
                format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n{:x}\r\n{body}\r\n", body.len())
                    .into_bytes()
            }
            "action" => reply("500 Broken", &["x-tyk-cache-action-set: 1", "x-tyk-cache-action-set-ttl: 60"], &body),
            "never" => reply("200 OK", &["x-tyk-cache-action-set-ttl: 0"], &body),
            "own" => reply("200 OK", &["X-My-TTL: 0"], &body),
            _ => reply("200 OK", &["X-Upstream: 1"], if seen.method == "HEAD" { "" } else { &body }),
        }
    })
}

/// The API `a` with these `cache_options` on top of a minute for all safe requests.
fn cached(upstream: &Upstream, options: Value) -> Definition {
    with_options(api("a", "/a/", &upstream.url()), options)
}

fn with_options(definition: Definition, options: Value) -> Definition {
    let mut all = json!({"enable_cache": true, "cache_timeout": 60, "cache_all_safe_requests": true});
    crate::harness::definition::merge(&mut all, &options);
    definition.set("cache_options", all)
}

fn start(upstream: &Upstream, options: Value) -> Gateway {
    Gateway::start(json!({}), [cached(upstream, options)])
}

fn is_hit(answer: &Response) -> bool {
    let header = answer.header("x-tyk-cached-response");
    assert!(matches!(header, None | Some("1")), "{answer}");
    header.is_some()
}

#[test]
fn an_answer_that_is_cut_or_too_large_passes_and_is_not_stored() {
    let upstream = counting();
    let conf = json!({"tollgate": {"cache": {"body_bytes_max": 65_536}}});
    let gateway = Gateway::start(conf, [cached(&upstream, json!({}))]);
    for target in ["/a/x?cut", "/a/x?cut-chunks"] {
        for count in 1..=2 {
            let before = upstream.requests();
            let mut client = gateway.connect();
            client.send(get(target));
            assert!(matches!(client.try_response("GET"), Err(Broken::Cut(_))), "{target}");
            assert_eq!(upstream.requests() - before, 1, "{target} {count}");
        }
    }
    for _ in 0..2 {
        let answer = gateway.get("/a/x?large");
        assert_eq!((is_hit(&answer), answer.body.len() > 70_000), (false, true));
    }
}

#[test]
fn http2_clients_and_others_share_answers() {
    let upstream = counting();
    let gateway = start(&upstream, json!({}));
    assert_eq!(gateway.get("/a/x").text(), "answer 1 to GET");
    converse(async {
        let client = connect(gateway.port).await;
        let answer = ask(&client, get_http2("/a/x")).await.unwrap();
        assert_eq!((answer.text().as_str(), answer.header("x-tyk-cached-response")), ("answer 1 to GET", Some("1")));
        ask(&client, get_http2("/a/y")).await.unwrap();
    });
    assert_eq!(gateway.get("/a/y").text(), "answer 2 to GET");
}

#[test]
fn records_and_metrics_tell_hits() {
    let upstream = counting();
    let directory = tempfile::tempdir().unwrap();
    let conf = json!({
        "enable_analytics": true,
        "tollgate": {"threads": 1, "analytics": {"file": directory.path().join("records.json")}}
    });
    let gateway = Gateway::start(conf, [with_options(tracked("a", "/a/", &upstream), json!({}))]);
    (0..3).for_each(|_| drop(gateway.get("/a/x")));
    let is_tagged = |record: &Value| record["tags"].as_array().is_some_and(|tags| tags.contains(&json!("cached-response")));
    let tagged: Vec<bool> = records(&directory, 3).iter().map(is_tagged).collect();
    assert_eq!(tagged, [false, true, true]);
    let metrics = gateway.control("GET", "/tyk/metrics", "").text();
    for line in [
        r#"tollgate_cache_lookups_total{api="a",result="hit"} 2"#,
        r#"tollgate_cache_lookups_total{api="a",result="miss"} 1"#,
        r#"tollgate_cache_stored_total{api="a"} 1"#,
    ] {
        assert!(metrics.contains(line), "{line} in\n{metrics}");
    }
}
