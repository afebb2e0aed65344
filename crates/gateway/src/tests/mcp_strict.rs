//! Requests to MCP proxies that are written so that no rule should see them, and answers that are written so that no filter should.

use serde_json::{Value, json};

use super::harness::mcp::{JSON, NOW, call, federation, modern};
use super::harness::{Definition, Gateway, Response, Upstream, api, ok, reply, request};

/// An MCP proxy that blocks the tool `drop` and all secrets.
fn ruled(upstream: &Upstream) -> Definition {
    let blocked =
        json!([{"path": "^/mcp-tool:drop$", "method": "POST"}, {"path": "^/mcp-resource:file:///secrets/.*$", "method": "POST"}]);
    api("ruled", "/ruled/", &upstream.url()).set("application_protocol", "mcp").list("black_list", blocked)
}

/// An MCP proxy without rules, for keys.
fn keyed(upstream: &Upstream) -> Definition {
    api("keyed", "/keyed/", &upstream.url()).set("application_protocol", "mcp").with_keys()
}

fn put(gateway: &Gateway, key: &str, right: Value) {
    let mut right = right;
    right["api_id"] = json!("keyed");
    let session = json!({"org_id": "default", "rate": 1000, "per": 1, "quota_max": -1, "access_rights": {"keyed": right}});
    let answer = gateway.control("POST", &format!("/tyk/keys/{key}"), &session.to_string());
    assert_eq!(answer.status, 200, "{answer}");
}

const PLAIN: &str = "Content-Type: text/plain";

#[test]
fn what_is_no_call_passes_no_rules() {
    let upstream = Upstream::start(|_| ok());
    let conf = json!({"http_server_options": {"enable_websockets": true}});
    let gateway = Gateway::start(conf, [ruled(&upstream), keyed(&upstream)]);
    put(&gateway, "free", json!({}));
    put(&gateway, "bound", json!({"mcp_access_rights": {"tools": {"blocked": ["drop"]}}}));
    put(&gateway, "limited", json!({"mcp_primitives": [{"type": "tool", "name": "drop", "limit": {"rate": 1, "per": 3600}}]}));
    let drop = call("tools/call", json!({"name": "drop"}));
    let ask = |path: &str, key: &str, method: &str, lines: &[&str]| -> Response {
        let key = format!("Authorization: {key}");
        gateway.send(request(method, path, &[&[key.as_str()], lines].concat(), &drop))
    };
    let unread: &[(&str, &[&str], u16)] = &[
        ("POST", &[PLAIN], 415),
        ("POST", &[], 415),
        ("POST", &["Content-Type: application/vnd.api+json"], 415),
        ("POST", &["Content-Type: application/json; charset=utf-7"], 415),
        ("post", &[JSON], 405),
        ("PUT", &[JSON], 405),
        ("GET", &[JSON], 405),
    ];
    for (method, lines, status) in unread {
        for (path, key) in [("/ruled/", "none"), ("/keyed/", "bound"), ("/keyed/", "limited")] {
            let answer = ask(path, key, method, lines);
            let error = json!({"jsonrpc": "2.0", "id": null, "error": {
                "code": if *status == 405 { -32600 } else { -32000 },
                "message": if *status == 405 { "calls are sent with POST" } else { "calls are JSON" },
                "data": {"http_code": status}}});
            assert_eq!((answer.status, answer.json()), (*status, error), "{path} {key} {method} {lines:?}");
        }
    }
    for lines in [&[PLAIN, JSON], &[JSON, PLAIN], &[JSON, JSON]] {
        for (path, key) in [("/ruled/", "none"), ("/keyed/", "free")] {
            assert_eq!(ask(path, key, "POST", lines).status, 400, "{path} {lines:?}");
        }
    }
    for kind in ["Application/JSON", "application/json; charset=UTF-8", "application/jsonx"] {
        assert_eq!(ask("/ruled/", "none", "POST", &[&format!("Content-Type: {kind}")]).status, 403, "{kind}");
    }
    assert_eq!(upstream.requests(), 0);
    for (method, lines, _) in unread {
        assert_eq!(ask("/keyed/", "free", method, lines).status, 200, "as in Tyk: {method} {lines:?}");
    }
    // What has no body passes, and a tunnel is not opened.
    let upgrade =
        ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="];
    assert_eq!(gateway.send(request("GET", "/ruled/", &upgrade, "")).status, 200);
    assert_eq!(upstream.last().header("Upgrade"), None);
    assert_eq!(gateway.send(request("DELETE", "/ruled/", &["Content-Length: 0"], "")).status, 200);
}

#[test]
fn no_spelling_of_a_name_passes_a_rule() {
    let upstream = Upstream::start(|_| ok());
    let limit = json!([{"path": "^/mcp-resource:file:///one$", "method": "POST", "rate": 1, "per": 3600}]);
    let limited = api("limited", "/limited/", &upstream.url()).set("application_protocol", "mcp").list("rate_limit", limit);
    let gateway = Gateway::start(json!({}), [ruled(&upstream), keyed(&upstream), limited]);
    put(
        &gateway,
        "public",
        json!({"mcp_access_rights": {"resources": {"allowed": ["file:///pub/.*"]}, "tools": {"allowed": ["echo"]}}}),
    );
    let read = |path: &str, uri: &str| {
        gateway.send(request("POST", path, &[JSON, "Authorization: public"], &call("resources/read", json!({"uri": uri}))))
    };
    let spelled = [
        ("file:///secrets/x", 403),
        ("FILE:///secrets/x", 403),
        ("file:/secrets/x", 403),
        ("file:////secrets/x", 403),
        ("file:///pub/../secrets/x", 403),
        ("file:///pub/%2e%2E/secrets/x", 403),
        ("file:///%73ecrets/x", 403),
        ("file://localhost/secrets/x", 403),
        ("file:///pub/..%2fsecrets/x", 400),
        (" file:///secrets/x", 400),
        ("file:///sec\trets/x", 400),
        ("file:///secrets\\x", 400),
    ];
    for (uri, status) in spelled {
        for path in ["/ruled/", "/keyed/"] {
            let answer = read(path, uri);
            assert_eq!((answer.status, &answer.json()["id"]), (status, &json!(1)), "{path} {uri}: {answer}");
        }
    }
    for tool in ["drop\n", "drop\0", "echo\u{85}"] {
        for path in ["/ruled/", "/keyed/"] {
            let body = call("tools/call", json!({"name": tool}));
            assert_eq!(gateway.send(request("POST", path, &[JSON, "Authorization: public"], &body)).status, 400, "{path} {tool:?}");
        }
    }
    assert_eq!(upstream.requests(), 0);
    for uri in ["file:///pub/x", "file:///pub/my file", "file:///pub/../pub/x", "file:///pub/a?b#c"] {
        assert_eq!((read("/ruled/", uri).status, read("/keyed/", uri).status), (200, 200), "{uri}");
    }
    assert_eq!(["file:///one", "FILE:///one", "file:///a/../one"].map(|uri| read("/limited/", uri).status), [200, 429, 429]);
}

#[test]
fn an_answer_that_cannot_be_read_shows_nothing() {
    let list = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "drop"}, {"name": "echo"}]}}).to_string();
    let upstream = Upstream::start(move |seen| {
        let event = |data: &str| format!("data: {data}\n\n");
        let (kind, body): (&str, Vec<u8>) = match seen.header("X-Form").unwrap_or_default() {
            "mark" => ("application/json", format!("\u{feff}{list}").into()),
            "bytes" => ("application/json", list.replace("echo", "\u{1}").bytes().map(|b| if b == 1 { 0xff } else { b }).collect()),
            "utf16" => ("application/json", list.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            "batch" => ("application/json", format!("[{list}]").into()),
            "text" => ("text/plain", "drop".into()),
            "object" => ("application/json", list.replace('[', "{\"a\":").replace("},{", "},\"b\":{").replace("}]", "}}").into()),
            "events" => ("Text/Event-Stream", event(&list).into()),
            "events-mark" => ("text/event-stream", format!("\u{feff}{}", event(&list)).into()),
            "events-late-mark" => ("text/event-stream", format!(": x\n\n\u{feff}event: x\n{}", event(&list)).into()),
            "events-batch" => ("text/event-stream", event(&format!("[{list}]")).into()),
            "events-case" => ("text/event-stream", event(&list.replace("result", "Result")).into()),
            "refusal" => {
                return reply("401 Unauthorized", &["Content-Type: text/plain", "WWW-Authenticate: Bearer"], "who are you");
            }
            _ => ("application/json", list.clone().into()),
        };
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n", body.len());
        [head.into_bytes(), body].concat()
    });
    let gateway = Gateway::start(json!({}), [ruled(&upstream)]);
    let ask = |form: &str| {
        let form = format!("X-Form: {form}");
        let mut wire = gateway.connect();
        wire.send(request("POST", "/ruled/", &[JSON, &form], &call("tools/list", json!({}))));
        wire.try_response("POST").ok()
    };
    for form in ["plain", "mark", "events", "events-mark", "events-late-mark"] {
        let answer = ask(form).unwrap_or_else(|| panic!("{form}"));
        let text = answer.text();
        assert!(answer.status == 200 && text.contains("echo") && !text.contains("drop"), "{form}: {text}");
    }
    for form in ["bytes", "utf16", "batch", "text", "object"] {
        let answer = ask(form).unwrap_or_else(|| panic!("{form}"));
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (500, &json!(-32603)), "{form}: {answer}");
    }
    for form in ["events-batch", "events-case"] {
        // The stream is cut.
        assert!(ask(form).is_none_or(|answer| !answer.text().contains("drop")), "{form}");
    }
    let refusal = ask("refusal").expect("an answer");
    assert_eq!((refusal.status, refusal.text().as_str()), (401, "who are you"));
    assert!(refusal.header("WWW-Authenticate").is_some());
}

#[test]
fn a_federation_serves_only_what_was_decided() {
    let upstream = Upstream::start(|seen| {
        let asked: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
        let Some(id) = asked.get("id") else { return reply("202 Accepted", &[], "") };
        let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
        let result = match asked["method"].as_str().unwrap_or_default() {
            "initialize" => {
                json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}})
            }
            "tools/list" => json!({"tools": [tool("drop"), tool("echo")]}),
            "tools/call" => json!({"content": [{"type": "text", "text": "called"}]}),
            _ => return reply("400 Bad Request", &[], "no session"),
        };
        reply("200 OK", &[JSON], &json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
    });
    let gateway = Gateway::start(json!({}), [federation(json!([{"name": "a", "url": upstream.url()}]))]);
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let begun = gateway.send(request("POST", "/f/", &[JSON], &call("initialize", params)));
    let session = format!("Mcp-Session-Id: {}", begun.header("Mcp-Session-Id").expect("a session"));
    let legacy = |tool: &str| call("tools/call", json!({"name": tool, "arguments": {}}));
    let ask = |lines: &[&str], body: &str| gateway.send(request("POST", "/f/", lines, body));
    assert_eq!(ask(&[JSON, &session], &legacy("echo")).status, 200);
    let before = upstream.requests();
    // What is closed looks as if it did not exist.
    for (closed, unknown) in [(legacy("drop"), legacy("none")), (modern("drop", json!({})), modern("none", json!({})))] {
        let head =
            |name: &'static str| if closed == legacy("drop") { vec![&*session] } else { vec![NOW, "Mcp-Method: tools/call", name] };
        let closed_answer = ask(&[&[JSON][..], &head("Mcp-Name: drop")].concat(), &closed);
        let unknown_answer = ask(&[&[JSON][..], &head("Mcp-Name: none")].concat(), &unknown);
        assert_eq!(closed_answer.json()["error"]["code"], -32602, "{closed_answer}");
        let as_unknown = (unknown_answer.status, unknown_answer.text().replace("none", "drop"));
        assert_eq!((closed_answer.status, closed_answer.text()), as_unknown);
        let lines = ["Content-Type", "X-Generator"];
        assert_eq!(lines.map(|name| closed_answer.header(name)), lines.map(|name| unknown_answer.header(name)));
    }
    for kind in [PLAIN, "X-None: a", "Content-Type: text/json"] {
        for body in [legacy("drop"), legacy("echo"), modern("drop", json!({}))] {
            assert_eq!(ask(&[kind, &session], &body).status, 415, "{kind} {body}");
        }
    }
    // The version stays behind with the line that `Connection` names, but not what was decided by it.
    let head = [JSON, session.as_str(), NOW, "Mcp-Method: ping"];
    for more in [
        &["Connection: close, MCP-Protocol-Version"][..],
        &["Connection: MCP-Protocol-Version, Mcp-Method"],
        &["Connection: MCP-Protocol-Version, X-Tollgate-Caller", "X-Tollgate-Caller: - - 0 - tools/call drop"],
    ] {
        let answer = ask(&[&head[..], more].concat(), &legacy("drop"));
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32020)), "{more:?}: {answer}");
    }
    assert_eq!(upstream.requests(), before);
    let own = ["X-Tollgate-Caller: - - 9 - nonsense"];
    assert_eq!(ask(&[&[JSON, session.as_str()][..], &own].concat(), &legacy("echo")).status, 200, "a client's own line is nothing");
    let head = [JSON, NOW, "Mcp-Method: tools/call", "Mcp-Name: echo"];
    assert_eq!(ask(&[&head[..], &own].concat(), &modern("echo", json!({}))).status, 200);
}
