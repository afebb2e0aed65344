//! What is recorded of requests: as JSON lines, as usage, in the access log; and what never is.

use std::fs;
use std::io::Read;
use std::net::UdpSocket;
use std::time::Duration;

use base64::Engine;
use serde_json::{Value, json};

use crate::harness::definition::Definition;
use crate::harness::http2;
use crate::harness::{Gateway, Setup, Upstream, api, eventually, ok, reply, request};

pub(crate) const KEY: &str = "a-very-secret-key-0123456789";

/// Analytics into `records.json` in a folder of its own.
pub(crate) fn recording(conf: Value) -> (tempfile::TempDir, Value) {
    let directory = tempfile::tempdir().unwrap();
    let mut all = json!({
        "enable_analytics": true,
        "hash_keys": true,
        // Each core writes for itself: with one the records stand in the order of the requests.
        "tollgate": {"threads": 1, "analytics": {"file": directory.path().join("records.json")}}
    });
    crate::harness::definition::merge(&mut all, &conf);
    (directory, all)
}

pub(crate) fn tracked(id: &str, listen_path: &str, upstream: &Upstream) -> Definition {
    api(id, listen_path, &upstream.url()).set("do_not_track", false)
}

/// The records, once there are that many.
#[track_caller]
pub(crate) fn records(directory: &tempfile::TempDir, count: usize) -> Vec<Value> {
    let read = || -> Vec<Value> {
        let text = fs::read_to_string(directory.path().join("records.json")).unwrap_or_default();
        text.lines().filter(|line| line.ends_with('}')).map(|line| serde_json::from_str(line).expect("a record")).collect()
    };
    eventually("all records are written", || read().len() >= count);
    let records = read();
    assert_eq!(records.len(), count, "{records:#?}");
    records
}

pub(crate) fn make_key(gateway: &Gateway, api: &str) {
    let session = json!({
        "org_id": "default", "alias": "the alias", "tags": ["gold"], "meta_data": {"tyk_developer_id": "dev7"},
        "rate": 1000, "per": 1, "quota_max": -1,
        "access_rights": {api: {"api_id": api, "api_name": api, "versions": ["Default"]}}
    });
    let made = gateway.control("POST", &format!("/tyk/keys/{KEY}"), &session.to_string());
    assert_eq!(made.status, 200, "{made}");
}

#[test]
fn a_record_says_what_tyks_says() {
    let upstream = Upstream::start(|_| {
        std::thread::sleep(Duration::from_millis(30));
        reply("201 Created", &[], "hello")
    });
    let (directory, conf) = recording(json!({}));
    let definition = tracked("shop", "/shop/", &upstream).set("tag_headers", json!(["X-Tag"])).set("expire_analytics_after", 60);
    let gateway = Gateway::start(conf, [definition]);
    let lines = ["User-Agent: tester/1.0", "X-Tag: tv", "X-Real-IP: 203.0.113.9"];
    gateway.send(request("POST", "/shop/a/b?token=hidden", &lines, "12345"));
    let record = records(&directory, 1).remove(0);
    let expected = json!({
        "method": "POST", "path": "/a/b", "raw_path": "/a/b", "original_path": "/shop/a/b", "listen_path": "/shop/",
        "host": upstream.address.to_string(), "content_length": 5, "user_agent": "tester/1.0", "response_code": 201,
        "api_key": "00000000", "api_version": "Non Versioned", "api_name": "shop", "api_id": "shop", "org_id": "default",
        "ip_address": "127.0.0.1", "track_path": false, "alias": "", "raw_request": "", "raw_response": "",
        "tags": ["x-tag-tv", "key-00000000", "org-default", "api-shop"]
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&record[name], value, "{name}");
    }
    let latency = |name: &str| record["latency"][name].as_i64().unwrap();
    assert!(latency("upstream") >= 30 && latency("total") == latency("upstream") + latency("gateway"), "{record}");
    assert_eq!(record["request_time"], record["latency"]["total"]);
    assert_eq!(record["network"]["bytes_in"], 5);
    assert!(record["timestamp"].as_str().unwrap() < record["expireAt"].as_str().unwrap());
}

/// Seconds from a record's request to its end, by its API.
fn lives_s(records: &[Value]) -> Vec<(String, u64)> {
    let time = |record: &Value, name: &str| humantime::parse_rfc3339(record[name].as_str().expect("a time")).expect("RFC 3339");
    let life = |record: &Value| time(record, "expireAt").duration_since(time(record, "timestamp")).expect("a life").as_secs();
    records.iter().map(|record| (record["api_id"].as_str().unwrap().to_owned(), life(record))).collect()
}

#[test]
fn records_expire_as_their_organisation_says() {
    let upstream = Upstream::start(|_| ok());
    let of = |id: &str, org: &str| tracked(id, &format!("/{id}/"), &upstream).set("org_id", org).set("expire_analytics_after", 60);
    for (enforced, [acme, silent, none]) in [(true, [7_200, 60, 604_800]), (false, [60, 60, 60])] {
        let (directory, conf) = recording(json!({"enforce_org_data_age": enforced}));
        let gateway = Gateway::start(conf, ["acme", "silent", "none"].map(|org| of(org, org)));
        for (org, session) in [("acme", json!({"data_expires": 7_200})), ("silent", json!({}))] {
            let put = gateway.control("PUT", &format!("/tyk/org/keys/{org}"), &session.to_string());
            assert_eq!(put.status, 200, "{put}");
        }
        for org in ["acme", "silent", "none"] {
            assert_eq!(gateway.get(&format!("/{org}/")).status, 200);
        }
        let mut lives = lives_s(&records(&directory, 3));
        lives.sort();
        let expected = [("acme", acme), ("none", none), ("silent", silent)].map(|(org, seconds)| (org.to_owned(), seconds));
        assert_eq!(lives, expected, "enforced: {enforced}");
    }
}

#[test]
fn a_key_is_recorded_by_its_hash_with_alias_and_tags() {
    let upstream = Upstream::start(|_| ok());
    let (directory, conf) = recording(json!({}));
    let gateway = Gateway::start(conf, [tracked("shop", "/shop/", &upstream).with_keys()]);
    make_key(&gateway, "shop");
    let answer = gateway.send(request("GET", "/shop/", &[&format!("Authorization: {KEY}")], ""));
    assert_eq!(answer.status, 200, "{answer}");
    gateway.send(request("GET", "/shop/", &["Authorization: some-wrong-key"], ""));
    let records = records(&directory, 2);
    let hash = records[0]["api_key"].as_str().unwrap();
    assert!(hash.len() == 8 && hash != "00000000", "{hash}");
    assert_eq!(records[0]["alias"], "the alias");
    assert_eq!(records[0]["tags"], json!(["dev-dev7", "gold", format!("key-{hash}"), "org-default", "api-shop"]));
    assert_eq!((&records[1]["response_code"], &records[1]["api_key"]), (&json!(403), &json!("00000000")));
}

#[test]
fn what_is_not_to_be_tracked_is_not() {
    let upstream = Upstream::start(|_| ok());
    let (directory, conf) =
        recording(json!({"analytics_config": {"normalise_urls": {"enabled": true, "normalise_numbers": true}}}));
    let marked = tracked("marked", "/marked/", &upstream)
        .list("do_not_track_endpoints", json!([{"path": "/private", "method": "GET"}]))
        .list("track_endpoints", json!([{"path": "/orders/{id}/items", "method": "GET"}]))
        .list("mock_response", json!([{"path": "/mock", "method": "GET", "code": 200, "body": "x"}]));
    let silent = api("silent", "/silent/", &upstream.url());
    let gateway = Gateway::start(conf, [marked, silent]);
    for target in ["/silent/", "/marked/private", "/marked/mock", "/nowhere", "/marked/orders/77/items", "/marked/plain/8"] {
        gateway.get(target);
    }
    let paths: Vec<_> =
        records(&directory, 2).iter().map(|record| (record["path"].clone(), record["track_path"].clone())).collect();
    assert_eq!(paths, [(json!("/orders/{id}/items"), json!(true)), (json!("/plain/{id}"), json!(false))]);
}

#[test]
fn ignored_addresses_are_left_out() {
    let upstream = Upstream::start(|_| ok());
    let conf = json!({"analytics_config": {"ignored_ips": ["192.0.2.1"]}, "tollgate": {"trusted_proxies": ["127.0.0.0/8"]}});
    let (directory, conf) = recording(conf);
    let gateway = Gateway::start(conf, [tracked("shop", "/shop/", &upstream)]);
    for address in ["192.0.2.1", "192.0.2.2"] {
        gateway.send(request("GET", "/shop/", &[&format!("X-Real-IP: {address}")], ""));
    }
    assert_eq!(records(&directory, 1)[0]["ip_address"], "192.0.2.2");
}

#[test]
fn a_detailed_record_has_both_messages_and_no_secret() {
    let upstream = Upstream::start(|_| reply("200 OK", &["X-From: upstream"], "the answer"));
    let (directory, conf) = recording(json!({}));
    let definition = tracked("shop", "/shop/", &upstream)
        .with_keys()
        .set("enable_detailed_recording", true)
        .set("auth", json!({"auth_header_name": "X-Key", "use_param": true, "param_name": "apikey"}));
    let gateway = Gateway::start(conf, [definition]);
    make_key(&gateway, "shop");
    let lines = [&format!("X-Key: {KEY}"), "Cookie: session=alsosecret", "X-Other: shown"];
    let target = format!("/shop/x?a=1&apikey={KEY}&%61pikey={KEY}&APIKEY={KEY}&api+key=shown");
    gateway.send(request("POST", &target, &lines, "the body"));
    let record = records(&directory, 1).remove(0);
    let decoded = |name: &str| {
        let bytes = base64::engine::general_purpose::STANDARD.decode(record[name].as_str().unwrap()).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    let (sent, answered) = (decoded("raw_request"), decoded("raw_response"));
    let shown = "POST /shop/x?a=1&apikey=***&%61pikey=***&APIKEY=***&api+key=shown HTTP/1.1\r\n";
    assert!(sent.starts_with(shown), "{sent}");
    assert!(sent.contains("X-Key: ***\r\n") && sent.contains("X-Other: shown\r\n") && sent.ends_with("\r\n\r\nthe body"), "{sent}");
    assert!(answered.starts_with("HTTP/1.1 200 OK\r\n") && answered.contains("X-From: upstream\r\n"), "{answered}");
    assert!(answered.ends_with("\r\n\r\nthe answer"), "{answered}");
    for secret in [KEY, "alsosecret"] {
        assert!(!sent.contains(secret) && !record.to_string().contains(secret));
    }
}

#[test]
fn a_key_can_ask_for_whole_records_of_its_requests() {
    let upstream = Upstream::start(|_| ok());
    let (directory, conf) = recording(json!({"tollgate": {"analytics": {"body_bytes_max": 5}}}));
    let gateway = Gateway::start(conf, [tracked("shop", "/shop/", &upstream).with_keys()]);
    make_key(&gateway, "shop");
    let watched = json!({
        "org_id": "default", "enable_detailed_recording": true, "quota_max": -1,
        "access_rights": {"shop": {"api_id": "shop", "api_name": "shop", "versions": ["Default"]}}
    });
    assert_eq!(gateway.control("POST", "/tyk/keys/watched-key", &watched.to_string()).status, 200);
    for key in [KEY, "watched-key"] {
        gateway.send(request("POST", "/shop/", &[&format!("Authorization: {key}")], "a longer body"));
    }
    let records = records(&directory, 2);
    assert_eq!((&records[0]["raw_request"], &records[0]["raw_response"]), (&json!(""), &json!("")));
    let bytes = base64::engine::general_purpose::STANDARD.decode(records[1]["raw_request"].as_str().unwrap()).unwrap();
    let sent = String::from_utf8(bytes).unwrap();
    assert!(sent.ends_with("\r\n\r\na lon") && sent.contains("Authorization: ***"), "{sent}");
}

#[test]
fn usage_is_summed_and_survives_a_restart_of_its_writer() {
    let upstream = Upstream::start(|seen| if seen.target.contains("bad") { reply("500 Oops", &[], "") } else { ok() });
    let (_directory, conf) = recording(json!({}));
    let gateway = Gateway::start(conf, [tracked("shop", "/shop/", &upstream), tracked("blog", "/blog/", &upstream)]);
    for target in ["/shop/item/1", "/shop/item/2", "/shop/bad", "/blog/"] {
        gateway.get(target);
    }
    let ask = |query: &str| -> Value { gateway.control("GET", &format!("/tyk/usage?{query}"), "").json() };
    eventually("the sums are written", || ask("by=api")["rows"].as_array().is_some_and(|rows| rows.len() == 2));
    let by_api = ask("by=api&last=1h");
    let shop = &by_api["rows"][0];
    assert_eq!((&shop["value"], &shop["hits"], &shop["errors"]), (&json!("shop"), &json!(3), &json!(1)), "{by_api}");
    assert!(shop["p50_ms"].as_f64().unwrap() <= shop["max_ms"].as_f64().unwrap());
    let by_path = ask("by=path&api_id=shop&top=1");
    assert_eq!(by_path["rows"], json!([by_path["rows"][0]]));
    assert_eq!((&by_path["rows"][0]["value"], &by_path["rows"][0]["hits"]), (&json!("/item/{id}"), &json!(2)));
    assert_eq!(ask("by=status&api_id=shop")["rows"].as_array().unwrap().len(), 2);
    assert_eq!(ask("by=time&step=1h&last=1h")["step_s"], 3600);
    for (query, hits) in [("by=api&status=5xx", 1), ("by=status&status=200&api_id=shop", 2), ("by=path&method=get&api_id=blog", 1)]
    {
        assert_eq!(ask(query)["rows"][0]["hits"], hits, "{query}");
    }
    assert_eq!(ask("by=api&method=POST")["rows"], json!([]));
    let wrong = gateway.control("GET", "/tyk/usage?by=colour", "");
    assert_eq!(wrong.status, 400, "{wrong}");
    assert_eq!(gateway.get("/tyk/usage").status, 403);
}

#[test]
fn what_was_recorded_is_written_before_the_end() {
    let upstream = Upstream::start(|_| ok());
    let (directory, conf) = recording(json!({}));
    let mut gateway = Gateway::start(conf, [tracked("shop", "/shop/", &upstream)]);
    for _ in 0..50 {
        gateway.get("/shop/");
    }
    gateway.signal("TERM");
    assert!(gateway.wait_for_exit().success());
    assert_eq!(fs::read_to_string(directory.path().join("records.json")).unwrap().lines().count(), 50);
}

#[test]
fn a_dead_sink_slows_nobody_and_counts_its_losses() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Somebody opens the pipe and never reads.
    let (opened, path) = (std::sync::mpsc::channel::<()>(), pipe.clone());
    let reader = std::thread::spawn(move || {
        let file = fs::File::open(path).unwrap();
        let _ = opened.1.recv();
        drop(file);
    });
    let upstream = Upstream::start(|_| ok());
    let conf = json!({
        "enable_analytics": true,
        "analytics_config": {"records_buffer_size": 1},
        "tollgate": {"threads": 1, "analytics": {"file": pipe, "usage": false}}
    });
    let gateway = Gateway::start(conf, [tracked("shop", "/shop/", &upstream)]);
    let mut connection = gateway.connect();
    let agent = format!("User-Agent: {}", "a".repeat(7_000));
    let lost = || {
        let text = gateway.control("GET", "/tyk/metrics", "").text();
        let line = text.lines().find(|line| line.starts_with("tollgate_sink_records_total{sink=\"file\",result=\"dropped\"}"));
        line.and_then(|line| line.rsplit(' ').next()).and_then(|count| count.parse::<f64>().ok()).unwrap_or_default()
    };
    eventually("the sink's queue is full and records are dropped", || {
        for _ in 0..50 {
            assert_eq!(connection.ask(request("GET", "/shop/", &[&agent], "")).status, 200);
        }
        lost() > 0.0
    });
    drop(opened.0);
    reader.join().unwrap();
}

#[test]
fn the_access_log_has_tyks_fields() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("access.log");
    let upstream = Upstream::start(|_| ok());
    let conf = json!({
        "access_logs": {"enabled": true}, "log_format": "json", "hash_keys": false,
        "tollgate": {"threads": 1, "access_log": {"file": path}}
    });
    let gateway = Gateway::start(conf, [tracked("shop", "/shop/", &upstream).with_keys()]);
    make_key(&gateway, "shop");
    gateway.send(request("GET", "/shop/a?b=c", &[&format!("Authorization: {KEY}"), "User-Agent: x\"y"], ""));
    gateway.get("/shop/refused");
    let text = || fs::read_to_string(&path).unwrap_or_default();
    eventually("both lines are written", || text().lines().count() == 2);
    let lines: Vec<Value> = text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let expected = json!({
        "level": "info", "prefix": "access-log", "api_id": "shop", "api_key": "****6789", "method": "GET", "path": "/a", "original_path": "/shop/a", "api_type": "classic", "message": "",
        "status": 200, "protocol": "HTTP/1.1", "client_ip": "127.0.0.1", "user_agent": "x\"y", "host": "gateway.test", "cause": "",
        "upstream_addr": format!("http://{}/a", upstream.address), "org_id": "default"
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&lines[0][name], value, "{name}");
    }
    assert_eq!(
        (&lines[1]["status"], &lines[1]["cause"], &lines[1]["api_key"]),
        (&json!(401), &json!("auth_missing"), &json!("--"))
    );
    assert!(!text().contains(KEY) && !text().contains("request_id"));
}

#[test]
fn records_and_log_lines_tell_callers_apart_that_come_in_turn() {
    let upstream = Upstream::ok();
    let (directory, mut conf) = recording(json!({"access_logs": {"enabled": true}, "log_format": "json"}));
    let log = directory.path().join("access.log");
    conf["tollgate"]["access_log"] = json!({"file": log});
    conf["tollgate"]["threads"] = json!(1);
    let keyed = tracked("keyed", "/keyed/", &upstream).set("use_keyless", false);
    let gateway = Gateway::start(conf, [tracked("open", "/open/", &upstream), keyed]);
    make_key(&gateway, "keyed");
    let authorization = format!("Authorization: {KEY}");
    let callers: [(&str, &str, &[&str]); 5] = [
        ("GET", "open", &["User-Agent: one"]),
        ("GET", "open", &["User-Agent: two"]),
        ("PUT", "open", &["User-Agent: one"]),
        ("GET", "keyed", &["User-Agent: one", &authorization]),
        ("GET", "keyed", &["User-Agent: one"]),
    ];
    let mut expected = Vec::new();
    for turn in 0..3 {
        for (method, api, lines) in &callers {
            gateway.send(request(method, &format!("/{api}/{turn}"), lines, ""));
            let is_keyed = lines.contains(&authorization.as_str());
            let status = if *api == "keyed" && !is_keyed { 401 } else { 200 };
            expected.push(json!([method, format!("/{api}/{turn}"), &lines[0]["User-Agent: ".len()..], api, is_keyed, status]));
        }
    }
    let is_keyed = |key: &Value| key != "00000000";
    let recorded: Vec<Value> = records(&directory, expected.len())
        .iter()
        .map(|r| {
            let alias = if is_keyed(&r["api_key"]) { "the alias" } else { "" };
            assert_eq!(r["alias"], alias, "{r}");
            json!([r["method"], r["original_path"], r["user_agent"], r["api_id"], is_keyed(&r["api_key"]), r["response_code"]])
        })
        .collect();
    assert_eq!(recorded, expected);
    let read = || fs::read_to_string(&log).unwrap_or_default();
    eventually("all lines are written", || read().lines().count() >= expected.len());
    let logged: Vec<Value> = read()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|l| json!([l["method"], l["original_path"], l["user_agent"], l["api_id"], is_keyed(&l["api_key"]), l["status"]]))
        .collect();
    assert_eq!(logged, expected);
}

#[test]
fn http2_is_recorded_as_http1_is_and_named_in_the_access_log() {
    let upstream = Upstream::start(|_| reply("200 OK", &["X-From: upstream"], "the answer"));
    let (directory, mut conf) = recording(json!({"access_logs": {"enabled": true}, "log_format": "json"}));
    let log = directory.path().join("access.log");
    conf["tollgate"]["access_log"] = json!({"file": log});
    let definition = tracked("shop", "/shop/", &upstream).with_keys().set("enable_detailed_recording", true);
    let gateway = Gateway::start(conf, [definition.set("tag_headers", json!(["X-Tag"]))]);
    make_key(&gateway, "shop");
    http2::converse(async {
        let connection = http2::connect(gateway.port).await;
        let mut asked = http2::post("/shop/x?a=1");
        for (name, value) in [("authorization", KEY), ("x-tag", "tv"), ("user-agent", "tester/2")] {
            asked.headers_mut().insert(name, value.parse().unwrap());
        }
        let answer = http2::upload(&connection, asked, b"the body", None).await.unwrap();
        assert_eq!((answer.status, answer.text()), (200, "the answer".to_owned()));
        assert_eq!(http2::ask(&connection, http2::get("/shop/refused")).await.unwrap().status, 401);
    });
    let records = records(&directory, 2);
    let decoded = |name: &str| {
        let bytes = base64::engine::general_purpose::STANDARD.decode(records[0][name].as_str().unwrap()).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    let (sent, answered) = (decoded("raw_request"), decoded("raw_response"));
    assert!(sent.starts_with("POST /shop/x?a=1 HTTP/1.1\r\n") && sent.contains(": ***\r\n"), "{sent}");
    // The body has no length, so it may stand there in chunks.
    assert!(sent.contains("the body") && !sent.contains(KEY), "{sent}");
    assert!(answered.starts_with("HTTP/1.1 200 OK\r\n") && answered.contains("the answer"), "{answered}");
    let tags: Vec<&str> = records[0]["tags"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(tags.contains(&"x-tag-tv"), "{tags:?}");
    assert_eq!((&records[0]["user_agent"], &records[1]["response_code"]), (&json!("tester/2"), &json!(401)));
    let text = || fs::read_to_string(&log).unwrap_or_default();
    eventually("both lines are written", || text().lines().count() == 2);
    assert!(text().lines().all(|line| line.contains("\"protocol\":\"HTTP/2.0\"")), "{}", text());
}

#[test]
fn a_template_shortens_the_access_log_on_standard_error() {
    let upstream = Upstream::start(|_| ok());
    let conf = json!({"access_logs": {"enabled": true, "template": ["status", "path"]}});
    let gateway = Gateway::start(conf, [tracked("shop", "/shop/", &upstream), api("silent", "/silent/", &upstream.url())]);
    gateway.get("/silent/");
    gateway.get("/shop/x%0Ay");
    eventually("the line is logged", || gateway.log().contains("access-log"));
    let log = gateway.log();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("access-log")).collect();
    assert_eq!(lines.len(), 1, "{log}");
    assert!(lines[0].ends_with(" level=info path=\"/x%0Ay\" prefix=access-log status=200"), "{}", lines[0]);
}

#[test]
fn requests_that_no_api_is_for_are_logged_on_demand() {
    let upstream = Upstream::start(|_| ok());
    for wanted in [true, false] {
        let gateway = Gateway::start(json!({"track_404_logs": wanted}), [tracked("shop", "/shop/", &upstream)]);
        assert_eq!(gateway.get("/nowhere?secret=1").status, 404);
        assert_eq!(gateway.get("/shop/").status, 200);
        let log = gateway.log();
        let lines: Vec<&str> = log.lines().filter(|line| line.contains("no API matches this request")).collect();
        assert_eq!(lines.len(), usize::from(wanted), "{log}");
        assert!(lines.iter().all(|line| line.contains("/nowhere") && !line.contains("secret=1")), "{log}");
    }
}

#[test]
fn an_access_log_into_standard_error_is_not_renamed() {
    let upstream = Upstream::start(|_| ok());
    let folder = tempfile::tempdir().unwrap();
    // A link, so that no device is harmed should this fail.
    let path = folder.path().join("access.log");
    std::os::unix::fs::symlink("/dev/stderr", &path).unwrap();
    let conf = json!({"access_logs": {"enabled": true}, "tollgate": {"access_log": {"file": path, "file_bytes_max": 100}}});
    let gateway = Gateway::start(conf, [tracked("shop", "/shop/", &upstream)]);
    for number in 1..=3 {
        gateway.get("/shop/");
        eventually("a line is written", || gateway.log().matches("prefix=access-log").count() == number);
    }
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["access.log"]);
}

#[test]
fn requests_get_an_identifier_and_timings_on_demand() {
    let upstream = Upstream::start(|_| ok());
    let on = json!({"access_logs": {"enabled": true}, "tollgate": {"request_id": true, "server_timing": true}});
    let gateway = Gateway::start(on, [tracked("shop", "/shop/", &upstream), tracked("keys", "/keys/", &upstream).with_keys()]);
    let answer = gateway.get("/shop/");
    let id = answer.header("x-request-id").unwrap().to_owned();
    assert_eq!(id.len(), 36);
    assert_eq!(upstream.seen()[0].header("x-request-id"), Some(id.as_str()));
    let timing = answer.header("server-timing").unwrap();
    assert!(timing.starts_with("gw;dur=") && timing.contains(", upstream;dur="), "{timing}");
    let given = gateway.send(request("GET", "/shop/", &["X-Request-Id: mine-7"], ""));
    assert_eq!(given.header("x-request-id"), Some("mine-7"));
    assert_eq!(upstream.seen()[1].head.all("x-request-id"), ["mine-7"]);
    let refused = gateway.get("/keys/");
    assert_eq!((refused.status, refused.header("x-request-id").unwrap().len()), (401, 36));
    assert!(refused.header("server-timing").unwrap().starts_with("gw;dur="));
    let logged = [id.as_str(), "mine-7", refused.header("x-request-id").unwrap()].map(|id| format!(" request_id={id} "));
    eventually("the access log has them too", || logged.iter().all(|id| gateway.log().contains(id)));

    let off = Gateway::start(json!({}), [tracked("shop", "/shop/", &upstream)]);
    let answer = off.get("/shop/");
    assert!(!answer.head.has("x-request-id") && !answer.head.has("server-timing"));
}

#[test]
fn statsd_gets_figures_over_udp() {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    server.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let upstream = Upstream::start(|_| ok());
    let setup = Setup::new(json!({"statsd_prefix": "edge", "tollgate": {"statsd": {"interval_ms": 200}}}))
        .api(tracked("shop", "/shop/", &upstream))
        .env("TYK_GW_STATSDCONNECTIONSTRING", server.local_addr().unwrap().to_string());
    let gateway = setup.start();
    gateway.get("/shop/");
    let mut heard = String::new();
    eventually("the request is heard of", || {
        let mut buffer = [0; 2_000];
        let length = server.recv(&mut buffer).unwrap_or_default();
        (&buffer[..length]).read_to_string(&mut heard).unwrap();
        heard.contains("edge.requests.shop.2xx:1|c\n") && heard.contains("edge.Load.rps:")
    });
    assert!(heard.lines().any(|line| line.starts_with("edge.request_time.shop:") && line.ends_with("|ms")), "{heard}");
}
