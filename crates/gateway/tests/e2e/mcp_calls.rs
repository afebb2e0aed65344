//! Calls of MCP proxies, beside a Tyk that was asked the same: statuses, bodies, what servers got.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::harness::{Gateway, Seen, Upstream, reply, request};

/// What a real Tyk answered. `ours` is where we differ, and `why` says in what.
const RECORDED: &str = include_str!("mcp_calls.json");

/// The headers of servers' requests that matter.
const SEEN: [&str; 5] = ["X-Tool", "X-Res", "X-Op", "Authorization", "Mcp-Session-Id"];

/// An MCP server that does what the table needs, and one that issues tokens.
fn server(seen: &Seen) -> Vec<u8> {
    let json = |value: Value| reply("200 OK", &["Content-Type: application/json"], &value.to_string());
    let own = format!("http://{}", seen.header("Host").unwrap_or_default());
    if seen.target.starts_with("/.well-known/oauth-protected-resource") {
        return json(json!({"resource": format!("{own}/mcp"), "authorization_servers": [format!("{own}/as")],
            "bearer_methods_supported": ["header"], "x_custom": 1}));
    }
    if seen.target.starts_with("/.well-known/oauth-authorization-server") {
        return json(json!({"issuer": format!("{own}/as"), "authorization_endpoint": format!("{own}/as/authorize?x=1"),
            "token_endpoint": format!("{own}/as/token"), "registration_endpoint": format!("{own}/as/register")}));
    }
    if seen.target == "/as/token" {
        return json(json!({"access_token": "t"}));
    }
    if let Some(challenge) = seen.header("X-Need-Auth") {
        let line = format!("WWW-Authenticate: {challenge}");
        return reply("401 Unauthorized", &["Content-Type: application/json", &line], "{}");
    }
    if seen.method == "GET" {
        let event = "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n";
        return reply("200 OK", &["Content-Type: text/event-stream"], event);
    }
    let Ok(asked) = serde_json::from_slice::<Value>(&seen.body) else { return json(json!({"not": "parsed"})) };
    let named = |names: &[&str]| names.iter().map(|name| json!({"name": name})).collect::<Vec<_>>();
    let tools = ["echo", "add", "secret_tool", "weather.today"]
        .map(|name| json!({"name": name, "description": format!("d {name}"), "inputSchema": {"type": "object"}}));
    let resources = ["file:///a.txt", "file:///repo/x", "test://one"].map(|uri| json!({"uri": uri, "name": uri}));
    let result = match asked["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"protocolVersion": "2025-11-25", "serverInfo": {"name": "mock", "version": "1"},
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}, "sampling": {}, "logging": {}}}),
        "tools/list" => json!({"tools": tools, "nextCursor": "abc"}),
        "resources/list" => json!({"resources": resources}),
        "resources/templates/list" => json!({"resourceTemplates": [{"uriTemplate": "file:///repo/{path}", "name": "repo"}]}),
        "prompts/list" => json!({"prompts": named(&["hello", "hidden"])}),
        "tools/call" => {
            json!({"content": [{"type": "text", "text": format!("called {}", asked["params"]["name"].as_str().unwrap_or_default())}]})
        }
        _ => json!({}),
    };
    let Some(id) = asked.get("id") else { return b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n".to_vec() };
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
    match seen.header("X-Sse") {
        None => json(answer),
        Some(_) => {
            let events = format!("id: 7\nevent: message\nretry: 10\ndata: {answer}\n\n: comment\n\nevent: other\ndata: x\n\n");
            reply("200 OK", &["Content-Type: text/event-stream"], &events)
        }
    }
}

/// A body as what it means: JSON, events with lines in any order, or a text.
fn meaning(body: &str) -> Value {
    if let Ok(value) = serde_json::from_str(body) {
        return value;
    }
    if !body.contains("data:") {
        return json!(body.trim());
    }
    let event = |event: &str| {
        let (data, mut others): (Vec<&str>, Vec<&str>) = event.lines().partition(|line| line.starts_with("data:"));
        others.sort_unstable();
        let data: Vec<Value> = data.iter().map(|line| meaning(line.trim_start_matches("data:").trim())).collect();
        json!([others, data])
    };
    body.split("\n\n").map(event).filter(|event| event != &json!([[], []])).collect()
}

#[test]
fn answers_are_those_of_tyk() {
    let upstream = Upstream::start(server);
    let gateway = Gateway::start(json!({"allow_explicit_policy_id": true}), []);
    let here = |text: &str| {
        text.replace("UP%3AENCODED", &format!("127.0.0.1%3A{}", upstream.port()))
            .replace("UPSTREAM", &format!("127.0.0.1:{}", upstream.port()))
            .replace("GATEWAY", &format!("127.0.0.1:{}", gateway.port))
    };
    let recorded: Value = serde_json::from_str(&here(RECORDED)).expect("a table");
    for api in recorded["apis"].as_array().unwrap() {
        let answer = gateway.control("POST", "/tyk/mcps", &api.to_string());
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    assert_eq!(gateway.control("GET", "/tyk/reload/?block=true", "").status, 200);
    for (name, key) in recorded["keys"].as_object().unwrap() {
        let answer = gateway.control("POST", &format!("/tyk/keys/{name}"), &key.to_string());
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let mut differences = String::new();
    let rows = recorded["rows"].as_array().unwrap();
    assert!(rows.len() > 150, "{}", rows.len());
    for row in rows {
        let text = |name: &str| row[name].as_str().unwrap_or_default();
        assert_eq!(row.get("ours").is_some(), row.get("why").is_some());
        assert_ne!(row.get("ours"), Some(&row["tyk"]), "a difference is one");
        let lines: Vec<String> = row["headers"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.as_str().unwrap()))
            .collect();
        let host = format!("Host: 127.0.0.1:{}", gateway.port);
        let lines: Vec<&str> = [host.as_str()].into_iter().chain(lines.iter().map(String::as_str)).collect();
        let sent = request(text("method"), text("path"), &lines, text("body")).replace("Host: gateway.test\r\n", "");
        for (turn, expected) in row.get("ours").unwrap_or(&row["tyk"]).as_array().unwrap().iter().enumerate() {
            let before = upstream.requests();
            let answer = gateway.connect().ask(&sent);
            let told = |name: &str| answer.header(name).map(str::to_owned);
            let mut found = json!({"status": answer.status, "type": told("Content-Type"), "body": meaning(&answer.text())});
            for (member, name) in [("challenge", "WWW-Authenticate"), ("location", "Location")] {
                told(name).into_iter().for_each(|value| found[member] = value.into());
            }
            let seen = |seen: &Seen| {
                let mut told = json!({"method": seen.method, "path": seen.target});
                let headers: serde_json::Map<String, Value> =
                    SEEN.iter().filter_map(|name| Some(((*name).to_owned(), seen.header(name)?.into()))).collect();
                if !headers.is_empty() {
                    told["headers"] = headers.into();
                }
                if seen.text() != text("body") {
                    told["body"] = seen.text().into();
                }
                told
            };
            found["upstream"] = upstream.seen().iter().skip(before).map(seen).collect();
            let mut expected = expected.clone();
            if let Some(exact) = expected.as_object_mut().and_then(|expected| expected.remove("body_text")) {
                assert_eq!(exact, answer.text());
                expected["body"] = meaning(&answer.text());
            }
            if let Some(body) = expected["body"].as_str() {
                expected["body"] = meaning(body);
            }
            if found != expected {
                let _ = writeln!(
                    differences,
                    "{} {} {} #{turn}\n  expected {expected}\n  found    {found}",
                    text("method"),
                    text("path"),
                    text("body")
                );
            }
        }
    }
    assert!(differences.is_empty(), "{differences}");
}
