//! One HTTP/2 connection as seen by the workers that share it.

use bytes::Bytes;
use h2::client::SendRequest;
use std::cell::RefCell;

/// A connection that is opened on demand, and reopened after a failure.
#[derive(Default)]
pub(crate) struct SharedConnection {
    /// The sender with the number of its connection, so that a worker that notices a failure late does not close the next
    /// connection.
    pub sender: RefCell<Option<(u64, SendRequest<Bytes>)>>,
    /// Held by the worker that opens the connection, while the others wait.
    pub opening: tokio::sync::Mutex<()>,
}
