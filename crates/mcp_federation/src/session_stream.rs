//! Streams of sessions that the gateway keeps at a server for clients that have none: some servers ask there what they need to know for a call.

use crate::answer::{Agreed, Outbound, StreamMessage, WAITING_MAX};
use crate::http_server::HttpServer;
use crate::message::{RpcError, code, is_request, is_response};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

/// Streams of one server.
const STREAMS_MAX: usize = 1_000;
/// Longest time that a call waits until its session's stream is open.
const OPEN_MAX: Duration = Duration::from_secs(1);
/// Pause after a message that is for nobody.
const PAUSE: Duration = Duration::from_millis(10);
/// How long a stream stays open without a call.
const IDLE_MAX: Duration = Duration::from_secs(60);

/// The open streams of one server, by the names of their sessions.
#[derive(Default)]
pub(crate) struct SessionStreams(Arc<Mutex<HashMap<String, Listeners>>>);

/// Calls in a session that may be asked, by their numbers.
#[derive(Default)]
struct Listeners {
    calls: Vec<(u64, mpsc::Sender<StreamMessage>)>,
    last_number: u64,
    /// When the last call ended.
    idle_since: Option<Instant>,
}

/// What a server says on its session's stream during a call.
pub(crate) struct Overheard {
    streams: Arc<Mutex<HashMap<String, Listeners>>>,
    session: String,
    number: u64,
    messages: mpsc::Receiver<StreamMessage>,
}

impl SessionStreams {
    /// Listens to a session for a call. `None` if it is none, or too many are listened to.
    pub(crate) async fn listen(&self, server: &HttpServer, agreed: &Arc<Agreed>) -> Option<Overheard> {
        let session = agreed.session.clone()?;
        let (sender, messages) = mpsc::channel(WAITING_MAX);
        let (number, is_open) = {
            let mut streams = lock(&self.0);
            let is_open = streams.contains_key(&session);
            if !is_open && streams.len() >= STREAMS_MAX {
                return None;
            }
            let listeners = streams.entry(session.clone()).or_default();
            listeners.last_number += 1;
            listeners.calls.push((listeners.last_number, sender));
            (listeners.last_number, is_open)
        };
        let overheard = Overheard { streams: self.0.clone(), session, number, messages };
        if !is_open {
            let (opened, open) = tokio::sync::oneshot::channel();
            let (streams, server, agreed) = (self.0.clone(), server.clone(), agreed.clone());
            server.client.clone().spawn(async move { follow(&streams, &server, &agreed, opened).await });
            // What a server that opens it late has asked before is lost.
            let _ = timeout(OPEN_MAX, open).await;
        }
        Some(overheard)
    }
}

impl Overheard {
    /// The next message.
    pub(crate) async fn next(&mut self) -> Option<StreamMessage> {
        self.messages.recv().await
    }
}

impl Drop for Overheard {
    fn drop(&mut self) {
        if let Some(listeners) = lock(&self.streams).get_mut(&self.session) {
            listeners.calls.retain(|(number, _)| *number != self.number);
            listeners.idle_since = listeners.calls.is_empty().then(Instant::now);
        }
    }
}

/// Reads a session's stream until it ends or nobody has needed it for long.
async fn follow(
    streams: &Mutex<HashMap<String, Listeners>>,
    server: &HttpServer,
    agreed: &Arc<Agreed>,
    opened: tokio::sync::oneshot::Sender<()>,
) {
    let session = agreed.session.as_deref().unwrap_or_default();
    let stream = server.listen(agreed, None).await;
    let _ = opened.send(());
    if let Ok(Some(mut messages)) = stream {
        loop {
            let message = tokio::select! {
                message = messages.recv() => message,
                () = sleep(IDLE_MAX / 4) => {
                    let is_idle = |listeners: &Listeners| listeners.idle_since.is_some_and(|since| since.elapsed() >= IDLE_MAX);
                    if lock(streams).get(session).is_none_or(is_idle) {
                        break;
                    }
                    continue;
                }
            };
            let Some(message) = message else { break };
            if is_response(&message.message) {
                continue;
            }
            let id = is_request(&message.message).then(|| message.message.get("id").cloned().unwrap_or_default());
            if give(streams, session, message) {
                continue;
            }
            sleep(PAUSE).await;
            if let Some(id) = id {
                let refusal = RpcError::new(code::METHOD_NOT_FOUND, "no client can be asked").response(&id);
                // A server that does not take it has asked in vain.
                let _ = server.post(Outbound { message: &refusal, agreed: Some(agreed), headers: Vec::new(), holder: None }).await;
            }
        }
    }
    lock(streams).remove(session);
}

/// Gives a message to the call that it can only be for, if there is one with room.
fn give(streams: &Mutex<HashMap<String, Listeners>>, session: &str, message: StreamMessage) -> bool {
    match lock(streams).get(session).map(|listeners| listeners.calls.as_slice()) {
        Some([(_, call)]) => call.try_send(message).is_ok(),
        _ => false,
    }
}

fn lock(streams: &Mutex<HashMap<String, Listeners>>) -> MutexGuard<'_, HashMap<String, Listeners>> {
    streams.lock().unwrap_or_else(PoisonError::into_inner)
}
