//! The reasons to reject a message. Each variant is one rule of RFC 9112 that the parser enforces.

use std::fmt;

/// The rule that a message violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Not HTTP/1: the start line or a header line has invalid bytes.
    Syntax,
    /// A line ends in a bare LF.
    BareLf,
    /// A major version of HTTP other than 1.
    Version,
    /// CONNECT: a gateway opens no tunnels to destinations of a client's choice.
    Connect,
    /// A request target that is neither a path, nor an absolute http(s) URL, nor `*` with OPTIONS.
    Target,
    /// No Host, more than one, or one with bytes that are invalid in an authority.
    Host,
    /// Too many header lines.
    TooManyLines,
    /// A Content-Length that is not one plain number, is repeated, or occurs together with Transfer-Encoding. In a request it also has no leading
    /// zero, and one space before it at most.
    ContentLength,
    /// A Transfer-Encoding that is not exactly `chunked`, is repeated, or occurs in HTTP/1.0.
    TransferEncoding,
    /// More Connection lines than a legitimate sender has.
    Connection,
    /// A chunk size, chunk ending or trailer that violates the chunked coding.
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
