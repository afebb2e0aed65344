//! Upstream connections of one core that carry many exchanges at once, by target. Independent of the protocol.

use crate::limits::Limits;
use crate::stream::Stream;
use crate::target::{Http2, Target};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub(crate) trait SharedUpstream {
    /// Whether another exchange may start on it.
    fn has_room(&self, now_ms: u64) -> bool;

    /// Whether it is open, young enough, and recently used.
    fn is_worth_keeping(&self, now_ms: u64, limits: &Limits) -> bool;

    /// Starts an exchange with the connection's target.
    fn open(&self, target: &Target) -> Stream;
}

/// Shared connections by the target's serial number.
#[derive(Default)]
pub(crate) struct SharedUpstreams(RefCell<HashMap<u64, TargetConnections>>);

/// Shared connections to one target.
struct TargetConnections {
    /// Its holder opens the next connection; the others wait for room on that one.
    turn: Arc<Semaphore>,
    open: Vec<Box<dyn SharedUpstream>>,
}

impl Default for TargetConnections {
    fn default() -> Self {
        TargetConnections { turn: Arc::new(Semaphore::new(1)), open: Vec::new() }
    }
}

impl SharedUpstreams {
    /// Starts an exchange on a connection that has room.
    pub(crate) fn open(&self, now_ms: u64, target: &Target) -> Option<Stream> {
        let connections = self.0.borrow();
        let shared = connections.get(&target.serial)?.open.iter().find(|shared| shared.has_room(now_ms))?;
        Some(shared.open(target))
    }

    /// For an upstream that is known to speak HTTP/2, waits for the turn to open a connection. For others, returns at once: each
    /// request may need its own connection.
    pub(crate) async fn turn(&self, target: &Target) -> Option<OwnedSemaphorePermit> {
        let turn = {
            let mut connections = self.0.borrow_mut();
            match target.http2 {
                Http2::Always => connections.entry(target.serial).or_default().turn.clone(),
                _ => connections.get(&target.serial)?.turn.clone(),
            }
        };
        turn.acquire_owned().await.ok()
    }

    /// Keeps a new connection for later exchanges.
    pub(crate) fn add(&self, target: &Target, connection: Box<dyn SharedUpstream>) {
        self.0.borrow_mut().entry(target.serial).or_default().open.push(connection);
    }

    /// Drops connections that are closed, too old, or long unused; their current exchanges continue.
    pub(crate) fn prune(&self, now_ms: u64, limits: &Limits) {
        self.0.borrow_mut().retain(|_, connections| {
            connections.open.retain(|shared| shared.is_worth_keeping(now_ms, limits));
            !connections.open.is_empty() || Arc::strong_count(&connections.turn) > 1
        });
    }
}
