//! Tyk's flags for errors, by which `error_overrides` tells them apart: three letters for each kind.

use crate::data::refusal::{BASIC_BODY_PASSWORD, BASIC_BODY_USER, Refusal};
use rustix::io::Errno;
use tollgate_engine::{Fault, FaultKind, FaultReason};

/// The flags of a refusal; none for one that Tyk does not classify.
pub(crate) fn of_refusal(refusal: &Refusal) -> &'static [&'static str] {
    match refusal.cause {
        "auth_missing" => &["AMF"],
        "key_unknown" | "key_certificate_unknown" | "oauth_key_unknown" => &["AKI"],
        "key_certificate_missing" => &["CRQ"],
        "key_certificate_mismatch" => &["CMM"],
        "key_certificate_expired" | "jwt_expired" => &["TKE"],
        "jwt_not_yet" => &["TCV"],
        "jwt_refused" | "jwt_method" => &["TKI"],
        "oauth_malformed" => &["IHD"],
        "oauth_client_gone" => &["EAD"],
        "basic_malformed" if *refusal == BASIC_BODY_USER || *refusal == BASIC_BODY_PASSWORD => &["BIV"],
        "basic_malformed" => &["IHD"],
        "key_rate_limit" | "api_rate_limit" => &["RLT"],
        "quota_exceeded" => &["QEX"],
        "length_required" => &["CLM"],
        "request_too_large" => &["BTL"],
        "body_not_json" | "body_invalid" => &["BIV"],
        "breaker_open" => &["CBO"],
        _ => &[],
    }
}

/// The flags of a fault.
pub(crate) fn of_fault(fault: &Fault) -> &'static [&'static str] {
    match fault.kind {
        FaultKind::Lookup => &["DNS"],
        FaultKind::Tls => of_tls(fault.reason),
        FaultKind::UpstreamTimeout => &["URT"],
        // Tyk calls it by either, depending on who was first to notice.
        FaultKind::ConnectTimeout => &["UCT", "URT"],
        FaultKind::Connect | FaultKind::UpstreamClosed => match fault.reason {
            FaultReason::Os(number) => of_errno(Errno::from_raw_os_error(number)),
            _ if fault.kind == FaultKind::Connect => &["UCF"],
            _ => &["UPE"],
        },
        FaultKind::UpstreamMalformed(_) | FaultKind::UpstreamHeadTooLarge => &["UPE"],
        FaultKind::BodyTooLarge
        | FaultKind::BodyMalformed(_)
        | FaultKind::ClientTimeout
        | FaultKind::ClientGone
        | FaultKind::TooManyTunnels => &[],
    }
}

fn of_tls(reason: FaultReason) -> &'static [&'static str] {
    match reason {
        FaultReason::CertificateExpired => &["TLE"],
        FaultReason::CertificateName => &["TLM"],
        FaultReason::CertificateIssuer => &["TLN"],
        FaultReason::CertificateInvalid => &["TLI"],
        FaultReason::TlsProtocol => &["TLP"],
        FaultReason::TlsAlert => &["TLA"],
        FaultReason::TlsRefused | FaultReason::TlsHandshake => &["TLH"],
        FaultReason::Os(number) => of_errno(Errno::from_raw_os_error(number)),
        // The upstream closed in the middle of the handshake.
        FaultReason::Other => &["UPE"],
    }
}

fn of_errno(errno: Errno) -> &'static [&'static str] {
    match errno {
        Errno::CONNREFUSED => &["UCF"],
        Errno::TIMEDOUT => &["UCT"],
        Errno::CONNRESET => &["URR"],
        Errno::NETUNREACH | Errno::HOSTUNREACH => &["NRH"],
        Errno::PIPE => &["EPI"],
        Errno::CONNABORTED => &["CAB"],
        Errno::NETRESET => &["NRS"],
        _ => &["UPE"],
    }
}

#[cfg(test)]
mod tests;
