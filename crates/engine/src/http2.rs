//! What HTTP/2 with clients and to upstreams have in common, and the upstreams' side. The protocol itself is `tollgate_http2`'s.

pub(crate) mod body;
pub(crate) mod driver;
pub(crate) mod frame_allowance;
pub(crate) mod head;
pub(crate) mod link;
mod stream_count;
pub(crate) mod upstream;
mod upstream_stream;

/// Bytes of one stream that wait here before its other side must pause.
pub(crate) const STREAM_WINDOW: u32 = 256 * 1024;
