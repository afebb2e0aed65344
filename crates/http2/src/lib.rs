//! HTTP/2 (RFC 9113) between bytes and events, for servers and clients, without I/O: received bytes become events, and calls become
//! bytes to send. It has no runtime, clock or sockets, so that tests can drive it byte by byte.
//!
//! It does framing, header compression (RFC 7541), stream states and flow control, and validates messages as strictly as HTTP/1.1
//! heads. Empty buffers are freed. All memory that a peer can cause is bounded; the caller decides how long a peer may take and how
//! much pointless work it may cause, based on the counts.
#![forbid(unsafe_code)]

mod connection;
mod error;
mod field_list;
mod frame;
mod hpack;
mod streams;

pub use connection::{FrameCounts, Http2Connection, Http2Event, Http2Settings, Http2Side};
pub use error::{Http2Error, Http2ErrorCode, StreamGone};
pub use field_list::{FieldList, Pseudo};
pub use hpack::{HeaderBlock, HpackDecoder};
pub use streams::StreamKey;

/// The first bytes of every client connection (RFC 9113 §3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
