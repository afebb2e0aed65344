//! I/O error of one exchange: which side failed, and how. Created where it happens, reported to the client once.

use rustix::io::Errno;
use rustls::{AlertDescription, CertificateError};
use std::fmt;
use std::io;
use tollgate_http::Malformed;

/// An I/O error between the gateway and one of its two sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Kind of error.
    pub kind: FaultKind,
    /// Error text of the operating system or library, for the log.
    pub detail: String,
    /// What the operating system or the TLS library said, as far as it is told apart.
    pub reason: FaultReason,
}

/// The reason for a fault, where somebody may want to know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FaultReason {
    /// None of those below.
    #[default]
    Other,
    /// An error of the operating system, by number.
    Os(i32),
    /// The upstream's certificate has expired.
    CertificateExpired,
    /// The upstream's certificate is for other names.
    CertificateName,
    /// Nobody trusted has issued the upstream's certificate.
    CertificateIssuer,
    /// Something else is wrong with the upstream's certificate.
    CertificateInvalid,
    /// The upstream does not speak TLS.
    TlsProtocol,
    /// The upstream speaks none of our versions and suites.
    TlsVersion,
    /// The upstream ended the handshake.
    TlsRefused,
    /// The upstream sent another alert.
    TlsAlert,
    /// The handshake failed for another reason.
    TlsHandshake,
}

/// Kinds of I/O errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The upstream's name has no address.
    Lookup,
    /// No address of the upstream accepted the connection.
    Connect,
    /// The upstream's certificate is invalid, or the handshake failed.
    Tls,
    /// The upstream closed or reset the connection before its response.
    UpstreamClosed,
    /// The upstream's response is not valid HTTP.
    UpstreamMalformed(Malformed),
    /// The upstream's head is larger than allowed.
    UpstreamHeadTooLarge,
    /// The upstream did not respond in time, or accepted no more bytes.
    UpstreamTimeout,
    /// Connecting to the upstream took too long.
    ConnectTimeout,
    /// The request's body is larger than allowed.
    BodyTooLarge,
    /// The request's body violates the chunked coding.
    BodyMalformed(Malformed),
    /// The client stopped sending in the middle of its body.
    ClientTimeout,
    /// The client closed the connection before the response.
    ClientGone,
    /// The client requested a tunnel, and the maximum is open.
    TooManyTunnels,
}

impl Fault {
    /// A fault without detail.
    pub fn new(kind: FaultKind) -> Self {
        Fault { kind, detail: String::new(), reason: FaultReason::Other }
    }

    /// A fault with the text of its cause.
    pub fn with(kind: FaultKind, detail: impl fmt::Display) -> Self {
        Fault { kind, detail: detail.to_string(), reason: FaultReason::Other }
    }

    /// The same fault with the reason that an I/O error tells.
    #[must_use]
    pub(crate) fn because(self, error: &io::Error) -> Self {
        Fault { reason: FaultReason::of(error), ..self }
    }
}

impl FaultReason {
    fn of(error: &io::Error) -> Self {
        if let Some(number) = error.raw_os_error() {
            return FaultReason::Os(number);
        }
        let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        tls.map_or(FaultReason::Other, FaultReason::of_tls)
    }

    fn of_tls(error: &rustls::Error) -> Self {
        match error {
            rustls::Error::InvalidCertificate(fault) => FaultReason::of_certificate(fault),
            rustls::Error::AlertReceived(alert) => match alert {
                AlertDescription::ProtocolVersion => FaultReason::TlsVersion,
                AlertDescription::HandshakeFailure
                | AlertDescription::BadCertificate
                | AlertDescription::CertificateRequired
                | AlertDescription::InternalError => FaultReason::TlsRefused,
                _ => FaultReason::TlsAlert,
            },
            rustls::Error::PeerIncompatible(_) => FaultReason::TlsVersion,
            rustls::Error::InvalidMessage(_) => FaultReason::TlsProtocol,
            _ => FaultReason::TlsHandshake,
        }
    }

    fn of_certificate(fault: &CertificateError) -> Self {
        match fault {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => FaultReason::CertificateExpired,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => FaultReason::CertificateName,
            CertificateError::UnknownIssuer => FaultReason::CertificateIssuer,
            _ => FaultReason::CertificateInvalid,
        }
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

/// Whether the process or the system is out of file descriptors.
pub(crate) fn is_out_of_files(error: &io::Error) -> bool {
    [Errno::MFILE, Errno::NFILE].iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
