//! The gateway's own answers: exact bytes, in JSON and XML, and the headers that go with them.

use serde_json::{Value, json};

use super::harness::{Gateway, Upstream, api, get, request};

fn with_line(text: &str, line: &str) -> String {
    text.replacen("\r\n\r\n", &format!("\r\n{line}\r\n\r\n"), 1)
}

#[test]
fn a_key_is_looked_for_where_the_definition_says() {
    let upstream = Upstream::ok();
    let keyed = |id: &str, auth: Value| api(id, &format!("/{id}/"), &upstream.url()).with_keys().set("auth", auth);
    let gateway = Gateway::start(
        json!({}),
        [
            keyed("header", json!({"auth_header_name": "X-Key"})),
            keyed("param", json!({"auth_header_name": "X-Key", "use_param": true, "param_name": "api_key"})),
            keyed("cookie", json!({"auth_header_name": "X-Key", "use_cookie": true, "cookie_name": "token"})),
            keyed("unnamed", json!({"auth_header_name": ""})),
        ],
    );
    let cases: &[(&str, &[&str], u16)] = &[
        ("/header/", &[], 401),
        ("/header/", &["X-Key: k"], 403),
        ("/header/", &["Authorization: k"], 401),
        ("/param/?api_key=k", &[], 403),
        ("/param/?other=k", &[], 401),
        ("/header/?api_key=k", &[], 401),
        ("/cookie/", &["Cookie: a=b; token=k"], 403),
        ("/cookie/", &["Cookie: a=b"], 401),
        ("/unnamed/", &["Authorization: k"], 403),
        ("/unnamed/", &[], 401),
    ];
    for (target, lines, status) in cases {
        assert_eq!(gateway.send(request("GET", target, lines, "")).status, *status, "{target} {lines:?}");
    }
}

#[test]
fn no_route_is_told_in_plain_text() {
    let gateway = Gateway::start(json!({}), []);
    for text in [get("/nope"), get("/"), with_line(&get("/nope"), "Content-Type: text/xml")] {
        let response = gateway.send(&text);
        assert_eq!((response.status, response.body.as_slice()), (404, b"Not Found".as_slice()));
        assert_eq!(response.header("content-type"), Some("text/plain; charset=utf-8"));
    }
}
