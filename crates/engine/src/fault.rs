//! I/O trouble of one exchange: which side failed, and how. Made where it happens, told to the client once.

use rustix::io::Errno;
use std::fmt;
use std::io;
use tollgate_http::Malformed;

/// What went wrong between the gateway and one of its two sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// The operating system's or the library's words, for the log.
    pub detail: String,
}

/// The kinds of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The upstream's name has no address.
    Lookup,
    /// No address of the upstream took the connection.
    Connect,
    /// The upstream's certificate or handshake failed.
    Tls,
    /// The upstream closed or broke the connection before its answer.
    UpstreamClosed,
    /// The upstream's answer is not HTTP.
    UpstreamMalformed(Malformed),
    /// The upstream's head is larger than allowed.
    UpstreamHeadTooLarge,
    /// The upstream was connected but not heard of in time, or took no more bytes.
    UpstreamTimeout,
    /// The connection to the upstream took too long.
    ConnectTimeout,
    /// The request's body is larger than allowed.
    BodyTooLarge,
    /// The request's body breaks the chunked coding.
    BodyMalformed(Malformed),
    /// The client stopped in the middle of its body.
    ClientTimeout,
    /// The client closed before the answer.
    ClientGone,
    /// The client asked for a tunnel, and there are too many.
    TooManyTunnels,
}

impl Fault {
    /// A fault without further words.
    pub fn new(kind: FaultKind) -> Self {
        Fault { kind, detail: String::new() }
    }

    /// A fault with its cause's words.
    pub fn with(kind: FaultKind, detail: impl fmt::Display) -> Self {
        Fault { kind, detail: detail.to_string() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            FaultKind::Lookup => "upstream name not resolved",
            FaultKind::Connect => "upstream not reachable",
            FaultKind::Tls => "TLS to the upstream failed",
            FaultKind::UpstreamClosed => "upstream closed the connection",
            FaultKind::UpstreamMalformed(malformed) => return write!(f, "upstream sent a malformed response: {malformed}"),
            FaultKind::UpstreamHeadTooLarge => "upstream sent too large a head",
            FaultKind::UpstreamTimeout => "upstream did not answer in time",
            FaultKind::ConnectTimeout => "connection to the upstream took too long",
            FaultKind::BodyTooLarge => "request body too large",
            FaultKind::BodyMalformed(malformed) => return write!(f, "malformed request body: {malformed}"),
            FaultKind::ClientTimeout => "client stopped sending",
            FaultKind::ClientGone => "client went away",
            FaultKind::TooManyTunnels => "too many tunnels are open",
        };
        match self.detail.as_str() {
            "" => f.write_str(what),
            detail => write!(f, "{what}: {detail}"),
        }
    }
}

impl std::error::Error for Fault {}

/// No file descriptor is left, of the process or of the system.
pub(crate) fn is_out_of_files(error: &io::Error) -> bool {
    [Errno::MFILE, Errno::NFILE].iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
