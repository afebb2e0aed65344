//! What `/metrics` says of the gateway's parts: certificates, stores, circuit breakers, pools, reloads; and that ten thousand APIs do not
//! make it endless.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::analytics::{KEY, make_key, tracked};
use crate::harness::certificates::Authority;
use crate::harness::{Connection, Gateway, Setup, Upstream, api, eventually, get, ok, reply, request};
use crate::metrics::{expect, samples, scrape};
use crate::servers::Server;
use crate::servers::free_port;

/// Scrapes the port that needs no secret and speaks no TLS.
fn scrape_port(port: u16) -> BTreeMap<String, f64> {
    samples(&Connection::open(port).ask(get("/metrics")).text())
}

#[test]
fn certificates_say_when_they_end() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new("tests");
    let (good, past) = (authority.issue(&["a.test"]), authority.issue_expired(&["b.test"]));
    let files = [good.write(dir.path(), "good.pem"), past.write(dir.path(), "past.pem")];
    let certificates = files.iter().map(|file| json!({"cert_file": file, "key_file": file})).collect::<Vec<_>>();
    let port = free_port();
    let conf = json!({
        "http_server_options": {"use_ssl": true, "certificates": certificates},
        "tollgate": {"metrics": {"listen": format!("127.0.0.1:{port}")}}
    });
    let _gateway = Gateway::start(conf, []);
    let samples = scrape_port(port);
    let of = |what: &str, file: usize, subject: &str| {
        samples[&format!("tollgate_tls_cert_{what}_seconds{{cert=\"{}\",subject=\"{subject}\"}}", files[file].display())]
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    // The first of January 2021.
    assert_eq!(of("not_after_timestamp", 1, "b.test"), 1_609_459_200.0);
    assert!((of("remaining", 1, "b.test") - (1_609_459_200.0 - now)).abs() < 60.0);
    assert!(of("remaining", 0, "a.test") > 0.0);
    assert!((of("not_after_timestamp", 0, "a.test") - now - of("remaining", 0, "a.test")).abs() < 60.0);
}

#[test]
fn stores_say_whether_they_can_be_asked_and_how_long_they_take() {
    let (mut server, upstream) = (Server::start(&[]), Upstream::ok());
    let storage = json!({"type": "redis", "host": "127.0.0.1", "port": server.port});
    let conf = crate::shared_keys::patient(json!({"enable_analytics": true, "storage": storage}));
    let gateway = Gateway::start(conf, [tracked("shop", "/shop/", &upstream).with_keys()]);
    make_key(&gateway, "shop");
    assert_eq!(gateway.send(request("GET", "/shop/", &[&format!("Authorization: {KEY}")], "")).status, 200);
    for store in ["keys", "records"] {
        expect(&gateway, &format!("tollgate_store_up{{store=\"{store}\"}}"), 1.0);
        eventually("answers are counted and timed", || {
            let samples = scrape(&gateway);
            let of = |name: &str| samples[&format!("tollgate_store_duration_seconds_{name}{{store=\"{store}\"}}")];
            of("count") > 0.0 && of("sum") > 0.0 && of("sum") < 20.0
        });
    }
    server.kill();
    for store in ["keys", "records"] {
        expect(&gateway, &format!("tollgate_store_up{{store=\"{store}\"}}"), 0.0);
    }
    server.restart();
    for store in ["keys", "records"] {
        expect(&gateway, &format!("tollgate_store_up{{store=\"{store}\"}}"), 1.0);
    }
    let embedded = Gateway::start(json!({}), []);
    expect(&embedded, "tollgate_store_up{store=\"keys\"}", 1.0);
    let before = scrape(&embedded)["tollgate_store_duration_seconds_count{store=\"keys\"}"];
    assert_eq!(embedded.control("POST", "/tyk/org/keys/acme", r#"{"org_id": "acme", "quota_max": 1}"#).status, 200);
    assert!(scrape(&embedded)["tollgate_store_duration_seconds_count{store=\"keys\"}"] > before);
    expect(&embedded, "tollgate_store_faults_total{store=\"keys\"}", 0.0);
}

#[test]
fn a_circuit_breaker_says_that_it_is_open() {
    let upstream = Upstream::start(|_| reply("500 Broken", &[], "broken"));
    let entry = json!({"path": "/x", "method": "GET", "threshold_percent": 0.5, "samples": 3, "return_to_service_after": 1, "disable_half_open_state": true});
    let gateway = Gateway::start(json!({}), [api("shop", "/shop/", &upstream.url()).list("circuit_breakers", json!([entry]))]);
    let labels = "{api=\"shop\",version=\"Default\",endpoint=\"GET /x\"}";
    let (open, openings) =
        (format!("tollgate_circuit_breaker_open{labels}"), format!("tollgate_circuit_breaker_openings_total{labels}"));
    assert_eq!((scrape(&gateway)[&open], scrape(&gateway)[&openings]), (0.0, 0.0));
    for _ in 0..3 {
        gateway.get("/shop/x");
    }
    expect(&gateway, &openings, 1.0);
    // It closes by itself after its second, whether somebody asks or not.
    expect(&gateway, &open, 0.0);
    assert_eq!(gateway.get("/shop/x").status, 500);
}

#[test]
fn pools_say_what_is_used_again() {
    let upstream = Upstream::start(|seen| {
        if seen.target.contains("slow") {
            std::thread::sleep(crate::harness::PATIENCE);
        }
        ok()
    });
    // The control API's connections are pooled as well, but not those of the port for metrics.
    let metrics = free_port();
    let conf = json!({"tollgate": {"threads": 1, "metrics": {"listen": format!("127.0.0.1:{metrics}")}}});
    let gateway = Gateway::start(conf, [api("shop", "/shop/", &upstream.url())]);
    let count = |name: &str| scrape_port(metrics)[name];
    let mut connection = gateway.connect();
    for _ in 0..4 {
        assert_eq!(connection.ask(get("/shop/")).status, 200);
    }
    eventually("one connection is kept", || count("tollgate_upstream_connections_idle") == 1.0);
    assert!(count("tollgate_upstream_connection_reuses_total") >= 3.0);
    assert!(count("tollgate_upstream_connections_total{result=\"ok\"}") >= 1.0);
    connection.send(get("/shop/slow"));
    eventually("a connection is in use", || count("tollgate_upstream_connections_active") >= 1.0);
}

#[test]
fn reloads_say_what_they_found_and_took() {
    let upstream = Upstream::ok();
    let gateway = Setup::new(json!({})).api(api("shop", "/shop/", &upstream.url())).file("broken.json", "{").start();
    expect(&gateway, "tollgate_config_problems{level=\"error\"}", 1.0);
    assert!(scrape(&gateway)["tollgate_config_last_reload_duration_seconds"] > 0.0);
    gateway.remove_file("broken.json");
    gateway.reload();
    expect(&gateway, "tollgate_config_problems{level=\"error\"}", 0.0);
}

#[test]
fn ten_thousand_apis_have_so_many_series_and_one_for_the_rest() {
    let upstream = Upstream::ok();
    let breaker = json!({"path": "/x", "method": "GET", "threshold_percent": 0.5, "samples": 9, "return_to_service_after": 1});
    let apis = (0..10_000).map(|number| {
        let definition = api(&format!("api{number:05}"), &format!("/{number}/"), &upstream.url());
        definition
            .list("circuit_breakers", json!([breaker]))
            .list("mock_response", json!([{"path": "/mock", "method": "GET", "code": 200}]))
    });
    let gateway = Gateway::start(json!({}), apis);
    let mut connection = gateway.connect();
    for number in 0..10_000 {
        assert_eq!(connection.ask(get(&format!("/{number}/mock"))).status, 200);
    }
    // The last one is counted after its answer.
    expect(&gateway, "tollgate_requests_total{api=\"_other\",method=\"GET\",code=\"2xx\"}", 9_000.0);
    let samples = scrape(&gateway);
    let of = |name: &str| samples.keys().filter(|key| key.starts_with(name)).count();
    assert_eq!(of("tollgate_requests_total{"), 1_001);
    let requests: f64 =
        samples.iter().filter(|(name, _)| name.starts_with("tollgate_requests_total{")).map(|(_, value)| value).sum();
    assert_eq!(requests, 10_000.0);
    assert_eq!(of("tollgate_circuit_breaker_open{"), 501);
    assert!(samples.len() < 70_000, "{} samples", samples.len());
}
