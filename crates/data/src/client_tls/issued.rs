//! Certificates that the gateway gets by itself: those in service, how it shows an issuer that a host is its own, and hosts that get one when a
//! client first names them.

use arc_swap::{ArcSwap, ArcSwapOption};
use rustls::ServerConfig;
use rustls::server::ClientHello;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use tollgate_tls::CertificateSlot;

/// The protocol of connections by which an issuer looks whose a host is (RFC 8737).
const CHALLENGE_PROTOCOL: &[u8] = b"acme-tls/1";

/// Gets certificates for hosts that clients name.
pub trait HostCertificates: Send + Sync {
    /// What a client of a host without a certificate of its own waits for; `None` if there will be none. Must not block.
    fn wait_for(&self, host: &str) -> Option<HostWait>;
}

/// Ends when the certificate is in service, or will not be.
pub type HostWait = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How it is with a certificate that the gateway gets by itself.
#[derive(Clone, Debug)]
pub struct IssueState {
    /// Its hosts, with commas between them.
    pub name: String,
    /// Tries that failed since the last one that did not.
    pub failures: u32,
    /// When it is to be renewed, in seconds since 1970; 0 before there is one.
    pub renewal_unix_s: u64,
}

#[derive(Default)]
pub(super) struct IssuedCertificates {
    slots: ArcSwap<Vec<Arc<CertificateSlot>>>,
    states: ArcSwap<Vec<IssueState>>,
    /// Settings for connections of issuers, while one is expected.
    challenge: ArcSwapOption<ServerConfig>,
    of_hosts: OnceLock<Arc<dyn HostCertificates>>,
}

impl IssuedCertificates {
    pub(super) fn slots(&self) -> Arc<Vec<Arc<CertificateSlot>>> {
        self.slots.load_full()
    }

    pub(super) fn states(&self) -> Arc<Vec<IssueState>> {
        self.states.load_full()
    }

    pub(super) fn replace(&self, slots: Vec<Arc<CertificateSlot>>, states: Vec<IssueState>) {
        self.slots.store(Arc::new(slots));
        self.states.store(Arc::new(states));
    }

    pub(super) fn answer_challenges(&self, settings: Option<Arc<ServerConfig>>) {
        self.challenge.store(settings);
    }

    pub(super) fn ask_for_hosts(&self, of_hosts: Arc<dyn HostCertificates>) {
        // Set once, at the start.
        drop(self.of_hosts.set(of_hosts));
    }

    /// Settings for a client that is an issuer.
    pub(super) fn for_issuer(&self, hello: &ClientHello<'_>) -> Option<Arc<ServerConfig>> {
        let settings = self.challenge.load();
        let settings = settings.as_ref()?;
        hello.alpn()?.any(|protocol| protocol == CHALLENGE_PROTOCOL).then(|| settings.clone())
    }

    /// Who is asked for certificates of hosts that have none, if anybody is.
    pub(super) fn of_hosts(&self) -> Option<&dyn HostCertificates> {
        self.of_hosts.get().map(AsRef::as_ref)
    }
}
