//! What one core counts of its connections. The core alone writes, anybody reads.

use crate::counter::Counter;

/// Figures of one core.
#[derive(Debug, Default)]
pub struct CoreStats {
    /// Looks at time limits: a core whose number does not grow is stuck.
    pub sweeps: Counter,
    /// Client connections that this core took.
    pub clients: Counter,
    /// Client connections that are open; at most one sweep of the time limits old.
    pub clients_open: Counter,
    /// Client connections that were closed at once: their address has as many as it may.
    pub clients_refused: Counter,
    /// Idle client connections that were closed because no file descriptor was left.
    pub clients_evicted: Counter,
    /// Heads that are no request: answered with 400 and the like, and closed.
    pub heads_refused: Counter,
    /// HTTP/2 connections that were ended because their clients made work for nothing.
    pub http2_misused: Counter,
    /// Bytes that HTTP/2 streams hold for readers that have not taken them; at most one sweep of the time limits old.
    pub http2_buffered: Counter,
    /// Bytes of bodies that are kept because something must see them whole; at most one sweep of the time limits old.
    pub kept_body_bytes: Counter,
    /// Bodies that were not kept because others took all the memory that there is for them.
    pub kept_bodies_refused: Counter,
    /// Connections made to upstreams.
    pub connects: Counter,
    /// Requests that went out on a connection that had carried others before.
    pub reuses: Counter,
    /// Connections to upstreams that could not be made.
    pub connects_failed: Counter,
    /// Connections to upstreams, in use and idle; at most one sweep of the time limits old.
    pub upstreams_open: Counter,
    /// Tunnels (WebSockets); at most one sweep of the time limits old.
    pub tunnels_open: Counter,
    /// Connections to upstreams that are idle; at most a second old.
    pub upstreams_idle: Counter,
    /// Share of the last moments that the thread worked, in thousandths.
    pub busy_permille: Counter,
}
