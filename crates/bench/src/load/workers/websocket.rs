//! WebSocket: each worker opens one and exchanges messages on it. The request's body is the message; the server must echo it. A
//! message counts as a request, with the status of its connection's handshake.

use super::context::ThreadContext;
use crate::load::plan::PreparedRequest;
use crate::load::wire::connection::TimedResponse;
use crate::load::wire::fault::{Cause, WireFault};
use crate::load::wire::stream::{ClientStream, dial};
use crate::load::wire::target::ServerTarget;
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::{HeaderName, HeaderValue, Request};
use std::cell::Cell;
use std::rc::Rc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};

/// The status of a successful handshake.
const SWITCHING_PROTOCOLS: u16 = 101;
/// Maximum bytes of a message and of a frame.
const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Sends one worker's messages.
pub(crate) struct WebSocketSender<'a> {
    context: &'a ThreadContext,
    socket: Option<Box<OpenSocket>>,
    /// Time to connect with the handshake, if the message opened a connection.
    pub connect_ns: Option<u64>,
}

/// An open WebSocket. The thread's counter of open connections includes it.
struct OpenSocket {
    stream: WebSocketStream<ClientStream>,
    open: Rc<Cell<u64>>,
}

impl Drop for OpenSocket {
    fn drop(&mut self) {
        self.open.set(self.open.get() - 1);
    }
}

/// A handshake that the server answered with another status than 101, or a failure.
enum HandshakeFailure {
    Refused(u16),
    Failed(WireFault),
}

impl<'a> WebSocketSender<'a> {
    pub(crate) fn new(context: &'a ThreadContext) -> Self {
        WebSocketSender { context, socket: None, connect_ns: None }
    }

    /// Sends the message of request `number` and reads its echo. A refused handshake counts as an answer with its status.
    pub(crate) async fn send(&mut self, number: u64) -> Result<TimedResponse, WireFault> {
        let context = self.context;
        let (plan, clock) = (&context.plan, context.clock);
        self.connect_ns = None;
        let prepared = plan.requests.first().ok_or_else(|| WireFault::new(Cause::Local, "no request"))?;
        let mut socket = match self.socket.take() {
            Some(socket) => socket,
            None => match self.open(prepared, number).await {
                Ok(socket) => socket,
                Err(HandshakeFailure::Refused(status)) => {
                    let now = clock.now_ns();
                    return Ok(TimedResponse { status, written_ns: now, first_ns: now, done_ns: now, ..TimedResponse::default() });
                }
                Err(HandshakeFailure::Failed(fault)) => return Err(fault),
            },
        };
        let message = Bytes::from(prepared.message.body.rendered(&plan.variables, number));
        let length = message.len() as u64;
        let mut answer = TimedResponse {
            status: SWITCHING_PROTOCOLS,
            sent_bytes: length,
            received_bytes: length,
            body_bytes: length,
            ..TimedResponse::default()
        };
        socket.stream.send(Message::Binary(message.clone())).await.map_err(failure)?;
        answer.written_ns = clock.now_ns();
        loop {
            match socket.stream.next().await {
                Some(Ok(Message::Binary(echo))) if echo == message => break,
                Some(Ok(Message::Binary(_) | Message::Text(_))) => {
                    return Err(WireFault::new(Cause::Protocol, "WebSocket: the server's message is not the one sent"));
                }
                Some(Ok(Message::Close(_))) | None => {
                    return Err(WireFault::new(Cause::Reset, "WebSocket: closed by the server before the echo"));
                }
                // Pings are answered by the library.
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(failure(error)),
            }
        }
        answer.done_ns = clock.now_ns();
        // The library returns complete messages alone.
        answer.first_ns = answer.done_ns;
        self.socket = Some(socket);
        Ok(answer)
    }

    async fn open(&mut self, prepared: &PreparedRequest, number: u64) -> Result<Box<OpenSocket>, HandshakeFailure> {
        let context = self.context;
        let target = context.plan.targets.get(prepared.target);
        let target = target.ok_or_else(|| HandshakeFailure::Failed(WireFault::new(Cause::Local, "no server")))?;
        let begun = context.clock.now_ns();
        let (stream, _) = dial(target, context.clock).await.map_err(HandshakeFailure::Failed)?;
        let request = handshake(prepared, target, context, number).map_err(HandshakeFailure::Failed)?;
        let config = WebSocketConfig::default().max_message_size(Some(MESSAGE_BYTES_MAX)).max_frame_size(Some(MESSAGE_BYTES_MAX));
        match tokio_tungstenite::client_async_with_config(request, stream, Some(config)).await {
            Ok((stream, _)) => {
                context.recorder.borrow_mut().tally.connections.opened += 1;
                context.open.set(context.open.get() + 1);
                self.connect_ns = Some(context.clock.now_ns() - begun);
                Ok(Box::new(OpenSocket { stream, open: Rc::clone(&context.open) }))
            }
            Err(Error::Http(response)) => Err(HandshakeFailure::Refused(response.status().as_u16())),
            Err(error) => Err(HandshakeFailure::Failed(failure(error))),
        }
    }
}

/// The request that opens a WebSocket (RFC 6455, section 4.1).
fn handshake(
    prepared: &PreparedRequest,
    target: &ServerTarget,
    context: &ThreadContext,
    number: u64,
) -> Result<Request<()>, WireFault> {
    let wrong = |error: &dyn std::fmt::Display| WireFault::new(Cause::Local, format!("request: {error}"));
    let (message, variables) = (&prepared.message, &context.plan.variables);
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let authority = text(message.authority.rendered(variables, number));
    let scheme = if target.tls.is_some() { "wss" } else { "ws" };
    let path = text(message.path.rendered(variables, number));
    let mut request = Request::builder()
        .uri(format!("{scheme}://{authority}{path}"))
        .header("Host", authority)
        .header("Connection", "Upgrade")
        .header("Upgrade", "websocket")
        .header("Sec-WebSocket-Version", "13")
        .header("Sec-WebSocket-Key", generate_key())
        .body(())
        .map_err(|error| wrong(&error))?;
    for (name, value) in &message.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| wrong(&error))?;
        let value = HeaderValue::from_bytes(&value.rendered(variables, number)).map_err(|error| wrong(&error))?;
        request.headers_mut().append(name, value);
    }
    Ok(request)
}

fn failure(error: Error) -> WireFault {
    match error {
        Error::Io(error) => WireFault::broken(&error),
        Error::ConnectionClosed | Error::AlreadyClosed => WireFault::new(Cause::Reset, "WebSocket: closed by the server"),
        error => WireFault::new(Cause::Protocol, format!("WebSocket: {error}")),
    }
}
