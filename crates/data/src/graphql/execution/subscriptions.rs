//! Subscriptions to sources: over WebSockets, in both protocols of GraphQL, over events of HTTP, and to topics of Kafka.

use super::kafka;
use super::source_fault::SourceFault;
use super::sources::SourceCalls;
use crate::graphql::socket_messages::EVENT_BYTES_MAX;
use futures_util::{SinkExt, StreamExt};
use http::header::ACCEPT;
use http::{HeaderValue, Method, Uri};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};
use tollgate_data_graph::{SourceFailure, SourceRequest};
use tollgate_model::api::GraphqlSubscriptionKind;
use tollgate_outbound::Call;

/// How long a server may take to accept a connection.
const OPENING_TIME_MAX: Duration = Duration::from_secs(10);

/// Takes the events of a subscription: each is a GraphQL response.
pub(super) type EventSender = mpsc::Sender<Vec<u8>>;

/// Subscribes, and passes events on until the subscription ends or nobody takes them.
pub(super) async fn subscribe(calls: SourceCalls<'_>, request: SourceRequest, events: EventSender) -> Result<(), SourceFault> {
    let terms = calls.terms.api.executed.as_ref().and_then(|executed| executed.subscriptions.get(request.source).cloned());
    let terms = terms.unwrap_or_default();
    if let Some(fixed) = &terms.kafka {
        return kafka::subscribe(&calls.terms.consumers, fixed, &request, events).await;
    }
    if request.url.starts_with("tyk://") {
        let why = format!("{}: subscriptions need a URL of http or https", request.url);
        return Err((SourceFailure::Unsendable, why));
    }
    let operation: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let url = request.url.clone();
    let call = calls.call(request).map_err(|why| (SourceFailure::Unsendable, why))?;
    let unavailable = |why: String| (SourceFailure::Unavailable, format!("{url}: {why}"));
    match terms.kind {
        GraphqlSubscriptionKind::Sse => {
            let call = if terms.uses_post { call } else { by_url(call, &operation).map_err(unavailable)? };
            receive_events(calls, call, events).await.map_err(unavailable)
        }
        kind => {
            let is_present = kind == GraphqlSubscriptionKind::GraphqlTransportWs;
            receive_messages(calls, call, &operation, is_present, events).await.map_err(unavailable)
        }
    }
}

/// The same request as a GET.
fn by_url(call: Call, operation: &Value) -> Result<Call, String> {
    let mut pairs = Vec::new();
    for name in ["query", "variables"] {
        let value = match operation.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => continue,
        };
        pairs.push(format!("{name}={}", tollgate_http::form::encode_form(&value)));
    }
    let separator = if call.uri.query().is_some() { '&' } else { '?' };
    let uri: Uri = format!("{}{separator}{}", call.uri, pairs.join("&")).parse().map_err(|error| format!("{error}"))?;
    Ok(Call { method: Method::GET, uri, body: Default::default(), ..call })
}

async fn receive_events(calls: SourceCalls<'_>, mut call: Call, events: EventSender) -> Result<(), String> {
    call.headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    let response = calls.terms.client.open(None, call).await.map_err(|fault| fault.to_string())?;
    if !response.status().is_success() {
        return Err(format!("it answered with status {}", response.status().as_u16()));
    }
    let mut body: Incoming = response.into_body();
    let mut parser = EventParser::default();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| error.to_string())?;
        let Some(data) = frame.data_ref() else { continue };
        for event in parser.push(data)? {
            if event.name == "complete" {
                return Ok(());
            }
            if !event.data.trim_ascii().is_empty() && events.send(event.data).await.is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Events of HTTP (HTML specification, "server-sent events"), as their bytes arrive.
#[derive(Default)]
struct EventParser {
    bytes: Vec<u8>,
    name: String,
    data: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
struct ServerEvent {
    name: String,
    data: Vec<u8>,
}

impl EventParser {
    fn push(&mut self, bytes: &[u8]) -> Result<Vec<ServerEvent>, String> {
        self.bytes.extend_from_slice(bytes);
        let mut events = Vec::new();
        while let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.bytes.drain(..=end).collect();
            events.extend(self.line(line.trim_ascii_end()));
        }
        if self.bytes.len() + self.data.len() > EVENT_BYTES_MAX {
            return Err(format!("an event has more than {EVENT_BYTES_MAX} bytes"));
        }
        Ok(events)
    }

    fn line(&mut self, line: &[u8]) -> Option<ServerEvent> {
        if line.is_empty() {
            let (name, data) = (std::mem::take(&mut self.name), std::mem::take(&mut self.data));
            return (!name.is_empty() || !data.is_empty()).then_some(ServerEvent { name, data });
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.get(1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            b"data" => {
                if !self.data.is_empty() {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            _ => {}
        }
        None
    }
}

type SourceSocket = WebSocketStream<Box<dyn tollgate_outbound::RawConnection>>;

async fn receive_messages(
    calls: SourceCalls<'_>,
    call: Call,
    operation: &Value,
    is_present: bool,
    events: EventSender,
) -> Result<(), String> {
    let mut socket = tokio::time::timeout(OPENING_TIME_MAX, open_socket(calls, &call, is_present))
        .await
        .unwrap_or_else(|_| Err("the server does not accept the connection in time".to_owned()))?;
    let start = if is_present { "subscribe" } else { "start" };
    send(&mut socket, &json!({"id": "1", "type": start, "payload": operation})).await?;
    while let Some(message) = socket.next().await {
        let Some(message) = read(message)? else { continue };
        let payload = || message.get("payload").cloned().unwrap_or_default();
        let response = match message.get("type").and_then(Value::as_str).unwrap_or_default() {
            "next" | "data" => payload(),
            // One protocol has a list of errors, the other one error.
            "error" => match payload() {
                errors @ Value::Array(_) => json!({ "errors": errors }),
                error => json!({"errors": [error]}),
            },
            "complete" | "connection_error" => return Ok(()),
            "ping" => {
                send(&mut socket, &json!({"type": "pong"})).await?;
                continue;
            }
            _ => continue,
        };
        let is_last = message.get("type").is_some_and(|kind| kind == "error");
        if events.send(response.to_string().into_bytes()).await.is_err() || is_last {
            // The connection ends anyway.
            let _ = send(&mut socket, &json!({"id": "1", "type": if is_present { "complete" } else { "stop" }})).await;
            return Ok(());
        }
    }
    Ok(())
}

async fn open_socket(calls: SourceCalls<'_>, call: &Call, is_present: bool) -> Result<SourceSocket, String> {
    let connection = calls.terms.client.connect(&call.uri, &call.tls, OPENING_TIME_MAX).await?;
    let url = call.uri.to_string();
    let url = url.strip_prefix("http").map_or(url.clone(), |rest| format!("ws{rest}"));
    let mut request = url.into_client_request().map_err(|error| error.to_string())?;
    let protocol = if is_present { "graphql-transport-ws" } else { "graphql-ws" };
    for (name, value) in call.headers.iter().filter(|(name, _)| *name != "content-type" && *name != ACCEPT) {
        request.headers_mut().append(name, value.clone());
    }
    request.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static(protocol));
    let config = WebSocketConfig::default().max_message_size(Some(EVENT_BYTES_MAX)).max_frame_size(Some(EVENT_BYTES_MAX));
    let opened = client_async_with_config(request, connection, Some(config)).await;
    let (mut socket, _) = opened.map_err(|error| error.to_string())?;
    send(&mut socket, &json!({"type": "connection_init", "payload": {}})).await?;
    while let Some(message) = socket.next().await {
        let Some(message) = read(message)? else { continue };
        match message.get("type").and_then(Value::as_str) {
            Some("connection_ack") => return Ok(socket),
            Some("ping") => send(&mut socket, &json!({"type": "pong"})).await?,
            Some("connection_error") => return Err("the server refuses the connection".to_owned()),
            _ => {}
        }
    }
    Err("the server closed the connection".to_owned())
}

async fn send(socket: &mut SourceSocket, message: &Value) -> Result<(), String> {
    socket.send(Message::text(message.to_string())).await.map_err(|error| error.to_string())
}

fn read(message: Result<Message, SocketError>) -> Result<Option<Value>, String> {
    match message.map_err(|error| error.to_string())? {
        Message::Text(text) => serde_json::from_str(&text).map(Some).map_err(|error| format!("a message is not JSON: {error}")),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests;
