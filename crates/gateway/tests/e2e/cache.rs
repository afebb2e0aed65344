//! The response cache by Tyk's rules: what is stored, for whom, for how long, and what clients see of a hit. Rules are those of Tyk's
//! `mw_redis_cache.go` and `res_cache.go`; the tests of the crate name the functions.

use serde_json::{Value, json};

use crate::analytics::{records, tracked};
use crate::harness::caching::{cached, counting, with_options};
use crate::harness::http2::{ask, connect, converse, get as get_http2};
use crate::harness::wire::Broken;
use crate::harness::{Gateway, Response, Upstream, get};

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
