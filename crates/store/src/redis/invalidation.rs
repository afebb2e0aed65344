//! Push messages from Redis: messages of a channel, and notifications of changed documents, whoever changed them. They arrive on a second
//! connection, which is monitored more closely than the first: a gateway that caches documents must know at once when notifications stop.

use super::connection::open_push_connection;
use super::link::Link;
use super::names;
use crate::question::DocumentSpace;
use redis::aio::{AsyncPushSender, ConnectionLike, MultiplexedConnection, SendError};
use redis::{PushInfo, PushKind, RedisResult, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Interval between two pings on the connection.
const PING_EVERY: Duration = Duration::from_millis(500);
/// Pause between attempts to connect.
const RETRY_AFTER: Duration = Duration::from_millis(200);
/// Most push messages that wait to be processed. Beyond this one has been missed, and the connection is reopened.
const HEARD_MAX: usize = 65_536;

/// Kinds of documents that gateways cache.
const WATCHED: [DocumentSpace; 2] = [DocumentSpace::Session, DocumentSpace::OrgSession];

/// An event of the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Nothing is missed from here on. Documents read before may be out of date.
    Up,
    /// Push messages may be missed from here on, for this reason.
    Down(String),
    /// A message of a channel.
    Message(Vec<u8>),
    /// A document was changed or deleted. Only a single server reports this, not a cluster.
    Changed(DocumentSpace, String),
    /// Any document may have been changed.
    AllChanged,
}

/// Queues the connection's push messages.
struct InvalidationLine(Sender<PushInfo>);

impl AsyncPushSender for InvalidationLine {
    fn send(&self, info: PushInfo) -> Result<(), SendError> {
        self.0.try_send(info).map_err(|_| SendError)
    }
}

/// What is subscribed to.
pub(super) enum Topics {
    /// These channels.
    Messages(Vec<String>),
    /// This channel, and changes of sessions.
    MessagesAndSessions(String),
}

impl Topics {
    fn channels(&self) -> &[String] {
        match self {
            Topics::Messages(channels) => channels,
            Topics::MessagesAndSessions(channel) => std::slice::from_ref(channel),
        }
    }
}

/// Listens for the lifetime of the process.
pub(super) async fn listen(link: Arc<Link>, topics: Topics, mut hear: impl FnMut(Heard) + Send) {
    let mut was_up = true;
    loop {
        let why = match hold(&link, &topics, &mut hear, &mut was_up).await {
            Ok(why) => why,
            Err(error) => error.to_string(),
        };
        if was_up {
            hear(Heard::Down(why));
            was_up = false;
        }
        tokio::time::sleep(RETRY_AFTER).await;
    }
}

/// Listens on one connection; returns the reason for its end.
async fn hold(link: &Link, topics: &Topics, hear: &mut impl FnMut(Heard), up: &mut bool) -> RedisResult<String> {
    let (sender, mut line) = channel(HEARD_MAX);
    let mut connection = open_push_connection(link.settings(), InvalidationLine(sender)).await?;
    for channel in topics.channels() {
        connection.subscribe(channel).await?;
    }
    if let Topics::MessagesAndSessions(_) = topics {
        watch_documents(&mut connection).await;
    }
    hear(Heard::Up);
    *up = true;
    let mut ping = tokio::time::interval(PING_EVERY);
    ping.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            info = line.recv() => match info {
                Some(info) if info.kind == PushKind::Disconnection => return Ok("the connection is closed".to_owned()),
                Some(info) => pass_on(info, hear),
                None => return Ok("the connection is closed".to_owned()),
            },
            _ = ping.tick() => {
                if line.len() >= HEARD_MAX {
                    return Ok("more is said than can be heard".to_owned());
                }
                if let Err(why) = ping_while_listening(&mut connection, &mut line, link.settings().ping_time_max, hear).await {
                    return Ok(why);
                }
            }
        }
    }
}

/// Waits for the answer to a ping, and processes push messages meanwhile.
async fn ping_while_listening(
    connection: &mut MultiplexedConnection,
    line: &mut Receiver<PushInfo>,
    time_max: Duration,
    hear: &mut impl FnMut(Heard),
) -> Result<(), String> {
    let command = redis::cmd("PING");
    let answered = tokio::time::timeout(time_max, connection.req_packed_command(&command));
    tokio::pin!(answered);
    loop {
        tokio::select! {
            biased;
            info = line.recv() => match info {
                Some(info) if info.kind != PushKind::Disconnection => pass_on(info, hear),
                _ => return Err("the connection is closed".to_owned()),
            },
            answer = &mut answered => return match answer {
                Ok(Ok(_)) => Ok(()),
                Ok(Err(error)) => Err(error.to_string()),
                Err(_) => Err("a ping is not answered".to_owned()),
            },
        }
    }
}

/// Asks for notifications of changes. A server may not support or permit it: messages of other gateways still arrive.
async fn watch_documents(connection: &mut MultiplexedConnection) {
    let mut track = redis::cmd("CLIENT");
    track.arg("TRACKING").arg("ON").arg("BCAST");
    for kind in WATCHED {
        track.arg("PREFIX").arg(names::prefix(kind));
    }
    if let Err(error) = connection.req_packed_command(&track).await.and_then(Value::extract_error) {
        tracing::info!(%error, "Redis does not report changes that other programs make to sessions; only messages of other gateways do");
    }
}

fn pass_on(info: PushInfo, hear: &mut impl FnMut(Heard)) {
    match info.kind {
        PushKind::Message => {
            if let Some(Value::BulkString(text)) = info.data.into_iter().nth(1) {
                hear(Heard::Message(text));
            }
        }
        PushKind::Invalidate => match info.data.into_iter().next() {
            Some(Value::Array(keys)) => {
                for key in keys {
                    let Value::BulkString(key) = key else { continue };
                    let Ok(key) = String::from_utf8(key) else { continue };
                    let changed = WATCHED.iter().find_map(|kind| Some((*kind, key.strip_prefix(names::prefix(*kind))?)));
                    if let Some((kind, id)) = changed {
                        hear(Heard::Changed(kind, id.to_owned()));
                    }
                }
            }
            _ => hear(Heard::AllChanged),
        },
        _ => {}
    }
}
