//! Record of one request, as sinks receive it. Records are reused, so none is allocated while traffic is steady.

use super::error_class::ErrorClass;
use super::graphql_facts::GraphqlFacts;
use super::refusal_note::RefusalNote;
use super::waf_facts::WafFacts;
use crate::trace::RequestTrace;
use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::sync::Arc;
use tollgate_access::keys::Key;
use tollgate_engine::Capture;
use tollgate_model::analytics::LlmStats;
use tollgate_model::session::PrimitiveKind;
use tollgate_statistics::{LlmCall, OpenCall};

/// The texts of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    Method,
    /// Host that the client requested.
    Authority,
    /// Host of the upstream.
    UpstreamHost,
    UserAgent,
    Version,
    /// Tags from request headers, one per line.
    Tags,
    /// Path as the client sent it, without the query.
    OriginalPath,
    /// Path as sent to the upstream: rewritten, without the listen path.
    Path,
    /// Pattern of a tracked endpoint.
    TrackedPath,
    /// The request's head without secrets, if whole requests are recorded.
    RawHead,
    /// Request id.
    RequestId,
    /// Path with query and the header lines as the client sent them, while a replay takes live requests.
    LiveHead,
    /// What metrics of requests need of its headers, variables and definition, one per line.
    Dimensions,
    /// What they need of the headers of its response, one per line.
    ResponseDimensions,
    /// Method of a call of an MCP proxy.
    McpMethod,
    /// Name of the tool or prompt that the call uses, or URI of the resource.
    McpPrimitive,
}

const TEXTS: usize = Text::McpPrimitive as usize + 1;
/// Maximum bytes of names that a caller makes up: each is an attribute set of metrics, and a column of tables.
const NAME_BYTES_MAX: usize = 256;
/// A record whose texts grew beyond this frees their memory.
const TEXT_BYTES_KEPT: usize = 4 * 1024;
/// Maximum bytes of one piece of a text.
pub(super) const TEXT_BYTES_MAX: usize = 8 * 1024;

/// The time that one middleware took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepTime {
    pub middleware: &'static str,
    /// Start, relative to the start of the request.
    pub after_ns: u64,
    pub took_ns: u64,
}

/// A finished request.
pub struct RequestRecord {
    pub key: Option<Arc<Key>>,
    pub client_ip: IpAddr,
    pub peer: SocketAddr,
    pub request_id: u128,
    pub http10: bool,
    /// Whether the client used HTTP/2.
    pub http2: bool,
    /// Whether the client used TLS.
    pub secure: bool,
    /// Trace and spans of the request, if requests are traced.
    pub trace: Option<RequestTrace>,
    /// Whether the record is for analytics.
    pub analytics: bool,
    /// Whether the record is for the access log.
    pub logged: bool,
    /// Whether the record is for metrics of requests.
    pub metered: bool,
    /// Whether somebody watches requests.
    pub tapped: bool,
    /// What is only known of a refusal, if it is kept for people who look.
    pub refusal: Option<Box<RefusalNote>>,
    /// What is known of its query, if it is GraphQL.
    pub graphql: Option<Box<GraphqlFacts>>,
    /// What the web application firewall found in it.
    pub waf: Option<Box<WafFacts>>,
    /// What the call of an MCP proxy uses.
    pub mcp_kind: Option<PrimitiveKind>,
    /// The code of the gateway's JSON-RPC error; 0 for none.
    pub mcp_error: i32,
    /// The status under which usage counts the request, if its response tells a failure with another one.
    pub failure_status: Option<u16>,
    /// What becomes of a request to a language model, until the record is complete.
    pub llm_call: Option<Box<OpenCall<LlmCall>>>,
    /// What it took.
    pub llm: Option<Box<LlmStats>>,
    /// Whether that counts as spent.
    pub is_spend: bool,
    /// -1 if unknown.
    pub content_length: i64,
    pub status: u16,
    /// Why the gateway rejected the request, or why it failed.
    pub cause: Option<&'static str>,
    /// Whether the response came from the cache.
    pub from_cache: bool,
    /// The error's class, if it has one.
    pub class: Option<&'static ErrorClass>,
    pub total_ns: u64,
    pub upstream_ns: u64,
    /// When the request was sent upstream, relative to its start; only if traced.
    pub sent_after_ns: Option<u64>,
    /// Status from the upstream; 0 without a response.
    pub upstream_status: u16,
    pub request_bytes: u64,
    pub response_bytes: u64,
    /// Whether the connection to the upstream has TLS.
    pub upstream_secure: bool,
    /// The gateway's own response, if whole requests are recorded.
    pub own_response: Vec<u8>,
    /// Bodies, if whole requests are recorded.
    pub capture: Option<Box<Capture>>,
    /// The middlewares in order, if they are traced.
    pub steps: Vec<StepTime>,
    texts: Vec<u8>,
    places: [TextSpan; TEXTS],
    /// Index of the text that was written last.
    last: usize,
}

/// Start and end of a text; empty if it was not written.
type TextSpan = [u32; 2];

impl Default for RequestRecord {
    fn default() -> Self {
        let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        RequestRecord {
            key: None,
            client_ip: nowhere,
            peer: SocketAddr::new(nowhere, 0),
            request_id: 0,
            http10: false,
            http2: false,
            secure: false,
            trace: None,
            analytics: false,
            logged: false,
            metered: false,
            tapped: false,
            refusal: None,
            graphql: None,
            waf: None,
            mcp_kind: None,
            mcp_error: 0,
            failure_status: None,
            llm_call: None,
            llm: None,
            is_spend: false,
            content_length: -1,
            status: 0,
            cause: None,
            from_cache: false,
            class: None,
            total_ns: 0,
            upstream_ns: 0,
            sent_after_ns: None,
            upstream_status: 0,
            request_bytes: 0,
            response_bytes: 0,
            upstream_secure: false,
            own_response: Vec::new(),
            capture: None,
            steps: Vec::new(),
            texts: Vec::new(),
            places: [[0; 2]; TEXTS],
            last: 0,
        }
    }
}

impl RequestRecord {
    /// Resets the record and keeps its memory.
    pub fn clear(&mut self) {
        let mut texts = std::mem::take(&mut self.texts);
        texts.clear();
        if texts.capacity() > TEXT_BYTES_KEPT {
            texts = Vec::new();
        }
        *self = RequestRecord { texts, ..RequestRecord::default() };
    }

    /// Writes a text, once. A piece that is too long is cut.
    #[inline]
    pub fn write(&mut self, text: Text, bytes: &[u8]) {
        self.last = text as usize;
        if let Some(place) = self.places.get_mut(self.last) {
            *place = [position(self.texts.len()); 2];
        }
        self.append(bytes);
    }

    /// Appends to the text that was written last.
    #[inline]
    pub fn append(&mut self, bytes: &[u8]) {
        self.texts.extend_from_slice(bytes.get(..TEXT_BYTES_MAX).unwrap_or(bytes));
        if let Some([_, end]) = self.places.get_mut(self.last) {
            *end = position(self.texts.len());
        }
    }

    /// Writes [`Text::Path`], and restores the leading slash if it was stripped with the listen path.
    #[inline]
    pub fn write_path(&mut self, path: &str) {
        if path.starts_with('/') {
            return self.write(Text::Path, path.as_bytes());
        }
        self.write(Text::Path, b"/");
        self.append(path.as_bytes());
    }

    /// Writes what a request to an MCP proxy calls.
    pub fn write_call(&mut self, method: &str, primitive: Option<(PrimitiveKind, &str)>) {
        self.write(Text::McpMethod, cut(method).as_bytes());
        if let Some((kind, name)) = primitive {
            self.mcp_kind = Some(kind);
            self.write(Text::McpPrimitive, cut(name).as_bytes());
        }
    }

    /// The path of the endpoint that a call of an MCP proxy stands for, as definitions name it: of what it uses, else of its method.
    pub fn call_path(&self) -> Option<String> {
        let prefix = self.mcp_kind.map_or(PrimitiveKind::METHOD_PATH_PREFIX, PrimitiveKind::path_prefix);
        let name = self.text(self.mcp_name());
        (!name.is_empty()).then(|| [prefix, &name].concat())
    }

    /// The kind of what the call uses; empty if it uses nothing.
    pub fn mcp_kind(&self) -> &'static str {
        self.mcp_kind.map_or("", PrimitiveKind::name)
    }

    /// The name of what the call uses, as Tyk tells it: the method if the call uses nothing.
    pub fn mcp_name(&self) -> Text {
        if self.mcp_kind.is_some() { Text::McpPrimitive } else { Text::McpMethod }
    }

    /// A text; empty if it was not written.
    #[inline]
    pub fn bytes(&self, text: Text) -> &[u8] {
        self.texts.get(self.place(text)).unwrap_or_default()
    }

    #[inline]
    fn place(&self, text: Text) -> Range<usize> {
        let [start, end] = self.places.get(text as usize).copied().unwrap_or_default();
        start as usize..end as usize
    }

    /// Protocol of the client, as Go names it.
    pub fn protocol(&self) -> &'static str {
        match (self.http2, self.http10) {
            (true, _) => "HTTP/2.0",
            (false, true) => "HTTP/1.0",
            (false, false) => "HTTP/1.1",
        }
    }

    /// Whether it is a request to a language model that was refused, not answered, or cut.
    pub fn is_incomplete_llm(&self) -> bool {
        self.llm.as_ref().is_some_and(|llm| llm.is_incomplete())
    }

    /// Whether the whole request is recorded.
    pub fn is_detailed(&self) -> bool {
        !self.bytes(Text::RawHead).is_empty()
    }

    /// A text as a string.
    pub fn text(&self, text: Text) -> Cow<'_, str> {
        let bytes = self.bytes(text);
        // Nearly all texts are ASCII, for which this check is much faster.
        std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
    }
}

/// The start of a name.
fn cut(name: &str) -> &str {
    name.get(..name.floor_char_boundary(NAME_BYTES_MAX)).unwrap_or(name)
}

/// An offset in the texts.
#[inline]
fn position(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
