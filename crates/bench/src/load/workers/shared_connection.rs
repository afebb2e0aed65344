//! One HTTP/2 connection as the workers that share it see it.

use bytes::Bytes;
use h2::client::SendRequest;
use std::cell::RefCell;

/// A connection that is opened when it is needed, and again when it has died.
#[derive(Default)]
pub(crate) struct SharedConnection {
    /// With its number, so that a worker that hears late of its death does not close its successor.
    pub sender: RefCell<Option<(u64, SendRequest<Bytes>)>>,
    /// Held by the worker that opens it, while the others wait.
    pub opening: tokio::sync::Mutex<()>,
}
