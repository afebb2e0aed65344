//! Keys of MCP proxies: what they may call and how often, what the control API refuses, and what records say of calls. Words and statuses are
//! those of Tyk 5.14.

use std::fs;

use serde_json::{Value, json};

use crate::analytics::tracked;
use crate::harness::{Gateway, Response, Setup, Upstream, eventually, ok, reply, request};
use crate::keys::{refused, told};

/// A gateway with the MCP proxy `mcp` and the API `web`; `conf` is laid over its configuration.
fn start(conf: Value) -> (Gateway, Upstream) {
    let upstream = Upstream::start(|_| ok());
    let proxy = tracked("mcp", "/mcp/", &upstream).with_keys().set("application_protocol", "mcp").set("json_rpc_version", "2.0");
    (Setup::new(conf).api(proxy).api(tracked("web", "/web/", &upstream).with_keys()).start(), upstream)
}

fn session(api: &str, right: Value) -> Value {
    let mut right = right;
    right["api_id"] = json!(api);
    json!({"org_id": "default", "rate": 9, "per": 3600, "quota_max": -1, "access_rights": {api: right}})
}

fn put(gateway: &Gateway, key: &str, session: &Value) {
    let answer = gateway.control("POST", &format!("/tyk/keys/{key}"), &session.to_string());
    assert_eq!(answer.status, 200, "{answer}");
}

fn call(gateway: &Gateway, key: &str, method: &str, params: Value) -> Response {
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string();
    let lines = [format!("Authorization: {key}"), "Content-Type: application/json".to_owned()];
    gateway.send(request("POST", "/mcp/", &[&lines[0], &lines[1]], &body))
}

fn tool(gateway: &Gateway, key: &str, name: &str) -> Response {
    call(gateway, key, "tools/call", json!({"name": name}))
}

fn limit(name: &str, rate: i64) -> Value {
    json!({"type": "tool", "name": name, "limit": {"rate": rate, "per": 3600}})
}

#[test]
fn fields_that_do_not_fit_the_api_are_refused_as_in_tyk() {
    let policies = tempfile::tempdir().unwrap();
    let (gateway, _upstream) = start(json!({"policies": {"policy_source": "file", "policy_path": policies.path()}}));
    let calls = json!({"mcp_access_rights": {"tools": {"allowed": ["a"]}}});
    let urls = json!({"allowed_urls": [{"url": "/a", "methods": ["GET"]}]});
    let unknown = json!({"mcp_primitives": [{"type": "bad", "name": "x"}]});
    let no_proxy = r#"MCP fields can only be configured on MCP Proxies, API "web" is not an MCP Proxy"#;
    let proxy = r#"HTTP/REST and GraphQL fields cannot be configured on MCP Proxies, API "mcp" is an MCP Proxy"#;
    let bad = r#"invalid MCP primitive type "bad": must be one of tool, resource, prompt"#;
    let empty = json!({"mcp_access_rights": {"tools": {"allowed": []}}, "json_rpc_methods": []});
    for (api, right, expect) in [
        ("web", &calls, Some(no_proxy)),
        ("web", &unknown, Some(no_proxy)),
        ("web", &urls, None),
        ("web", &empty, None),
        ("mcp", &calls, None),
        ("mcp", &urls, Some(proxy)),
        ("mcp", &json!({"disable_introspection": true}), Some(proxy)),
        ("mcp", &unknown, Some(bad)),
        ("unserved", &unknown, None),
        ("unserved", &urls, None),
    ] {
        let session = session(api, right.clone());
        let policy = json!({"id": "p", "org_id": "default", "access_rights": session["access_rights"]});
        for (method, path, body) in
            [("POST", "/tyk/keys/caller", &session), ("POST", "/tyk/keys/create", &session), ("POST", "/tyk/policies", &policy)]
        {
            let answer = gateway.control(method, path, &body.to_string());
            match expect {
                Some(message) => assert_eq!(told(&answer), (400, refused(message)), "{path} {api} {right}"),
                None => assert_eq!(answer.status, 200, "{path} {api} {right}: {answer}"),
            }
        }
    }
    put(&gateway, "caller", &session("mcp", calls));
    for method in ["PUT", "PATCH"] {
        let answer = gateway.control(method, "/tyk/keys/caller?org_id=default", &session("mcp", unknown.clone()).to_string());
        assert_eq!(told(&answer), (400, refused(bad)), "{method}");
    }
}

#[test]
fn a_call_counts_for_its_key_its_method_and_its_tool() {
    let (gateway, upstream) = start(json!({"rate_limit_response_headers": "rate_limits"}));
    put(
        &gateway,
        "caller",
        &session("mcp", json!({"json_rpc_methods": [limit("tools/call", 3)], "mcp_primitives": [limit("add", 2)]})),
    );
    let left = |response: &Response| response.header("x-ratelimit-remaining").map(str::to_owned);
    // The limit with the least room is told.
    for (name, status, expect) in [("add", 200, "1"), ("add", 200, "0"), ("add", 429, "0"), ("echo", 200, "0"), ("echo", 429, "0")]
    {
        let response = tool(&gateway, "caller", name);
        assert_eq!((response.status, left(&response).as_deref()), (status, Some(expect)), "{name}: {response}");
    }
    // Three calls have counted for the key, once each.
    let response = call(&gateway, "caller", "ping", json!({}));
    assert_eq!((response.status, left(&response).as_deref()), (200, Some("5")));
    assert_eq!(upstream.requests(), 4);
}

#[test]
fn records_say_what_was_called_also_of_what_was_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (log, records) = (directory.path().join("access.log"), directory.path().join("records.log"));
    let (gateway, _upstream) = start(json!({
        "enable_analytics": true, "access_logs": {"enabled": true}, "log_format": "json",
        "tollgate": {"threads": 1, "access_log": {"file": log}, "analytics": {"file": records, "usage": false}}
    }));
    put(&gateway, "caller", &session("mcp", json!({"mcp_access_rights": {"tools": {"blocked": ["secret"]}}})));
    assert_eq!(tool(&gateway, "caller", "echo").status, 200);
    assert_eq!(call(&gateway, "caller", "ping", json!({})).status, 200);
    assert_eq!(tool(&gateway, "caller", "secret").status, 403);
    assert_eq!(tool(&gateway, "nobody", &"n".repeat(300)).status, 403);
    assert_eq!(gateway.send(request("POST", "/mcp/", &["Content-Type: application/json"], "{nope")).status, 400);
    assert_eq!(gateway.send(request("GET", "/web/", &["Authorization: nobody"], "")).status, 403);

    let lines = |path| -> Vec<Value> {
        let text = fs::read_to_string(path).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    eventually("all are written", || lines(&log).len() == 6 && lines(&records).len() == 6);
    let cut = "n".repeat(256);
    let expect = [
        json!(["mcp", "tools/call", "tool", "echo", null]),
        json!(["mcp", "ping", null, "ping", null]),
        json!(["mcp", "tools/call", "tool", "secret", -32002]),
        json!(["mcp", "tools/call", "tool", cut, -32002]),
        json!(["mcp", null, null, null, -32700]),
        json!(["classic", null, null, null, null]),
    ];
    for (line, expect) in lines(&log).iter().zip(&expect) {
        let names = ["api_type", "mcp_method", "mcp_primitive_type", "mcp_primitive_name", "mcp_error_code"];
        assert_eq!(&json!(names.map(|name| line[name].clone())), expect);
    }
    let stats = |method: &str, kind: &str, name: &str| json!({"is_mcp": true, "jsonrpc_method": method, "primitive_type": kind, "primitive_name": name});
    let expect = [
        stats("tools/call", "tool", "echo"),
        stats("ping", "", "ping"),
        stats("tools/call", "tool", "secret"),
        stats("tools/call", "tool", &cut),
        stats("", "", ""),
        Value::Null,
    ];
    for (record, expect) in lines(&records).iter().zip(&expect) {
        assert_eq!(&record["mcp_stats"], expect);
    }
    let tail = gateway.control("GET", "/tyk/tail", "").json();
    let told: Vec<Value> = tail["entries"].as_array().unwrap().iter().map(|entry| entry["mcp_primitive_name"].clone()).collect();
    assert!(told.contains(&json!("secret")) && told.contains(&json!(cut)), "{tail}");
}

#[test]
fn tasks_pass_a_proxy_and_are_no_way_around_what_a_key_may_call() {
    let upstream = Upstream::start(|seen| {
        let asked: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
        let task = json!({"taskId": "t-1", "status": "working", "createdAt": "2025-11-25T10:30:00Z", "ttl": 60000});
        let result = match asked["method"].as_str().unwrap_or_default() {
            "tools/list" => {
                let tools = ["slow", "secret"].map(|name| json!({"name": name, "execution": {"taskSupport": "required"}}));
                json!({"tools": tools})
            }
            "tools/call" => json!({"task": task}),
            "tasks/result" => json!({"content": [{"type": "text", "text": "done"}]}),
            _ => task,
        };
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
        reply("200 OK", &["Content-Type: application/json"], &answer.to_string())
    });
    let proxy = tracked("mcp", "/mcp/", &upstream).with_keys().set("application_protocol", "mcp").set("json_rpc_version", "2.0");
    let gateway = Setup::new(json!({})).api(proxy).start();
    put(&gateway, "caller", &session("mcp", json!({"mcp_access_rights": {"tools": {"allowed": ["slow"]}}})));
    let listed = call(&gateway, "caller", "tools/list", json!({})).json();
    assert_eq!(listed["result"]["tools"], json!([{"name": "slow", "execution": {"taskSupport": "required"}}]));
    let params = json!({"name": "slow", "arguments": {}, "task": {"ttl": 60000}});
    assert_eq!(call(&gateway, "caller", "tools/call", params.clone()).json()["result"]["task"]["taskId"], "t-1");
    assert_eq!(serde_json::from_slice::<Value>(&upstream.last().body).unwrap()["params"], params);
    for method in ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel"] {
        let answer = call(&gateway, "caller", method, json!({"taskId": "t-1"}));
        assert!(answer.status == 200 && answer.json()["result"].is_object(), "{method}: {answer}");
        assert_eq!(serde_json::from_slice::<Value>(&upstream.last().body).unwrap()["params"]["taskId"], "t-1", "{method}");
    }
    let before = upstream.requests();
    let refused = call(&gateway, "caller", "tools/call", json!({"name": "secret", "task": {"ttl": 60000}}));
    assert!(refused.status == 403 && upstream.requests() == before, "{refused}");
}
