//! What goes to a server, and what comes back.

use crate::version::Era;
use serde_json::Value;
use std::fmt;
use tokio::sync::mpsc;

/// Messages of a stream that wait for a slow client. Then the server waits, too.
pub(crate) const WAITING_MAX: usize = 16;
/// Largest message of a server, in bytes.
pub(crate) const MESSAGE_BYTES_MAX: usize = 8 << 20;

/// What the federation has agreed with a server.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Agreed {
    /// The server's name of the session, if it has given one.
    pub session: Option<String>,
    pub version: String,
    pub era: Era,
    pub capabilities: Value,
}

/// A request for a server, and what goes with it beside the message.
pub(crate) struct Outbound<'m> {
    pub message: &'m Value,
    /// `None` before there is an agreement.
    pub agreed: Option<&'m Agreed>,
    /// Further header lines.
    pub headers: Vec<(String, String)>,
}

/// What comes back for a message.
pub(crate) struct Answer {
    /// The session that the server has begun.
    pub session: Option<String>,
    pub messages: Messages,
}

/// The messages of an answer.
pub(crate) enum Messages {
    None,
    One(Value),
    /// In their order; the last one is the response.
    Stream(mpsc::Receiver<StreamMessage>),
}

/// One message of a stream.
pub(crate) struct StreamMessage {
    /// From where the stream can be resumed.
    pub event_id: Option<String>,
    /// `null` if there is only the id.
    pub message: Value,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum LinkFault {
    Unreachable(String),
    /// The server does not know the session any more.
    SessionGone,
    /// It answered with this status, and perhaps an error.
    Refused(u16, Option<Value>),
}

impl fmt::Display for LinkFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkFault::Unreachable(why) => formatter.write_str(why),
            LinkFault::SessionGone => formatter.write_str("it has ended the session"),
            LinkFault::Refused(status, Some(error)) => write!(formatter, "it answered {status}: {error}"),
            LinkFault::Refused(status, None) => write!(formatter, "it answered {status}"),
        }
    }
}

impl Messages {
    /// The response, without what comes before it.
    pub(crate) async fn response(self) -> Result<Value, LinkFault> {
        match self {
            Messages::One(message) => Ok(message),
            Messages::None => Err(LinkFault::Unreachable("it gave no response".to_owned())),
            Messages::Stream(mut stream) => {
                while let Some(StreamMessage { message, .. }) = stream.recv().await {
                    if crate::message::is_response(&message) {
                        return Ok(message);
                    }
                }
                Err(LinkFault::Unreachable("its stream ended without a response".to_owned()))
            }
        }
    }

    /// Whether there is nothing.
    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Messages::None)
    }
}
