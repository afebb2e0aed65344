//! Certificates by file or id. A user of a certificate holds its slot, which always contains the last loaded version: a renewed file takes
//! effect without notifying the users. A file that becomes unusable leaves the last good certificate in its slot.

use super::certificate::Certificate;
use arc_swap::{ArcSwap, ArcSwapOption};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// Returns the text of a certificate that was uploaded to the control API.
pub(super) type StoredCertificates = Box<dyn Fn(&str) -> Option<Vec<u8>> + Send + Sync>;

/// Largest certificate file, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Hexadecimal digits of the SHA-256 at the end of every stored certificate's id.
const FINGERPRINT_DIGITS: usize = 64;

/// All certificates in use.
#[derive(Default)]
pub struct Library {
    slots: Mutex<HashMap<CertificateSource, Weak<CertificateSlot>>>,
    stored: OnceLock<StoredCertificates>,
    /// What issuers say of stored certificates, by id: responses of OCSP.
    staples: ArcSwap<HashMap<String, Arc<[u8]>>>,
    /// How often all certificates were reloaded.
    generation: AtomicU64,
}

/// Where a certificate comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum CertificateSource {
    /// One file with everything.
    File(PathBuf),
    /// Certificate and key in separate files.
    Pair(PathBuf, PathBuf),
    /// The store, by id.
    Stored(String),
    /// The text itself.
    Inline(InlinePem),
}

/// PEM text that stands in a field for certificates. It may hold a private key, so that only its digest is ever shown.
#[derive(Clone, PartialEq, Eq, Hash)]
struct InlinePem(Arc<str>);

impl std::fmt::Debug for InlinePem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digest = super::certificate::hex_sha256(self.0.as_bytes());
        write!(f, "PEM text with SHA-256 {}", digest.get(..16).unwrap_or_default())
    }
}

/// How PEM text begins. What has it in it is a text, and never the name of a file: names are shown.
const PEM_START: &str = "-----BEGIN ";

/// Slot of a certificate.
#[derive(Debug)]
pub struct CertificateSlot {
    source: CertificateSource,
    current: ArcSwapOption<Certificate>,
    /// Result of the last load.
    read: Mutex<Read>,
}

#[derive(Debug, Default)]
struct Read {
    /// Digest of the loaded texts.
    digest: Option<String>,
    error: Option<String>,
}

struct PemTexts {
    chain: Vec<u8>,
    key: Option<Vec<u8>>,
    ocsp: Option<Vec<u8>>,
}

impl CertificateSlot {
    /// The current certificate.
    pub fn get(&self) -> Option<Arc<Certificate>> {
        self.current.load_full()
    }

    /// Whether the certificate comes from the store.
    pub fn is_stored(&self) -> bool {
        matches!(self.source, CertificateSource::Stored(_))
    }

    /// The error of the last load.
    pub fn error(&self) -> Option<String> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).error.clone()
    }

    fn refresh(&self, library: &Library) -> bool {
        let texts = self.source.texts(library);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let digest = texts.as_ref().map_or_else(|error| Some(error.clone()), |texts| texts.as_ref().map(PemTexts::digest));
        if read.digest == digest && digest.is_some() {
            return false;
        }
        read.digest = digest;
        let certificate = match texts {
            Ok(Some(texts)) => Certificate::parse(&texts.chain, texts.key.as_deref(), texts.ocsp).map(Some),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        match certificate {
            Ok(certificate) => {
                if certificate.as_ref().is_some_and(|certificate| certificate.facts.has_expired(tollgate_clock::unix_s())) {
                    tracing::warn!("{}: the certificate has expired", self.source);
                }
                read.error = certificate.is_none().then(|| format!("{}: there is no such certificate", self.source));
                let changed = certificate.is_some() || self.current.load().is_some();
                self.current.store(certificate.map(Arc::new));
                changed
            }
            Err(error) => {
                let kept = if self.current.load().is_some() { "; the last good one stays in use" } else { "" };
                let error = format!("{}: {error}", self.source);
                tracing::error!("{error}{kept}");
                read.error = Some(error);
                false
            }
        }
    }
}

impl Library {
    /// Sets the source of certificates whose names are ids.
    pub fn add_stored(&self, stored: StoredCertificates) {
        // Set once at start; a second call has no effect.
        drop(self.stored.set(stored));
    }

    /// Sets the responses of OCSP that handshakes hand out with stored certificates, by id.
    pub fn staple(&self, staples: HashMap<String, Arc<[u8]>>) {
        if **self.staples.load() != staples {
            self.staples.store(Arc::new(staples));
            self.refresh();
        }
    }

    /// Whether a name is PEM text.
    pub fn is_text(name: &str) -> bool {
        name.contains(PEM_START)
    }

    /// The certificate with a name in a definition or in the configuration: an id, a file with everything in it, or PEM text itself.
    pub fn named(&self, name: &str) -> Arc<CertificateSlot> {
        let source = if Library::is_text(name) {
            // In an environment variable, lines may end in the two characters \n.
            CertificateSource::Inline(InlinePem(name.replace("\\n", "\n").into()))
        } else if is_identifier(name) {
            CertificateSource::Stored(name.to_owned())
        } else {
            CertificateSource::File(PathBuf::from(name))
        };
        self.slot(source)
    }

    /// The stored PEM text of an id: a certificate or a public key. Does not block.
    pub fn stored_text(&self, id: &str) -> Option<Vec<u8>> {
        self.stored.get()?(id)
    }

    /// Grows whenever certificates may have changed.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The certificate of a certificate file and a key file.
    pub fn pair(&self, certificate: &Path, key: &Path) -> Arc<CertificateSlot> {
        self.slot(CertificateSource::Pair(certificate.to_owned(), key.to_owned()))
    }

    fn slot(&self, source: CertificateSource) -> Arc<CertificateSlot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = slots.get(&source).and_then(Weak::upgrade) {
            return slot;
        }
        let slot = Arc::new(CertificateSlot { source: source.clone(), current: ArcSwapOption::empty(), read: Mutex::default() });
        slot.refresh(self);
        slots.insert(source, Arc::downgrade(&slot));
        slot
    }

    /// The certificates in use with their sources, sorted by source.
    pub fn all(&self) -> Vec<(String, Arc<Certificate>)> {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let found = slots.values().filter_map(|slot| slot.upgrade().and_then(|slot| Some((slot.source.name(), slot.get()?))));
        let mut found: Vec<_> = found.collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found.dedup_by(|a, b| a.0 == b.0);
        found
    }

    /// Reloads all certificates in use; true when one has changed.
    pub fn refresh(&self) -> bool {
        self.generation.fetch_add(1, Ordering::AcqRel);
        let slots: Vec<Arc<CertificateSlot>> = {
            let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            slots.retain(|_, slot| slot.strong_count() > 0);
            slots.values().filter_map(Weak::upgrade).collect()
        };
        slots.iter().fold(false, |changed, slot| slot.refresh(self) | changed)
    }
}

impl CertificateSource {
    /// File of the certificate, or its id.
    fn name(&self) -> String {
        match self {
            CertificateSource::File(file) | CertificateSource::Pair(file, _) => file.display().to_string(),
            CertificateSource::Stored(id) => id.clone(),
            CertificateSource::Inline(text) => format!("{text:?}"),
        }
    }

    /// Loads the texts; `None` when the store does not have the id.
    fn texts(&self, library: &Library) -> Result<Option<PemTexts>, String> {
        match self {
            CertificateSource::File(file) => Ok(Some(PemTexts { chain: read(file)?, key: None, ocsp: ocsp(file) })),
            CertificateSource::Pair(file, key) => {
                let key = read(key).map_err(|error| format!("{}: {error}", key.display()))?;
                Ok(Some(PemTexts { chain: read(file)?, key: Some(key), ocsp: ocsp(file) }))
            }
            CertificateSource::Inline(text) => Ok(Some(PemTexts { chain: text.0.as_bytes().to_vec(), key: None, ocsp: None })),
            CertificateSource::Stored(id) => {
                let ocsp = || library.staples.load().get(id).map(|response| response.to_vec());
                Ok(library.stored_text(id).map(|chain| PemTexts { chain, key: None, ocsp: ocsp() }))
            }
        }
    }
}

impl std::fmt::Display for CertificateSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CertificateSource::File(file) => write!(f, "{}", file.display()),
            CertificateSource::Pair(file, key) => write!(f, "{} with {}", file.display(), key.display()),
            CertificateSource::Stored(id) => write!(f, "certificate {id}"),
            CertificateSource::Inline(text) => write!(f, "{text:?}"),
        }
    }
}

impl PemTexts {
    fn digest(&self) -> String {
        let parts = [Some(&self.chain), self.key.as_ref(), self.ocsp.as_ref()];
        parts.map(|part| part.map(|text| super::certificate::hex_sha256(text)).unwrap_or_default()).concat()
    }
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    match std::fs::metadata(file) {
        Ok(facts) if facts.len() > FILE_BYTES_MAX => Err(format!("larger than {FILE_BYTES_MAX} bytes")),
        Ok(_) => std::fs::read(file).map_err(|error| format!("cannot be read: {error}")),
        Err(error) => Err(format!("cannot be read: {error}")),
    }
}

/// The OCSP response to staple: `<file>.ocsp` beside the certificate, in DER.
fn ocsp(file: &Path) -> Option<Vec<u8>> {
    let mut name = file.as_os_str().to_owned();
    name.push(".ocsp");
    read(Path::new(&name)).ok().filter(|response| !response.is_empty())
}

/// Whether a name is the id of a stored certificate: an organisation and a fingerprint.
pub fn is_identifier(name: &str) -> bool {
    let fingerprint = name.len().checked_sub(FINGERPRINT_DIGITS).and_then(|start| name.get(start..));
    fingerprint.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
