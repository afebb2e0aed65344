//! Room in memory for messages that wait: of servers until clients read them, and of clients until calls end. And room for clients' streams.

use crate::mailboxes::Holder;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Messages up to this weight are not counted: their number is bounded.
pub(crate) const SMALL: usize = 16 << 10;
/// KiB of all messages of a server that wait, and of those of one stream. A heavier message goes alone.
const SERVER_KIB: usize = 128 << 10;
const STREAM_KIB: usize = 1 << 10;
/// How long a message waits for room.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// Bytes of all messages of clients whose calls run, and of those of one client.
const CLIENTS_BYTES_MAX: usize = 512 << 20;
const CLIENT_BYTES_MAX: usize = 128 << 20;
/// How often a message is in memory while its call runs: as it came, as it goes, and for a second try.
const COPIES: usize = 3;

/// Streams of a client that stay open for what servers tell by themselves.
const CLIENT_STREAMS_MAX: usize = 1_000;

/// Why there is no room.
pub(crate) const TOO_MANY_STREAMS: &str = "too many streams are open";
pub(crate) const NO_ROOM: &str = "too much waits for clients that do not read";

/// The memory of one server's messages.
#[derive(Clone)]
pub(crate) struct ServerMemory(Arc<Semaphore>);

/// The share of one stream.
#[derive(Clone)]
pub(crate) struct StreamMemory {
    server: ServerMemory,
    stream: Arc<Semaphore>,
}

/// Room for a message, until this is dropped.
pub(crate) struct Room {
    _server: OwnedSemaphorePermit,
    _stream: Option<OwnedSemaphorePermit>,
}

impl ServerMemory {
    pub(crate) fn new() -> Self {
        ServerMemory(Arc::new(Semaphore::new(SERVER_KIB)))
    }

    pub(crate) fn stream(&self) -> StreamMemory {
        StreamMemory { server: self.clone(), stream: Arc::new(Semaphore::new(STREAM_KIB)) }
    }

    /// Room for a message of this weight: nothing for a small one, and an error if there is none now.
    pub(crate) fn room_now(&self, weight: usize) -> Result<Option<Room>, &'static str> {
        if weight <= SMALL {
            return Ok(None);
        }
        let server = self.0.clone().try_acquire_many_owned(kib(weight, SERVER_KIB)).map_err(|_| NO_ROOM)?;
        Ok(Some(Room { _server: server, _stream: None }))
    }
}

impl StreamMemory {
    /// The same, when there is room on the stream, and soon at the server.
    pub(crate) async fn room(&self, weight: usize) -> Result<Option<Room>, &'static str> {
        if weight <= SMALL {
            return Ok(None);
        }
        // Whoever reads this stream makes room for its next message.
        let stream = self.stream.clone().acquire_many_owned(kib(weight, STREAM_KIB)).await.map_err(|_| NO_ROOM)?;
        let server = timeout(WAIT_MAX, self.server.0.clone().acquire_many_owned(kib(weight, SERVER_KIB))).await;
        let server = server.map_err(|_| NO_ROOM)?.map_err(|_| NO_ROOM)?;
        Ok(Some(Room { _server: server, _stream: Some(stream) }))
    }
}

fn kib(weight: usize, most: usize) -> u32 {
    u32::try_from(weight.div_ceil(1 << 10).min(most)).unwrap_or(u32::MAX)
}

/// What clients have of something there is only so much of, all of them and each.
pub(crate) struct Shares {
    all_max: usize,
    own_max: usize,
    held: Mutex<HashMap<Holder, usize>>,
}

/// The share of one client, until this is dropped.
pub(crate) struct Share {
    shares: Arc<Shares>,
    holder: Holder,
    amount: usize,
}

impl Shares {
    /// Shares of the memory for messages of clients whose calls run, in bytes.
    pub(crate) fn of_messages() -> Arc<Self> {
        Arc::new(Shares { all_max: CLIENTS_BYTES_MAX, own_max: CLIENT_BYTES_MAX, held: Mutex::default() })
    }

    /// Shares of open streams.
    pub(crate) fn of_streams() -> Arc<Self> {
        Arc::new(Shares { all_max: usize::MAX, own_max: CLIENT_STREAMS_MAX, held: Mutex::default() })
    }

    /// Room for a message of this weight; `None` if its client, or all of them, have too much already.
    pub(crate) fn room(self: &Arc<Self>, holder: Holder, weight: usize) -> Option<Share> {
        self.take(holder, if weight <= SMALL { 0 } else { COPIES * weight })
    }

    /// So much more for a client; `None` if that is too much.
    pub(crate) fn take(self: &Arc<Self>, holder: Holder, amount: usize) -> Option<Share> {
        if amount > 0 {
            let mut held = self.held();
            let (all, own) = (held.values().sum::<usize>(), held.get(&holder).copied().unwrap_or_default());
            if all.saturating_add(amount) > self.all_max || own + amount > self.own_max {
                return None;
            }
            held.insert(holder.clone(), own + amount);
        }
        Some(Share { shares: self.clone(), holder, amount })
    }

    fn held(&self) -> MutexGuard<'_, HashMap<Holder, usize>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.amount == 0 {
            return;
        }
        let mut held = self.shares.held();
        let left = held.get(&self.holder).copied().unwrap_or_default().saturating_sub(self.amount);
        match left {
            0 => drop(held.remove(&self.holder)),
            left => drop(held.insert(self.holder.clone(), left)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CLIENT_BYTES_MAX, COPIES, ServerMemory, Shares};
    use crate::mailboxes::Holder;
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test]
    async fn a_stream_holds_one_large_message_and_a_server_some() {
        let server = ServerMemory::new();
        let stream = server.stream();
        assert!(stream.room(1_000).await.unwrap().is_none());
        let held = stream.room(10 << 20).await.unwrap();
        let soon = Duration::from_millis(20);
        assert!(timeout(soon, stream.room(20 << 10)).await.is_err(), "the stream is full");
        let others: Vec<_> = std::iter::from_fn(|| server.room_now(10 << 20).ok()).collect();
        assert_eq!(others.len(), 11);
        drop((held, others));
        assert!(timeout(soon, stream.room(20 << 10)).await.unwrap().unwrap().is_some());
        assert!(server.room_now(120 << 20).is_ok());
    }

    #[test]
    fn a_client_has_its_share_and_no_more() {
        let memory = Shares::of_messages();
        let holder = |owner: &str| Holder { owner: owner.to_owned(), network: None };
        let own: Vec<_> = std::iter::from_fn(|| memory.room(holder("a"), CLIENT_BYTES_MAX / COPIES / 4)).collect();
        assert_eq!(own.len(), 4);
        assert!(memory.room(holder("a"), 1).is_some(), "small messages are not counted");
        assert!(memory.room(holder("b"), CLIENT_BYTES_MAX / COPIES).is_some());
        drop(own);
        assert!(memory.held().is_empty());
    }
}
