//! The parts of a compiled API definition that all of its versions share.

use crate::discovery::DiscoveryPaths;
use crate::error_overrides::CompiledOverrides;
use crate::events::ApiEvents;
use crate::port::ApiPort;
use crate::stream_rules::StreamRules;
use crate::url::Url;
use serde_json::Value;
use std::sync::Arc;
use tollgate_access::keys::KeyTerms;
use tollgate_http::path::raw_offset;
use tollgate_observe::{ApiMetadata, Meter};
use tollgate_openapi::Document;
use tollgate_tls::CertificateSlot;

/// An API as its middlewares see it: everything but its chains.
pub struct Api {
    pub id: String,
    pub name: String,
    /// Host that the API answers for; `None` for any host.
    pub host: Option<String>,
    /// The listen path that the API is registered under; differs from the configured one after a collision.
    pub listen_path: String,
    /// Where it listens.
    pub port: ApiPort,
    /// Its rules for connections, if nothing inspects their bytes.
    pub stream: Option<StreamRules>,
    /// Whether only other APIs can reach it.
    pub internal: bool,
    /// A gateway that serves only its own segment serves the API when they share a tag.
    pub tags: Vec<String>,
    /// Whether TLS clients of its host are asked for a certificate.
    pub asks_for_certificate: bool,
    /// Server certificates, shown to TLS clients for the hosts that the certificates name.
    pub certificates: Vec<Arc<CertificateSlot>>,
    pub strip_listen_path: bool,
    pub preserve_host: bool,
    pub disable_strip_slash: bool,
    pub options_passthrough: bool,
    /// Where clients learn who gives them tokens; `None` unless it is a proxy for the Model Context Protocol.
    pub discovery: Option<DiscoveryPaths>,
    /// Whether documents at the root of the upstream's host are asked for there, as for the Model Context Protocol.
    pub has_root_documents: bool,
    /// Where it reads credentials: methods of authentication by their names in `auth_configs`, each with its header. None of signatures, which are for
    /// one request.
    pub credential_headers: Vec<(String, String)>,
    /// Whether the API accepts batch requests.
    pub batches: bool,
    /// Rules that replace error responses; `None` if there are none.
    pub error_overrides: Option<Arc<CompiledOverrides>>,
    /// What happens after events of the API; `None` if nothing does.
    pub events: Option<ApiEvents>,
    /// Counters of the API.
    pub meter: Arc<Meter>,
    /// Data that records need.
    pub facts: ApiMetadata,
    /// Settings for the API's keys.
    pub key_terms: KeyTerms,
    /// The definition as written; of an OpenAPI document, its classic form.
    pub raw: Value,
    /// The OpenAPI document that defines the API.
    pub openapi: Option<Arc<Document>>,
}

impl Api {
    /// The part of the path after the listen path, in the form that the upstream receives.
    #[inline]
    pub fn stripped<'p>(&self, url: &'p Url<'_>) -> &'p str {
        let raw: &'p str = &url.path.raw;
        if !self.strip_listen_path || url.listen_bytes == 0 {
            return raw;
        }
        raw.get(raw_offset(raw, url.listen_bytes)..).unwrap_or_default()
    }
}
