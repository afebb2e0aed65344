//! Idle upstream connections of one core, last in first out, by target. A connection to a named upstream expires with the DNS
//! answer, so a busy pool follows a change of address.

use crate::limits::Limits;
use crate::stream::Stream;
use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

/// An upstream connection, in use or idle.
pub(crate) struct PooledConnection {
    pub stream: Stream,
    pub serial: u64,
    /// Whether it has carried an exchange before.
    pub reused: bool,
    /// Coarse time after which it is not reused.
    pub valid_until_ms: u64,
    /// Held while the connection lives.
    #[allow(dead_code)]
    pub slot: PoolSlot,
}

/// One of the connections that a core may have to its upstreams.
pub(crate) struct PoolSlot(Rc<Cell<usize>>);

impl PoolSlot {
    /// Takes a slot if fewer than `most` are taken.
    pub(crate) fn take(open: &Rc<Cell<usize>>, most: usize) -> Option<PoolSlot> {
        let taken = open.get();
        (taken < most).then(|| {
            open.set(taken + 1);
            PoolSlot(open.clone())
        })
    }
}

impl Drop for PoolSlot {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

struct Idle {
    upstream: PooledConnection,
    since_ms: u64,
}

/// Hash function for serials, which are unique and dense.
#[derive(Default)]
pub(crate) struct SerialHasher(u64);

impl Hasher for SerialHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0 << 8 | u64::from(*byte));
    }
    fn write_u64(&mut self, serial: u64) {
        // The map takes its control bits from the top.
        self.0 = serial.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

#[derive(Default)]
pub(crate) struct Pool {
    idle: HashMap<u64, Vec<Idle>, BuildHasherDefault<SerialHasher>>,
}

impl Pool {
    /// Takes an idle connection that is still usable.
    #[inline]
    pub(crate) fn take(&mut self, serial: u64, now_ms: u64, limits: &Limits) -> Option<PooledConnection> {
        let idle = self.idle.get_mut(&serial)?;
        while let Some(mut candidate) = idle.pop() {
            if candidate.is_good(now_ms, limits) {
                candidate.upstream.reused = true;
                return Some(candidate.upstream);
            }
        }
        None
    }

    /// Keeps a connection for the next request.
    #[inline]
    pub(crate) fn put(&mut self, upstream: PooledConnection, now_ms: u64, limits: &Limits) {
        if limits.upstream_idle_total_max != usize::MAX && self.len() >= limits.upstream_idle_total_max {
            return;
        }
        let idle = self.idle.entry(upstream.serial).or_default();
        if idle.len() < limits.upstream_idle_max {
            idle.push(Idle { upstream, since_ms: now_ms });
        }
    }

    /// Number of idle connections.
    pub(crate) fn len(&self) -> usize {
        self.idle.values().map(Vec::len).sum()
    }

    /// Closes this many connections, those that have been idle longest first.
    pub(crate) fn close_oldest(&mut self, connections: usize) {
        for _ in 0..connections {
            // The first connection of each list has been idle longest.
            let since = |idle: &Vec<Idle>| idle.first().map_or(u64::MAX, |first| first.since_ms);
            match self.idle.values_mut().filter(|idle| !idle.is_empty()).min_by_key(|idle| since(idle)) {
                Some(idle) => drop(idle.remove(0)),
                None => return,
            }
        }
    }

    /// Closes connections that have expired or that the other side has closed.
    pub(crate) fn prune(&mut self, now_ms: u64, limits: &Limits) {
        self.idle.retain(|_, idle| {
            idle.retain_mut(|candidate| candidate.is_good(now_ms, limits));
            !idle.is_empty()
        });
    }
}

impl Idle {
    #[inline]
    fn is_good(&mut self, now_ms: u64, limits: &Limits) -> bool {
        now_ms < self.upstream.valid_until_ms
            && now_ms.saturating_sub(self.since_ms) < limits.upstream_idle_ms
            && !self.upstream.stream.is_stale()
    }
}
