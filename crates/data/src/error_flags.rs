//! Tyk's classes of errors of upstreams and clients: the flags by which `error_overrides` tells them apart, and the words that the access log
//! has for them. Those of refusals are in the catalogue.

use rustix::io::Errno;
use tollgate_engine::{Fault, FaultKind, FaultReason};
use tollgate_observe::error_class::{ErrorClass, PROXY, UPSTREAM};

/// A class as a constant, so that classified errors need no memory.
macro_rules! class {
    ($flag:literal, $details:literal, $source:expr) => {
        Some(&ErrorClass { flag: $flag, details: $details, source: $source })
    };
}

/// The class of upstreams' responses of 5xx.
pub const UPSTREAM_5XX: Option<&ErrorClass> = class!("URS", "upstream_response_5xx", UPSTREAM);

/// The class of a fault; none for one that is neither the upstream's nor the client's end.
pub fn of_fault(fault: &Fault) -> Option<&'static ErrorClass> {
    match fault.kind {
        FaultKind::Lookup => class!("DNS", "dns_not_found", PROXY),
        FaultKind::UpstreamTimeout => class!("URT", "context_deadline_exceeded", PROXY),
        FaultKind::ConnectTimeout => class!("URT", "request_timeout", PROXY),
        FaultKind::Tls | FaultKind::UpstreamClosed => of_reason(fault.reason),
        FaultKind::Connect => match fault.reason {
            FaultReason::Os(number) => of_errno(Errno::from_raw_os_error(number)),
            _ => class!("UCF", "connection_refused", PROXY),
        },
        FaultKind::UpstreamMalformed(_) | FaultKind::UpstreamHeadTooLarge => class!("UPE", "upstream_error", PROXY),
        FaultKind::ClientGone => class!("CDC", "client_disconnected", PROXY),
        FaultKind::BodyTooLarge | FaultKind::BodyMalformed(_) | FaultKind::ClientTimeout | FaultKind::TooManyTunnels => None,
    }
}

/// The flags by which a rule may name a fault.
pub fn flags_of_fault(fault: &Fault) -> [&'static str; 2] {
    let flag = of_fault(fault).map_or("", |class| class.flag);
    // Tyk calls it by either, depending on who was first to notice.
    [flag, if fault.kind == FaultKind::ConnectTimeout { "UCT" } else { "" }]
}

/// TLS alerts come after the handshake too: with TLS 1.3 a server refuses a client's certificate then.
fn of_reason(reason: FaultReason) -> Option<&'static ErrorClass> {
    match reason {
        FaultReason::CertificateExpired => class!("TLE", "tls_certificate_expired", PROXY),
        FaultReason::CertificateName => class!("TLM", "tls_hostname_mismatch", PROXY),
        FaultReason::CertificateIssuer => class!("TLN", "tls_unknown_authority", PROXY),
        FaultReason::CertificateInvalid => class!("TLI", "tls_certificate_invalid", PROXY),
        FaultReason::TlsProtocol => class!("TLP", "tls_protocol_error", PROXY),
        FaultReason::TlsVersion => class!("TLP", "tls_protocol_version_error", PROXY),
        FaultReason::TlsAlert => class!("TLA", "tls_alert_received", PROXY),
        FaultReason::TlsRefused | FaultReason::TlsHandshake => class!("TLH", "tls_handshake_failure", PROXY),
        FaultReason::Os(number) => of_errno(Errno::from_raw_os_error(number)),
        // The upstream closed without a word.
        FaultReason::Other => class!("UPE", "upstream_error", PROXY),
    }
}

fn of_errno(errno: Errno) -> Option<&'static ErrorClass> {
    match errno {
        Errno::CONNREFUSED => class!("UCF", "connection_refused", PROXY),
        Errno::TIMEDOUT => class!("UCT", "connection_timeout", PROXY),
        Errno::CONNRESET => class!("URR", "connection_reset", PROXY),
        Errno::NETUNREACH => class!("NRH", "network_unreachable", PROXY),
        Errno::HOSTUNREACH => class!("NRH", "host_unreachable", PROXY),
        Errno::PIPE => class!("EPI", "broken_pipe", PROXY),
        Errno::CONNABORTED => class!("CAB", "connection_aborted", PROXY),
        Errno::NETRESET => class!("NRS", "network_reset", PROXY),
        _ => class!("UPE", "upstream_error", PROXY),
    }
}

#[cfg(test)]
mod tests;
