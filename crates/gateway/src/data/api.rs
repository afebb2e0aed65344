//! What is compiled from an API definition and holds for all of its versions.

use crate::auth::keys::KeyTerms;
use crate::base::path::raw_offset;
use crate::base::tls::CertificateSlot;
use crate::data::url::Url;
use crate::observe::{ApiFacts, Meter};
use serde_json::Value;
use std::sync::Arc;

/// An API as its middlewares know it: everything but its chains.
pub(crate) struct Api {
    pub id: String,
    pub name: String,
    /// Host it answers for, if not any.
    pub host: Option<String>,
    /// The listen path under which it is registered; not the written one after a collision.
    pub listen_path: String,
    /// Only other APIs reach it.
    pub internal: bool,
    /// Gateways with a segment of their own serve it when they have one of these.
    pub tags: Vec<String>,
    /// TLS clients of its host are asked for a certificate.
    pub asks_for_certificate: bool,
    /// Shown to TLS clients for the hosts that stand in them.
    pub certificates: Vec<Arc<CertificateSlot>>,
    pub strip_listen_path: bool,
    pub preserve_host: bool,
    pub disable_strip_slash: bool,
    pub options_passthrough: bool,
    /// Its counters.
    pub meter: Arc<Meter>,
    /// What records need to know of it.
    pub facts: ApiFacts,
    /// What it says of its keys.
    pub key_terms: KeyTerms,
    /// The definition as written.
    pub raw: Value,
}

impl Api {
    /// What is left of the path behind the listen path, as the upstream is sent it.
    #[inline]
    pub(crate) fn stripped<'p>(&self, url: &'p Url<'_>) -> &'p str {
        let raw: &'p str = &url.path.raw;
        if !self.strip_listen_path || url.listen_bytes == 0 {
            return raw;
        }
        raw.get(raw_offset(raw, url.listen_bytes)..).unwrap_or_default()
    }
}
