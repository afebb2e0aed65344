//! Rewrites and variables that depend on request bodies, and the bound on all bodies that are kept at one time.

use std::sync::{Arc, Barrier};

use serde_json::{Value, json};

use crate::harness::http2::{connect, converse, post, upload};
use crate::harness::{Gateway, Upstream, api, error_json, eventually, request};

const FORM: &str = "Content-Type: application/x-www-form-urlencoded";

#[test]
fn a_trigger_may_look_at_the_body() {
    let upstream = Upstream::ok();
    let trigger =
        |payload: serde_json::Value, to: &str| json!({"on": "all", "options": {"payload_matches": payload}, "rewrite_to": to});
    let entry = json!({"path": "/p", "method": "POST", "match_pattern": ".*", "rewrite_to": "/other", "triggers": [
        trigger(json!({"match_rx": "\"kind\": ?\"(\\w+)\""}), "/kind/$tyk_context.trigger-0-payload-0-0"),
        trigger(json!({"match_rx": "plain"}), "/whole/$tyk_context.trigger-1-payload"),
        trigger(json!({"match_rx": "common", "reverse": true}), "/unusual")
    ]});
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url()).list("url_rewrites", json!([entry]))]);
    for (body, target) in [
        (r#"{"kind": "big"}"#, "/kind/big"),
        ("plain text", "/whole/plain"),
        ("neither", "/unusual"),
        ("a common text", "/other"),
        ("", "/unusual"),
    ] {
        assert_eq!(gateway.send(request("POST", "/a/p", &[], body)).status, 200);
        let seen = upstream.last();
        assert_eq!((seen.target.as_str(), seen.text().as_str()), (target, body));
    }
    converse(async {
        let client = connect(gateway.port).await;
        upload(&client, post("/a/p"), br#"{"kind": "h2"}"#, None).await.unwrap();
    });
    assert_eq!(upstream.last().target, "/kind/h2");
}

#[test]
fn fields_of_a_form_are_variables() {
    let upstream = Upstream::ok();
    let headers = json!({"X-Plan": "$tyk_context.request_data_the_plan", "X-All": "$tyk_context.request_data"});
    let entry = json!([{"path": "/p", "method": "POST", "add_headers": headers}]);
    let definition = api("a", "/a/", &upstream.url()).set("enable_context_vars", true).list("transform_headers", entry);
    let gateway = Gateway::start(json!({}), [definition]);
    let sent = |lines: &[&str], target: &str, body: &str| {
        assert_eq!(gateway.send(request("POST", target, lines, body)).status, 200);
        let seen = upstream.last();
        assert_eq!(seen.text(), body);
        (seen.header("x-plan").unwrap_or_default().to_owned(), seen.header("x-all").unwrap_or_default().to_owned())
    };
    assert_eq!(sent(&[FORM], "/a/p", "the-plan=go+ld&x=1"), ("go ld".to_owned(), "the-plan:go ld;x:1".to_owned()));
    // The body comes before the query.
    assert_eq!(sent(&[FORM], "/a/p?the-plan=query", "the-plan=body").0, "body");
    assert_eq!(sent(&["Content-Type: application/json"], "/a/p?the-plan=query", "the-plan=body").0, "query");
    assert_eq!(sent(&[FORM], "/a/p?the-plan=query", "").0, "query");
}

/// Bodies of 200 MiB that come at once: the memory for them is bounded, and each client gets an answer.
#[test]
fn all_bodies_that_are_kept_at_one_time_are_bounded() {
    use base64::Engine as _;
    let source = base64::engine::general_purpose::STANDARD.encode("{{len .text}}");
    let data = json!({"input_type": "json", "template_mode": "blob", "template_source": source});
    check_bound("transform", json!([{"path": "/t", "method": "POST", "template_data": data}]));
}

#[test]
fn all_bodies_that_filters_read_at_one_time_are_bounded() {
    check_bound("transform_jq", json!([{"path": "/t", "method": "POST", "filter": "{body: (.body.text | length)}"}]));
}

fn check_bound(list: &str, entry: Value) {
    const CLIENTS: usize = 200;
    const BODY_BYTES: usize = 1 << 20;
    const ALL_BYTES: usize = 32 << 20;
    let upstream = Upstream::ok();
    let conf = json!({"tollgate": {"threads": 2, "limits": {"bodies_bytes_max": ALL_BYTES}}});
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url()).list(list, entry)]);
    assert_eq!(gateway.send(request("POST", "/a/t", &[], "{\"text\": \"warm\"}")).status, 200);
    let before = gateway.rss_kib();
    let body = Arc::new(format!("{{\"text\": \"{}\"}}", "x".repeat(BODY_BYTES - 20)));
    let start = Arc::new(Barrier::new(CLIENTS));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (mut client, body, start) = (gateway.connect(), body.clone(), start.clone());
            std::thread::spawn(move || {
                let text = request("POST", "/a/t", &[], &body);
                start.wait();
                // One that is refused need not be read to its end.
                let _ = client.try_send(text);
                client.try_response("POST").map(|answer| (answer.status, answer.text()))
            })
        })
        .collect();
    let answers: Vec<_> = clients.into_iter().map(|client| client.join().unwrap()).collect();
    let peak = gateway.peak_rss_kib();
    let served = answers.iter().filter(|answer| answer.as_ref().is_ok_and(|(status, _)| *status == 200)).count();
    for answer in answers.iter().flatten().filter(|(status, _)| *status != 200) {
        assert_eq!(*answer, (503, error_json("Too many bodies are being read")));
    }
    assert!(served >= 50, "{served} of {CLIENTS}");
    println!("{served} of {CLIENTS} served, {before} KiB before, {peak} KiB at most");
    // What is kept, and twice as much that the allocator has not given back; what came with each head; and on each of two threads one body
    // as a document and in its buffers. Without a bound it is two times the body for each client.
    let bound = (3 * ALL_BYTES + CLIENTS * 64 * 1024 + 2 * 12 * BODY_BYTES) / 1024;
    assert!(peak.saturating_sub(before) < bound as u64, "{before} KiB before, {peak} KiB at most; {served} served");
    // The gauge is set ten times a second.
    eventually("no body is kept", || {
        let metrics = gateway.control("GET", "/tyk/metrics", "").text();
        metrics.lines().any(|line| line == "tollgate_kept_body_bytes 0")
    });
}
