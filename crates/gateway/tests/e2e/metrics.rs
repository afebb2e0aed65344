//! What `/metrics` says, as Prometheus' own tool and plain readers see it.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::gateway::SECRET;
use crate::harness::{Connection, Gateway, PATIENCE, Upstream, api, eventually, get, ok, reply, request};

/// The samples of a text by their whole name, labels included.
pub(crate) fn samples(text: &str) -> BTreeMap<String, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.rsplit_once(' ').expect("a sample"))
        .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
        .collect()
}

pub(crate) fn scrape(gateway: &Gateway) -> BTreeMap<String, f64> {
    let response = gateway.control("GET", "/tyk/metrics", "");
    assert_eq!(response.status, 200, "{response}");
    samples(&response.text())
}

/// Scrapes until a sample has a value: a request is counted after its client has its answer.
#[track_caller]
pub(crate) fn expect(gateway: &Gateway, name: &str, value: f64) {
    let begun = Instant::now();
    loop {
        let last = scrape(gateway).get(name).copied();
        if last == Some(value) {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{name} is {last:?}, not {value}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn requests_are_counted_by_api_method_and_class() {
    let upstream = Upstream::start(|seen| if seen.target.contains("missing") { reply("404 Not Found", &[], "") } else { ok() });
    let gateway = Gateway::start(json!({}), [api("shop", "/shop/", &upstream.url()), api("idle", "/idle/", &upstream.url())]);
    for target in ["/shop/a", "/shop/b", "/shop/missing"] {
        gateway.get(target);
    }
    gateway.send(request("POST", "/shop/a", &[], "12345"));
    gateway.send(request("BREW", "/shop/a", &[], ""));
    gateway.get("/nowhere");

    expect(&gateway, r#"tollgate_requests_total{api="shop",method="GET",code="2xx"}"#, 2.0);
    expect(&gateway, r#"tollgate_requests_total{api="shop",method="GET",code="4xx"}"#, 1.0);
    expect(&gateway, r#"tollgate_requests_total{api="shop",method="POST",code="2xx"}"#, 1.0);
    expect(&gateway, r#"tollgate_requests_total{api="shop",method="other",code="2xx"}"#, 1.0);
    expect(&gateway, r#"tollgate_requests_in_flight{api="shop"}"#, 0.0);
    expect(&gateway, r#"tollgate_request_body_bytes_total{api="shop"}"#, 5.0);
    expect(&gateway, r#"tollgate_unrouted_requests_total{reason="not_found"}"#, 1.0);
    let all = scrape(&gateway);
    for histogram in ["request", "upstream", "gateway"] {
        assert_eq!(all[&format!("tollgate_{histogram}_duration_seconds_count{{api=\"shop\"}}")], 5.0);
        assert_eq!(all[&format!("tollgate_{histogram}_duration_seconds_bucket{{api=\"shop\",le=\"+Inf\"}}")], 5.0);
    }
    let sum = |name: &str| all[&format!("tollgate_{name}_duration_seconds_sum{{api=\"shop\"}}")];
    assert!((sum("request") - sum("upstream") - sum("gateway")).abs() < 1e-6, "the parts are the whole");
    assert!(all[r#"tollgate_response_bytes_total{api="shop"}"#] > 100.0);
    assert!(!all.keys().any(|name| name.contains("idle\"")), "an API without requests has no series");
}

#[test]
fn refusals_and_failed_upstreams_are_counted_by_cause() {
    let closed = api("closed", "/closed/", "http://127.0.0.1:1/");
    let upstream = Upstream::start(|_| ok());
    let limited = api("limited", "/limited/", &upstream.url()).set("global_rate_limit", json!({"rate": 2, "per": 3600}));
    let keys = api("keys", "/keys/", &upstream.url()).with_keys();
    let gateway = Gateway::start(json!({}), [closed, limited, keys]);
    for _ in 0..5 {
        gateway.get("/limited/");
    }
    gateway.get("/closed/");
    gateway.get("/keys/");
    gateway.send(request("GET", "/keys/", &["Authorization: no-such-key"], ""));

    expect(&gateway, r#"tollgate_refusals_total{api="limited",cause="api_rate_limit"}"#, 3.0);
    expect(&gateway, r#"tollgate_ratelimit_decisions_total{api="limited",limit="api",decision="refused"}"#, 3.0);
    expect(&gateway, r#"tollgate_requests_total{api="limited",method="GET",code="4xx"}"#, 3.0);
    expect(&gateway, r#"tollgate_upstream_errors_total{api="closed",cause="upstream_connect"}"#, 1.0);
    expect(&gateway, r#"tollgate_requests_total{api="closed",method="GET",code="5xx"}"#, 1.0);
    expect(&gateway, r#"tollgate_refusals_total{api="keys",cause="auth_missing"}"#, 1.0);
    expect(&gateway, r#"tollgate_refusals_total{api="keys",cause="key_unknown"}"#, 1.0);
    assert!(scrape(&gateway).keys().all(|name| !name.contains("no-such-key")));
}

#[test]
fn a_client_that_goes_away_is_its_own_fault() {
    let upstream = Upstream::raw(|mut wire, _| drop(wire.rest()));
    let gateway = Gateway::start(json!({}), [api("slow", "/slow/", &upstream.url())]);
    let mut connection = gateway.connect();
    connection.send(get("/slow/"));
    expect(&gateway, r#"tollgate_requests_in_flight{api="slow"}"#, 1.0);
    drop(connection);
    expect(&gateway, r#"tollgate_client_errors_total{api="slow",cause="client_gone"}"#, 1.0);
    expect(&gateway, r#"tollgate_requests_total{api="slow",method="GET",code="4xx"}"#, 1.0);
    expect(&gateway, r#"tollgate_requests_in_flight{api="slow"}"#, 0.0);
}

#[test]
fn counters_go_on_through_a_reload() {
    let upstream = Upstream::start(|_| ok());
    let definition = api("shop", "/shop/", &upstream.url());
    let gateway = Gateway::start(json!({}), [definition.clone()]);
    gateway.get("/shop/");
    gateway.write_api(&definition.set("name", "another name"));
    gateway.reload();
    gateway.get("/shop/");
    expect(&gateway, r#"tollgate_requests_total{api="shop",method="GET",code="2xx"}"#, 2.0);
    expect(&gateway, "tollgate_config_last_reload_success", 1.0);
    gateway.write_file("shop.json", "{");
    gateway.control("GET", "/tyk/reload/?block=true", "");
    expect(&gateway, "tollgate_config_last_reload_success", 0.0);
    expect(&gateway, r#"tollgate_config_reloads_total{result="failed"}"#, 1.0);
}

#[test]
fn apis_beyond_the_bound_are_counted_together() {
    let upstream = Upstream::start(|_| ok());
    let definitions = (0..12).map(|number| api(&format!("api{number}"), &format!("/{number}/"), &upstream.url()));
    let gateway = Gateway::start(json!({"tollgate": {"metrics": {"apis_max": 4}}}), definitions);
    for number in 0..12 {
        gateway.get(&format!("/{number}/"));
    }
    let counts = || -> Vec<f64> {
        let samples = scrape(&gateway).into_iter();
        samples.filter(|(name, _)| name.starts_with("tollgate_requests_total")).map(|(_, count)| count).collect()
    };
    eventually("all are counted", || counts().iter().sum::<f64>() == 12.0);
    assert_eq!(counts().len(), 5);
    expect(&gateway, r#"tollgate_requests_total{api="_other",method="GET",code="2xx"}"#, 8.0);
}

#[test]
fn promtool_accepts_the_text() {
    let upstream = Upstream::start(|_| ok());
    let gateway = Gateway::start(json!({}), [api("say \"hi\" \\ there", "/shop/", &upstream.url())]);
    gateway.get("/shop/");
    gateway.get("/nowhere");
    expect(&gateway, r#"tollgate_unrouted_requests_total{reason="not_found"}"#, 1.0);
    let text = gateway.control("GET", "/tyk/metrics", "").text();
    let mut tool = Command::new("promtool");
    tool.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut tool = tool.spawn().expect("promtool, of Debian's prometheus");
    tool.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = tool.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{text}");
    assert_eq!(said, "", "promtool has nothing to remark");
}

#[test]
fn open_metrics_is_given_to_who_asks_for_it() {
    let gateway = Gateway::start(json!({}), []);
    let accept = "Accept: application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.3";
    let secret = format!("Authorization: Bearer {SECRET}");
    let response = gateway.send(request("GET", "/tyk/metrics", &[accept, &secret, "Connection: close"], ""));
    assert_eq!(response.status, 200, "{response}");
    assert!(response.head.get("content-type").unwrap().starts_with("application/openmetrics-text; version=1.0.0"));
    assert!(response.text().ends_with("# EOF\n"));
    let plain = gateway.control("GET", "/tyk/metrics", "");
    assert!(plain.head.get("content-type").unwrap().starts_with("text/plain; version=0.0.4"));
}

#[test]
fn without_the_secret_only_the_metrics_own_port_answers() {
    let upstream = Upstream::start(|_| ok());
    let port = crate::servers::free_port();
    let conf = json!({"tollgate": {"metrics": {"listen": format!("127.0.0.1:{port}")}}});
    let gateway = Gateway::start(conf, [api("all", "/", &upstream.url())]);
    assert_eq!(gateway.get("/tyk/metrics").status, 403);
    let wrong = request("GET", "/tyk/metrics", &["Authorization: Bearer wrong"], "");
    assert_eq!(gateway.send(wrong).status, 403);
    // A bearer token is for scrapers alone.
    let elsewhere = request("GET", "/tyk/apis", &[&format!("Authorization: Bearer {SECRET}")], "");
    assert_eq!(gateway.send(elsewhere).status, 403);
    // On the main port /metrics belongs to the APIs.
    assert_eq!(gateway.get("/metrics").text(), "ok");
    let response = Connection::open(port).ask(get("/metrics"));
    assert_eq!(response.status, 200, "{response}");
    assert!(response.text().contains("tollgate_build_info{"));
    assert_eq!(Connection::open(port).ask(get("/tyk/apis")).status, 404);
}

#[test]
fn switched_off_there_is_nothing() {
    let gateway = Gateway::start(json!({"tollgate": {"metrics": {"enabled": false}}}), []);
    assert_eq!(gateway.control("GET", "/tyk/metrics", "").status, 404);
    assert_eq!(gateway.control("GET", "/tyk/live", "").status, 404);
}

#[test]
fn live_figures_are_json() {
    let upstream = Upstream::start(|_| ok());
    let gateway = Gateway::start(json!({}), [api("shop", "/shop/", &upstream.url())]);
    gateway.get("/shop/");
    eventually("the request is counted", || {
        let live: Value = serde_json::from_str(&gateway.control("GET", "/tyk/live", "").text()).unwrap();
        live["apis"][0]["requests"] == 1 && live["apis"][0]["codes"]["2xx"] == 1 && live["apis"][0]["request_time"]["count"] == 1
    });
    assert_eq!(gateway.get("/tyk/live").status, 403);
}
