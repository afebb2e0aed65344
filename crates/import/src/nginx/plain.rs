//! Directives whose value decides whether the gateway does it by itself anyway.

use super::directive::Directive;
use crate::report::ImportReport;

/// Reports the directive, if with this value nobody sees a difference.
pub(super) fn is_plain(directive: &Directive, report: &mut ImportReport) -> bool {
    let words: Vec<&str> = directive.words.iter().map(String::as_str).collect();
    let how = match (directive.name.as_str(), words.as_slice()) {
        ("server_tokens", ["off"]) => "the gateway does not tell its version",
        ("proxy_http_version", ["1.1"]) => "upstreams are spoken to in HTTP/1.1",
        ("http2", ["on"]) => "HTTP/2 is spoken at TLS listeners",
        ("access_log", ["off"]) => "no request is logged unless `access_logs` is enabled",
        ("gunzip", ["off"]) => "bodies of upstreams are not decompressed",
        ("ssl_protocols", versions) if speaks_both(versions) => "TLS 1.2 and 1.3 are spoken",
        ("ssl_session_tickets", ["on"]) => "sessions are resumed by tickets",
        ("ssl_session_cache", [first, ..]) if !["off", "none"].contains(first) => "sessions are resumed by tickets",
        ("ssl_prefer_server_ciphers", ["off"]) => "the client's order of ciphers counts",
        ("proxy_redirect", ["off"]) => "locations of upstreams pass unchanged",
        ("proxy_ssl_server_name", ["on"]) => "the server's name is always sent",
        ("proxy_pass_request_headers" | "proxy_pass_request_body", ["on"]) => "the gateway passes them on",
        ("proxy_store" | "proxy_intercept_errors" | "ssi" | "charset" | "ssl_stapling", ["off"]) => "the gateway does not",
        _ => return false,
    };
    report.built_in(&directive.place, directive.name.clone(), how);
    true
}

fn speaks_both(versions: &[&str]) -> bool {
    versions.len() == 2 && versions.contains(&"TLSv1.2") && versions.contains(&"TLSv1.3")
}
