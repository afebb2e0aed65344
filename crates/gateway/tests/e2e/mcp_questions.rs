//! What servers ask in the middle of a call reaches the client across versions of the protocol, and its answers reach the call at any gateway.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::harness::{Connection, Definition, Gateway, Response, Seen, Setup, Upstream, api, eventually, reply, request};
use crate::servers::{Cluster, Server};
use crate::shared_keys::on;
use crate::shared_limits::{all_count, on_cluster};

const FORM: &str = r#"{"message": "Who?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}"#;

fn json_reply(id: &Value, result: Value) -> Vec<u8> {
    reply("200 OK", &["Content-Type: application/json"], &json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
}

fn tools() -> Value {
    json!({"tools": [{"name": "greet", "description": "greets", "inputSchema": {"type": "object"}}]})
}

fn greeting(answer: &Value) -> Value {
    json!({"content": [{"type": "text", "text": format!("Hello, {answer}")}]})
}

/// A server without sessions whose tool must know a name.
fn modern() -> Upstream {
    Upstream::start(|seen| {
        let asked: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
        let (id, params) = (&asked["id"], &asked["params"]);
        let result = match asked["method"].as_str().unwrap_or_default() {
            "server/discover" => {
                json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
            }
            "tools/list" => tools(),
            "tools/call" if params["_meta"]["io.modelcontextprotocol/clientCapabilities"]["elicitation"].is_null() => {
                greeting(&json!("nobody"))
            }
            "tools/call" if params["inputResponses"].is_null() => {
                let form: Value = serde_json::from_str(FORM).unwrap();
                let questions = json!({"who": {"method": "elicitation/create", "params": form}});
                json!({"resultType": "input_required", "inputRequests": questions, "requestState": "kept"})
            }
            "tools/call" if params["requestState"] != "kept" => {
                let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": "no such state"}});
                return reply("200 OK", &["Content-Type: application/json"], &error.to_string());
            }
            "tools/call" => {
                json!({"resultType": "complete", "content": greeting(&json!([params["inputResponses"], params["requestState"]]))["content"]})
            }
            _ => return reply("404 Not Found", &[], ""),
        };
        json_reply(id, result)
    })
}

/// A server with sessions whose tool asks its client for a name, and waits.
fn legacy() -> Upstream {
    let (tell, told): (Sender<Value>, Receiver<Value>) = channel();
    let told = Arc::new(Mutex::new(told));
    Upstream::raw(move |wire: Connection, _| {
        let (mut wire, tell, told) = (wire, tell.clone(), told.clone());
        while let Some(seen) = Seen::read(&mut wire) {
            let asked: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
            let id = &asked["id"];
            let bytes = match asked["method"].as_str().unwrap_or_default() {
                "initialize" => {
                    let can = &asked["params"]["capabilities"]["elicitation"];
                    let begun = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}});
                    let session = if can.is_object() { "Mcp-Session-Id: asks" } else { "Mcp-Session-Id: silent" };
                    let begun = json!({"jsonrpc": "2.0", "id": id, "result": begun}).to_string();
                    reply("200 OK", &["Content-Type: application/json", session], &begun)
                }
                "tools/list" => json_reply(id, tools()),
                "tools/call" if seen.header("Mcp-Session-Id") != Some("asks") => json_reply(id, greeting(&json!("nobody"))),
                "tools/call" => {
                    let form: Value = serde_json::from_str(FORM).unwrap();
                    let question = json!({"jsonrpc": "2.0", "id": 77, "method": "elicitation/create", "params": form});
                    let _ =
                        wire.try_send(format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {question}\n\n"));
                    let answer = told.lock().unwrap().recv().unwrap();
                    let response = json!({"jsonrpc": "2.0", "id": id, "result": greeting(&answer)});
                    let _ = wire.try_send(format!("data: {response}\n\n"));
                    return;
                }
                "" if asked["id"] == 77 => {
                    tell.send(asked["result"].clone()).unwrap();
                    reply("202 Accepted", &[], "")
                }
                _ => reply("202 Accepted", &[], ""),
            };
            if wire.try_send(bytes).is_err() {
                return;
            }
        }
    })
}

fn federation(upstream: &Upstream) -> Definition {
    api("f", "/f/", "")
        .set("application_protocol", "mcp")
        .set("tollgate/mcp", json!({"servers": [{"name": "s", "url": upstream.url()}]}))
}

fn post_lines<'l>(lines: &[&'l str]) -> Vec<&'l str> {
    [&["Content-Type: application/json", "Accept: application/json, text/event-stream"], lines].concat()
}

fn post(gateway: &Gateway, lines: &[&str], message: &Value) -> Response {
    gateway.connect().ask(request("POST", "/f/", &post_lines(lines), &message.to_string()))
}

/// The line of a session that begins with these capabilities.
fn begin(gateway: &Gateway, capabilities: Value) -> String {
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}});
    let begun = post(gateway, &[], &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
    format!("Mcp-Session-Id: {}", begun.header("Mcp-Session-Id").expect("a session"))
}

/// The messages of events, or of a response.
fn messages(text: &str) -> Vec<Value> {
    text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ").unwrap_or(line)).ok()).collect()
}

/// A client with a session gets the question on the stream of its call; `answering` gets the answer.
fn asked_in_session(calling: &Gateway, answering: &Gateway) {
    let session = begin(calling, json!({"elicitation": {}}));
    let call = json!({"jsonrpc": "2.0", "id": "mine", "method": "tools/call", "params": {"name": "greet", "arguments": {}}});
    let mut wire = calling.connect();
    wire.send(request("POST", "/f/", &post_lines(&[&session]), &call.to_string()));
    assert_eq!(wire.head().unwrap().get("Content-Type"), Some("text/event-stream"));
    let mut text = String::new();
    let question = loop {
        text.push_str(&String::from_utf8(wire.chunk().unwrap()).unwrap());
        if let Some(question) = messages(&text).into_iter().find(|message| message["method"] == "elicitation/create") {
            break question;
        }
    };
    assert_eq!(question["params"], serde_json::from_str::<Value>(FORM).unwrap());
    let answer =
        |id: &Value, name: &str| json!({"jsonrpc": "2.0", "id": id, "result": {"action": "accept", "content": {"name": name}}});
    // Ids that nobody has given, and those of another session, are nobody's.
    let forged = question["id"].as_str().unwrap().replace(['0', '1', '2', '7'], "4");
    assert_eq!(post(answering, &[&session], &answer(&json!(forged), "forged")).status, 202);
    assert_eq!(post(answering, &[&session], &answer(&question["id"], "Ada")).status, 202);
    while !text.contains("Hello") {
        text.push_str(&String::from_utf8(wire.chunk().unwrap()).unwrap());
    }
    let last = messages(&text).pop().unwrap();
    assert_eq!(last["id"], "mine");
    let said = last["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said.contains("Ada") && !said.contains("forged"), "{said}");
    // Who cannot answer is not asked.
    let silent = begin(calling, json!({}));
    let said = post(calling, &[&silent], &call);
    assert_eq!(messages(&said.text())[0]["result"]["content"][0]["text"], "Hello, \"nobody\"");
}

/// A client without a session is told what is missing, and calls again at `answering`.
fn asked_by_state(calling: &Gateway, answering: &Gateway) {
    let ask = |gateway: &Gateway, capabilities: Value, more: Value| {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": capabilities,
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}});
        let mut params = json!({"name": "greet", "arguments": {}, "_meta": meta});
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        let lines = ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: greet"];
        let answer = post(gateway, &lines, &json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}));
        messages(&answer.text()).pop().unwrap_or_else(|| panic!("{}", answer.text()))
    };
    let can = || json!({"elicitation": {}});
    let needed = ask(calling, can(), json!({}));
    assert_eq!((&needed["id"], &needed["result"]["resultType"]), (&json!(5), &json!("input_required")), "{needed}");
    let (key, question) = needed["result"]["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(*question, json!({"method": "elicitation/create", "params": serde_json::from_str::<Value>(FORM).unwrap()}));
    let state = needed["result"]["requestState"].clone();
    let retry =
        |state: &Value| json!({"requestState": state, "inputResponses": {key: {"action": "accept", "content": {"name": "Ada"}}}});
    // Who lacks the answer is asked again; a state that was not given is refused.
    let again = ask(answering, can(), json!({"requestState": state}));
    assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    let forged = json!(format!("{}x", state.as_str().unwrap()));
    let refused = ask(answering, can(), retry(&forged));
    assert!(
        refused["error"]["code"] == -32602 || refused["result"]["content"].to_string().contains(&forged.to_string()),
        "{refused}"
    );
    let done = ask(answering, can(), retry(&again["result"]["requestState"]));
    assert_eq!((&done["id"], &done["result"]["resultType"]), (&json!(5), &json!("complete")), "{done}");
    assert!(done.to_string().contains("Ada"), "{done}");
    assert_eq!(ask(calling, json!({}), json!({}))["result"]["content"][0]["text"], "Hello, \"nobody\"");
}

fn two(conf: &Value, upstream: &Upstream) -> [Gateway; 2] {
    let gateways = [(); 2].map(|()| Setup::new(conf.clone()).api(federation(upstream)).start());
    all_count(conf, 2);
    gateways
}

#[test]
fn what_servers_of_any_version_ask_reaches_clients_of_any_version() {
    let (modern, legacy) = (modern(), legacy());
    let [asking, waiting] = [&modern, &legacy].map(|upstream| Setup::new(json!({})).api(federation(upstream)).start());
    for gateway in [&asking, &waiting] {
        asked_in_session(gateway, gateway);
        asked_by_state(gateway, gateway);
        gateway.expect_no_panic();
    }
}

/// A server with sessions that asks, and then tells of its progress as long as somebody reads. It counts the calls that go on.
fn talkative(running: Arc<AtomicUsize>) -> Upstream {
    Upstream::raw(move |mut wire: Connection, _| {
        while let Some(seen) = Seen::read(&mut wire) {
            let asked: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
            let id = &asked["id"];
            let bytes = match asked["method"].as_str().unwrap_or_default() {
                "initialize" => {
                    let begun = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}});
                    let begun = json!({"jsonrpc": "2.0", "id": id, "result": begun}).to_string();
                    reply("200 OK", &["Content-Type: application/json", "Mcp-Session-Id: one"], &begun)
                }
                "tools/list" => json_reply(id, tools()),
                "tools/call" => {
                    let form: Value = serde_json::from_str(FORM).unwrap();
                    let question = json!({"jsonrpc": "2.0", "id": 77, "method": "elicitation/create", "params": form});
                    let _ =
                        wire.try_send(format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {question}\n\n"));
                    running.fetch_add(1, Ordering::SeqCst);
                    let told = json!({"jsonrpc": "2.0", "method": "notifications/progress",
                        "params": {"progressToken": asked["params"]["_meta"]["progressToken"], "progress": 1, "message": "x".repeat(1_000)}});
                    while wire.try_send(format!("data: {told}\n\n")).is_ok() {}
                    running.fetch_sub(1, Ordering::SeqCst);
                    return;
                }
                "" if seen.method == "GET" => reply("405 Method Not Allowed", &[], ""),
                _ => reply("202 Accepted", &[], ""),
            };
            if wire.try_send(bytes).is_err() {
                return;
            }
        }
    })
}

#[test]
fn a_call_ends_when_its_client_leaves_the_gateway_that_brought_its_answer() {
    let server = Server::start(&[]);
    let running = Arc::new(AtomicUsize::new(0));
    let upstream = talkative(running.clone());
    let [one, other] = two(&on(&server), &upstream);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}, "progressToken": "p"});
    let call = |more: Value| {
        let mut params = json!({"name": "greet", "arguments": {}, "_meta": meta});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}).to_string()
    };
    let lines = post_lines(&["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: greet"]);
    for answering in [&one, &other] {
        let asked = one.connect().ask(request("POST", "/f/", &lines, &call(json!({})))).text();
        let needed = messages(&asked).pop().unwrap();
        let state = needed["result"]["requestState"].as_str().unwrap_or_else(|| panic!("{needed}")).to_owned();
        let key = needed["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap();
        let answers = json!({key: {"action": "accept", "content": {"name": "Ada"}}});
        let mut wire = answering.connect();
        wire.send(request("POST", "/f/", &lines, &call(json!({"requestState": state, "inputResponses": answers}))));
        assert_eq!(wire.head().unwrap().get("Content-Type"), Some("text/event-stream"));
        let mut events = 0;
        while events < 200 {
            events += String::from_utf8(wire.chunk().unwrap()).unwrap().matches("data: ").count();
        }
        assert_eq!(running.load(Ordering::SeqCst), 1);
        wire.reset();
        eventually("nobody reads any more", || running.load(Ordering::SeqCst) == 0);
        // What was answered is over.
        let refused =
            answering.connect().ask(request("POST", "/f/", &lines, &call(json!({"requestState": state, "inputResponses": {}}))));
        assert!(refused.text().contains("waits no longer"), "{}", refused.text());
    }
    other.expect_no_panic();
}

#[test]
fn answers_reach_the_call_from_another_gateway() {
    let server = Server::start(&[]);
    let cluster = Cluster::start();
    for conf in [on(&server), on_cluster(&cluster)] {
        let (modern, legacy) = (modern(), legacy());
        for upstream in [&modern, &legacy] {
            let [one, other] = two(&conf, upstream);
            asked_in_session(&one, &other);
            asked_by_state(&one, &other);
            other.expect_no_panic();
        }
    }
}
