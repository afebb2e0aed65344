//! What all WebSockets of GraphQL have in common: limits, how messages are written, and the message of an error.

use futures_util::SinkExt;
use futures_util::stream::SplitSink;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tollgate_graphql::GraphqlError;

/// Largest message of a client, as for requests.
pub(super) const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// Largest event.
pub(super) const EVENT_BYTES_MAX: usize = 16 << 20;
/// Messages that wait for a slow client. Then the operations wait, too.
pub(super) const WAITING_MAX: usize = 64;

/// Writes messages until there are no more, or the client is gone.
pub(super) async fn write<S>(mut sink: SplitSink<WebSocketStream<S>, Message>, mut messages: mpsc::Receiver<Message>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(message) = messages.recv().await {
        if sink.send(message).await.is_err() {
            return;
        }
    }
    // The client may be gone.
    let _ = sink.close().await;
}

/// The message that an operation is refused. One protocol has a list of errors, the other one error.
pub(super) fn error_message(is_present: bool, id: &str, errors: &[GraphqlError]) -> Value {
    let payload = match serde_json::to_value(errors).unwrap_or_default() {
        Value::Array(mut errors) if !is_present && !errors.is_empty() => errors.swap_remove(0),
        errors => errors,
    };
    json!({"type": "error", "id": id, "payload": payload})
}
