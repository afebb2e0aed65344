//! TLS towards upstreams: the system's roots, verification on unless an API switches it off.

use crate::upstream::TlsRules;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme, SupportedProtocolVersion};
use std::sync::Arc;

/// A client's settings for some rules.
pub fn client_config(rules: &TlsRules) -> Result<ClientConfig, String> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&versions(rules)?)
        .map_err(|error| error.to_string())?;
    let config = if rules.insecure {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(AcceptAny(provider))).with_no_client_auth()
    } else {
        builder.with_root_certificates(system_roots()).with_no_client_auth()
    };
    Ok(config)
}

fn versions(rules: &TlsRules) -> Result<Vec<&'static SupportedProtocolVersion>, String> {
    let highest = if rules.max_version == 0 { u16::MAX } else { rules.max_version };
    let all = [(771, &rustls::version::TLS12), (772, &rustls::version::TLS13)];
    let allowed: Vec<_> =
        all.into_iter().filter(|(number, _)| (rules.min_version..=highest).contains(number)).map(|(_, version)| version).collect();
    if allowed.is_empty() { Err("no supported TLS version is left: 1.2 and 1.3 are supported".to_owned()) } else { Ok(allowed) }
}

fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::warn!(%error, "cannot read some of the system's root certificates");
    }
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        tracing::warn!("the system has no root certificates: no https upstream will be trusted");
    }
    roots
}

/// Checks that the server has the key of the certificate it shows, and nothing about the certificate.
#[derive(Debug)]
struct AcceptAny(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAny {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
