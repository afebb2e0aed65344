//! The gateway's own answers on real connections. What they say is tested in chains.

use serde_json::json;

use crate::harness::{Gateway, Upstream, api, error_json, get, request};

#[test]
fn a_refusal_leaves_the_connection_usable() {
    let upstream = Upstream::ok();
    let closed = format!("http://127.0.0.1:{}", crate::servers::free_port());
    let keyed = api("keys", "/keys/", &upstream.url()).with_keys();
    let gateway = Gateway::start(json!({}), [api("refused", "/refused/", &closed), keyed]);
    let mut client = gateway.connect();
    for (text, status, message) in [
        (get("/refused/"), 500, "There was a problem proxying the request"),
        (get("/keys/"), 401, "Authorization field missing"),
        (request("GET", "/keys/", &["Authorization: unknown-key"], ""), 403, "Access to this API has been disallowed"),
    ] {
        let response = client.ask(&text);
        assert_eq!((response.status, response.text()), (status, error_json(message)), "{text}");
    }
    assert_eq!(client.ask(get("/nowhere")).status, 404);
}

#[test]
fn connections_are_closed_after_each_answer_when_that_is_wanted() {
    let upstream = Upstream::ok();
    let keyed = api("keys", "/keys/", &upstream.url()).with_keys();
    let gateway = Gateway::start(json!({"close_connections": true}), [keyed]);
    let mut client = gateway.connect();
    let response = client.ask(get("/keys/"));
    assert!(response.announces_close(), "{response}");
    client.expect_close();
}
