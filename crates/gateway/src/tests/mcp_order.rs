//! In which order a federation looks at a message: whether it can be read, the session, the method, and what is called. What is closed to a caller is
//! answered at each of these as what does not exist.

use serde_json::{Value, json};

use super::harness::keys::session_for;
use super::harness::mcp::{JSON, NOW, call, federation};
use super::harness::{Gateway, Response, Upstream, reply, request};

/// A server that begins sessions, and says yes to all that it is asked.
fn server() -> Upstream {
    Upstream::start(|seen| {
        let asked: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
        let Some(id) = asked.get("id") else { return reply("202 Accepted", &[], "") };
        let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
        let can = json!({"tools": {}, "resources": {}, "prompts": {}});
        let result = match asked["method"].as_str().unwrap_or_default() {
            "initialize" => {
                json!({"protocolVersion": "2025-11-25", "capabilities": can, "serverInfo": {"name": "s", "version": "1"}})
            }
            "tools/list" => json!({"tools": [tool("drop"), tool("hidden"), tool("echo")]}),
            "resources/list" => json!({"resources": [{"uri": "file:///x", "name": "x"}]}),
            "resources/templates/list" => json!({"resourceTemplates": []}),
            "prompts/list" => json!({"prompts": [{"name": "hidden"}]}),
            "tools/call" => json!({"content": [{"type": "text", "text": "called"}]}),
            _ => return reply("400 Bad Request", &[], "nothing"),
        };
        reply("200 OK", &[JSON, "Mcp-Session-Id: s1"], &json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
    })
}

/// A federation with keys. `mine` may not call `hidden`, and the definition has closed `drop`.
fn start(upstream: &Upstream) -> Gateway {
    let second = json!({"name": "b", "url": upstream.url(), "prefix": "b_"});
    let servers = json!([{"name": "a", "url": upstream.url()}, second]);
    let gateway = Gateway::start(json!({}), [federation(servers).with_keys()]);
    let closed = json!({"blocked": ["hidden"]});
    let rights = json!({"tools": closed, "prompts": closed, "resources": {"blocked": ["file:///x"]}});
    let fields = json!({"access_rights": {"f": {"mcp_access_rights": rights}}});
    for key in ["mine", "yours"] {
        let answer = gateway.control("POST", &format!("/tyk/keys/{key}"), &session_for(&["f"], fields.clone()).to_string());
        assert_eq!(answer.status, 200, "{answer}");
    }
    gateway
}

fn ask(gateway: &Gateway, lines: &[&str], body: &str) -> Response {
    gateway.send(request("POST", "/f/", &[&[JSON, "Authorization: mine"], lines].concat(), body))
}

/// The line of a session that a key's client begins.
fn begin(gateway: &Gateway, key: &str) -> String {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let lines = [JSON, &format!("Authorization: {key}")];
    let begun = gateway.send(request("POST", "/f/", &lines, &call("initialize", params)));
    format!("Mcp-Session-Id: {}", begun.header("Mcp-Session-Id").unwrap_or_else(|| panic!("{begun}")))
}

/// A message without an id.
fn told(method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

/// Status, id and code of the error; a response without a body has neither.
fn verdict(answer: &Response) -> (u16, Value, Value) {
    let body: Value = serde_json::from_str(&answer.text()).unwrap_or_default();
    (answer.status, body["id"].clone(), body["error"]["code"].clone())
}

#[test]
fn a_message_is_read_then_its_session_then_its_method_then_what_it_calls() {
    let upstream = server();
    let gateway = start(&upstream);
    let (mine, yours) = (begin(&gateway, "mine"), begin(&gateway, "yours"));
    let tool = |name: &str| json!({"name": name, "arguments": {}});
    // The message, and its verdicts in no session, in another caller's, and in its own.
    let missing = (400, json!(1), json!(-32600));
    let foreign = (404, json!(1), json!(-32600));
    let own = |code: i64| (200, json!(1), json!(code));
    let unread = |code: i64| (400, Value::Null, json!(code));
    let no_answer = |status: u16| (status, Value::Null, if status == 202 { Value::Null } else { json!(-32600) });
    let of_request = |code| [missing.clone(), foreign.clone(), own(code)];
    let of_others = [400, 404, 202].map(no_answer);
    let cases = [
        ("{".to_owned(), [-32700; 3].map(unread)),
        (json!({"jsonrpc": "2.0", "id": null, "method": "ping"}).to_string(), [-32600; 3].map(unread)),
        (json!({"jsonrpc": "2.0", "id": [1], "method": "tools/call", "params": tool("drop")}).to_string(), [-32600; 3].map(unread)),
        (call("nothing/known", json!({})), of_request(-32601)),
        (call("tasks/get", json!({"taskId": "1"})), of_request(-32601)),
        (call("tools/call", tool("none")), of_request(-32602)),
        (call("tools/call", tool("drop")), of_request(-32602)),
        (call("tools/call", tool("hidden")), of_request(-32602)),
        (call("prompts/get", json!({"name": "hidden"})), of_request(-32602)),
        (call("resources/read", json!({"uri": "file:///x"})), of_request(-32002)),
        (call("resources/subscribe", json!({"uri": "file:///x"})), of_request(-32002)),
        (told("tools/call", tool("drop")), of_others.clone()),
        (told("tools/call", tool("hidden")), of_others.clone()),
        (told("resources/read", json!({"uri": "file:///x"})), of_others.clone()),
        (told("nothing/known", json!({})), of_others.clone()),
    ];
    let before = upstream.requests();
    for (body, expected) in cases {
        let answers = [&["X-None: a"][..], &[&yours], &[&mine]].map(|lines| ask(&gateway, lines, &body));
        assert_eq!(answers.each_ref().map(verdict), expected, "{body}");
        let silent = answers.iter().filter(|answer| answer.status == 202);
        silent.for_each(|answer| assert!(answer.text().is_empty(), "{body}: {answer}"));
    }
    // A response is nobody's if nobody has asked.
    for id in [json!("a:1"), json!("none:1"), json!(7)] {
        let answer = ask(&gateway, &[&mine], &json!({"jsonrpc": "2.0", "id": id, "result": {}}).to_string());
        assert_eq!((answer.status, answer.text().as_str()), (202, ""), "{id}");
    }
    assert_eq!(upstream.requests() - before, 1, "only the response to a question of this server may be one");
    assert_eq!(ask(&gateway, &[&mine], &call("tools/call", tool("echo"))).json()["result"]["content"][0]["text"], "called");
}

#[test]
fn what_is_closed_is_answered_by_all_that_a_client_can_send_as_what_does_not_exist() {
    let upstream = server();
    let gateway = start(&upstream);
    let session = begin(&gateway, "mine");
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let no_meta = json!({});
    let head = [NOW, "Mcp-Method: tools/call"];
    // The lines of a request for a tool, and what its body says beside the name.
    let requests: [(&[&str], &Value); 9] = [
        (&[], &no_meta),
        (&[&session], &no_meta),
        (&["Mcp-Session-Id: none"], &no_meta),
        (&[&session, "MCP-Protocol-Version: 1900-01-01"], &no_meta),
        (&[&session, "Origin: http://elsewhere.example", "Host: 127.0.0.1"], &no_meta),
        (&[head[0], head[1], "Mcp-Name: NAME"], &meta),
        (&[head[0], head[1], "Mcp-Name: NAME"], &no_meta),
        (&[head[0], head[1]], &meta),
        (&[head[0], head[1], "Mcp-Name: NAME", "Origin: http://elsewhere.example", "Host: 127.0.0.1"], &meta),
    ];
    let names = ["Content-Type", "X-Generator", "Mcp-Session-Id", "Connection", "X-RateLimit-Limit"];
    for (lines, meta) in requests {
        for id in [json!(7), json!("seven"), json!(1.5)] {
            let answers = ["none", "drop", "hidden"].map(|name| {
                let lines: Vec<String> = lines.iter().map(|line| line.replace("NAME", name)).collect();
                let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
                let params = json!({"name": name, "arguments": {}, "_meta": meta});
                let body = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
                let answer = ask(&gateway, &lines, &body.to_string());
                let shown = names.map(|name| answer.header(name).map(str::to_owned));
                (answer.status, answer.text().replace(name, "NAME"), shown)
            });
            assert!(answers.iter().all(|answer| *answer == answers[0]), "{lines:?} {id}: {answers:?}");
        }
    }
}
