//! The gateway's own answers: exact bytes, in JSON and XML, and the headers that go with them.

use serde_json::{Value, json};

use super::harness::{Definition, Gateway, Upstream, api, error_json, get, request};

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

/// A port on which nobody listens.
const CLOSED: &str = "http://127.0.0.1:1/";
const PROXYING: &str = "There was a problem proxying the request";

/// One API for each way to be refused.
fn refusing(upstream: &Upstream) -> Vec<Definition> {
    vec![
        api("refused", "/refused/", CLOSED),
        api("keys", "/keys/", &upstream.url()).with_keys(),
        api("ip", "/ip/", &upstream.url()).set("allowed_ips", json!(["10.0.0.0/8"])),
        api("black", "/black/", &upstream.url()).list("black_list", json!([{"path": "/x"}])),
        api("size", "/size/", &upstream.url()).version("global_size_limit", 1),
        api("loop", "/loop/", "tyk://loop/"),
        api("expired", "/expired/", &upstream.url()).set("expiration", "2001-01-01 00:00"),
        api("limited", "/limited/", &upstream.url()).set("global_rate_limit", json!({"rate": 1, "per": 3600})),
    ]
}

fn failures() -> Vec<(String, u16, &'static str)> {
    let get = |target: &str| request("GET", target, &[], "");
    vec![
        (get("/refused/"), 500, PROXYING),
        (get("/keys/"), 401, "Authorization field missing"),
        (request("GET", "/keys/", &["Authorization: "], ""), 401, "Authorization field missing"),
        (request("GET", "/keys/", &["Authorization: unknown-key"], ""), 403, "Access to this API has been disallowed"),
        (request("GET", "/keys/", &["Authorization: x"], ""), 403, "Access to this API has been disallowed"),
        (request("GET", "/keys/", &["Authorization: Bearer some-token"], ""), 403, "Access to this API has been disallowed"),
        (get("/ip/"), 403, "access from this IP has been disallowed"),
        (get("/black/x"), 403, "Requested endpoint is forbidden"),
        (request("POST", "/size/", &[], "four"), 400, "Request is too large"),
        (
            request("POST", "/size/", &["Transfer-Encoding: chunked"], "") + "0\r\n\r\n",
            411,
            "Content length is required for this request",
        ),
        (get("/loop/"), 500, "Loop level too deep. Found more than 5 loops in single request"),
        (get("/expired/"), 403, "API has expired, please check documentation or contact administrator"),
        (get("/limited/"), 429, "API Rate Limit Exceeded"),
    ]
}

#[test]
fn failures_are_told_in_json() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), refusing(&upstream));
    assert_eq!(gateway.get("/limited/").status, 200);
    for (text, status, message) in failures() {
        let response = gateway.send(&text);
        assert_eq!((response.status, response.text()), (status, error_json(message)), "{text}");
        assert_eq!(response.header("content-type"), Some("application/json"), "{text}");
        assert_eq!(response.header("x-generator"), Some("tyk.io"), "{text}");
        for absent in ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "server"] {
            assert!(!response.head.has(absent), "{text}{response}");
        }
        assert!(!response.announces_close(), "{text}{response}");
    }
    assert_eq!(upstream.requests(), 1);
}

#[test]
fn failures_are_told_in_xml_to_those_who_send_xml() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), refusing(&upstream));
    assert_eq!(gateway.get("/limited/").status, 200);
    for kind in ["application/xml", "text/xml", "application/soap+xml"] {
        for (text, status, message) in failures() {
            let text = with_line(&text, &format!("Content-Type: {kind}"));
            let response = gateway.send(&text);
            let expect = format!("<?xml version = \"1.0\" encoding = \"UTF-8\"?>\n<error>{message}</error>\n");
            assert_eq!((response.status, response.text()), (status, expect), "{text}");
            assert_eq!(response.header("content-type"), Some(kind), "{text}");
        }
    }
}

#[test]
fn other_content_types_get_json() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), refusing(&upstream));
    for kind in ["text/html", "application/json; charset=utf-8", "xml", "application/xml-dtd"] {
        let response = gateway.send(with_line(&get("/keys/"), &format!("Content-Type: {kind}")));
        assert_eq!(response.header("content-type"), Some("application/json"), "{kind}");
    }
    let parameters = gateway.send(with_line(&get("/keys/"), "Content-Type: text/xml; charset=utf-8"));
    assert!(parameters.header("content-type").is_some_and(|kind| kind.starts_with("text/xml")), "{parameters}");
}

#[test]
fn a_refusal_leaves_the_connection_usable() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), refusing(&upstream));
    let mut client = gateway.connect();
    gateway.get("/limited/");
    for (text, status, _) in failures() {
        if text.starts_with("POST") {
            continue;
        }
        assert_eq!(client.ask(&text).status, status, "{text}");
    }
    assert_eq!(client.ask(get("/nowhere")).status, 404);
}

#[test]
fn the_generator_line_can_be_hidden() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({"hide_generator_header": true}), refusing(&upstream));
    assert!(!gateway.get("/keys/").head.has("x-generator"));
}

#[test]
fn messages_and_codes_can_be_replaced() {
    let upstream = Upstream::ok();
    let conf = json!({"override_messages": {
        "auth.auth_field_missing": {"message": "Please bring a key", "code": 418},
        "auth.key_not_found": {"message": "Nobody knows this key", "code": 404}
    }});
    let gateway = Gateway::start(conf, refusing(&upstream));
    let missing = gateway.get("/keys/");
    assert_eq!((missing.status, missing.text()), (418, error_json("Please bring a key")));
    let unknown = gateway.send(request("GET", "/keys/", &["Authorization: no"], ""));
    assert_eq!((unknown.status, unknown.text()), (404, error_json("Nobody knows this key")));
}

#[test]
fn error_bodies_can_be_the_operators_own() {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).expect("a template");
    write("error.json", "{\"code\": {{.StatusCode}}, \"why\": \"{{.Message}}\"}");
    write("error_401.json", "{\"login\": {{ .Message | upper | printf `%q` }}}");
    write("error.xml", "<no><why>{{.Message}}</why></no>");
    write("error_403.xml", "{{if .Message}}never{{endif}}");
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({"template_path": directory.path()}), refusing(&upstream));
    let ask = |lines: &[&str]| {
        let answer = gateway.send(request("GET", "/keys/", lines, ""));
        (answer.status, answer.text())
    };
    assert_eq!(ask(&[]), (401, r#"{"login": "AUTHORIZATION FIELD MISSING"}"#.to_owned()));
    let unknown = "Access to this API has been disallowed";
    assert_eq!(ask(&["Authorization: no"]), (403, format!(r#"{{"code": 403, "why": "{unknown}"}}"#)));
    let xml = ask(&["Authorization: no", "Content-Type: application/xml"]);
    assert_eq!(xml, (403, format!("<no><why>{unknown}</why></no>")));
    assert!(gateway.log().contains("error_403.xml"), "a template that cannot be used is named in the log");
}

#[test]
fn every_refusal_is_a_problem_where_that_is_on() {
    let upstream = Upstream::ok();
    let mut definitions = refusing(&upstream);
    definitions.push(api("basic", "/basic/", &upstream.url()).set("use_keyless", false).set("use_basic_auth", true));
    definitions.push(
        api("jwt", "/jwt/", &upstream.url()).set("use_keyless", false).set("enable_jwt", true).set("jwt_signing_method", "hmac"),
    );
    let gateway = Gateway::start(json!({"tollgate": {"problem_details": true, "limits": {"requests_per_ip": {}}}}), definitions);
    assert_eq!(gateway.get("/limited/").status, 200);
    let mut failures: Vec<(String, u16, String)> =
        failures().into_iter().map(|(request, status, message)| (request, status, message.to_owned())).collect();
    for (request, status, message) in [
        (get("/nothing-here/"), 404, "Not Found"),
        (get("/basic/"), 401, "Authorization field missing"),
        (get("/jwt/"), 400, "Authorization field missing"),
    ] {
        failures.push((request, status, message.to_owned()));
    }
    for (request, status, message) in failures {
        let response = gateway.send(&request);
        assert_eq!((response.status, response.header("content-type")), (status, Some("application/problem+json")), "{request}");
        let problem: Value = serde_json::from_str(&response.text()).expect("JSON");
        let says = |name: &str| problem[name].as_str() == Some(message.as_str());
        assert!(says("title") || says("detail"), "{request}: {problem}");
        assert!(problem["status"] == status && problem["type"].is_string() && problem["title"].is_string(), "{request}: {problem}");
        assert!(problem.get("error").is_none(), "{request}: {problem}");
    }
}
