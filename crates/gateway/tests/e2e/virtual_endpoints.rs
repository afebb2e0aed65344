//! Endpoints that a script answers: what its function sees, what clients get, and what a bad script cannot do. Names and wordings are those of
//! Tyk's `mw_virtual_endpoint.go`.

use std::fs;

use serde_json::{Value, json};

use crate::harness::scripts::virtual_endpoint;
use crate::harness::{Gateway, Upstream, api, error_json, eventually, request};

const FAILED: &str = "Error during virtual endpoint execution. Contact Administrator for more details.";

fn with(entry: Value, more: Value) -> Value {
    let mut entry = entry;
    crate::harness::definition::merge(&mut entry, &more);
    entry
}

#[test]
fn functions_in_files_share_the_operators_library() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let library = path("library.js", "function greeting() { return 'hello' }");
    let file = path("f.js", "function f() { return TykJsResponse({Body: greeting(), Code: 200}, {}) } log('loaded');");
    let entry = json!({
        "path": "/v", "method": "GET", "response_function_name": "f", "function_source_type": "file", "function_source_uri": file
    });
    let definition = api("a", "/a/", &Upstream::ok().url()).list("virtual", json!([entry]));
    let gateway = Gateway::start(json!({"enable_jsvm": true, "tyk_js_path": library}), [definition]);
    let response = gateway.get("/a/v");
    assert_eq!((response.status, response.text().as_str()), (200, "hello"));
    assert_eq!(response.header("content-type"), Some("text/plain; charset=utf-8"));
    eventually("the script's line is in the log", || gateway.log().contains("script: loaded"));
}

#[test]
fn bad_functions_fail_in_time_and_others_are_served() {
    let upstream = Upstream::ok();
    let bad = [
        ("endless", "while (true) {}"),
        ("throws", "throw new Error('on purpose')"),
        ("eats", "var all = []; while (true) all.push(new Array(10000).join('x'))"),
        ("nothing", "return"),
        ("object", "return {Response: {Code: 200}}"),
        ("text", "return 'no JSON'"),
        ("code", "return TykJsResponse({Code: 'x'}, {})"),
        ("no_code", "return TykJsResponse({Body: 'x'}, {})"),
        ("informational", "return TykJsResponse({Code: 101}, {})"),
        ("body", "return TykJsResponse({Code: 200, Body: {a: 1}}, {})"),
        ("header_type", "return TykJsResponse({Code: 200, Headers: {A: ['b']}}, {})"),
        ("injection", "return TykJsResponse({Code: 200, Headers: {A: 'b\\r\\nSet-Cookie: c=d'}}, {})"),
        ("name", "return TykJsResponse({Code: 200, Headers: {'A B': 'c'}}, {})"),
        ("huge", "return TykJsResponse({Code: 200, Headers: {A: 'x'.repeat(100000)}}, {})"),
        ("floods", "while (true) log('again and again')"),
        ("forever_regex", "return '' + /(a+)+$/.test('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!')"),
    ];
    let mut entries: Vec<Value> = bad
        .iter()
        .map(|(name, body)| {
            with(virtual_endpoint(name, &format!("function {name}() {{ {body} }}")), json!({"path": format!("/{name}")}))
        })
        .collect();
    entries.push(virtual_endpoint("good", "function good() { return TykJsResponse({Body: 'good', Code: 200}, {}) }"));
    let mut proxied = entries.clone();
    proxied.iter_mut().for_each(|entry| entry["proxy_on_error"] = json!(true));
    let definitions = [
        api("a", "/a/", &upstream.url()).list("virtual", json!(entries)),
        api("p", "/p/", &upstream.url()).list("virtual", json!(proxied)),
        api("plain", "/plain/", &upstream.url()),
    ];
    let gateway = Gateway::start(json!({"enable_jsvm": true, "jsvm_timeout": 3}), definitions);
    for (name, _) in bad {
        let response = gateway.get(&format!("/a/{name}"));
        assert_eq!((response.status, response.text()), (500, error_json(FAILED)), "{name}");
        assert_eq!(gateway.get(&format!("/p/{name}")).status, 200, "{name} with proxy_on_error");
    }
    assert_eq!(upstream.requests(), bad.len());
    eventually("a fault is in the log with its place", || gateway.log().contains("Error: on purpose (virtual[1], line 1)"));
    // While one API's script loops in all its threads, other APIs are served, and so is this one afterwards.
    let mut waiting: Vec<_> = (0..8).map(|_| gateway.connect()).collect();
    waiting.iter_mut().for_each(|client| client.send(request("GET", "/a/endless", &[], "")));
    for _ in 0..20 {
        assert_eq!(gateway.get("/plain/x").status, 200);
        assert_eq!(gateway.get("/p/v").text(), "good");
    }
    for client in &mut waiting {
        assert_eq!(client.response("GET").status, 500);
    }
    assert_eq!(gateway.get("/a/v").text(), "good");
}
