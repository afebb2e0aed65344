//! Why a message is refused. Each variant is one rule of RFC 9112 that the parser enforces.

use std::fmt;

/// The rule that a message breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Not HTTP/1: the start line or a header line has bytes that do not belong there.
    Syntax,
    /// A line ends in a bare LF.
    BareLf,
    /// A major version of HTTP other than 1.
    Version,
    /// CONNECT: a gateway opens no tunnels to where a client wants.
    Connect,
    /// A request target that is neither a path, nor an absolute http(s) URL, nor `*` with OPTIONS.
    Target,
    /// No Host, more than one, or one with bytes that no authority has.
    Host,
    /// More header lines than allowed.
    TooManyLines,
    /// Content-Length that is not one plain number, repeated, or beside Transfer-Encoding.
    ContentLength,
    /// Transfer-Encoding other than exactly `chunked`, repeated, or in HTTP/1.0.
    TransferEncoding,
    /// More Connection lines than any honest sender has.
    Connection,
    /// A chunk size, chunk ending or trailer that breaks the chunked coding.
    Chunk,
    /// A status code outside 100 to 599.
    Status,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Malformed::Syntax => "invalid start line or header line",
            Malformed::BareLf => "line ends in a bare LF",
            Malformed::Version => "unsupported HTTP version",
            Malformed::Connect => "CONNECT is not supported",
            Malformed::Target => "invalid request target",
            Malformed::Host => "missing, repeated or invalid Host",
            Malformed::TooManyLines => "too many header lines",
            Malformed::ContentLength => "invalid Content-Length",
            Malformed::TransferEncoding => "invalid Transfer-Encoding",
            Malformed::Connection => "too many Connection lines",
            Malformed::Chunk => "invalid chunked body",
            Malformed::Status => "invalid status code",
        })
    }
}

impl std::error::Error for Malformed {}
