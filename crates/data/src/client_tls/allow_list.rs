//! Client certificates that may call: listed ones, and those that a listed authority issued.

use rustls::pki_types::{CertificateDer, UnixTime};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;
use tollgate_engine::ClientTls;
use tollgate_tls::{CertificateSlot, Facts, Library};

/// Most verdicts of authorities that one connection caches; further authorities are asked each time.
const REMEMBERED_MAX: usize = 16;

/// Certificates and authorities that may call.
#[derive(Debug)]
pub struct AllowList(Vec<Arc<CertificateSlot>>);

/// TLS data of a caller, kept for its whole connection.
pub struct CallerTls {
    pub certificate: Option<CallerCertificate>,
}

/// The certificate that a caller presented and holds the key of.
pub struct CallerCertificate {
    pub facts: Facts,
    chain: Vec<CertificateDer<'static>>,
    /// Verdicts of authorities by fingerprint, so that a signature is not checked for each request.
    asked: RefCell<Vec<(String, bool)>>,
}

/// Why a caller is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disallowed {
    NoTls,
    NoCertificate,
    Expired,
    /// The certificate with this fingerprint is not on the list.
    Unlisted(String),
}

impl CallerTls {
    pub fn new(tls: &ClientTls) -> Self {
        let facts = tls.certificates.first().map(|leaf| Facts::new(leaf).unwrap_or_else(|_| Facts::unreadable(leaf)));
        let certificate =
            facts.map(|facts| CallerCertificate { facts, chain: tls.certificates.clone(), asked: RefCell::default() });
        CallerTls { certificate }
    }
}

impl AllowList {
    pub fn new<'n>(names: impl IntoIterator<Item = &'n String>, library: &Library) -> Self {
        AllowList(names.into_iter().map(|name| library.named(name)).collect())
    }

    /// Checks whether a caller is on the list.
    pub fn check(&self, caller: Option<&CallerTls>, unix_s: u64) -> Result<(), Disallowed> {
        let Some(caller) = caller else { return Err(Disallowed::NoTls) };
        let Some(certificate) = &caller.certificate else { return Err(Disallowed::NoCertificate) };
        let listed = self.0.iter().filter_map(|slot| slot.get()).any(|listed| {
            listed.facts.fingerprint == certificate.facts.fingerprint
                || listed.issued.as_ref().is_some_and(|authority| {
                    certificate.is_issued(&listed.facts.fingerprint, |chain| {
                        let (leaf, rest) = chain.split_first()?;
                        authority.verify_client_cert(leaf, rest, UnixTime::since_unix_epoch(Duration::from_secs(unix_s))).ok()
                    })
                })
        });
        match listed {
            true if certificate.facts.has_expired(unix_s) => Err(Disallowed::Expired),
            true => Ok(()),
            false => Err(Disallowed::Unlisted(certificate.facts.fingerprint.clone())),
        }
    }
}

impl CallerCertificate {
    /// It in DER, without those of its authorities.
    pub fn der(&self) -> &[u8] {
        self.chain.first().map_or(&[], |leaf| leaf.as_ref())
    }

    /// Whether an authority issued the certificate; the verdict is cached.
    fn is_issued<T>(&self, authority: &str, ask: impl FnOnce(&[CertificateDer<'static>]) -> Option<T>) -> bool {
        let mut asked = self.asked.borrow_mut();
        if let Some((_, answer)) = asked.iter().find(|(known, _)| known == authority) {
            return *answer;
        }
        let answer = ask(&self.chain).is_some();
        if asked.len() < REMEMBERED_MAX {
            asked.push((authority.to_owned(), answer));
        }
        answer
    }
}
