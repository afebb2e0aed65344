use super::*;
use crate::data::refusal::{BASIC_ENCODING, BREAKER_OPEN, CATALOGUE, FORBIDDEN_ENDPOINT, KEY_RATE_LIMIT};

#[test]
fn refusals_have_the_flags_that_tyk_gives_them() {
    assert_eq!(of_refusal(&KEY_RATE_LIMIT), ["RLT"]);
    assert_eq!(of_refusal(&BREAKER_OPEN), ["CBO"]);
    assert_eq!(of_refusal(&BASIC_ENCODING), ["IHD"]);
    assert_eq!(of_refusal(&BASIC_BODY_USER), ["BIV"]);
    assert_eq!(of_refusal(&FORBIDDEN_ENDPOINT), [""; 0]);
    let flagged = CATALOGUE.iter().filter(|refusal| !of_refusal(refusal).is_empty()).count();
    assert!(flagged > 25, "{flagged}");
}

#[test]
fn a_fault_has_the_flag_of_its_reason() {
    let os = |errno: Errno| FaultReason::Os(errno.raw_os_error());
    for (kind, reason, flags) in [
        (FaultKind::Lookup, FaultReason::Other, &["DNS"] as &[&str]),
        (FaultKind::Connect, os(Errno::CONNREFUSED), &["UCF"]),
        (FaultKind::Connect, os(Errno::HOSTUNREACH), &["NRH"]),
        (FaultKind::Connect, FaultReason::Other, &["UCF"]),
        (FaultKind::ConnectTimeout, FaultReason::Other, &["UCT", "URT"]),
        (FaultKind::UpstreamClosed, os(Errno::CONNRESET), &["URR"]),
        (FaultKind::UpstreamClosed, FaultReason::Other, &["UPE"]),
        (FaultKind::Tls, FaultReason::CertificateExpired, &["TLE"]),
        (FaultKind::Tls, FaultReason::Other, &["UPE"]),
        (FaultKind::ClientGone, FaultReason::Other, &[]),
    ] {
        assert_eq!(of_fault(&Fault { kind, detail: String::new(), reason }), flags, "{kind:?} {reason:?}");
    }
}
