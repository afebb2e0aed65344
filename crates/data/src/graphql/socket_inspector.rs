//! Inspects WebSockets between clients and the upstream of a GraphQL API, in both protocols of GraphQL: each operation is checked like a request
//! before the upstream gets it. Answers to operations pass as they are. What the upstream gets is written anew, so that it cannot read a message
//! in another way than the check did.

use super::GraphqlApi;
use super::socket_messages::{EVENT_BYTES_MAX, MESSAGE_BYTES_MAX, WAITING_MAX, error_message, write};
use super::socket_rights::SocketRights;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::io;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tollgate_graphql::{GraphqlError, GraphqlRequest, parse_body};
use tollgate_outbound::CallClient;

/// How long the upstream may take to read that the client has closed.
const CLOSING_TIME_MAX: Duration = Duration::from_secs(1);

/// What the operations of one WebSocket are checked against.
pub struct SocketInspector {
    pub api: Arc<GraphqlApi>,
    pub rights: SocketRights,
    /// Whether clients may name documents that were sent before.
    pub persists: bool,
}

type InspectedSocket = WebSocketStream<UnixStream>;

/// What becomes of a client's message.
#[derive(Debug, PartialEq)]
enum SocketPassage {
    /// For the upstream.
    Pass(String),
    /// The operation is refused, and the client gets this.
    Refuse(String),
    /// The connection ends: it is no message of GraphQL.
    End(&'static str),
}

impl SocketInspector {
    /// Starts to inspect a connection; the streams are for the client's and for the upstream's bytes.
    pub fn open(self, threads: &CallClient) -> io::Result<(StdUnixStream, StdUnixStream)> {
        let (client, own_client) = StdUnixStream::pair()?;
        let (upstream, own_upstream) = StdUnixStream::pair()?;
        own_client.set_nonblocking(true)?;
        own_upstream.set_nonblocking(true)?;
        threads.spawn(async move {
            if let Err(error) = self.serve(own_client, own_upstream).await {
                tracing::debug!(%error, "a WebSocket cannot be inspected");
            }
        });
        Ok((client, upstream))
    }

    async fn serve(self, client: StdUnixStream, upstream: StdUnixStream) -> io::Result<()> {
        let (to_client, mut from_client) = socket(client, Role::Server, MESSAGE_BYTES_MAX).await?.split();
        let (mut to_upstream, mut from_upstream) = socket(upstream, Role::Client, EVENT_BYTES_MAX).await?.split();
        let (out, outgoing) = mpsc::channel(WAITING_MAX);
        let passing = async move {
            tokio::select! {
                () = pass_events(&mut from_upstream, &out) => {}
                () = self.pass_operations(&mut from_client, &mut to_upstream, &out) => {}
            }
            // The upstream may be gone, or not read any more.
            let _ = timeout(CLOSING_TIME_MAX, to_upstream.close()).await;
        };
        tokio::join!(passing, write(to_client, outgoing));
        Ok(())
    }

    async fn pass_operations(
        &self,
        from_client: &mut SplitStream<InspectedSocket>,
        to_upstream: &mut SplitSink<InspectedSocket, Message>,
        to_client: &mpsc::Sender<Message>,
    ) {
        while let Some(Ok(message)) = from_client.next().await {
            let passage = match message {
                Message::Text(text) => self.inspect(&text),
                Message::Binary(_) => SocketPassage::End("Messages are texts"),
                Message::Close(frame) => {
                    // The upstream may be gone.
                    let _ = timeout(CLOSING_TIME_MAX, to_upstream.send(Message::Close(frame))).await;
                    return;
                }
                // Each side has its pings answered by the gateway.
                _ => continue,
            };
            let is_sent = match passage {
                SocketPassage::Pass(text) => to_upstream.send(Message::text(text)).await.is_ok(),
                SocketPassage::Refuse(text) => to_client.send(Message::text(text)).await.is_ok(),
                SocketPassage::End(reason) => {
                    let frame = CloseFrame { code: CloseCode::from(4400), reason: reason.into() };
                    // The client may be gone.
                    let _ = to_client.send(Message::Close(Some(frame))).await;
                    false
                }
            };
            if !is_sent {
                return;
            }
        }
    }

    fn inspect(&self, text: &str) -> SocketPassage {
        let invalid = SocketPassage::End("Invalid message");
        let Ok(Value::Object(mut message)) = serde_json::from_str::<Value>(text) else { return invalid };
        let kind = message.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = message.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let payload = message.remove("payload");
        match kind.as_str() {
            "subscribe" | "start" if !id.is_empty() => match self.permitted(payload.unwrap_or_default()) {
                Ok(payload) => SocketPassage::Pass(message_text(&kind, id, Some(payload))),
                Err(errors) => SocketPassage::Refuse(error_message(kind == "subscribe", &id, &errors).to_string()),
            },
            "connection_init" | "ping" | "pong" | "complete" | "stop" | "connection_terminate" => {
                SocketPassage::Pass(message_text(&kind, id, payload))
            }
            _ => invalid,
        }
    }

    /// The payload of an operation that may pass; `Err` is why it may not.
    fn permitted(&self, mut payload: Value) -> Result<Value, Vec<GraphqlError>> {
        let one = |message: &str| vec![GraphqlError::new(message)];
        let body = payload.to_string();
        let request = match parse_body(body.as_bytes(), 1) {
            Ok((requests, false)) => requests.into_iter().next(),
            _ => None,
        };
        let mut request = request.ok_or_else(|| one("the payload is no request"))?;
        let is_named = request.query.trim().is_empty();
        if is_named {
            request.query = self.named(&request).map_err(|error| vec![error])?;
        } else if let Some(digest) = request.persisted.filter(|_| self.persists)
            && Sha256::digest(request.query.as_bytes()).as_slice() != digest
        {
            return Err(one("provided sha does not match query"));
        }
        let known = self.api.known(&request.query);
        self.rights.permit(&self.api, &known, &request)?;
        if self.persists {
            request.persisted.iter().for_each(|digest| self.api.documents.register(*digest, &request.query));
        }
        if let (true, Value::Object(members)) = (is_named, &mut payload) {
            members.insert("query".to_owned(), Value::String(request.query.into_owned()));
        }
        Ok(payload)
    }

    /// The document that a request names by its hash.
    fn named(&self, request: &GraphqlRequest<'_>) -> Result<Cow<'static, str>, GraphqlError> {
        match request.persisted {
            None => Err(GraphqlError::new("document doesn't contain any executable operation")),
            Some(_) if !self.persists => {
                Err(GraphqlError::new("PersistedQueryNotSupported").with_code("PERSISTED_QUERY_NOT_SUPPORTED"))
            }
            Some(digest) => match self.api.documents.registered(&digest) {
                Some(text) => Ok(Cow::Owned(text.to_string())),
                None => Err(GraphqlError::new("PersistedQueryNotFound").with_code("PERSISTED_QUERY_NOT_FOUND")),
            },
        }
    }
}

async fn socket(stream: StdUnixStream, role: Role, bytes_max: usize) -> io::Result<InspectedSocket> {
    let config = WebSocketConfig::default().max_message_size(Some(bytes_max)).max_frame_size(Some(bytes_max));
    Ok(WebSocketStream::from_raw_socket(UnixStream::from_std(stream)?, role, Some(config)).await)
}

fn message_text(kind: &str, id: String, payload: Option<Value>) -> String {
    let mut message = Map::new();
    if !id.is_empty() {
        message.insert("id".to_owned(), Value::String(id));
    }
    message.insert("type".to_owned(), Value::String(kind.to_owned()));
    message.extend(payload.map(|payload| ("payload".to_owned(), payload)));
    Value::Object(message).to_string()
}

/// Passes the upstream's messages on until either side ends.
async fn pass_events(from_upstream: &mut SplitStream<InspectedSocket>, to_client: &mpsc::Sender<Message>) {
    while let Some(Ok(message)) = from_upstream.next().await {
        let is_last = message.is_close();
        let is_passed = is_last || message.is_text() || message.is_binary();
        if (is_passed && to_client.send(message).await.is_err()) || is_last {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
