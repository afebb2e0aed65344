//! One MCP server in front of many: over HTTP, as child processes, and as operations of APIs.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::harness::{Connection, Definition, Gateway, Response, Seen, Setup, Upstream, api, eventually, reply, request};

/// An MCP server that begins sessions, with tools of these names, which tell the session and what they got.
fn server(tools: &'static [&'static str]) -> Upstream {
    let sessions = AtomicU64::new(0);
    Upstream::start(move |seen| {
        let Ok(asked) = serde_json::from_slice::<Value>(&seen.body) else { return reply("405 Method Not Allowed", &[], "") };
        let session = seen.header("Mcp-Session-Id").unwrap_or_default().to_owned();
        let method = asked["method"].as_str().unwrap_or_default();
        if session.is_empty() && method != "initialize" {
            return reply("400 Bad Request", &[], "no session");
        }
        let tool = |name: &&str| json!({"name": name, "description": format!("does {name}"), "inputSchema": {"type": "object"}});
        let result = match method {
            "initialize" => {
                json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}})
            }
            "tools/list" => json!({"tools": tools.iter().map(tool).collect::<Vec<_>>()}),
            "tools/call" => {
                let said = json!({"name": asked["params"]["name"], "session": session, "authorization": seen.header("Authorization"),
                    "own": seen.header("X-Own")});
                json!({"content": [{"type": "text", "text": said.to_string()}]})
            }
            _ => json!({}),
        };
        let begun = format!("Mcp-Session-Id: s{}", sessions.fetch_add(1, Ordering::Relaxed));
        let lines: &[&str] =
            if method == "initialize" { &["Content-Type: application/json", &begun] } else { &["Content-Type: application/json"] };
        match asked.get("id") {
            None => reply("202 Accepted", &[], ""),
            Some(id) => reply("200 OK", lines, &json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()),
        }
    })
}

/// A federation of these servers.
fn federation(id: &str, servers: Value) -> Definition {
    api(id, &format!("/{id}/"), "").set("application_protocol", "mcp").set("tollgate/mcp", json!({"servers": servers}))
}

/// A gateway that may run the test's process.
fn setup() -> Setup {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/mcp_process.py");
    let command = json!({"command": ["python3", script], "environment": {"OWN": "yes"}});
    Setup::new(json!({"tollgate": {"mcp_commands": {"process": command}}}))
}

fn post(gateway: &Gateway, path: &str, lines: &[&str], message: &Value) -> Response {
    let lines = [&["Content-Type: application/json", "Accept: application/json, text/event-stream"], lines].concat();
    gateway.connect().ask(request("POST", path, &lines, &message.to_string()))
}

/// A client with a session.
struct Client<'g> {
    gateway: &'g Gateway,
    path: &'static str,
    key: String,
    session: String,
}

impl<'g> Client<'g> {
    fn begin(gateway: &'g Gateway, path: &'static str, key: &str) -> Client<'g> {
        let client = Client { gateway, path, key: format!("Authorization: {key}"), session: "X-None: x".to_owned() };
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let answer = client.ask("initialize", params);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let session = answer.header("Mcp-Session-Id").expect("a session");
        Client { session: format!("Mcp-Session-Id: {session}"), ..client }
    }

    fn ask(&self, method: &str, params: Value) -> Response {
        post(
            self.gateway,
            self.path,
            &[&self.key, &self.session],
            &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}),
        )
    }

    fn call(&self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments})).json()
    }

    fn tools(&self) -> BTreeSet<String> {
        let listed = self.ask("tools/list", json!({})).json();
        let names = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}")).iter();
        names.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

fn said(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

const PROCESS: [&str; 11] =
    ["p_cancels", "p_child", "p_eat", "p_echo", "p_environment", "p_exit", "p_garbage", "p_grow", "p_pid", "p_progress", "p_sleep"];

#[test]
fn one_endpoint_has_the_tools_of_all_servers_and_each_call_goes_where_it_belongs() {
    let (first, second) = (server(&["one", "same"]), server(&["two", "same"]));
    let servers = json!([
        {"name": "a", "url": first.url(), "headers": {"X-Own": "secret"}, "tools": {"one": {"name": "uno"}}},
        {"name": "b", "url": second.url(), "exclude": ["t*"]},
        {"name": "c", "url": second.url(), "prefix": "c_"},
        {"name": "down", "url": "http://127.0.0.1:1/", "prefix": "d_"},
        {"name": "p", "command": "process", "prefix": "p_"},
    ]);
    let gateway = setup().api(federation("f", servers)).start();
    let client = Client::begin(&gateway, "/f/", "key-of-nobody");
    let shown = client.tools();
    assert_eq!(shown, set(&[&["uno", "same", "c_two", "c_same"][..], &PROCESS].concat()));
    let one: Value = serde_json::from_str(said(&client.call("uno", json!({})))).unwrap();
    assert_eq!((&one["name"], &one["own"]), (&json!("one"), &json!("secret")));
    assert_eq!(one["authorization"], Value::Null, "a client's credentials are for the gateway alone");
    let two: Value = serde_json::from_str(said(&client.call("c_two", json!({})))).unwrap();
    assert_eq!(two["name"], "two");
    let environment: Value = serde_json::from_str(said(&client.call("p_environment", json!({})))).unwrap();
    let names: BTreeSet<&str> =
        environment.as_object().unwrap().keys().map(String::as_str).filter(|name| !name.starts_with("LC_")).collect();
    assert_eq!(names, BTreeSet::from(["OWN", "PATH"]), "nothing of the gateway's environment");
    for unknown in ["one", "two", "d_x"] {
        assert_eq!(client.call(unknown, json!({}))["error"]["code"], -32602, "{unknown}");
    }
    let log = gateway.log();
    assert!(log.contains("another server has a tool with the name") && log.contains("an MCP server is not there"), "{log}");
    gateway.expect_no_panic();
}

#[test]
fn a_session_is_good_at_every_gateway_after_every_restart_for_its_caller_alone() {
    let upstream = server(&["one"]);
    let keyed = || federation("f", json!([{"name": "a", "url": upstream.url()}])).with_keys();
    let mut first = setup().api(keyed()).start();
    let second = setup().api(keyed()).start();
    let other_secret = Setup::new(json!({"secret": "another"})).api(keyed()).start();
    let session = json!({"org_id": "default", "expires": 0, "quota_max": -1, "access_rights": {"f": {"api_id": "f", "versions": ["Default"]}}});
    for gateway in [&first, &second] {
        for key in ["mine", "yours"] {
            assert_eq!(gateway.control("POST", &format!("/tyk/keys/{key}"), &session.to_string()).status, 200);
        }
    }
    let begun = Client::begin(&first, "/f/", "mine");
    let name = begun.session.clone();
    let at = |gateway: &Gateway, key: &str| {
        let lines = [format!("Authorization: {key}"), name.clone()];
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "one", "arguments": {}}});
        post(gateway, "/f/", &[&lines[0], &lines[1]], &call)
    };
    let mine = at(&first, "mine").json();
    let at_server = |answer: &Value| serde_json::from_str::<Value>(said(answer)).unwrap()["session"].clone();
    let elsewhere = at(&second, "mine").json();
    assert_eq!(at_server(&elsewhere), at_server(&mine), "the same session at the server behind");
    assert_eq!((at(&first, "yours").status, at(&second, "yours").status), (404, 404), "a stolen name");
    assert_eq!(at(&other_secret, "mine").status, 403, "no key there");
    first.reload();
    assert_eq!(at_server(&at(&first, "mine").json()), at_server(&mine));
    first.restart();
    assert_eq!(at_server(&at(&first, "mine").json()), at_server(&mine));
    let forged = format!("{name}x");
    let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    assert_eq!(post(&first, "/f/", &["Authorization: mine", &forged], &asked).status, 404);
    assert_eq!(post(&first, "/f/", &["Authorization: mine"], &asked).status, 400, "no session at all");
    let ended = first.connect().ask(request("DELETE", "/f/", &["Authorization: mine", &name], ""));
    assert_eq!((ended.status, at(&first, "mine").status), (204, 404));
}

#[test]
fn callers_see_and_call_what_their_keys_allow() {
    let upstream = server(&["read_a", "read_b", "write"]);
    let gateway = setup().api(federation("f", json!([{"name": "a", "url": upstream.url(), "prefix": "x_"}])).with_keys()).start();
    let session = json!({"org_id": "default", "expires": 0, "quota_max": -1, "access_rights": {"f": {"api_id": "f", "versions": ["Default"],
        "mcp_access_rights": {"tools": {"allowed": ["x_read_.*"], "blocked": [".*_b"]}},
        "mcp_primitives": [{"type": "tool", "name": "x_read_a", "limit": {"rate": 2, "per": 3600}}]}}});
    assert_eq!(gateway.control("POST", "/tyk/keys/reader", &session.to_string()).status, 200);
    let client = Client::begin(&gateway, "/f/", "reader");
    assert_eq!(client.tools(), set(&["x_read_a"]));
    let refused = client.ask("tools/call", json!({"name": "x_write", "arguments": {}}));
    let unknown = client.ask("tools/call", json!({"name": "x_nothing", "arguments": {}}));
    assert_eq!((refused.status, refused.text()), (unknown.status, unknown.text().replace("x_nothing", "x_write")));
    let statuses: Vec<u16> =
        (0..3).map(|_| client.ask("tools/call", json!({"name": "x_read_a", "arguments": {}})).status).collect();
    assert_eq!(statuses, [200, 200, 429]);
}

/// Heads name calls from 2026-07-28 on; what they say is what the body must say.
#[test]
fn clients_without_sessions_are_served_by_what_their_heads_say() {
    let upstream = server(&["one", "two"]);
    let rules = json!([{"path": "^/mcp-tool:two$", "method": "POST"}]);
    let gateway = setup().api(federation("f", json!([{"name": "a", "url": upstream.url()}])).list("black_list", rules)).start();
    let ask = |head: [&str; 3], method: &str, params: Value| {
        let mut params = params;
        params["_meta"] =
            json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
        let lines =
            [format!("MCP-Protocol-Version: {}", head[0]), format!("Mcp-Method: {}", head[1]), format!("Mcp-Name: {}", head[2])];
        let lines: Vec<&str> = lines.iter().filter(|line| !line.ends_with(": ")).map(String::as_str).collect();
        post(&gateway, "/f/", &lines, &json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}))
    };
    const NOW: &str = "2026-07-28";
    let found = ask([NOW, "server/discover", ""], "server/discover", json!({})).json();
    assert_eq!(found["result"]["supportedVersions"][0], NOW);
    let called = ask([NOW, "tools/call", "one"], "tools/call", json!({"name": "one", "arguments": {}})).json();
    assert_eq!((&called["id"], &called["result"]["resultType"]), (&json!(7), &json!("complete")));
    let listed = ask([NOW, "tools/list", ""], "tools/list", json!({})).json();
    assert_eq!((&listed["result"]["cacheScope"], listed["result"]["tools"].as_array().unwrap().len()), (&json!("private"), 1));
    let refused = ask([NOW, "tools/call", "two"], "tools/call", json!({"name": "two", "arguments": {}}));
    let unknown = ask([NOW, "tools/call", "ten"], "tools/call", json!({"name": "ten", "arguments": {}}));
    assert_eq!((refused.status, refused.text()), (unknown.status, unknown.text().replace("ten", "two")));
    let cases = [
        ([NOW, "tools/call", "one"], "tools/call", json!({"name": "two"})),
        ([NOW, "ping", ""], "tools/call", json!({"name": "two"})),
        ([NOW, "tools/list", ""], "tools/call", json!({"name": "two"})),
        ([NOW, "tools/call", "=?base64?b25l?="], "tools/call", json!({"name": "two"})),
        ([NOW, "", ""], "tools/list", json!({})),
        (["", "tools/list", ""], "tools/list", json!({})),
        (["1900-01-01", "tools/list", ""], "tools/list", json!({})),
    ];
    let before = upstream.requests();
    for (head, method, params) in cases {
        let answer = ask(head, method, params);
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32020)), "{head:?} {}", answer.text());
    }
    assert_eq!(upstream.requests(), before, "nothing of it was called");
    let encoded = ask([NOW, "tools/call", "=?base64?b25l?="], "tools/call", json!({"name": "one", "arguments": {}}));
    assert_eq!(encoded.status, 200);
    assert_eq!(ask([NOW, "nothing", ""], "nothing", json!({})).status, 404);
}

#[test]
fn operations_of_an_api_are_tools_under_the_callers_own_limits() {
    let upstream = Upstream::start(|seen| {
        let told = json!({"target": seen.target, "body": seen.text()});
        reply("200 OK", &["Content-Type: application/json"], &told.to_string())
    });
    let shop = json!({
        "openapi": "3.0.3", "info": {"title": "shop", "version": "1"}, "servers": [{"url": "/shop/"}],
        "paths": {"/orders/{id}": {"get": {"operationId": "getOrder", "responses": {"200": {"description": "one"}},
            "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}]}}},
        "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Shop-Key"}}}, "security": [{"key": []}],
        "x-tyk-api-gateway": {"info": {"id": "shop", "name": "shop", "orgId": "default", "state": {"active": true}}, "upstream": {"url": upstream.url()},
            "server": {"listenPath": {"value": "/shop/", "strip": true},
                "authentication": {"enabled": true, "securitySchemes": {"key": {"enabled": true}}}}},
    });
    let gateway = setup()
        .file("shop-oas.json", shop.to_string())
        .api(federation("f", json!([{"name": "shop", "api": "shop"}])).with_keys())
        .start();
    let session = |apis: Value| json!({"org_id": "default", "expires": 0, "quota_max": -1, "access_rights": apis});
    let right = |id: &str, limit: Value| json!({"api_id": id, "versions": ["Default"], "limit": limit});
    let both =
        session(json!({"f": right("f", Value::Null), "shop": right("shop", json!({"rate": 2, "per": 3600, "quota_max": -1}))}));
    let one = session(json!({"f": right("f", Value::Null)}));
    for (key, session) in [("both", both), ("one", one)] {
        assert_eq!(gateway.control("POST", &format!("/tyk/keys/{key}"), &session.to_string()).status, 200);
    }
    let client = Client::begin(&gateway, "/f/", "both");
    assert_eq!(client.tools(), set(&["getOrder"]));
    let called = client.call("getOrder", json!({"id": 7}));
    assert_eq!(called["result"]["structuredContent"]["target"], "/orders/7", "{called}");
    assert_eq!(client.call("getOrder", json!({"id": "seven"}))["result"]["isError"], true, "by the schema");
    assert_eq!(client.call("getOrder", json!({"id": 8}))["result"]["isError"], false);
    let over = client.call("getOrder", json!({"id": 9}));
    assert!(over["result"]["isError"] == true && said(&over).contains("Rate Limit Exceeded"), "{over}");
    let stranger = Client::begin(&gateway, "/f/", "one");
    assert_eq!(stranger.tools(), set(&[]), "what it may not call");
    assert_eq!(stranger.call("getOrder", json!({"id": 7}))["error"]["code"], -32602);
    assert_eq!(upstream.requests(), 2);
}

#[test]
fn a_process_that_dies_or_babbles_takes_only_its_own_calls_along() {
    let upstream = server(&["one"]);
    let servers =
        json!([{"name": "a", "url": upstream.url()}, {"name": "p", "command": "process", "prefix": "p_", "timeout_s": 5}]);
    let gateway = setup().api(federation("f", servers)).start();
    let client = Client::begin(&gateway, "/f/", "");
    let pid: u32 = said(&client.call("p_pid", json!({}))).parse().unwrap();
    assert!(said(&client.call("p_garbage", json!({}))).parse::<u32>().is_ok(), "what nobody has asked is dropped");
    thread::scope(|scope| {
        let held: Vec<_> = (0..8).map(|_| scope.spawn(|| client.call("p_sleep", json!({"seconds": 60})))).collect();
        eventually("the calls are there", || Client::begin(&gateway, "/f/", "").call("p_pid", json!({}))["result"].is_object());
        let killed = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
        assert!(killed.is_ok_and(|status| status.success()));
        for call in held {
            let answer = call.join().unwrap();
            assert_eq!(answer["error"]["code"], -32004, "{answer}");
        }
        assert_eq!(client.call("one", json!({}))["result"]["content"][0]["type"], "text", "others go on");
    });
    eventually("it is started again", || client.call("p_pid", json!({}))["result"].is_object());
    assert_ne!(said(&client.call("p_pid", json!({}))), pid.to_string());
    assert_eq!(client.call("p_exit", json!({}))["error"]["code"], -32004);
    eventually("and again", || client.call("p_pid", json!({}))["result"].is_object());
    gateway.expect_no_panic();
}

#[test]
fn a_process_that_uses_too_much_is_ended_and_started_again() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/mcp_process.py");
    let command = json!({"command": ["python3", script], "memory_mib": 100, "processes": 4});
    let setup = Setup::new(json!({"tollgate": {"mcp_commands": {"process": command}}}));
    let gateway = setup.api(federation("f", json!([{"name": "p", "command": "process"}]))).start();
    let client = Client::begin(&gateway, "/f/", "");
    let process = || {
        let told = gateway.control("GET", "/tyk/mcps/f/servers", "").json();
        told["servers"][0]["process"].clone()
    };
    let pid = said(&client.call("pid", json!({}))).to_owned();
    assert_eq!(said(&client.call("eat", json!({"mib": 1, "seconds": 0}))), pid, "what is little is nobody's business");
    for (tool, arguments, why) in [
        ("eat", json!({"mib": 150, "seconds": 100}), "MiB of memory, more than its memory_mib of 100"),
        ("child", json!({}), "processes, more than the 4 that it may have"),
    ] {
        let again = || client.call("pid", json!({}))["result"].is_object();
        eventually("it is there", again);
        let restarts = process()["restarts"].as_u64().unwrap();
        eventually("it uses too much", || {
            let answer = client.call(tool, arguments.clone());
            answer["error"]["code"] == -32004 || process()["end"].as_str().is_some_and(|end| end.contains(why))
        });
        eventually("it is told", || process()["end"].as_str().is_some_and(|end| end.contains(why)));
        eventually("it is started again", again);
        assert!(process()["restarts"].as_u64().unwrap() > restarts);
        assert!(gateway.log().contains(why));
    }
    gateway.expect_no_panic();
}

/// The progress of a call comes on its own stream, with the client's own token.
#[test]
fn progress_reaches_the_client_that_has_asked() {
    let gateway = setup().api(federation("f", json!([{"name": "p", "command": "process"}]))).start();
    let client = Client::begin(&gateway, "/f/", "");
    let answer = client.ask("tools/call", json!({"name": "progress", "arguments": {}, "_meta": {"progressToken": "mine"}}));
    assert_eq!(answer.header("Content-Type"), Some("text/event-stream"));
    let text = answer.text();
    let messages: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect();
    let tokens: Vec<&Value> = messages.iter().map(|message| &message["params"]["progressToken"]).collect();
    assert_eq!(tokens, [&json!("mine"), &json!("mine"), &Value::Null], "{text}");
    assert_eq!(messages[2]["id"], 1);
}

/// What a server does to one call, it does to no other.
#[test]
fn hostile_servers_cost_their_own_calls_alone() {
    let flood = Upstream::raw(|wire: Connection, _| {
        let mut wire = wire;
        while let Some(seen) = Seen::read(&mut wire) {
            let asked: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
            let id = asked.get("id").cloned().unwrap_or_default();
            let json = |result: Value| {
                reply(
                    "200 OK",
                    &["Content-Type: application/json"],
                    &json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string(),
                )
            };
            let names = ["endless", "huge", "foreign", "silent", "broken"];
            let tool = |name: String| json!({"name": name, "inputSchema": {"type": "object"}});
            let tools: Vec<Value> = (0..10_000).map(|n| format!("t{n}")).chain(names.map(str::to_owned)).map(tool).collect();
            let bytes = match (asked["method"].as_str().unwrap_or_default(), asked["params"]["name"].as_str().unwrap_or_default()) {
                ("initialize", _) => json(
                    json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}),
                ),
                ("tools/list", _) => json(json!({"tools": tools})),
                ("tools/call", "endless") => {
                    let _ = wire.try_send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
                    let event = format!(
                        "data: {}\n\n",
                        json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x".repeat(60_000)}})
                    );
                    while wire.try_send(&event).is_ok() {}
                    return;
                }
                ("tools/call", "huge") => {
                    let _ = wire.try_send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: ");
                    while wire.try_send("x".repeat(60_000)).is_ok() {}
                    return;
                }
                ("tools/call", "foreign") => {
                    let events = [999, 1000].map(|id| {
                        format!(
                            "data: {}\n\n",
                            json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": "stolen"}]}})
                        )
                    });
                    reply("200 OK", &["Content-Type: text/event-stream"], &events.concat())
                }
                ("tools/call", "silent") => {
                    thread::sleep(std::time::Duration::from_secs(4));
                    return;
                }
                ("tools/call", "broken") => reply("200 OK", &["Content-Type: application/json"], &"[".repeat(100_000)),
                _ => reply("202 Accepted", &[], ""),
            };
            if wire.try_send(bytes).is_err() {
                return;
            }
        }
    });
    let good = server(&["one"]);
    let servers = json!([{"name": "good", "url": good.url()}, {"name": "bad", "url": flood.url(), "timeout_s": 2}]);
    let gateway = setup().api(federation("f", servers)).start();
    let client = Client::begin(&gateway, "/f/", "");
    assert_eq!(client.tools().len(), 1_000, "a page of them");
    for name in ["huge", "silent", "broken", "foreign"] {
        let answer = client.ask("tools/call", json!({"name": name, "arguments": {}}));
        let failed = !answer.text().contains("\"result\"");
        assert!(failed, "{name}: {}", answer.text().get(..300).unwrap_or_default());
    }
    // The client leaves, and so does its call.
    for _ in 0..4 {
        let mut wire = gateway.connect();
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "endless", "arguments": {}}});
        let lines = ["Content-Type: application/json", "Accept: text/event-stream", &client.session];
        wire.send(request("POST", "/f/", &lines, &call.to_string()));
        assert!(!wire.some().unwrap().is_empty());
        wire.reset();
    }
    let peak = gateway.peak_rss_kib();
    assert!(peak < 400_000, "{peak} KiB");
    let one: Value = serde_json::from_str(said(&client.call("one", json!({})))).unwrap();
    assert_eq!(one["name"], "one");
    gateway.expect_no_panic();
}

#[test]
fn a_definition_that_cannot_work_says_why() {
    let gateway = setup().start();
    let cases = [
        (json!([]), "servers"),
        (json!([{"name": "a"}]), "must have one of url, command and api"),
        (json!([{"name": "a", "url": "file:///etc/passwd"}]), "must begin with http"),
        (json!([{"name": "a", "command": "rm"}]), "is no command of tollgate.mcp_commands"),
        (json!([{"name": "a b", "url": "http://x/"}]), "letters, digits"),
        (json!([{"name": "a", "url": "http://x/"}, {"name": "a", "url": "http://y/"}]), "is the name of another server"),
        (json!([{"name": "a", "url": "http://x/", "surprise": 1}]), "surprise"),
        (json!([{"name": "a", "api": "nothere"}]), "there is no API with the id \\\"nothere\\\""),
        (json!([{"name": "a", "api": "plain"}]), "the API \\\"plain\\\" has no OpenAPI document"),
        (json!([{"name": "a", "api": "keyed"}]), "asks for credentials (authToken) that clients of the federation"),
    ];
    gateway.write_api(&api("plain", "/plain/", "http://x/"));
    let keyed = json!({
        "openapi": "3.0.3", "info": {"title": "keyed", "version": "1"}, "paths": {},
        "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}}, "security": [{"key": []}],
        "x-tyk-api-gateway": {"info": {"id": "keyed", "name": "keyed", "orgId": "default", "state": {"active": true}}, "upstream": {"url": "http://x/"},
            "server": {"listenPath": {"value": "/keyed/", "strip": true},
                "authentication": {"enabled": true, "securitySchemes": {"key": {"enabled": true}}}}},
    });
    gateway.write_file("keyed-oas.json", keyed.to_string());
    for (servers, said) in cases {
        gateway.write_api(&federation("f", servers.clone()));
        // What is wrong keeps the API away, what may be wrong is in the log.
        let report = gateway.reload().text() + &gateway.log().replace('"', "\\\"");
        assert!(report.contains(said), "{servers}: {said} in {report}");
    }
}
