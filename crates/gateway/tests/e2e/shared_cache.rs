//! The cache by RFC 9111: what the gateway stores, reuses and validates, request by request, each rule with its section. The rules have their
//! own tables in the crate; these show that it is asked about the requests and responses as they are.

use serde_json::{Value, json};

use crate::harness::http2::{ask, connect, converse};
use crate::harness::shared_cache::{Answered, scripted, shared};
use crate::harness::{Gateway, Upstream, get, request};

const FRESH: &str = "Cache-Control: max-age=60";

fn ok(lines: &'static [&'static str]) -> Answered {
    ("200 OK", lines)
}

fn start(upstream: &Upstream, rules: Value) -> Gateway {
    Gateway::start(json!({}), [shared(upstream, rules)])
}

#[test]
fn head_is_answered_from_get_with_its_length_over_both_protocols() {
    let upstream = scripted(vec![ok(&[FRESH])]);
    let gateway = start(&upstream, json!({}));
    let whole = gateway.get("/a/0");
    let mut client = gateway.connect();
    let head = client.ask(request("HEAD", "/a/0", &[], ""));
    assert_eq!((head.status, head.header("content-length")), (200, Some("8")));
    // The connection goes on behind it.
    assert_eq!(client.ask(get("/a/0")).body, whole.body);
    converse(async {
        let client = connect(gateway.port).await;
        let asked = http::Request::head("http://gateway.test/a/0").body(()).unwrap();
        let head = ask(&client, asked).await.unwrap();
        assert_eq!((head.status, head.header("content-length"), head.body.len()), (200, Some("8"), 0));
    });
    assert_eq!(upstream.requests(), 1);
}

#[test]
fn a_reload_keeps_what_is_stored_unless_the_definition_has_changed() {
    let upstream = scripted(vec![ok(&[FRESH])]);
    let gateway = start(&upstream, json!({}));
    assert_eq!(gateway.get("/a/0").text(), "answer 1");
    gateway.reload();
    assert_eq!(gateway.get("/a/0").text(), "answer 1");
    gateway.write_api(&shared(&upstream, json!({"wait_ms_max": 1_000})));
    gateway.reload();
    assert_eq!(gateway.get("/a/0").text(), "answer 2");
    assert_eq!(gateway.control("DELETE", "/tyk/cache/a", "").status, 200);
    assert_eq!(gateway.get("/a/0").text(), "answer 3");
}
