//! Tasks of servers behind a federation: who begins one asks later how it does, at any gateway, and nobody else can.

use serde_json::{Value, json};
use std::sync::Mutex;

use super::harness::keys::session_for;
use super::harness::mcp::{JSON, call, federation, modern};
use super::harness::{Gateway, Response, Upstream, reply, request};

/// A server that takes calls as tasks if it `takes`, counts them for all its sessions together, and tells each of them to whoever asks.
fn server(takes: bool) -> Upstream {
    let count = Mutex::new(0);
    Upstream::start(move |seen| {
        let asked: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
        let Some(id) = asked.get("id") else { return reply("202 Accepted", &[], "") };
        let params = &asked["params"];
        let task = |id: &Value| json!({"taskId": id, "status": "working", "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": 1});
        let of = |id: &Value| json!({"io.modelcontextprotocol/related-task": {"taskId": id}});
        let said = |text: &str| json!([{"type": "text", "text": text}]);
        let mut can = json!({"tools": {}});
        if takes {
            can["tasks"] = json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}});
        }
        let result = match asked["method"].as_str().unwrap_or_default() {
            "initialize" => {
                json!({"protocolVersion": "2025-11-25", "capabilities": can, "serverInfo": {"name": "s", "version": "1"}})
            }
            "tools/list" => {
                json!({"tools": [{"name": "work", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "optional"}}]})
            }
            "tools/call" if params.get("task").is_some() => {
                let mut count = count.lock().unwrap();
                *count += 1;
                json!({"task": task(&json!(format!("t{count}")))})
            }
            "tools/call" => json!({"content": said("at once")}),
            "tasks/get" | "tasks/cancel" => task(&params["taskId"]),
            "tasks/result" => json!({"content": said(params["taskId"].as_str().unwrap()), "_meta": of(&params["taskId"])}),
            _ => return reply("400 Bad Request", &[], "nothing"),
        };
        reply("200 OK", &[JSON, "Mcp-Session-Id: s"], &json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
    })
}

/// A client's session at a gateway.
struct Client<'g> {
    gateway: &'g Gateway,
    key: &'static str,
    session: String,
    offered: Value,
}

impl<'g> Client<'g> {
    fn begin(gateway: &'g Gateway, key: &'static str) -> Client<'g> {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let mut client = Client { gateway, key, session: "X-None: a".to_owned(), offered: Value::Null };
        let begun = client.ask("initialize", params);
        client.session = format!("Mcp-Session-Id: {}", begun.header("Mcp-Session-Id").unwrap_or_else(|| panic!("{begun}")));
        client.offered = begun.json()["result"]["capabilities"]["tasks"].clone();
        client
    }

    fn ask(&self, method: &str, params: Value) -> Response {
        let lines = [JSON, &format!("Authorization: {}", self.key), &self.session];
        self.gateway.send(request("POST", "/f/", &lines, &call(method, params)))
    }

    fn tell(&self, method: &str, task: &str) -> Value {
        self.ask(method, json!({"taskId": task})).json()
    }
}

fn start(servers: Value) -> Gateway {
    let gateway = Gateway::start(json!({}), [federation(servers).with_keys()]);
    for key in ["mine", "yours"] {
        let answer = gateway.control("POST", &format!("/tyk/keys/{key}"), &session_for(&["f"], json!({})).to_string());
        assert_eq!(answer.status, 200, "{answer}");
    }
    gateway
}

#[test]
fn a_task_is_known_in_the_session_that_has_begun_it_at_any_gateway_and_nowhere_else() {
    let (able, other) = (server(true), server(false));
    let servers = json!([{"name": "a", "url": able.url()}, {"name": "b", "url": other.url(), "prefix": "b_"}]);
    let (one, two) = (start(servers.clone()), start(servers));
    let client = Client::begin(&one, "mine");
    assert_eq!(client.offered, json!({"cancel": {}, "requests": {"tools": {"call": {}}}}), "no list");
    let listed = client.ask("tools/list", json!({})).json();
    let support = |at: usize| listed["result"]["tools"][at]["execution"]["taskSupport"].clone();
    assert_eq!((support(0), support(1)), (json!("optional"), json!("forbidden")));
    let begin = |tool: &str| client.ask("tools/call", json!({"name": tool, "arguments": {}, "task": {"ttl": 1000}})).json();
    let begun = begin("work");
    let task = begun["result"]["task"]["taskId"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned();
    assert_eq!(begin("b_work")["result"]["content"][0]["text"], "at once", "who takes no tasks is not asked for one");
    let elsewhere = Client { gateway: &two, session: client.session.clone(), ..Client::begin(&two, "mine") };
    for client in [&client, &elsewhere] {
        for method in ["tasks/get", "tasks/cancel"] {
            let answer = client.tell(method, &task);
            assert_eq!((&answer["result"]["taskId"], &answer["result"]["status"]), (&json!(task), &json!("working")), "{method}");
        }
        let result = client.tell("tasks/result", &task)["result"].clone();
        assert_eq!(result["content"][0]["text"], "t1", "the server's own id");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/related-task"]["taskId"], json!(task));
    }
    let (again, stranger) = (Client::begin(&one, "mine"), Client::begin(&one, "yours"));
    let before = able.requests();
    let mark = task.split_once(':').unwrap().0;
    for (client, id) in [
        (&again, task.clone()),
        (&stranger, task.clone()),
        (&client, "t1".to_owned()),
        (&client, "a:t1".to_owned()),
        (&client, format!("{mark}:a:t2")),
        (&client, format!("{mark}:b:t1")),
        (&client, String::new()),
    ] {
        for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
            assert_eq!(client.tell(method, &id)["error"]["code"], -32602, "{method} {id}");
        }
    }
    assert_eq!(client.ask("tasks/get", json!({})).json()["error"]["code"], -32602);
    assert_eq!(client.ask("tasks/list", json!({})).json()["error"]["code"], -32601);
    assert_eq!(able.requests(), before, "the server is not asked");
    // Who has no session gets no task.
    let lines = [JSON, "Authorization: mine", super::harness::mcp::NOW, "Mcp-Method: tools/call", "Mcp-Name: work"];
    let body: Value = serde_json::from_str(&modern("work", json!({}))).unwrap();
    let mut asking = body.clone();
    asking["params"]["task"] = json!({"ttl": 1});
    let answer = one.send(request("POST", "/f/", &lines, &asking.to_string())).json();
    assert_eq!(answer["result"]["content"][0]["text"], "at once", "{answer}");
}

#[test]
fn a_federation_whose_servers_take_no_tasks_offers_none() {
    let other = server(false);
    let gateway = start(json!([{"name": "b", "url": other.url()}]));
    let client = Client::begin(&gateway, "mine");
    assert_eq!(client.offered, Value::Null);
    assert_eq!(client.tell("tasks/get", "t1")["error"]["code"], -32601);
}
