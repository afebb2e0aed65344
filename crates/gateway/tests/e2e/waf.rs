//! The web application firewall in gateways that serve: both versions of HTTP, compressed bodies, other rules by a reload and by another gateway,
//! records of requests and responses, and bodies that are hard to judge beside requests that are not.

use std::io::Write;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use tollgate_testing::core_rule_set::core_rule_set;

use crate::analytics::{recording, records};
use crate::commands::tollgate;
use crate::harness::certificates::Authority;
use crate::harness::{Definition, Gateway, Seen, Setup, Upstream, api, eventually, get, reply, request};
use crate::servers::Server;
use crate::shared_keys::on;
use crate::statistics::{Events, wait_for};

const ATTACK: &str = "q=1%27%20OR%20%271%27=%271";
const LEAK: &str = "Exception in thread \"main\" java.lang.NullPointerException at org.example.Shop.total(Shop.java:17)";

fn guarded(upstream: &Upstream, rules: Value) -> Definition {
    api("a", "/a/", &upstream.url()).set("do_not_track", false).set("tollgate", json!({"waf": rules}))
}

fn start(upstream: &Upstream, rules: Value) -> Gateway {
    let log = json!({"enabled": true, "template": ["status", "path", "waf_rules", "waf_score", "waf_response_score"]});
    Gateway::start(
        json!({"access_logs": log, "tollgate": {"waf": {"rules": core_rule_set()}}}),
        [guarded(upstream, rules), api("open", "/open/", &upstream.url())],
    )
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn both_versions_of_http_are_guarded_and_a_reload_changes_the_rules() {
    let upstream = Upstream::ok();
    let gateway = start(&upstream, json!({"mode": "enforcing"}));
    let over = |version: &str| {
        let url = format!("http://127.0.0.1:{}/a/?{ATTACK}", gateway.port);
        let output = Command::new("curl")
            .args(["-sS", "-o", "/dev/null", "-w", "%{http_version} %{http_code}", version, &url])
            .output()
            .expect("curl runs");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!([over("--http1.1"), over("--http2-prior-knowledge")], ["1.1 403", "2 403"]);
    assert_eq!(upstream.take_targets().len(), 0);
    eventually("the access log names the rules", || gateway.log().contains("942100"));
    gateway.write_api(&guarded(&upstream, json!({"mode": "detection"})));
    assert_eq!(gateway.reload().status, 200);
    assert_eq!([over("--http1.1"), over("--http2-prior-knowledge")], ["1.1 200", "2 200"]);
    gateway.write_api(&guarded(&upstream, json!({"mode": "enforcing", "exclusions": [{"rules": ["942000-942999"]}]})));
    assert_eq!(gateway.reload().status, 200);
    assert_eq!(over("--http1.1"), "1.1 200");
    gateway.expect_no_panic();
}

#[test]
fn a_compressed_body_is_judged_by_what_is_in_it() {
    let upstream = Upstream::ok();
    // The rules deny `Content-Encoding` itself, unless told otherwise.
    let gateway = start(&upstream, json!({"mode": "enforcing", "exclusions": [{"rules": ["920450"]}]}));
    let form = "Content-Type: application/x-www-form-urlencoded";
    let sent = |text: &str| {
        let body = gzip(text);
        let head = format!(
            "POST /a/ HTTP/1.1\r\nHost: gateway.test\r\nUser-Agent: Mozilla/5.0\r\nAccept: */*\r\n{form}\r\n\
             Content-Encoding: gzip\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        gateway.send([head.as_bytes(), &body].concat()).status
    };
    assert_eq!(sent("q=hello"), 200);
    assert_eq!(sent(ATTACK), 403);
    // Two megabytes of one letter in two kilobytes.
    assert_eq!(sent(&format!("q={}", "a".repeat(2 << 20))), 400);
    gateway.expect_no_panic();
}

#[test]
fn bodies_that_are_hard_to_judge_hold_up_nobody() {
    let upstream = Upstream::ok();
    let gateway = start(&upstream, json!({"mode": "enforcing"}));
    let values = format!("[{}]", vec!["\"1' or (select/**/1)=1 -- <svg/onload=\""; 2_000].join(","));
    let lines = ["Content-Type: application/json", "User-Agent: Mozilla/5.0", "Accept: */*"];
    std::thread::scope(|scope| {
        let hard: Vec<_> = (0..8).map(|_| scope.spawn(|| gateway.send(request("POST", "/a/", &lines, &values)).status)).collect();
        let mut passed = 0;
        while hard.iter().any(|one| !one.is_finished()) {
            assert_eq!(gateway.send(get("/open/")).status, 200);
            passed += 1;
        }
        let statuses: Vec<u16> = hard.into_iter().map(|one| one.join().unwrap()).collect();
        assert!(statuses.iter().all(|status| [403, 413].contains(status)), "{statuses:?}");
        assert!(passed > 0);
    });
    gateway.expect_no_panic();
}

#[test]
fn what_is_found_in_responses_is_recorded_and_streams_pass_unseen() {
    let upstream = Upstream::start(move |seen: &Seen| match seen.target.as_str() {
        "/events" => reply("200 OK", &["Content-Type: text/event-stream"], &format!("data: {LEAK}\n\n")),
        "/large" => reply("200 OK", &["Content-Type: text/html"], &format!("{LEAK}{}", " ".repeat(200_000))),
        "/fine" => reply("200 OK", &["Content-Type: text/html"], "fine"),
        _ => reply("200 OK", &["Content-Type: text/html"], LEAK),
    });
    let gateway = start(&upstream, json!({"mode": "enforcing", "responses": true}));
    let lines = ["User-Agent: Mozilla/5.0", "Accept: */*"];
    for version in ["--http1.1", "--http2-prior-knowledge"] {
        for (path, status) in [("leak", "403"), ("events", "200"), ("large", "200"), ("fine", "200")] {
            let url = format!("http://127.0.0.1:{}/a/{path}", gateway.port);
            let output = Command::new("curl")
                .args(["-sS", "-o", "/dev/null", "-w", "%{http_code}", version, &url])
                .output()
                .expect("curl runs");
            assert_eq!(String::from_utf8(output.stdout).unwrap(), status, "{version} {path}");
        }
    }
    eventually("the access log names the rules", || gateway.log().contains("952110"));
    // People who look see what was found, and why a body was not seen. They see one request in a while of many.
    let mut seen = Events::open(gateway.port, "topics=tail&api=a");
    let mut found = |path: &str, is_there: &dyn Fn(&Value) -> bool| {
        loop {
            gateway.send(request("GET", &format!("/a/{path}"), &lines, ""));
            let batch = seen.next("tail").expect("a batch");
            let entries = batch["entries"].as_array().unwrap();
            if let Some(entry) = entries.iter().find(|entry| entry["path"] == format!("/a/{path}")) {
                assert!(is_there(&entry["waf"]), "{path}: {entry}");
                return;
            }
        }
    };
    found("leak", &|waf| waf["response_score"].as_i64() > Some(3) && waf["denied_by"] == 959100);
    found("events", &|waf| waf["response_fault"] == "its body is a stream of events");
    found("large", &|waf| waf["response_fault"] == "its body is larger than response_body_max");
    found("fine", &|waf| *waf == Value::Null);
    gateway.expect_no_panic();
}

/// Tells too much, but at `/fine`.
fn leaking() -> Upstream {
    Upstream::start(|seen: &Seen| {
        let body = if seen.target == "/fine" { "fine" } else { LEAK };
        reply("200 OK", &["Content-Type: text/html"], body)
    })
}

#[test]
fn a_denied_response_is_an_event_a_cause_and_an_entry_for_people_who_look() {
    let upstream = leaking();
    let handler = json!({"handler_name": "eh_log_handler", "handler_meta": {"prefix": "[waf]"}});
    let guarded = |id: &str, mode: &str| {
        api(id, &format!("/{id}/"), &upstream.url())
            .set("do_not_track", false)
            .set("event_handlers", json!({"events": {"WafDenied": [handler.clone()]}}))
            .set("tollgate", json!({"waf": {"mode": mode, "responses": true}}))
    };
    let log = json!({"enabled": true, "template": ["status", "path", "cause", "waf_rules"]});
    let gateway = Gateway::start(
        json!({"access_logs": log, "tollgate": {"waf": {"rules": core_rule_set()}}}),
        [guarded("a", "enforcing"), guarded("seen", "detection")],
    );
    let lines = ["User-Agent: Mozilla/5.0", "Accept: */*"];
    let status = |target: &str| gateway.send(request("GET", target, &lines, "")).status;
    assert_eq!(["/seen/leak", "/a/fine", "/a/leak"].map(status), [200, 200, 403]);
    eventually("it is an event", || gateway.log().contains("[waf]:WafDenied:"));
    eventually("its line has the cause", || gateway.log().contains("cause=waf_response_denied"));
    let log = gateway.log();
    assert_eq!(log.matches("[waf]:WafDenied:").count(), 1, "{log}");
    assert!(log.contains(":127.0.0.1:/a/leak"), "{log}");
    let kept = wait_for(&gateway, "/tyk/tail", |kept| kept["entries"].as_array().is_some_and(|entries| !entries.is_empty()));
    let entry = &kept["entries"][0];
    assert_eq!((&entry["path"], &entry["cause"]), (&json!("/a/leak"), &json!("waf_response_denied")), "{kept}");
    assert_eq!((&entry["status"], &entry["upstream_status"]), (&json!(403), &json!(200)), "{kept}");
    assert_eq!(entry["message"], "The response was rejected by the web application firewall", "{kept}");
    assert_eq!(entry["waf"]["denied_by"], 959100, "{kept}");
    let metrics = gateway.control("GET", "/tyk/metrics", "").text();
    let counted = metrics.lines().filter(|line| line.contains("waf_response_denied") && line.ends_with(" 1")).count();
    assert_eq!(counted, 2, "one refusal, one dry run: {metrics}");
    gateway.expect_no_panic();
}

#[test]
fn a_replay_says_which_recorded_responses_other_rules_would_deny() {
    let upstream = leaking();
    let (directory, mut conf) = recording(json!({}));
    conf["tollgate"]["waf"] = json!({"rules": core_rule_set()});
    let gateway = Gateway::start(conf, [guarded(&upstream, json!({"mode": "enforcing"})).set("enable_detailed_recording", true)]);
    let lines = ["User-Agent: Mozilla/5.0", "Accept: */*"];
    for path in ["leak", "fine", "leak"] {
        assert_eq!(gateway.send(request("GET", &format!("/a/{path}"), &lines, "")).status, 200);
    }
    records(&directory, 3);
    let recorded = directory.path().join("records.json");
    let entry = |path: &str, text: &str| {
        let headers = json!([{"name": "User-Agent", "value": "Mozilla/5.0"}, {"name": "Accept", "value": "*/*"}]);
        let content = json!({"text": text, "mimeType": "text/html"});
        let response = json!({"status": 200, "headers": [{"name": "content-type", "value": "text/html"}], "content": content});
        json!({"request": {"method": "GET", "url": format!("http://gateway.test{path}"), "headers": headers}, "response": response})
    };
    let har = directory.path().join("browser.har");
    let entries = [entry("/a/leak", LEAK), entry("/a/fine", "fine"), entry("/a/leak", LEAK)];
    std::fs::write(&har, json!({"log": {"entries": entries}}).to_string()).unwrap();
    let bare = directory.path().join("bare.jsonl");
    let line = json!({"method": "GET", "path": "/a/leak", "host": "gateway.test", "status": 200, "headers": [["Accept", "*/*"]]});
    std::fs::write(&bare, line.to_string()).unwrap();

    let dir = directory.path().join("conf");
    tollgate(&gateway, &format!("dump {}", dir.display())).ok();
    let file = dir.join("apis/a.json");
    let definition: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let replayed = |records: &std::path::Path, rules: Value| {
        let mut changed = definition.clone();
        changed["tollgate"]["waf"] = rules;
        std::fs::write(&file, changed.to_string()).unwrap();
        let told = tollgate(&gateway, &format!("replay {} --dir {}", records.display(), dir.display()));
        told.out().to_owned()
    };
    let seen = upstream.requests();
    for records in [&recorded, &har] {
        for (rules, expected) in [
            (json!({"responses": true}), "api a: waf: forwarded -> 403 waf_response_denied by rules 952110"),
            (json!({"responses": true, "mode": "detection"}), "api a: waf: no rules -> response: rules 952110"),
            (json!({"responses": true, "outbound_threshold": 100}), "api a: waf: no rules -> response: rules 952110"),
            (json!({"responses": true, "exclusions": [{"rules": ["952110"]}]}), "3 same, 0 different"),
            (json!({"responses": true, "response_types": ["text/plain"]}), "3 same, 0 different"),
        ] {
            let said = replayed(records, rules.clone());
            assert!(said.contains(expected), "{rules}: {expected}\nis not in\n{said}");
            let denied = if expected.contains("same") { "3 requests: 3 same" } else { "3 requests: 1 same, 2 different" };
            assert!(said.contains(denied), "{rules}: {said}");
        }
    }
    let said = replayed(&bare, json!({"responses": true}));
    assert!(said.contains("undecided") && said.contains("what was not recorded decides in WafResponses"), "{said}");
    assert_eq!(upstream.requests(), seen, "a replay sends nothing");
    gateway.expect_no_panic();
}

#[test]
fn a_change_at_one_gateway_acts_on_all_and_one_without_the_rules_keeps_what_it_has() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let own = tempfile::tempdir().unwrap();
    let rule = "SecRule ARGS:coupon \"!@rx ^[A-Z0-9]{8}$\" \"id:1000001,phase:2,deny\"\n";
    std::fs::write(own.path().join("shop.conf"), rule).unwrap();
    let empty = tempfile::tempdir().unwrap();
    let gateways = [own.path(), empty.path()].map(|directory| {
        let mut conf = on(&server);
        conf["tollgate"]["shared_definitions"] = json!(true);
        conf["tollgate"]["waf"] = json!({"rules": core_rule_set(), "own_rules": directory});
        Gateway::start(conf, [])
    });
    let lines = ["User-Agent: Mozilla/5.0", "Accept: */*"];
    let status = |gateway: &Gateway, query: &str| gateway.send(request("GET", &format!("/a/?{query}"), &lines, "")).status;
    let saved = |method: &str, target: &str, rules: Value| {
        let answer = gateways[0].control(method, target, &guarded(&upstream, rules).0.to_string());
        assert_eq!(answer.status, 200, "{answer}");
    };
    saved("POST", "/tyk/apis", json!({"mode": "detection"}));
    gateways.iter().for_each(|gateway| eventually("it serves", || status(gateway, ATTACK) == 200));
    saved("PUT", "/tyk/apis/a", json!({"mode": "enforcing"}));
    gateways.iter().for_each(|gateway| eventually("it denies", || status(gateway, ATTACK) == 403));
    saved(
        "PUT",
        "/tyk/apis/a",
        json!({"mode": "enforcing", "rule_files": ["shop.conf"], "exclusions": [{"tags": ["attack-sqli"]}]}),
    );
    eventually("the first has the new rules", || status(&gateways[0], "coupon=x") == 403 && status(&gateways[0], ATTACK) == 200);
    eventually("the second says what it lacks", || gateways[1].log().contains("shop.conf cannot be read"));
    assert_eq!([status(&gateways[1], "coupon=x"), status(&gateways[1], ATTACK)], [200, 403], "the old definition serves");
    wait_for(&gateways[0], "/tyk/nodes", |nodes| nodes["nodes"].as_array().unwrap().iter().any(|row| row["differs"] != json!([])));
    // Once the file is there, a reload is enough.
    std::fs::write(empty.path().join("shop.conf"), rule).unwrap();
    assert_eq!(gateways[1].reload().status, 200);
    eventually("the second has the new rules", || status(&gateways[1], "coupon=x") == 403 && status(&gateways[1], ATTACK) == 200);
    gateways.iter().for_each(Gateway::expect_no_panic);
}

#[test]
fn behind_tls_reloads_drop_nothing_that_is_being_inspected_and_let_nothing_pass() {
    let authority = Authority::new("tests");
    let dir = tempfile::tempdir().unwrap();
    let file = authority.issue(&["api.test"]).write(dir.path(), "own.pem");
    let roots = dir.path().join("roots.pem");
    std::fs::write(&roots, authority.pem()).unwrap();
    let upstream = Upstream::ok();
    let conf = json!({
        "http_server_options": {"use_ssl": true, "enable_http2": true, "certificates": [{"cert_file": file}]},
        "tollgate": {"waf": {"rules": core_rule_set()}},
    });
    let rules = |number: usize| json!({"responses": true, "exclusions": [{"rules": [format!("{}", 1_000 + number)]}]});
    let gateway = Setup::new(conf).api(guarded(&upstream, rules(0))).start();
    // So large that other threads inspect them.
    let filler = "lorem ipsum ".repeat(2_000);
    let bodies = [("fine", format!("a={filler}")), ("attack", format!("a={filler}&{ATTACK}"))];
    let (paths, done) = (bodies.map(|(name, body)| (name, write(dir.path(), name, &body))), AtomicBool::new(false));
    let sent = |version: &str, body: &std::path::Path| {
        let output = Command::new("curl")
            .args(["-sS", "--max-time", "60", version, "-o", "/dev/null", "-w", "%{http_code}", "--cacert"])
            .arg(&roots)
            .args([
                "--connect-to",
                &format!("::127.0.0.1:{}", gateway.port),
                "-d",
                &format!("@{}", body.display()),
                "https://api.test/a/",
            ])
            .output()
            .expect("curl runs");
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    std::thread::scope(|scope| {
        let clients: Vec<_> = ["--http1.1", "--http2", "--http1.1", "--http2"]
            .into_iter()
            .map(|version| {
                let (sent, paths) = (&sent, &paths);
                scope.spawn(move || {
                    (0..12).for_each(|_| {
                        for (name, path) in paths {
                            let expected = if *name == "fine" { "200" } else { "403" };
                            assert_eq!(sent(version, path), expected, "{version} {name}");
                        }
                    });
                })
            })
            .collect();
        let reloads = scope.spawn(|| {
            (1..)
                .take_while(|_| !done.load(Ordering::SeqCst))
                .map(|number| {
                    gateway.write_api(&guarded(&upstream, rules(number)));
                    gateway.signal("HUP");
                    std::thread::sleep(std::time::Duration::from_millis(20));
                })
                .count()
        });
        let ends: Vec<_> = clients.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::SeqCst);
        assert!(reloads.join().unwrap() > 1);
        ends.into_iter().for_each(|end| end.unwrap());
    });
    assert!(upstream.seen().iter().all(|seen| !seen.text().contains(ATTACK)));
    assert_eq!(upstream.requests(), 48);
    gateway.expect_no_panic();
}

fn write(directory: &std::path::Path, name: &str, text: &str) -> std::path::PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, text).unwrap();
    path
}
