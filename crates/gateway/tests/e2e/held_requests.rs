//! Requests that are held while the configuration changes: each goes on where it was held, in the configuration in which it began. What it has
//! counted and called before, it does not count or call again.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::definition::merge;
use crate::harness::{Definition, Gateway, Upstream, api, ok, request};
use crate::keys::{create, keyed, session};
use crate::servers::Server;
use crate::shared_keys;

/// Requests at one time, and how often the configuration changes while they are held.
const REQUESTS: usize = 16;
const RELOADS: usize = 500;

/// A hook that calls a server, and tells the upstream which configuration it has.
const HOOK: &str = r#"
    var post = new TykJS.TykMiddleware.NewMiddleware({});
    post.NewProcessRequest(function (request, session, config) {
        TykMakeHttpRequest(JSON.stringify({Method: "GET", Domain: config.config_data.server, Resource: "/called"}));
        request.SetHeaders["X-Of-Hook"] = config.config_data.number;
        return post.ReturnData(request, {});
    });"#;

/// The API in its `number`th form.
fn form(upstream: &Upstream, server: &str, script: &str, number: usize) -> Definition {
    let schema = json!([{"path": "/x", "method": "POST", "schema": {"type": "object"}}]);
    keyed("a", upstream)
        .set("global_rate_limit", json!({"rate": 1_000_000, "per": 3600}))
        .set("config_data", json!({"server": server, "number": number.to_string()}))
        .set("custom_middleware", json!({"driver": "otto", "post": [{"name": "post", "path": script}]}))
        .version("global_headers", json!({"X-Of-Version": number.to_string()}))
        .list("validate_json", schema)
}

fn left(gateway: &Gateway, key: &str) -> Value {
    gateway.control("GET", &format!("/tyk/keys/{key}"), "").json()["quota_remaining"].clone()
}

#[test]
fn a_held_request_counts_and_calls_once_however_often_the_configuration_changes() {
    let server = Server::start(&[]);
    for conf in [json!({}), shared_keys::on(&server)] {
        let upstream = Upstream::ok();
        // Requests are held here while the configuration changes.
        let called = Upstream::start(|_| {
            thread::sleep(Duration::from_millis(300));
            ok()
        });
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("post.js");
        std::fs::write(&script, HOOK).unwrap();
        let script = script.to_str().unwrap();
        let mut settings = json!({"enable_jsvm": true, "jsvm_timeout": 10});
        merge(&mut settings, &conf);
        let gateway = Gateway::start(settings, [form(&upstream, &called.url(), script, 0)]);
        let key = create(&gateway, &session(json!({"quota_max": 1_000_000, "quota_renewal_rate": 3600})));
        let (reloads, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            let clients: Vec<_> = (0..REQUESTS)
                .map(|_| {
                    scope.spawn(|| {
                        let mut wire = gateway.connect();
                        let whole = request("POST", "/a/x", &[&format!("Authorization: {key}")], r#"{"a": 1}"#);
                        let (head, body) = whole.split_at(whole.len() - 4);
                        let mut sent = 0;
                        while !is_over.load(Ordering::Relaxed) {
                            // The body comes later, so that its head waits too.
                            wire.send(head);
                            thread::sleep(Duration::from_millis(20));
                            wire.send(body);
                            let response = wire.response("POST");
                            assert_eq!(response.status, 200, "{response}");
                            sent += 1;
                        }
                        sent
                    })
                })
                .collect();
            for number in 1..=RELOADS {
                gateway.write_api(&form(&upstream, &called.url(), script, number));
                gateway.reload();
                reloads.fetch_add(1, Ordering::Relaxed);
            }
            is_over.store(true, Ordering::Relaxed);
            let sent: usize = clients.into_iter().map(|client| client.join().unwrap()).sum();
            assert!(sent >= REQUESTS, "{sent}");
            assert_eq!(upstream.requests(), sent, "each request is forwarded once");
            assert_eq!(called.requests(), sent, "each hook is called once");
            assert_eq!(left(&gateway, &key), 1_000_000 - sent, "each limit counts once");
        });
        for seen in upstream.seen() {
            assert_eq!(seen.header("x-of-hook"), seen.header("x-of-version"), "a request has one configuration");
        }
        gateway.expect_no_panic();
    }
}

#[test]
fn a_request_goes_on_in_its_own_configuration_when_its_api_is_gone() {
    let upstream = Upstream::ok();
    let schema = json!([{"path": "/x", "method": "POST", "schema": {"type": "object"}}]);
    let definition = api("a", "/a/", &upstream.url()).list("validate_json", schema);
    let gateway = Gateway::start(json!({"tollgate": {"threads": 1}}), [definition]);
    let mut wire = gateway.connect();
    let whole = request("POST", "/a/x", &[], r#"{"a": 1}"#);
    let (head, body) = whole.split_at(whole.len() - 4);
    wire.send(head);
    // The gateway has the head when it has answered other clients that came later on the same core.
    (0..3).for_each(|_| assert_eq!(gateway.get("/hello").status, 200));
    gateway.remove_file("a.json");
    gateway.reload();
    assert_eq!(gateway.get("/a/x").status, 404);
    wire.send(body);
    assert_eq!(wire.response("POST").status, 200);
    assert_eq!(upstream.requests(), 1);
    wire.send(whole);
    assert_eq!(wire.response("POST").status, 404);
}
