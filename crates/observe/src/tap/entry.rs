//! One request as it is shown to people: no query, no header, no body.

use super::RequestWatch;
use super::llm_entry::TailLlm;
use crate::facts::ApiMetadata;
use crate::record::{RequestRecord, Text};
use crate::refusal_note::LimitFact;
use crate::waf_facts::WafFacts;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use tollgate_model::key::{self as key_format, KeyFunction};
use utoipa::ToSchema;

/// Characters of a text from the client; a console shows a line of it.
const TEXT_CHARS_MAX: usize = 300;

/// A finished request. Absent facts are empty or `null`. Texts are as the client sent them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TailEntry {
    /// When it ended.
    pub unix_ms: u64,
    pub node: String,
    pub api_id: String,
    pub name: String,
    pub version: String,
    pub method: String,
    /// Without the query.
    pub path: String,
    /// 0 without an answer.
    pub status: u16,
    /// Why the gateway rejected it, or why the upstream failed it.
    pub cause: String,
    pub message: String,
    /// The middleware that rejected it.
    pub middleware: String,
    pub limit: Option<LimitFact>,
    /// Hash of the key.
    pub key: String,
    pub alias: String,
    /// Id of the OAuth client of a token.
    #[serde(default)]
    pub oauth_client: String,
    pub address: String,
    pub agent: String,
    pub http: String,
    pub total_us: u64,
    pub gateway_us: u64,
    pub upstream_us: Option<u64>,
    pub upstream_status: u16,
    pub target: String,
    pub request_id: String,
    pub trace_id: String,
    pub request_bytes: u64,
    pub response_bytes: u64,
    /// Method of a call of an MCP proxy.
    pub mcp_method: String,
    /// `tool`, `resource` or `prompt`, if the call uses one.
    pub mcp_primitive_type: String,
    /// Its name or URI; the method if the call uses none.
    pub mcp_primitive_name: String,
    /// Code of the gateway's JSON-RPC error.
    pub mcp_error_code: Option<i32>,
    /// What a request to a language model took.
    #[serde(default)]
    pub llm: Option<Box<TailLlm>>,
    /// What the web application firewall found in it.
    #[serde(default)]
    pub waf: Option<Box<WafFacts>>,
}

impl TailEntry {
    pub(super) fn new(record: &RequestRecord, facts: &ApiMetadata, unix_ns: u64, watch: &RequestWatch) -> Self {
        let (total_us, upstream_us) = (record.total_ns / 1_000, record.upstream_ns / 1_000);
        let note = record.refusal.as_deref();
        let given_id = record.text(Text::RequestId);
        TailEntry {
            unix_ms: unix_ns / 1_000_000,
            node: watch.node.get().cloned().unwrap_or_default(),
            api_id: facts.id.clone(),
            name: facts.name.clone(),
            version: shortened(&record.text(Text::Version)),
            method: shortened(&record.text(Text::Method)),
            path: shortened(&path(record)),
            status: record.status,
            cause: record.cause.unwrap_or_default().to_owned(),
            message: note.map(|note| note.message.clone()).unwrap_or_default(),
            middleware: note.map_or("", |note| note.middleware).to_owned(),
            limit: note.and_then(|note| note.limit.clone()),
            key: record.key.as_ref().map(|key| key_id(&key.shown, watch.hash_keys).into_owned()).unwrap_or_default(),
            alias: record.key.as_ref().map(|key| key.session.alias.clone()).unwrap_or_default(),
            oauth_client: record.key.as_ref().map(|key| key.session.oauth_client_id.clone()).unwrap_or_default(),
            address: record.client_ip.to_string(),
            agent: shortened(&record.text(Text::UserAgent)),
            http: record.protocol().to_owned(),
            total_us,
            gateway_us: total_us.saturating_sub(upstream_us),
            upstream_us: (record.upstream_ns > 0).then_some(upstream_us),
            upstream_status: record.upstream_status,
            target: record.text(Text::UpstreamHost).into_owned(),
            request_id: if given_id.is_empty() { format!("{:032x}", record.request_id) } else { given_id.into_owned() },
            trace_id: record.trace.map(|trace| trace.id.to_string()).unwrap_or_default(),
            request_bytes: record.request_bytes,
            response_bytes: record.response_bytes,
            mcp_method: record.text(Text::McpMethod).into_owned(),
            mcp_primitive_type: record.mcp_kind().to_owned(),
            mcp_primitive_name: record.text(record.mcp_name()).into_owned(),
            mcp_error_code: Some(record.mcp_error).filter(|code| *code != 0),
            llm: record.llm.as_deref().map(|stats| Box::new(TailLlm::from(stats))),
            waf: record.waf.clone(),
        }
    }
}

/// The path as the client sent it; with sums only, as it was sent upstream.
pub(super) fn path(record: &RequestRecord) -> Cow<'_, str> {
    match record.bytes(Text::OriginalPath) {
        [] => record.text(Text::Path),
        _ => record.text(Text::OriginalPath),
    }
}

/// The hash of a key, which may be shown to everyone.
pub(super) fn key_id(shown: &str, is_hash: bool) -> Cow<'_, str> {
    if is_hash { Cow::Borrowed(shown) } else { Cow::Owned(key_format::hash(shown, KeyFunction::Plain)) }
}

fn shortened(text: &str) -> String {
    text.chars().take(TEXT_CHARS_MAX).collect()
}
