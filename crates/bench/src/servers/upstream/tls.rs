//! TLS of the upstream: a given certificate, or one generated for this run.

use super::UpstreamOptions;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// `None` for plain HTTP.
pub(crate) fn acceptor(options: &UpstreamOptions) -> Result<Option<TlsAcceptor>, String> {
    let (chain, key) = match (&options.cert, &options.key) {
        (Some(cert), Some(key)) => (chain(cert)?, private_key(key)?),
        _ if options.tls => self_signed()?,
        _ => return Ok(None),
    };
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| format!("the certificate cannot be used: {error}"))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Some(TlsAcceptor::from(Arc::new(config))))
}

fn chain(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let chain: Vec<_> = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect)
        .map_err(|error| format!("{}: no certificate can be read: {error}", file.display()))?;
    if chain.is_empty() { Err(format!("{}: has no certificate", file.display())) } else { Ok(chain) }
}

fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, String> {
    PrivateKeyDer::from_pem_file(file).map_err(|error| format!("{}: no private key can be read: {error}", file.display()))
}

fn self_signed() -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), String> {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).map_err(|error| format!("no certificate can be made: {error}"))?;
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der())
        .map_err(|error| format!("the key that was made cannot be used: {error}"))?;
    Ok((vec![made.cert.der().clone()], key))
}
