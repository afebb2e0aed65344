//! Every bound of the data plane that an operator can move. Times are milliseconds.

use crate::pace::Speed;

/// Slower than any network that people use, and fast enough that a few hundred idlers are gone within a minute.
const SPEED_MIN: Speed = Speed { bytes_per_s_min: 500, grace_ms: 20_000 };

/// Bounds of one engine.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of a request or response head. A head that large is an error or an attack; common servers allow 8 to 32 KiB.
    pub head_bytes_max: usize,
    /// Header lines of a request; at most 128.
    pub header_lines_max: usize,
    /// From the first byte of a request to the end of its head: what stops one-byte-a-second clients.
    pub head_ms: u64,
    /// From a connection's start to the end of its TLS handshake, with the PROXY header before it.
    pub handshake_ms: u64,
    /// Streams that one HTTP/2 client may have open at once. Each costs what a connection costs.
    pub http2_streams_max: u32,
    /// Bytes that one core's HTTP/2 streams hold for readers that have not taken them before each stream is kept to a small piece.
    pub http2_buffer_bytes_max: usize,
    /// Bytes of bodies that one core keeps because something must see them whole. Where there is no room a body waits for it.
    pub kept_body_bytes_max: usize,
    /// A keep-alive connection without a request.
    pub client_idle_ms: u64,
    /// A client that takes none of the bytes waiting for it.
    pub client_write_ms: u64,
    /// TCP connect and TLS handshake to an upstream, all addresses together.
    pub upstream_connect_ms: u64,
    /// From the whole request sent to the first byte of the answer, unless the exchange has its own limit.
    pub upstream_first_byte_ms: u64,
    /// Silence in the middle of a body, of either side.
    pub body_stall_ms: u64,
    /// The least speed of a client that sends its request's body, until the response begins.
    pub upload_min: Speed,
    /// The least speed of a client that takes a response.
    pub download_min: Speed,
    /// A pooled upstream connection without a request.
    pub upstream_idle_ms: u64,
    /// Pooled connections that one core keeps for one upstream.
    pub upstream_idle_max: usize,
    /// Idle connections to all upstreams together.
    pub upstream_idle_total_max: usize,
    /// Connections of one core to all upstreams together, in use and idle. At the bound new requests fail instead of using up the
    /// process's file descriptors.
    pub upstream_connections_max: usize,
    /// An upstream connection's whole life, 0 for no bound; an older one is not used again.
    pub upstream_life_ms: u64,
    /// Clients may switch protocols, over HTTP/2 too.
    pub tunnels: bool,
    /// Tunnels (WebSockets) of one core at one time. Each holds a connection on both sides for as long as it likes.
    pub tunnels_max: usize,
    /// A tunnel without a byte in either direction.
    pub tunnel_idle_ms: u64,
    /// From the drain's start until what is left is cut off.
    pub drain_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            head_bytes_max: 32 * 1024,
            header_lines_max: 96,
            head_ms: 15_000,
            handshake_ms: 10_000,
            http2_streams_max: 250,
            http2_buffer_bytes_max: 64 * 1024 * 1024,
            kept_body_bytes_max: 128 * 1024 * 1024,
            client_idle_ms: 120_000,
            client_write_ms: 60_000,
            upstream_connect_ms: 10_000,
            upstream_first_byte_ms: 30_000,
            body_stall_ms: 60_000,
            upload_min: SPEED_MIN,
            download_min: SPEED_MIN,
            upstream_idle_ms: 90_000,
            upstream_idle_max: 500,
            upstream_idle_total_max: usize::MAX,
            upstream_connections_max: 16_384,
            upstream_life_ms: 0,
            tunnels: false,
            tunnels_max: 8_192,
            tunnel_idle_ms: 3_600_000,
            drain_ms: 30_000,
        }
    }
}
