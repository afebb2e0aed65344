//! The lists of extended paths: how a pattern matches, which list wins, and what each does.

use serde_json::{Value, json};

use crate::harness::{Definition, Gateway, Upstream, api, error_json, request};

const FORBIDDEN: &str = "Requested endpoint is forbidden";

fn statuses(gateway: &Gateway, rows: &[(&str, u16)]) {
    for (line, status) in rows {
        let (method, target) = line.split_once(' ').unwrap();
        let response = gateway.send(request(method, target, &[], ""));
        assert_eq!(response.status, *status, "{line}: {response}");
        if *status == 403 {
            assert_eq!(response.text(), error_json(FORBIDDEN), "{line}");
        }
    }
}

fn a(upstream: &Upstream) -> Definition {
    api("a", "/a/", &upstream.url())
}

#[test]
fn thousands_of_endpoints_are_told_apart_and_counted_in_the_figures() {
    let upstream = Upstream::ok();
    let black: Vec<Value> = (0..2_000).map(|number| json!({"path": format!("/p{number}/{{id}}/sub"), "method": "GET"})).collect();
    let ignored: Vec<Value> = (0..2_000).map(|number| json!({"path": format!(r"^/s{number}/(\w+)/(\d+)$")})).collect();
    let rewrites: Vec<Value> = (0..2_000)
        .map(|number| json!({"path": format!("/r{number}/"), "method": "GET", "match_pattern": format!(r"/r{number}/(\w+)"), "rewrite_to": format!("/to/{number}/$1")}))
        .collect();
    let definition = a(&upstream).with_keys().list("black_list", json!(black)).list("ignored", json!(ignored));
    let gateway = Gateway::start(json!({}), [definition, api("b", "/b/", &upstream.url()).list("url_rewrites", json!(rewrites))]);
    statuses(
        &gateway,
        &[
            ("GET /a/p0/1/sub", 403),
            ("GET /a/p1999/x/sub", 403),
            ("GET /a/p1999/x/other", 401),
            ("POST /a/p1999/x/sub", 401),
            ("GET /a/s0/ab/1", 200),
            ("GET /a/s1999/ab/12", 200),
            ("GET /a/s1999/ab/12/", 401),
            ("GET /a/s2000/ab/12", 401),
        ],
    );
    for (asked, expect) in [("/b/r0/x", "/to/0/x"), ("/b/r1999/y_z", "/to/1999/y_z"), ("/b/r77/", "/r77/")] {
        assert_eq!(gateway.get(asked).status, 200);
        assert_eq!(upstream.last().target, expect, "{asked}");
    }
    let text = gateway.control("GET", "/tyk/metrics", "").text();
    assert!(text.contains("\ntollgate_patterns 6000\n"), "{text}");
    let bytes = text.lines().find_map(|line| line.strip_prefix("tollgate_pattern_bytes ")).unwrap().parse::<f64>().unwrap();
    assert!((1e6..100e6).contains(&bytes), "{bytes}");
}
