//! Plugins in JavaScript: what they see and change, and what a bad one cannot do. Names and wordings are those of Tyk's `mw_js_plugin.go` and
//! `mw_js_plugin_response.go`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::harness::keys::{call, create, keyed, session, with_key};
use super::harness::scripts::{Scripts, middleware, with_hooks};
use super::harness::{Definition, Gateway, Response, Setup, Upstream, api, error_json, reply, request, settled};

const FAILED: &str = "Middleware error";

fn start(definitions: impl IntoIterator<Item = Definition>) -> Gateway {
    Gateway::start(json!({"enable_jsvm": true, "jsvm_timeout": 3}), definitions)
}

fn refusal(response: &Response) -> (u16, String) {
    (response.status, response.text())
}

#[test]
fn a_hook_sees_and_changes_the_request() {
    let upstream = Upstream::ok();
    let scripts = Scripts::new();
    let body = r#"
        request.SetHeaders["X-Seen"] = JSON.stringify([
            request.Headers["X-In"], request.Headers["Host"], request.Body, request.URL, request.Params, request.Method, request.RequestURI,
            request.Scheme, request.ReturnOverrides.ResponseCode, session.rate, config.config_data.colour, config.APIID, config.OrgID
        ]);
        request.SetHeaders["X-Replaced"] = "new";
        request.DeleteHeaders.push("X-Removed");
        request.AddParams["added"] = "my teapot";
        request.ExtendedParams["more"] = ["1", "2"];
        request.DeleteParams.push("gone");
        request.Body = request.Body + " and more";
        return pre.ReturnData(request, {});"#;
    let definition =
        with_hooks(api("a", "/a/", &upstream.url()), json!({"driver": "otto", "pre": [scripts.on_request("pre", body)]}))
            .set("config_data", json!({"colour": "blue"}))
            .set("org_id", "org");
    let gateway = start([definition]);
    let lines = ["X-In: one", "X-In: two", "X-Removed: r", "X-Replaced: old"];
    let response = gateway.send(request("POST", "/a/x?gone=1&kept=ü".replace('ü', "%C3%BC").as_str(), &lines, "body"));
    assert_eq!(response.status, 200, "{response} {}", gateway.log());
    let seen = upstream.last();
    let told: Value = serde_json::from_str(seen.header("x-seen").unwrap()).unwrap();
    let uri = "/a/x?gone=1&kept=%C3%BC";
    let params = json!({"gone": ["1"], "kept": ["ü"]});
    assert_eq!(told, json!([["one", "two"], ["gateway.test"], "body", uri, params, "POST", uri, "http", 0, 0, "blue", "a", "org"]));
    assert_eq!((seen.header("x-replaced"), seen.header("x-removed")), (Some("new"), None));
    assert_eq!((seen.target.as_str(), seen.text().as_str()), ("/x?added=my+teapot&kept=%C3%BC&more=1&more=2", "body and more"));
}

#[test]
fn a_hook_ends_a_request_or_rewrites_its_url() {
    let upstream = Upstream::ok();
    let scripts = Scripts::new();
    let body = r#"
        var overrides = request.ReturnOverrides;
        if (request.Params.error) {
            overrides.ResponseCode = 403; overrides.ResponseError = "not you"; overrides.ResponseHeaders = {"X-Why": "script"};
        }
        if (request.Params.answer) {
            overrides.ResponseCode = 200; overrides.ResponseBody = "from the script"; overrides.ResponseHeaders = {"X-Why": "answer"};
        }
        if (request.Params.own) {
            overrides.ResponseCode = 500; overrides.ResponseBody = "own error"; overrides.OverrideError = true;
        }
        if (request.Params.url) request.URL = "/a/rewritten?b=c";
        if (request.Params.ignore) { request.Body = "lost"; request.IgnoreBody = true; }
        return pre.ReturnData(request, {});"#;
    let gateway = start([with_hooks(api("a", "/a/", &upstream.url()), json!({"pre": [scripts.on_request("pre", body)]}))]);
    let response = gateway.get("/a/x?error=1");
    assert_eq!((refusal(&response), response.header("x-why")), ((403, error_json("not you")), Some("script")));
    let response = gateway.get("/a/x?answer=1");
    assert_eq!((refusal(&response), response.header("x-why")), ((200, "from the script".to_owned()), Some("answer")));
    assert_eq!(refusal(&gateway.get("/a/x?own=1")), (500, "own error".to_owned()));
    assert_eq!(upstream.requests(), 0);
    gateway.get("/a/x?url=1");
    assert_eq!(upstream.last().target, "/rewritten?b=c");
    gateway.send(request("POST", "/a/x?ignore=1", &[], "kept"));
    assert_eq!(upstream.last().text(), "kept");
    // Bytes that are not text pass unchanged if the script leaves them alone.
    let mut bytes = b"POST /a/x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n".to_vec();
    bytes.extend_from_slice(&[0xff, 0x00, 0xfe]);
    assert_eq!(gateway.send(bytes).status, 200);
    assert_eq!(upstream.last().body, [0xff, 0x00, 0xfe]);
}

#[test]
fn hooks_after_authentication_see_the_session_and_change_its_meta_data() {
    let upstream = Upstream::ok();
    let scripts = Scripts::new();
    let first = r#"
        session.meta_data.first = "seen " + session.meta_data.given + session.rate;
        return first.ReturnData(request, session.meta_data);"#;
    let second = r#"
        request.SetHeaders["X-Meta"] = JSON.stringify([session.meta_data, session.rate]);
        return second.ReturnData(request, session.meta_data);"#;
    let blind = r#"
        request.SetHeaders["X-Blind"] = JSON.stringify([session.meta_data, session.rate]);
        return blind.ReturnData(request, {});"#;
    let sees = |hook: Value| {
        let mut hook = hook;
        hook["require_session"] = json!(true);
        hook
    };
    let hooks = json!({
        "driver": "otto",
        "post_key_auth": [sees(scripts.on_request("first", first))],
        "post": [sees(scripts.on_request("second", second)), scripts.on_request("blind", blind)],
    });
    let gateway = start([with_hooks(keyed("a", &upstream), hooks)]);
    let key = create(&gateway, &session(json!({"rate": 50, "per": 1, "meta_data": {"given": "g"}})));
    assert_eq!(gateway.send(with_key("/a/x", &key)).status, 200, "{}", gateway.log());
    let seen = upstream.last();
    let meta: Value = serde_json::from_str(seen.header("x-meta").unwrap()).unwrap();
    assert_eq!(meta, json!([{"given": "g", "first": "seen g50"}, 50]));
    assert!(!seen.header("x-blind").unwrap().contains("50"), "{:?}", seen.header("x-blind"));
    // As in Tyk, the change is stored.
    let stored = || gateway.control("GET", &format!("/tyk/keys/{key}"), "").json();
    settled("the changed meta_data is stored", || stored()["meta_data"] == json!({"given": "g", "first": "seen g50"}));
    assert_eq!(stored()["rate"], 50);
}

#[test]
fn hooks_see_the_urls_that_a_key_may_call() {
    let upstream = Upstream::ok();
    let scripts = Scripts::new();
    let body = r#"
        request.SetHeaders["X-Rights"] = JSON.stringify(session.access_rights.a.allowed_urls);
        return rights.ReturnData(request, session.meta_data);"#;
    let mut hook = scripts.on_request("rights", body);
    hook["require_session"] = json!(true);
    let gateway = start([with_hooks(keyed("a", &upstream), json!({"driver": "otto", "post": [hook]}))]);
    let urls = json!([{"url": "/x/[0-9]+$", "methods": ["GET", "POST"]}, {"url": "/y", "methods": ["GET"]}]);
    let rights = json!({"access_rights": {"a": {"allowed_urls": urls}}});
    let key = create(&gateway, &session(rights));
    assert_eq!(gateway.send(with_key("/a/x/12", &key)).status, 200, "{}", gateway.log());
    let seen: Value = serde_json::from_str(upstream.last().header("x-rights").unwrap()).unwrap();
    assert_eq!(seen, urls);
}

#[test]
fn a_script_identifies_callers() {
    let upstream = Upstream::ok();
    let scripts = Scripts::new();
    // Tyk's own example, with the token in a header.
    let body = r#"
        var token = request.Headers["Authorization"];
        if (token == undefined) {
            request.ReturnOverrides.ResponseCode = 401;
            request.ReturnOverrides.ResponseError = "Header missing (JS middleware)";
            return auth.ReturnData(request, {});
        }
        if (token == "nobody") return auth.ReturnData(request, {});
        if (token != "foobar") {
            request.ReturnOverrides.ResponseCode = 401;
            request.ReturnOverrides.ResponseError = "Not authorized (JS middleware)";
            return auth.ReturnData(request, {});
        }
        var answer = auth.ReturnAuthData(request, {rate: 2, per: 60, quota_max: -1, access_rights: {}});
        answer.AuthValue = "foobar";
        return answer;"#;
    let definition = api("a", "/a/", &upstream.url()).set("use_keyless", false).set("custom_plugin_auth_enabled", true);
    let gateway = start([with_hooks(definition, json!({"driver": "otto", "auth_check": scripts.on_request("auth", body)}))]);
    assert_eq!(refusal(&gateway.get("/a/x")), (401, error_json("Header missing (JS middleware)")));
    assert_eq!(refusal(&call(&gateway, "/a/x", "wrong")), (401, error_json("Not authorized (JS middleware)")));
    // A script that names nobody lets nobody in.
    assert_eq!(call(&gateway, "/a/x", "nobody").status, 403);
    assert_eq!(upstream.requests(), 0);
    // The session's limits apply.
    let statuses = [(); 3].map(|()| call(&gateway, "/a/x", "foobar").status);
    assert_eq!(statuses, [200, 200, 429], "{}", gateway.log());
}

#[test]
fn a_hook_changes_responses() {
    let upstream = Upstream::start(|seen| match seen.target.as_str() {
        "/binary" => [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Old: o\r\n\r\n".as_slice(), &[0xff, 0xfe]].concat(),
        _ => reply("201 Created", &["X-Old: o", "X-Old: p", "X-Gone: g"], "answer"),
    });
    let scripts = Scripts::new();
    let body = r#"
        response.SetHeaders["X-Seen"] = JSON.stringify([response.StatusCode, response.Headers["X-Old"], request.URL, config.APIID]);
        response.DeleteHeaders.push("X-Gone");
        if (response.Body === "answer") { response.Body = response.Body.toUpperCase(); response.StatusCode = 299; }
        return late.ReturnResponseData(response, {});"#;
    let hook = scripts.hook("late", &middleware("late", "NewProcessResponse", "response, request, session, config", body));
    let gateway = start([with_hooks(api("a", "/a/", &upstream.url()), json!({"driver": "goja", "response": [hook]}))]);
    let response = gateway.get("/a/x?y=1");
    assert_eq!((response.status, response.text().as_str(), response.header("x-gone")), (299, "ANSWER", None), "{}", gateway.log());
    let seen: Value = serde_json::from_str(response.header("x-seen").unwrap()).unwrap();
    assert_eq!((&seen[0], &seen[1], &seen[3]), (&json!(201), &json!(["o", "p"]), &json!("a")));
    let response = gateway.get("/a/binary");
    assert_eq!((response.status, response.body.as_slice()), (200, [0xff, 0xfe].as_slice()));
}

#[test]
fn each_driver_has_its_scope() {
    let upstream = Upstream::ok();
    let scripts = Scripts::new();
    let adds =
        |header: &str| format!("request.SetHeaders['{header}'] = '' + typeof shared; return handler.ReturnData(request, {{}});");
    let of = |file: &str, header: &str| {
        let code = middleware("handler", "NewProcessRequest", "request", &adds(header));
        let hook = scripts.hook(file, &format!("{code} var shared{} = 1;", if header == "X-One" { "" } else { "_other" }));
        json!({"name": "handler", "path": hook["path"]})
    };
    let hooks = |driver: &str| json!({"driver": driver, "pre": [of("one", "X-One"), of("two", "X-Two")]});
    let inline = json!({"driver": "javascript", "pre": [{
        "name": "handler", "code": STANDARD.encode(middleware("handler", "NewProcessRequest", "request", &adds("X-Code")))
    }]});
    let apis = ["otto", "goja", "javascript"]
        .map(|driver| with_hooks(api(driver, &format!("/{driver}/"), &upstream.url()), hooks(driver)));
    let gateway = start(apis.into_iter().chain([with_hooks(api("code", "/code/", &upstream.url()), inline)]));
    let told = |target: &str| {
        assert_eq!(gateway.get(target).status, 200, "{target} {}", gateway.log());
        let seen = upstream.last();
        ["x-one", "x-two", "x-code"].map(|name| seen.header(name).map(str::to_owned))
    };
    let text = |text: &str| Some(text.to_owned());
    // As with one engine of otto, the last handler with a name is that of both hooks.
    assert_eq!(told("/otto/x"), [None, text("number"), None]);
    for driver in ["goja", "javascript"] {
        assert_eq!(told(&format!("/{driver}/x")), [text("number"), text("undefined"), None]);
    }
    assert_eq!(told("/code/x"), [None, None, text("undefined")]);
}

#[test]
fn an_api_whose_plugins_cannot_be_loaded_refuses_every_request() {
    let upstream = Upstream::ok();
    let scripts = Scripts::new();
    let good = scripts.on_request("good", "return good.ReturnData(request, {})");
    let renamed = json!({"name": "other", "path": good["path"]});
    for (hook, expected) in [
        (json!({"name": "f", "path": std::env::temp_dir().join("nowhere/f.js")}), "/nowhere/f.js: No such file"),
        (json!({"name": "f", "path": "f.txt"}), "extension .js"),
        (renamed, "defines no other"),
        (scripts.hook("broken", "function ( {"), "SyntaxError"),
    ] {
        let definition = with_hooks(api("a", "/a/", &upstream.url()), json!({"pre": [hook]}));
        let gateway = Setup::new(json!({"enable_jsvm": true})).api(definition).api(api("b", "/b/", &upstream.url())).start();
        assert_eq!((refusal(&gateway.get("/a/x")), gateway.get("/b/x").status), ((500, error_json(FAILED)), 200), "{expected}");
        assert!(gateway.log().contains(expected), "{expected}: {}", gateway.log());
    }
    let definition = with_hooks(api("a", "/a/", &upstream.url()), json!({"pre": [good]}));
    let gateway = Gateway::start(json!({}), [definition]);
    assert_eq!(gateway.get("/a/x").status, 500, "without enable_jsvm");
    assert!(gateway.log().contains("enable_jsvm"), "{}", gateway.log());
}

/// The cache must know the request that the upstream would receive, so the hooks run before it looks for a response.
#[test]
fn what_the_last_hooks_make_of_a_request_is_what_a_cache_knows_it_by() {
    let upstream = Upstream::start(|seen| {
        let tenant = seen.header("x-tenant").unwrap_or("none");
        reply("200 OK", &["Cache-Control: max-age=600", "Vary: X-Tenant"], tenant)
    });
    let scripts = Scripts::new();
    // The value comes from a header that nothing is keyed by.
    let body = r#"
        var from = request.Headers["X-From"];
        if (from) { request.SetHeaders["X-Tenant"] = from[0]; }
        return middleware.ReturnData(request, session.meta_data);"#;
    let hooks = || json!({"driver": "otto", "post": [scripts.on_request("middleware", body)]});
    let tyk =
        json!({"enable_cache": true, "cache_timeout": 600, "cache_all_safe_requests": true, "cache_by_headers": ["X-Tenant"]});
    for (path, cache) in
        [("tollgate", json!({"cache": {}})), ("tollgate", json!({"cache": {"by_headers": ["X-Tenant"]}})), ("cache_options", tyk)]
    {
        let gateway = start([with_hooks(api("a", "/a/", &upstream.url()).set(path, cache), hooks())]);
        let before = upstream.requests();
        for (line, expect, asked) in [
            ("X-From: acme", "acme", 1),
            ("X-From: other", "other", 2),
            ("X-Tenant: acme", "acme", 2),
            ("X-Other: 1", "none", 3),
            ("X-From: acme", "acme", 3),
        ] {
            let answer = gateway.send(request("GET", "/a/x", &[line], ""));
            assert_eq!((answer.status, answer.text().as_str()), (200, expect), "{path} {line}");
            assert_eq!(upstream.requests() - before, asked, "{path} {line}");
        }
    }
}

/// A line that a plugin has added leaves, although the client's Connection names it.
#[test]
fn a_clients_connection_line_does_not_remove_what_a_plugin_adds() {
    let upstream =
        Upstream::start(|seen| reply("200 OK", &["Cache-Control: max-age=600"], seen.header("x-tenant").unwrap_or("none")));
    let scripts = Scripts::new();
    let body = r#"
        request.SetHeaders["X-Tenant"] = request.Headers["X-From"][0];
        return adder.ReturnData(request, session.meta_data);"#;
    let hooks = json!({"driver": "otto", "pre": [scripts.on_request("adder", body)]});
    let cache = json!({"cache": {"by_headers": ["X-Tenant"]}});
    let gateway = start([with_hooks(api("a", "/a/", &upstream.url()).set("tollgate", cache), hooks)]);
    for from in ["acme", "other", "acme"] {
        let lines = [&format!("X-From: {from}"), "Connection: X-Tenant", "X-Tenant: forged"];
        assert_eq!(gateway.send(request("GET", "/a/x", &lines, "")).text(), from);
    }
    assert_eq!(upstream.requests(), 2);
}
