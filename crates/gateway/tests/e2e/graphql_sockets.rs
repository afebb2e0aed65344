//! GraphQL subscriptions: a client over WebSockets, and servers that send events over WebSockets and HTTP. In front of a server that is not ours,
//! the gateway checks what is inside WebSockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::handshake::server::{Request, Response};
use tungstenite::{Message, WebSocket};

use crate::harness::{Definition, Gateway, PATIENCE, api};
use crate::keys::{create, session, session_for};
use crate::openid_provider::packages;
use crate::upgrade;

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/graphql_server.mjs");

/// A client with one WebSocket.
pub(crate) struct GraphqlSocket {
    socket: WebSocket<TcpStream>,
    is_present: bool,
    last: u32,
}

fn say(socket: &mut WebSocket<TcpStream>, message: Value) {
    socket.send(Message::text(message.to_string())).unwrap();
}

fn hear(socket: &mut WebSocket<TcpStream>) -> Option<Value> {
    loop {
        match socket.read().ok()? {
            Message::Text(text) => return Some(serde_json::from_str(&text).unwrap()),
            Message::Close(_) => return None,
            _ => {}
        }
    }
}

impl GraphqlSocket {
    pub(crate) fn open(gateway: &Gateway, target: &str, protocol: &str) -> GraphqlSocket {
        GraphqlSocket::open_with(gateway, target, protocol, "none")
    }

    /// The same with a key.
    pub(crate) fn open_with(gateway: &Gateway, target: &str, protocol: &str, key: &str) -> GraphqlSocket {
        let address = gateway.connect().socket().peer_addr().unwrap();
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut request = format!("ws://{address}{target}").into_client_request().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", protocol.parse().unwrap());
        request.headers_mut().insert("authorization", key.parse().unwrap());
        // Browsers always offer it.
        request.headers_mut().insert("sec-websocket-extensions", "permessage-deflate".parse().unwrap());
        let (mut socket, response) = tungstenite::client(request, stream).unwrap();
        assert_eq!(response.headers().get("sec-websocket-protocol").and_then(|name| name.to_str().ok()), Some(protocol));
        say(&mut socket, json!({"type": "connection_init"}));
        assert_eq!(hear(&mut socket), Some(json!({"type": "connection_ack"})));
        GraphqlSocket { socket, is_present: protocol == "graphql-transport-ws", last: 0 }
    }

    /// Begins an operation; returns its id.
    pub(crate) fn start(&mut self, query: &str) -> String {
        self.last += 1;
        let (id, kind) = (self.last.to_string(), if self.is_present { "subscribe" } else { "start" });
        say(&mut self.socket, json!({"id": id, "type": kind, "payload": {"query": query}}));
        id
    }

    /// The next message.
    pub(crate) fn message(&mut self) -> Value {
        hear(&mut self.socket).expect("a message")
    }

    /// The next message, if there is one in this time.
    pub(crate) fn message_within(&mut self, time: Duration) -> Option<Value> {
        self.socket.get_ref().set_read_timeout(Some(time)).unwrap();
        let message = hear(&mut self.socket);
        self.socket.get_ref().set_read_timeout(Some(PATIENCE)).unwrap();
        message
    }

    /// Ends an operation.
    fn stop(&mut self, id: &str) {
        let kind = if self.is_present { "complete" } else { "stop" };
        say(&mut self.socket, json!({"id": id, "type": kind}));
    }

    /// The responses to an operation, until it is complete.
    pub(crate) fn run(&mut self, query: &str) -> Vec<Value> {
        let id = self.start(query);
        let next = if self.is_present { "next" } else { "data" };
        let mut responses = Vec::new();
        loop {
            let message = hear(&mut self.socket).expect("the operation is not complete");
            assert_eq!(message["id"], id.as_str());
            if message["type"] == "complete" {
                return responses;
            }
            assert_eq!(message["type"], next, "{message}");
            responses.push(message["payload"].clone());
        }
    }

    /// Why an operation is refused.
    pub(crate) fn refused(&mut self, query: &str) -> Value {
        self.start(query);
        let message = hear(&mut self.socket).expect("the operation is refused");
        assert_eq!(message["type"], "error");
        message["payload"].clone()
    }
}

/// A server with a WebSocket that sends the same events to every subscription.
pub(crate) struct SocketSource(SocketAddr);

impl SocketSource {
    pub(crate) fn start(protocol: &'static str, events: &[Value]) -> SocketSource {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, events) = (listener.local_addr().unwrap(), events.to_vec());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let events = events.clone();
                std::thread::spawn(move || serve_socket(stream, protocol, &events));
            }
        });
        SocketSource(address)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.0)
    }
}

// The answer is the library's.
#[expect(clippy::result_large_err)]
fn serve_socket(stream: TcpStream, protocol: &str, events: &[Value]) {
    let choose = |request: &Request, mut response: Response| {
        assert_eq!(request.headers().get("sec-websocket-protocol").and_then(|name| name.to_str().ok()), Some(protocol));
        response.headers_mut().insert("sec-websocket-protocol", protocol.parse().unwrap());
        Ok(response)
    };
    let Ok(mut socket) = tungstenite::accept_hdr(stream, choose) else { return };
    let is_present = protocol == "graphql-transport-ws";
    while let Some(message) = hear(&mut socket) {
        match message["type"].as_str().unwrap() {
            "connection_init" => say(&mut socket, json!({"type": "connection_ack"})),
            "subscribe" | "start" => {
                assert!(message["payload"]["query"].as_str().unwrap().starts_with("subscription"), "{message}");
                for event in events {
                    if is_present {
                        say(&mut socket, json!({"type": "ping"}));
                    }
                    say(
                        &mut socket,
                        json!({"id": message["id"], "type": if is_present { "next" } else { "data" }, "payload": event}),
                    );
                }
                say(&mut socket, json!({"id": message["id"], "type": "complete"}));
            }
            _ => {}
        }
    }
}

/// A server that sends the same events of HTTP to every request.
pub(crate) struct EventSource(SocketAddr);

impl EventSource {
    pub(crate) fn start(events: &[Value]) -> EventSource {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, events) = (listener.local_addr().unwrap(), events.to_vec());
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut head = [0; 4_096];
                let size = stream.read(&mut head).unwrap();
                let head = String::from_utf8_lossy(&head[..size]).into_owned();
                assert!(head.starts_with("GET /?query=subscription"), "{head}");
                stream
                    .write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n: hello\n\n")
                    .unwrap();
                for event in &events {
                    stream.write_all(format!("event: next\ndata: {event}\n\n").as_bytes()).unwrap();
                }
            }
        });
        EventSource(address)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.0)
    }
}

const SCHEMA: &str = "
type Query { me: User }
type Subscription { count(to: Int!): Int ticks: Int user: User }
type User { id: ID! name: String email: String friend: User }
";

/// A server on the libraries that most clients know: `graphql-ws` for the present protocol, `subscriptions-transport-ws` for the one before.
struct PublicServer {
    child: Child,
    said: Arc<Mutex<u64>>,
    port: u64,
}

impl PublicServer {
    fn start() -> Option<PublicServer> {
        let packages = packages()?;
        let schema = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(schema.path(), SCHEMA).unwrap();
        let mut child = Command::new("node")
            .arg(SERVER)
            .arg(&packages)
            .arg("sockets")
            .arg(schema.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node runs");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut next = move || -> Option<Value> { serde_json::from_str(&lines.next()?.ok()?).ok() };
        let port = next().unwrap()["port"].as_u64().unwrap();
        let said = Arc::new(Mutex::new(0));
        let heard = said.clone();
        std::thread::spawn(move || {
            while let Some(message) = next() {
                *heard.lock().unwrap() = message["ticks"].as_u64().unwrap();
            }
        });
        Some(PublicServer { child, said, port })
    }

    /// Subscriptions that never end and are open.
    fn open_ticks(&self) -> u64 {
        *self.said.lock().unwrap()
    }

    fn api(&self, id: &str) -> Definition {
        let graphql = json!({"enabled": true, "execution_mode": "proxyOnly", "version": "2", "schema": SCHEMA});
        api(id, &format!("/{id}/"), &format!("http://127.0.0.1:{}/", self.port)).set("graphql", graphql)
    }
}

impl Drop for PublicServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const PROTOCOLS: [&str; 2] = ["graphql-transport-ws", "graphql-ws"];

#[test]
fn operations_on_the_way_to_an_upstream_are_checked_one_by_one() {
    let Some(server) = PublicServer::start() else { return };
    let limited = server.api("a").with_keys().set("tollgate/graphql/aliases_max", 3);
    let closed = server.api("c").set("graphql/introspection/disabled", true);
    let gateway = Gateway::start(upgrade::enabled(), [limited, closed]);
    let rights = json!({"a": {"restricted_types": [{"name": "User", "fields": ["email"]}], "disable_introspection": true}});
    let bound = create(&gateway, &session_for(&["a"], json!({"access_rights": rights, "max_query_depth": 3})));
    let free = create(&gateway, &session(json!({})));
    for protocol in PROTOCOLS {
        let mut client = GraphqlSocket::open_with(&gateway, "/a/", protocol, &bound);
        // Its last events may still be on their way when it has been stopped.
        let mut stopped = GraphqlSocket::open_with(&gateway, "/a/", protocol, &bound);
        let ticks = stopped.start("subscription { ticks }");
        assert_eq!(stopped.message()["payload"], json!({"data": {"ticks": 0}}));
        stopped.stop(&ticks);
        let counted: Vec<Value> = (0..3).map(|count| json!({"data": {"count": count}})).collect();
        // What is still on its way of the one that was stopped is passed over.
        let id = client.start("subscription { count(to: 3) }");
        let mut responses = Vec::new();
        loop {
            let message = client.message();
            match message["id"] == id.as_str() {
                true if message["type"] == "complete" => break,
                true => responses.push(message["payload"].clone()),
                false => {}
            }
        }
        assert_eq!(responses, counted, "{protocol}");
        let refused = [
            ("{ me { email } }", "field: email is restricted on type: User"),
            ("subscription { user { id email } }", "field: email is restricted on type: User"),
            ("{ me { friend { friend { friend { id } } } } }", "depth limit exceeded"),
            ("{ __schema { queryType { name } } }", "introspection is disabled"),
            ("subscription { nothing }", "nothing"),
            ("subscription { count }", "to"),
            ("{ me { a: id b: id c: id d: id } }", "alias"),
            ("{ me {", "message"),
        ];
        for (query, told) in refused {
            let message = client.refused(query).to_string();
            assert!(message.contains(told), "{protocol} {query}: {message}");
        }
        assert_eq!(client.run("{ me { id name } }"), [json!({"data": {"me": {"id": "1", "name": "Ann"}}})], "{protocol}");
        let mut client = GraphqlSocket::open_with(&gateway, "/a/", protocol, &free);
        assert_eq!(client.run("{ me { email } }"), [json!({"data": {"me": {"email": "a@example.org"}}})]);
        assert!(client.run("{ __schema { queryType { name } } }")[0].to_string().contains("Query"));
        let mut client = GraphqlSocket::open(&gateway, "/c/", protocol);
        assert!(client.refused("{ __schema { queryType { name } } }").to_string().contains("introspection is disabled"));
        assert_eq!(client.run("{ __typename }"), [json!({"data": {"__typename": "Query"}})]);
    }
    gateway.expect_no_panic();
}

#[test]
fn bad_messages_end_a_checked_connection_and_both_sides_learn_how_the_other_ended() {
    let Some(server) = PublicServer::start() else { return };
    let gateway = Gateway::start(upgrade::enabled(), [server.api("a")]);
    let closed = |client: &mut GraphqlSocket| loop {
        match client.socket.read() {
            Ok(Message::Close(frame)) => return frame.map(|frame| (u16::from(frame.code), frame.reason.to_string())),
            Ok(_) => {}
            Err(_) => return None,
        }
    };
    let bad = [
        Message::text("{"),
        Message::text("[]"),
        Message::text(r#"{"type": "next", "id": "1"}"#),
        Message::text(r#"{"type": "subscribe", "payload": {"query": "{ me { id } }"}}"#),
    ];
    for protocol in PROTOCOLS {
        for message in &bad {
            let mut client = GraphqlSocket::open(&gateway, "/a/", protocol);
            client.socket.send(message.clone()).unwrap();
            assert_eq!(closed(&mut client), Some((4400, "Invalid message".to_owned())), "{message}");
        }
        let mut client = GraphqlSocket::open(&gateway, "/a/", protocol);
        client.socket.send(Message::binary(vec![1, 2, 3])).unwrap();
        assert_eq!(closed(&mut client), Some((4400, "Messages are texts".to_owned())));
        let mut client = GraphqlSocket::open(&gateway, "/a/", protocol);
        // The library may notice that the connection is gone while it sends.
        let _ = client.socket.send(Message::text(" ".repeat(2 << 20)));
        assert_eq!(closed(&mut client), None);
    }
    // The upstream's own close: this server's for a second initialisation.
    let mut client = GraphqlSocket::open(&gateway, "/a/", "graphql-transport-ws");
    say(&mut client.socket, json!({"type": "connection_init"}));
    assert_eq!(closed(&mut client), Some((4429, "Too many initialisation requests".to_owned())));
    // The client's close is answered by the server, whose subscription ends.
    let mut client = GraphqlSocket::open(&gateway, "/a/", "graphql-transport-ws");
    client.start("subscription { ticks }");
    client.message();
    client.socket.close(None).unwrap();
    let mut last = None;
    while let Ok(message) = client.socket.read() {
        last = Some(message);
    }
    assert!(matches!(last, None | Some(Message::Close(_) | Message::Text(_))), "{last:?}");
    // The subscription of the closed connection is over at the server.
    let mut other = GraphqlSocket::open(&gateway, "/a/", "graphql-transport-ws");
    crate::harness::eventually("the subscription ends", || other.run("{ me { id name } }").len() == 1 && server.open_ticks() == 0);
    gateway.expect_no_panic();
}
