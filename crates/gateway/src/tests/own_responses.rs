//! Responses that the gateway makes in the upstream's place are processed like the upstream's: those of virtual endpoints and mocks, and of hooks in
//! JavaScript after authentication. Tyk runs its response chain for them in `mw_virtual_endpoint.go` (`forceResponse`) and
//! `mw_mock_response.go`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::harness::keys::{call, create, session_for};
use super::harness::openapi::{document, extended};
use super::harness::{Definition, Gateway, Upstream, api};

fn code(script: &str) -> String {
    STANDARD.encode(script)
}

/// A hook for requests that answers itself.
fn answering(name: &str) -> Value {
    let script = format!(
        "var {name} = new TykJS.TykMiddleware.NewMiddleware({{}});
        {name}.NewProcessRequest(function (request) {{
            if (request.Params.by != '{name}') return {name}.ReturnData(request, {{}});
            request.ReturnOverrides = {{ResponseCode: 201, ResponseBody: 'by {name}', ResponseHeaders: {{'X-By': '{name}'}}}};
            return {name}.ReturnData(request, {{}});
        }});"
    );
    json!({"name": name, "code": code(&script)})
}

/// A hook for responses that marks what it has seen.
fn marking() -> Value {
    let script = "var mark = new TykJS.TykMiddleware.NewMiddleware({});
        mark.NewProcessResponse(function (response, request, session, config) {
            response.SetHeaders['X-Marked'] = response.StatusCode + ' ' + (response.Headers['X-By'] || '') + ' ' + request.Method;
            response.Body = response.Body + '!';
            return mark.ReturnResponseData(response, {});
        });";
    json!({"name": "mark", "code": code(script)})
}

fn scripted(upstream: &Upstream) -> Definition {
    let function = "function f(request) { return TykJsResponse({Body: '{\"n\": ' + Math.random() + '}', Code: request.Params.code ? 503 : 200, Headers: {'X-By': 'f'}}) }";
    let entry = json!({"path": "/v", "method": "GET", "response_function_name": "f", "function_source_type": "blob", "function_source_uri": code(function)});
    api("a", "/a/", &upstream.url()).list("virtual", json!([entry]))
}

fn start(definition: Definition) -> Gateway {
    Gateway::start(json!({"enable_jsvm": true, "tollgate": {"limits": {"body_bytes_max": 65536}}}), [definition])
}

#[test]
fn hooks_see_the_response_of_a_virtual_endpoint() {
    let upstream = Upstream::ok();
    let gateway = start(scripted(&upstream).set("custom_middleware", json!({"response": [marking()]})));
    let response = gateway.get("/a/v");
    assert_eq!((response.status, response.header("x-marked")), (200, Some("200 f GET")), "{response}\n{}", gateway.log());
    assert!(response.text().starts_with("{\"n\": 0.") && response.text().ends_with("}!"), "{response}");
    assert_eq!(response.header("content-length"), Some(response.body.len().to_string().as_str()));
    assert_eq!(gateway.get("/a/x").header("x-marked"), Some("200  GET"));
    assert_eq!(upstream.requests(), 1);
}

#[test]
fn templates_and_header_changes_apply_to_a_virtual_endpoint() {
    let upstream = Upstream::ok();
    let template = json!({"template_mode": "blob", "template_source": code("made: {{.n}}"), "input_type": "json"});
    let definition =
        scripted(&upstream).list("transform_response", json!([{"path": "/v", "method": "GET", "template_data": template}])).list(
            "transform_response_headers",
            json!([{"path": "/v", "method": "GET", "delete_headers": ["X-By"], "add_headers": {"X-Late": "added"}}]),
        );
    let gateway = start(definition);
    let response = gateway.get("/a/v");
    assert!(response.text().starts_with("made: 0."), "{response}");
    assert_eq!((response.header("x-by"), response.header("x-late")), (None, Some("added")));
}

#[test]
fn a_virtual_endpoint_is_cached_and_rules_for_the_upstream_s_errors_leave_it_alone() {
    let upstream = Upstream::ok();
    let definition = scripted(&upstream)
        .list("cache", json!(["/v"]))
        .set("cache_options", json!({"enable_cache": true, "cache_timeout": 60}))
        .set("error_overrides", json!({"503": [{"response": {"status_code": 500, "body": "replaced"}}]}));
    let gateway = start(definition);
    let [first, second] = [(); 2].map(|()| gateway.get("/a/v"));
    assert_eq!(first.text(), second.text());
    assert_eq!((first.header("x-by"), second.header("x-by")), (Some("f"), Some("f")));
    assert_eq!((first.header("x-tyk-cached-response"), second.header("x-tyk-cached-response")), (None, Some("1")));
    let failed = gateway.get("/a/v?code=503");
    assert_eq!(failed.status, 503, "{failed}");
}

#[test]
fn hooks_see_what_hooks_after_authentication_answer() {
    let upstream = Upstream::ok();
    let hooks = json!({"pre": [answering("early")], "post": [answering("late")], "response": [marking()]});
    let gateway = start(api("a", "/a/", &upstream.url()).set("custom_middleware", hooks));
    for (name, marked) in [("early", None), ("late", Some("201 late GET"))] {
        let response = gateway.get(&format!("/a/x?by={name}"));
        let text = format!("by {name}{}", if marked.is_some() { "!" } else { "" });
        assert_eq!((response.status, response.text(), response.header("x-marked")), (201, text, marked), "{response}");
    }
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn a_response_hook_that_fails_refuses_a_virtual_endpoint() {
    let upstream = Upstream::ok();
    let script = "var mark = new TykJS.TykMiddleware.NewMiddleware({}); mark.NewProcessResponse(function () { throw 'never' });";
    let hooks = json!({"response": [{"name": "mark", "code": code(script)}]});
    let gateway = start(scripted(&upstream).set("custom_middleware", hooks));
    let response = gateway.get("/a/v");
    assert_eq!((response.status, response.header("x-by")), (500, None), "{response}");
    assert!(response.text().contains("Middleware error"), "{response}");
}

/// Recorded from Tyk 5.14.0: scripts that answer name the server and tell no limits; the mock of a document tells those of its key.
#[test]
fn answers_of_scripts_tell_no_limits_and_mocks_tell_those_of_the_key() {
    let upstream = Upstream::ok();
    let gateway =
        start(scripted(&upstream).with_keys().set("custom_middleware", json!({"driver": "otto", "post": [answering("late")]})));
    let mock = json!({"getThing": {"mockResponse": {"enabled": true, "code": 200, "body": "mocked", "contentType": "text/plain"}}});
    let mut document = extended(document("m", &upstream.url()), "middleware/operations", mock);
    document["security"] = json!([{"key": []}]);
    document["components"] = json!({"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "Authorization"}}});
    let authentication = json!({"enabled": true, "securitySchemes": {"key": {"enabled": true}}});
    gateway.write_file("m-oas.json", extended(document, "server/authentication", authentication).to_string());
    gateway.reload();
    let key = create(&gateway, &session_for(&["a", "m"], json!({"quota_max": 5, "quota_renewal_rate": 3600})));
    let told = |path: &str| {
        let response = call(&gateway, path, &key);
        let header = |name: &str| response.header(name).unwrap_or("-").to_owned();
        (response.status, header("server"), header("x-ratelimit-limit"), header("x-ratelimit-remaining"))
    };
    let expect = |status: u16, server: &str, limit: &str, remaining: &str| {
        (status, server.to_owned(), limit.to_owned(), remaining.to_owned())
    };
    assert_eq!(told("/a/v"), expect(200, "tyk", "0", "0"));
    assert_eq!(told("/a/x?by=late"), expect(201, "tyk", "0", "0"));
    assert_eq!(told("/m/things/5"), expect(200, "-", "5", "2"), "{}", gateway.log());
    assert_eq!(told("/m/things/5"), expect(200, "-", "5", "1"));
}

/// Recorded from Tyk 5.14.0.
#[test]
fn an_api_without_a_target_serves_what_needs_none() {
    let other = Upstream::ok();
    let script = "function v(request, session, config) { return TykJsResponse({Body: 'v', Code: 219}, session.meta_data); }";
    let virtual_endpoint = json!([{
        "response_function_name": "v", "function_source_type": "blob", "function_source_uri": code(script), "path": "/virtual", "method": "GET"
    }]);
    let away = json!([{"path": "/away", "method": "GET", "match_pattern": ".*", "rewrite_to": format!("{}/there", other.url())}]);
    let definition = api("a", "/a/", "")
        .list("mock_response", json!([{"path": "/mock", "method": "GET", "code": 218, "body": "m"}]))
        .list("virtual", virtual_endpoint)
        .list("url_rewrites", away);
    let gateway = Gateway::start(json!({"enable_jsvm": true}), [definition]);
    for (target, status) in [("/a/mock", 218), ("/a/virtual", 219), ("/a/away", 200), ("/a/other", 500), ("/a/", 500)] {
        assert_eq!(gateway.get(target).status, status, "{target}");
    }
    assert_eq!(other.take_targets(), ["/there"]);
    assert!(gateway.log().contains("$.proxy.target_url: warning: is empty"), "{}", gateway.log());
}
