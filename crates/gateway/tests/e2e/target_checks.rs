//! What the gateway asks about targets without a request: uptime tests, checks, discovery; and how targets are shown.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::commands::tollgate;
use crate::harness::nginx::Nginx;
use crate::harness::{Definition, Gateway, Upstream, api, eventually, get, reply};
use crate::records::{decoded, member, taken};

/// Two checks in a row, one each second: the shortest that Tyk's configuration allows.
fn quick() -> Value {
    json!({"uptime_tests": {"config": {"failure_trigger_sample_size": 2, "time_wait": 1}}})
}

fn balanced(urls: &[String], checks: Value) -> Definition {
    api("a", "/a/", "http://unused.test")
        .set("proxy/enable_load_balancing", true)
        .set("proxy/target_list", json!(urls))
        .set("proxy/check_host_against_uptime_tests", true)
        .set("uptime_tests", json!({"check_list": checks}))
}

#[test]
fn targets_that_uptime_tests_find_down_get_no_requests() {
    let mut nginx: Vec<Nginx> = (0..2).map(|number| Nginx::start(&format!("location / {{ return 200 {number}; }}"))).collect();
    let urls: Vec<String> = nginx.iter().map(Nginx::url).collect();
    let checks: Vec<Value> = urls.iter().map(|url| json!({"url": format!("{url}/health")})).collect();
    let gateway = Gateway::start(quick(), [balanced(&urls, json!(checks))]);
    assert_eq!(gateway.get("/a/").status, 200);
    nginx[0].kill();
    eventually("the dead target is down", || gateway.log().contains("HostDown"));
    let mut client = gateway.connect();
    assert!((0..50).all(|_| client.ask(get("/a/")).text() == "1"));
    nginx[1].kill();
    eventually("both are down", || gateway.get("/a/").status == 503);
    let refused = gateway.get("/a/");
    assert_eq!(
        (refused.text().as_str(), refused.header("content-type")),
        ("all hosts are down\n", Some("text/plain; charset=utf-8"))
    );
    nginx[1] = Nginx::start_at(nginx[1].port, "", "location / { return 200 back; }");
    eventually("it is up again", || gateway.log().contains("HostUp"));
    assert!((0..50).all(|_| client.ask(get("/a/")).text() == "back"));
}

#[test]
fn a_check_may_be_a_dialogue_and_a_request_with_headers_and_a_body() {
    let answers = Arc::new(AtomicBool::new(true));
    let switch = answers.clone();
    let server = Upstream::raw(move |mut wire, _| {
        let asked = wire.exactly(4).unwrap_or_default();
        let word = if switch.load(Ordering::SeqCst) { "PONG" } else { "NOPE" };
        if asked == b"PING" {
            let _ = wire.try_send(word.as_bytes());
        }
    });
    let asked = Upstream::start(|seen| {
        let is_right = seen.method == "POST" && seen.header("x-check") == Some("yes") && seen.text() == "body";
        reply(if is_right { "200 OK" } else { "400 Bad" }, &[], "")
    });
    let serving = Upstream::ok();
    let checks = json!([
        {"url": format!("tcp://{}", server.address), "commands": [{"name": "send", "message": "PING"}, {"name": "expect", "message": "PONG"}]},
        {"url": asked.url(), "method": "POST", "headers": {"X-Check": "yes"}, "body": "Ym9keQ==", "timeout": 2_000_000_000},
    ]);
    let gateway = Gateway::start(quick(), [balanced(&[serving.url(), server.address.to_string()], checks)]);
    eventually("three rounds pass", || asked.requests() >= 3);
    assert!(!gateway.log().contains("HostDown"), "{}", gateway.log());
    answers.store(false, Ordering::SeqCst);
    eventually("the wrong word is noticed", || gateway.log().contains("HostDown"));
    let mut client = gateway.connect();
    assert!((0..20).all(|_| client.ask(get("/a/")).status == 200));
}

#[test]
fn an_endless_answer_to_a_check_is_cut() {
    let target = Upstream::raw(|mut wire, _| {
        if crate::harness::Seen::read(&mut wire).is_some_and(|seen| seen.target == "/health") {
            let _ = wire.try_send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            while wire.try_send(format!("10000\r\n{}\r\n", "x".repeat(0x10000)).as_bytes()).is_ok() {}
        } else {
            let _ = wire.try_send(reply("200 OK", &["Connection: close"], "served"));
        }
    });
    let rules = json!({"checks": {"path": "/health", "interval_ms": 50, "fall": 1, "rise": 1}});
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &target.url()).set("tollgate", json!({"upstream": rules}))]);
    eventually("twenty checks are done", || target.connections() > 20);
    assert_eq!(gateway.get("/a/").text(), "served");
    assert!(gateway.rss_kib() < 500_000);
    assert!(!gateway.log().contains("HostDown"), "{}", gateway.log());
}

#[test]
fn checks_of_the_gateways_own_kind_rise_and_fall() {
    let healthy = Arc::new(AtomicBool::new(true));
    let switch = healthy.clone();
    let one = Upstream::start(move |seen| match (seen.target.as_str(), switch.load(Ordering::SeqCst)) {
        ("/health", false) => reply("503 Ill", &[], ""),
        _ => reply("200 OK", &[], "one"),
    });
    let two = Upstream::start(|_| reply("200 OK", &[], "two"));
    let rules = json!({
        "targets": [{"url": one.url()}, {"url": two.url()}],
        "checks": {"path": "/health", "interval_ms": 50, "fall": 2, "rise": 2},
        "health": {"slow_start_ms": 0},
    });
    let gateway = Gateway::start(json!({}), [api("a", "/a/", "http://unused.test").set("tollgate", json!({"upstream": rules}))]);
    eventually("both get requests", || gateway.get("/a/").text() == "one");
    healthy.store(false, Ordering::SeqCst);
    eventually("it is down", || gateway.log().contains("HostDown"));
    let mut client = gateway.connect();
    assert!((0..50).all(|_| client.ask(get("/a/")).text() == "two"));
    let shown = target_of(&gateway, &one.url());
    assert_eq!((shown["state"].as_str(), shown["cause"].as_str()), (Some("down"), Some("checks")));
    healthy.store(true, Ordering::SeqCst);
    eventually("it gets requests again", || gateway.get("/a/").text() == "one");
}

#[test]
fn targets_are_discovered_and_garbage_keeps_the_last_good_list() {
    let targets: Vec<Upstream> = ["x", "y", "z"].map(|name| Upstream::start(move |_| reply("200 OK", &[], name))).into();
    let item = |index: usize| json!({"Address": "127.0.0.1", "ServicePort": targets[index].port()});
    let answer = Arc::new(Mutex::new(json!([item(0), item(1)]).to_string()));
    let asked = Arc::new(AtomicUsize::new(0));
    let (current, count) = (answer.clone(), asked.clone());
    let service = Upstream::start(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        reply("200 OK", &["Content-Type: application/json"], &current.lock().unwrap())
    });
    let discovery = json!({
        "use_discovery_service": true, "query_endpoint": format!("{}/v1/catalog/service/web", service.url()), "endpoint_returns_list": true,
        "data_path": "Address", "port_data_path": "ServicePort", "use_target_list": true, "cache_timeout": 1,
    });
    let fallback = Upstream::start(|_| reply("200 OK", &[], "fallback"));
    let definition = api("a", "/a/", &fallback.url()).set("proxy/service_discovery", discovery);
    let gateway = Gateway::start(json!({}), [definition]);
    let names = || {
        let mut client = gateway.connect();
        let mut names: Vec<String> = (0..20).map(|_| client.ask(get("/a/")).text()).collect();
        names.sort();
        names.dedup();
        names
    };
    eventually("the list is used", || names() == ["x", "y"]);
    *answer.lock().unwrap() = json!([item(2)]).to_string();
    eventually("the new list is used", || names() == ["z"]);
    // More than the gateway reads of an answer.
    let huge = format!("[{}{}]", format!("{},", item(0)).repeat(40_000), item(1));
    for garbage in ["[]", "<html>busy</html>", r#"[{"Address": 5, "ServicePort": "x"}]"#, r#"{"Address": "127.0.0.1"}"#, &huge] {
        *answer.lock().unwrap() = garbage.to_owned();
        let before = asked.load(Ordering::SeqCst);
        eventually("it asks twice more", || asked.load(Ordering::SeqCst) >= before + 2);
        assert_eq!(names(), ["z"], "after {}", garbage.get(..100).unwrap_or(garbage));
    }
    assert!(gateway.log().contains("the last good list of targets stays"), "{}", gateway.log());
}

#[test]
fn an_api_whose_targets_are_all_discovered_or_missing_serves_what_it_can() {
    let target = Upstream::start(|_| reply("200 OK", &[], "found"));
    let answer = json!({"host": format!("127.0.0.1:{}", target.port())}).to_string();
    let service = Upstream::start(move |_| reply("200 OK", &["Content-Type: application/json"], &answer));
    let discovery =
        json!({"use_discovery_service": true, "query_endpoint": service.url(), "data_path": "host", "cache_timeout": 1});
    let tests = json!({"check_list": [{"url": "http://127.0.0.1:9/"}], "config": {}});
    let mock = json!([{"path": "/mock", "method": "GET", "code": 218, "body": "m"}]);
    let found = api("a", "/a/", "").set("proxy/service_discovery", discovery).list("mock_response", mock.clone());
    let nowhere = api("b", "/b/", "").set("uptime_tests", tests).set("proxy/check_host_against_uptime_tests", true);
    let gateway = Gateway::start(json!({}), [found, nowhere.list("mock_response", mock)]);
    assert_eq!(["/a/mock", "/b/mock", "/b/"].map(|path| gateway.get(path).status), [218, 218, 500], "{}", gateway.log());
    eventually("the target is found", || gateway.get("/a/").text() == "found");
}

fn target_of(gateway: &Gateway, url: &str) -> Value {
    let live: Value = serde_json::from_str(&gateway.control("GET", "/tyk/live", "").text()).unwrap();
    let targets = live["apis"][0]["targets"].as_array().unwrap();
    targets.iter().find(|target| target["url"] == url).unwrap().clone()
}

#[test]
fn targets_are_shown_with_their_state_and_the_budget() {
    let good = Upstream::ok();
    let mut dead = Nginx::start("");
    dead.kill();
    let rules = json!({
        "targets": [{"url": good.url()}, {"url": dead.url()}],
        "health": {"consecutive_faults": 2, "ejected_ms": 600_000, "ejected_ms_max": 600_000},
        "retries": {"budget_per_s_min": 100},
    });
    let gateway = Gateway::start(json!({}), [api("a", "/a/", "http://unused.test").set("tollgate", json!({"upstream": rules}))]);
    let mut client = gateway.connect();
    assert!((0..20).all(|_| client.ask(get("/a/")).status == 200));
    let shown = target_of(&gateway, &dead.url());
    assert_eq!(
        (shown["state"].as_str(), shown["cause"].as_str(), shown["faults"].as_u64()),
        (Some("ejected"), Some("unreachable"), Some(2))
    );
    let shown = target_of(&gateway, &good.url());
    assert_eq!(
        (shown["state"].as_str(), shown["requests"].as_u64(), shown["retries"].as_u64()),
        (Some("available"), Some(20), Some(2))
    );
    let metrics = gateway.control("GET", "/tyk/metrics", "").text();
    for sample in [
        format!("tollgate_target_requests_total{{api=\"a\",version=\"Default\",part=\"\",target=\"{}\"}} 20", good.url()),
        format!("tollgate_target_ejections_total{{api=\"a\",version=\"Default\",part=\"\",target=\"{}\"}} 1", dead.url()),
        format!(
            "tollgate_target_available{{api=\"a\",version=\"Default\",part=\"\",target=\"{}\",cause=\"unreachable\"}} 0",
            dead.url()
        ),
    ] {
        assert!(metrics.contains(&sample), "{sample} in {metrics}");
    }
    let table = tollgate(&gateway, "status --upstreams").ok();
    assert!(table.contains("ejected: unreachable") && table.contains(&good.url()), "{table}");
}

#[test]
fn each_uptime_test_leaves_a_record_for_the_pump() {
    let redis = crate::servers::Server::start(&[]);
    let target = Upstream::start(|_| reply("404 Not Found", &[], ""));
    let dead = format!("127.0.0.1:{}", crate::servers::free_port());
    let checks = json!([{"url": format!("{}/health", target.url())}, {"url": &dead, "protocol": "tcp"}]);
    let conf = json!({
        "uptime_tests": {"config": {"time_wait": 1, "enable_uptime_analytics": true}},
        "enable_separate_analytics_store": true,
        "analytics_storage": {"type": "redis", "host": "127.0.0.1", "port": redis.port},
    });
    let definition = balanced(&[target.url()], checks).set("uptime_tests/config", json!({"expire_utime_after": 60}));
    let gateway = Gateway::start(conf, [definition.set("org_id", "org")]);
    let list = "host-checker:tyk-uptime-analytics";
    let mut records: Vec<rmpv::Value> = Vec::new();
    let urls = [format!("{}/health", target.url()), dead];
    let of =
        |records: &[rmpv::Value], url: &str| records.iter().find(|record| member(record, "URL").as_str() == Some(url)).cloned();
    eventually("each test has left a record", || {
        records.extend(taken(&redis, list).iter().map(|bytes| decoded(bytes)));
        urls.iter().all(|url| of(&records, url).is_some())
    });
    let [answered, silent] = urls.each_ref().map(|url| of(&records, url).unwrap());
    let (answered, silent) = (&answered, &silent);
    // The fields of `UptimeReportData` in gateway/host_checker_manager.go, Tyk v5.14.
    let names: Vec<&str> = answered.as_map().unwrap().iter().filter_map(|(name, _)| name.as_str()).collect();
    let expected = "URL RequestTime ResponseCode TCPError ServerError Day Month Year Hour Minute TimeStamp ExpireAt APIID OrgID";
    assert_eq!(names.join(" "), expected);
    let told = |record| {
        let texts = ["APIID", "OrgID"].map(|name| member(record, name).as_str().unwrap().to_owned());
        let flags = ["TCPError", "ServerError"].map(|name| member(record, name).as_bool().unwrap());
        (texts.join(" "), member(record, "ResponseCode").as_i64().unwrap(), flags)
    };
    assert_eq!(told(answered), ("a org".to_owned(), 404, [false, true]));
    assert_eq!(told(silent), ("a org".to_owned(), 521, [true, false]));
    let second = |name| member(answered, name).as_array().unwrap()[0].as_i64().unwrap();
    assert_eq!(second("ExpireAt") - second("TimeStamp"), 60);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() as i64;
    assert!((now - 300..=now).contains(&second("TimeStamp")));
    assert!(gateway.get("/a/").status == 404);
}
