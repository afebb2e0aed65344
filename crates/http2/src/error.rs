//! Error codes on the wire (RFC 9113 §7), errors that end a connection, and the error for calls on a stream that is gone.

use std::fmt;

/// Error code: why a stream or a connection ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Http2ErrorCode(pub u32);

macro_rules! codes {
    ($($code:literal $constant:ident $name:literal,)*) => {
        #[allow(missing_docs)] // the names are the documentation
        impl Http2ErrorCode {
            $(pub const $constant: Http2ErrorCode = Http2ErrorCode($code);)*
        }

        impl fmt::Debug for Http2ErrorCode {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.0 {
                    $($code => out.write_str($name),)*
                    code => write!(out, "error code {code}"),
                }
            }
        }
    };
}

codes! {
    0 NO_ERROR "NO_ERROR",
    1 PROTOCOL_ERROR "PROTOCOL_ERROR",
    2 INTERNAL_ERROR "INTERNAL_ERROR",
    3 FLOW_CONTROL_ERROR "FLOW_CONTROL_ERROR",
    4 SETTINGS_TIMEOUT "SETTINGS_TIMEOUT",
    5 STREAM_CLOSED "STREAM_CLOSED",
    6 FRAME_SIZE_ERROR "FRAME_SIZE_ERROR",
    7 REFUSED_STREAM "REFUSED_STREAM",
    8 CANCEL "CANCEL",
    9 COMPRESSION_ERROR "COMPRESSION_ERROR",
    10 CONNECT_ERROR "CONNECT_ERROR",
    11 ENHANCE_YOUR_CALM "ENHANCE_YOUR_CALM",
    12 INADEQUATE_SECURITY "INADEQUATE_SECURITY",
    13 HTTP_1_1_REQUIRED "HTTP_1_1_REQUIRED",
}

/// A connection error (RFC 9113 §5.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Http2Error {
    /// The code sent to the peer.
    pub code: Http2ErrorCode,
    /// What the peer did wrong.
    pub reason: &'static str,
}

impl Http2Error {
    pub(crate) const fn new(code: Http2ErrorCode, reason: &'static str) -> Self {
        Http2Error { code, reason }
    }
}

impl fmt::Display for Http2Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({:?})", self.reason, self.code)
    }
}

impl std::error::Error for Http2Error {}

/// The stream was reset by either side, or its connection has ended: nothing more can be sent on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamGone;
