//! Connection statistics of one core. Only the core writes them; any thread may read them.

use crate::counter::Counter;

/// Statistics of one core.
#[derive(Debug, Default)]
pub struct CoreStats {
    /// Sweeps of the time limits: a core whose number does not grow is stuck.
    pub sweeps: Counter,
    /// Client connections served by this core.
    pub clients: Counter,
    /// Open client connections; updated with each sweep of the time limits.
    pub clients_open: Counter,
    /// Client connections that were rejected because their address has the maximum number open.
    pub clients_refused: Counter,
    /// Connections refused because file descriptors were exhausted and no connection was idle.
    pub clients_refused_without_files: Counter,
    /// Idle client connections closed because file descriptors were exhausted.
    pub clients_evicted: Counter,
    /// Invalid request heads: answered with 400 or similar, and the connection closed.
    pub heads_refused: Counter,
    /// HTTP/2 connections ended because their clients caused pointless work.
    pub http2_misused: Counter,
    /// Bytes that HTTP/2 streams buffer for slow readers; updated with each sweep of the time limits.
    pub http2_buffered: Counter,
    /// Bytes of bodies buffered because something must see them whole; updated with each sweep of the time limits.
    pub kept_body_bytes: Counter,
    /// Bodies not buffered because other bodies used all the memory for them.
    pub kept_bodies_refused: Counter,
    /// Connections opened to upstreams.
    pub connects: Counter,
    /// Requests sent on a reused connection.
    pub reuses: Counter,
    /// Failed connection attempts to upstreams.
    pub connects_failed: Counter,
    /// Connections to upstreams, in use and idle; updated with each sweep of the time limits.
    pub upstreams_open: Counter,
    /// Open tunnels (WebSockets); updated with each sweep of the time limits.
    pub tunnels_open: Counter,
    /// Idle connections to upstreams; at most a second old.
    pub upstreams_idle: Counter,
    /// Recent load of the thread, in thousandths.
    pub busy_permille: Counter,
}
