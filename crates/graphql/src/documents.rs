//! The documents of one API that were checked lately. Clients send few documents and each of them often, so a repeated one costs a look-up.
//! Bounded by bytes: a client that sends many different documents displaces other rare ones, but not those that are sent often (S3-FIFO).

use crate::checking::CheckedDocument;
use crate::fault::DocumentFault;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::sync::Arc;

/// Most bytes of the documents of one API. A document of 300 bytes counts for 8 KB: room for 2,000 of them.
const BYTES_MAX: u64 = 16 << 20;
/// What a document's tree takes for each byte of its text, roughly, and what even an empty one takes.
const BYTES_PER_BYTE: u64 = 24;
const BYTES_MIN: u64 = 1_024;
/// The usual number of documents; only a hint.
const DOCUMENTS: usize = 256;
/// Most bytes of the texts that clients have registered under their digest, for each API.
const REGISTERED_BYTES_MAX: u64 = 4 << 20;

/// A document that was checked: what it is, or why it is refused.
pub type KnownDocument = Arc<Result<CheckedDocument, DocumentFault>>;

/// The documents of one API that were checked lately.
pub struct DocumentCache {
    checked: Cache<Box<str>, KnownDocument, DocumentWeight>,
    registered: Cache<[u8; 32], Arc<str>, TextWeight>,
}

#[derive(Clone)]
struct DocumentWeight;

impl Weighter<Box<str>, KnownDocument> for DocumentWeight {
    fn weight(&self, text: &Box<str>, _: &KnownDocument) -> u64 {
        BYTES_MIN + BYTES_PER_BYTE * text.len() as u64
    }
}

#[derive(Clone)]
struct TextWeight;

impl Weighter<[u8; 32], Arc<str>> for TextWeight {
    fn weight(&self, _: &[u8; 32], text: &Arc<str>) -> u64 {
        128 + text.len() as u64
    }
}

impl Default for DocumentCache {
    fn default() -> Self {
        DocumentCache {
            checked: Cache::with_weighter(DOCUMENTS, BYTES_MAX, DocumentWeight),
            registered: Cache::with_weighter(DOCUMENTS, REGISTERED_BYTES_MAX, TextWeight),
        }
    }
}

impl DocumentCache {
    /// What is known about a document.
    pub fn get(&self, text: &str) -> Option<KnownDocument> {
        self.checked.get(text)
    }

    /// Keeps what is known about a document.
    pub fn put(&self, text: &str, known: KnownDocument) {
        self.checked.insert(text.into(), known);
    }

    /// The document that a client has registered under the SHA-256 of its text.
    pub fn registered(&self, digest: &[u8; 32]) -> Option<Arc<str>> {
        self.registered.get(digest)
    }

    /// Registers a document; the caller has checked that the digest is its own.
    pub fn register(&self, digest: [u8; 32], text: &str) {
        self.registered.insert(digest, text.into());
    }
}
