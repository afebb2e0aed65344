//! TLS towards servers: certificates by file or id ([`Library`]), and the rules by which a server's certificate is checked ([`TlsRules`]).
//! rustls performs the handshakes.
#![forbid(unsafe_code)]

mod certificate;
mod collector;
mod library;
mod service_kind;
mod upstreams;

pub use certificate::{Certificate, Facts, hex_sha256};
pub use collector::collector_config;
pub use library::{CertificateSlot, Library, is_identifier};
pub use service_kind::ServiceKind;
pub use upstreams::{TlsRules, TlsSettings, client_config};

use rustls::SupportedProtocolVersion;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use std::sync::Arc;

/// The algorithms, with TLS 1.2 cipher suites restricted to `ciphers` if it names any. TLS 1.3 suites are not configurable, as in Go and so
/// in Tyk.
pub fn provider(ciphers: &[String]) -> Result<Arc<CryptoProvider>, String> {
    let mut provider = aws_lc_rs::default_provider();
    if !ciphers.is_empty() {
        let is_wanted = |name: &str| ciphers.iter().any(|wanted| plain_name(wanted) == plain_name(name));
        let known = provider.cipher_suites.iter().filter_map(|suite| suite.suite().as_str()).any(is_wanted);
        if !known {
            return Err(format!("none of the cipher suites is supported: {}", ciphers.join(", ")));
        }
        provider.cipher_suites.retain(|suite| suite.tls13().is_some() || suite.suite().as_str().is_some_and(is_wanted));
    }
    Ok(Arc::new(provider))
}

/// TLS settings of the gateway's commands.
pub fn for_commands(insecure: bool) -> Result<rustls::ClientConfig, String> {
    client_config(&TlsRules { insecure, ..TlsRules::default() }, &Library::default())
}

/// Converts cipher suite names of Go, OpenSSL's RFC style and rustls to one spelling.
fn plain_name(name: &str) -> String {
    let name = name.trim().to_ascii_uppercase().replace("TLS13_", "TLS_");
    match name.strip_suffix("_POLY1305") {
        Some(_) => format!("{name}_SHA256"),
        None => name,
    }
}

/// The versions from `lowest` to `highest`, as wire numbers; 0 for the default.
pub fn versions(lowest: u16, highest: u16) -> Result<Vec<&'static SupportedProtocolVersion>, String> {
    let highest = if highest == 0 { u16::MAX } else { highest };
    let all = [(771, &rustls::version::TLS12), (772, &rustls::version::TLS13)];
    let allowed: Vec<_> =
        all.into_iter().filter(|(number, _)| (lowest..=highest).contains(number)).map(|(_, version)| version).collect();
    if allowed.is_empty() { Err("no supported TLS version is left: 1.2 and 1.3 are supported".to_owned()) } else { Ok(allowed) }
}
