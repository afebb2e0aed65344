//! Events for the server of plugins (`DispatchEvent`). They wait in a queue and are sent one after the other by a thread that starts with the
//! first of them. An event that can't be delivered is logged and dropped, as in Tyk.

use crate::channel::Channel;
use crate::message::Event;
use crate::status::framed;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Most events that wait; more are dropped. At some KiB each, a server that hangs costs a few MiB.
const EVENTS_MAX: usize = 1_024;
/// Time for the delivery of one event.
const DELIVERY_MAX: Duration = Duration::from_secs(5);

/// The path of the method for events.
const DISPATCH_EVENT: &str = "/coprocess.Dispatcher/DispatchEvent";

/// The events that wait.
pub(crate) struct EventQueue {
    channel: Arc<Channel>,
    sender: Mutex<Option<Sender<String>>>,
}

impl EventQueue {
    /// An empty queue.
    pub(crate) fn new(channel: Channel) -> Self {
        EventQueue { channel: Arc::new(channel), sender: Mutex::default() }
    }

    /// Adds an event.
    pub(crate) fn put(&self, event: String) {
        let mut sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        if sender.is_none() {
            match self.start() {
                Ok(started) => *sender = Some(started),
                Err(error) => return tracing::error!(%error, "no thread for events of plugins"),
            }
        }
        if sender.as_ref().is_some_and(|sender| sender.try_send(event).is_err()) {
            tracing::warn!("an event for the server of plugins is dropped: too many wait");
        }
    }

    fn start(&self) -> io::Result<Sender<String>> {
        let (sender, receiver) = channel(EVENTS_MAX);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let delivery = deliver(self.channel.clone(), receiver);
        std::thread::Builder::new().name("plugin-events".to_owned()).spawn(move || runtime.block_on(delivery))?;
        Ok(sender)
    }
}

async fn deliver(channel: Arc<Channel>, mut events: Receiver<String>) {
    while let Some(payload) = events.recv().await {
        let message = match framed(&Event { payload }, channel.send_bytes_max()) {
            Ok(message) => message,
            Err(fault) => {
                tracing::error!(%fault, "an event for the server of plugins can't be sent");
                continue;
            }
        };
        match tokio::time::timeout(DELIVERY_MAX, channel.call(0, DISPATCH_EVENT, message, DELIVERY_MAX, None)).await {
            Ok(Ok(_)) => {}
            Ok(Err(fault)) => tracing::error!(%fault, "an event did not reach the server of plugins"),
            Err(_) => tracing::error!("an event did not reach the server of plugins: no answer in time"),
        }
    }
}
