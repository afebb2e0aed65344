//! HTTP/2 to upstreams, and what HTTP/2 with clients and upstreams share. `tollgate_http2` implements the protocol.

pub(crate) mod body;
pub(crate) mod driver;
pub(crate) mod frame_allowance;
pub(crate) mod head;
pub(crate) mod link;
mod stream_count;
pub(crate) mod upstream;
mod upstream_stream;

/// Bytes of one stream that are buffered here before the sender must pause.
pub(crate) const STREAM_WINDOW: u32 = 256 * 1024;
