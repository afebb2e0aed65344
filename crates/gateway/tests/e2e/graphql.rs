//! GraphQL APIs as clients meet them: what passes to the upstream and in which form, what is refused before it gets there, and in whose words.

use std::process::Command;
use std::time::Duration;

use serde_json::json;

use crate::harness::browser::Browser;
use crate::harness::graph::{JSON, ask, data, graph, post};
use crate::harness::{Connection, Definition, Gateway, Seen, Upstream, api, error_json, reply, request};
use crate::jwt_issuers::python;
use crate::keys::{create, session};
use crate::servers::Server;
use crate::upgrade;

#[test]
fn websockets_pass_with_a_protocol_of_graphql() {
    let upstream = upgrade::echo();
    let old = graph(&upstream).set("api_id", "b").set("proxy/listen_path", "/b/").set("graphql/version", "1");
    let off = graph(&upstream).set("api_id", "c").set("proxy/listen_path", "/c/").set("tollgate/graphql/disable_websockets", true);
    let closed = graph(&upstream).set("api_id", "d").set("proxy/listen_path", "/d/").set("graphql/introspection/disabled", true);
    let gateway = Gateway::start(upgrade::enabled(), [graph(&upstream), old, off, closed]);
    let asked = |path: &str, protocol: &str| {
        let protocol = format!("Sec-WebSocket-Protocol: {protocol}");
        let lines: Vec<&str> = upgrade::ASK.into_iter().chain([protocol.as_str()]).collect();
        request("GET", path, &lines, "")
    };
    for protocol in ["graphql-transport-ws", "graphql-ws", "other, graphql-transport-ws"] {
        let mut client: Connection = gateway.connect();
        client.send(asked("/a/", protocol));
        assert!(client.head().unwrap().first.contains(" 101 "), "{protocol}");
        // A ping, masked with zeros. This upstream sends it back, which a server must not do.
        client.send(b"\x81\x8f\0\0\0\0{\"type\":\"ping\"}");
        assert!(matches!(client.rest().unwrap().as_slice(), b"" | b"\x88\0"), "only a close may come");
    }
    let off = error_json("websockets are not allowed");
    let invalid = error_json("invalid websocket protocol for upgrading to a graphql websocket connection");
    for (path, protocol, status, text) in [
        ("/a/", "chat", 400, invalid.as_str()),
        ("/a/", "", 400, invalid.as_str()),
        ("/b/", "graphql-ws", 422, off.as_str()),
        ("/c/", "graphql-ws", 422, off.as_str()),
        ("/d/", "chat", 400, invalid.as_str()),
    ] {
        let answer = gateway.send(asked(path, protocol));
        assert_eq!(answer.status, status, "{path} {protocol}: {answer}");
        assert!(answer.text().contains(text), "{path} {protocol}: {answer}");
    }
}

#[test]
fn every_key_opens_a_websocket() {
    let upstream = upgrade::echo();
    let gateway = Gateway::start(upgrade::enabled(), [graph(&upstream).with_keys()]);
    let free = create(&gateway, &session(json!({})));
    let bound = create(&gateway, &session(json!({"max_query_depth": 3})));
    for (key, status) in [(&free, "101"), (&bound, "101")] {
        let own = [format!("Authorization: {key}"), "Sec-WebSocket-Protocol: graphql-transport-ws".to_owned()];
        let lines: Vec<&str> = upgrade::ASK.into_iter().chain(own.iter().map(String::as_str)).collect();
        let mut client = gateway.connect();
        client.send(request("GET", "/a/", &lines, ""));
        assert!(client.head().unwrap().first.contains(status), "{status}");
    }
}

#[test]
fn events_of_a_subscription_arrive_one_by_one() {
    let (send, receive) = std::sync::mpsc::channel::<()>();
    let receive = std::sync::Mutex::new(receive);
    let upstream = Upstream::raw(move |mut wire, _| {
        if Seen::read(&mut wire).is_some() {
            wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n14\r\nevent: next\ndata: 1\n\r\n");
            let _ = receive.lock().unwrap().recv_timeout(Duration::from_secs(20));
            let _ = wire.try_send("14\r\nevent: next\ndata: 2\n\r\n0\r\n\r\n");
        }
    });
    let gateway = Gateway::start(json!({}), [graph(&upstream)]);
    let mut client = gateway.connect();
    let body = r#"{"query": "subscription { renamed { id } }"}"#;
    client.send(request("POST", "/a/", &[JSON, "Accept: text/event-stream"], body));
    let head = client.head().unwrap();
    assert_eq!(head.get("content-type"), Some("text/event-stream"));
    assert!(String::from_utf8(client.chunk().unwrap()).unwrap().contains("data: 1"));
    send.send(()).unwrap();
    assert!(String::from_utf8(client.chunk().unwrap()).unwrap().contains("data: 2"));
}

#[test]
fn a_page_for_people_sends_queries() {
    let upstream = data();
    let definition = graph(&upstream).with_keys().set("graphql/playground", json!({"enabled": true, "path": "/playground"}));
    let open = graph(&upstream)
        .set("api_id", "b")
        .set("proxy/listen_path", "/b/")
        .set("graphql/playground", json!({"enabled": true, "path": ""}));
    let gateway = Gateway::start(json!({}), [definition, open]);
    let page = gateway.get("/a/playground");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(!page.text().contains("http://") && !page.text().contains("https://") && !page.text().contains("{{"));
    assert!(page.header("content-security-policy").unwrap().contains("default-src 'none'"));
    assert_eq!(gateway.get("/a/playground2").status, 401);
    assert_eq!(gateway.send(request("POST", "/a/playground", &[], "")).status, 401);
    // At the path of the queries, only browsers get the page.
    assert_eq!(gateway.get("/b/").status, 400);
    assert_eq!(gateway.send(request("GET", "/b/", &["Accept: text/html,*/*"], "")).status, 200);
    let Some(mut browser) = Browser::start() else { return };
    let port = gateway.connect().socket().peer_addr().unwrap().port();
    let mut tab = browser.tab();
    tab.open_page(&format!("http://127.0.0.1:{port}/b/"));
    tab.eval("document.getElementById('query').value = '{ me { id } }'");
    tab.eval("document.getElementById('run').click()");
    tab.wait("document.getElementById('result').textContent.includes('\"id\": \"1\"')");
    tab.eval("document.getElementById('schema').open = true");
    tab.wait("document.querySelector('#schema ul').textContent.includes('user(id: ID!, where: Filter): User')");
    assert_eq!(upstream.last().text(), r#"{"query":"{ me { id } }"}"#);
}

#[test]
fn a_schema_that_cannot_work_is_told_with_its_place_and_the_last_good_one_stays() {
    let upstream = data();
    let gateway = Gateway::start(json!({}), [graph(&upstream)]);
    let broken = graph(&upstream).set("graphql/schema", "type Query {\n  me: Nobody\n  you: Int @odd\n}");
    gateway.write_api(&broken);
    gateway.reload();
    assert_eq!(ask(&gateway, "{ me { id } }").status, 200);
    let told = "$.graphql.schema: error: line 2, column 7: cannot find type `Nobody` in this document";
    let log = gateway.log();
    assert!(log.contains("line 2, column 7: cannot find type `Nobody` in this document"), "{log}");
    let check = |definition: &Definition| {
        let file = gateway.dir().join("checked.json");
        std::fs::write(&file, definition.0.to_string()).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_tollgate")).arg("check").arg(&file).output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap())
    };
    let (good, text) = check(&broken);
    assert!(!good && text.contains(told), "{text}");
    let (good, text) =
        check(&graph(&upstream).set("graphql/schema", "type Query { me: Int @odd }").set("graphql/proxy/subscription_type", "sse"));
    assert!(good && text.contains("cannot find directive `@odd`") && text.contains("graphql.proxy.subscription_type"), "{text}");
    let (good, text) = check(
        &graph(&upstream)
            .set("graphql/execution_mode", "subgraph")
            .set("graphql/schema", "")
            .set("graphql/subgraph/sdl", "type Query { a: }"),
    );
    assert!(!good && text.contains("$.graphql.subgraph.sdl: error: line 1"), "{text}");
}

#[test]
fn long_documents_are_checked_elsewhere_and_then_known() {
    let upstream = data();
    let gateway = Gateway::start(json!({"tollgate": {"threads": 1}}), [graph(&upstream), api("b", "/b/", &upstream.url())]);
    let fields = |n: usize| (0..450).map(|m| format!("a{n}x{m}: friends {{ id name }} ")).collect::<String>();
    let body = |n: usize, end: &str| json!({"query": format!("{{ me {{ {} }} }}{end}", fields(n))}).to_string();
    let mut clients: Vec<Connection> = (0..8)
        .map(|n| {
            let mut client = gateway.connect();
            client.send(request("POST", "/a/", &[JSON], &body(n, if n == 7 { " }" } else { "" })));
            client
        })
        .collect();
    // Requests of another API, on the same thread, are served meanwhile.
    for _ in 0..20 {
        assert_eq!(gateway.get("/b/").status, 200);
    }
    let statuses: Vec<u16> = clients.iter_mut().map(|client| client.response("POST").status).collect();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 200, 400]);
    let batch = format!("[{},{},{}]", body(1, ""), body(20, ""), body(21, ""));
    for _ in 0..2 {
        assert_eq!(gateway.send(request("POST", "/a/", &[JSON], &batch)).status, 200);
        assert_eq!(upstream.last().text(), batch);
    }
}

#[test]
fn records_say_what_was_asked_for() {
    let (server, upstream) =
        (Server::start(&[]), Upstream::start(|_| reply("200 OK", &[JSON], r#"{"data":null,"errors":[{"message":"no"}]}"#)));
    let conf = json!({
        "enable_analytics": true, "enable_separate_analytics_store": true,
        "analytics_storage": {"type": "redis", "host": "127.0.0.1", "port": server.port},
        "tollgate": {"threads": 1, "analytics": {"usage": false}}
    });
    let gateway = Gateway::start(conf, [graph(&upstream).set("do_not_track", false)]);
    let query = "query A($id: ID!) { x: user(id: $id) { id pet { name } } me { ...F } } fragment F on User { email __typename }";
    assert_eq!(post(&gateway, &json!({"query": query, "variables": {"id": "1"}})).status, 200);
    let records = crate::records::records(&server, 1);
    let reader = "import json, msgpack\nprint(json.dumps([msgpack.unpackb(bytes.fromhex(r), raw=False) for r in RECORDS.split()]))";
    let hex: String = records[0].iter().map(|byte| format!("{byte:02x}")).collect();
    let Some(read) = python(&format!("RECORDS = '{hex}'\n{reader}")) else { return };
    let stats = &read[0]["GraphQLStats"];
    let expected = json!({
        "Variables": "{\"id\":\"1\"}", "RootFields": ["me", "user"], "Types": {"Pet": ["name"], "User": ["email", "id", "pet"]},
        "Errors": [{"Message": "no", "Path": null}], "OperationType": 1, "HasErrors": true, "IsGraphQL": true
    });
    assert_eq!(stats, &expected);
    assert!(read[0]["Tags"].as_array().unwrap().contains(&json!("tyk-graph-analytics")));
    assert!(!read[0]["ApiSchema"].as_str().unwrap().is_empty() && !read[0]["RawRequest"].as_str().unwrap().is_empty());
}
