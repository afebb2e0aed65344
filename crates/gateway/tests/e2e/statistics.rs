//! The past hour and what happens now, as the console and scripts get them: `/tyk/history`, `/tyk/stream`, `/tyk/tail` and `/tyk/top`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::definition::Definition;
use crate::harness::gateway::SECRET;
use crate::harness::{Gateway, PATIENCE, Upstream, api, eventually, request};
use crate::keys::{call, create, session};

/// A stream of events.
pub(crate) struct Events {
    reader: BufReader<TcpStream>,
}

impl Events {
    pub(crate) fn open(port: u16, query: &str) -> Events {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it connects");
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "GET /tyk/stream?{query} HTTP/1.1\r\nhost: t\r\nx-tyk-authorization: {SECRET}\r\n\r\n").unwrap();
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
        }
        assert!(head.starts_with("HTTP/1.1 200") && head.to_ascii_lowercase().contains("text/event-stream"), "{head}");
        Events { reader }
    }

    /// The next event with this name; `None` at the end.
    pub(crate) fn next(&mut self, name: &str) -> Option<Value> {
        let mut last = String::new();
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).expect("an event in time") == 0 {
                return None;
            }
            // Lines of the chunked coding stand between.
            let line = line.trim_end();
            if let Some(event) = line.strip_prefix("event: ") {
                last = event.to_owned();
            }
            if let Some(data) = line.strip_prefix("data: ").filter(|_| last == name) {
                return Some(serde_json::from_str(data).expect("JSON"));
            }
        }
    }
}

fn sum(column: &Value) -> u64 {
    column.as_array().into_iter().flatten().filter_map(Value::as_u64).sum()
}

/// Asks until the answer is as wanted.
pub(crate) fn wait_for(gateway: &Gateway, target: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let start = Instant::now();
    loop {
        let answer = gateway.control("GET", target, "");
        assert_eq!(answer.status, 200, "{answer}");
        let value = answer.json();
        if is_wanted(&value) {
            return value;
        }
        assert!(start.elapsed() < PATIENCE, "{target}: {value}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn the_history_has_what_happened_and_marks_changes() {
    let upstream = Upstream::ok();
    let gateway =
        Gateway::start(json!({}), [api("shop", "/shop/", &upstream.url()), api("keys", "/keys/", &upstream.url()).with_keys()]);
    for _ in 0..7 {
        gateway.get("/shop/");
    }
    gateway.get("/keys/");
    gateway.write_api(&api("late", "/late/", &upstream.url()));
    gateway.reload();
    let history = wait_for(&gateway, "/tyk/history", |history| sum(&history["totals"]["requests"]) == 8);
    let totals = &history["totals"];
    assert_eq!((sum(&totals["ok"]), sum(&totals["client_errors"]), sum(&totals["refused"])), (7, 1, 1), "{history}");
    assert!(totals["requests"].as_array().unwrap().contains(&Value::Null), "before the start there is a gap: {history}");
    let apis = history["apis"].as_array().unwrap();
    assert_eq!(apis[0]["api_id"], "shop");
    assert_eq!((sum(&apis[0]["requests"]), sum(&apis[1]["refused"])), (7, 1), "{history}");
    assert!(sum(&apis[0]["upstream_p50_us"]) > 0 && sum(&apis[1]["upstream_p50_us"]) == 0, "{history}");
    let kinds: Vec<&str> = history["marks"].as_array().unwrap().iter().filter_map(|mark| mark["kind"].as_str()).collect();
    assert!(kinds.contains(&"restart") && kinds.last() == Some(&"config"), "{history}");

    let one = gateway.control("GET", "/tyk/history?api=keys&step=300", "").json();
    assert_eq!((one["apis"].as_array().unwrap().len(), one["step_s"].as_u64()), (1, Some(300)), "{one}");
    assert_eq!(sum(&one["apis"][0]["requests"]), 1, "{one}");
}

#[test]
fn a_reload_that_changes_nothing_is_no_mark_and_a_broken_file_is() {
    let gateway = Gateway::start(json!({}), []);
    let marks = || gateway.control("GET", "/tyk/history", "").json()["marks"].as_array().unwrap().len();
    let before = marks();
    gateway.reload();
    assert_eq!(marks(), before);
    gateway.write_file("broken.json", "{");
    gateway.reload();
    let last = gateway.control("GET", "/tyk/history", "").json()["marks"].as_array().unwrap().last().cloned().unwrap();
    assert_eq!(last["kind"], "config_failed", "{last}");
    let mut events = Events::open(gateway.port, "topics=live");
    let live = events.next("live").expect("a sample");
    assert!(live["attention"].as_array().unwrap().iter().any(|line| line["kind"] == "reload" && line["level"] == "bad"), "{live}");
}

#[test]
fn bad_parameters_are_named() {
    let gateway = Gateway::start(json!({}), []);
    for (target, expected) in [
        ("/tyk/history?step=7", "step must be a multiple of 5"),
        ("/tyk/history?step=x", "step must be a whole number"),
        ("/tyk/history?color=red", "unknown parameter color"),
        ("/tyk/stream?topics=live,weather", "weather"),
    ] {
        let answer = gateway.control("GET", target, "");
        assert_eq!(answer.status, 400, "{target}: {answer}");
        assert!(answer.text().contains(expected), "{target}: {answer}");
    }
    let off = Gateway::start(json!({"tollgate": {"metrics": {"enabled": false}}}), []);
    for target in ["/tyk/history", "/tyk/stream"] {
        assert_eq!(off.control("GET", target, "").status, 404, "{target}");
    }
}

#[test]
fn open_streams_get_the_same_samples_and_changes() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("shop", "/shop/", &upstream.url())]);
    let mut streams: Vec<Events> = (0..10).map(|_| Events::open(gateway.port, "topics=live,changes")).collect();
    let mut seen = 0;
    let end = Instant::now() + PATIENCE;
    while seen < 20 {
        assert!(Instant::now() < end, "only {seen} requests were shown");
        (0..5).for_each(|_| drop(gateway.get("/shop/")));
        let samples: Vec<Value> = streams.iter_mut().map(|stream| stream.next("live").expect("a sample")).collect();
        seen += samples[0]["totals"]["requests"].as_u64().unwrap();
        assert_eq!(samples[0]["apis_total"], 1);
    }
    gateway.write_api(&api("late", "/late/", &upstream.url()));
    gateway.reload();
    for stream in &mut streams {
        assert_eq!(stream.next("changes").expect("a change")["kind"], "config");
    }
}

#[test]
fn the_sixty_fifth_stream_is_refused_until_another_ends() {
    let gateway = Gateway::start(json!({}), []);
    let mut streams: Vec<Events> = (0..64).map(|_| Events::open(gateway.port, "topics=changes")).collect();
    let refused = gateway.control("GET", "/tyk/stream?events=1", "");
    assert_eq!(refused.status, 429, "{refused}");
    drop(streams.pop());
    eventually("another one may come", || gateway.control("GET", "/tyk/stream?events=1", "").status == 200);
}

#[test]
fn streams_end_at_a_drain_and_do_not_hold_it_up() {
    let mut gateway = Gateway::start(json!({"control_api_port": 0}), []);
    let mut events = Events::open(gateway.port, "topics=changes");
    gateway.signal("TERM");
    assert_eq!(events.next("end").expect("a farewell")["reason"], "drain");
    let mut rest = Vec::new();
    events.reader.read_to_end(&mut rest).expect("the connection ends");
    assert!(gateway.wait_for_exit().success());
    assert!(!gateway.log().contains("cut off"), "{}", gateway.log());
}

/// An API whose requests are recorded.
fn tracked(id: &str, upstream: &Upstream) -> Definition {
    api(id, &format!("/{id}/"), &upstream.url()).set("do_not_track", false)
}

fn unix_s() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
}

#[test]
fn a_refused_customer_is_found_by_key_and_learns_why_and_until_when() {
    let upstream = Upstream::ok();
    for hash_keys in [true, false] {
        // With one thread, requests are kept in their order.
        let conf = json!({"hash_keys": hash_keys, "tollgate": {"threads": 1}});
        let gateway = Gateway::start(conf, [tracked("a", &upstream).with_keys()]);
        let key = create(&gateway, &session(json!({"rate": 2, "per": 60, "quota_max": -1, "alias": "acme"})));
        let other = create(&gateway, &session(json!({"rate": 100, "per": 60, "quota_max": 1, "quota_renewal_rate": 3600})));
        let statuses: Vec<u16> = (0..3).map(|_| call(&gateway, "/a/things?secret=1", &key).status).collect();
        assert_eq!(statuses, [200, 200, 429]);
        (0..2).for_each(|_| drop(call(&gateway, "/a/", &other)));
        gateway.get("/a/");

        // A request is kept after its client has its answer.
        let all = wait_for(&gateway, "/tyk/tail", |all| all["kept"] == 3);
        let causes: Vec<&str> = all["entries"].as_array().unwrap().iter().filter_map(|entry| entry["cause"].as_str()).collect();
        assert_eq!(causes, ["auth_missing", "quota_exceeded", "key_rate_limit"], "newest first: {all}");
        assert_eq!(all["seen"], 3, "{all}");

        let question = json!({"raw_key": key}).to_string();
        let found = gateway.control("POST", "/tyk/tail", &question).json();
        let entries = found["entries"].as_array().unwrap();
        assert_eq!(entries.len(), 1, "{found}");
        let entry = &entries[0];
        for (member, expected) in [
            ("api_id", json!("a")),
            ("path", json!("/a/things")),
            ("status", json!(429)),
            ("middleware", json!("KeyLimits")),
            ("message", json!("Rate Limit Exceeded")),
            ("alias", json!("acme")),
            ("address", json!("127.0.0.1")),
            ("method", json!("GET")),
        ] {
            assert_eq!(entry[member], expected, "{member}: {entry}");
        }
        let limit = &entry["limit"];
        assert_eq!(
            [&limit["what"], &limit["of"], &limit["max"], &limit["per_s"], &limit["left"]],
            [&json!("rate"), &json!("key"), &json!(2), &json!(60), &json!(0)],
            "{entry}"
        );
        let retry = limit["retry_unix_s"].as_u64().unwrap();
        assert!((unix_s()..=unix_s() + 31).contains(&retry), "one request of two per minute passes after at most 30 s: {entry}");
        let text = found.to_string();
        assert!(!text.contains(&key) && !text.contains("secret"), "neither the key nor the query is shown: {found}");

        let quota = gateway.control("GET", "/tyk/tail?cause=quota_exceeded", "").json();
        assert_eq!(quota["entries"][0]["limit"]["what"], "quota", "{quota}");
        let id = entry["request_id"].as_str().unwrap();
        let by_id = gateway.control("GET", &format!("/tyk/tail?request_id={id}&alias=acme&status=4xx&api=a"), "").json();
        assert_eq!(by_id["entries"][0]["request_id"], id, "{by_id}");
        let none = gateway.control("GET", "/tyk/tail?status=5xx", "").json();
        assert_eq!(none["entries"], json!([]), "{none}");
    }
}

#[test]
fn failures_are_kept_with_their_paths_once_one_was_seen_and_untracked_apis_are_not() {
    let upstream = Upstream::start(|_| b"HTTP/1.1 503 no\r\ncontent-length: 0\r\n\r\n".to_vec());
    let quiet = api("quiet", "/quiet/", &upstream.url()).with_keys();
    let gateway = Gateway::start(json!({}), [tracked("a", &upstream), quiet]);
    gateway.get("/quiet/x");
    gateway.get("/a/first");
    // Another thread may serve the next ones: a response arrives before its failure is noted.
    wait_for(&gateway, "/tyk/tail?status=503", |kept| kept["entries"].as_array().unwrap().len() == 1);
    for _ in 0..3 {
        gateway.get("/a/later?token=x");
    }
    let kept = wait_for(&gateway, "/tyk/tail?status=503", |kept| kept["entries"].as_array().unwrap().len() == 4);
    let entries = kept["entries"].as_array().unwrap();
    assert_eq!(entries[0]["path"], "/a/later", "{kept}");
    assert!(entries.iter().all(|entry| entry["api_id"] == "a" && entry["upstream_status"] == 503), "{kept}");
    assert!(entries.iter().all(|entry| entry["target"].as_str().unwrap().contains("127.0.0.1")), "{kept}");
    let all = gateway.control("GET", "/tyk/tail", "").json();
    assert!(all["entries"].as_array().unwrap().iter().all(|entry| entry["api_id"] == "a"), "{all}");
}

#[test]
fn a_flood_of_refusals_is_sampled_and_counted() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({"tollgate": {"threads": 1}}), [tracked("a", &upstream).with_keys()]);
    let mut client = gateway.connect();
    for _ in 0..30 {
        client.send(request("GET", "/a/", &[], "").repeat(100));
        (0..100).for_each(|_| assert_eq!(client.response("GET").status, 401));
    }
    let kept = gateway.control("GET", "/tyk/tail?limit=2000", "").json();
    let entries = kept["entries"].as_array().unwrap().len();
    assert_eq!(kept["seen"], 3_000, "{}", kept["kept"]);
    assert!((50..2_000).contains(&entries), "{entries} of 3000 are kept");
}

#[test]
fn the_live_tail_shows_what_fits_as_it_happens_and_hostile_texts_stay_texts() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [tracked("a", &upstream), tracked("b", &upstream)]);
    let mut events = Events::open(gateway.port, "topics=tail&api=a&status=2xx");
    let agent = "=cmd|' /C calc'!A0 \u{202e}<script>alert(1)</script>";
    for _ in 0..5 {
        gateway.get("/b/");
        gateway.send(request("GET", "/a/%3Cscript%3E?password=1", &[&format!("User-Agent: {agent}")], ""));
    }
    let (mut seen, mut shown) = (0, Vec::new());
    while seen < 5 {
        let batch = events.next("tail").expect("a batch");
        seen += batch["seen"].as_u64().unwrap();
        shown.extend(batch["entries"].as_array().unwrap().clone());
    }
    assert_eq!((seen, shown.len()), (5, 5), "{shown:?}");
    for entry in &shown {
        assert_eq!((&entry["api_id"], &entry["path"]), (&json!("a"), &json!("/a/%3Cscript%3E")), "{entry}");
        assert!(!entry.to_string().contains("password"), "{entry}");
    }
    drop(events);
    let refused = gateway.control("GET", "/tyk/tail?status=abc", "");
    assert_eq!(refused.status, 400, "{refused}");
}

#[test]
fn top_lists_count_every_request_while_somebody_asks() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [tracked("a", &upstream), tracked("b", &upstream)]);
    let empty = gateway.control("GET", "/tyk/top?by=path", "").json();
    assert_eq!((empty["rows"].as_array().unwrap().len(), empty["seen"].as_u64()), (0, Some(0)), "{empty}");
    for number in 0..40 {
        gateway.get("/a/busy");
        gateway.get(&format!("/b/{number}"));
    }
    gateway.send(request("GET", "/a/agent", &["User-Agent: \u{202e}=1+1"], ""));
    let top = wait_for(&gateway, "/tyk/top?by=path&k=3", |top| top["seen"] == 81);
    let rows = top["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["value"], &rows[0]["requests"]), (3, &json!("/a/busy"), &json!(40)), "{top}");
    assert_eq!((&top["error_max"], &rows[0]["error"]), (&json!(0), &json!(0)), "41 paths have counters of their own: {top}");
    for (by, value, requests) in [("api", "a", 41), ("status", "200", 81), ("address", "127.0.0.1", 81), ("method", "GET", 81)] {
        let top = gateway.control("GET", &format!("/tyk/top?by={by}"), "").json();
        assert_eq!((&top["rows"][0]["value"], &top["rows"][0]["requests"]), (&json!(value), &json!(requests)), "{top}");
    }
    let agents = gateway.control("GET", "/tyk/top?by=agent", "").json();
    assert!(agents["rows"].as_array().unwrap().iter().any(|row| row["value"] == "\u{202e}=1+1"), "{agents}");
    for target in ["/tyk/top?by=weather", "/tyk/top?window=601", "/tyk/top?k=x"] {
        assert_eq!(gateway.control("GET", target, "").status, 400, "{target}");
    }
    // Lists of single APIs are limited.
    for api in ["a", "b", "c"] {
        assert_eq!(gateway.control("GET", &format!("/tyk/top?api={api}"), "").status, 200);
    }
    assert_eq!(gateway.control("GET", "/tyk/top?api=d", "").status, 429);
}

#[test]
fn the_figures_name_problems_bounds_and_components() {
    let gateway = Gateway::start(json!({}), []);
    gateway.write_file("broken.json", "{");
    gateway.reload();
    let live = gateway.control("GET", "/tyk/live", "").json();
    assert_eq!(live["reload"]["problems"][0]["level"], "error", "{live}");
    assert!(live["reload"]["problems"][0]["file"].as_str().unwrap().ends_with("broken.json"), "{live}");
    assert_eq!(live["bounds"]["request_us"].as_array().map(Vec::len), Some(16), "{live}");
    assert_eq!(live["stores"][0]["up"], true, "{live}");
    assert!(live["unrouted"]["not_found"].is_u64(), "{live}");
}

#[test]
fn usage_is_split_and_written_for_spreadsheets() {
    let upstream = Upstream::ok();
    let conf = json!({"enable_analytics": true});
    let gateway = Gateway::start(
        conf,
        [tracked("a", &upstream), tracked("b", &upstream), api("=cmd", "/c/", &upstream.url()).set("do_not_track", false)],
    );
    for path in ["/a/x", "/a/x", "/b/x", "/c/x"] {
        gateway.get(path);
    }
    let hits = |usage: &Value| usage["rows"].as_array().unwrap().iter().filter_map(|row| row["hits"].as_u64()).sum::<u64>();
    let usage = wait_for(&gateway, "/tyk/usage?by=time&step=1h&split=api&last=2h", |usage| hits(usage) == 4);
    assert_eq!(usage["partial"], false, "{usage}");
    let split = |name: &str| {
        usage["rows"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| row["split"] == name)
            .map(|row| row["hits"].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!((split("a"), split("b")), (2, 1), "{usage}");

    let csv = gateway.control("GET", "/tyk/usage?by=api&format=csv&tz=%2B01:00&last=2h", "");
    assert_eq!((csv.status, csv.header("content-type")), (200, Some("text/csv; charset=utf-8")), "{csv}");
    let text = csv.text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("value,split,hits,"), "{text}");
    assert!(lines[1].starts_with("a,,2,") && lines[1].ends_with("+01:00"), "{text}");
    assert!(lines.iter().any(|line| line.starts_with("\"'=cmd\",")), "a formula is a text: {text}");
    for (target, expected) in [("split=time", "split is"), ("format=xml", "format is"), ("tz=Atlantis", "tz must be")] {
        let answer = gateway.control("GET", &format!("/tyk/usage?{target}"), "");
        assert!(answer.status == 400 && answer.text().contains(expected), "{answer}");
    }
}
