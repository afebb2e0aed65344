//! Where a key is looked for, which keys are let in, and what they may call.

use serde_json::{Value, json};

use crate::harness::{Gateway, Upstream, request};
use crate::keys::{keyed, session_for};

/// Every place that a key can be in.
fn places() -> Value {
    json!({"auth_header_name": "X-Key", "use_param": true, "param_name": "apikey", "use_cookie": true, "cookie_name": "token"})
}

fn named(gateway: &Gateway, id: &str, session: &Value) {
    let answer = gateway.control("POST", &format!("/tyk/keys/{id}"), &session.to_string());
    assert_eq!(answer.status, 200, "{answer}");
}

#[test]
fn a_key_goes_upstream_as_it_came_unless_it_is_to_be_stripped() {
    let upstream = Upstream::ok();
    let kept = keyed("kept", &upstream).set("auth", places());
    let stripped = keyed("stripped", &upstream).set("auth", places()).set("strip_auth_data", true);
    let gateway = Gateway::start(json!({}), [kept, stripped]);
    named(&gateway, "good", &session_for(&["kept", "stripped"], json!({})));

    let lines = ["X-Key: Bearer good", "Cookie: a=b; token=good; c=d"];
    assert_eq!(gateway.send(request("GET", "/kept/x?b=1&apikey=good&c=2", &lines, "")).status, 200);
    let seen = upstream.last();
    assert_eq!((seen.target.as_str(), seen.header("x-key")), ("/x?b=1&apikey=good&c=2", Some("Bearer good")));
    assert_eq!(seen.header("cookie"), Some("a=b; token=good; c=d"));

    assert_eq!(gateway.send(request("GET", "/stripped/x?b=1&apikey=good&c=2", &lines, "")).status, 200);
    let seen = upstream.last();
    assert_eq!((seen.target.as_str(), seen.header("x-key")), ("/x?b=1&c=2", None));
    assert_eq!(seen.header("cookie"), Some("a=b; c=d"));

    assert_eq!(gateway.get("/stripped/x?apikey=good").status, 200);
    assert_eq!(upstream.last().target, "/x");
    assert_eq!(gateway.send(request("GET", "/stripped/x", &["Cookie: token=good"], "")).status, 200);
    assert_eq!(upstream.last().header("cookie").unwrap_or_default(), "");
    // However the parameter's name is written, how often it comes, and in whichever line the cookie is.
    assert_eq!(gateway.get("/stripped/x?%61pikey=good&b=1&api%6Bey=good&apikey=good").status, 200);
    assert_eq!(upstream.last().target, "/x?b=1");
    let lines = ["Cookie: token=good; a=b", "Cookie: token=good", "Cookie: c=d; token=good"];
    assert_eq!(gateway.send(request("GET", "/stripped/x", &lines, "")).status, 200);
    assert_eq!(upstream.last().header("cookie"), Some("a=b; c=d"));
    for seen in upstream.seen().iter().skip(1) {
        assert!(!String::from_utf8_lossy(&seen.head.raw).contains("good"), "{seen:?}");
    }
}
