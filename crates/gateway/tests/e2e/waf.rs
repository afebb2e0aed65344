//! The web application firewall in a gateway that serves: both versions of HTTP, compressed bodies, other rules by a reload, the access log, and
//! bodies that are hard to judge beside requests that are not.

use std::io::Write;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use tollgate_testing::core_rule_set::core_rule_set;

use crate::harness::{Definition, Gateway, Upstream, api, eventually, get, request};

const ATTACK: &str = "q=1%27%20OR%20%271%27=%271";

fn guarded(upstream: &Upstream, rules: Value) -> Definition {
    api("a", "/a/", &upstream.url()).set("do_not_track", false).set("tollgate", json!({"waf": rules}))
}

fn start(upstream: &Upstream, rules: Value) -> Gateway {
    let log = json!({"enabled": true, "template": ["status", "path", "waf_rules", "waf_score"]});
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
