//! HTTP/2 (RFC 9113) between bytes and events, for servers and for clients, without I/O: bytes of the peer go in and events come out; calls go
//! in and bytes for the peer come out. It has no runtime, no clock and no sockets, so that tests can drive it byte by byte.
//!
//! It does framing, header compression (RFC 7541), the states of streams and flow control, and checks messages as strictly as HTTP/1.1's heads
//! are checked. It keeps no buffer while there is nothing in it. Everything that a peer can make it hold has a bound; how long a peer may take
//! and how much it may ask for in vain are its caller's to decide, who gets the counts.
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

/// What every connection of a client begins with (RFC 9113 §3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
