//! Room in memory for messages that wait: of servers until clients read them, and of clients until calls end. And room for clients' streams.

use crate::mailboxes::Holder;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

/// Messages up to this weight are not counted: their number is bounded.
pub(crate) const SMALL: usize = 16 << 10;
/// KiB of all messages of a server that wait, and of those of one stream. A heavier message goes alone.
const SERVER_KIB: usize = 128 << 10;
const STREAM_KIB: usize = 1 << 10;
/// Bytes of those of one client.
const SERVER_BYTES_OF_CLIENT_MAX: usize = 48 << 20;
/// How long a message waits for room.
const WAIT_MAX: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(50);
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

/// The memory of one server's messages, of which each client has its share.
#[derive(Clone)]
pub(crate) struct ServerMemory {
    all: Arc<Semaphore>,
    shares: Arc<Shares>,
}

/// That of one stream.
#[derive(Clone)]
pub(crate) struct StreamMemory {
    server: ServerMemory,
    stream: Arc<Semaphore>,
    holder: Option<Holder>,
}

/// Room for a message, until this is dropped.
pub(crate) struct Room {
    _server: OwnedSemaphorePermit,
    _stream: Option<OwnedSemaphorePermit>,
    _share: Option<Share>,
}

impl ServerMemory {
    pub(crate) fn new() -> Self {
        let shares = Shares { all_max: usize::MAX, own_max: SERVER_BYTES_OF_CLIENT_MAX, held: Mutex::default() };
        ServerMemory { all: Arc::new(Semaphore::new(SERVER_KIB)), shares: Arc::new(shares) }
    }

    /// The memory of one more stream, of a client if it has one.
    pub(crate) fn stream(&self, holder: Option<Holder>) -> StreamMemory {
        StreamMemory { server: self.clone(), stream: Arc::new(Semaphore::new(STREAM_KIB)), holder }
    }

    /// Room for a message of this weight: nothing for a small one, and an error if there is none now.
    pub(crate) fn room_now(&self, holder: Option<&Holder>, weight: usize) -> Result<Option<Room>, &'static str> {
        if weight <= SMALL {
            return Ok(None);
        }
        let share = holder.map(|holder| self.shares.take(holder.clone(), weight).ok_or(NO_ROOM)).transpose()?;
        let server = self.all.clone().try_acquire_many_owned(kib(weight, SERVER_KIB)).map_err(|_| NO_ROOM)?;
        Ok(Some(Room { _server: server, _stream: None, _share: share }))
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
        let waited = timeout(WAIT_MAX, async {
            let share = match &self.holder {
                Some(holder) => Some(self.server.shares.wait_for(holder, weight).await),
                None => None,
            };
            (share, self.server.all.clone().acquire_many_owned(kib(weight, SERVER_KIB)).await)
        });
        let (share, server) = waited.await.map_err(|_| NO_ROOM)?;
        Ok(Some(Room { _server: server.map_err(|_| NO_ROOM)?, _stream: Some(stream), _share: share }))
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

    /// The same, as soon as it is not too much.
    async fn wait_for(self: &Arc<Self>, holder: &Holder, amount: usize) -> Share {
        loop {
            match self.take(holder.clone(), amount) {
                Some(share) => return share,
                None => sleep(LOOK).await,
            }
        }
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
        let stream = server.stream(None);
        assert!(stream.room(1_000).await.unwrap().is_none());
        let held = stream.room(10 << 20).await.unwrap();
        let soon = Duration::from_millis(20);
        assert!(timeout(soon, stream.room(20 << 10)).await.is_err(), "the stream is full");
        let others: Vec<_> = std::iter::from_fn(|| server.room_now(None, 10 << 20).ok()).collect();
        assert_eq!(others.len(), 11);
        drop((held, others));
        assert!(timeout(soon, stream.room(20 << 10)).await.unwrap().unwrap().is_some());
        assert!(server.room_now(None, 120 << 20).is_ok());
    }

    #[tokio::test]
    async fn one_client_takes_no_other_the_memory_of_a_server() {
        let server = ServerMemory::new();
        let holder = |owner: &str| Holder { owner: owner.to_owned(), network: None };
        let own: Vec<_> = std::iter::from_fn(|| server.room_now(Some(&holder("a")), 10 << 20).ok()).collect();
        assert_eq!(own.len(), 4);
        let (soon, stream) = (Duration::from_millis(20), server.stream(Some(holder("a"))));
        assert!(timeout(soon, stream.room(10 << 20)).await.is_err());
        assert!(server.stream(Some(holder("b"))).room(10 << 20).await.is_ok());
        drop(own);
        assert!(timeout(Duration::from_secs(5), stream.room(10 << 20)).await.is_ok());
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
