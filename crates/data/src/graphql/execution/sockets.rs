//! WebSockets of clients, in both protocols of GraphQL: `graphql-transport-ws`, and `graphql-ws` of `subscriptions-transport-ws`.

use super::run::GraphRun;
use crate::graphql::socket_messages::{MESSAGE_BYTES_MAX, WAITING_MAX, error_message, write};
use futures_util::StreamExt;
use http::header::{CONNECTION, UPGRADE};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tollgate_graphql::{GraphqlError, parse_body};

/// Most operations of one WebSocket at a time.
const OPERATIONS_MAX: usize = 100;
/// How long a client may take to begin.
const INIT_TIME_MAX: Duration = Duration::from_secs(10);

/// What a WebSocket speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SocketProtocol {
    TransportWs,
    GraphqlWs,
}

/// Whether a request wants to become a WebSocket.
pub(super) fn is_handshake(headers: &HeaderMap) -> bool {
    headers.get(UPGRADE).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

/// Accepts a WebSocket and serves it in a task of its own.
pub(super) fn accept(run: Arc<GraphRun>, request: Request<Incoming>) -> Response<Vec<u8>> {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let protocol = header("sec-websocket-protocol").split(',').find_map(|name| match name.trim() {
        "graphql-transport-ws" => Some((SocketProtocol::TransportWs, "graphql-transport-ws")),
        "graphql-ws" => Some((SocketProtocol::GraphqlWs, "graphql-ws")),
        _ => None,
    });
    let accept_key = HeaderValue::from_str(&derive_accept_key(header("sec-websocket-key").as_bytes()));
    let mut response = Response::new(Vec::new());
    let (Some((protocol, name)), Ok(accept_key)) = (protocol, accept_key) else {
        *response.status_mut() = StatusCode::BAD_REQUEST;
        return response;
    };
    tokio::spawn(async move {
        if let Ok(upgraded) = hyper::upgrade::on(request).await {
            serve(run, upgraded, protocol).await;
        }
    });
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert("sec-websocket-accept", accept_key);
    headers.insert("sec-websocket-protocol", HeaderValue::from_static(name));
    response
}

/// A code and reason with which a WebSocket is closed.
type Closing = (u16, &'static str);

/// A WebSocket and its operations.
struct GraphSocket {
    run: Arc<GraphRun>,
    protocol: SocketProtocol,
    out: mpsc::Sender<Message>,
    is_begun: bool,
    operations: HashMap<String, JoinHandle<()>>,
}

async fn serve(run: Arc<GraphRun>, upgraded: Upgraded, protocol: SocketProtocol) {
    let config = WebSocketConfig::default().max_message_size(Some(MESSAGE_BYTES_MAX)).max_frame_size(Some(MESSAGE_BYTES_MAX));
    let stream = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(config)).await;
    let (sink, mut messages) = stream.split();
    let (out, outgoing) = mpsc::channel(WAITING_MAX);
    let writing = tokio::spawn(write(sink, outgoing));
    let mut socket = GraphSocket { run, protocol, out: out.clone(), is_begun: false, operations: HashMap::new() };
    let begin_by = Instant::now() + INIT_TIME_MAX;
    let closing = loop {
        let next = match socket.is_begun {
            true => messages.next().await,
            false => match timeout_at(begin_by, messages.next()).await {
                Ok(next) => next,
                Err(_) => break Some((4408, "Connection initialisation timeout")),
            },
        };
        let text = match next {
            Some(Ok(Message::Text(text))) => text,
            Some(Ok(Message::Binary(_))) => break Some((4400, "Messages are texts")),
            Some(Ok(Message::Close(_)) | Err(_)) | None => break None,
            Some(Ok(_)) => continue,
        };
        if let Err(closing) = socket.take(&text).await {
            break closing;
        }
    };
    socket.operations.into_values().for_each(|operation| operation.abort());
    if let Some((code, reason)) = closing {
        let frame = CloseFrame { code: CloseCode::from(code), reason: reason.into() };
        // The client may be gone.
        let _ = out.send(Message::Close(Some(frame))).await;
    }
    drop((out, socket.out));
    // It ends when all messages are written, or the client is gone.
    let _ = writing.await;
}

impl GraphSocket {
    /// Takes a message; `Err` ends the connection, with a code if it is the client's fault.
    async fn take(&mut self, text: &str) -> Result<(), Option<Closing>> {
        let invalid = Some((4400, "Invalid message"));
        let Ok(Value::Object(mut message)) = serde_json::from_str::<Value>(text) else { return Err(invalid) };
        let id = message.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let kind = message.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let is_present = self.protocol == SocketProtocol::TransportWs;
        match kind.as_str() {
            "connection_init" if self.is_begun && is_present => Err(Some((4429, "Too many initialisation requests"))),
            "connection_init" => {
                self.is_begun = true;
                self.say(json!({"type": "connection_ack"})).await
            }
            "ping" if is_present => self.say(json!({"type": "pong"})).await,
            "pong" if is_present => Ok(()),
            "connection_terminate" if !is_present => Err(None),
            "complete" | "stop" if !id.is_empty() => {
                self.operations.remove(&id).iter().for_each(JoinHandle::abort);
                if is_present { Ok(()) } else { self.say(json!({"type": "complete", "id": id})).await }
            }
            "subscribe" | "start" if (kind == "subscribe") == is_present && !id.is_empty() => match self.is_begun {
                true => self.begin(id, message.remove("payload").unwrap_or_default()).await,
                false => Err(Some((4401, "Unauthorized"))),
            },
            _ => Err(invalid),
        }
    }

    async fn say(&self, message: Value) -> Result<(), Option<Closing>> {
        self.out.send(Message::text(message.to_string())).await.map_err(|_| None)
    }

    /// Begins an operation.
    async fn begin(&mut self, id: String, payload: Value) -> Result<(), Option<Closing>> {
        self.operations.retain(|_, operation| !operation.is_finished());
        if self.operations.contains_key(&id) {
            return Err(Some((4409, "Subscriber already exists")));
        }
        if self.operations.len() >= OPERATIONS_MAX {
            return Err(Some((4400, "Too many operations")));
        }
        let body = payload.to_string();
        let begun = match parse_body(body.as_bytes(), 1) {
            Ok((requests, false)) => match requests.first() {
                Some(request) => self.run.responses(request),
                None => Err(vec![GraphqlError::new("the request is empty")]),
            },
            _ => Err(vec![GraphqlError::new("the payload is no request")]),
        };
        let responses = match begun {
            Ok(responses) => responses,
            Err(errors) => return self.refuse(&id, &errors).await,
        };
        let (out, next) = (self.out.clone(), if self.protocol == SocketProtocol::TransportWs { "next" } else { "data" });
        self.operations.insert(id.clone(), tokio::spawn(pass_on(out, id, next, responses)));
        Ok(())
    }

    async fn refuse(&self, id: &str, errors: &[GraphqlError]) -> Result<(), Option<Closing>> {
        self.say(error_message(self.protocol == SocketProtocol::TransportWs, id, errors)).await
    }
}

/// Sends the responses of an operation to the client.
async fn pass_on(out: mpsc::Sender<Message>, id: String, next: &'static str, mut responses: mpsc::Receiver<Vec<u8>>) {
    while let Some(response) = responses.recv().await {
        let payload: Value = serde_json::from_slice(&response).unwrap_or_else(|_| Value::Object(Map::new()));
        let message = json!({"type": next, "id": id, "payload": payload});
        if out.send(Message::text(message.to_string())).await.is_err() {
            return;
        }
    }
    // The client may be gone.
    let _ = out.send(Message::text(json!({"type": "complete", "id": id}).to_string())).await;
}
