//! GraphQL subscriptions: a client over WebSockets, and servers that send events over WebSockets and HTTP.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::handshake::server::{Request, Response};
use tungstenite::{Message, WebSocket};

use crate::harness::Gateway;

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
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut request = format!("ws://{address}{target}").into_client_request().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", protocol.parse().unwrap());
        request.headers_mut().insert("authorization", key.parse().unwrap());
        let (mut socket, response) = tungstenite::client(request, stream).unwrap();
        assert_eq!(response.headers().get("sec-websocket-protocol").and_then(|name| name.to_str().ok()), Some(protocol));
        say(&mut socket, json!({"type": "connection_init"}));
        assert_eq!(hear(&mut socket), Some(json!({"type": "connection_ack"})));
        GraphqlSocket { socket, is_present: protocol == "graphql-transport-ws", last: 0 }
    }

    fn start(&mut self, query: &str) -> String {
        self.last += 1;
        let (id, kind) = (self.last.to_string(), if self.is_present { "subscribe" } else { "start" });
        say(&mut self.socket, json!({"id": id, "type": kind, "payload": {"query": query}}));
        id
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
