//! What servers behind a federation do wrong, or clients try at it, costs nobody else anything.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::harness::{Connection, Definition, Gateway, Response, Seen, Setup, Upstream, api, eventually, reply, request};
use crate::servers::Server;
use crate::shared_keys::on;
use crate::shared_limits::all_count;

fn json_reply(id: &Value, lines: &[&str], result: Value) -> Vec<u8> {
    let lines = [&["Content-Type: application/json"], lines].concat();
    reply("200 OK", &lines, &json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
}

/// What a server with sessions and these tools answers.
fn usual(asked: &Value, tools: &[&str]) -> Vec<u8> {
    let id = &asked["id"];
    match asked["method"].as_str().unwrap_or_default() {
        "initialize" => {
            let begun = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}});
            json_reply(id, &["Mcp-Session-Id: one"], begun)
        }
        "tools/list" => {
            let tool = |name: &&str| json!({"name": name, "inputSchema": {"type": "object"}});
            json_reply(id, &[], json!({"tools": tools.iter().map(tool).collect::<Vec<_>>()}))
        }
        "tools/call" => json_reply(id, &[], json!({"content": [{"type": "text", "text": asked["params"]["name"]}]})),
        "server/discover" => reply("404 Not Found", &[], ""),
        _ => reply("202 Accepted", &[], ""),
    }
}

fn asked(seen: &Seen) -> Value {
    serde_json::from_slice(&seen.body).unwrap_or_default()
}

fn good(tools: &'static [&'static str]) -> Upstream {
    Upstream::start(|seen| usual(&asked(seen), tools))
}

/// A server whose connections are handled one request at a time by `own`, if that says so.
fn raw(
    tools: &'static [&'static str],
    own: impl Fn(&mut Connection, &Seen, &Value) -> Option<bool> + Send + Sync + 'static,
) -> Upstream {
    Upstream::raw(move |wire, _| {
        let mut wire = wire;
        while let Some(seen) = Seen::read(&mut wire) {
            let message = asked(&seen);
            match own(&mut wire, &seen, &message) {
                Some(true) => {}
                Some(false) => return,
                None if wire.try_send(usual(&message, tools)).is_err() => return,
                None => {}
            }
        }
    })
}

fn federation(servers: Value) -> Definition {
    api("f", "/f/", "").set("application_protocol", "mcp").set("tollgate/mcp", json!({"servers": servers}))
}

fn start(servers: Value) -> Gateway {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/mcp_process.py");
    let serial = json!({"command": ["python3", script], "environment": {"SERIAL": "yes"}});
    let commands = json!({"process": {"command": ["python3", script]}, "serial": serial});
    Setup::new(json!({"tollgate": {"mcp_commands": commands}})).api(federation(servers)).start()
}

fn post(gateway: &Gateway, lines: &[&str], message: &Value) -> Response {
    let lines = [&["Content-Type: application/json", "Accept: application/json, text/event-stream"], lines].concat();
    gateway.connect().ask(request("POST", "/f/", &lines, &message.to_string()))
}

fn begin(gateway: &Gateway) -> String {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let begun = post(gateway, &[], &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
    format!("Mcp-Session-Id: {}", begun.header("Mcp-Session-Id").unwrap_or_else(|| panic!("{}", begun.text())))
}

fn call(name: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
}

/// The text of a call's result, or all of it.
fn said(gateway: &Gateway, session: &str, name: &str, arguments: Value) -> String {
    let answer = post(gateway, &[session], &call(name, arguments));
    let messages = messages(&answer.text());
    let last = messages.last().cloned().unwrap_or_default();
    last["result"]["content"][0]["text"].as_str().map_or_else(|| last.to_string(), str::to_owned)
}

fn messages(text: &str) -> Vec<Value> {
    text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ").unwrap_or(line)).ok()).collect()
}

fn names(gateway: &Gateway, session: &str) -> Vec<String> {
    let listed = post(gateway, &[session], &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).json();
    listed["result"]["tools"].as_array().into_iter().flatten().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// The stream of a session.
fn listen(gateway: &Gateway, session: &str) -> Connection {
    let mut wire = gateway.connect();
    wire.send(request("GET", "/f/", &["Accept: text/event-stream", session], ""));
    assert_eq!(wire.head().unwrap().get("Content-Type"), Some("text/event-stream"));
    wire
}

#[test]
fn what_has_no_answer_calls_nothing() {
    let upstream = good(&["drop", "keep"]);
    let gateway = start(json!([{"name": "s", "url": upstream.url(), "exclude": ["drop"]}]));
    let session = begin(&gateway);
    for method in ["tools/call", "admin/wipe", "resources/subscribe", "notifications/own"] {
        let told = json!({"jsonrpc": "2.0", "method": method, "params": {"name": "drop", "arguments": {}}});
        assert_eq!(post(&gateway, &[&session], &told).status, 202);
    }
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}});
    assert_eq!(post(&gateway, &[&session], &cancelled).status, 202);
    let seen: Vec<String> = upstream.seen().iter().map(Seen::text).collect();
    assert!(seen.iter().any(|body| body.contains("notifications/cancelled")));
    assert!(!seen.iter().any(|body| body.contains("drop") || body.contains("wipe") || body.contains("own")), "{seen:?}");
    // Only JSON is a message.
    for lines in [&["Content-Type: text/plain"][..], &[], &["Content-Type: text/plain", "Content-Type: application/json"]] {
        let lines = [lines, &[&session]].concat();
        let answer = gateway.connect().ask(request("POST", "/f/", &lines, &call("keep", json!({})).to_string()));
        assert!((400..500).contains(&answer.status), "{lines:?}: {}", answer.text());
    }
}

#[test]
fn a_session_that_a_server_has_ended_is_over_for_its_client() {
    let forgets = Arc::new(AtomicBool::new(false));
    let forgot = forgets.clone();
    let upstream = Upstream::start(move |seen| {
        if forgot.load(Ordering::SeqCst) && seen.header("Mcp-Session-Id").is_some() {
            return reply("404 Not Found", &[], "");
        }
        usual(&asked(seen), &["one"])
    });
    let gateway = start(json!([{"name": "s", "url": upstream.url()}]));
    let session = begin(&gateway);
    assert_eq!(said(&gateway, &session, "one", json!({})), "one");
    forgets.store(true, Ordering::SeqCst);
    assert_eq!(post(&gateway, &[&session], &call("one", json!({}))).status, 404, "so that the client begins another");
}

#[test]
fn a_session_that_was_ended_at_one_gateway_is_over_at_all() {
    let (server, upstream) = (Server::start(&[]), good(&["one"]));
    let conf = on(&server);
    let [one, other] =
        [(); 2].map(|()| Setup::new(conf.clone()).api(federation(json!([{"name": "s", "url": upstream.url()}]))).start());
    all_count(&conf, 2);
    let session = begin(&one);
    assert_eq!(said(&other, &session, "one", json!({})), "one");
    let ended = one.connect().ask(request("DELETE", "/f/", &[&session], ""));
    assert_eq!(ended.status, 204);
    eventually("the other gateway knows", || post(&other, &[&session], &call("one", json!({}))).status == 404);
    one.write_api(&federation(json!([{"name": "s", "url": upstream.url(), "timeout_s": 9}])));
    one.reload();
    assert_eq!(post(&one, &[&session], &call("one", json!({}))).status, 404, "also when the API has changed");
}

#[test]
fn streams_that_clients_leave_end_at_the_servers() {
    let open = Arc::new(AtomicUsize::new(0));
    let counted = open.clone();
    let upstream = raw(&["one"], move |wire, seen, _| {
        if seen.method != "GET" {
            return None;
        }
        counted.fetch_add(1, Ordering::SeqCst);
        let _ = wire.try_send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: here\n\n");
        let _ = wire.rest();
        counted.fetch_sub(1, Ordering::SeqCst);
        Some(false)
    });
    let gateway = start(json!([{"name": "s", "url": upstream.url()}]));
    let session = begin(&gateway);
    let streams: Vec<Connection> = (0..20).map(|_| listen(&gateway, &session)).collect();
    eventually("the server has them all", || open.load(Ordering::SeqCst) == 20);
    streams.into_iter().for_each(Connection::reset);
    eventually("none is left", || open.load(Ordering::SeqCst) == 0);
    gateway.expect_no_panic();
}

#[test]
fn changes_are_read_at_the_server_that_tells_them_and_seldom() {
    let (told, lists) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (telling, listed) = (told.clone(), lists.clone());
    let flood = raw(&["flood"], move |wire, seen, message| {
        if message["method"] == "tools/list" {
            listed.fetch_add(1, Ordering::SeqCst);
        }
        if seen.method != "GET" {
            return None;
        }
        let _ = wire.try_send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
        let event = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n".repeat(100);
        while wire.try_send(&event).is_ok() {
            telling.fetch_add(100, Ordering::SeqCst);
        }
        Some(false)
    });
    let quiet = good(&["quiet"]);
    let gateway = start(json!([{"name": "quiet", "url": quiet.url()}, {"name": "flood", "url": flood.url()}]));
    let session = begin(&gateway);
    let wire = listen(&gateway, &session);
    eventually("there was a flood", || told.load(Ordering::SeqCst) > 20_000);
    wire.reset();
    let of_quiet = quiet.seen().iter().filter(|seen| asked(seen)["method"] == "tools/list").count();
    assert_eq!(of_quiet, 1, "nobody asks it again");
    let of_flood = lists.load(Ordering::SeqCst);
    assert!(of_flood < 50, "{of_flood}");
    let before = told.load(Ordering::SeqCst);
    eventually("the flood ends with the client", || {
        let now = told.load(Ordering::SeqCst);
        thread::sleep(std::time::Duration::from_millis(200));
        now == told.load(Ordering::SeqCst) && now >= before
    });
    assert_eq!(names(&gateway, &session), ["quiet", "flood"]);
}

#[test]
fn a_stream_that_breaks_is_resumed_or_ends_with_an_error() {
    let upstream = raw(&["resumed", "cut"], |wire, seen, message| {
        let event = |lines: &str| format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n{lines}\n\n");
        let bytes = match (seen.method.as_str(), message["params"]["name"].as_str().unwrap_or_default()) {
            ("GET", _) if seen.header("Last-Event-ID") == Some("7") => {
                let response = json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "went on"}]}});
                event(&format!("data: {response}"))
            }
            ("GET", _) => "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n".to_owned(),
            (_, "resumed") => event("id: 7\nretry: 5\ndata:"),
            (_, "cut") => event("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}"),
            _ => return None,
        };
        let _ = wire.try_send(bytes);
        Some(false)
    });
    let gateway = start(json!([{"name": "s", "url": upstream.url()}]));
    let session = begin(&gateway);
    assert_eq!(said(&gateway, &session, "resumed", json!({})), "went on");
    let cut: Value = serde_json::from_str(&said(&gateway, &session, "cut", json!({}))).unwrap();
    assert_eq!((&cut["id"], &cut["error"]["code"]), (&json!(1), &json!(-32004)), "{cut}");
}

/// On the stream of a session, a server answers nobody's requests; on a resumed one, the request whose stream it is.
#[test]
fn a_server_answers_only_what_it_was_asked() {
    let response = |id: u32, word: &str| {
        let response = json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": word}]}});
        format!("id: e{id}\ndata: {response}\n\n")
    };
    let upstream = raw(&["one"], move |wire, seen, message| {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
        let told = |word: &str| {
            let told = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": word}});
            format!("id: t1\ndata: {told}\n\n")
        };
        let bytes = match (seen.method.as_str(), seen.header("Last-Event-ID")) {
            ("GET", None) => format!("{head}{}{}", response(4, "forged"), told("listening")),
            ("GET", Some("c1")) => format!("{head}{}{}", response(4, "forged"), response(3, "resumed")),
            ("GET", Some("t1")) => format!("{head}{}{}", response(3, "forged"), told("again")),
            ("POST", _) if message["method"] == "tools/call" => {
                let progress =
                    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}});
                format!("{head}id: c1\ndata: {progress}\n\n")
            }
            _ => return None,
        };
        let _ = wire.try_send(bytes);
        if seen.method == "POST" {
            let _ = wire.rest();
        }
        Some(false)
    });
    let gateway = start(json!([{"name": "s", "url": upstream.url()}]));
    let session = begin(&gateway);
    let read = |wire: &mut Connection, until: &str| {
        let mut text = String::new();
        while !text.contains(until) {
            text.push_str(&String::from_utf8(wire.chunk().unwrap_or_else(|error| panic!("{error}: {text}"))).unwrap());
        }
        assert!(!text.contains("forged"), "{text}");
        text.lines().rev().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned()
    };
    let resumed = |event: &str| {
        let mut wire = gateway.connect();
        wire.send(request("GET", "/f/", &["Accept: text/event-stream", &session, &format!("Last-Event-ID: {event}")], ""));
        wire.head().unwrap();
        wire
    };
    let event = read(&mut listen(&gateway, &session), "listening");
    read(&mut resumed(&event), "again");
    let mut call = call("one", json!({}));
    call["id"] = json!(3);
    let mut wire = gateway.connect();
    let lines = ["Content-Type: application/json", "Accept: application/json, text/event-stream", &session];
    wire.send(request("POST", "/f/", &lines, &call.to_string()));
    wire.head().unwrap();
    let event = read(&mut wire, "progress");
    wire.reset();
    read(&mut resumed(&event), "resumed");
}

/// Servers may count the events of all their sessions together: an id that can be guessed is good for nobody else.
#[test]
fn an_event_is_resumed_behind_in_its_session_alone_at_every_gateway() {
    let upstream = raw(&["one"], |wire, seen, message| {
        let event = |id: &str, message: Value| {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
            format!("{head}id: {id}\ndata: {message}\n\n")
        };
        let bytes = match (seen.method.as_str(), message["method"].as_str()) {
            ("GET", _) if seen.header("Last-Event-ID").is_some() => {
                event("2", json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "of mine"}]}}))
            }
            ("POST", Some("tools/call")) => {
                let progress = json!({"progressToken": 1, "progress": 1});
                event("1", json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}))
            }
            _ => return None,
        };
        let _ = wire.try_send(bytes);
        if seen.method == "POST" {
            let _ = wire.rest();
        }
        Some(false)
    });
    let keyed = || federation(json!([{"name": "s", "url": upstream.url()}])).with_keys();
    let gateways = [(); 2].map(|()| Setup::new(json!({})).api(keyed()).start());
    let right = json!({"f": {"api_id": "f", "versions": ["Default"]}});
    let rights = json!({"org_id": "default", "expires": 0, "quota_max": -1, "access_rights": right}).to_string();
    for (gateway, key) in gateways.iter().flat_map(|gateway| ["mine", "yours"].map(|key| (gateway, key))) {
        assert_eq!(gateway.control("POST", &format!("/tyk/keys/{key}"), &rights).status, 200);
    }
    let [first, second] = &gateways;
    let begin = |key: &str| {
        let key = format!("Authorization: {key}");
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let begun = post(first, &[&key], &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
        (key, format!("Mcp-Session-Id: {}", begun.header("Mcp-Session-Id").unwrap()))
    };
    let (mine, again, yours) = (begin("mine"), begin("mine"), begin("yours"));
    let mut wire = first.connect();
    let lines = ["Content-Type: application/json", "Accept: application/json, text/event-stream", &mine.0, &mine.1];
    wire.send(request("POST", "/f/", &lines, &call("one", json!({})).to_string()));
    wire.head().unwrap();
    let event = String::from_utf8(wire.chunk().unwrap()).unwrap();
    let event = event.lines().find_map(|line| line.strip_prefix("id: ")).unwrap_or_else(|| panic!("{event}")).to_owned();
    wire.reset();
    let resumed = |gateway: &Gateway, caller: &(String, String), event: &str| {
        let lines = ["Accept: text/event-stream", &caller.0, &caller.1, &format!("Last-Event-ID: {event}")];
        gateway.connect().ask(request("GET", "/f/", &lines, ""))
    };
    first.reload();
    for gateway in &gateways {
        assert!(resumed(gateway, &mine, &event).text().contains("of mine"));
    }
    let next = event.replace(":1", ":0");
    let unmarked = event.split_once(':').unwrap().1;
    let asked_before = upstream.requests();
    for (caller, event) in [(&yours, &*event), (&again, &event), (&mine, &next), (&mine, unmarked), (&mine, "s::1"), (&mine, "1")] {
        let refused = resumed(second, caller, event);
        assert_eq!((refused.status, refused.json()["error"]["code"].as_i64()), (400, Some(-32600)), "{event}");
    }
    assert_eq!(upstream.requests(), asked_before, "the server is not asked");
}

/// All calls of one caller share a session, which is begun once.
#[test]
fn calls_that_come_together_begin_one_session() {
    let (begun, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted, over) = (begun.clone(), ended.clone());
    let upstream = Upstream::start(move |seen| {
        let message = asked(seen);
        if seen.method == "DELETE" {
            over.fetch_add(1, Ordering::SeqCst);
        }
        if message["method"] == "initialize" {
            counted.fetch_add(1, Ordering::SeqCst);
            thread::sleep(std::time::Duration::from_millis(300));
        }
        usual(&message, &["one"])
    });
    let gateway = start(json!([{"name": "s", "url": upstream.url()}]));
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let call =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "one", "arguments": {}, "_meta": meta}});
    let lines = ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: one"];
    thread::scope(|scope| {
        let calls: Vec<_> = (0..20).map(|_| scope.spawn(|| post(&gateway, &lines, &call).text())).collect();
        for answer in calls {
            let answer = answer.join().unwrap();
            assert!(answer.contains("\"text\":\"one\""), "{answer}");
        }
    });
    // One to see what the server offers, and one for the caller.
    assert_eq!((begun.load(Ordering::SeqCst), ended.load(Ordering::SeqCst)), (2, 0));
}

/// Nobody waits for a server that hangs, and one with a name that fits nowhere costs no other its session.
#[test]
fn servers_that_do_not_come_hold_nobody_up() {
    let silent = Upstream::raw(|wire, _| {
        let mut wire = wire;
        let _ = wire.rest();
    });
    let long = Upstream::start(|seen| {
        let message = asked(seen);
        if message["method"] == "initialize" {
            let begun = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}});
            return json_reply(&message["id"], &[&format!("Mcp-Session-Id: {}", "x".repeat(7_000))], begun);
        }
        usual(&message, &["long"])
    });
    let own = Upstream::start(|seen| {
        let message = asked(seen);
        match message["method"] == "tools/call" {
            true => json_reply(&message["id"], &[], json!({"content": [{"type": "text", "text": seen.header("Mcp-Session-Id")}]})),
            false => usual(&message, &["own"]),
        }
    });
    let servers =
        json!([{"name": "silent", "url": silent.url()}, {"name": "long", "url": long.url()}, {"name": "own", "url": own.url()}]);
    let gateway = start(servers);
    let session = begin(&gateway);
    assert_eq!(said(&gateway, &session, "own", json!({})), "one", "its session");
    assert_eq!(said(&gateway, &session, "long", json!({})), "long");
    gateway.expect_no_panic();
}

/// Notifications without end are no answer.
#[test]
fn a_call_ends_in_time_for_a_client_that_reads_no_events() {
    let upstream = raw(&["endless"], |wire, _, message| {
        if message["method"] != "tools/call" {
            return None;
        }
        let _ = wire.try_send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
        let event = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":\"x\"}}\n\n";
        while wire.try_send(event).is_ok() {}
        Some(false)
    });
    let gateway = start(json!([{"name": "s", "url": upstream.url(), "timeout_s": 1}]));
    let session = begin(&gateway);
    let lines = ["Content-Type: application/json", "Accept: application/json", &session];
    let answer = gateway.connect().ask(request("POST", "/f/", &lines, &call("endless", json!({})).to_string()));
    assert_eq!(answer.json()["error"]["code"], -32004, "{}", answer.text());
}

/// A server's own limit holds for its calls, not the one for other upstreams; and it gets its secrets.
#[test]
fn a_call_may_take_longer_than_other_requests() {
    let upstream = Upstream::start(|seen| {
        let message = asked(seen);
        if message["method"] == "tools/call" {
            thread::sleep(std::time::Duration::from_millis(2_500));
            let text = seen.header("X-Token").unwrap_or_default();
            return json_reply(&message["id"], &[], json!({"content": [{"type": "text", "text": text}]}));
        }
        usual(&message, &["slow"])
    });
    let server = json!({"name": "s", "url": upstream.url(), "headers": {"X-Token": "is $secret_conf.token"}});
    let conf = json!({"proxy_default_timeout": 1, "secrets": {"token": "secret"}});
    let gateway = Setup::new(conf).api(federation(json!([server]))).start();
    let session = begin(&gateway);
    assert_eq!(said(&gateway, &session, "slow", json!({})), "is secret");
}

/// Messages that are many times as large in memory as on the wire.
#[test]
fn fat_messages_have_little_room() {
    let upstream = raw(&["fat", "slow"], |wire, _, message| {
        if message["method"] != "tools/call" {
            return None;
        }
        if message["params"]["name"] == "slow" {
            thread::sleep(std::time::Duration::from_secs(2));
            return None;
        }
        let _ = wire.try_send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
        let zeros = "0,".repeat(400_000);
        let event =
            format!("data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{\"data\":[{zeros}0]}}}}\n\n");
        while wire.try_send(&event).is_ok() {}
        Some(false)
    });
    let gateway = start(json!([{"name": "s", "url": upstream.url()}]));
    let session = begin(&gateway);
    let before = gateway.rss_kib();
    let lines = ["Content-Type: application/json", "Accept: application/json, text/event-stream", &session];
    let silent: Vec<Connection> = (0..12)
        .map(|_| {
            let mut wire = gateway.connect();
            wire.send(request("POST", "/f/", &lines, &call("fat", json!({})).to_string()));
            wire
        })
        .collect();
    // What clients send is bounded too: by itself, and all that one of them has under way.
    let of = |count: usize| call("slow", json!({"a": vec![0; count]}));
    assert!(post(&gateway, &[&session], &of(3_000_000)).text().contains("too much memory"));
    let answers: Vec<u16> = thread::scope(|scope| {
        let calls: Vec<_> = (0..12).map(|_| scope.spawn(|| post(&gateway, &[&session], &of(200_000)).status)).collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    assert!(answers.contains(&200) && answers.contains(&503), "{answers:?}");
    let grown = gateway.rss_kib().saturating_sub(before) >> 10;
    assert!(grown < 1_000, "{grown} MiB");
    silent.into_iter().for_each(Connection::reset);
    gateway.expect_no_panic();
}

#[test]
fn a_process_gets_and_gives_what_does_not_fit_into_its_pipes() {
    let gateway = start(json!([{"name": "p", "command": "serial"}]));
    let session = begin(&gateway);
    let text = "x".repeat(1 << 20);
    thread::scope(|scope| {
        let calls: Vec<_> = (0..4).map(|_| scope.spawn(|| said(&gateway, &session, "echo", json!({"text": text})))).collect();
        for call in calls {
            assert!(call.join().unwrap() == text);
        }
    });
    let child: u32 = said(&gateway, &session, "child", json!({})).parse().unwrap();
    let is_there = || std::fs::read_to_string(format!("/proc/{child}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(is_there());
    let _ = said(&gateway, &session, "exit", json!({}));
    eventually("what it has started ends with it", || !is_there());
}

/// A process and what it has started end with their API, also when nobody asks for anything, and with the gateway.
#[test]
fn processes_end_with_their_api_and_with_the_gateway() {
    let mut gateway = start(json!([{"name": "p", "command": "process"}]));
    let is_alive = |pid: &str| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        !status.is_empty() && !status.contains("State:\tZ")
    };
    let both = |gateway: &Gateway| {
        let session = begin(gateway);
        let pids = ["pid", "child"].map(|tool| said(gateway, &session, tool, json!({})));
        assert!(pids.iter().all(|pid| is_alive(pid)), "{pids:?}");
        pids
    };
    let before = both(&gateway);
    gateway.write_api(&federation(json!([{"name": "p", "command": "process", "timeout_s": 9}])));
    gateway.reload();
    eventually("the process of the API before has ended", || !before.iter().any(|pid| is_alive(pid)));
    let after = both(&gateway);
    gateway.signal("TERM");
    assert!(gateway.wait_for_exit().success());
    eventually("nothing is left", || !after.iter().any(|pid| is_alive(pid)));
}

#[test]
fn a_process_hears_that_nobody_waits_and_tells_that_it_has_changed() {
    let gateway = start(json!([{"name": "p", "command": "process"}]));
    let session = begin(&gateway);
    let mut wire = gateway.connect();
    let lines = ["Content-Type: application/json", "Accept: application/json, text/event-stream", &session];
    wire.send(request("POST", "/f/", &lines, &call("sleep", json!({"seconds": 50})).to_string()));
    assert_eq!(said(&gateway, &session, "cancels", json!({})), "0");
    wire.reset();
    eventually("the call is cancelled", || said(&gateway, &session, "cancels", json!({})) == "1");
    let _ = said(&gateway, &session, "grow", json!({}));
    eventually("the new tool is there", || names(&gateway, &session).iter().any(|name| name == "grown"));
}
