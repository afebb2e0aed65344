//! What goes to a server, and what comes back.

use crate::mailboxes::Holder;
use crate::memory::Room;
use crate::unasked::{UNASKED, Unasked};
use crate::version::Era;
use crate::weight::weight;
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

/// Messages of a stream that wait for a slow client. Then the server waits, too.
pub(crate) const WAITING_MAX: usize = 16;
/// Largest message of a server, in bytes.
pub(crate) const MESSAGE_BYTES_MAX: usize = 8 << 20;

/// What the federation has agreed with a server.
#[derive(Clone)]
pub(crate) struct Agreed {
    /// The server's name of the session, if it has given one.
    pub session: Option<String>,
    pub version: String,
    pub era: Era,
    pub capabilities: Value,
    /// Ends a session that the gateway keeps, when nothing needs it any more.
    pub end: Option<Arc<SessionEnd>>,
}

/// What is done to end a session when this is dropped.
pub(crate) struct SessionEnd(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl SessionEnd {
    pub(crate) fn new(end: impl FnOnce() + Send + 'static) -> Self {
        SessionEnd(Mutex::new(Some(Box::new(end))))
    }

    /// Notes that the server has ended it.
    pub(crate) fn note_over(&self) {
        drop(self.take());
    }

    fn take(&self) -> Option<Box<dyn FnOnce() + Send>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for SessionEnd {
    fn drop(&mut self) {
        if let Some(end) = self.take() {
            end();
        }
    }
}

/// A request for a server, and what goes with it beside the message.
pub(crate) struct Outbound<'m> {
    pub message: &'m Value,
    /// `None` before there is an agreement.
    pub agreed: Option<&'m Agreed>,
    /// Further header lines.
    pub headers: Vec<(String, String)>,
    /// Whose memory the answer takes, if it is a client's.
    pub holder: Option<Holder>,
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
    One(StreamMessage),
    /// In their order; the last one is the response.
    Stream(mpsc::Receiver<StreamMessage>),
}

/// One message of a stream.
pub(crate) struct StreamMessage {
    /// From where the stream can be resumed.
    pub event_id: Option<String>,
    /// `null` if there is only the id.
    pub message: Value,
    /// Its share of memory, if it is large.
    pub room: Option<Room>,
}

impl StreamMessage {
    /// One of the gateway itself.
    pub(crate) fn own(message: Value) -> Self {
        StreamMessage { event_id: None, message, room: None }
    }
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
        Ok(self.held_response().await?.message)
    }

    /// The same, with its room in memory.
    pub(crate) async fn held_response(self) -> Result<StreamMessage, LinkFault> {
        match self {
            Messages::One(message) => Ok(message),
            Messages::None => Err(LinkFault::Unreachable("it gave no response".to_owned())),
            Messages::Stream(mut stream) => {
                let mut unasked = Unasked::default();
                while let Some(message) = stream.recv().await {
                    if crate::message::is_response(&message.message) {
                        return Ok(message);
                    }
                    if unasked.add(weight(&message.message)) {
                        return Err(LinkFault::Unreachable(UNASKED.to_owned()));
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

#[cfg(test)]
mod tests {
    use super::SessionEnd;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_session_ends_once_with_its_last_copy_unless_it_is_over() {
        let ends = Arc::new(AtomicUsize::new(0));
        let counted = || {
            let ends = ends.clone();
            Arc::new(SessionEnd::new(move || {
                ends.fetch_add(1, Ordering::SeqCst);
            }))
        };
        let (end, over) = (counted(), counted());
        let copy = end.clone();
        over.note_over();
        drop((end, over));
        assert_eq!(ends.load(Ordering::SeqCst), 0);
        drop(copy);
        assert_eq!(ends.load(Ordering::SeqCst), 1);
    }
}
