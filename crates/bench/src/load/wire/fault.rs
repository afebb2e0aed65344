//! Why a request failed.

use std::io;

/// Kinds of failures with their own counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Connect,
    Tls,
    Timeout,
    Reset,
    Protocol,
    Local,
}

/// One failed request.
#[derive(Debug)]
pub(crate) struct WireFault {
    pub cause: Cause,
    pub message: String,
}

impl WireFault {
    pub(crate) fn new(cause: Cause, message: impl Into<String>) -> Self {
        WireFault { cause, message: message.into() }
    }

    /// The connection to `what` failed.
    pub(crate) fn connect(what: &str, error: &io::Error) -> Self {
        WireFault::new(local_or(error, Cause::Connect), format!("connect {what}: {error}"))
    }

    /// An established connection failed.
    pub(crate) fn broken(error: &io::Error) -> Self {
        let cause = match error.kind() {
            io::ErrorKind::InvalidData => Cause::Protocol,
            _ => local_or(error, Cause::Reset),
        };
        WireFault::new(cause, format!("connection: {error}"))
    }

    pub(crate) fn timeout() -> Self {
        WireFault::new(Cause::Timeout, "timeout: no complete response in time (-t)")
    }
}

/// `Cause::Local` if this machine ran out of files or ports, which says nothing about the server.
fn local_or(error: &io::Error, otherwise: Cause) -> Cause {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    match error.raw_os_error() {
        Some(ENFILE | EMFILE) => Cause::Local,
        _ if error.kind() == io::ErrorKind::AddrNotAvailable => Cause::Local,
        _ => otherwise,
    }
}
