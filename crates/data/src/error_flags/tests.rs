use super::*;

/// Flag and details of faults; those with TLS, resets and the client's end recorded from Tyk 5.14.0, others from its rules.
#[test]
fn a_fault_has_the_class_of_its_reason() {
    let os = |errno: Errno| FaultReason::Os(errno.raw_os_error());
    for (kind, reason, expected) in [
        (FaultKind::Lookup, FaultReason::Other, ["DNS", "dns_not_found"]),
        (FaultKind::Connect, os(Errno::CONNREFUSED), ["UCF", "connection_refused"]),
        (FaultKind::Connect, os(Errno::HOSTUNREACH), ["NRH", "host_unreachable"]),
        (FaultKind::Connect, os(Errno::NETUNREACH), ["NRH", "network_unreachable"]),
        (FaultKind::Connect, os(Errno::TIMEDOUT), ["UCT", "connection_timeout"]),
        (FaultKind::Connect, FaultReason::Other, ["UCF", "connection_refused"]),
        (FaultKind::ConnectTimeout, FaultReason::Other, ["URT", "request_timeout"]),
        (FaultKind::UpstreamTimeout, FaultReason::Other, ["URT", "context_deadline_exceeded"]),
        (FaultKind::UpstreamClosed, os(Errno::CONNRESET), ["URR", "connection_reset"]),
        (FaultKind::UpstreamClosed, os(Errno::PIPE), ["EPI", "broken_pipe"]),
        (FaultKind::UpstreamClosed, os(Errno::CONNABORTED), ["CAB", "connection_aborted"]),
        (FaultKind::UpstreamClosed, os(Errno::NETRESET), ["NRS", "network_reset"]),
        (FaultKind::UpstreamClosed, FaultReason::TlsRefused, ["TLH", "tls_handshake_failure"]),
        (FaultKind::UpstreamClosed, FaultReason::Other, ["UPE", "upstream_error"]),
        (FaultKind::UpstreamHeadTooLarge, FaultReason::Other, ["UPE", "upstream_error"]),
        (FaultKind::Tls, FaultReason::CertificateExpired, ["TLE", "tls_certificate_expired"]),
        (FaultKind::Tls, FaultReason::CertificateIssuer, ["TLN", "tls_unknown_authority"]),
        (FaultKind::Tls, FaultReason::CertificateName, ["TLM", "tls_hostname_mismatch"]),
        (FaultKind::Tls, FaultReason::CertificateInvalid, ["TLI", "tls_certificate_invalid"]),
        (FaultKind::Tls, FaultReason::TlsProtocol, ["TLP", "tls_protocol_error"]),
        (FaultKind::Tls, FaultReason::TlsVersion, ["TLP", "tls_protocol_version_error"]),
        (FaultKind::Tls, FaultReason::TlsRefused, ["TLH", "tls_handshake_failure"]),
        (FaultKind::Tls, FaultReason::TlsAlert, ["TLA", "tls_alert_received"]),
        (FaultKind::Tls, FaultReason::Other, ["UPE", "upstream_error"]),
        (FaultKind::ClientGone, FaultReason::Other, ["CDC", "client_disconnected"]),
    ] {
        let fault = Fault { kind, detail: String::new(), reason };
        let class = of_fault(&fault).unwrap();
        assert_eq!([class.flag, class.details], expected, "{kind:?} {reason:?}");
        assert_eq!(class.source, PROXY);
        assert_eq!(flags_of_fault(&fault), [expected[0], if kind == FaultKind::ConnectTimeout { "UCT" } else { "" }]);
    }
    assert_eq!(of_fault(&Fault { kind: FaultKind::BodyTooLarge, detail: String::new(), reason: FaultReason::Other }), None);
}
