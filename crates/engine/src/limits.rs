//! Limits of the data plane that an operator can configure. Times are in milliseconds.

use crate::pace::Speed;

/// Slower than any network in use, and fast enough to shed a few hundred idle clients within a minute.
const SPEED_MIN: Speed = Speed { bytes_per_s_min: 500, grace_ms: 20_000 };

/// Limits of one engine.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Maximum bytes of a request or response head. A larger one is an error or an attack; common servers allow 8 to 32 KiB.
    pub head_bytes_max: usize,
    /// Maximum header lines of a request; at most 128.
    pub header_lines_max: usize,
    /// Time from the first byte of a request to the end of its head. Stops clients that send one byte a second.
    pub head_ms: u64,
    /// Time from the start of a connection to the end of its TLS handshake, including the PROXY header.
    pub handshake_ms: u64,
    /// Maximum open streams of one HTTP/2 client. Each costs as much as a connection.
    pub http2_streams_max: u32,
    /// Bytes that the HTTP/2 streams of one core may buffer for slow readers before each stream is limited to a small size.
    pub http2_buffer_bytes_max: usize,
    /// Bytes of bodies that one core may buffer because something must see them whole. A body without room waits.
    pub kept_body_bytes_max: usize,
    /// Idle time of a keep-alive connection.
    pub client_idle_ms: u64,
    /// How long a client may take none of the bytes that wait for it.
    pub client_write_ms: u64,
    /// Time for TCP connect and TLS handshake to an upstream, for all its addresses together.
    pub upstream_connect_ms: u64,
    /// Time from the end of the request to the first byte of the response, unless the exchange has its own limit.
    pub upstream_first_byte_ms: u64,
    /// Longest silence within a body, of either side.
    pub body_stall_ms: u64,
    /// Minimum speed of a client that sends a request body, until the response begins.
    pub upload_min: Speed,
    /// Minimum speed of a client that receives a response.
    pub download_min: Speed,
    /// Idle time of a pooled upstream connection.
    pub upstream_idle_ms: u64,
    /// Maximum idle connections that one core keeps for one upstream.
    pub upstream_idle_max: usize,
    /// Maximum idle connections to all upstreams together.
    pub upstream_idle_total_max: usize,
    /// Maximum connections of one core to all upstreams together, in use and idle. At the limit, new requests fail instead of
    /// exhausting the process's file descriptors.
    pub upstream_connections_max: usize,
    /// Maximum age of an upstream connection, 0 for unlimited; an older one is not reused.
    pub upstream_life_ms: u64,
    /// Whether clients may switch protocols, over HTTP/2 too.
    pub tunnels: bool,
    /// Maximum open tunnels (WebSockets) of one core. Each holds a connection on both sides for any time.
    pub tunnels_max: usize,
    /// Idle time of a tunnel: no byte in either direction.
    pub tunnel_idle_ms: u64,
    /// Time from the start of a drain until the remaining connections are cut.
    pub drain_ms: u64,
}

impl Limits {
    /// Longest silence within a body. Both sides of an event stream may have nothing to say for as long as those of a tunnel.
    #[inline]
    pub(crate) fn silence_ms(&self, is_event_stream: bool) -> u64 {
        if is_event_stream { self.tunnel_idle_ms } else { self.body_stall_ms }
    }
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
            upstream_idle_max: usize::MAX,
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
