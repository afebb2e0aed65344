//! Why a request failed.

use super::result::Errors;
use std::io;

/// The kinds of failure that are counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Connect,
    Tls,
    Timeout,
    Reset,
    Protocol,
    Local,
}

/// One failed request.
#[derive(Debug)]
pub struct Fault {
    pub cause: Cause,
    pub message: String,
}

impl Fault {
    pub fn new(cause: Cause, message: impl Into<String>) -> Self {
        Fault { cause, message: message.into() }
    }

    /// No connection to `what`.
    pub fn connect(what: &str, error: &io::Error) -> Self {
        Fault::new(local_or(error, Cause::Connect), format!("connect {what}: {error}"))
    }

    /// An established connection failed.
    pub fn broken(error: &io::Error) -> Self {
        let cause = match error.kind() {
            io::ErrorKind::InvalidData => Cause::Protocol,
            _ => local_or(error, Cause::Reset),
        };
        Fault::new(cause, format!("connection: {error}"))
    }

    pub fn timeout() -> Self {
        Fault::new(Cause::Timeout, "timeout: no complete response in time (-t)")
    }
}

/// Files and ports that ran out here say nothing about the server.
fn local_or(error: &io::Error, otherwise: Cause) -> Cause {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    match error.raw_os_error() {
        Some(ENFILE | EMFILE) => Cause::Local,
        _ if error.kind() == io::ErrorKind::AddrNotAvailable => Cause::Local,
        _ => otherwise,
    }
}

impl Errors {
    /// Counts one.
    pub fn count(&mut self, cause: Cause) {
        *match cause {
            Cause::Connect => &mut self.connect,
            Cause::Tls => &mut self.tls,
            Cause::Timeout => &mut self.timeout,
            Cause::Reset => &mut self.reset,
            Cause::Protocol => &mut self.protocol,
            Cause::Local => &mut self.local,
        } += 1;
    }

    /// Each with its name.
    pub fn named(&self) -> [(&'static str, u64); 6] {
        [
            ("connect", self.connect),
            ("tls", self.tls),
            ("timeout", self.timeout),
            ("reset", self.reset),
            ("protocol", self.protocol),
            ("local", self.local),
        ]
    }

    /// Adds another's.
    pub fn add(&mut self, other: &Errors) {
        self.connect += other.connect;
        self.tls += other.tls;
        self.timeout += other.timeout;
        self.reset += other.reset;
        self.protocol += other.protocol;
        self.local += other.local;
    }
}
