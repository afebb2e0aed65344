//! Certificates made for a test, and TLS clients that hold them.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::wire::Connection;

/// A certificate and its key, as PEM.
#[derive(Clone)]
pub(crate) struct Made {
    pub certificate: String,
    pub key: String,
}

/// An authority that issues certificates for as long as the test runs.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new(name: &str) -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    pub(crate) fn issue(&self, names: &[&str]) -> Made {
        self.issue_with(names, |_| {})
    }

    /// One whose time is over.
    pub(crate) fn issue_expired(&self, names: &[&str]) -> Made {
        self.issue_with(names, |params| {
            params.not_before = date_time_ymd(2020, 1, 1);
            params.not_after = date_time_ymd(2021, 1, 1);
        })
    }

    pub(crate) fn issue_with(&self, names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> Made {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap();
        params.distinguished_name.push(DnType::CommonName, names.first().copied().unwrap_or("nobody"));
        change(&mut params);
        Made { certificate: params.signed_by(&key, &self.0).unwrap().pem(), key: key.serialize_pem() }
    }

    /// What a client needs to trust this authority.
    pub(crate) fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        roots
    }
}

impl Made {
    pub(crate) fn der(&self) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(self.certificate.as_bytes()).unwrap()
    }

    pub(crate) fn private_key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap()
    }

    /// Writes both into one file.
    pub(crate) fn write(&self, dir: &Path, name: &str) -> PathBuf {
        let path = dir.join(name);
        fs::write(&path, format!("{}{}", self.certificate, self.key)).unwrap();
        path
    }

    /// SHA-256 of the certificate, hexadecimal.
    pub(crate) fn fingerprint(&self) -> String {
        use sha2::{Digest, Sha256};
        Sha256::digest(self.der()).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

pub(crate) fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::aws_lc_rs::default_provider())
}

/// Settings of a client that trusts an authority, and shows a certificate if it has one.
pub(crate) fn client(authority: &Authority, own: Option<&Made>) -> ClientConfig {
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(authority.roots()), provider()).build().unwrap();
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions().unwrap();
    let builder = builder.with_webpki_verifier(verifier);
    match own {
        None => builder.with_no_client_auth(),
        Some(made) => builder.with_client_auth_cert(vec![made.der()], made.private_key()).unwrap(),
    }
}

/// Settings of a server with a certificate.
pub(crate) fn server(made: &Made) -> rustls::ServerConfig {
    let builder = rustls::ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions().unwrap();
    builder.with_no_client_auth().with_single_cert(vec![made.der()], made.private_key()).unwrap()
}

/// A TLS connection that has shaken hands.
pub(crate) type TlsStream = StreamOwned<ClientConnection, TcpStream>;

/// Shakes hands with a port of this machine as a client that means `host`.
pub(crate) fn shake_hands(config: &Arc<ClientConfig>, port: u16, host: &str) -> std::io::Result<TlsStream> {
    let mut socket = TcpStream::connect(("127.0.0.1", port))?;
    socket.set_read_timeout(Some(super::PATIENCE))?;
    let name = ServerName::try_from(host.to_owned()).unwrap();
    let mut session = ClientConnection::new(config.clone(), name).unwrap();
    while session.is_handshaking() {
        session.complete_io(&mut socket)?;
    }
    Ok(StreamOwned::new(session, socket))
}

/// The same as a connection to send requests on.
pub(crate) fn connect(config: &Arc<ClientConfig>, port: u16, host: &str) -> Connection {
    over(shake_hands(config, port, host).expect("a handshake"))
}

pub(crate) fn over(stream: TlsStream) -> Connection {
    let socket = stream.sock.try_clone().expect("a second handle");
    Connection::with(Box::new(stream), socket)
}
