//! Bodies that begin with a byte-order mark, as some editors and libraries write them: whatever the gateway reads itself is read as without the
//! mark, and what it only passes on keeps it. Bodies for the control API are in `openapi.rs`.

use crate::harness::graph::graph;
use crate::harness::transforms::{entry, template};
use crate::harness::{Definition, Gateway, Response, Upstream, api, reply, request};
use serde_json::{Value, json};

const JSON: &str = "Content-Type: application/json";
const MARK: &str = "\u{feff}";

/// An API, a request to it, and whether the upstream gets the body as it was sent.
struct MarkedCase {
    what: &'static str,
    target: &'static str,
    body: &'static str,
    passes: bool,
}

fn case(what: &'static str, target: &'static str, body: &'static str, passes: bool) -> MarkedCase {
    MarkedCase { what, target, body, passes }
}

fn definitions(upstream: &Upstream) -> [Definition; 5] {
    let mut xml = template("<{{.a.b}}>");
    xml["input_type"] = json!("xml");
    let path = |path: &str, mut entries: Value| {
        entries[0]["path"] = json!(path);
        entries[0].clone()
    };
    let bodies = api("a", "/a/", &upstream.url())
        .list("transform", json!([path("/json", entry("POST", template("<{{.a}}>"))), path("/xml", entry("POST", xml))]))
        .list("transform_jq", json!([{"path": "/jq", "method": "POST", "filter": "{body: {b: .body.a}}"}]))
        .list("validate_json", json!([{"path": "/validated", "method": "POST", "schema": {"type": "object", "required": ["a"]}}]));
    let documents = json!({
        "openapi": "3.0.3", "info": {"title": "d", "version": "1"},
        "paths": {"/documented": {"post": {
            "operationId": "send", "responses": {"200": {"description": "d"}},
            "requestBody": {"content": {"application/json": {"schema": {"type": "object", "required": ["a"]}}}},
        }}},
        "x-tyk-api-gateway": {
            "info": {"id": "d", "name": "d", "state": {"active": true}},
            "upstream": {"url": upstream.url()}, "server": {"listenPath": {"value": "/d/", "strip": true}},
            "middleware": {"operations": {"send": {"validateRequest": {"enabled": true}}}},
        },
    });
    let queries = graph(upstream).set("api_id", "g").set("proxy/listen_path", "/g/");
    let batches = api("b", "/b/", &upstream.url()).set("enable_batch_request_support", true);
    let rules = "SecRuleEngine On\nSecRequestBodyAccess On\nSecRule REQUEST_HEADERS:Content-Type \"@contains json\" \
        \"id:1,phase:1,pass,nolog,ctl:requestBodyProcessor=JSON\"\nSecRule REQBODY_ERROR \"!@eq 0\" \"id:2,phase:2,deny,status:403\"\n";
    let waf = api("w", "/w/", &upstream.url()).set("tollgate/waf", json!({"core_rules": false, "rules": rules}));
    [bodies, Definition(documents), queries, batches, waf]
}

fn cases() -> Vec<MarkedCase> {
    vec![
        case("a template of JSON", "/a/json", r#"{"a":"x"}"#, false),
        case("a template of XML", "/a/xml", "<a><b>x</b></a>", false),
        case("a jq filter", "/a/jq", r#"{"a":"x"}"#, false),
        case("a JSON schema", "/a/validated", r#"{"a":"x"}"#, true),
        case("an OpenAPI document", "/d/documented", r#"{"a":"x"}"#, true),
        case("a GraphQL request", "/g/", r#"{"query":"{ me { id } }"}"#, true),
        case("a GraphQL batch", "/g/", r#"[{"query":"{ me { id } }"}]"#, true),
        case("a batch", "/b/tyk/batch/", r#"{"requests":[{"method":"POST","relative_url":"x","body":"x"}]}"#, false),
        case("the application firewall", "/w/", r#"{"a":"x"}"#, true),
    ]
}

fn sent(gateway: &Gateway, case: &MarkedCase, body: &str) -> Response {
    gateway.send(request("POST", case.target, &[JSON], body))
}

#[test]
fn bodies_with_a_mark_are_read_as_without_it() {
    let upstream = Upstream::start(|_| reply("200 OK", &[JSON], r#"{"data":{"me":{"id":"1"}}}"#));
    let gateway = Gateway::start(json!({}), definitions(&upstream));
    for case in cases() {
        let answer = sent(&gateway, &case, case.body);
        assert_eq!(answer.status, 200, "{}: {answer}", case.what);
        let plain = (answer.text(), upstream.last().text());
        let answer = sent(&gateway, &case, &format!("{MARK}{}", case.body));
        assert_eq!(answer.status, 200, "{}: {answer}", case.what);
        let passed = if case.passes { format!("{MARK}{}", plain.1) } else { plain.1 };
        assert_eq!((answer.text(), upstream.last().text()), (plain.0, passed), "{}", case.what);
        if case.passes {
            assert_ne!(sent(&gateway, &case, &format!("{MARK}{MARK}{}", case.body)).status, 200, "{}: two marks", case.what);
        }
    }
}

#[test]
fn answers_with_a_mark_are_read_as_without_it() {
    let upstream = Upstream::start(|_| reply("200 OK", &[JSON], "\u{feff}{\"a\":\"x\"}"));
    let definition = api("a", "/a/", &upstream.url())
        .list("transform_response", entry("GET", template("<{{.a}}>")))
        .list("transform_jq_response", json!([{"path": "/jq", "method": "GET", "filter": "{body: {b: .body.a}}"}]))
        .set(
            "response_processors",
            json!([
                {"name": "response_body_transform", "options": {}}, {"name": "response_body_transform_jq", "options": {}}
            ]),
        );
    let gateway = Gateway::start(json!({}), [definition]);
    assert_eq!(gateway.get("/a/t").text(), "<x>");
    assert_eq!(gateway.get("/a/jq").text().trim(), r#"{"b":"x"}"#);
    assert_eq!(gateway.get("/a/other").text(), "\u{feff}{\"a\":\"x\"}");
}
