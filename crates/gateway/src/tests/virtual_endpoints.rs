//! Endpoints that a script answers: what its function sees, what clients get, and what a bad script cannot do. Names and wordings are those of
//! Tyk's `mw_virtual_endpoint.go`.

use serde_json::{Value, json};
use std::time::Duration;

use super::harness::keys::{create, keyed, session, with_key};
use super::harness::scripts::virtual_endpoint;
use super::harness::{Definition, Gateway, Setup, Upstream, api, ok, reply, request, settled};

fn with(entry: Value, more: Value) -> Value {
    let mut entry = entry;
    super::harness::definition::merge(&mut entry, &more);
    entry
}

fn start(definition: Definition) -> Gateway {
    Gateway::start(json!({"enable_jsvm": true}), [definition])
}

/// A script whose function `f` has this body.
fn answering(upstream: &Upstream, body: &str) -> Definition {
    let script = format!("function f(request, session, config) {{ {body} }}");
    let post = with(virtual_endpoint("f", &script), json!({"method": "POST"}));
    api("a", "/a/", &upstream.url()).list("virtual", json!([virtual_endpoint("f", &script), post]))
}

/// A script that answers with what an expression gives.
fn telling(upstream: &Upstream, expression: &str) -> Definition {
    answering(
        upstream,
        &format!("return TykJsResponse({{Body: JSON.stringify({expression}), Code: 200}}, session && session.meta_data)"),
    )
}

#[test]
fn a_function_sees_the_request_and_its_response_is_sent() {
    let upstream = Upstream::ok();
    let script = r#"
        function f(request, session, config) {
            var seen = {request: request, rate: session.rate, config: config};
            var headers = {"X-Made": "by script", "Content-Type": "application/json", "Content-Length": "1"};
            return TykJsResponse({Body: JSON.stringify(seen), Headers: headers, Code: 201}, session.meta_data);
        }"#;
    let definition = api("a", "/a/", &upstream.url())
        .list("virtual", json!([with(virtual_endpoint("f", script), json!({"method": "POST"}))]))
        .list("transform_response_headers", json!([{"path": "/v", "method": "POST", "add_headers": {"X-Late": "added"}}]))
        .set("config_data", json!({"colour": "blue"}))
        .set("org_id", "org");
    let gateway = start(definition);
    let sent = request("POST", "/a/v?b=2&a=%C3%BC&b=3", &["X-In: one", "X-In: two", "Content-Type: text/plain"], "höhö");
    let response = gateway.send(sent);
    assert_eq!(response.status, 201, "{response}");
    let headers = ["x-made", "content-type", "x-late"].map(|name| response.header(name).map(str::to_owned));
    assert_eq!(headers, [Some("by script".into()), Some("application/json".into()), Some("added".into())]);
    let seen: Value = serde_json::from_slice(&response.body).unwrap();
    let request = &seen["request"];
    assert_eq!(
        (&request["Body"], &request["URL"], &request["Scheme"]),
        (&json!("höhö"), &json!("/a/v?b=2&a=%C3%BC&b=3"), &json!("http"))
    );
    assert_eq!((&request["Headers"]["X-In"], &request["Headers"]["Host"]), (&json!(["one", "two"]), &Value::Null));
    assert_eq!(request["Params"], json!({"a": ["ü"], "b": ["2", "3"]}));
    assert_eq!(
        (&seen["rate"], &seen["config"]),
        (&json!(0), &json!({"OrgID": "org", "APIID": "a", "config_data": {"colour": "blue"}}))
    );
    assert_eq!(upstream.requests(), 0);
    // Other endpoints reach the upstream.
    assert_eq!(gateway.get("/a/other").status, 200);
    assert_eq!(upstream.requests(), 1);
}

#[test]
fn a_function_sees_the_headers_that_earlier_steps_have_made() {
    let upstream = Upstream::ok();
    let names = ["X-Added", "X-Gone", "X-Set", "Transfer-Encoding"];
    let definition = telling(&upstream, &format!("{names:?}.map(function (name) {{ return request.Headers[name] || null }})"))
        .version("global_headers", json!({"X-Added": "by the gateway", "X-Set": "new"}))
        .version("global_headers_remove", json!(["X-Gone"]));
    let sent = request("GET", "/a/v", &["X-Gone: 1", "X-Set: old"], "");
    assert_eq!(start(definition).send(sent).text(), r#"[["by the gateway"],null,["new"],null]"#);
}

#[test]
fn a_form_s_fields_are_parameters() {
    let upstream = Upstream::ok();
    let gateway = start(telling(&upstream, "request.Params"));
    let sent = request("POST", "/a/v?x=query", &["Content-Type: application/x-www-form-urlencoded"], "x=body&y=1+2");
    assert_eq!(gateway.send(sent).text(), r#"{"x":["body","query"],"y":["1 2"]}"#);
}

#[test]
fn scripts_send_requests_and_batches() {
    let other = Upstream::start(|seen| match seen.target.as_str() {
        "/slow" => {
            std::thread::sleep(Duration::from_secs(3));
            ok()
        }
        target => reply("202 Accepted", &["X-Seen: yes"], &format!("{} {target} {}", seen.method, seen.text())),
    });
    let body = format!(
        r#"var url = "{0}";
        var one = JSON.parse(TykMakeHttpRequest(JSON.stringify({{Method: "POST", Domain: url, Resource: "/one", Headers: {{"X-H": "v"}}, Body: "b"}})));
        var batch = {{requests: [{{method: "GET", relative_url: url + "/two"}}, {{relative_url: "http://127.0.0.1:1/none"}}]}};
        var many = JSON.parse(TykBatchRequest(JSON.stringify(batch)));
        var told = [one.Code, one.body, one.Headers["X-Seen"], many[0].code, many[0].body, many[1].code];
        return TykJsResponse({{Body: JSON.stringify(told), Code: 200}}, {{}})"#,
        other.url()
    );
    let gateway = start(answering(&Upstream::ok(), &body));
    let response = gateway.get("/a/v");
    assert_eq!(response.text(), r#"[202,"POST /one b",["yes"],202,"GET /two ",0]"#, "{}", gateway.log());
    assert_eq!(other.seen().iter().find(|seen| seen.target == "/one").unwrap().header("x-h"), Some("v"));
}

#[test]
fn a_session_is_seen_and_keys_are_read_and_stored() {
    let upstream = Upstream::ok();
    let script = r#"
        function f(request, session, config) {
            var key = request.Headers["Authorization"][0];
            var known = JSON.parse(TykGetKeyData(key, config.APIID));
            known.alias = "changed";
            TykSetKeyData(key, JSON.stringify(known), "1");
            var told = [session.meta_data.m, session.rate, known.rate, JSON.parse(TykGetKeyData("unknown", "a")).message];
            return TykJsResponse({Body: JSON.stringify(told), Code: 200}, session.meta_data);
        }"#;
    let entry = with(virtual_endpoint("f", script), json!({"use_session": true}));
    let gateway = start(keyed("a", &upstream).list("virtual", json!([entry])));
    let of = session(json!({"rate": 77, "per": 1, "meta_data": {"m": "meta"}}));
    let key = create(&gateway, &of);
    let response = gateway.send(with_key("/a/v", &key));
    assert_eq!((response.status, response.text().as_str()), (200, r#"["meta",77,77,"Key not found"]"#), "{}", gateway.log());
    let stored = gateway.control("GET", &format!("/tyk/keys/{key}"), "").json();
    assert_eq!((&stored["alias"], &stored["rate"]), (&json!("changed"), &json!(77)));
    // Without a key there is no answer.
    assert_eq!(gateway.get("/a/v").status, 401);
}

#[test]
fn the_meta_data_that_a_function_returns_is_stored() {
    let upstream = Upstream::ok();
    // As in Tyk, what a function returns takes the place of all, and without `use_session` nothing is stored.
    for (uses, returned, expected) in [
        (true, "session.meta_data.calls = (session.meta_data.calls || 0) + 1, session.meta_data", json!({"m": "meta", "calls": 2})),
        (true, "{only: 'this'}", json!({"only": "this"})),
        (true, "undefined", json!({})),
        (false, "{only: 'this'}", json!({"m": "meta"})),
    ] {
        let script = format!("function f(request, session) {{ return TykJsResponse({{Body: 'x', Code: 200}}, ({returned})) }}");
        let entry = with(virtual_endpoint("f", &script), json!({"use_session": uses}));
        let gateway = start(keyed("a", &upstream).list("virtual", json!([entry])));
        let key = create(&gateway, &session(json!({"rate": 77, "per": 1, "meta_data": {"m": "meta"}})));
        let stored = || gateway.control("GET", &format!("/tyk/keys/{key}"), "").json();
        for call in 1..=2 {
            assert_eq!(gateway.send(with_key("/a/v", &key)).status, 200, "{}", gateway.log());
            if expected["calls"] == 2 {
                settled("the change is stored", || stored()["meta_data"]["calls"] == call);
            }
        }
        settled("the change is stored", || {
            stored()["meta_data"].as_object().cloned().unwrap_or_default() == *expected.as_object().unwrap()
        });
        assert_eq!(stored()["rate"], 77);
    }
}

#[test]
fn a_response_may_lead_to_another_endpoint() {
    let upstream = Upstream::start(|seen| reply("200 OK", &[], &format!("{} {}", seen.method, seen.target)));
    let body = r#"return TykJsResponse({Headers: {Location: "tyk://self/a/other?method=GET&x=1"}, Code: 302}, {})"#;
    let gateway = start(answering(&upstream, body));
    assert_eq!(gateway.send(request("POST", "/a/v?lost=1", &[], "b")).text(), "GET /other?x=1");
}

#[test]
fn other_redirects_are_for_the_client() {
    let upstream = Upstream::ok();
    let gateway = start(answering(&upstream, r#"return TykJsResponse({Headers: {Location: "/elsewhere"}, Code: 302}, {})"#));
    let response = gateway.get("/a/v");
    assert_eq!((response.status, response.header("location")), (302, Some("/elsewhere")));
}

#[test]
fn a_script_that_cannot_be_loaded_is_an_error_of_its_definition() {
    let upstream = Upstream::ok();
    let good = "function f() { return TykJsResponse({Body: 'x', Code: 200}, {}) }";
    let nowhere = std::env::temp_dir().join("nowhere/f.js");
    let file = json!({"path": "/v", "response_function_name": "f", "function_source_type": "file", "function_source_uri": nowhere});
    for (conf, entry, expected) in [
        (json!({}), virtual_endpoint("f", good), "needs \\\"enable_jsvm\\\" in the configuration"),
        (json!({"enable_jsvm": true}), file, "/nowhere/f.js: No such file"),
        (json!({"enable_jsvm": true}), virtual_endpoint("g", good), "defines no g"),
        (json!({"enable_jsvm": true}), virtual_endpoint("f()", good), "is not the name of a variable or function"),
        (json!({"enable_jsvm": true}), virtual_endpoint("f", "function f( {"), "SyntaxError"),
        (json!({"enable_jsvm": true}), with(virtual_endpoint("f", good), json!({"function_source_uri": "*"})), "is not base64"),
        (
            json!({"enable_jsvm": true}),
            with(virtual_endpoint("f", good), json!({"function_source_type": ""})),
            "must be file or blob",
        ),
        (
            json!({"enable_jsvm": true, "disable_virtual_path_blobs": true}),
            virtual_endpoint("f", good),
            "disable_virtual_path_blobs",
        ),
    ] {
        let definition = api("a", "/a/", &upstream.url()).list("virtual", json!([entry]));
        let gateway = Setup::new(conf).api(definition).api(api("other", "/other/", &upstream.url())).start();
        assert_eq!((gateway.get("/a/v").status, gateway.get("/other/x").status), (404, 200), "{expected}");
        let log = gateway.log();
        assert!(log.contains(expected) || log.contains(&expected.replace('\\', "")), "{expected}: {log}");
    }
    let definition = api("a", "/a/", &upstream.url()).list("virtual", json!([virtual_endpoint("f", good)]));
    let gateway = start(definition.set("tollgate/serve_without", json!(["virtual"])));
    assert_eq!(gateway.get("/a/v").text(), "x", "what is supported is not left out");
}
